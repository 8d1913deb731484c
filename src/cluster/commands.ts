/**
 * CLUSTER and the modes of cluster clients, as the ports of a process with shard owners answer
 * them.
 * On an owner's port the node is that owner. On the plain port discovery works as well, and the
 * node is the first owner, which has the id of the process.
 *
 * The layout follows from the directive, so whatever would change it is refused.
 */

import type { Args } from "../base/args.ts";
import { keySlot } from "../base/crc16.ts";
import { replyHelp } from "../command/help.ts";
import type { Session } from "../command/session.ts";
import type { CommandMeta, CommandSpec, SessionCommand } from "../command/spec.ts";
import {
  CLUSTER_DISABLED,
  oneLine,
  unknownSubcommandOrArity,
  wrongArity,
} from "../protocol/errors.ts";
import type { Reply } from "../protocol/reply.ts";
import type { Topology } from "../server/topology.ts";
import { HELP_LINES, infoText, nodesText, writeShards, writeSlots } from "./replies.ts";
import {
  CLUSTER_COUNTKEYSINSLOT,
  CLUSTER_GETKEYSINSLOT,
  CLUSTER_SLOT_STATS,
} from "./slot-commands.ts";
import * as metas from "./specs.ts";

type Run = (topology: Topology, session: Session, args: Args, reply: Reply) => void;

/** A command that needs shard owners; without them it says what Redis says without a cluster. */
function clusterCommand(meta: CommandMeta, run: Run): SessionCommand {
  return {
    ...meta,
    locks: "none",
    run(session, args, reply) {
      const { topology } = session.server;
      if (topology === null) reply.error(CLUSTER_DISABLED);
      else run(topology, session, args, reply);
    },
  };
}

/** A command that would change the layout. `arityError` looks closer than the arity can tell. */
function mutator(meta: CommandMeta, arityError: (args: Args) => string | null): SessionCommand {
  const name = meta.name.slice(meta.name.indexOf(" ") + 1);
  const differs = "Refused: the layout follows from the directive shard-owners.";
  return clusterCommand({ ...meta, differs }, (_topology, _session, args, reply) => {
    reply.error(
      arityError(args) ??
        `ERR This layout follows from shard-owners and cannot be changed by CLUSTER ${name}`,
    );
  });
}

function anyCount(): null {
  return null;
}

function atMost(count: number): (args: Args) => string | null {
  return (args) => (args.count > count ? unknownSubcommandOrArity(args) : null);
}

/** Ranges come in pairs. */
function pairs(args: Args): string | null {
  return args.count % 2 === 1 ? wrongArity(`cluster|${args.lower(1)}`) : null;
}

function runSlots(topology: Topology, session: Session, _args: Args, reply: Reply): void {
  const key = `slots ${reply.proto} ${topology.ip(session)}`;
  topology.encoded.put(reply, topology.generation, key, () => {
    writeSlots(topology, session, reply);
  });
}

function runShards(topology: Topology, session: Session, _args: Args, reply: Reply): void {
  const key = `shards ${reply.proto} ${topology.ip(session)}`;
  topology.encoded.put(reply, topology.generation, key, () => {
    writeShards(topology, session, reply);
  });
}

function runNodes(topology: Topology, session: Session, _args: Args, reply: Reply): void {
  const key = `nodes ${reply.proto} ${topology.ip(session)} ${topology.nodeOf(session).index}`;
  topology.encoded.put(reply, topology.generation, key, () => {
    reply.verbatim(nodesText(topology, session), "txt");
  });
}

function runInfo(topology: Topology, session: Session, _args: Args, reply: Reply): void {
  reply.verbatim(infoText(topology, session), "txt");
}

/** A shard is named by its master's id, as Redis names that of a node without a shard id. */
function runMyId(topology: Topology, session: Session, _args: Args, reply: Reply): void {
  reply.text(topology.nodeOf(session).id);
}

function runKeySlot(_topology: Topology, _session: Session, args: Args, reply: Reply): void {
  reply.integer(keySlot(args.source(2), args.start[2] as number, args.end[2] as number));
}

