/**
 * Who owns which slot, as data. A slot's row is one Int32, changed only under its shard's lock:
 *
 *   state (2 bits: 0 nobody, 1 stable, 2 migrating, 3 importing) | node (15) | target (15)
 *
 * Node rows are immutable; a change makes a new row. Modes differ in who fills the rows; one
 * function, `decide`, tells for all of them what becomes of a request.
 *
 * Rows are read before the locks and again under them, so a redirect may be told from a row that
 * is changing, and a request is never served by one.
 */
import type { Args } from "../base/args.ts";
import type { KeyList } from "../command/key-specs.ts";
import type { Session } from "../command/session.ts";
import { CLUSTERDOWN_UNBOUND, CROSSSLOT, moved } from "../protocol/errors.ts";
import type { Config, EndpointType } from "./config/config.ts";
import { EncodedReplies } from "./encoded-replies.ts";

export const SLOT_NOBODY = 0;
export const SLOT_STABLE = 1;
export const SLOT_MIGRATING = 2;
export const SLOT_IMPORTING = 3;

const TARGET_BITS = 15;
const NODE_MASK = 0x7fff;
/** State and node of a row that `>>> TARGET_BITS` leaves, for a stable slot of node 0. */
const STABLE_AT_0: number = SLOT_STABLE << 15;

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
  return (state << 30) | (node << TARGET_BITS) | target;
}

export function rowState(row: number): number {
  return row >>> 30;
}

export function rowNode(row: number): number {
  return (row >>> TARGET_BITS) & NODE_MASK;
}

export class Topology {
  readonly slots: Int32Array;
  readonly nodes: readonly TopologyNode[];
  /** Replies that tell of the nodes, by protocol and address. */
  readonly encoded: EncodedReplies = new EncodedReplies();
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

  /** The node that a session's port is: its owner, or the first one for the plain port. */
  nodeOf(session: Session): TopologyNode {
    return this.nodes[Math.max(session.owner, 0)] as TopologyNode;
  }

  nodeById(id: string): TopologyNode | undefined {
    return this.nodes.find((node) => node.id === id);
  }

  /**
   * The error that answers the request, or null to serve it here. Asked before the locks are taken
   * and again under them. The first key's slot decides; where keys of other slots are refused, that
   * is told first, whoever owns them.
   */
  decide(session: Session, args: Args, keys: KeyList): string | null {
    if (session.owner < 0 || keys.count === 0) return null;
    const slot = args.slot[keys.at[0] as number] as number;
    if (keys.count > 1 && !this.config.ownersCrossSlot) {
      for (let k = 1; k < keys.count; k++) {
        if (args.slot[keys.at[k] as number] !== slot) return CROSSSLOT;
      }
    }
    return this.decideSlot(session, slot);
  }

  /** As `decide`, for the only key's slot. */
  decideSlot(session: Session, slot: number): string | null {
    const row = this.slots[slot] as number;
    if (row >>> TARGET_BITS === (STABLE_AT_0 | session.owner)) return null;
    return this.redirect(session, slot, row);
  }

  private redirect(session: Session, slot: number, row: number): string | null {
    if (session.owner < 0) return null;
    if (rowState(row) === SLOT_NOBODY) return CLUSTERDOWN_UNBOUND;
    const node = this.nodes[rowNode(row)] as TopologyNode;
    if (node.index === session.owner) return null;
    return moved(slot, this.endpoint(session) ?? "", this.announcedPort(node));
  }

  announcedPort(node: TopologyNode): number {
    const first = this.config.ownersAnnouncePort;
    return first === 0 ? node.port : first + node.index;
  }

  /** Address by IP: announced, else bound, else where the session itself came in. */
  ip(session: Session): string {
    if (this.config.announceIp !== "") return this.config.announceIp;
    if (this.boundAddress !== "") return this.boundAddress;
    return session.isUnix ? "127.0.0.1" : addressOf(session.local);
  }

  /** Empty if none is announced. */
  hostname(): string {
    return this.config.announceHostname;
  }

  /**
   * The host that clients are to use, as CLUSTER SLOTS names it: "?" for a name that is not set, null
   * for an unknown endpoint. MOVED and CLUSTER SHARDS have an empty host in place of null.
   */
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

  get endpointType(): EndpointType {
    return this.config.endpointType;
  }

  /** Changes whenever something that is announced may have changed. */
  get generation(): number {
    return this.config.generation;
  }
}

/** "127.0.0.1:6379" and "[::1]:6379" without the port and the brackets. */
function addressOf(local: string): string {
  const host = local.slice(0, local.lastIndexOf(":"));
  return host.startsWith("[") ? host.slice(1, -1) : host;
}
