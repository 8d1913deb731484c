/**
 * The part of C's strtod and strtold that takes text apart: digits with an optional point, and an
 * optional exponent. What the digits come to is for the caller, who rounds to the width it needs.
 */

import { hexDigit, LOWER } from "./bytes.ts";

const ZERO = 48;
const PLUS = 43;
const MINUS = 45;
const POINT = 46;
const LOWER_E = 101;
const LOWER_P = 112;

export interface ScannedNumber {
  /** Without leading zeros; empty for 0. Longer numbers are cut, and end in 1 if that lost any. */
  readonly digits: string;
  /** What `digits` as an integer is to be scaled by: a power of 10, or of 2 for hexadecimal. */
  readonly exponent: number;
}

/**
 * Reads all of `buf[start, end)`: no sign, no "0x"; undefined for anything else. At most `digitsMax`
 * digits are kept.
 */
export function scanNumber(
  buf: Uint8Array,
  start: number,
  end: number,
  base: 10 | 16,
  digitsMax: number,
): ScannedNumber | undefined {
  const perDigit = base === 16 ? 4 : 1;
  let at = start;
  let digits = "";
  let exponent = 0;
  let digitCount = 0;
  let isPastPoint = false;
  let isCut = false;
  for (; at < end; at++) {
    const byte = buf[at]!;
    if (byte === POINT) {
      if (isPastPoint) return undefined;
      isPastPoint = true;
      continue;
    }
    const digit = hexDigit(byte);
    if (digit < 0 || digit >= base) break;
    digitCount++;
    if (isPastPoint) exponent -= perDigit;
    if (digits.length < digitsMax) {
      if (digit !== 0 || digits !== "") digits += String.fromCharCode(byte);
    } else {
      exponent += perDigit;
      if (digit !== 0) isCut = true;
    }
  }
  if (digitCount === 0) return undefined;
  if (isCut) {
    digits += "1";
    exponent -= perDigit;
  }
  if (at === end) return { digits, exponent };
  if (LOWER[buf[at]!] !== (base === 16 ? LOWER_P : LOWER_E)) return undefined;
  const power = scanExponent(buf, at + 1, end);
  return power === undefined ? undefined : { digits, exponent: exponent + power };
}

/** Beyond any text's length, so that no number of digits brings the value back into range. */
const EXPONENT_MAX = 1e12;

function scanExponent(buf: Uint8Array, start: number, end: number): number | undefined {
  const isSigned = start < end && (buf[start] === PLUS || buf[start] === MINUS);
  let at = isSigned ? start + 1 : start;
  if (at === end) return undefined;
  let value = 0;
  for (; at < end; at++) {
    const digit = buf[at]! - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = Math.min(value * 10 + digit, EXPONENT_MAX);
  }
  return buf[start] === MINUS ? -value : value;
}
