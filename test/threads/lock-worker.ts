/**
 * One thread of lock.test.ts: takes the lock a number of times, again at once, and writes down in
 * the order of the sections who was in and whether it had starved before. A thread that starved
 * looks there for those who got in before it although they did not starve.
 *
 *   words    | lock line | sections | threads that are ready |
 *   sections | 2 * thread + 1 if it had starved | ... |
 */

import { parentPort, workerData } from "node:worker_threads";
import { LOCK_LINE_WORDS } from "../../src/memory/layout.ts";
import { acquire, release, STARVING, type Waiting } from "../../src/memory/lock.ts";

export const COUNT: number = LOCK_LINE_WORDS;
const READY: number = COUNT + 1;
export const WORDS: number = READY + 1;

export type LockTask = {
  readonly words: Int32Array;
  readonly sections: Int32Array;
  readonly thread: number;
  readonly threads: number;
  readonly times: number;
  /** Microseconds for which it is held. */
  readonly holdUs: number;
};

export type LockEnd = {
  /** Sections before which this thread starved. */
  readonly starved: number;
  /** Most sections of others that did not starve while this thread did. */
  readonly overtaken: number;
};

/** Longer than a machine stands still: who waits that long has not been woken. */
const PATIENCE_MS = 120_000;

/** Sections from `first` up to `end` before which nobody starved. */
function lucky(sections: Int32Array, first: number, end: number): number {
  let count = 0;
  for (let i = first; i < end; i++) if (((sections[i] as number) & 1) === 0) count++;
  return count;
}

function hold(us: number): void {
  const end = performance.now() + us / 1000;
  while (performance.now() < end);
}

function run({ words, sections, thread, threads, times, holdUs }: LockTask): LockEnd {
  let starvingSince = -1;
  const waiting: Waiting = {
    wait: (at, index, value, timeoutMs) => void Atomics.wait(at, index, value, timeoutMs),
    now: () => performance.now(),
    countStarving: (_words, _line, state) => {
      if (state === STARVING) starvingSince = Atomics.load(words, COUNT);
    },
  };
  const counters = { acquisitions: 0, contended: 0, waitMs: 0 };
  let starved = 0;
  let overtaken = 0;
  Atomics.add(words, READY, 1);
  while (Atomics.load(words, READY) < threads);
  for (let i = 0; i < times; i++) {
    starvingSince = -1;
    if (!acquire(words, 0, thread, waiting, PATIENCE_MS, counters)) {
      throw new Error(`not had within ${PATIENCE_MS} ms`);
    }
    const at = words[COUNT] as number;
    sections[at] = 2 * thread + (starvingSince < 0 ? 0 : 1);
    if (starvingSince >= 0) {
      starved++;
      overtaken = Math.max(overtaken, lucky(sections, starvingSince, at));
    }
    if (holdUs > 0) hold(holdUs);
    words[COUNT] = at + 1;
    release(words, 0);
  }
  return { starved, overtaken };
}

// The test reads the layout above from this module on its own thread, which has no task.
if (workerData !== null) parentPort?.postMessage(run(workerData as LockTask));
