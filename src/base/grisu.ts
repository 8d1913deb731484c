/**
 * The decimal digits of a double as Redis 7.2 and later print them: Grisu2 (Loitsch, "Printing
 * Floating-Point Numbers Quickly and Accurately with Integers"). The digits always read back as the
 * same double, but about one double in two thousand gets other digits, or one more, than the
 * shortest text that JavaScript finds. `shortestDigits` takes JavaScript's wherever it can prove
 * that they are the same, which is five times faster.
 *
 * The double and the two ends of its rounding interval are taken as 64-bit fractions, multiplied by
 * a power of ten that brings them to the scale 2^-60 .. 2^-32, and digits of the upper end are cut
 * as soon as what is left fits within the interval. The product keeps the high 64 bits, rounded;
 * the ends move inwards by one to make up for the error.
 */

export interface Digits {
  /** Decimal digits without leading zeros: the value is `digits * 10^exponent`. */
  readonly digits: string;
  readonly exponent: number;
}

interface Power {
  readonly fraction: bigint;
  readonly exponent: number;
}

const POWER_FIRST = -348;
const POWER_STEP = 8;
const POWER_COUNT = 87;
const powers: (Power | undefined)[] = new Array<Power | undefined>(POWER_COUNT).fill(undefined);

const bits = new DataView(new ArrayBuffer(8));

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
const POWERS_OF_TEN: readonly number[] = Array.from({ length: 23 }, (_, i) => Number(`1e${i}`));

/** The digits of a finite double above 0. */
export function shortestDigits(x: number): Digits {
  const text = x.toExponential();
  const mark = text.indexOf("e");
  const digits = text[0]! + text.slice(2, mark);
  const exponent = Number(text.slice(mark + 1)) - digits.length + 1;
  return isInner(x, digits, exponent) ? { digits, exponent } : grisuDigits(x);
}

/**
 * Whether the shortest digits lie so far from the ends of the rounding interval, and so much nearer
 * to `x` than other digits of that length, that the errors of 64-bit fractions cannot matter.
 */
function isInner(x: number, digits: string, exponent: number): boolean {
  // The product of x and the power of ten is exact as the sum of two doubles.
  if (exponent >= 0 || exponent < -22) return false;
  const scale = POWERS_OF_TEN[-exponent]!;
  const product = x * scale;
  const xHigh = highHalf(x);
  const xLow = x - xHigh;
  const scaleHigh = highHalf(scale);
  const scaleLow = scale - scaleHigh;
  const error =
    xLow * scaleLow - (product - xHigh * scaleHigh - xLow * scaleHigh - xHigh * scaleLow);
  const upper = digits.length > 8 ? Number(digits.slice(0, -8)) * 1e8 : 0;
  const distance = Math.abs(upper - product + Number(digits.slice(-8)) - error);
  float[0] = x;
  const biased = words[1]! >>> 20;
  // Doubles around a power of two are not evenly spaced; the smallest ones have fewer bits.
  if (biased < 60 || ((words[1]! & 0xfffff) === 0 && words[0] === 0)) return false;
  words[0] = 0;
  words[1] = (biased - 53) << 20;
  return distance < 0.49 && distance < 0.98 * float[0] * scale;
}

/** The upper 26 bits of a double, so that products of halves are exact. */
function highHalf(x: number): number {
  const shifted = x * 134217729;
  return shifted - (shifted - x);
}

/** The same by Grisu2 itself. */
export function grisuDigits(x: number): Digits {
  bits.setFloat64(0, x);
  const biased = bits.getUint32(0) >>> 20;
  const stored = bits.getBigUint64(0) & 0xfffffffffffffn;
  const significand = biased === 0 ? stored : stored | 0x10000000000000n;
  const shift = 64 - significand.toString(2).length;
  const exponent = Math.max(biased, 1) - 1075 - shift;
  const middle = significand << BigInt(shift);
  const half = 1n << BigInt(shift - 1);
  // Just above a power of two the doubles below lie twice as close. (So the smallest normal double
  // is taken too; it is what the real thing does.)
  const isBoundary = significand === 0x10000000000000n;
  const index = powerIndex(exponent);
  const power = powerAt(index);
  const upper = product(middle + half, power.fraction) - 1n;
  const lower = product(middle - (isBoundary ? half >> 1n : half), power.fraction) + 1n;
  const toMiddle = upper - product(middle, power.fraction);
  const point = -(exponent + power.exponent + 64);
  return cut(upper, upper - lower, toMiddle, point, -(POWER_FIRST + index * POWER_STEP));
}

