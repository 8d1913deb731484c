import assert from "node:assert/strict";
import { test } from "node:test";
import { latin1, latin1Bytes } from "./bytes.ts";
import {
  addInt64,
  compareInt64,
  formatInt64,
  fromNumber,
  INT64_CHARS_MAX,
  int64,
  int64ToNumber,
  isInt32,
  isSafeInt64,
  negateInt64,
  parseInt64,
  scaleInt64,
} from "./int64.ts";
import { Random } from "./random.ts";

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const hiOf = (n: bigint): number => Number(n >> 32n);
const loOf = (n: bigint): number => Number(n & 0xffffffffn);
const scratch = (): bigint => (BigInt(int64.hi) << 32n) | BigInt(int64.lo);
const isHeld = (n: bigint): boolean => n >= MIN && n <= MAX;

/** Powers of two and ten and their neighbours, the extremes, and numbers of every length. */
function samples(seed: string, count: number): bigint[] {
  const numbers = new Set<bigint>([0n]);
  for (let power = 1n; power <= 2n ** 63n; power *= 2n) {
    for (const delta of [-1n, 0n, 1n]) numbers.add(power + delta);
  }
  for (let power = 1n; power <= 10n ** 18n; power *= 10n) {
    for (const delta of [-1n, 0n, 1n]) numbers.add(power + delta);
  }
  const random = new Random(seed);
  while (numbers.size < count) {
    const wide = (BigInt(random.u32()) << 32n) | BigInt(random.u32());
    numbers.add(wide >> BigInt(1 + random.below(63)));
  }
  return [...numbers, ...[...numbers].map((n) => -n)].filter(isHeld);
}

/** The rules of string2ll, from their text. */
function naiveParse(text: string): bigint | undefined {
  if (!/^(0|-?[1-9][0-9]*)$/.test(text)) return undefined;
  return isHeld(BigInt(text)) ? BigInt(text) : undefined;
}

function checkParse(text: string): void {
  const bytes = latin1Bytes(`1${text}1`);
  const expected = naiveParse(text);
  int64.hi = 77;
  int64.lo = 88;
  assert.equal(parseInt64(bytes, 1, 1 + text.length), expected !== undefined, JSON.stringify(text));
  assert.equal(scratch(), expected ?? (77n << 32n) | 88n, JSON.stringify(text));
}

test("text of every sample parses and formats back", () => {
  const buf = new Uint8Array(40);
  for (const n of samples("text", 3000)) {
    checkParse(String(n));
    buf.fill(120);
    const end = formatInt64(hiOf(n), loOf(n), buf, 3);
    assert.equal(latin1(buf, 0, 40), `xxx${n}`.padEnd(40, "x"));
    assert.equal(end, 3 + String(n).length);
    assert.ok(end - 3 <= INT64_CHARS_MAX);
    assert.equal(formatInt64(hiOf(n), loOf(n) | 0, buf, 3), end);
    assert.equal(latin1(buf, 3, end), String(n));
  }
});

test("every text of up to four characters over - + space 0 1 9 x", () => {
  const letters = "-+ 019x";
  for (let length = 0; length <= 4; length++) {
    for (let code = 0; code < letters.length ** length; code++) {
      let text = "";
      for (let rest = code, i = 0; i < length; i++, rest = Math.floor(rest / letters.length)) {
        text += letters[rest % letters.length]!;
      }
      checkParse(text);
    }
  }
});

test("the edges of the range, and numbers with one character changed", () => {
  for (let delta = -3n; delta <= 3n; delta++) {
    checkParse(String(MAX + delta));
    checkParse(String(MIN + delta));
    checkParse(String(2n ** 64n + delta));
  }
  checkParse("99999999999999999999");
  checkParse("9".repeat(40));
  checkParse(`${"0".repeat(19)}1`);
  checkParse("-");
  const random = new Random("mutations");
  for (let i = 0; i < 30_000; i++) {
    const length = 1 + random.below(21);
    let text = random.chance(0.5) ? "-" : "";
    while (text.length < length) text += random.below(10);
    const at = random.below(length);
    const byte = String.fromCharCode(
      random.chance(0.5) ? 48 + random.below(10) : random.below(256),
    );
    checkParse(text);
    checkParse(text.slice(0, at) + byte + text.slice(at + 1));
  }
});

test("sums, opposites, multiples and order equal those of BigInt, lo signed or not", () => {
  const numbers = samples("sums", 700);
  const random = new Random("pairs");
  for (let i = 0; i < 60_000; i++) {
    const a = random.pick(numbers);
    const b = random.pick(numbers);
    const aLo = random.chance(0.5) ? loOf(a) : loOf(a) | 0;
    const bLo = random.chance(0.5) ? loOf(b) : loOf(b) | 0;
    const factor = random.below(2 ** (1 + random.below(20))) + random.below(2);
    const message = `${a} ${b} ${factor}`;
    const check = (isDone: boolean, expected: bigint): void => {
      assert.equal(isDone, isHeld(expected), message);
      if (isDone) assert.equal(scratch(), expected, message);
      assert.ok(Object.is(int64.hi, int64.hi | 0) && Object.is(int64.lo, int64.lo >>> 0), message);
    };
    check(addInt64(hiOf(a), aLo, hiOf(b), bLo), a + b);
    check(negateInt64(hiOf(a), aLo), -a);
    check(scaleInt64(hiOf(a), aLo, factor), a * BigInt(factor));
    const order = a < b ? -1 : a > b ? 1 : 0;
    assert.equal(Math.sign(compareInt64(hiOf(a), aLo, hiOf(b), bLo)), order, message);
    assert.equal(compareInt64(hiOf(a), aLo, hiOf(a), loOf(a)), 0, message);
  }
});

test("a sum or multiple that overflows leaves the scratch as it was", () => {
  fromNumber(5);
  assert.ok(!addInt64(0x7fffffff, 0xffffffff, 0, 1));
  assert.ok(!addInt64(-0x80000000, 0, -1, 0xffffffff));
  assert.ok(!negateInt64(-0x80000000, 0));
  assert.ok(!scaleInt64(0x7fffffff, 0xffffffff, 2));
  assert.equal(scratch(), 5n);
});

test("conversions to and from numbers", () => {
  for (const n of samples("conversions", 2000)) {
    assert.equal(int64ToNumber(hiOf(n), loOf(n) | 0), Number(n));
    const isSafe = Number.isSafeInteger(Number(n));
    assert.equal(isSafeInt64(hiOf(n), loOf(n)), isSafe, String(n));
    assert.equal(isInt32(hiOf(n), loOf(n)), BigInt.asIntN(32, n) === n, String(n));
    assert.equal(isInt32(hiOf(n), loOf(n) | 0), BigInt.asIntN(32, n) === n, String(n));
    if (!isSafe) continue;
    fromNumber(Number(n));
    assert.equal(scratch(), n);
    assert.ok(Object.is(int64.hi, int64.hi | 0) && Object.is(int64.lo, int64.lo >>> 0));
  }
});
