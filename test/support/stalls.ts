/**
 * How long the machine kept a thread of this process, or those of a server, from a core: what is
 * to be taken off a time on the wall before it says anything of the server. A server that sleeps
 * where it should work, or that works where it should answer, is not excused by it.
 *
 * This thread must have nothing else to do: its timer is late only when the machine was busy, or
 * stood still.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Between two looks. What the machine withheld before the first one is not known. */
const LOOK_MS = 20;

export class Stalls {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #lastLook = performance.now();
  /** The longest that this thread was late; being late many times while it waits costs nothing. */
  #latestMs = 0;
  /** Of the server's threads at the first look of a round. */
  #first: ReadonlyMap<string, number> | null = null;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** From here on it counts. */
  begin(): void {
    this.#latestMs = 0;
    this.#lastLook = performance.now();
    this.#first = null;
  }

  /** Milliseconds since `begin` for which there was no core for those who had work. */
  withheldMs(): number {
    this.#noteLateness();
    if (this.#first === null) return this.#latestMs;
    let mostNs = 0;
    for (const [thread, ns] of waitedNs(this.#pid)) {
      mostNs = Math.max(mostNs, ns - (this.#first.get(thread) ?? 0));
    }
    return Math.max(this.#latestMs, mostNs / 1e6);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#noteLateness();
    this.#first ??= waitedNs(this.#pid);
  }

  #noteLateness(): void {
    const now = performance.now();
    this.#latestMs = Math.max(this.#latestMs, now - this.#lastLook - LOOK_MS);
    this.#lastLook = now;
  }
}

/** Of each thread, how long it was ready to run and had no core; nothing where none can tell. */
function waitedNs(pid: number): Map<string, number> {
  const waited = new Map<string, number>();
  const folder = `/proc/${pid}/task`;
  try {
    for (const thread of readdirSync(folder)) {
      const fields = readFileSync(`${folder}/${thread}/schedstat`, "latin1").split(" ");
      waited.set(thread, Number(fields[1]));
    }
  } catch {
    // A thread has ended, or this system has no such files.
  }
  return waited;
}
