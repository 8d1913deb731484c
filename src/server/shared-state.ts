/**
 * The shared memory of a server and what each thread builds on it. Real threads get `SharedState`
 * as it is, by structured clone; the inline host uses the same object.
 */

import type { Clock, RandomSource } from "../env/env.ts";
import { Stats, statsBytes } from "../keyspace/stats.ts";
import { Store } from "../keyspace/store.ts";
import { SLOTS, SPAN_BYTES } from "../limits.ts";
import { Heap } from "../memory/heap.ts";
import {
  controlWords,
  H_BASE_SECONDS,
  H_CHUNK_BYTES,
  H_HASH_KEY_0,
  H_HASH_KEY_1,
  H_SHARDS,
  H_SPANS_LIMIT,
} from "../memory/layout.ts";
import type { LockCounters } from "../memory/lock.ts";
import { type ChunkMessage, ChunkPool, type PoolHost } from "../memory/pool.ts";
import { BELL_WORDS } from "./bell.ts";
import { clientMemoryBytes } from "./client-memory.ts";
import { ClientTable, clientTableBytes } from "./client-table.ts";
import { CommandStats, commandStatsBytes } from "./command-stats.ts";
import { LATENCY_EVENT_BYTES, LatencyEvents } from "./latency-events.ts";
import { LatencyHistograms, latencyHistogramBytes } from "./latency-histogram.ts";
import { mailboxBytes } from "./mailbox.ts";
import { SlowLog, slowLogBytes } from "./slow-log.ts";

export type SharedState = {
  control: SharedArrayBuffer;
  stats: SharedArrayBuffer;
  commandStats: SharedArrayBuffer;
  latencyHistograms: SharedArrayBuffer;
  latencyEvents: SharedArrayBuffer;
  slowLog: SharedArrayBuffer;
  clients: SharedArrayBuffer;
  clientMemory: SharedArrayBuffer;
  mailboxes: SharedArrayBuffer;
  slots: SharedArrayBuffer;
  bells: SharedArrayBuffer;
  threads: number;
  owners: number;
  commands: number;
  checked: boolean;
};

export type SharedOptions = {
  threads: number;
  shards: number;
  commands: number;
  clientRows: number;
  owners: number;
  chunkBytes: number;
  /** Bytes of the heap that may be in use at once; 0 = no limit. */
  memoryLimit: number;
  unixMs: number;
  random: RandomSource;
  checked: boolean;
  /** Sizes other than those of a server: of the slow log, and of the ring of each mailbox. */
  slowLogBytes?: number;
  ringBytes?: number;
};

export function makeSharedState(options: SharedOptions): SharedState {
  const control = new SharedArrayBuffer(controlWords(options.shards) * 4);
  const words = new Int32Array(control);
  words[H_SHARDS] = options.shards;
  words[H_HASH_KEY_0] = options.random.u32() | 0;
  words[H_HASH_KEY_1] = options.random.u32() | 0;
  words[H_CHUNK_BYTES] = options.chunkBytes;
  words[H_BASE_SECONDS] = Math.floor(options.unixMs / 1000) | 0;
  words[H_SPANS_LIMIT] = Math.floor(options.memoryLimit / SPAN_BYTES);
  const rows = options.threads + options.owners;
  return {
    control,
    stats: new SharedArrayBuffer(statsBytes(rows)),
    commandStats: new SharedArrayBuffer(commandStatsBytes(rows, options.commands)),
    latencyHistograms: new SharedArrayBuffer(latencyHistogramBytes(options.commands)),
    latencyEvents: new SharedArrayBuffer(LATENCY_EVENT_BYTES),
    slowLog: new SharedArrayBuffer(slowLogBytes(options.slowLogBytes)),
    clients: new SharedArrayBuffer(clientTableBytes(options.clientRows)),
    clientMemory: new SharedArrayBuffer(clientMemoryBytes(options.threads)),
    mailboxes: new SharedArrayBuffer(mailboxBytes(options.threads, options.ringBytes)),
    slots: new SharedArrayBuffer(SLOTS * 4),
    bells: new SharedArrayBuffer(options.threads * BELL_WORDS * 4),
    threads: options.threads,
    owners: options.owners,
    commands: options.commands,
    checked: options.checked,
  };
}

export type Chunks = ReturnType<ChunkPool["snapshot"]>;

/**
 * The chunks that the threads start with, made before any of them, so that a machine without memory
 * is told at the start: then null.
 */
export function firstChunk(
  shared: SharedState,
  world: Pick<PoolHost, "waiting" | "makeBuffer">,
): Chunks | null {
  const host = {
    ...world,
    thread: -1,
    counters: newLockCounters(),
    publish: () => {},
    receive: () => null,
  };
  const pool = new ChunkPool(new Int32Array(shared.control), host, shared.checked);
  return pool.reserve(1) ? pool.snapshot() : null;
}

export type ThreadView = {
  store: Store;
  /** By row: one per thread, then one per owner port. */
  stats: Stats[];
  commandStats: CommandStats[];
  latencyHistograms: LatencyHistograms;
  latencyEvents: LatencyEvents;
  slowLog: SlowLog;
  clients: ClientTable;
  clientMemory: SharedArrayBuffer;
  mailboxes: SharedArrayBuffer;
  slots: Int32Array;
};

/** What a thread sees of the shared state. */
export function viewShared(
  shared: SharedState,
  thread: number,
  databases: number,
  world: { clock: Clock; random: RandomSource; pool: PoolHost },
  chunks: { version: number; chunks: ChunkMessage[] } | null,
): ThreadView {
  const control = new Int32Array(shared.control);
  const heap = new Heap(control, world.pool, shared.checked);
  if (chunks !== null) heap.pool.adopt(chunks);
  const { clock, random } = world;
  const rows = shared.threads + shared.owners;
  const stats: Stats[] = [];
  const commandStats: CommandStats[] = [];
  for (let row = 0; row < rows; row++) {
    stats.push(new Stats(shared.stats, rows, row));
    commandStats.push(new CommandStats(shared.commandStats, rows, shared.commands, row));
  }
  const own = stats[thread] as Stats;
  const { waiting, counters } = world.pool;
  const by = { thread, waiting, counters };
  return {
    store: new Store({ heap, thread, databases, clock, random, stats: own }),
    stats,
    commandStats,
    latencyHistograms: new LatencyHistograms(shared.latencyHistograms),
    latencyEvents: new LatencyEvents(shared.latencyEvents, by),
    slowLog: new SlowLog(shared.slowLog, by),
    clients: new ClientTable(shared.clients, thread, shared.threads),
    clientMemory: shared.clientMemory,
    mailboxes: shared.mailboxes,
    slots: new Int32Array(shared.slots),
  };
}

export function newLockCounters(): LockCounters {
  return { acquisitions: 0, contended: 0, waitMs: 0 };
}
