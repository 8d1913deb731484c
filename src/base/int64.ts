/**
 * Signed 64-bit integers without BigInt: a pair of `hi` (int32) and `lo` (the low 32 bits).
 *
 * Functions whose result is such a pair leave it in the one scratch object `int64`, so that nothing
 * is allocated; read it before the next call. There `hi` is an int32 and `lo` a uint32. As arguments
 * `lo` may come signed or unsigned (as an Int32Array or a Uint32Array gave it). Functions that can
 * fail return false and leave the scratch as it was.
 */

import { writeDecimal, writeDigits } from "./bytes.ts";

export interface Int64 {
  hi: number;
  lo: number;
}

// The first value makes V8 see from the start that `lo` exceeds its small integers.
export const int64: Int64 = { hi: 0, lo: 0xffffffff };
int64.lo = 0;

/** The longest text: "-9223372036854775808". */
export const INT64_CHARS_MAX = 20;

const MINUS = 45;
const ZERO = 48;
const TWO_32 = 4294967296;

/**
 * Reads `buf[start, end)` as Redis's string2ll does: an optional minus and digits, nothing else; no
 * leading zeros, no "-0", no plus, no spaces; false when that is not so or int64 cannot hold it.
 */
export function parseInt64(buf: Uint8Array, start: number, end: number): boolean {
  let at = start;
  let isNegative = false;
  if (at < end && buf[at] === MINUS) {
    isNegative = true;
    at++;
  }
  const count = end - at;
  if (count > 15) return parseLong(buf, at, end, isNegative);
  if (count <= 0) return false;
  const first = buf[at++]! - ZERO;
  if (first <= 0 || first > 9) {
    if (first !== 0 || count !== 1 || isNegative) return false;
    int64.hi = 0;
    int64.lo = 0;
    return true;
  }
  // Nine digits fit an int32, which keeps the loop of the usual case free of floating point.
  let small = first;
  for (const stop = end - at > 8 ? at + 8 : end; at < stop; at++) {
    const digit = buf[at]! - ZERO;
    if (digit < 0 || digit > 9) return false;
    small = (small * 10 + digit) | 0;
  }
  if (at === end) {
    const value = isNegative ? -small : small;
    int64.hi = value >> 31;
    int64.lo = value >>> 0;
    return true;
  }
  let value = small;
  for (; at < end; at++) {
    const digit = buf[at]! - ZERO;
    if (digit < 0 || digit > 9) return false;
    value = value * 10 + digit;
  }
  fromNumber(isNegative ? -value : value);
  return true;
}

/** 16 to 19 digits. The magnitude is `high * 10^9 + low`, multiplied in 16-bit halves of `high`. */
function parseLong(buf: Uint8Array, start: number, end: number, isNegative: boolean): boolean {
  if (end - start > 19 || buf[start] === ZERO) return false;
  const middle = end - 9;
  const second = end - start > 18 ? start + 1 : start;
  const first = digits(buf, start, second);
  const rest = digits(buf, second, middle);
  const low = digits(buf, middle, end);
  if (first < 0 || rest < 0 || low < 0) return false;
  const high = first * 1e9 + rest;
  const highUpper = Math.floor(high / 65536);
  const upper = highUpper * 1e9;
  const lower = (high - highUpper * 65536) * 1e9 + low;
  const upperWhole = Math.floor(upper / 65536);
  const sum = (upper - upperWhole * 65536) * 65536 + lower;
  const hi = upperWhole + Math.floor(sum / TWO_32);
  const lo = sum >>> 0;
  if (hi > 0x7fffffff && !(isNegative && hi === 0x80000000 && lo === 0)) return false;
  int64.lo = isNegative ? -lo >>> 0 : lo;
  int64.hi = isNegative ? (lo === 0 ? -hi | 0 : ~hi) : hi;
  return true;
}

/** The value of up to nine digits, or -1. */
function digits(buf: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = buf[i]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = (value * 10 + digit) | 0;
  }
  return value;
}

