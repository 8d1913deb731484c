/**
 * The arithmetic of every bench table: medians, spreads, ratios of alternating pairs.
 *
 * A figure that is missing or not a number is never turned into 0 or skipped: it throws
 * `MissingFigure`, which the gate and the targets report as such (exit code 3).
 */

/** A number that a verdict needs and that could not be had. */
export class MissingFigure extends Error {
  constructor(what: string) {
    super(`missing figure: ${what}`);
    this.name = "MissingFigure";
  }
}

/** `value` as a finite number, or a `MissingFigure` that names it. Empty text is not 0. */
export function figure(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" && /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value.trim())) {
    return Number(value);
  }
  throw new MissingFigure(`${name} is ${JSON.stringify(value) ?? "undefined"}`);
}

/** The value that a fraction of the sorted values lies below, between two of them if need be. */
export function quantile(values: readonly number[], fraction: number): number {
  if (values.length === 0) throw new MissingFigure("median of nothing");
  const sorted = values.map((value) => figure("sample", value)).sort((a, b) => a - b);
  const place = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** What half of the samples lie between. */
  readonly middle: readonly [number, number];
  /** (max - min) / median, as a fraction; 0 for a single sample and for an all-zero series. */
  readonly spread: number;
}

export function summarize(values: readonly number[]): Summary {
  const center = median(values);
  const min = Math.min(...values);
  const max = Math.max(...values);
  const middle = [quantile(values, 0.25), quantile(values, 0.75)] as const;
  const spread = max === min ? 0 : (max - min) / Math.abs(center);
  return { median: center, min, max, middle, spread };
}

/** Ratio a/b of each pair, summarized. Pairs are measured back to back, so drift cancels. */
export function pairedRatio(a: readonly number[], b: readonly number[]): Summary {
  if (a.length !== b.length) throw new MissingFigure(`${a.length} figures against ${b.length}`);
  return summarize(
    a.map((value, index) => {
      const other = b[index] as number;
      if (other === 0) throw new MissingFigure("ratio to 0");
      return value / other;
    }),
  );
}

/** Runs `first` and `second` in turns, changing who goes first: a b, b a, a b, ... */
export async function alternate<T>(
  pairs: number,
  first: (round: number) => Promise<T>,
  second: (round: number) => Promise<T>,
): Promise<{ first: T[]; second: T[] }> {
  const result: { first: T[]; second: T[] } = { first: [], second: [] };
  for (let round = 0; round < pairs; round++) {
    if (round % 2 === 0) {
      result.first.push(await first(round));
      result.second.push(await second(round));
    } else {
      result.second.push(await second(round));
      result.first.push(await first(round));
    }
  }
  return result;
}
