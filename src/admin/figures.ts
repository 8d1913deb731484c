/**
 * The numbers of a running server as the main thread reads them: rows of counters, the allocator's
 * words and the roots of the databases, all in shared memory. No thread is asked and no lock is
 * taken, so a figure may be a moment old.
 *
 * Roots are let go as a whole when a database is flushed. What was read while that happened is
 * thrown away and read again.
 */
import type { Clock, RandomSource } from "../env/env.ts";
import { openFiles, systemUsage, type Usage } from "../env/usage.ts";
import type { Database } from "../keyspace/database.ts";
import { averageTimeToLive } from "../keyspace/expiry.ts";
import { usedBytes } from "../keyspace/roots.ts";
import type { StatName } from "../keyspace/stats.ts";
import { CHUNKS_MAX, SLOTS, SPAN_BYTES } from "../limits.ts";
import {
  CHUNK_ROW_WORDS,
  CHUNK_ROWS_AT,
  CHUNK_STATE,
  DATABASE_ROW_WORDS,
  DATABASES_AT,
  DB_ROOTS,
} from "../memory/layout.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import type { CommandUse } from "../server/command-stats.ts";
import type { Config } from "../server/config/config.ts";
import type { Histogram } from "../server/latency-histogram.ts";
import {
  newLockCounters,
  type SharedState,
  type ThreadView,
  viewShared,
} from "../server/shared-state.ts";
import type { SlowLog } from "../server/slow-log.ts";
import type { TopologyNode } from "../server/topology.ts";

export type FigureSource = {
  readonly shared: SharedState;
  readonly chunks: { version: number; chunks: ChunkMessage[] };
  readonly config: Config;
  /** Names by id. */
  readonly commands: readonly string[];
  readonly versions: Readonly<Record<"version" | "redis_version" | "node_version", string>>;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly startedMs: number;
  /** Next chunk that a thread made or dropped, or null. */
  nextChunk(): ChunkMessage | null;
  /** Null without shard owners, and before everything is bound. */
  nodes(): readonly TopologyNode[] | null;
};

/** Who a row of counters belongs to; `owner` is -1 for what came by the plain port. */
export type CounterRow = { readonly row: number; readonly thread: number; readonly owner: number };

export type DatabaseFigures = { index: number; keys: number; expires: number; averageMs: number };

/** Keys and bytes of the records of a shard or of an owner. */
export type PartFigures = { keys: number; expires: number; bytes: number };

/** Times that roots which were exchanged under the reader are read again. */
const TRIES = 3;

export class Figures {
  readonly source: FigureSource;
  readonly rows: readonly CounterRow[];
  readonly control: Int32Array;
  /** Of the latest `refresh`: databases that have keys, and database 0. */
  databases: readonly DatabaseFigures[] = [];
  shards: readonly PartFigures[] = [];
  /** Empty without shard owners. */
  owners: readonly PartFigures[] = [];
  datasetBytes = 0;
  usage: Usage = systemUsage();
  openFiles = 0;
  private readonly view: ThreadView;

  constructor(source: FigureSource) {
    const { shared, clock, random } = source;
    this.source = source;
    const { threads } = shared;
    this.rows = Array.from({ length: threads + shared.owners }, (_, row) => {
      const owner = row - threads;
      return owner < 0 ? { row, thread: row, owner: -1 } : { row, thread: owner % threads, owner };
    });
    const pool = {
      thread: -1,
      waiting: { wait: () => {}, now: () => 0 },
      counters: newLockCounters(),
      publish: () => {},
      receive: () => source.nextChunk(),
      makeBuffer: () => null,
    };
    const world = { clock, random, pool };
    this.view = viewShared(shared, 0, source.config.databases, world, source.chunks);
    this.control = this.view.store.control;
  }

  /** Takes chunks that were made and lets go of those that were dropped. */
  chunksChanged(): void {
    this.view.store.heap.pool.sync();
    this.view.store.forgetViews();
  }

  /** Reads what a page needs once: keys and bytes of all slots, and the process. */
  refresh(): void {
    this.view.store.heap.pool.sync();
    const { store } = this.view;
    const parts = (count: number): PartFigures[] =>
      Array.from({ length: count }, () => ({ keys: 0, expires: 0, bytes: 0 }));
    const shards = parts(store.shards);
    const nodes = this.source.nodes() ?? [];
    const owners = parts(nodes.length);
    const databases: DatabaseFigures[] = [];
    for (const db of store.databases) {
      const found = this.readDatabase(db, nodes);
      addParts(shards, found.shards);
      addParts(owners, found.owners);
      const keys = sum(found.shards, "keys");
      if (db.index > 0 && keys === 0) continue;
      const expires = sum(found.shards, "expires");
      databases.push({ index: db.index, keys, expires, averageMs: found.averageMs });
    }
    this.databases = databases;
    this.shards = shards;
    this.owners = owners;
    this.datasetBytes = sum(shards, "bytes");
    this.source.clock.refresh();
    this.usage = systemUsage();
    this.openFiles = openFiles();
  }

