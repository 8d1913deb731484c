/**
 * Calls and time per command: rows of doubles in shared memory, the same rows as
 * `keyspace/stats.ts`.
 *
 * Calls are exact. Reading the clock twice costs a tenth of a short command, so that only every
 * SAMPLE_EVERY-th call of a fast command is timed (and its first, and every call that may be slow).
 * A sampled call stands for SAMPLE_EVERY calls: it has that weight. The time shown is the weighted
 * mean of the timed calls times the calls.
 *
 * While tracking is off (`latency-tracking no`) calls are counted on, and those that came meanwhile
 * are known, so that LATENCY HISTOGRAM can leave them out.
 */

export const SAMPLE_EVERY = 64;

const FIELDS = 8;
const CALLS = 0;
/** Sum of the weights of the timed calls. */
const TIMED_CALLS = 1;
const TIMED_USEC = 2;
const REJECTED = 3;
const FAILED = 4;
/** Calls while tracking was off, up to the last time that it was switched on. */
const UNTRACKED = 5;
/** While tracking is off: the calls at that moment, plus 1. */
const STOPPED_AT = 6;

export type CommandUse = { calls: number; usec: number; rejected: number; failed: number };

export function commandStatsBytes(rows: number, commands: number): number {
  return rows * commands * FIELDS * 8;
}

export class CommandStats {
  private readonly all: Float64Array;
  private readonly rows: number;
  private readonly commands: number;
  private readonly base: number;

  constructor(buffer: SharedArrayBuffer, rows: number, commands: number, row: number) {
    this.all = new Float64Array(buffer);
    this.rows = rows;
    this.commands = commands;
    this.base = row * commands * FIELDS;
  }

  called(command: number): void {
    const at = this.base + command * FIELDS;
    this.all[at] = (this.all[at] as number) + 1;
  }

  timed(command: number, usec: number, weight: number): void {
    const at = this.base + command * FIELDS;
    this.all[at + TIMED_CALLS] = (this.all[at + TIMED_CALLS] as number) + weight;
    this.all[at + TIMED_USEC] = (this.all[at + TIMED_USEC] as number) + usec * weight;
  }

  failed(command: number): void {
    const at = this.base + command * FIELDS + FAILED;
    this.all[at] = (this.all[at] as number) + 1;
  }

  rejected(command: number): void {
    const at = this.base + command * FIELDS + REJECTED;
    this.all[at] = (this.all[at] as number) + 1;
  }

  /** Use of a command over rows `first..end`, all of them if not said. */
  use(command: number, first = 0, end: number = this.rows): CommandUse {
    const sum: CommandUse = { calls: 0, usec: 0, rejected: 0, failed: 0 };
    for (let row = first; row < end; row++) {
      const at = (row * this.commands + command) * FIELDS;
      sum.calls += this.all[at + CALLS] as number;
      sum.rejected += this.all[at + REJECTED] as number;
      sum.failed += this.all[at + FAILED] as number;
    }
    // Most commands are never called.
    if (sum.calls === 0) return sum;
    // Rows with few calls may have none that was timed.
    const mean = this.meanUsec(command, first, end) ?? this.meanUsec(command, 0, this.rows) ?? 0;
    sum.usec = mean * sum.calls;
    return sum;
  }

  /** Of the calls that were timed; undefined if none was. */
  private meanUsec(command: number, first: number, end: number): number | undefined {
    let calls = 0;
    let usec = 0;
    for (let row = first; row < end; row++) {
      const at = (row * this.commands + command) * FIELDS;
      calls += this.all[at + TIMED_CALLS] as number;
      usec += this.all[at + TIMED_USEC] as number;
    }
    return calls === 0 ? undefined : usec / calls;
  }

  /** Switches tracking on or off for the row of this object. */
  track(on: boolean): void {
    for (let command = 0; command < this.commands; command++) {
      const at = this.base + command * FIELDS;
      const stoppedAt = this.all[at + STOPPED_AT] as number;
      const calls = this.all[at + CALLS] as number;
      if (on && stoppedAt !== 0) {
        this.all[at + UNTRACKED] = (this.all[at + UNTRACKED] as number) + calls + 1 - stoppedAt;
        this.all[at + STOPPED_AT] = 0;
      } else if (!on && stoppedAt === 0) {
        this.all[at + STOPPED_AT] = calls + 1;
      }
    }
  }

  /** Calls of a command, by all rows, while tracking was on. */
  trackedCalls(command: number): number {
    let sum = 0;
    for (let row = 0; row < this.rows; row++) {
      const at = (row * this.commands + command) * FIELDS;
      const stoppedAt = this.all[at + STOPPED_AT] as number;
      const end = stoppedAt === 0 ? (this.all[at + CALLS] as number) : stoppedAt - 1;
      sum += end - (this.all[at + UNTRACKED] as number);
    }
    return sum;
  }

  reset(): void {
    for (let at = 0; at < this.all.length; at += FIELDS) {
      const isStopped = this.all[at + STOPPED_AT] !== 0;
      this.all.fill(0, at, at + FIELDS);
      if (isStopped) this.all[at + STOPPED_AT] = 1;
    }
  }
}
