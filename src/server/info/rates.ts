/**
 * What happened in the last second, for the fields of INFO that are called instantaneous. Each
 * thread looks at the rows that it writes itself: its own and those of its owner ports.
 */
import { type StatName, type Stats, statIndex } from "../../keyspace/stats.ts";

const RATES: readonly (readonly [total: StatName, rate: StatName])[] = [
  ["commands_processed", "ops_per_sec"],
  ["net_input_bytes", "input_bytes_per_sec"],
  ["net_output_bytes", "output_bytes_per_sec"],
  ["eventloop_cycles", "eventloop_cycles_per_sec"],
  ["eventloop_usec", "eventloop_usec_per_sec"],
];

export class Rates {
  readonly #rows: readonly Stats[];
  readonly #before: Float64Array;
  #lastMs: number;

  constructor(rows: readonly Stats[], nowMs: number) {
    this.#rows = rows;
    this.#before = new Float64Array(rows.length * RATES.length);
    this.#lastMs = nowMs;
  }

  /** Called about once a second, with a clock that never goes back. */
  sample(nowMs: number): void {
    const seconds = (nowMs - this.#lastMs) / 1000;
    if (seconds <= 0) return;
    this.#lastMs = nowMs;
    let at = 0;
    for (const row of this.#rows) {
      for (const [total, rate] of RATES) {
        const now = row.of(row.row, total);
        // The total goes back to 0 at CONFIG RESETSTAT.
        const done = Math.max(0, now - (this.#before[at] as number));
        this.#before[at++] = now;
        row.set(statIndex(rate), Math.round(done / seconds));
      }
    }
  }
}
