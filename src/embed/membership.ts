/**
 * Coming and going: a handle takes a row, and the one that gives the last row back closes the store
 * for good, since nobody would be left who knows its chunks.
 */
import { block, systemWaiting } from "../env/system.ts";
import { nodeThread, ownThread } from "../env/thread-life.ts";
import { HANDLES_MAX } from "../limits.ts";
import { H_CLOSED } from "../memory/layout.ts";
import { CLOSED, StoreError } from "./errors.ts";
import type { Members } from "./members.ts";
import { throwIfBroken } from "./waiting.ts";

const OPEN = 0;
/** Somebody has given the last row back and looks once more. */
const CLOSING = 1;
const GONE = 2;
/** How long a closer may take; after that it has ended. */
const CLOSING_MS = 100;

/** Takes a row, or throws. `bury` gives back those of ended threads. */
export function enter(control: Int32Array, members: Members, bury: () => void): number {
  throwIfBroken(control);
  const thread = ownThread();
  let row = members.claim(thread, nodeThread);
  if (row < 0) {
    bury();
    throwIfBroken(control);
    row = members.claim(thread, nodeThread);
  }
  if (row < 0) {
    throw new StoreError(`HANDLES There are ${HANDLES_MAX} handles of this store open already`);
  }
  if (isGone(control)) {
    members.free(row);
    throw new StoreError(CLOSED);
  }
  return row;
}

function isGone(control: Int32Array): boolean {
  const began = systemWaiting.now();
  while (Atomics.load(control, H_CLOSED) === CLOSING) {
    if (systemWaiting.now() - began > CLOSING_MS) return true;
    block(1);
  }
  return Atomics.load(control, H_CLOSED) === GONE;
}

/** Gives a row back. True if it was the last one: the store is closed then. */
export function leave(control: Int32Array, members: Members, row: number): boolean {
  members.free(row);
  if (members.count() > 0) return false;
  if (Atomics.compareExchange(control, H_CLOSED, OPEN, CLOSING) !== OPEN) return false;
  // Somebody may have come since; from now on, who comes waits for what is decided here.
  const isLast = members.count() === 0;
  Atomics.store(control, H_CLOSED, isLast ? GONE : OPEN);
  return isLast;
}
