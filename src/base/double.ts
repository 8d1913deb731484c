/**
 * Doubles as text, as Redis reads and writes them.
 *
 * Writing: the form of Redis 7.2 and later in every reply (RESP2 and RESP3).
 *
 * Reading: what C's strtod takes as a whole: decimal and hexadecimal numbers, "inf", "infinity" in
 * any case. Refused are "nan", leading space, anything left over, and numbers too big for a double
 * or so small that they would come to 0.
 */

import { LOWER, latin1 } from "./bytes.ts";
import { shortestDigits } from "./grisu.ts";
import { scanNumber } from "./number-scan.ts";

const ZERO = 48;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const LOWER_X = 120;

/** Integers up to here are written out; Redis compares with LLONG_MAX / 2 as a double. */
const WRITTEN_OUT_MAX = 2 ** 62;

export function formatDouble(x: number): string {
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  if (Number.isInteger(x) && Math.abs(x) <= WRITTEN_OUT_MAX) {
    return Number.isSafeInteger(x) ? String(x) : String(BigInt(x));
  }
  if (!Number.isFinite(x)) return formatNonFinite(x);
  const { digits, exponent } = shortestDigits(Math.abs(x));
  return (x < 0 ? "-" : "") + place(digits, exponent, x < 0 ? 17 : 18);
}

/**
 * Sets the point: whole numbers get up to six zeros, small ones are written out down to a millionth
 * or so, all others with an exponent, which has no padding.
 */
function place(digits: string, exponent: number, digitsMax: number): string {
  const count = digits.length;
  const magnitude = exponent + count - 1;
  if (exponent >= 0 && magnitude < count + 7) return digits + "0".repeat(exponent);
  if (exponent < 0 && (exponent > -7 || Math.abs(magnitude) < 4)) {
    const whole = count + exponent;
    if (whole > 0) return `${digits.slice(0, whole)}.${digits.slice(whole)}`;
    return `0.${"0".repeat(-whole)}${digits}`;
  }
  const fraction = digits.slice(1, digitsMax);
  const sign = magnitude < 0 ? "-" : "+";
  return `${digits[0]}${fraction === "" ? "" : "."}${fraction}e${sign}${Math.abs(magnitude)}`;
}

function formatNonFinite(x: number): string {
  if (Number.isNaN(x)) return "nan";
  return x > 0 ? "inf" : "-inf";
}

/** The number that all of `buf[start, end)` spells, or undefined. */
export function parseDouble(buf: Uint8Array, start: number, end: number): number | undefined {
  const short = end - start <= 16 ? parseShort(buf, start, end) : -1;
  if (short >= 0) return buf[start] === MINUS ? -short : short;
  return parseLong(buf, start, end);
}

/**
 * The size of a plain decimal of at most 15 digits, or -1 when it is anything else. Both the digits
 * and the power of ten are exact doubles, so their quotient is rounded correctly.
 */
function parseShort(buf: Uint8Array, start: number, end: number): number {
  let at = start;
  if (at < end && buf[at] === MINUS) at++;
  let value = 0;
  let count = 0;
  let point = -1;
  for (; at < end; at++) {
    const digit = buf[at]! - ZERO;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      count++;
    } else {
      if (buf[at] !== POINT || point >= 0) return -1;
      point = count;
    }
  }
  if (count === 0 || count > 15) return -1;
  return point < 0 ? value : value / POWERS_OF_TEN[count - point]!;
}

const POWERS_OF_TEN: readonly number[] = Array.from({ length: 16 }, (_, i) => 10 ** i);

function parseLong(buf: Uint8Array, start: number, end: number): number | undefined {
  const isSigned = start < end && (buf[start] === PLUS || buf[start] === MINUS);
  const at = isSigned ? start + 1 : start;
  const size = parseMagnitude(buf, at, end);
  return size === undefined || buf[start] !== MINUS ? size : -size;
}

function parseMagnitude(buf: Uint8Array, start: number, end: number): number | undefined {
  const length = end - start;
  if (length === 3 || length === 8) {
    const word = latin1(buf, start, end).toLowerCase();
    if (word === "inf" || word === "infinity") return Number.POSITIVE_INFINITY;
  }
  if (length > 2 && buf[start] === ZERO && LOWER[buf[start + 1]!] === LOWER_X) {
    return parseHexadecimal(buf, start + 2, end);
  }
  return parseDecimal(buf, start, end);
}

const DECIMAL = /^(?=\.?[0-9])[0-9]*\.?[0-9]*(?:e[-+]?[0-9]+)?$/i;

/** No double needs more digits to be rounded, if a digit behind them says that there are more. */
const DIGITS_MAX = 800;

function parseDecimal(buf: Uint8Array, start: number, end: number): number | undefined {
  if (end - start <= 40) {
    const text = latin1(buf, start, end);
    const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
    // What comes to 0 or to no number at all is looked at more closely.
    if (value > 0) return value === Number.POSITIVE_INFINITY ? undefined : value;
  }
  const number = scanNumber(buf, start, end, 10, DIGITS_MAX);
  if (number === undefined) return undefined;
  const { digits, exponent } = number;
  if (digits === "") return 0;
  const value = Number(`${digits}e${exponent}`);
  return value === 0 || value === Number.POSITIVE_INFINITY ? undefined : value;
}

/** 61 significant bits and one more for all that follow round like the number itself. */
const HEX_DIGITS_MAX = 16;

function parseHexadecimal(buf: Uint8Array, start: number, end: number): number | undefined {
  const number = scanNumber(buf, start, end, 16, HEX_DIGITS_MAX);
  if (number === undefined) return undefined;
  if (number.digits === "") return 0;
  const value = roundToDouble(BigInt(`0x${number.digits}`), number.exponent);
  return value === 0 || value === Number.POSITIVE_INFINITY ? undefined : value;
}

/** `significand * 2^exponent` to the nearest double, ties to even; the significand is not 0. */
function roundToDouble(significand: bigint, exponent: number): number {
  const bitCount = significand.toString(2).length;
  const magnitude = bitCount + exponent;
  if (magnitude > 1024) return Number.POSITIVE_INFINITY;
  if (magnitude < -1074) return 0;
  // The unit of the last place, but for the smallest doubles 53 bits below the highest.
  const unit = Math.max(magnitude - 53, -1074);
  const drop = unit - exponent;
  if (drop <= 0) return Number(significand << BigInt(-drop)) * 2 ** unit;
  let kept = significand >> BigInt(drop);
  const rest = significand & ((1n << BigInt(drop)) - 1n);
  const half = 1n << BigInt(drop - 1);
  if (rest > half || (rest === half && (kept & 1n) === 1n)) kept++;
  return Number(kept) * 2 ** unit;
}
