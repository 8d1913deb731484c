/**
 * Finds handles whose thread has ended without closing them, and gives back what they had.
 *
 * A thread that was terminated between two calls leaves nothing but its row. One that was in the
 * middle of a call may have held a lock, and then nobody knows what is half done behind it: the
 * store is broken for good. A lock's owner is written right after the lock was taken and cleared
 * right before it is released, so one that is held by nobody for long counts as held by the dead.
 */

import { HANDLES_MAX } from "../limits.ts";
import { H_ATTENTION, H_BROKEN, H_LEASE } from "../memory/layout.ts";
import { NOT_STARVING, STARVING } from "../memory/lock.ts";
import type { StoreLocks } from "./locks.ts";
import type { Members } from "./members.ts";

/** How long a lock without an owner is looked at before it counts as a dead thread's. */
const OWNERLESS_MS = 100;
const LOOK_AGAIN_MS = 1;

export const BROKEN_BY_END = 1;
export const BROKEN_BY_FAULT = 2;

export type Undertaker = {
  control: Int32Array;
  locks: StoreLocks;
  members: Members;
  /** The burying thread, and Node's number of it. */
  thread: number;
  nodeThread: number;
  hasEnded(thread: number): boolean;
  monotonicMs(): number;
  /** Stops this thread. */
  sleep(ms: number): void;
  /** Gives back what else a handle has. False if that has to wait: it is asked again. */
  giveBack(row: number): boolean;
};

/** Marks the store as broken; the first reason stays. */
export function breakStore(control: Int32Array, reason: number): void {
  if (Atomics.compareExchange(control, H_BROKEN, 0, reason) !== 0) return;
  Atomics.add(control, H_ATTENTION, 1);
}

/** Buries all handles of threads that have ended. Returns how many. */
export function buryEnded(world: Undertaker): number {
  const { members } = world;
  let buried = 0;
  for (let row = 0; row < HANDLES_MAX; row++) {
    const thread = members.threadOf(row);
    if (thread === 0 || !hasEnded(world, row, thread)) continue;
    if (!members.takeOver(row, thread, world.thread, world.nodeThread)) continue;
    bury(world, row);
    buried++;
  }
  return buried;
}

function hasEnded(world: Undertaker, row: number, thread: number): boolean {
  const { members } = world;
  if (members.isMarkedEnded(row)) return true;
  // The system may have given an ended thread's number to this one.
  if (thread === world.thread) return members.nodeThreadOf(row) !== world.nodeThread;
  return world.hasEnded(thread);
}

/** The row belongs to this thread now. */
function bury(world: Undertaker, row: number): void {
  const { control, members } = world;
  if (!wasHarmless(world, row)) {
    breakStore(control, BROKEN_BY_END);
    return;
  }
  Atomics.compareExchange(control, H_LEASE, row + 1, 0);
  for (let tries = OWNERLESS_MS; tries > 0 && !world.giveBack(row); tries--) {
    world.sleep(LOOK_AGAIN_MS);
  }
  members.free(row);
}

/** True if the thread held no lock, wherever it ended: in a call, in open() or keeping house. */
function wasHarmless(world: Undertaker, row: number): boolean {
  const { locks, members } = world;
  if (locks.isHeldBy(row)) return false;
  const starving = members.starvingState(row);
  if (starving === STARVING) locks.forgetStarving(members.starvingAt(row));
  else if (starving !== NOT_STARVING) return false;
  return locks.ownerless().every((lock) => getsOwner(world, lock));
}

/** True unless the lock stays taken with nobody's name on it. */
function getsOwner(world: Undertaker, lock: number): boolean {
  const began = world.monotonicMs();
  while (world.locks.isOwnerless(lock)) {
    if (world.monotonicMs() - began > OWNERLESS_MS) return false;
    world.sleep(LOOK_AGAIN_MS);
  }
  return true;
}
