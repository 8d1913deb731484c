/**
 * Small work on byte ranges. A range is always (buf, start, end), end excluded; whoever writes
 * takes (buf, at) and returns the offset behind what it wrote. Text is binary: one character per
 * byte (latin1), so that any bytes survive a round trip through a string.
 *
 * Ranges may lie in shared memory. Nothing here allocates, except what returns a string or an
 * array.
 */

const MINUS = 45;
const ZERO = 48;

/** Maps A-Z to a-z and every other byte to itself. */
export const LOWER: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 65 && byte <= 90 ? byte + 32 : byte,
);

export function equalBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) if (a[i] !== b[j]) return false;
  return true;
}

/** Order of bytes, then of lengths, as `memcmp`: negative, 0 or positive. */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const difference = aEnd - aStart - (bEnd - bStart);
  const end = difference < 0 ? aEnd : aStart + (bEnd - bStart);
  for (let i = aStart, j = bStart; i < end; i++, j++) {
    const order = a[i]! - b[j]!;
    if (order !== 0) return order;
  }
  return difference;
}

/** ASCII letters to lower case; unlike `toLowerCase`, no other character changes. */
export function lowerText(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

export function upperText(text: string): string {
  return text.replace(/[a-z]+/g, (smalls) => smalls.toUpperCase());
}

/**
 * Copies `from[start, end)` to `to[at...]` byte by byte and returns the end of the copy. Up to some
 * 24 bytes it beats `set(subarray)`, which allocates a view. The ranges must not overlap, unless
 * the copy moves to a lower offset.
 */
export function copyShort(
  to: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  end: number,
): number {
  let target = at;
  for (let i = start; i < end; i++) to[target++] = from[i]!;
  return target;
}

/**
 * Copies `length` bytes by words. Up to some 256 bytes it beats `set`, unless both ends happen to
 * be aligned alike, and leaves no garbage. The ranges must not overlap.
 */
export function copyWords(
  to: DataView,
  at: number,
  from: DataView,
  start: number,
  length: number,
): void {
  let i = 0;
  // Four words a turn: half the time of one.
  for (const fours = length - 15; i < fours; i += 16) {
    to.setInt32(at + i, from.getInt32(start + i, true), true);
    to.setInt32(at + i + 4, from.getInt32(start + i + 4, true), true);
    to.setInt32(at + i + 8, from.getInt32(start + i + 8, true), true);
    to.setInt32(at + i + 12, from.getInt32(start + i + 12, true), true);
  }
  for (const words = length - 3; i < words; i += 4) {
    to.setInt32(at + i, from.getInt32(start + i, true), true);
  }
  for (; i < length; i++) to.setUint8(at + i, from.getUint8(start + i));
}

const STAGE_BYTES = 65536;
/** Below this, the detour over the stage costs more than it saves. */
const STAGED_FROM_BYTES = 256;
const stage = new Uint8Array(STAGE_BYTES + 16);

/**
 * Copies `length` bytes. Where one end is in shared memory, `set` copies byte by byte unless both
 * ends are aligned alike (0.35 ns a byte, against 0.05). So bytes take the way over a private
 * buffer: into it aligned as they were, out of it aligned as they will be. The ranges must not
 * overlap.
 */
export function copyLong(
  to: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  length: number,
): void {
  const here = (from.byteOffset + start) & 7;
  const there = (to.byteOffset + at) & 7;
  if (here === there || length < STAGED_FROM_BYTES) {
    to.set(from.subarray(start, start + length), at);
    return;
  }
  // Pieces are whole words long, so that all of them are aligned as the first is.
  for (let done = 0; done < length; done += STAGE_BYTES) {
    const piece = Math.min(length - done, STAGE_BYTES);
    stage.set(from.subarray(start + done, start + done + piece), here);
    stage.copyWithin(there, here, here + piece);
    to.set(stage.subarray(there, there + piece), at + done);
  }
}

/** Whole numbers up to 2^53 - 1 in size, as ASCII. */
export function writeDecimal(buf: Uint8Array, at: number, n: number): number {
  let start = at;
  let rest = n;
  if (rest < 0) {
    buf[start++] = MINUS;
    rest = -rest;
  }
  if (rest < 10) {
    buf[start] = ZERO + rest;
    return start + 1;
  }
  const end = start + decimalDigits(rest);
  if (rest < 1e9) {
    writeDigits(buf, start, end, rest);
    return end;
  }
  const high = Math.floor(rest / 1e9);
  writeDigits(buf, start, end - 9, high);
  writeDigits(buf, end - 9, end, rest - high * 1e9);
  return end;
}

/** Fills `buf[start, end)` with the last decimal digits of `n`, which is below 2^31. */
export function writeDigits(buf: Uint8Array, start: number, end: number, n: number): void {
  let rest = n | 0;
  for (let i = end - 1; i >= start; i--) {
    const tenth = (rest / 10) | 0;
    buf[i] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
}

/** How many decimal digits a whole number from 0 to 2^53 - 1 has. */
export function decimalDigits(n: number): number {
  if (n < 1e5) {
    if (n < 100) return n < 10 ? 1 : 2;
    if (n < 1e4) return n < 1e3 ? 3 : 4;
    return 5;
  }
  let digits = 5;
  for (let limit = 1e5; n >= limit; limit *= 10) digits++;
  return digits;
}

interface Latin1Access {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
  latin1Write(this: Uint8Array, text: string, at: number, length: number): number;
}
// Node gives these to Buffer, but they work on any Uint8Array without making a view first.
const { latin1Slice, latin1Write } = Buffer.prototype as unknown as Latin1Access;

/** The bytes of a range as text. */
export function latin1(buf: Uint8Array, start: number, end: number): string {
  if (end - start > 6) return latin1Slice.call(buf, start, end);
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(buf[i]!);
  return text;
}

/** Writes each character's low byte. */
export function writeLatin1(buf: Uint8Array, at: number, text: string): number {
  if (text.length > 24) return at + latin1Write.call(buf, text, at, text.length);
  for (let i = 0; i < text.length; i++) buf[at + i] = text.charCodeAt(i);
  return at + text.length;
}

export function latin1Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  writeLatin1(bytes, 0, text);
  return bytes;
}

const HEX = "0123456789abcdef";

/** Lower-case hexadecimal, two characters a byte. */
export function toHex(buf: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += HEX[buf[i]! >> 4]! + HEX[buf[i]! & 15]!;
  return text;
}

/** The value of a hexadecimal digit's character code, or -1. */
export function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  if (code >= 65 && code <= 70) return code - 55;
  return -1;
}
