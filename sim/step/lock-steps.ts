/**
 * The lock in the step machine: threads that add to a plain counter inside the lock, park, hog and
 * give up, and what must hold when they are done.
 */
import { assert } from "../../src/base/assert.ts";
import {
  LOCK_LINE_WORDS,
  LOCK_OWNER,
  LOCK_PARKED,
  LOCK_STARVING,
  LOCK_WORD,
} from "../../src/memory/layout.ts";
import { acquire, FREE, park, release, tryAcquire } from "../../src/memory/lock.ts";
import { type Body, type Fault, Machine, type Scheduler, type StepThread } from "./machine.ts";

const LINE = LOCK_LINE_WORDS;
const COUNTER = 2 * LOCK_LINE_WORDS;
const WORDS = COUNTER + 1;

/** What a thread does, once or several times. */
export type Part =
  /** Waits for the lock as long as it takes, or this many milliseconds; holds it for some. */
  | { kind: "take"; times: number; patienceMs?: number; holdMs?: number }
  /** Tries, and parks if it is taken; `isCareless` leaves out the second try. */
  | { kind: "park"; times: number; isCareless?: boolean };

export type LockCase = { parts: readonly Part[]; scheduler: Scheduler; fault?: Fault };

export type LockResult = {
  steps: number;
  /** Times a thread gave up, found a grant, was parked. */
  gaveUp: number;
  granted: number;
  parked: number;
  /** Most times that others got the lock while one starved. */
  overtaken: number;
  /** Times the lock was had, and a thread slept. */
  taken: number;
  sleeps: number;
};

export function newResult(): LockResult {
  return { steps: 0, gaveUp: 0, granted: 0, parked: 0, overtaken: 0, taken: 0, sleeps: 0 };
}

class LockWorld {
  readonly words: Int32Array = new Int32Array(new SharedArrayBuffer(WORDS * 4));
  readonly result: LockResult = newResult();
  readonly machine: Machine;
  /** Threads whose mark no release has returned yet. */
  readonly unrung: Set<number> = new Set();
  taken = 0;
  private inside = 0;
  private sinceStarving = 0;
  private readonly seen: Int32Array;

  constructor(given: LockCase) {
    const { words } = this;
    const fault: Fault = (access) => {
      this.watch(access.kind, access.index);
      return given.fault?.(access);
    };
    this.machine = new Machine({
      bodies: given.parts.map((part) => this.bodyOf(part)),
      scheduler: given.scheduler,
      fault,
      isPoint: (_words, index) => index !== LINE + LOCK_OWNER,
    });
    this.seen = this.machine.shared(words);
  }

  /** Counts how often the lock was had since a thread began to starve. */
  private watch(kind: string, index: number): void {
    if (kind !== "add" || index !== LINE + LOCK_STARVING) return;
    if (this.words[LINE + LOCK_STARVING] === 0) this.sinceStarving = 0;
  }

  private bodyOf(part: Part): Body {
    return part.kind === "take"
      ? (thread) => this.take(thread, part)
      : (thread) => this.park(thread, part);
  }

  private take(thread: StepThread, part: Part & { kind: "take" }): void {
    const counters = { acquisitions: 0, contended: 0, waitMs: 0 };
    const patience = part.patienceMs ?? Number.POSITIVE_INFINITY;
    for (let n = 0; n < part.times; n++) {
      if (!acquire(this.seen, LINE, thread.id, thread.waiting, patience, counters)) {
        thread.once(() => this.result.gaveUp++);
        continue;
      }
      this.hold(thread, part.holdMs ?? 0);
    }
  }

  /** The critical section, and its end. */
  private hold(thread: StepThread, ms: number): void {
    const { seen, machine, words } = this;
    thread.once(() => {
      assert(++this.inside === 1, "two threads hold the lock");
      assert(words[LINE + LOCK_OWNER] === thread.id + 1, "another thread is named as the owner");
      this.taken++;
      this.sinceStarving++;
      if (words[LINE + LOCK_STARVING] !== 0) {
        this.result.overtaken = Math.max(this.result.overtaken, this.sinceStarving);
      }
    });
    const before = seen[COUNTER] as number;
    thread.once(() => {
      machine.nowMs += ms;
    });
    seen[COUNTER] = before + 1;
    thread.once(() => this.inside--);
    const mask = release(seen, LINE);
    thread.once(() => this.ring(mask));
  }

  private park(thread: StepThread, part: Part & { kind: "park" }): void {
    const { seen } = this;
    for (let n = 0; n < part.times; n++) {
      if (tryAcquire(seen, LINE, thread.id)) {
        this.hold(thread, 0);
        continue;
      }
      thread.once(() => {
        this.result.parked++;
        this.unrung.add(thread.id);
      });
      park(seen, LINE, thread.id);
      if (!part.isCareless && tryAcquire(seen, LINE, thread.id)) this.hold(thread, 0);
    }
  }

  private ring(mask: number): void {
    for (const id of [...this.unrung]) if (mask & (1 << id)) this.unrung.delete(id);
  }

  /** What must hold when all threads are done. */
  check(): void {
    const { words } = this;
    assert(words[LINE + LOCK_WORD] === FREE, `the lock is left as ${words[LINE + LOCK_WORD]}`);
    assert(words[LINE + LOCK_STARVING] === 0, "threads are counted that do not starve");
    assert(words[COUNTER] === this.taken, "an update is lost");
    assert(words[LINE + LOCK_PARKED] === 0, "a mark is left");
    assert(this.unrung.size === 0, "a parked thread was not rung");
  }
}

/** Runs one case to its end. Throws if something does not hold. */
export function runLock(given: LockCase): LockResult {
  const world = new LockWorld(given);
  world.machine.run();
  world.check();
  world.result.steps = world.machine.steps;
  world.result.sleeps = world.machine.sleeps;
  world.result.taken = world.taken;
  return world.result;
}
