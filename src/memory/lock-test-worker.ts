/**
 * One thread of lock.test.ts: adds to plain counters inside critical sections, on two locks in
 * random order, and counts how often it parked and whom its releases told it to ring.
 *
 * The control words are: the lock lines, then from `COUNTERS_AT` per lock the counter, and from
 * `RUNG_AT` per lock and thread how often a release returned the thread's parked bit.
 */

// biome-ignore lint/plugin: only a test starts this thread, and the data comes from it.
import { workerData } from "node:worker_threads";
import { Random } from "../base/random.ts";
import { systemWaiting } from "../env/system.ts";
import { LOCK_LINE_WORDS, LOCK_OWNER, LOCK_WORD } from "./layout.ts";
import { acquire, HELD, type LockCounters, park, release, tryAcquire } from "./lock.ts";

export const LOCKS = 2;
export const THREADS = 4;
/** Plain counters, far from the lock lines. */
export const COUNTERS_AT: number = LOCKS * LOCK_LINE_WORDS;
/** Times a thread parked, per lock and thread; only the thread itself writes its word. */
export const PARKS_AT: number = COUNTERS_AT + LOCKS * LOCK_LINE_WORDS;
export const RUNG_AT: number = PARKS_AT + LOCKS * THREADS;
/** Sections in which the owner's word named another thread. */
export const INTRUSIONS_AT: number = RUNG_AT + LOCKS * THREADS;
/** Threads that are ready to begin; all begin together. */
const READY_AT: number = INTRUSIONS_AT + 1;
export const WORDS: number = READY_AT + 1;

export type WorkerTask = {
  words: Int32Array;
  thread: number;
  seed: number;
  /** Increments per thread. */
  increments: number;
  /** Longest spin inside a section, in turns of a loop. */
  spinMax: number;
  /** Marks the lock as held without a look at whether it is. */
  broken: boolean;
};

const PATIENCE_MS = 60_000;

let sink = 0;

function spin(turns: number): void {
  for (let i = 0; i < turns; i++) sink = (Math.imul(sink, 31) + i) | 0;
}

function take(task: WorkerTask, line: number, random: Random, counters: LockCounters): void {
  const { words, thread } = task;
  if (task.broken) {
    Atomics.store(words, line + LOCK_WORD, HELD);
    words[line + LOCK_OWNER] = thread + 1;
    return;
  }
  if (random.chance(0.2) && tryAcquire(words, line, thread)) return;
  if (!acquire(words, line, thread, systemWaiting, PATIENCE_MS, counters)) {
    throw new Error("a lock was not had within a minute");
  }
}

function ring(words: Int32Array, lock: number, mask: number): void {
  for (let thread = 0; thread < THREADS; thread++) {
    if (mask & (1 << thread)) Atomics.add(words, RUNG_AT + lock * THREADS + thread, 1);
  }
}

/** Parks behind a lock if the last time has been answered. Only this thread sets its bit. */
function parkOnce(words: Int32Array, lock: number, thread: number): void {
  const at = lock * THREADS + thread;
  const parks = Atomics.load(words, PARKS_AT + at);
  if (Atomics.load(words, RUNG_AT + at) !== parks) return;
  Atomics.store(words, PARKS_AT + at, parks + 1);
  park(words, lock * LOCK_LINE_WORDS, thread);
}

function run(task: WorkerTask): void {
  const { words, thread, spinMax } = task;
  const random = new Random(task.seed);
  const counters: LockCounters = { acquisitions: 0, contended: 0, waitMs: 0 };
  Atomics.add(words, READY_AT, 1);
  while (Atomics.load(words, READY_AT) < THREADS) spin(10);
  for (let i = 0; i < task.increments; i++) {
    const lock = random.below(LOCKS);
    const line = lock * LOCK_LINE_WORDS;
    if (random.chance(0.1)) parkOnce(words, lock, thread);
    take(task, line, random, counters);
    const counter = COUNTERS_AT + lock * LOCK_LINE_WORDS;
    const before = words[counter] as number;
    spin(random.below(spinMax));
    if (words[line + LOCK_OWNER] !== thread + 1) Atomics.add(words, INTRUSIONS_AT, 1);
    words[counter] = before + 1;
    ring(words, lock, release(words, line));
    spin(random.below(spinMax));
  }
}

// The test reads the layout above from this module on its own thread, which has no task.
if (workerData !== null) run(workerData as WorkerTask);
