import assert from "node:assert/strict";
import { test } from "node:test";
import { latin1Bytes } from "./bytes.ts";
import { formatDouble, parseDouble } from "./double.ts";
import { grisuDigits, shortestDigits } from "./grisu.ts";
import { Random } from "./random.ts";

/** Recorded: what the C code behind replies prints. */
const TEXTS: readonly [value: number, text: string][] = [
  [0.1, "0.1"],
  [0.30000000000000004, "0.30000000000000004"],
  [-2.5, "-2.5"],
  [123456789.125, "123456789.125"],
  [1e20, "1e+20"],
  [1e22, "1e+22"],
  [1.5e300, "1.5e+300"],
  [4.9e18, "4.9e+18"],
  [2 ** 62 * 1.5, "6917529027641082000"],
  [1.2345678901234567e19, "12345678901234567000"],
  [0.00001, "0.00001"],
  [0.00001234, "1.234e-5"],
  [0.000123, "0.000123"],
  [0.0000015, "1.5e-6"],
  [5e-7, "5e-7"],
  [-0.00012345678901234567, "-1.2345678901234567e-4"],
  [1 / 3, "0.3333333333333333"],
  [100 / 3, "33.333333333333336"],
  [5e-324, "5e-324"],
  [2.2250738585072014e-308, "2.2250738585072014e-308"],
  [2.225073858507201e-308, "2.225073858507201e-308"],
  [-1.7976931348623157e308, "-1.7976931348623157e+308"],
  [2 ** -25, "2.9802322387695313e-8"],
  [2 ** -30, "9.313225746154785e-10"],
  // Digits that are not the shortest.
  [0.2795162675000121, "0.27951626750001213"],
  [282.107219533576, "282.10721953357597"],
  [0.990092616335358, "0.9900926163353579"],
  [3.662180875463106, "3.6621808754631058"],
  // Whole numbers.
  [3, "3"],
  [0, "0"],
  [-0, "-0"],
  [1e17, "100000000000000000"],
  [12345678901234568, "12345678901234568"],
  [2 ** 62, "4611686018427387904"],
  [-(2 ** 62), "-4611686018427387904"],
  [Number.POSITIVE_INFINITY, "inf"],
  [Number.NEGATIVE_INFINITY, "-inf"],
  [Number.NaN, "nan"],
];

test("doubles have the text that was recorded", () => {
  for (const [value, text] of TEXTS) {
    assert.equal(formatDouble(value), text);
  }
});

/** A double of any size: random bits, a decimal, or a fraction. */
function anyDouble(random: Random): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, random.u32());
  view.setUint32(4, random.u32());
  const values = [
    view.getFloat64(0),
    random.float() * 1000,
    random.below(1e9) / 10 ** random.below(9),
    random.below(1e15) / 10 ** random.below(20),
    random.below(2 ** 53) / 2 ** random.below(70),
    random.below(2 ** 53) * 2 ** random.below(20),
  ];
  return random.pick(values.filter((value) => Number.isFinite(value)));
}

test("the quick way to digits and the full one agree, and both read back", () => {
  const random = new Random("digits");
  for (let i = 0; i < 30_000; i++) {
    const value = anyDouble(random);
    const text = formatDouble(value);
    assert.equal(Number(text), value);
    if (value === 0) continue;
    const full = grisuDigits(Math.abs(value));
    assert.deepEqual(shortestDigits(Math.abs(value)), full, String(value));
    assert.ok(full.digits.length <= 17 && full.digits[0] !== "0");
  }
});

const parse = (text: string): number | undefined =>
  parseDouble(latin1Bytes(`9${text}9`), 1, 1 + text.length);

