/**
 * The handles of a store: a row of shared memory each, claimed and freed atomically. A row's number
 * is the thread number of its handle: owner of locks, row of the statistics. Words of a row:
 *
 *   0  thread that has it (env/thread-life), 0 free     1  Node's number of that thread, plus 1
 *   2  1 while a call runs                              3  as 1, of a thread known to have ended
 *   4  state of its starving count                      5  number of its lock (locks.ts)
 *   6  units of memory that its request has reserved
 *   7..31  blocks of big strings that it has pinned; what is more than there is room for would stay
 *          pinned if the thread ended, and with it what it takes
 *
 * A thread may end at any instruction. Whoever buries its handle first takes the row over, so that
 * no two do, and that of a burier who ends as well falls to the next.
 */
import { HANDLES_MAX } from "../limits.ts";

/** A line of 128 bytes a row. */
const ROW_WORDS = 32;
const THREAD = 0;
const NODE_THREAD = 1;
const BUSY = 2;
const ENDED = 3;
const STARVING_STATE = 4;
const STARVING_AT = 5;
const RESERVED = 6;
const PINNED = 7;

export function membersBytes(): number {
  return HANDLES_MAX * ROW_WORDS * 4;
}

/** Index of the word that is 1 while a call of this handle runs. */
export function busyWord(row: number): number {
  return row * ROW_WORDS + BUSY;
}

export class Members {
  readonly words: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
  }

  /** A row for a handle of this thread, -1 when all are taken. */
  claim(thread: number, nodeThread: number): number {
    for (let row = 0; row < HANDLES_MAX; row++) {
      const at = row * ROW_WORDS;
      if (Atomics.compareExchange(this.words, at + THREAD, 0, thread) !== 0) continue;
      Atomics.store(this.words, at + NODE_THREAD, nodeThread + 1);
      return row;
    }
    return -1;
  }

  free(row: number): void {
    const at = row * ROW_WORDS;
    for (let word = NODE_THREAD; word < ROW_WORDS; word++) this.words[at + word] = 0;
    Atomics.store(this.words, at + THREAD, 0);
  }

  /** The thread that has a row, 0 if it is free. */
  threadOf(row: number): number {
    return Atomics.load(this.words, row * ROW_WORDS + THREAD);
  }

  /** Node's number of that thread; -1 in the moment between the claim and its being written. */
  nodeThreadOf(row: number): number {
    return Atomics.load(this.words, row * ROW_WORDS + NODE_THREAD) - 1;
  }

  count(): number {
    let count = 0;
    for (let row = 0; row < HANDLES_MAX; row++) if (this.threadOf(row) !== 0) count++;
    return count;
  }

  /** Marks the handles of a worker that has ended. */
  markEnded(nodeThread: number): void {
    for (let row = 0; row < HANDLES_MAX; row++) {
      const at = row * ROW_WORDS;
      if (Atomics.load(this.words, at + NODE_THREAD) !== nodeThread + 1) continue;
      Atomics.store(this.words, at + ENDED, nodeThread + 1);
    }
  }

  isMarkedEnded(row: number): boolean {
    const at = row * ROW_WORDS;
    const ended = Atomics.load(this.words, at + ENDED);
    // The row may have got another owner before the mark arrived.
    return ended !== 0 && ended === Atomics.load(this.words, at + NODE_THREAD);
  }

  /** Gives the row of a thread that has ended to another one. False if that is not its any more. */
  takeOver(row: number, from: number, thread: number, nodeThread: number): boolean {
    const at = row * ROW_WORDS;
    if (Atomics.compareExchange(this.words, at + THREAD, from, thread) !== from) return false;
    Atomics.store(this.words, at + NODE_THREAD, nodeThread + 1);
    return true;
  }

  setReserved(row: number, units: number): void {
    Atomics.store(this.words, row * ROW_WORDS + RESERVED, units);
  }

  /** The units that are reserved; from now on they are the caller's to give back. */
  takeReserved(row: number): number {
    return Atomics.exchange(this.words, row * ROW_WORDS + RESERVED, 0);
  }

  /** The words for blocks that are pinned; see keyspace/big-block. */
  pinned(row: number): Int32Array {
    return this.words.subarray(row * ROW_WORDS + PINNED, (row + 1) * ROW_WORDS);
  }

  setStarving(row: number, lock: number, state: number): void {
    const at = row * ROW_WORDS;
    this.words[at + STARVING_AT] = lock;
    Atomics.store(this.words, at + STARVING_STATE, state);
  }

  starvingState(row: number): number {
    return Atomics.load(this.words, row * ROW_WORDS + STARVING_STATE);
  }

  starvingAt(row: number): number {
    return Atomics.load(this.words, row * ROW_WORDS + STARVING_AT);
  }
}