/** Writes the decimal text and returns the offset behind it: at most INT64_CHARS_MAX bytes. */
export function formatInt64(hi: number, lo: number, buf: Uint8Array, at: number): number {
  if (isSafeInt64(hi, lo)) return writeDecimal(buf, at, int64ToNumber(hi, lo));
  let start = at;
  let upper = hi >>> 0;
  let lower = lo >>> 0;
  if (hi < 0) {
    buf[start++] = MINUS;
    lower = -lo >>> 0;
    upper = lower === 0 ? -hi >>> 0 : ~hi >>> 0;
  }
  // Long division by 10^9 over 32, 16 and 16 bits: every remainder times 65536 is a safe integer.
  // Remainders by subtraction: `%` on numbers beyond 32 bits is a call into C.
  const quotient0 = Math.floor(upper / 1e9);
  const step1 = (upper - quotient0 * 1e9) * 65536 + (lower >>> 16);
  const quotient1 = Math.floor(step1 / 1e9);
  const step2 = (step1 - quotient1 * 1e9) * 65536 + (lower & 0xffff);
  const quotient2 = Math.floor(step2 / 1e9);
  const end = writeDecimal(buf, start, quotient0 * TWO_32 + quotient1 * 65536 + quotient2);
  writeDigits(buf, end, end + 9, step2 - quotient2 * 1e9);
  return end + 9;
}

/** a + b into the scratch; false when int64 cannot hold it. */
export function addInt64(aHi: number, aLo: number, bHi: number, bLo: number): boolean {
  const lo = (aLo >>> 0) + (bLo >>> 0);
  const hi = (aHi | 0) + (bHi | 0) + (lo >= TWO_32 ? 1 : 0);
  if (hi !== (hi | 0)) return false;
  int64.hi = hi;
  int64.lo = lo >>> 0;
  return true;
}

/** -a into the scratch; false for the smallest int64, which has no counterpart. */
export function negateInt64(hi: number, lo: number): boolean {
  if ((hi | 0) === -0x80000000 && (lo | 0) === 0) return false;
  int64.hi = (lo | 0) === 0 ? -hi | 0 : ~hi;
  int64.lo = -lo >>> 0;
  return true;
}

/** a * factor into the scratch, factor from 0 to 2^20; false when int64 cannot hold it. */
export function scaleInt64(hi: number, lo: number, factor: number): boolean {
  const low = (lo & 0xffff) * factor;
  const middle = (lo >>> 16) * factor + Math.floor(low / 65536);
  const high = (hi | 0) * factor + Math.floor(middle / 65536);
  if (high !== (high | 0)) return false;
  int64.hi = high;
  int64.lo = ((middle << 16) | (low & 0xffff)) >>> 0;
  return true;
}

/** A whole number of at most 2^53 - 1 in size into the scratch. */
export function fromNumber(n: number): void {
  int64.hi = Math.floor(n / TWO_32) | 0;
  int64.lo = n >>> 0;
}

/** The nearest double; exact when `isSafeInt64`. */
export function int64ToNumber(hi: number, lo: number): number {
  return (hi | 0) * TWO_32 + (lo >>> 0);
}

/** Negative, 0 or positive as a is below, equal to or above b. */
export function compareInt64(aHi: number, aLo: number, bHi: number, bLo: number): number {
  if ((aHi | 0) !== (bHi | 0)) return (aHi | 0) < (bHi | 0) ? -1 : 1;
  if (aLo >>> 0 === bLo >>> 0) return 0;
  return aLo >>> 0 < bLo >>> 0 ? -1 : 1;
}

export function isInt32(hi: number, lo: number): boolean {
  return (hi | 0) === (lo | 0) >> 31;
}

/** Whether a number holds it exactly: size at most 2^53 - 1. */
export function isSafeInt64(hi: number, lo: number): boolean {
  const upper = hi | 0;
  if (upper >= -0x200000) return upper < 0x200000 && (upper !== -0x200000 || (lo | 0) !== 0);
  return false;
}