test("text that the server takes for a number", () => {
  const rows: [text: string, value: number][] = [
    ["inf", Number.POSITIVE_INFINITY],
    ["+INF", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["0x10", 16],
    ["0X1P3", 8],
    ["-0x1.8p-1", -0.75],
    ["0x.8", 0.5],
    ["0x8.", 8],
    ["1e5", 100000],
    ["1E+2", 100],
    [".5", 0.5],
    ["5.", 5],
    ["+5", 5],
    ["-0", -0],
    ["-0.0e5", -0],
    ["0e99999999999999999999", 0],
    ["0x0p99999999999", 0],
    ["1e-320", 1e-320],
    ["0x1p-1074", 5e-324],
    ["0x1.8p-1075", 5e-324],
    ["0x1.fffffffffffff7p1023", Number.MAX_VALUE],
    ["0x1.00000000000008p0", 1],
    ["0x1.000000000000080000000000000000000001p0", 1 + Number.EPSILON],
    ["0x1.00000000000018p0", 1 + 2 * Number.EPSILON],
    ["2.4703282292062328e-324", 5e-324],
    ["9007199254740993", 9007199254740992],
    ["1.00000000000000033306690738754696212708950042724609375", 1 + 2 * Number.EPSILON],
    ["1.00000000000000033306690738754696212708950042724609374", 1 + Number.EPSILON],
    [`9007199254740993.${"0".repeat(2000)}1`, 9007199254740994],
    [`9007199254740993.${"0".repeat(2000)}`, 9007199254740992],
    [`0.${"0".repeat(400)}1e400`, 0.1],
    [`1${"0".repeat(400)}e-400`, 1],
    [`0x${"0".repeat(400)}1`, 1],
    [`0x1${"0".repeat(400)}p-1600`, 1],
  ];
  for (const [text, value] of rows) {
    assert.ok(Object.is(parse(text), value), `${text}: ${parse(text)}`);
  }
});

test("text that the server refuses", () => {
  const texts = ["", ".", "+", "-", "--1", "+-1", " 1", "1 ", "\t1", "1\0", "1_0", "1d", "0b11"];
  texts.push("nan", "NaN", "-nan", "nan(1)", "infinit", "infinityy", "in", "0x", "0x.", "0xg");
  texts.push("1e", "1e+", "1e+-2", "1e1.5", "1.2.3", "0x1p", "0x1.8p1.0", "1p3", "e5", ".e5");
  texts.push("1e400", "-1e400", "1e-400", "1e99999999999999999999", "1e-99999999999999999999");
  texts.push("0x1p1024", "0x1.fffffffffffff8p1023", "0x1p-1075", "1.7976931348623159e308");
  texts.push("2.4703282292062327e-324");
  for (const text of texts) assert.equal(parse(text), undefined, JSON.stringify(text));
});

test("decimals of every kind read like JavaScript's, printed doubles read back", () => {
  const random = new Random("read");
  for (let i = 0; i < 20_000; i++) {
    const value = anyDouble(random);
    const texts = [
      String(value),
      formatDouble(value),
      value.toPrecision(17),
      value.toPrecision(1 + random.below(60)),
      value.toExponential(random.below(30)),
    ];
    for (const text of texts) {
      const expected = Number(text);
      const isLost = expected === 0 && /^[^e]*[1-9]/.test(text);
      const isRead = Number.isFinite(expected) && !isLost;
      const actual = parse(text);
      assert.ok(isRead ? Object.is(actual, expected) : actual === undefined, `${text}: ${actual}`);
    }
  }
});

test("hexadecimal text is rounded to the nearest double, ties to even", () => {
  const random = new Random("hex");
  for (let i = 0; i < 5000; i++) {
    const whole = 1n + BigInt(random.below(2 ** 53)) * BigInt(random.below(2 ** 40));
    const power = random.below(1800) - 900;
    // BigInt to number rounds as wanted, and scaling by a power of two in this range is exact.
    const expected = Number(whole) * 2 ** power;
    const value = parse(`0x${whole.toString(16)}p${power}`);
    assert.equal(value, expected, `0x${whole.toString(16)}p${power}`);
  }
});
