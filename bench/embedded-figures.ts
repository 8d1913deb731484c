/** What one process of row `embedded` measures of one subject. */

export const EMBEDDED_SUBJECTS = ["store", "lru-cache", "Map"] as const;
export type EmbeddedSubject = (typeof EMBEDDED_SUBJECTS)[number];

/** Times are nanoseconds a call, waits microseconds. */
export type EmbeddedFigures = {
  readonly fillNs: number;
  readonly getNs: number;
  readonly setNs: number;
  readonly keptGetNs: number;
  readonly keptSetNs: number;
  readonly getWaits: readonly number[];
  readonly setWaits: readonly number[];
  readonly bytesPerEntry: number;
  readonly pauseMaxMs: number;
  readonly pauseSumMs: number;
};

/** Of the waits, in thousandths. */
export const PERCENTILES = [500, 990, 999] as const;
