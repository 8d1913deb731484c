/**
 * The shard lock under more threads than cores: throughput, waits, and whether it excludes.
 *
 * Each worker takes the lock, raises a plain counter, holds for a while, releases, and pauses. The
 * counter is not atomic on purpose: if two threads ever hold the lock together its sum is short.
 *
 *   shared   | 0..31: lock line | 32: plain counter | 33: start | 34: stop |
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { LOCK_LINE_WORDS } from "../../src/memory/layout.ts";
import { acquire, release, type Waiting } from "../../src/memory/lock.ts";
import { Histogram, type HistogramData } from "../histogram.ts";
import { MissingFigure } from "../stats.ts";
import { KeyPicker } from "../workload.ts";

const COUNTER = LOCK_LINE_WORDS;
const START = LOCK_LINE_WORDS + 1;
const STOP = LOCK_LINE_WORDS + 2;
const SHARED_WORDS = LOCK_LINE_WORDS + 3;
const PATIENCE_MS = 60_000;

/** Bounds of a uniformly drawn time, in microseconds. */
export interface Between {
  readonly low: number;
  readonly high: number;
}

export interface LockPlan {
  readonly threads: number;
  readonly seconds: number;
  readonly hold: Between;
  readonly pause: Between;
}

export interface LockResult {
  readonly perSecond: number;
  readonly waits: Histogram;
  readonly longestHoldNs: number;
  readonly fewest: number;
  readonly most: number;
}

interface Part {
  readonly rounds: number;
  readonly waits: HistogramData;
  readonly longestHoldNs: number;
}

interface Start {
  readonly shared: SharedArrayBuffer;
  readonly plan: LockPlan;
  readonly thread: number;
}

const waiting: Waiting = {
  wait(words, index, value, timeoutMs): void {
    Atomics.wait(words, index, value, timeoutMs);
  },
  now: () => performance.now(),
};

/** Burns about the drawn time; the clock is read only for what is long enough to show. */
function spend(between: Between, picker: KeyPicker): void {
  const us = between.low + (picker.next() / 1000) * (between.high - between.low);
  if (us <= 0) return;
  const end = performance.now() + us / 1000;
  while (performance.now() < end);
}

function work({ shared, plan, thread }: Start): Part {
  const words = new Int32Array(shared);
  const picker = new KeyPicker(thread + 1, 1000, undefined);
  const counters = { acquisitions: 0, contended: 0, waitMs: 0 };
  const waits = new Histogram();
  let rounds = 0;
  let longestHoldNs = 0;
  Atomics.wait(words, START, 0);
  while (Atomics.load(words, STOP) === 0) {
    const asked = performance.now();
    if (!acquire(words, 0, thread, waiting, PATIENCE_MS, counters)) break;
    const got = performance.now();
    words[COUNTER] = (words[COUNTER] as number) + 1;
    spend(plan.hold, picker);
    longestHoldNs = Math.max(longestHoldNs, (performance.now() - got) * 1e6);
    release(words, 0);
    waits.record((got - asked) * 1e6);
    rounds++;
    spend(plan.pause, picker);
  }
  return { rounds, waits: waits.toJSON(), longestHoldNs };
}

export async function measureLock(plan: LockPlan): Promise<LockResult> {
  const shared = new SharedArrayBuffer(SHARED_WORDS * 4);
  const words = new Int32Array(shared);
  const parts: Promise<Part>[] = [];
  const online: Promise<void>[] = [];
  for (let thread = 0; thread < plan.threads; thread++) {
    const start: Start = { shared, plan, thread };
    const worker = new Worker(new URL(import.meta.url), { workerData: start });
    online.push(new Promise((resolve) => worker.once("online", resolve)));
    parts.push(
      new Promise((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      }),
    );
  }
  await Promise.all(online);
  const began = performance.now();
  Atomics.store(words, START, 1);
  Atomics.notify(words, START);
  await new Promise((resolve) => setTimeout(resolve, plan.seconds * 1000));
  Atomics.store(words, STOP, 1);
  const elapsed = (performance.now() - began) / 1000;
  const results = await Promise.all(parts);
  const waits = new Histogram();
  for (const part of results) waits.add(part.waits);
  const rounds = results.map((part) => part.rounds);
  const total = rounds.reduce((sum, count) => sum + count, 0);
  if (words[COUNTER] !== total) {
    throw new MissingFigure(`the lock let two in: ${total} rounds, ${words[COUNTER]} counted`);
  }
  return {
    perSecond: total / elapsed,
    waits,
    longestHoldNs: Math.max(...results.map((part) => part.longestHoldNs)),
    fewest: Math.min(...rounds),
    most: Math.max(...rounds),
  };
}

const given = workerData as Partial<Start> | null;
if (!isMainThread && given?.plan !== undefined) parentPort?.postMessage(work(given as Start));
