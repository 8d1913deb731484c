/**
 * Which thread of the process this is, and whether another one is still there: a worker can be
 * terminated at any instruction, and nobody is told in time.
 *
 * A thread is named by one number: on Linux the system's own, by which anybody can look whether it
 * lives; elsewhere -1 - Node's number, of which only the thread that started the worker hears.
 */
import { existsSync, readlinkSync } from "node:fs";
import { threadId } from "node:worker_threads";

/** Node's number of this thread, 0 for the main thread. */
export const nodeThread: number = threadId;

/** This thread; never 0. */
export function ownThread(): number {
  if (process.platform === "linux") {
    try {
      const task = /\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self"));
      if (task !== null) return Number(task[1]);
    } catch {
      // No /proc: what Node tells must do.
    }
  }
  return -1 - threadId;
}

/** True if the thread has certainly ended. */
export function hasEnded(thread: number): boolean {
  return thread > 0 && !existsSync(`/proc/self/task/${thread}`);
}

const listeners = new Set<(nodeThread: number) => void>();
let isListening = false;

/**
 * Calls `ended` with Node's number of each worker that this thread starts from now on, once it has
 * ended. Returns what stops it.
 */
export function onWorkerEnd(ended: (nodeThread: number) => void): () => void {
  if (!isListening) {
    isListening = true;
    process.on("worker", (worker) => {
      const { threadId: number } = worker;
      worker.once("exit", () => {
        for (const listener of listeners) listener(number);
      });
    });
  }
  listeners.add(ended);
  return () => listeners.delete(ended);
}
