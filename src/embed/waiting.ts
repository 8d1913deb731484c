/**
 * How a handle waits for a lock, or for anything else in shared memory: in slices, so that a broken
 * store ends every wait. Who has waited for long looks for threads that have ended.
 */
import { systemWaiting } from "../env/system.ts";
import { H_BROKEN } from "../memory/layout.ts";
import type { Waiting } from "../memory/lock.ts";
import { BROKEN_BY_END } from "./burial.ts";
import { StoreBroken } from "./errors.ts";
import type { StoreLocks } from "./locks.ts";
import type { Members } from "./members.ts";

const SLICE_MS = 10;
/** A lock is held for microseconds; after this, its owner may be gone. */
const LOOK_AFTER_MS = 50;

/** Throws if the store cannot be used any more. */
export function throwIfBroken(control: Int32Array, cause: unknown = undefined): void {
  const reason = Atomics.load(control, H_BROKEN);
  if (reason === 0) return;
  throw new StoreBroken(
    reason === BROKEN_BY_END
      ? "A thread was terminated in the middle of a call; the data may be half changed"
      : "Something failed inside a call; the data may be half changed",
    cause === undefined ? {} : { cause },
  );
}

export class StoreWaiting implements Waiting {
  private readonly control: Int32Array;
  private readonly locks: StoreLocks;
  private readonly members: Members;
  private readonly row: number;
  private readonly bury: () => void;
  /** When to look next; 0 while the call has not waited. */
  private lookAt = 0;

  constructor(
    control: Int32Array,
    locks: StoreLocks,
    members: Members,
    row: number,
    bury: () => void,
  ) {
    this.control = control;
    this.locks = locks;
    this.members = members;
    this.row = row;
    this.bury = bury;
  }

  /** A call begins. */
  begin(): void {
    this.lookAt = 0;
  }

  wait(words: Int32Array, index: number, value: number, timeoutMs: number): void {
    systemWaiting.wait(words, index, value, Math.min(timeoutMs, SLICE_MS));
    throwIfBroken(this.control);
    const now = systemWaiting.now();
    if (this.lookAt === 0) this.lookAt = now + LOOK_AFTER_MS;
    if (now < this.lookAt) return;
    this.lookAt = now + LOOK_AFTER_MS;
    this.bury();
    throwIfBroken(this.control);
  }

  now(): number {
    return systemWaiting.now();
  }

  countStarving(words: Int32Array, line: number, state: number): void {
    this.members.setStarving(this.row, this.locks.numberOf(words, line), state);
  }
}
