/**
 * What the tests of CLUSTER run on: a topology of owners, its settings, and sessions that came by
 * the plain port (owner -1) or an owner's. No sockets and no threads.
 */

import { argsOf } from "../base/args-test-support.ts";
import { assert } from "../base/assert.ts";
import { latin1 } from "../base/bytes.ts";
import { CommandTable } from "../command/lookup.ts";
import type { Server, Session } from "../command/session.ts";
import { SLOTS } from "../limits.ts";
import { Reply } from "../protocol/reply.ts";
import { Config } from "../server/config/config.ts";
import { testConfigHost } from "../server/config/test-host.ts";
import { Topology } from "../server/topology.ts";
import { CLUSTER_COMMANDS } from "./commands.ts";
import { fillSlots, ownerNodes } from "./shard-owners/layout.ts";

export const TEST_NODE_ID = "07c37dfeb235213a872192d90877d0cd55635b91";
export const TEST_PORT = 27070;

export type FakeOptions = {
  owners: number;
  firstPort?: number;
  boundAddress?: string;
};

/** Where a session came in. */
export type From = { owner?: number; proto?: number; local?: string; isUnix?: boolean };

export class FakeCluster {
  readonly config: Config = new Config(testConfigHost(4));
  readonly slots: Int32Array = new Int32Array(SLOTS);
  /** Null for a process without owners. */
  readonly topology: Topology | null;
  readonly commands: CommandTable = new CommandTable(CLUSTER_COMMANDS);

  constructor(options: FakeOptions) {
    const { owners, firstPort = TEST_PORT, boundAddress = "127.0.0.1" } = options;
    if (owners === 0) {
      this.topology = null;
      return;
    }
    const nodes = ownerNodes(TEST_NODE_ID, owners, firstPort);
    fillSlots(this.slots, nodes);
    this.topology = new Topology(this.slots, nodes, this.config, boundAddress);
  }

  set(name: string, text: string): void {
    this.config.apply([{ name, text }]);
  }

  session(from: From = {}): Session {
    const { owner = -1, proto = 2, local = "127.0.0.1:27069", isUnix = false } = from;
    const server = { topology: this.topology, config: this.config, commands: this.commands };
    const session = { owner, proto, local, isUnix, readonlyMode: false, publish: () => {} };
    return { ...session, server: server as unknown as Server } as Session;
  }

  /** The reply to one command that touches no keys, its words separated by blanks. */
  call(line: string, from: From | Session = {}): string {
    const session = "server" in from ? from : this.session(from);
    const args = argsOf(...line.split(" "));
    const command = this.commands.resolve(args, 0);
    assert(command?.takes(args.count) === true, `not a call: ${line}`);
    const reply = new Reply();
    reply.proto = session.proto;
    command.runSession(session, args, reply);
    return latin1(reply.buffer, 0, reply.length);
  }
}