/**
 * Digits of `upper`, a fixed-point number with `point` bits behind its point, until the rest is
 * within `width`; then the last digit goes down while that comes nearer to `upper - toMiddle`.
 */
function cut(
  upper: bigint,
  width: bigint,
  toMiddle: bigint,
  point: number,
  exponent: number,
): Digits {
  const shift = BigInt(point);
  const mask = (1n << shift) - 1n;
  let whole = Number(upper >> shift);
  let fraction = upper & mask;
  const widthWhole = Number(width >> shift);
  const isFractionWithin = fraction <= (width & mask);
  let digits = 0;
  for (let place = 9; place >= 0; place--) {
    const unit = 10 ** place;
    const digit = Math.floor(whole / unit);
    digits = digits * 10 + digit;
    whole -= digit * unit;
    if (whole < widthWhole || (whole === widthWhole && isFractionWithin)) {
      const rest = (BigInt(whole) << shift) + fraction;
      const steps = stepsDown(rest, width, BigInt(unit) << shift, toMiddle);
      return { digits: String(digits - steps), exponent: exponent + place };
    }
  }
  let text = digits === 0 ? "" : String(digits);
  for (let place = -1, scale = 10n; ; place--, scale *= 10n) {
    fraction *= 10n;
    const digit = Number(fraction >> shift);
    fraction &= mask;
    if (fraction < width * scale) {
      const steps = stepsDown(fraction, width * scale, mask + 1n, toMiddle * scale);
      return { digits: text + String(digit - steps), exponent: exponent + place };
    }
    if (digit !== 0 || text !== "") text += digit;
  }
}

/** How often `unit` fits on `rest` within `width` while the sum comes nearer to `target`. */
function stepsDown(rest: bigint, width: bigint, unit: bigint, target: bigint): number {
  let steps = 0;
  let sum = rest;
  while (
    sum < target &&
    width - sum >= unit &&
    (sum + unit < target || target - sum > sum + unit - target)
  ) {
    sum += unit;
    steps++;
  }
  return steps;
}

/** The high 64 bits of the product of two 64-bit fractions, rounded half up. */
function product(a: bigint, b: bigint): bigint {
  return (a * b + 0x8000000000000000n) >> 64n;
}

/** The power of ten that brings a fraction with this binary exponent to the wanted scale. */
function powerIndex(exponent: number): number {
  const estimate = Math.trunc(-(exponent + POWER_COUNT) * 0.30102999566398114);
  let index = Math.trunc((estimate - POWER_FIRST) / POWER_STEP);
  for (;;) {
    const scale = exponent + powerAt(index).exponent + 64;
    if (scale < -60) index++;
    else if (scale > -32) index--;
    else return index;
  }
}

/** 10^(POWER_FIRST + index * POWER_STEP) as a 64-bit fraction, rounded to nearest. */
function powerAt(index: number): Power {
  const known = powers[index];
  if (known !== undefined) return known;
  const decimal = POWER_FIRST + index * POWER_STEP;
  // With 2^1300 on top, even 10^-348 has more than 65 bits, the last one being enough to round.
  const scaled =
    decimal >= 0 ? (10n ** BigInt(decimal)) << 1300n : (1n << 1300n) / 10n ** BigInt(-decimal);
  const cutBits = scaled.toString(2).length - 65;
  const fraction = ((scaled >> BigInt(cutBits)) + 1n) >> 1n;
  const power = { fraction, exponent: cutBits + 1 - 1300 };
  powers[index] = power;
  return power;
}
