/**
 * The same zipfian trace on two or more caches at once: reads by batches, a write for each miss,
 * and how many reads hit.
 *
 * Servers need different memory for a key. So that policies are compared and not records, each is
 * given the maxmemory that as many keys take in it; what tables take is only known once they are
 * full, so the limit is set right on the way. Batches go to all servers in step,
 * since LRU clocks tick in real seconds; a trace has a least length for the same reason. The first
 * half warms the caches up and is not counted.
 */
import { type Control, info, infoNumber } from "./control.ts";
import { MissingFigure } from "./stats.ts";

export const EVICTION_POLICIES = [
  "allkeys-lru",
  "allkeys-lfu",
  "allkeys-random",
  "volatile-lru",
  "volatile-lfu",
  "volatile-random",
  "volatile-ttl",
] as const;

export type TracedPolicy = (typeof EVICTION_POLICIES)[number];

export interface TraceOptions {
  /** Different keys, and how many of them fit. */
  readonly keys: number;
  readonly capacity: number;
  readonly requests: number;
  readonly valueBytes: number;
  /** Skew: the i-th most wanted key is asked for in proportion to i ** -theta. */
  readonly theta: number;
  /** Least length of the trace in seconds. */
  readonly seconds: number;
  readonly seed: number;
}

export interface CacheFigures {
  /** Of the reads that count. */
  readonly hitRatio: number;
  /** Keys at the end. */
  readonly resident: number;
  readonly evicted: number;
  /** Most used_memory that was seen, of maxmemory. */
  readonly fullest: number;
}

const BATCH = 50;
const FILL_BATCH = 500;
const LOOK_EVERY = 40;
const TTL_SECONDS = 100_000;

/** Draws ranks 0, 1, 2, ... with a zipfian distribution; the same seed gives the same ranks. */
export class ZipfPicker {
  readonly #sums: Float64Array;
  #state: number;

  constructor(keys: number, theta: number, seed: number) {
    this.#sums = new Float64Array(keys);
    let sum = 0;
    for (let rank = 0; rank < keys; rank++) {
      sum += (rank + 1) ** -theta;
      this.#sums[rank] = sum;
    }
    this.#state = seed | 0 || 1;
  }

