/**
 * Lengths and strings as RDB files and DUMP payloads hold them.
 *
 *   00llllll                       length below 64
 *   01llllll llllllll              length below 2^14, high byte first
 *   0x80, 4 bytes                  length below 2^32, high byte first
 *   0x81, 8 bytes                  any length, high byte first
 *
 * A string is a length and so many bytes, or one of
 *
 *   0xc0, 0xc1, 0xc2               decimal text of an integer of 1, 2 or 4 bytes, low byte first
 *   0xc3, length, length, bytes    LZF: first the length of the stream, then of the text
 */
import { LZF_RATIO_MAX, lzfLength } from "./lzf.ts";

/** Longest header of a string that is not compressed, and of one that is. */
export const RDB_LENGTH_BYTES_MAX = 9;
export const RDB_LZF_HEADER_BYTES_MAX: number = 1 + 2 * RDB_LENGTH_BYTES_MAX;
/** Longest form of an integer. */
export const RDB_INTEGER_BYTES_MAX = 5;

const INT8 = 0xc0;
const INT16 = 0xc1;
const INT32 = 0xc2;
const LZF = 0xc3;
const ENCODED = 0xc0;
const LENGTH_32 = 0x80;
const LENGTH_64 = 0x81;

/** What `readRdbString` found. One object per reader, used again and again. */
export type RdbString = {
  form: "plain" | "integer" | "lzf";
  /** Bytes of the text, or of its LZF stream. */
  start: number;
  end: number;
  /** Of the text; meaningless for an integer. */
  length: number;
  /** The integer. */
  value: number;
};

export function newRdbString(): RdbString {
  return { form: "plain", start: 0, end: 0, length: 0, value: 0 };
}

/** Returns the offset behind what it wrote. */
export function writeRdbLength(to: Uint8Array, at: number, length: number): number {
  if (length < 64) {
    to[at] = length;
    return at + 1;
  }
  if (length < 1 << 14) {
    to[at] = 0x40 | (length >> 8);
    to[at + 1] = length & 0xff;
    return at + 2;
  }
  const bytes = length < 2 ** 32 ? 4 : 8;
  to[at] = bytes === 4 ? LENGTH_32 : LENGTH_64;
  let rest = length;
  for (let i = at + bytes; i > at; i--) {
    to[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return at + 1 + bytes;
}

export function rdbLengthBytes(length: number): number {
  if (length < 64) return 1;
  if (length < 1 << 14) return 2;
  return length < 2 ** 32 ? 5 : 9;
}

/** The integer form of a string that spells an int32. Returns the offset behind it. */
export function writeRdbInteger(to: Uint8Array, at: number, value: number): number {
  const bytes = value === (value << 24) >> 24 ? 1 : value === (value << 16) >> 16 ? 2 : 4;
  to[at] = bytes === 1 ? INT8 : bytes === 2 ? INT16 : INT32;
  for (let i = 0; i < bytes; i++) to[at + 1 + i] = value >> (8 * i);
  return at + 1 + bytes;
}

/** The header of a compressed string. Returns the offset behind it. */
export function writeRdbLzfHeader(
  to: Uint8Array,
  at: number,
  streamBytes: number,
  textBytes: number,
): number {
  to[at] = LZF;
  return writeRdbLength(to, writeRdbLength(to, at + 1, streamBytes), textBytes);
}

/** Offset behind the length that was read last. */
let behind = 0;

/** A length at `at`; -1 if there is none. As in Redis, the two high bits may both be set. */
function readLength(from: Uint8Array, at: number, end: number): number {
  if (at >= end) return -1;
  const first = from[at]!;
  const kind = first >> 6;
  if (kind === 0 || kind === 3) {
    behind = at + 1;
    return first & 63;
  }
  if (kind === 1) {
    if (at + 1 >= end) return -1;
    behind = at + 2;
    return ((first & 63) << 8) | from[at + 1]!;
  }
  if (first !== LENGTH_32 && first !== LENGTH_64) return -1;
  behind = at + (first === LENGTH_32 ? 5 : 9);
  if (behind > end) return -1;
  let length = 0;
  for (let i = at + 1; i < behind; i++) length = length * 256 + from[i]!;
  return length;
}

/**
 * Reads the string at `from[at, end)` into `found`, its LZF stream checked. Returns the offset
 * behind it, -1 if there is none.
 */
export function readRdbString(from: Uint8Array, at: number, end: number, found: RdbString): number {
  if (at >= end) return -1;
  const first = from[at]!;
  if (first >= ENCODED) {
    return first === LZF
      ? readLzf(from, at + 1, end, found)
      : readInteger(from, first, at + 1, end, found);
  }
  const length = readLength(from, at, end);
  if (length < 0 || length > end - behind) return -1;
  found.form = "plain";
  found.start = behind;
  found.end = behind + length;
  found.length = length;
  return found.end;
}

function readInteger(
  from: Uint8Array,
  kind: number,
  at: number,
  end: number,
  found: RdbString,
): number {
  if (kind > INT32) return -1;
  const bytes = 1 << (kind - INT8);
  if (at + bytes > end) return -1;
  let value = 0;
  for (let i = 0; i < bytes; i++) value |= from[at + i]! << (8 * i);
  const unused = 32 - 8 * bytes;
  found.form = "integer";
  found.value = (value << unused) >> unused;
  return at + bytes;
}

function readLzf(from: Uint8Array, at: number, end: number, found: RdbString): number {
  const streamBytes = readLength(from, at, end);
  if (streamBytes < 0) return -1;
  const length = readLength(from, behind, end);
  if (length < 0 || streamBytes > end - behind) return -1;
  if (length > streamBytes * LZF_RATIO_MAX) return -1;
  found.form = "lzf";
  found.start = behind;
  found.end = behind + streamBytes;
  found.length = length;
  if (length === 0) {
    // Redis looks at no stream of an empty text.
    found.form = "plain";
    found.start = found.end;
  } else if (lzfLength(from, found.start, found.end) !== length) {
    return -1;
  }
  return found.end;
}
