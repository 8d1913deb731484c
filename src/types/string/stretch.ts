/**
 * Strings that are changed in place or grow: what APPEND and SETRANGE share.
 *
 * A record has no room to spare but what its size class leaves, so short strings move often, which
 * is cheap. The block of a big string that had to move has slack, so that appending again and again
 * copies each byte a bounded number of times; it is copied while no lock is held.
 */

import type { Args } from "../../base/args.ts";
import { type ByteRange, scratchRange } from "../../base/byte-range.ts";
import { copyLong, copyShort } from "../../base/bytes.ts";
import { bigCapacity, bigStart, isPinned, makeBigBlock } from "../../keyspace/big-block.ts";
import { NO_MEMORY, PUT_OFF, WRITTEN } from "../../keyspace/block-copy.ts";
import type { Database } from "../../keyspace/database.ts";
import { KEEP_EXPIRY } from "../../keyspace/database.ts";
import { BIG_STRING_BYTES } from "../../limits.ts";
import type { Heap } from "../../memory/heap.ts";
import { CHUNK_SHIFT } from "../../memory/layout.ts";
import { STRING_BIG, STRING_BYTES, STRING_RAW } from "../../structures/record.ts";
import { found, readString } from "./value.ts";

/** Slack of big blocks: as much again below this size, then this much or an eighth. */
const DOUBLING_BYTES_MAX = 1 << 20;
const SLACK_SHIFT = 3;
const SHORT_COPY_BYTES = 24;

/** The bytes of the string that `stretch` made. */
export const stretched: ByteRange = scratchRange();

/**
 * Makes the string of key `i` `total` bytes long, no shorter than it is, and marks it as changed in
 * place. `old` is what find returned, `length` its length, 0 if there is none. Its bytes stay, up to
 * `filledTo` zeros follow; what comes behind them is not written. Points `stretched` at the whole.
 * One of the outcomes of keyspace/block-copy.
 */
export function stretch(
  db: Database,
  args: Args,
  i: number,
  old: number,
  length: number,
  filledTo: number,
  total: number,
): number {
  const kind = old === 0 ? 0 : db.kindOf(old);
  if (total > BIG_STRING_BYTES) {
    if (kind === STRING_BIG && stretchBlock(db, old, length, filledTo, total)) return WRITTEN;
    return moveToBlock(db, args, i, old, length, filledTo, total);
  }
  if (kind === STRING_BYTES || kind === STRING_RAW) {
    const isInPlace = db.resizeInPlace(old, STRING_RAW, total);
    const p = isInPlace ? old : db.lengthen(args, i, old, STRING_RAW, total);
    if (p === 0) return NO_MEMORY;
    pointAt(db.bytesOf(p), db.valueAt(p), total);
  } else {
    // The text of a number, which is in a buffer of its own.
    if (length > 0) readString(db, old);
    const p = db.write(args, i, old, STRING_RAW, total, KEEP_EXPIRY);
    if (p === 0) return NO_MEMORY;
    pointAt(db.bytesOf(p), db.valueAt(p), total);
    if (length > 0)
      copyShort(stretched.source, stretched.start, found.source, found.start, found.end);
  }
  fill(db, length, filledTo);
  return WRITTEN;
}

/** Uses the block that a big string has. False if that is not to be. */
function stretchBlock(
  db: Database,
  p: number,
  length: number,
  filledTo: number,
  total: number,
): boolean {
  const { heap } = db.store;
  const block = db.bigBlockOf(p);
  if (bigCapacity(heap, block) < total || isPinned(heap, block)) return false;
  // So much is filled where no lock is held, in another block.
  if (filledTo - length > BIG_STRING_BYTES) return false;
  db.setBigLength(p, total);
  pointAt(heap.u8[block >>> CHUNK_SHIFT] as Uint8Array, bigStart(block), total);
  fill(db, length, filledTo);
  return true;
}

/** Gives the string another block. What is much to copy or to fill is done under no lock. */
function moveToBlock(
  db: Database,
  args: Args,
  i: number,
  old: number,
  length: number,
  filledTo: number,
  total: number,
): number {
  const { heap, bulkMax, blockCopy } = db.store;
  const from = old !== 0 && db.kindOf(old) === STRING_BIG ? db.bigBlockOf(old) : 0;
  // A string that did not exist may never grow again.
  const most = old === 0 ? total : Math.max(total, Math.min(roomy(total), bulkMax));
  const isMuch = from !== 0 || filledTo > BIG_STRING_BYTES;
  const isMade = isMuch && blockCopy.fits(from, filledTo, total);
  if (isMuch && !isMade) {
    const copied = from === 0 ? 0 : length;
    if (blockCopy.want(from, copied, total, most)) return PUT_OFF;
  }
  const block = isMade ? blockCopy.block : makeRoomyBlock(heap, most, total);
  if (block === 0) return NO_MEMORY;
  pointAt(heap.u8[block >>> CHUNK_SHIFT] as Uint8Array, bigStart(block), total);
  if (length > 0 && !(isMade && from !== 0)) {
    readString(db, old);
    copy(db, stretched.source, stretched.start, found.source, found.start, length);
  }
  if (!isMade) fill(db, length, filledTo);
  const p = db.write(args, i, old, STRING_BIG, total, KEEP_EXPIRY);
  if (p === 0) {
    if (!isMade) heap.freeLarge(block);
    return NO_MEMORY;
  }
  if (isMade) blockCopy.take();
  db.adoptBig(args, i, p, block);
  return WRITTEN;
}

function makeRoomyBlock(heap: Heap, most: number, least: number): number {
  const block = makeBigBlock(heap, most);
  return block === 0 && least < most ? makeBigBlock(heap, least) : block;
}

/** Zeros from the end of the string to where something is written behind it. */
function fill(db: Database, length: number, filledTo: number): void {
  if (filledTo === length) return;
  db.store.heap.work.copied(filledTo - length);
  stretched.source.fill(0, stretched.start + length, stretched.start + filledTo);
}

function roomy(total: number): number {
  return total < DOUBLING_BYTES_MAX
    ? 2 * total
    : total + Math.max(DOUBLING_BYTES_MAX, total >>> SLACK_SHIFT);
}

function pointAt(source: Uint8Array, start: number, length: number): void {
  stretched.source = source;
  stretched.start = start;
  stretched.end = start + length;
}

function copy(
  db: Database,
  to: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  length: number,
): void {
  if (length <= SHORT_COPY_BYTES) {
    copyShort(to, at, from, start, start + length);
    return;
  }
  db.store.heap.work.copied(length);
  copyLong(to, at, from, start, length);
}
