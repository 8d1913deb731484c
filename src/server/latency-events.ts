/**
 * What LATENCY knows of the process: for each kind of event the last samples that were not shorter
 * than `latency-monitor-threshold`, one a second at most, in shared memory under a lock of its own.
 *
 *   words 0..31    the lock
 *   from word 32   a row of ROW_WORDS for each event:
 *     0 place of the next sample    1 the most milliseconds there ever were
 *     2.. SAMPLES times unix seconds, milliseconds; a sample of 0 ms is none
 */
import { LATENCY_SAMPLES } from "../limits.ts";
import { acquire, type LockCounters, release, type Waiting } from "../memory/lock.ts";

/** Kinds of events, by Redis's names, in the order in which LATENCY LATEST shows them. */
const LATENCY_EVENTS = ["command", "fast-command", "expire-cycle", "eviction-cycle"] as const;

export type LatencyEvent = (typeof LATENCY_EVENTS)[number];

export type LatencySample = { unixSeconds: number; ms: number };

export type LatencySeries = {
  event: LatencyEvent;
  /** The most there ever were since the last reset. */
  maxMs: number;
  /** The oldest first; at least one. */
  samples: readonly LatencySample[];
};

export type LatencyThread = { thread: number; waiting: Waiting; counters: LockCounters };

const LOCK_LINE = 0;
const ROWS_AT = 32;
const INDEX = 0;
const MOST = 1;
const SAMPLES_AT = 2;
const ROW_WORDS: number = SAMPLES_AT + 2 * LATENCY_SAMPLES;
/** What a word holds. */
const MS_MAX: number = 2 ** 32 - 1;
const PATIENCE_MS = 1000;

export const LATENCY_EVENT_BYTES: number = 4 * (ROWS_AT + LATENCY_EVENTS.length * ROW_WORDS);

export class LatencyEvents {
  readonly #locks: Int32Array;
  readonly #words: Uint32Array;
  readonly #by: LatencyThread;

  constructor(buffer: SharedArrayBuffer, by: LatencyThread) {
    this.#locks = new Int32Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#by = by;
  }

  #locked<T>(run: () => T): T {
    const { thread, waiting, counters } = this.#by;
    while (!acquire(this.#locks, LOCK_LINE, thread, waiting, PATIENCE_MS, counters));
    const result = run();
    release(this.#locks, LOCK_LINE);
    return result;
  }

  /** Of the samples of one second the longest is kept. */
  add(event: LatencyEvent, ms: number, unixSeconds: number): void {
    const row = rowOf(event);
    const words = this.#words;
    const length = Math.min(Math.floor(ms), MS_MAX);
    this.#locked(() => {
      if (length > (words[row + MOST] as number)) words[row + MOST] = length;
      const index = words[row + INDEX] as number;
      const before = sampleAt(row, (index + LATENCY_SAMPLES - 1) % LATENCY_SAMPLES);
      if (words[before] === unixSeconds) {
        if (length > (words[before + 1] as number)) words[before + 1] = length;
        return;
      }
      const at = sampleAt(row, index);
      words[at] = unixSeconds;
      words[at + 1] = length;
      words[row + INDEX] = (index + 1) % LATENCY_SAMPLES;
    });
  }

  /** The events that there were. */
  all(): LatencySeries[] {
    return this.#locked(() =>
      LATENCY_EVENTS.map((event) => this.#read(event)).filter(({ samples }) => samples.length > 0),
    );
  }

  /** Forgets events; all if none is named. Returns how many there were. */
  reset(names: readonly string[]): number {
    return this.#locked(() => {
      let count = 0;
      for (const event of LATENCY_EVENTS) {
        if (names.length > 0 && !names.includes(event)) continue;
        if (this.#read(event).samples.length > 0) count++;
        const row = rowOf(event);
        this.#words.fill(0, row, row + ROW_WORDS);
      }
      return count;
    });
  }

  #read(event: LatencyEvent): LatencySeries {
    const row = rowOf(event);
    const words = this.#words;
    const index = words[row + INDEX] as number;
    const samples: LatencySample[] = [];
    for (let n = 0; n < LATENCY_SAMPLES; n++) {
      const at = sampleAt(row, (index + n) % LATENCY_SAMPLES);
      const ms = words[at + 1] as number;
      if (ms > 0) samples.push({ unixSeconds: words[at] as number, ms });
    }
    return { event, maxMs: words[row + MOST] as number, samples };
  }
}

function rowOf(event: LatencyEvent): number {
  return ROWS_AT + LATENCY_EVENTS.indexOf(event) * ROW_WORDS;
}

function sampleAt(row: number, index: number): number {
  return row + SAMPLES_AT + 2 * index;
}
