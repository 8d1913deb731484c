/**
 * Doorbells: a word per thread, 1 from when somebody rings until its thread begins to look at what
 * it may have been rung for. A bell costs a wake-up, so it rings once however many pull it.
 *
 * The order matters on both sides. Whoever rings has first put down what is to be seen; whoever
 * hears takes the bell back first and looks afterwards, and only then waits for the word again.
 */

/** Int32 words between the doorbells of two threads: a line each. */
export const BELL_WORDS = 32;

export function ringBell(bells: Int32Array, thread: number): void {
  const at = thread * BELL_WORDS;
  if (Atomics.exchange(bells, at, 1) === 0) Atomics.notify(bells, at);
}

/** The thread is about to look: from now on a ring counts as a new one. */
export function takeBellBack(bells: Int32Array, thread: number): void {
  Atomics.store(bells, thread * BELL_WORDS, 0);
}
