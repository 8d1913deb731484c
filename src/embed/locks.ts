/**
 * Every lock of a store, in whichever of its buffers: who has one is looked up when a thread has
 * ended. Each has a number, by which a row says at which of them its handle starves.
 */
import {
  H_CONTROL_LOCK,
  H_GARBAGE_LOCK,
  H_POOL_LOCK,
  H_SHARDS,
  LOCK_OWNER,
  LOCK_WORD,
  shardRow,
} from "../memory/layout.ts";
import { FREE, forgetStarving, GRANTED } from "../memory/lock.ts";
import type { SharedState } from "../server/shared-state.ts";

export type LockPlace = { readonly words: Int32Array; readonly line: number };

type LockedBuffers = Pick<
  SharedState,
  "control" | "slowLog" | "latencyEvents" | "mailboxes" | "threads"
>;

export class StoreLocks {
  readonly places: readonly LockPlace[];

  constructor(shared: LockedBuffers) {
    this.places = [
      ...controlLocks(new Int32Array(shared.control)),
      { words: new Int32Array(shared.slowLog), line: 0 },
      { words: new Int32Array(shared.latencyEvents), line: 0 },
      ...mailboxLocks(new Int32Array(shared.mailboxes), shared.threads),
    ];
  }

  /** Number of a lock. */
  numberOf(words: Int32Array, line: number): number {
    return this.places.findIndex(
      (place) => place.line === line && place.words.buffer === words.buffer,
    );
  }

  /** True if a handle has taken a lock and not released it. */
  isHeldBy(row: number): boolean {
    return this.places.some(
      ({ words, line }) => Atomics.load(words, line + LOCK_OWNER) === row + 1,
    );
  }

  /** Numbers of the locks that are taken with nobody's name on them. */
  ownerless(): number[] {
    const found: number[] = [];
    for (let number = 0; number < this.places.length; number++) {
      if (this.isOwnerless(number)) found.push(number);
    }
    return found;
  }

  /** True for an instant of every taking and every release, and when its owner ended in that. */
  isOwnerless(number: number): boolean {
    const { words, line } = this.places[number] as LockPlace;
    const word = Atomics.load(words, line + LOCK_WORD);
    return word !== FREE && word !== GRANTED && Atomics.load(words, line + LOCK_OWNER) === 0;
  }

  /** Takes a thread that ended out of the count of those that starve at a lock. */
  forgetStarving(number: number): void {
    const { words, line } = this.places[number] as LockPlace;
    forgetStarving(words, line);
  }
}

function controlLocks(words: Int32Array): LockPlace[] {
  const lines = [H_POOL_LOCK, H_CONTROL_LOCK, H_GARBAGE_LOCK];
  const shards = words[H_SHARDS] as number;
  for (let shard = 0; shard < shards; shard++) lines.push(shardRow(shard));
  return lines.map((line) => ({ words, line }));
}

function mailboxLocks(words: Int32Array, threads: number): LockPlace[] {
  const boxWords = words.length / threads;
  return Array.from({ length: threads }, (_, thread) => ({ words, line: thread * boxWords }));
}
