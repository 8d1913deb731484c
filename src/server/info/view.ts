/**
 * What one INFO shows: the whole process on the plain port, one owner's part of it on that owner's.
 *
 * Connections, commands and errors are counted in rows, one per thread and then one per owner port.
 * Memory of an owner is that of the keys in its slots and an equal share of what belongs to nobody,
 * so that the sum over the owners is the process.
 *
 * Nothing here waits for a command that runs: most is read without a lock and may be a moment old.
 */
import type { Server, Session } from "../../command/session.ts";
import type { Usage } from "../../env/usage.ts";
import type { Database } from "../../keyspace/database.ts";
import { averageTimeToLive } from "../../keyspace/expiry.ts";
import type { StatName } from "../../keyspace/stats.ts";
import { firstSlotOf, keysOfSlot, lastSlotOf } from "../../keyspace/walk.ts";
import { SLOTS, UNIT_BYTES } from "../../limits.ts";
import type { CommandUse } from "../command-stats.ts";

export type Keyspace = { index: number; keys: number; expires: number; averageMs: number };

export type MemoryFigures = {
  /** Bytes in blocks without roots: of the process, or the owner's part. */
  used: number;
  /** Of those, bytes of records. */
  dataset: number;
  /** Bytes in blocks of the process. */
  allocated: number;
};

export class InfoView {
  readonly server: Server;
  /** Owner whose port was asked, -1 for the plain port. */
  readonly owner: number;
  readonly firstSlot: number;
  readonly lastSlot: number;
  #memory: MemoryFigures | null = null;
  #usage: Usage | null = null;

  constructor(session: Session) {
    const { server, owner } = session;
    const node = owner < 0 ? undefined : server.topology?.nodes[owner];
    this.server = server;
    this.owner = owner;
    this.firstSlot = node === undefined ? 0 : node.firstSlot;
    this.lastSlot = node === undefined ? SLOTS - 1 : node.lastSlot;
  }

  get isOwner(): boolean {
    return this.owner >= 0;
  }

  /** A counter of the connections that came by this port. */
  stat(name: StatName): number {
    const { stats, threads } = this.server;
    return this.isOwner ? stats.of(threads + this.owner, name) : stats.sum(name);
  }

  /** A counter of one thread: its own row and those of the owner ports that it serves. */
  threadStat(thread: number, name: StatName): number {
    const { stats, threads } = this.server;
    let sum = stats.of(thread, name);
    for (let row = threads + thread; row < stats.rows; row += threads) sum += stats.of(row, name);
    return sum;
  }

  commandUse(command: number): CommandUse {
    const { commandStats, threads } = this.server;
    if (!this.isOwner) return commandStats.use(command);
    return commandStats.use(command, threads + this.owner, threads + this.owner + 1);
  }

  usage(): Usage {
    this.#usage ??= this.server.usage();
    return this.#usage;
  }

  memory(): MemoryFigures {
    this.#memory ??= this.#readMemory();
    return this.#memory;
  }

  #readMemory(): MemoryFigures {
    const { server } = this;
    const used = server.usedMemory();
    const allocated = server.store.heap.usedUnits() * UNIT_BYTES;
    if (!this.isOwner) {
      return { used, dataset: Math.min(this.#dataset(0, SLOTS - 1), used), allocated };
    }
    const dataset = this.#dataset(this.firstSlot, this.lastSlot);
    const rest = Math.max(0, used - this.#dataset(0, SLOTS - 1));
    const owners = server.topology?.nodes.length ?? 1;
    // The first owner has what does not divide.
    const share = Math.floor(rest / owners) + (this.owner === 0 ? rest % owners : 0);
    return { used: dataset + share, dataset, allocated };
  }

  /** Bytes of the records of a range of slots in all databases. */
  #dataset(first: number, last: number): number {
    let bytes = 0;
    for (const db of this.server.store.databases) {
      if (hasKeys(db)) bytes += db.slotRangeBytes(first, last);
    }
    return bytes;
  }

  /** The databases that have keys here. */
  keyspace(): Keyspace[] {
    const { databases } = this.server.store;
    return databases
      .filter(hasKeys)
      .map((db) => this.#keyspaceOf(db))
      .filter(({ keys }) => keys > 0);
  }

  /** The scope of a database is set anew by every command that looks at it. */
  #keyspaceOf(db: Database): Keyspace {
    db.scopeFirst = this.firstSlot;
    db.scopeLast = this.lastSlot;
    const found: Keyspace = { index: db.index, keys: 0, expires: 0, averageMs: 0 };
    const last = db.store.shardOf(this.lastSlot);
    for (let shard = db.store.shardOf(this.firstSlot); shard <= last; shard++) {
      this.#addShard(db, shard, found);
    }
    if (found.expires > 0) found.averageMs = averageTimeToLive(db);
    return found;
  }

  #addShard(db: Database, shard: number, found: Keyspace): void {
    const { store } = db;
    const first = firstSlotOf(db, shard);
    const last = lastSlotOf(db, shard);
    const slots = store.firstSlot(shard + 1) - store.firstSlot(shard);
    const part = (last - first + 1) / slots;
    if (part === 1) {
      found.keys += db.shardKeys(shard);
      found.expires += db.shardExpires(shard);
      return;
    }
    const counted = this.server.withShard(shard, () => {
      for (let slot = first; slot <= last; slot++) {
        found.keys += keysOfSlot(db, slot);
        found.expires += store.table.expires(db.rootOf(slot));
      }
    });
    if (counted) return;
    // Its lock is held for long: keys spread evenly over slots.
    found.keys += Math.round(db.shardKeys(shard) * part);
    found.expires += Math.round(db.shardExpires(shard) * part);
  }
}

function hasKeys(db: Database): boolean {
  for (let shard = 0; shard < db.store.shards; shard++) if (db.shardKeys(shard) > 0) return true;
  return false;
}
