/** What one process of row `embedded` measures of one subject. */

/** `nothing` keeps nothing: what the measuring loop takes by itself, and the machine's stalls. */
export const EMBEDDED_SUBJECTS = ["store", "lru-cache", "Map", "nothing"] as const;
export type EmbeddedSubject = (typeof EMBEDDED_SUBJECTS)[number];

/** Times are nanoseconds a call, waits microseconds; the span of the pauses is of `traceClock`. */
export type EmbeddedFigures = {
  readonly fillNs: number;
  readonly getNs: number;
  readonly setNs: number;
  readonly keptGetNs: number;
  readonly keptSetNs: number;
  readonly getWaits: readonly number[];
  readonly setWaits: readonly number[];
  readonly bytesPerEntry: number;
  readonly pausesFrom: number;
  readonly pausesTo: number;
};

/** Of the waits, in thousandths. */
export const PERCENTILES = [500, 990, 999] as const;
