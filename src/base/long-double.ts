/**
 * The 80-bit long double of x86, in which Redis computes INCRBYFLOAT and HINCRBYFLOAT: 64 bits of
 * significand, exponents down to 2^-16445 and up to 2^16384, rounding to nearest, ties to even.
 * Doubles
 * would not do: 128 + 0.1 is 128.10000000000000001 there.
 *
 * Everything is exact in BigInt and rounded once. The sign of zero is not kept, since no text
 * shows it.
 */

import { latin1Bytes } from "./bytes.ts";
import { scanNumber } from "./number-scan.ts";

/**
 * `significand * 2^exponent`, the significand at most 2^64 in size. An infinity has the
 * significand 1n or -1n, NaN has 0n.
 */
export interface LongDouble {
  readonly kind: "finite" | "infinite" | "nan";
  readonly significand: bigint;
  readonly exponent: number;
}

const SIGNIFICAND_BITS = 64;
const EXPONENT_MIN = -16445;
const MAGNITUDE_MAX = 16384;
/** Beyond these powers of ten a number is too big or comes to 0 whatever its digits are. */
const DECIMAL_MAX = 5000;
/** Redis copies the text into a buffer of 5 KiB first, with a zero byte behind it. */
const TEXT_MAX = 5 * 1024 - 1;
const FRACTION_DIGITS = 17;

const NOT_A_NUMBER: LongDouble = { kind: "nan", significand: 0n, exponent: 0 };
const ZERO: LongDouble = { kind: "finite", significand: 0n, exponent: 0 };

/**
 * The number that all of the text spells to strtold: decimal, hexadecimal, "inf" or "infinity".
 * Undefined for anything else, for "nan", and for what is too big or would come to 0.
 */
export function parseLongDouble(text: string): LongDouble | undefined {
  if (text.length > TEXT_MAX) return undefined;
  const [, sign = "", rest = ""] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  const isNegative = sign === "-";
  if (/^inf(inity)?$/i.test(rest)) return infinity(isNegative);
  const isHexadecimal = /^0x./is.test(rest);
  const bytes = latin1Bytes(isHexadecimal ? rest.slice(2) : rest);
  const number = scanNumber(bytes, 0, bytes.length, isHexadecimal ? 16 : 10, TEXT_MAX);
  if (number === undefined) return undefined;
  const { digits, exponent } = number;
  if (digits === "") return ZERO;
  const size = isHexadecimal
    ? round(BigInt(`0x${digits}`), exponent, isNegative)
    : roundDecimal(digits, exponent, isNegative);
  return size.kind === "finite" && size.significand !== 0n ? size : undefined;
}

/** `digits * 10^exponent`, rounded. */
function roundDecimal(digits: string, exponent: number, isNegative: boolean): LongDouble {
  const magnitude = digits.length + exponent;
  if (magnitude > DECIMAL_MAX) return infinity(isNegative);
  if (magnitude < -DECIMAL_MAX) return ZERO;
  const numerator = BigInt(digits);
  if (exponent >= 0) return round(numerator * 10n ** BigInt(exponent), 0, isNegative);
  const denominator = 10n ** BigInt(-exponent);
  // A quotient of at least 66 bits, and one bit more that says whether anything was left over.
  const bits = bitLength(numerator) - bitLength(denominator);
  const shift = Math.max(0, SIGNIFICAND_BITS + 3 - bits);
  const shifted = numerator << BigInt(shift);
  const quotient = shifted / denominator;
  const isExact = quotient * denominator === shifted;
  return round((quotient << 1n) | (isExact ? 0n : 1n), -shift - 1, isNegative);
}

/** `size * 2^exponent`, rounded; `size` is above 0. */
function round(size: bigint, exponent: number, isNegative: boolean): LongDouble {
  const magnitude = bitLength(size) + exponent;
  if (magnitude > MAGNITUDE_MAX) return infinity(isNegative);
  if (magnitude < EXPONENT_MIN) return ZERO;
  const unit = Math.max(magnitude - SIGNIFICAND_BITS, EXPONENT_MIN);
  const drop = unit - exponent;
  const kept = drop > 0 ? shiftRounded(size, drop) : size;
  if (bitLength(kept) + Math.max(unit, exponent) > MAGNITUDE_MAX) return infinity(isNegative);
  return {
    kind: "finite",
    significand: isNegative ? -kept : kept,
    exponent: drop > 0 ? unit : exponent,
  };
}

/** `size / 2^drop` to the nearest whole number, ties to even. */
function shiftRounded(size: bigint, drop: number): bigint {
  return divideRounded(size, 1n << BigInt(drop));
}

function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = 2n * (numerator - quotient * denominator);
  const isUp = twice > denominator || (twice === denominator && (quotient & 1n) === 1n);
  return isUp ? quotient + 1n : quotient;
}

export function addLongDouble(a: LongDouble, b: LongDouble): LongDouble {
  if (a.kind === "nan" || b.kind === "nan") return NOT_A_NUMBER;
  if (a.kind === "infinite") {
    return b.kind === "infinite" && a.significand !== b.significand ? NOT_A_NUMBER : a;
  }
  if (b.kind === "infinite") return b;
  const exponent = Math.min(a.exponent, b.exponent);
  const sum =
    (a.significand << BigInt(a.exponent - exponent)) +
    (b.significand << BigInt(b.exponent - exponent));
  if (sum === 0n) return ZERO;
  return round(sum < 0n ? -sum : sum, exponent, sum < 0n);
}

/** At most 17 digits behind the point, no trailing zeros, never an exponent: "%.17Lf", trimmed. */
export function formatLongDoubleHuman(a: LongDouble): string {
  if (a.kind === "nan") return "nan";
  const sign = a.significand < 0n ? "-" : "";
  if (a.kind === "infinite") return `${sign}inf`;
  const size = a.significand < 0n ? -a.significand : a.significand;
  const scaled = size * 10n ** BigInt(FRACTION_DIGITS);
  const rounded =
    a.exponent >= 0 ? scaled << BigInt(a.exponent) : shiftRounded(scaled, -a.exponent);
  if (rounded === 0n) return "0";
  const digits = String(rounded).padStart(FRACTION_DIGITS + 1, "0");
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, "");
  return `${sign}${digits.slice(0, -FRACTION_DIGITS)}${fraction === "" ? "" : "."}${fraction}`;
}

export function isNaNLongDouble(a: LongDouble): boolean {
  return a.kind === "nan";
}

export function isInfiniteLongDouble(a: LongDouble): boolean {
  return a.kind === "infinite";
}

function infinity(isNegative: boolean): LongDouble {
  return { kind: "infinite", significand: isNegative ? -1n : 1n, exponent: 0 };
}

function bitLength(n: bigint): number {
  const hexadecimal = n.toString(16);
  return hexadecimal.length * 4 - Math.clz32(Number.parseInt(hexadecimal[0]!, 16)) + 28;
}
