/**
 * Who owns which slot, as data. A slot's row is one Int32, changed only under its shard's lock:
 *
 *   state (2 bits: 0 nobody, 1 stable, 2 migrating, 3 importing) | node (15) | target (15)
 *
 * Node rows are immutable; a change makes a new row. Modes differ in who fills the rows; one
 * function, `decide`, tells for all of them what becomes of a request.
 */
import type { Args } from "../command/args.ts";
import type { Command } from "../command/command.ts";
import type { KeyList } from "../command/key-specs.ts";
import type { Session } from "../command/session.ts";
import { CLUSTERDOWN_UNBOUND, CROSSSLOT, moved } from "../protocol/errors.ts";
import type { Config } from "./config/config.ts";

export const SLOT_NOBODY = 0;
export const SLOT_STABLE = 1;
export const SLOT_MIGRATING = 2;
export const SLOT_IMPORTING = 3;

export type TopologyNode = {
  readonly index: number;
  readonly id: string;
  /** As bound; what is announced may differ. */
  readonly port: number;
  readonly firstSlot: number;
  readonly lastSlot: number;
  readonly configEpoch: number;
};

export function slotRow(state: number, node: number, target: number): number {
  return (state << 30) | (node << 15) | target;
}

export function rowState(row: number): number {
  return row >>> 30;
}

export function rowNode(row: number): number {
  return (row >>> 15) & 0x7fff;
}

export class Topology {
  readonly slots: Int32Array;
  readonly nodes: readonly TopologyNode[];
  private readonly config: Config;
  /** The one concrete address that `bind` names, or empty. */
  private readonly boundAddress: string;

  constructor(
    slots: Int32Array,
    nodes: readonly TopologyNode[],
    config: Config,
    boundAddress: string,
  ) {
    this.slots = slots;
    this.nodes = nodes;
    this.config = config;
    this.boundAddress = boundAddress;
  }

  ownerOf(slot: number): number {
    return rowNode(this.slots[slot] as number);
  }

  /**
   * The error that answers the request, or null to serve it here. Asked before the locks are taken
   * and again under them.
   */
  decide(session: Session, _command: Command, args: Args, keys: KeyList): string | null {
    if (session.owner < 0 || keys.count === 0) return null;
    const slot = args.slot[keys.at[0] as number] as number;
    if (!this.config.ownersCrossSlot) {
      for (let k = 1; k < keys.count; k++) {
        if (args.slot[keys.at[k] as number] !== slot) return CROSSSLOT;
      }
    }
    return this.decideSlot(session, slot);
  }

  /** As `decide`, for the only key's slot. */
  decideSlot(session: Session, slot: number): string | null {
    const row = this.slots[slot] as number;
    if (rowNode(row) === session.owner && rowState(row) === SLOT_STABLE) return null;
    if (rowState(row) === SLOT_NOBODY) return CLUSTERDOWN_UNBOUND;
    const node = this.nodes[rowNode(row)] as TopologyNode;
    const host = this.redirectHost(session);
    return moved(slot, host, this.announcedPort(node));
  }

  announcedPort(node: TopologyNode): number {
    const first = this.config.ownersAnnouncePort;
    return first === 0 ? node.port : first + node.index;
  }

  /** Address by IP: announced, else bound, else where the session itself came in. */
  ip(session: Session): string {
    if (this.config.announceIp !== "") return this.config.announceIp;
    if (this.boundAddress !== "") return this.boundAddress;
    if (session.isUnix) return "127.0.0.1";
    return addressOf(session.local);
  }

  /** Host as MOVED names it: empty for an unknown endpoint, "?" for a name that is not set. */
  redirectHost(session: Session): string {
    return this.endpoint(session) ?? "";
  }

  /** Host as CLUSTER SLOTS and SHARDS name it; null for an unknown endpoint. */
  endpoint(session: Session): string | null {
    switch (this.config.endpointType) {
      case "ip":
        return this.ip(session);
      case "hostname":
        return this.config.announceHostname === "" ? "?" : this.config.announceHostname;
      case "unknown-endpoint":
        return null;
    }
  }
}

/** "127.0.0.1:6379" and "[::1]:6379" without the port and the brackets. */
function addressOf(local: string): string {
  const host = local.slice(0, local.lastIndexOf(":"));
  return host.startsWith("[") ? host.slice(1, -1) : host;
}
