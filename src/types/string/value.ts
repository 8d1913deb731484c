/**
 * The value of a string: which encoding it gets, and its bytes whatever the encoding is.
 *
 *   STRING_BYTES   the bytes
 *   STRING_RAW     the bytes, once APPEND or SETRANGE made them
 *   STRING_INT32   4 bytes, little-endian    the text of the number is what clients see
 *   STRING_INT64   8 bytes, little-endian
 *   STRING_BIG     the pointer to a block with the bytes
 *
 * A number is stored as one exactly where Redis does: up to 20 characters, spelled as Redis would
 * print it. Functions that can run out of memory return false and have changed nothing.
 */

import type { Args } from "../../base/args.ts";
import { assert } from "../../base/assert.ts";
import { type ByteRange, scratchRange } from "../../base/byte-range.ts";
import { copyLong, copyShort, copyWords } from "../../base/bytes.ts";
import { formatInt64, INT64_CHARS_MAX, int64, isInt32, parseInt64 } from "../../base/int64.ts";
import { bigStart, makeBigBlock, pin, unpin } from "../../keyspace/big-block.ts";
import type { Database } from "../../keyspace/database.ts";
import { BIG_STRING_BYTES } from "../../limits.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../../memory/layout.ts";
import type { Reply } from "../../protocol/reply.ts";
import {
  FLAG_LONG,
  keyOffset,
  STRING_BIG,
  STRING_BYTES,
  STRING_INT32,
  STRING_INT64,
  STRING_LAST,
  STRING_RAW,
  TYPE_MASK,
} from "../../structures/record.ts";

/** Redis keeps strings up to this long in one allocation with their object. */
const EMBEDDED_BYTES_MAX = 44;
const INT32_BYTES = 4;
const INT64_BYTES = 8;
/** Copies up to this long go byte by byte, then up to the next by words, else by `set`. */
const SHORT_COPY_BYTES = 24;
const WORD_COPY_BYTES = 256;

/** What `readString` read last. Bytes of a number are in a buffer that the next one overwrites. */
export const found: ByteRange = scratchRange();

/** Text of numbers. */
const digits = new Uint8Array(INT64_CHARS_MAX);

export function isString(db: Database, p: number): boolean {
  return db.kindOf(p) <= STRING_LAST;
}

/** True if a string is stored as a number. */
export function isNumber(db: Database, p: number): boolean {
  const kind = db.kindOf(p);
  return kind === STRING_INT32 || kind === STRING_INT64;
}

/** Points `found` at the bytes of a string. */
export function readString(db: Database, p: number): void {
  const kind = db.kindOf(p);
  if (kind === STRING_BYTES || kind === STRING_RAW) {
    found.source = db.bytesOf(p);
    found.start = db.valueAt(p);
    found.end = found.start + db.valueLength(p);
  } else if (kind === STRING_BIG) {
    const block = db.bigBlockOf(p);
    found.source = db.store.heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
    found.start = bigStart(block);
    found.end = found.start + db.valueLength(p);
  } else {
    found.source = digits;
    found.start = 0;
    found.end = formatNumber(db, p, kind);
  }
}

/** Writes the text of a stored number into `digits`. Returns its length. */
function formatNumber(db: Database, p: number, kind: number): number {
  loadNumber(db, p, kind);
  return formatInt64(int64.hi, int64.lo, digits, 0);
}

/** The number of a record of one of the two integer kinds, into `int64`. */
function loadNumber(db: Database, p: number, kind: number): void {
  const view = db.viewOf(p);
  const at = db.valueAt(p);
  if (kind === STRING_INT32) {
    const value = view.getInt32(at, true);
    int64.hi = value >> 31;
    int64.lo = value >>> 0;
    return;
  }
  assert(kind === STRING_INT64, "not a string");
  int64.lo = view.getUint32(at, true);
  int64.hi = view.getInt32(at + 4, true);
}

/** The number that a string spells, into `int64`; false if it spells none. */
export function readInteger(db: Database, p: number): boolean {
  const kind = db.kindOf(p);
  if (kind === STRING_INT32 || kind === STRING_INT64) {
    loadNumber(db, p, kind);
    return true;
  }
  if (db.valueLength(p) > INT64_CHARS_MAX) return false;
  readString(db, p);
  return parseInt64(found.source, found.start, found.end);
}

/** Length of a string in bytes. */
export function stringLength(db: Database, p: number): number {
  return isNumber(db, p) ? formatNumber(db, p, db.kindOf(p)) : db.valueLength(p);
}

/** What OBJECT ENCODING says of a string. */
export function stringEncoding(db: Database, p: number): "int" | "embstr" | "raw" {
  if (isNumber(db, p)) return "int";
  return db.kindOf(p) === STRING_BYTES && db.valueLength(p) <= EMBEDDED_BYTES_MAX
    ? "embstr"
    : "raw";
}