/** For subcommands about one node: true if the node that argument 2 names is known. */
function isKnownNode(topology: Topology, args: Args, reply: Reply): boolean {
  const id = args.text(2);
  if (topology.nodeById(id) !== undefined) return true;
  // Redis prints it as a C string.
  reply.error(oneLine(`ERR Unknown node ${id.split("\0", 1)[0]}`));
  return false;
}

function runReplicas(topology: Topology, _session: Session, args: Args, reply: Reply): void {
  if (isKnownNode(topology, args, reply)) reply.array(0);
}

function runFailureReports(topology: Topology, _session: Session, args: Args, reply: Reply): void {
  if (isKnownNode(topology, args, reply)) reply.integer(0);
}

function setReadonly(readonly: boolean): Run {
  return (_topology, session, _args, reply) => {
    session.readonlyMode = readonly;
    session.publish();
    reply.ok();
  };
}

const OWNERS_ONLY =
  "The nodes are the owners of this process. There is no bus, so that its port is 0, and no replica.";

export const CLUSTER_COMMANDS: readonly CommandSpec[] = [
  { ...metas.CLUSTER_META, locks: "container" },
  clusterCommand(metas.CLUSTER_SLOTS_META, runSlots),
  clusterCommand(metas.CLUSTER_SHARDS_META, runShards),
  { ...clusterCommand(metas.CLUSTER_NODES_META, runNodes), differs: OWNERS_ONLY },
  clusterCommand(metas.CLUSTER_INFO_META, runInfo),
  clusterCommand(metas.CLUSTER_MYID_META, runMyId),
  clusterCommand(metas.CLUSTER_MYSHARDID_META, runMyId),
  clusterCommand(metas.CLUSTER_KEYSLOT_META, runKeySlot),
  CLUSTER_COUNTKEYSINSLOT,
  CLUSTER_GETKEYSINSLOT,
  CLUSTER_SLOT_STATS,
  clusterCommand(metas.CLUSTER_REPLICAS_META, runReplicas),
  clusterCommand(metas.CLUSTER_SLAVES_META, runReplicas),
  clusterCommand(metas.CLUSTER_COUNT_FAILURE_REPORTS_META, runFailureReports),
  clusterCommand(metas.CLUSTER_LINKS_META, (_topology, _session, _args, reply) => reply.array(0)),
  clusterCommand(metas.CLUSTER_HELP_META, (_topology, _session, _args, reply) => {
    replyHelp(reply, "CLUSTER", HELP_LINES);
  }),
  mutator(metas.CLUSTER_ADDSLOTS_META, anyCount),
  mutator(metas.CLUSTER_ADDSLOTSRANGE_META, pairs),
  mutator(metas.CLUSTER_BUMPEPOCH_META, anyCount),
  mutator(metas.CLUSTER_DELSLOTS_META, anyCount),
  mutator(metas.CLUSTER_DELSLOTSRANGE_META, pairs),
  mutator(metas.CLUSTER_FAILOVER_META, atMost(3)),
  mutator(metas.CLUSTER_FLUSHSLOTS_META, anyCount),
  mutator(metas.CLUSTER_FORGET_META, anyCount),
  mutator(metas.CLUSTER_MEET_META, atMost(5)),
  mutator(metas.CLUSTER_REPLICATE_META, anyCount),
  mutator(metas.CLUSTER_RESET_META, atMost(3)),
  mutator(metas.CLUSTER_SAVECONFIG_META, anyCount),
  mutator(metas.CLUSTER_SET_CONFIG_EPOCH_META, anyCount),
  mutator(metas.CLUSTER_SETSLOT_META, anyCount),
  clusterCommand(metas.READONLY_META, setReadonly(true)),
  clusterCommand(metas.READWRITE_META, setReadonly(false)),
  // There is nothing that it could let in: no slot of an owner is ever on its way.
  clusterCommand(metas.ASKING_META, (_topology, _session, _args, reply) => reply.ok()),
];
