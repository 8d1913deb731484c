/**
 * Strings that are changed in place or grow: what APPEND and SETRANGE share.
 *
 * A record has no room to spare but what its size class leaves, so short strings move often, which
 * is cheap. The block of a big string that had to move has slack, so that appending again and again
 * copies each byte a bounded number of times.
 */

import type { Args } from "../../base/args.ts";
import { type ByteRange, scratchRange } from "../../base/byte-range.ts";
import { copyLong, copyShort } from "../../base/bytes.ts";
import { bigCapacity, bigStart, isPinned, makeBigBlock } from "../../keyspace/big-block.ts";
import type { Database } from "../../keyspace/database.ts";
import { KEEP_EXPIRY } from "../../keyspace/database.ts";
import { BIG_STRING_BYTES } from "../../limits.ts";
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
 * place. `old` is what find returned, `length` its length, 0 if there is none. Its bytes stay; what
 * comes behind them is not written. Points `stretched` at the whole. False when memory is out.
 */
export function stretch(
  db: Database,
  args: Args,
  i: number,
  old: number,
  length: number,
  total: number,
): boolean {
  const kind = old === 0 ? 0 : db.kindOf(old);
  if (total > BIG_STRING_BYTES) {
    if (kind === STRING_BIG && stretchBlock(db, old, total)) return true;
    return moveToBlock(db, args, i, old, length, total);
  }
  const isBytes = kind === STRING_BYTES || kind === STRING_RAW;
  if (isBytes) {
    const isInPlace = db.resizeInPlace(old, STRING_RAW, total);
    const p = isInPlace ? old : db.lengthen(args, i, old, STRING_RAW, total);
    if (p !== 0) pointAt(db.bytesOf(p), db.valueAt(p), total);
    return p !== 0;
  }
  // The text of a number, which is in a buffer of its own.
  if (length > 0) readString(db, old);
  const p = db.write(args, i, old, STRING_RAW, total, KEEP_EXPIRY);
  if (p === 0) return false;
  pointAt(db.bytesOf(p), db.valueAt(p), total);
  if (length > 0)
    copyShort(stretched.source, stretched.start, found.source, found.start, found.end);
  return true;
}

/** Uses the block that a big string has. False if it is too short or being written out. */
function stretchBlock(db: Database, p: number, total: number): boolean {
  const { heap } = db.store;
  const block = db.bigBlockOf(p);
  if (bigCapacity(heap, block) < total || isPinned(heap, block)) return false;
  db.setBigLength(p, total);
  pointAt(heap.u8[block >>> CHUNK_SHIFT] as Uint8Array, bigStart(block), total);
  return true;
}

function moveToBlock(
  db: Database,
  args: Args,
  i: number,
  old: number,
  length: number,
  total: number,
): boolean {
  const { heap, bulkMax } = db.store;
  // A string that did not exist may never grow again.
  let block = old === 0 ? 0 : makeBigBlock(heap, Math.max(total, Math.min(roomy(total), bulkMax)));
  if (block === 0) block = makeBigBlock(heap, total);
  if (block === 0) return false;
  pointAt(heap.u8[block >>> CHUNK_SHIFT] as Uint8Array, bigStart(block), total);
  if (length > 0) {
    readString(db, old);
    copy(db, stretched.source, stretched.start, found.source, found.start, length);
  }
  const p = db.write(args, i, old, STRING_BIG, total, KEEP_EXPIRY);
  if (p === 0) {
    heap.freeLarge(block);
    return false;
  }
  db.adoptBig(args, i, p, block);
  return true;
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