  next(): number {
    const sums = this.#sums;
    const wanted = this.#random() * (sums[sums.length - 1] as number);
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sums[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** mulberry32: 0 <= result < 1. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}

function keyOf(rank: number): string {
  return `key:${String(rank).padStart(8, "0")}`;
}

/** Writes of volatile policies have a time to live that is the key's own. */
function setWords(policy: TracedPolicy, rank: number, value: string): string[] {
  const words = ["SET", keyOf(rank), value];
  if (!policy.startsWith("volatile")) return words;
  return [...words, "EX", String(TTL_SECONDS + (Math.imul(rank, 0x9e3779b1) >>> 16))];
}

/** Flushes, and waits until the memory is free too. */
async function empty(control: Control): Promise<void> {
  await control.call("FLUSHALL");
  for (let look = 0; look < 1000; look++) {
    const pending = infoNumber(await info(control, "memory"), "lazyfree_pending_objects");
    if (pending === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new MissingFigure("what was flushed was not freed within 10 s");
}

async function usedMemory(control: Control): Promise<number> {
  return infoNumber(await info(control, "memory"), "used_memory");
}

/** What `capacity` keys take. Leaves the server empty with that as its limit. */
export async function limitTo(
  control: Control,
  policy: TracedPolicy,
  options: TraceOptions,
): Promise<TraceLimit> {
  const value = "v".repeat(options.valueBytes);
  await control.call("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", policy);
  await empty(control);
  const without = await usedMemory(control);
  for (let from = 0; from < options.capacity; from += FILL_BATCH) {
    const writes: Promise<unknown>[] = [];
    for (let rank = from; rank < Math.min(from + FILL_BATCH, options.capacity); rank++) {
      writes.push(control.call(...setWords(policy, rank, value)));
    }
    await Promise.all(writes);
  }
  const maxmemory = await usedMemory(control);
  await empty(control);
  await control.call("CONFIG", "SET", "maxmemory", String(maxmemory));
  await control.call("CONFIG", "RESETSTAT");
  return { maxmemory, bytesPerKey: (maxmemory - without) / options.capacity };
}

export interface TraceLimit {
  readonly maxmemory: number;
  readonly bytesPerKey: number;
}

class TracedCache {
  hits = 0;
  fullest = 0;
  maxmemory: number;
  readonly #bytesPerKey: number;
  readonly isTuned: boolean;
  readonly #control: Control;

  constructor(subject: TraceSubject) {
    this.#control = subject.control;
    this.maxmemory = subject.limit.maxmemory;
    this.#bytesPerKey = subject.limit.bytesPerKey;
    this.isTuned = subject.isTuned;
  }

  /** Sets the limit so that `capacity` keys fit. */
  async tune(capacity: number): Promise<void> {
    const resident = Number(await this.#control.call("DBSIZE"));
    const used = await usedMemory(this.#control);
    await this.limit(Math.round(used + (capacity - resident) * this.#bytesPerKey));
  }

  async limit(maxmemory: number): Promise<void> {
    this.maxmemory = maxmemory;
    await this.#control.call("CONFIG", "SET", "maxmemory", String(maxmemory));
  }

  async batch(policy: TracedPolicy, ranks: readonly number[], value: string): Promise<void> {
    const found = await this.#control.call("MGET", ...ranks.map(keyOf));
    if (!Array.isArray(found)) throw new MissingFigure("the reply to MGET");
    const missing = new Set<number>();
    for (const [i, rank] of ranks.entries()) {
      if (found[i] === null) missing.add(rank);
      else this.hits++;
    }
    const writes = [...missing].map((rank) => this.#control.call(...setWords(policy, rank, value)));
    await Promise.all(writes);
  }

  async look(): Promise<void> {
    this.fullest = Math.max(this.fullest, (await usedMemory(this.#control)) / this.maxmemory);
  }

  async figures(reads: number): Promise<CacheFigures> {
    const evicted = infoNumber(await info(this.#control, "stats"), "evicted_keys");
    const resident = await this.#control.call("DBSIZE");
    const hitRatio = this.hits / reads;
    return { hitRatio, resident: Number(resident), evicted, fullest: this.fullest };
  }
}

/** One server and the maxmemory that it was given. */
export interface TraceSubject {
  readonly control: Control;
  readonly limit: TraceLimit;
  /** The limit is set right; else it becomes that of the last subject. */
  readonly isTuned: boolean;
}

async function tuneAll(caches: readonly TracedCache[], capacity: number): Promise<void> {
  for (const cache of caches) if (cache.isTuned) await cache.tune(capacity);
  const last = caches.at(-1) as TracedCache;
  for (const cache of caches) if (!cache.isTuned) await cache.limit(last.maxmemory);
}

/** Runs the trace on all servers in step. They were limited, and are empty. */
export async function runTrace(
  policy: TracedPolicy,
  subjects: readonly TraceSubject[],
  options: TraceOptions,
): Promise<CacheFigures[]> {
  const picker = new ZipfPicker(options.keys, options.theta, options.seed);
  const value = "v".repeat(options.valueBytes);
  const caches = subjects.map((subject) => new TracedCache(subject));
  const batches = Math.ceil(options.requests / BATCH);
  const began = performance.now();
  for (let n = 0; n < batches; n++) {
    if (n === batches >> 2 || n === (batches * 3) >> 3) await tuneAll(caches, options.capacity);
    if (n === batches >> 1) for (const cache of caches) cache.hits = 0;
    const ranks = Array.from({ length: BATCH }, () => picker.next());
    await Promise.all(caches.map((cache) => cache.batch(policy, ranks, value)));
    if (n % LOOK_EVERY === 0 && n > batches >> 1)
      await Promise.all(caches.map((cache) => cache.look()));
    const due = began + (options.seconds * 1000 * n) / batches;
    const early = due - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
  }
  const counted = (batches - (batches >> 1)) * BATCH;
  return Promise.all(caches.map((cache) => cache.figures(counted)));
}

/** How far a hit ratio is from another one, as a part of that. */
export function apart(ratio: number, other: number): number {
  return Math.abs(ratio - other) / other;
}