  private readDatabase(db: Database, nodes: readonly TopologyNode[]): DatabaseParts {
    const at = DATABASES_AT + db.index * DATABASE_ROW_WORDS + DB_ROOTS;
    for (let tries = 0; tries < TRIES; tries++) {
      const roots = Atomics.load(this.control, at);
      if (roots === 0) break;
      const found = readParts(db, nodes);
      if (Atomics.load(this.control, at) === roots) return found;
    }
    return { shards: [], owners: [], averageMs: 0 };
  }

  stat(row: number, name: StatName): number {
    return this.view.stats[0]?.of(row, name) ?? 0;
  }

  sum(name: StatName): number {
    return this.view.stats[0]?.sum(name) ?? 0;
  }

  commandUse(command: number): CommandUse {
    const rows = this.view.commandStats[0];
    return rows === undefined ? { calls: 0, usec: 0, rejected: 0, failed: 0 } : rows.use(command);
  }

  /** How long the timed calls of a command took; null if none was, or none is to be shown. */
  latencies(command: number): Histogram | null {
    const { commandStats, latencyHistograms } = this.view;
    if (!this.source.config.latencyTracking) return null;
    if ((commandStats[0]?.trackedCalls(command) ?? 0) === 0) return null;
    const histogram = latencyHistograms.of(command);
    return histogram.total === 0 ? null : histogram;
  }

  get slowLog(): SlowLog {
    return this.view.slowLog;
  }

  /** Bytes in blocks of the heap: `used_memory` of INFO. */
  usedBytes(): number {
    return usedBytes(this.view.store.heap);
  }

  /** `used_memory` of each owner: its dataset and an equal share of what belongs to nobody. */
  ownerUsedBytes(owner: number): number {
    const rest = Math.max(0, this.usedBytes() - this.datasetBytes);
    const owners = this.owners.length;
    const share = Math.floor(rest / owners) + (owner === 0 ? rest % owners : 0);
    return (this.owners[owner]?.bytes ?? 0) + share;
  }

  /** Words of the control buffer that count spans, in bytes. */
  spanBytes(...words: number[]): number {
    let spans = 0;
    for (const word of words) spans += this.control[word] as number;
    return spans * SPAN_BYTES;
  }

  chunks(): number {
    let present = 0;
    for (let chunk = 0; chunk < CHUNKS_MAX; chunk++) {
      present += this.control[CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS + CHUNK_STATE] as number;
    }
    return present;
  }
}

type DatabaseParts = {
  readonly shards: readonly PartFigures[];
  readonly owners: readonly PartFigures[];
  readonly averageMs: number;
};

function sum(parts: readonly PartFigures[], what: keyof PartFigures): number {
  let total = 0;
  for (const part of parts) total += part[what];
  return total;
}

function addParts(to: PartFigures[], from: readonly PartFigures[]): void {
  for (const [i, part] of from.entries()) {
    const own = to[i] as PartFigures;
    own.keys += part.keys;
    own.expires += part.expires;
    own.bytes += part.bytes;
  }
}

/** Bytes slot by slot; keys by shard, of which an owner whose slots end within one has its part. */
function readParts(db: Database, nodes: readonly TopologyNode[]): DatabaseParts {
  const { store } = db;
  db.scopeFirst = 0;
  db.scopeLast = SLOTS - 1;
  const bytes = new Float64Array(SLOTS);
  for (let slot = 0; slot < SLOTS; slot++) bytes[slot] = db.slotBytes(slot);
  const bytesOf = (first: number, last: number): number => {
    let total = 0;
    for (let slot = first; slot <= last; slot++) total += bytes[slot] as number;
    return total;
  };
  const shards = Array.from({ length: store.shards }, (_, shard) => ({
    keys: db.shardKeys(shard),
    expires: db.shardExpires(shard),
    bytes: bytesOf(store.firstSlot(shard), store.firstSlot(shard + 1) - 1),
  }));
  const owners = nodes.map(({ firstSlot, lastSlot }) => {
    const own = { keys: 0, expires: 0, bytes: bytesOf(firstSlot, lastSlot) };
    for (let shard = store.shardOf(firstSlot); shard <= store.shardOf(lastSlot); shard++) {
      const first = store.firstSlot(shard);
      const end = store.firstSlot(shard + 1);
      const inside = Math.min(end, lastSlot + 1) - Math.max(first, firstSlot);
      const part = inside / (end - first);
      own.keys += Math.round((shards[shard]?.keys ?? 0) * part);
      own.expires += Math.round((shards[shard]?.expires ?? 0) * part);
    }
    return own;
  });
  return { shards, owners, averageMs: averageTimeToLive(db) };
}
