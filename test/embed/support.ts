/** What the tests of the embedded store share: workers that are given tasks by name. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { StoreHandle } from "../../src/index.ts";

/** A task of worker.ts and what it needs. */
export type Task = {
  readonly name: string;
  readonly handle: StoreHandle;
  readonly seed?: number;
  readonly count?: number;
  /** Words that threads and test talk by; what each means is the task's. */
  readonly words?: Int32Array;
};

/** The strings that "append-pieces" appends to. */
export const APPENDED: readonly string[] = ["first", "second"];

/** A worker that hangs is a failure, not a test that never ends. */
const LIMIT_MS = 120_000;

export function startWorker(task: Task): Worker {
  return new Worker(new URL("./worker.js", import.meta.url), { workerData: task });
}

/** What the worker posts; rejects with its error, and if it ends or hangs without a word. */
export async function resultOf(worker: Worker): Promise<unknown> {
  const timer = setTimeout(() => void worker.terminate(), LIMIT_MS);
  try {
    const [value] = (await Promise.race([
      once(worker, "message"),
      once(worker, "exit").then(([code]) => {
        throw new Error(`the worker ended with ${code}`);
      }),
    ])) as [unknown];
    return value;
  } finally {
    clearTimeout(timer);
  }
}

export async function runWorker(task: Task): Promise<unknown> {
  const worker = startWorker(task);
  const value = await resultOf(worker);
  await once(worker, "exit");
  return value;
}

export function newWords(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(count * 4));
}

/** Waits until a word has at least a value, without holding the event loop. */
export async function wordReaches(words: Int32Array, index: number, value: number): Promise<void> {
  const began = Date.now();
  for (;;) {
    const now = Atomics.load(words, index);
    if (now >= value) return;
    if (Date.now() - began > LIMIT_MS) throw new Error(`word ${index} stays at ${now}`);
    const { async, value: changed } = Atomics.waitAsync(words, index, now, 50);
    if (async) await changed;
  }
}
