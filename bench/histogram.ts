/**
 * A latency histogram of bounded size with under 1% error, as HDR histograms have.
 *
 * Values are nanoseconds, kept in units of 16 ns up to 2^32 units (68 s; longer ones are counted
 * there, `maxNs` stays exact). Bucket of a value of u units:
 *
 *   u < 256:            bucket u                                    (exact)
 *   2^e <= u < 2^(e+1): 128 buckets of 2^(e-7) units each, e = 8..31
 *
 *   index = (e - 7) * 128 + (u >>> (e - 7)), which runs on without a gap from the exact part.
 */
const UNIT_NS = 16;
const SUB_BUCKETS_LOG2 = 7;
const SUB_BUCKETS = 1 << SUB_BUCKETS_LOG2;
const BUCKETS = (32 - SUB_BUCKETS_LOG2 + 1) * SUB_BUCKETS;
const UNITS_MAX = 0xffffffff;

/** Pairs of bucket index and count: what travels between generator and bench. */
export interface HistogramData {
  readonly buckets: readonly (readonly [number, number])[];
  readonly maxNs: number;
}

function bucketOf(units: number): number {
  const exponent = 31 - Math.clz32(units | 1);
  const shift = exponent <= SUB_BUCKETS_LOG2 ? 0 : exponent - SUB_BUCKETS_LOG2;
  return shift * SUB_BUCKETS + (units >>> shift);
}

/** The middle of a bucket, in nanoseconds. */
function valueOf(bucket: number): number {
  const shift = bucket < 2 * SUB_BUCKETS ? 0 : (bucket >>> SUB_BUCKETS_LOG2) - 1;
  const low = (bucket - shift * SUB_BUCKETS) * 2 ** shift;
  return (low + (shift === 0 ? 0 : 2 ** (shift - 1))) * UNIT_NS;
}

export class Histogram {
  readonly #counts: Float64Array;
  #total: number;
  #maxNs: number;

  constructor() {
    this.#counts = new Float64Array(BUCKETS);
    this.#total = 0;
    this.#maxNs = 0;
  }

  get count(): number {
    return this.#total;
  }

  get maxNs(): number {
    return this.#maxNs;
  }

  record(ns: number): void {
    const units = Math.min(Math.max(0, Math.round(ns / UNIT_NS)), UNITS_MAX);
    const bucket = bucketOf(units);
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#total++;
    if (ns > this.#maxNs) this.#maxNs = ns;
  }

  /** The value below or at which `fraction` of the samples lie, in nanoseconds. */
  percentileNs(fraction: number): number {
    if (this.#total === 0) return Number.NaN;
    const rank = Math.max(1, Math.ceil(fraction * this.#total));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.#counts[bucket] as number;
      if (seen >= rank) return Math.min(valueOf(bucket), this.#maxNs);
    }
    return this.#maxNs;
  }

  add(data: HistogramData): void {
    for (const [bucket, count] of data.buckets) {
      if (!(bucket in this.#counts)) throw new RangeError(`no histogram bucket ${bucket}`);
      this.#counts[bucket] = (this.#counts[bucket] as number) + count;
      this.#total += count;
    }
    if (data.maxNs > this.#maxNs) this.#maxNs = data.maxNs;
  }

  toJSON(): HistogramData {
    const buckets: [number, number][] = [];
    this.#counts.forEach((count, bucket) => {
      if (count > 0) buckets.push([bucket, count]);
    });
    return { buckets, maxNs: this.#maxNs };
  }
}
