/**
 * The lock of a shard, of the span pool and of the control log: a line of 128 bytes in the control
 * buffer. States of its word:
 *
 *   0 free    1 held    2 held, somebody sleeps    3 granted to a thread that starves
 *
 * A release does not hand the lock over, since every hand-over costs a wake-up; whoever runs takes
 * it. So a sleeper could wait for ever: one that has waited STARVING_MS raises the starving count,
 * and the next release grants: only threads that starve may take a granted lock.
 *
 * A thread that leaves without the lock lowers the count; releaser and leaver each look at what the
 * other wrote, so that a grant nobody wants is always taken back.
 */
import { LOCK_OWNER, LOCK_PARKED, LOCK_STARVING, LOCK_WORD } from "./layout.ts";

export const FREE = 0;
export const HELD = 1;
export const HELD_SLEEPERS = 2;
export const GRANTED = 3;

const SPIN_LOADS = 200;
const STARVING_MS = 0.3;

/** How a thread waits; the inline host and the step machine bring their own. */
export type Waiting = {
  /** Returns after a wake-up, after `timeoutMs`, or at once if the word is not `value`. */
  wait(words: Int32Array, index: number, value: number, timeoutMs: number): void;
  /** Monotonic milliseconds with a fraction. */
  now(): number;
  /** Looks at a lock before its word is waited for; SPIN_LOADS if not given. */
  readonly spins?: number;
  /**
   * Called around each change of a starving count: where threads may be terminated, it is put down
   * so that others can take a dead thread out of the count.
   */
  countStarving?(words: Int32Array, line: number, state: number): void;
};

/** States of `countStarving`: not in the count, about to change it, in the count. */
export const NOT_STARVING = 0;
export const STARVING_CHANGES = 1;
export const STARVING = 2;

/** Counters of one thread; only it writes them. */
export type LockCounters = { acquisitions: number; contended: number; waitMs: number };

/**
 * Takes a lock of a store that has one thread: nobody else ever takes it, so it needs no atomic
 * operation. It is still marked, for the watchdog and the report of a death.
 */
export function acquireAlone(words: Int32Array, line: number): void {
  words[line + LOCK_WORD] = HELD;
  words[line + LOCK_OWNER] = 1;
}

export function releaseAlone(words: Int32Array, line: number): void {
  words[line + LOCK_OWNER] = 0;
  words[line + LOCK_WORD] = FREE;
}

/** Takes the lock if it is free. */
export function tryAcquire(words: Int32Array, line: number, thread: number): boolean {
  if (Atomics.compareExchange(words, line + LOCK_WORD, FREE, HELD) !== FREE) return false;
  words[line + LOCK_OWNER] = thread + 1;
  return true;
}

/** Takes the lock, or returns false once `patienceMs` has passed. */
export function acquire(
  words: Int32Array,
  line: number,
  thread: number,
  waiting: Waiting,
  patienceMs: number,
  counters: LockCounters,
): boolean {
  if (Atomics.compareExchange(words, line + LOCK_WORD, FREE, HELD) !== FREE) {
    if (!acquireSlowly(words, line, waiting, patienceMs, counters)) return false;
  }
  words[line + LOCK_OWNER] = thread + 1;
  return true;
}

function acquireSlowly(
  words: Int32Array,
  line: number,
  waiting: Waiting,
  patienceMs: number,
  counters: LockCounters,
): boolean {
  const at = line + LOCK_WORD;
  counters.contended++;
  const spins = waiting.spins ?? SPIN_LOADS;
  for (let i = 0; i < spins; i++) {
    if (Atomics.load(words, at) !== FREE) continue;
    if (Atomics.compareExchange(words, at, FREE, HELD) === FREE) return true;
  }
  const began = waiting.now();
  let starving = false;
  let got = false;
  for (;;) {
    const state = Atomics.load(words, at);
    if (state === FREE) {
      got = Atomics.compareExchange(words, at, FREE, HELD_SLEEPERS) === FREE;
    } else if (state === GRANTED && starving) {
      got = Atomics.compareExchange(words, at, GRANTED, HELD_SLEEPERS) === GRANTED;
    } else if (state === HELD) {
      Atomics.compareExchange(words, at, HELD, HELD_SLEEPERS);
      continue;
    } else {
      const waited = waiting.now() - began;
      if (waited >= patienceMs) break;
      if (!starving && waited >= STARVING_MS) {
        starving = true;
        waiting.countStarving?.(words, line, STARVING_CHANGES);
        Atomics.add(words, line + LOCK_STARVING, 1);
        waiting.countStarving?.(words, line, STARVING);
        continue;
      }
      waiting.wait(words, at, state, starving ? patienceMs - waited : STARVING_MS);
    }
    if (got) break;
  }
  if (starving) {
    waiting.countStarving?.(words, line, STARVING_CHANGES);
    Atomics.sub(words, line + LOCK_STARVING, 1);
    waiting.countStarving?.(words, line, NOT_STARVING);
    if (!got) takeBackGrant(words, line);
  }
  counters.waitMs += waiting.now() - began;
  return got;
}

/** Takes a thread that died while it starved out of the count. */
export function forgetStarving(words: Int32Array, line: number): void {
  Atomics.sub(words, line + LOCK_STARVING, 1);
  takeBackGrant(words, line);
}

/** Undoes a grant when no thread is left that may take it. */
function takeBackGrant(words: Int32Array, line: number): void {
  if (Atomics.load(words, line + LOCK_STARVING) !== 0) return;
  if (Atomics.compareExchange(words, line + LOCK_WORD, GRANTED, FREE) === GRANTED) {
    Atomics.notify(words, line + LOCK_WORD);
  }
}

/**
 * Gives the lock up. Returns the threads with parked sessions; the caller must ring them.
 *
 * Plain reads, since an atomic one is a call of 8 ns: a starving count that is missed is seen by
 * the next release, and the exchange keeps the read of the parked mask behind it.
 */
export function release(words: Int32Array, line: number): number {
  words[line + LOCK_OWNER] = 0;
  if (words[line + LOCK_STARVING] === 0) {
    if (Atomics.exchange(words, line + LOCK_WORD, FREE) === HELD_SLEEPERS) {
      Atomics.notify(words, line + LOCK_WORD, 1);
    }
  } else {
    Atomics.store(words, line + LOCK_WORD, GRANTED);
    Atomics.notify(words, line + LOCK_WORD);
    takeBackGrant(words, line);
  }
  if (words[line + LOCK_PARKED] === 0) return 0;
  return Atomics.exchange(words, line + LOCK_PARKED, 0);
}

/** Marks `thread` as having a session parked here; it must try the lock once more afterwards. */
export function park(words: Int32Array, line: number, thread: number): void {
  Atomics.or(words, line + LOCK_PARKED, 1 << (thread & 31));
}
