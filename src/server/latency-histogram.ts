/**
 * How long calls of each command took: per command a histogram of nanoseconds in shared memory. All
 * threads add to the same one, atomically, which takes 24 KiB per command and not per thread as
 * well; few calls are timed.
 *
 * Buckets are those of Redis's histograms: every value up to 255 has its own, then every power of
 * two is cut into 128. So a value is known to 0.8%. A call that stands for others, because only
 * every n-th is timed, counts n times. A count is two words; a reader may come between them.
 *
 *   index 0..255     value = index
 *   index i >= 256   b = (i >>> 7) - 1; values (128 + (i & 127)) << b, as many as 1 << b
 *
 *   words            | count of bucket 0: low, high | bucket 1: low, high | ...
 */

/** Longer calls count as this: a second. */
const NS_MAX = 1_000_000_000;
const EXACT = 256;
const PART_BITS = 7;
const PARTS: number = 1 << PART_BITS;
/** Whole powers of two, up to the one that a second is in. */
export const BUCKETS: number = (bucketOf(NS_MAX) | (PARTS - 1)) + 1;

/** LATENCY HISTOGRAM shows how many calls were not slower than this times each power of two. */
const FIRST_LEVEL_NS = 1024;

export function bucketOf(ns: number): number {
  if (ns < EXACT) return ns | 0;
  const shift = 31 - PART_BITS - Math.clz32(ns);
  return ((shift + 1) << PART_BITS) + ((ns >>> shift) - PARTS);
}

function shiftOf(bucket: number): number {
  return bucket < EXACT ? 0 : (bucket >>> PART_BITS) - 1;
}

function lowestOf(bucket: number): number {
  return bucket < EXACT ? bucket : (PARTS + (bucket & (PARTS - 1))) << shiftOf(bucket);
}

function highestOf(bucket: number): number {
  return lowestOf(bucket) + (1 << shiftOf(bucket)) - 1;
}

export type Histogram = {
  counts: Float64Array;
  total: number;
};

const COUNT_WORDS = 2;
const LOW_END = 2 ** 32;

export function latencyHistogramBytes(commands: number): number {
  return commands * BUCKETS * COUNT_WORDS * 4;
}

export class LatencyHistograms {
  readonly #words: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer);
  }

  /** Counts a call `weight` times. */
  record(command: number, usec: number, weight: number): void {
    const ns = Math.min(Math.max(Math.floor(usec * 1000), 1), NS_MAX);
    const at = (command * BUCKETS + bucketOf(ns)) * COUNT_WORDS;
    const before = Atomics.add(this.#words, at, weight) >>> 0;
    if (before + weight >= LOW_END) Atomics.add(this.#words, at + 1, 1);
  }

  /** Of a command, over all threads. */
  of(command: number): Histogram {
    const counts = new Float64Array(BUCKETS);
    let total = 0;
    for (let i = 0; i < BUCKETS; i++) {
      const at = (command * BUCKETS + i) * COUNT_WORDS;
      const low = (this.#words[at] as number) >>> 0;
      const high = this.#words[at + 1] as number;
      if (low === 0 && high === 0) continue;
      counts[i] = high * LOW_END + low;
      total += counts[i] as number;
    }
    return { counts, total };
  }

  /** Forgets the calls of a command; one that is being counted may survive. */
  reset(command: number): void {
    const row = command * BUCKETS * COUNT_WORDS;
    this.#words.fill(0, row, row + BUCKETS * COUNT_WORDS);
  }
}

/**
 * How many calls took at most so many microseconds, for about each power of two at which the number
 * grows, of `calls` calls in all.
 */
export function cumulativeCalls(
  { counts, total }: Histogram,
  calls: number,
): [usec: number, calls: number][] {
  const levels: [number, number][] = [];
  let sum = 0;
  let shown = 0;
  let next = 0;
  for (let level = FIRST_LEVEL_NS; next < BUCKETS && sum < total; level *= 2) {
    const bucket = Math.min(bucketOf(level), BUCKETS - 1);
    for (; next <= bucket; next++) sum += counts[next] as number;
    const count = Math.round((sum / total) * calls);
    if (count > shown) levels.push([Math.floor(highestOf(bucket) / 1000), count]);
    shown = count;
  }
  return levels;
}

/** The highest nanoseconds of the bucket that the percentile (0 to 100) is in; of 0 the lowest. */
export function valueAtPercentile({ counts, total }: Histogram, percentile: number): number {
  const wanted = Math.max(Math.floor((percentile / 100) * total + 0.5), 1);
  let sum = 0;
  let bucket = 0;
  for (; bucket < BUCKETS - 1; bucket++) {
    sum += counts[bucket] as number;
    if (sum >= wanted) break;
  }
  return percentile === 0 ? lowestOf(bucket) : highestOf(bucket);
}
