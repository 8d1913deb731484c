/**
 * The real outside world: clock, random numbers, timers and waiting of Node. The only file of the
 * core's world that touches them.
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Random } from "../base/random.ts";
import { entropy } from "./entropy.ts";
import type { Clock, LoopUse, RandomSource, Timers } from "./env.ts";
import { addressSpaceLeft } from "./process-limits.ts";

/** The last microsecond of a millisecond. */
const LAST_FRACTION = 0.9995;

/**
 * What makes performance.now(), which begins anew in each thread, the process's clock. A thread
 * that is stopped between the two readings finds less than it is: the most of some counts.
 */
function threadBeganMs(): number {
  let most = 0;
  for (let i = 0; i < 3; i++) {
    const [seconds, ns] = process.hrtime();
    most = Math.max(most, seconds * 1000 + ns / 1e6 - performance.now());
  }
  return most;
}

export class SystemClock implements Clock {
  unixMs: number = Date.now();
  readonly #beganMs: number = threadBeganMs();
  /** Unix milliseconds at which performance.now() stood at 0, as far as they agree. */
  #offsetMs: number = performance.timeOrigin;

  refresh(): void {
    this.unixMs = Date.now();
  }

  monotonicMs(): number {
    return performance.now() + this.#beganMs;
  }

  /** The system's millisecond, with the fraction of performance.now(), which is finer. */
  unixUsec(): number {
    const unixMs = Date.now();
    const fine = performance.now() + this.#offsetMs;
    const fitting = Math.min(Math.max(fine, unixMs), unixMs + LAST_FRACTION);
    this.#offsetMs += fitting - fine;
    return unixMs * 1000 + Math.floor((fitting - unixMs) * 1000);
  }
}

/** Waiting on a word of shared memory, as the locks ask for it. */
export const systemWaiting: {
  wait(words: Int32Array, index: number, value: number, timeoutMs: number): void;
  now(): number;
} = {
  wait(words, index, value, timeoutMs) {
    Atomics.wait(words, index, value, timeoutMs);
  },
  now: () => performance.now(),
};

/** A generator with a seed from the system. */
export function systemRandom(): RandomSource {
  return new Random(entropy.u32());
}

export const systemTimers: Timers = {
  every(ms, run) {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Runs something once what is under way is done. */
export function soon(run: () => void): void {
  setImmediate(run);
}

/** This thread's collector, made when it is first called for. */
let collect: (() => void) | null = null;

/**
 * Collects the garbage of this thread. Memory that threads share goes back to the system only when
 * all of them have collected what referred to it, and V8 does not know its size.
 */
export function collectGarbage(): void {
  if (collect === null) {
    // The flag is the process's, and all threads may come here in the same moment: it stays set.
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
  }
  collect();
}

type LoopMetrics = { uvMetricsInfo: { loopCount: number } };

/** Of this thread's event loop. */
export function loopUse(): LoopUse {
  // Since Node 20.18; its types do not know it yet.
  const { uvMetricsInfo } = performance.nodeTiming as unknown as LoopMetrics;
  return { cycles: uvMetricsInfo.loopCount, activeMs: performance.eventLoopUtilization().active };
}

/** Bytes that JavaScript objects of this thread take. */
export function heapUsed(): number {
  return getHeapStatistics().used_heap_size;
}

/** What a list of processes shows, as far as there is room. Of the main thread only. */
export function setProcessTitle(title: string): void {
  process.title = Buffer.from(title, "latin1").toString("utf8");
}

/** Stops this thread, its event loop included. */
export function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Calls `rung` after the word has become other than 0; at once if it is. */
export function whenRung(words: Int32Array, index: number, rung: () => void): void {
  const { async, value } = Atomics.waitAsync(words, index, 0);
  if (async) void value.then(rung);
  else rung();
}

/**
 * What is left of a bounded address space for the collector. V8 collects garbage when it is refused
 * memory, and ends the process if it has no room for that.
 */
const COLLECTOR_BYTES = 64 * 1024 * 1024;

/** Whether so many bytes more may be asked for without danger for the process. */
export function hasAddresses(bytes: number): boolean {
  return bytes + COLLECTOR_BYTES <= addressSpaceLeft();
}

/** A shared buffer, or null when the system refuses one that large. */
export function makeSharedBuffer(bytes: number): SharedArrayBuffer | null {
  if (!hasAddresses(bytes)) return null;
  try {
    return new SharedArrayBuffer(bytes);
  } catch (error) {
    // RangeError: the system has no address space or no memory for it.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
