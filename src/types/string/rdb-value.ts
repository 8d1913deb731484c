/**
 * Strings as values of RDB files and DUMP payloads.
 *
 * Redis writes what spells an int32 in up to 11 characters as an integer, and tries LZF on what is
 * longer than 20 bytes, which has to save 4. A big string that does not become shorter is sent from
 * where it is; else its stream is sent from a buffer outside of the heap, so that reading a value
 * evicts nothing.
 */

import type { Args } from "../../base/args.ts";
import { copyLong } from "../../base/bytes.ts";
import { INT64_CHARS_MAX, int64, isInt32, parseInt64 } from "../../base/int64.ts";
import { lzfCompress, lzfDecompress } from "../../base/lzf.ts";
import {
  RDB_LZF_HEADER_BYTES_MAX,
  type RdbString,
  rdbLengthBytes,
  writeRdbInteger,
  writeRdbLength,
  writeRdbLzfHeader,
} from "../../base/rdb-string.ts";
import { bigStart, makeBigBlock, pin, unpin } from "../../keyspace/big-block.ts";
import type { Database } from "../../keyspace/database.ts";
import { BIG_STRING_BYTES } from "../../limits.ts";
import { CHUNK_SHIFT } from "../../memory/layout.ts";
import type { SharedBytes } from "../../protocol/reply.ts";
import { STRING_BIG } from "../../structures/record.ts";
import { found, readInteger, readString, setBytes, setInteger, stringLength } from "./value.ts";

/** Texts of integers up to this long are written as integers. */
const INTEGER_CHARS_MAX = 11;
/** Longer texts are compressed, if that saves so many bytes. */
const UNCOMPRESSED_MAX = 20;
const SAVED_MIN = 4;

/** A value in two parts; a short one is all `head`. */
export type RdbParts = { head: Uint8Array; body: SharedBytes | null };

const short = new Uint8Array(RDB_LZF_HEADER_BYTES_MAX + BIG_STRING_BYTES);
const text = new Uint8Array(BIG_STRING_BYTES);

/** The value of a string, of which the parts may be read until the next call. */
export function rdbStringParts(db: Database, p: number): RdbParts {
  const length = stringLength(db, p);
  if (length <= INTEGER_CHARS_MAX && readInteger(db, p) && isInt32(int64.hi, int64.lo)) {
    return inHead(0, writeRdbInteger(short, 0, int64.lo | 0));
  }
  if (db.kindOf(p) === STRING_BIG) return bigParts(db, p, length);
  readString(db, p);
  const { source, start, end } = found;
  const at = RDB_LZF_HEADER_BYTES_MAX;
  if (db.store.rdbCompression && length > UNCOMPRESSED_MAX) {
    const bytes = lzfCompress(source, start, end, short, at, length - SAVED_MIN);
    if (bytes !== 0) {
      const header = 1 + rdbLengthBytes(bytes) + rdbLengthBytes(length);
      writeRdbLzfHeader(short, at - header, bytes, length);
      return inHead(at - header, at + bytes);
    }
  }
  const from = at - rdbLengthBytes(length);
  writeRdbLength(short, from, length);
  copyLong(short, at, source, start, length);
  return inHead(from, at + length);
}

function inHead(start: number, end: number): RdbParts {
  return { head: short.subarray(start, end), body: null };
}

function bigParts(db: Database, p: number, length: number): RdbParts {
  const { heap } = db.store;
  const compressed = db.store.rdbCompression ? compressBig(db, p, length) : null;
  if (compressed !== null) return compressed;
  const block = db.bigBlockOf(p);
  const start = bigStart(block);
  const source = heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
  const headEnd = writeRdbLength(short, 0, length);
  pin(heap, block);
  const done = (): void => unpin(heap, block);
  return { head: short.subarray(0, headEnd), body: { source, start, end: start + length, done } };
}

/** Null if it saves nothing or there is no memory for it. */
function compressBig(db: Database, p: number, length: number): RdbParts | null {
  const most = length - SAVED_MIN;
  const stream = privateBytes(most);
  if (stream === null) return null;
  readString(db, p);
  const bytes = lzfCompress(found.source, found.start, found.end, stream, 0, most);
  if (bytes === 0) return null;
  const headEnd = writeRdbLzfHeader(short, 0, bytes, length);
  if (bytes > BIG_STRING_BYTES) {
    const body = { source: stream, start: 0, end: bytes, done: () => {} };
    return { head: short.subarray(0, headEnd), body };
  }
  // So little is copied, so that the rest of the stream's memory need not wait for the client.
  short.set(stream.subarray(0, bytes), headEnd);
  return inHead(0, headEnd + bytes);
}

function privateBytes(length: number): Uint8Array | null {
  try {
    return new Uint8Array(length);
  } catch {
    // RangeError: there is no memory for it.
    return null;
  }
}

/**
 * Makes `value`, which was read from argument `from`, the string of the key in argument `key`;
 * `old` is what find returned for that key. False when memory is out, with nothing changed.
 */
export function restoreString(
  db: Database,
  args: Args,
  key: number,
  old: number,
  from: number,
  value: RdbString,
  expiryMs: number,
): boolean {
  if (value.form === "integer") {
    return setInteger(db, args, key, old, value.value >> 31, value.value >>> 0, expiryMs);
  }
  if (value.length > BIG_STRING_BYTES) return restoreBig(db, args, key, old, from, value, expiryMs);
  if (value.form === "lzf") lzfDecompress(args.source(from), value.start, value.end, text, 0);
  else copyLong(text, 0, args.source(from), value.start, value.length);
  if (value.length <= INT64_CHARS_MAX && parseInt64(text, 0, value.length)) {
    return setInteger(db, args, key, old, int64.hi, int64.lo, expiryMs);
  }
  return setBytes(db, args, key, old, text.subarray(0, value.length), expiryMs);
}

function restoreBig(
  db: Database,
  args: Args,
  key: number,
  old: number,
  from: number,
  value: RdbString,
  expiryMs: number,
): boolean {
  const { heap } = db.store;
  const { length, start, end } = value;
  const big = args.bigs === null ? null : (args.bigs[from] ?? null);
  // A string that came uncompressed stays in the block that the argument was received into.
  const given = big !== null && value.form === "plain" ? big.block : 0;
  const block = given !== 0 ? given : makeBigBlock(heap, length);
  if (block === 0) return false;
  const p = db.write(args, key, old, STRING_BIG, length, expiryMs);
  if (p === 0) {
    if (given === 0) heap.freeLarge(block);
    return false;
  }
  const to = heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
  const at = bigStart(block);
  if (big !== null && given !== 0) {
    to.copyWithin(at, start, end);
    big.block = 0;
  } else if (value.form === "lzf") {
    lzfDecompress(args.source(from), start, end, to, at);
  } else {
    copyLong(to, at, args.source(from), start, length);
  }
  db.adoptBig(args, key, p, block);
  return true;
}