/** Answers with a string. A big one stays where it is and is pinned until it is written out. */
export function replyString(db: Database, p: number, reply: Reply): void {
  const head = db.head(p);
  const kind = head & TYPE_MASK;
  if ((kind === STRING_BYTES || kind === STRING_RAW) && (head & FLAG_LONG) === 0) {
    const at = ((p & UNIT_MASK) << 3) + keyOffset(head) + ((head >>> 8) & 0xff);
    const length = head >>> 16;
    if (length > WORD_COPY_BYTES) db.store.heap.work.copied(length);
    reply.bulkFrom(db.bytesOf(p), db.viewOf(p), at, length);
  } else if (kind === STRING_BYTES || kind === STRING_RAW) {
    db.store.heap.work.copied(db.valueLength(p));
    reply.bulkFrom(db.bytesOf(p), db.viewOf(p), db.valueAt(p), db.valueLength(p));
  } else if (kind === STRING_BIG) {
    replyRange(db, p, 0, db.valueLength(p), reply);
  } else {
    reply.bulk(digits, 0, formatNumber(db, p, kind));
  }
}

/** Answers with bytes `from..to` of a string. */
export function replyRange(db: Database, p: number, from: number, to: number, reply: Reply): void {
  readString(db, p);
  const start = found.start + from;
  if (to - from <= BIG_STRING_BYTES) {
    db.store.heap.work.copied(to - from);
    reply.bulk(found.source, start, found.start + to);
    return;
  }
  const { heap } = db.store;
  const block = db.kindOf(p) === STRING_BIG ? db.bigBlockOf(p) : 0;
  assert(block !== 0, "a long string without a block");
  pin(heap, block);
  reply.bulkShared(found.source, start, found.start + to, () => unpin(heap, block));
}

/**
 * Makes argument `value` the string of the key in argument `key`; `old` is what find returned for
 * that key. A long argument gives its block away.
 */
export function setString(
  db: Database,
  args: Args,
  key: number,
  value: number,
  old: number,
  expiryMs: number,
): boolean {
  const source = args.source(value);
  const start = args.start[value] as number;
  const end = args.end[value] as number;
  const length = end - start;
  if (length <= INT64_CHARS_MAX && parseInt64(source, start, end)) {
    return setInteger(db, args, key, old, int64.hi, int64.lo, expiryMs);
  }
  if (length > BIG_STRING_BYTES) return setBig(db, args, key, value, old, expiryMs);
  const p = db.write(args, key, old, STRING_BYTES, length, expiryMs);
  if (p === 0) return false;
  copyArgument(db, p, args, value);
  return true;
}

/** As `setString`, for bytes that are no argument and are to stay bytes, up to 64 KiB of them. */
export function setBytes(
  db: Database,
  args: Args,
  key: number,
  old: number,
  bytes: Uint8Array,
  expiryMs: number,
): boolean {
  const p = db.write(args, key, old, STRING_BYTES, bytes.length, expiryMs);
  if (p === 0) return false;
  copyLong(db.bytesOf(p), db.valueAt(p), bytes, 0, bytes.length);
  return true;
}

export function setInteger(
  db: Database,
  args: Args,
  key: number,
  old: number,
  hi: number,
  lo: number,
  expiryMs: number,
): boolean {
  const isShort = isInt32(hi, lo);
  const p = isShort
    ? db.write(args, key, old, STRING_INT32, INT32_BYTES, expiryMs)
    : db.write(args, key, old, STRING_INT64, INT64_BYTES, expiryMs);
  if (p === 0) return false;
  const view = db.viewOf(p);
  const at = db.valueAt(p);
  view.setInt32(at, lo, true);
  if (!isShort) view.setInt32(at + 4, hi, true);
  return true;
}

function setBig(
  db: Database,
  args: Args,
  key: number,
  value: number,
  old: number,
  expiryMs: number,
): boolean {
  const { heap } = db.store;
  const start = args.start[value] as number;
  const length = args.length(value);
  const big = args.bigs === null ? null : (args.bigs[value] ?? null);
  const given = big === null ? 0 : big.block;
  const block = given !== 0 ? given : makeBigBlock(heap, length);
  if (block === 0) return false;
  const p = db.write(args, key, old, STRING_BIG, length, expiryMs);
  if (p === 0) {
    if (given === 0) heap.freeLarge(block);
    return false;
  }
  if (big !== null && given !== 0) {
    assert(start === bigStart(block), "a long argument does not begin with its block");
    big.block = 0;
  } else {
    const to = heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
    heap.work.copied(length);
    copyLong(to, bigStart(block), args.source(value), start, length);
  }
  db.adoptBig(args, key, p, block);
  return true;
}

/** Fills the value area of a record that was just written from argument `value`. */
function copyArgument(db: Database, p: number, args: Args, value: number): void {
  const head = db.head(p);
  const at = ((p & UNIT_MASK) << 3) + keyOffset(head) + db.keyLength(p);
  const start = args.start[value] as number;
  const length = args.length(value);
  if (length <= SHORT_COPY_BYTES) {
    copyShort(db.bytesOf(p), at, args.source(value), start, start + length);
  } else if (length <= WORD_COPY_BYTES) {
    copyWords(db.viewOf(p), at, args.viewOf(value), start, length);
  } else {
    db.store.heap.work.copied(length);
    copyLong(db.bytesOf(p), at, args.source(value), start, length);
  }
}
