import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addLongDouble,
  formatLongDoubleHuman,
  isInfiniteLongDouble,
  isNaNLongDouble,
  type LongDouble,
  parseLongDouble,
} from "./long-double.ts";
import { Random } from "./random.ts";

/** Recorded from INCRBYFLOAT of a real server on x86: the value, the increment, the reply. */
const SUMS: readonly [value: string, increment: string, reply: string][] = [
  ["17179869184", "1.5", "17179869185.5"],
  ["128", "0.1", "128.10000000000000001"],
  ["1000", "1.8", "1001.79999999999999999"],
  ["5200", "10.43", "5210.43000000000000016"],
  ["2", "1.1", "3.1"],
  ["3.0", "1.0e2", "103"],
  ["1", "1e-18", "1"],
  ["0", "-1e-20", "0"],
  ["-0", "-0", "0"],
  ["9223372036854775807", "1", "9223372036854775808"],
  ["18446744073709551615", "1", "18446744073709551616"],
  ["18446744073709551616", "1", "18446744073709551616"],
  ["18446744073709551616", "3", "18446744073709551620"],
  ["0.5e-17", "0", "0"],
  ["1.5e-17", "0", "0.00000000000000002"],
  ["0x1p-60", "0", "0"],
  ["1e-4950", "0", "0"],
  ["3e4931", "-3e4931", "0"],
  ["6302331934668e26", "-6302331934668e26", "0"],
  ["-00.033645", "35184372088831", "35184372088830.9663543701171875"],
  ["0.0000000000000000619237445", "-0.00000000000000749858853", "-0.00000000000000744"],
  ["83998088157147229938746.688550216159193040622", "89107371.3", "83998088157147319042048"],
  ["0x9c9753a9f3eeb177ca7654c3c4a", "565131.2682", "198502827714095709751464974876672"],
  ["0x8e4d49736a5f790aa1e2e5f2ffp-12", "43004095.967", "2752519096533445146564362240"],
  ["24.1205", "106706.132", "106730.25249999999999773"],
  ["4", "-8796093022208", "-8796093022204"],
  ["66754709.1850982", "-6192", "66748517.18509819999962929"],
  ["0.0000000941009", "820852", "820852.00000009410092616"],
  ["0.0000044316368082", "210.3", "210.30000443163680821"],
  ["0x1b7539273d1f473b0a539771f12", "940", "34807027649692009237625576620032"],
  ["2.333583787326299602389", "0.0006321021184", "2.3342158894446996"],
  ["0", "-767780.452208996423359652", "-767780.45220899642333734"],
  ["0x1.8p-16446", "0.00480184005", "0.00480184005"],
  ["0.00000000356954556099", "331307451462072706826.3232467238038280", "331307451462072706816"],
  ["149709.276", "6653255.09", "6802964.36599999999998545"],
  ["35184372088832", "9.4", "35184372088841.40000152587890625"],
  ["-06282e8", "30064.686", "-628199969935.31400001049041748"],
  [
    "74142000544616527242.9584549636505959e28",
    "72270e29",
    "741420005446172499466769481290468544044215566336",
  ],
  ["0e2391", "-596", "-596"],
  ["0.1308893", "6390642.70", "6390642.83088929999985339"],
  [
    "0x2471387d1fc3811c7c9e0ab3e3fp48",
    "-28253068439797177056.76878e7",
    "13003035801413838214005940362208400722106515456",
  ],
  ["262143", "-575e-1067", "262143"],
  [
    "0.00000000000000000183365305700789",
    "-287759.099891325976268710033",
    "-287759.09989132597627304",
  ],
  ["3957.7324", "396599.394", "400557.12640000000001805"],
  ["11689606.30416", "-11689606.30416", "0"],
  ["-0.00000000000028977398", "978060667407.8263908", "978060667407.82639080286026001"],
  ["7153e-3299", "436", "436"],
  ["0.00000000000000000047635526374975691577", "-33554431", "-33554431"],
  ["-0.000009496", "33250042.015", "33250042.01499050399979751"],
  ["-64", "0x7fa8a50db467ba766ba9a0c24e.94f5357b7720d", "10114169658440445887136481148928"],
  ["-70368744177663", "4477064783898114317164.09", "4477064713529370139392"],
  ["726111062341429227.464112731318603282612", "-1864", "726111062341427363.4375"],
  ["-09e3481", "09e3481", "0"],
  ["8388607", "123116.75", "8511723.75"],
  ["-65536", "-0x2223528ce70931c410ebad27577.1e4b86d85c3374", "-43275028770225775425278449811456"],
  ["6e-979", "-8358777", "-8358777"],
  ["0.0000000000000000076208432", "-0.0000000000000000076208432", "0"],
  ["0284.048754", "-32e-2891", "284.04875399999999999"],
  ["-80362020.2613443707e-25", "65536", "65536"],
  ["0.0118328", "23637.8064", "23637.81823280000000054"],
  ["-5390952.49", "156260.4871", "-5234692.00289999999995416"],
  ["-3708e-2843", "206336.673854", "206336.67385400000000573"],
  ["1557395.465329", "501.43970730e-1", "1557445.60929972999997517"],
  ["-607.9223", "831118179911521304081.2647691253567", "831118179911521303488"],
  ["144115188075855873", "6118432.37", "144115188081974305.375"],
  ["-0.000000000000000000094", "-2.09036", "-2.09036"],
  ["293.82584e11", "314874597354234.16677601364", "344257181354234.166778564453125"],
  ["491.35", "0.0000000825", "491.3500000825"],
  ["-6e-683", "96811.3378", "96811.33780000000000143"],
  ["0.000000000467406504653", "-0.000000000467406504653", "0"],
  ["50804911e-6", "0783262", "783312.80491100000000415"],
  ["17592186044417", "0.000000131", "17592186044417"],
  ["5.053633", "-5.053633", "0"],
  ["5512249.9921", "-5512249.9921", "0"],
  ["391e-1490", "7.65658", "7.65658"],
  ["-0.000000000000000009474", "-6.506369", "-6.50636900000000001"],
  ["-98258954.4", "98258954.4", "0"],
  ["9576362583510545.9728487208", "549755813887", "9576912339324432.97265625"],
];

function read(text: string): LongDouble {
  const value = parseLongDouble(text);
  assert.ok(value !== undefined, text);
  return value;
}

test("sums have the text that a real server replied", () => {
  for (const [value, increment, reply] of SUMS) {
    const sum = formatLongDoubleHuman(addLongDouble(read(value), read(increment)));
    assert.equal(sum, reply, `${value} + ${increment}`);
  }
});

test("text that strtold does not take as a whole, and what has no finite value but infinity", () => {
  const texts = ["", " ", " 1", "1 ", "1\0", "1e", "1_", ".", "-", "+-1", "0x", "0x.", "1p3", "x"];
  texts.push("nan", "NaN", "-nan", "infinit", "1,5", "1e5000", "1e99999999999999", "-1e4933");
  texts.push("1.18973149535723176506e4932", "0x1p16384", "0x1.ffffffffffffffffp16383");
  texts.push("1e-5000", "1e-4952", "0x1p-16446", "0x0.8p-16445", "0".repeat(5120));
  for (const text of texts) assert.equal(parseLongDouble(text), undefined, text.slice(0, 40));
  const limits = ["1.18973149535723176502e4932", "0x1.fffffffffffffffep16383", "0x1p-16445"];
  limits.push(
    "0x1.8p-16446",
    "1e-4950",
    "0".repeat(5119),
    "1".repeat(4932),
    `0.${"0".repeat(4000)}1`,
    "0e99999999",
  );
  for (const text of limits) assert.equal(read(text).kind, "finite");
});

test("infinities and NaN", () => {
  const infinity = read("inf");
  const negative = read("-INFINITY");
  const one = read("+1");
  assert.ok(isInfiniteLongDouble(infinity) && !isInfiniteLongDouble(one));
  assert.ok(!isNaNLongDouble(infinity) && !isNaNLongDouble(one));
  assert.equal(formatLongDoubleHuman(infinity), "inf");
  assert.equal(formatLongDoubleHuman(negative), "-inf");
  assert.equal(formatLongDoubleHuman(addLongDouble(infinity, one)), "inf");
  assert.equal(formatLongDoubleHuman(addLongDouble(one, negative)), "-inf");
  assert.equal(formatLongDoubleHuman(addLongDouble(negative, negative)), "-inf");
  const none = addLongDouble(infinity, negative);
  assert.ok(isNaNLongDouble(none) && !isInfiniteLongDouble(none));
  assert.ok(isNaNLongDouble(addLongDouble(one, none)));
  assert.equal(formatLongDoubleHuman(none), "nan");
  const largest = read("0x1.fffffffffffffffep16383");
  assert.ok(isInfiniteLongDouble(addLongDouble(largest, largest)));
  assert.ok(isInfiniteLongDouble(addLongDouble(largest, read("0x1p16319"))));
  assert.deepEqual(addLongDouble(largest, read("0x1p16318")), largest);
});

/** A fraction of whole numbers, the lower one above 0. */
type Fraction = readonly [top: bigint, bottom: bigint];

const power = (base: bigint, exponent: number): Fraction =>
  exponent >= 0 ? [base ** BigInt(exponent), 1n] : [1n, base ** BigInt(-exponent)];

const times = (a: bigint, [top, bottom]: Fraction): Fraction => [a * top, bottom];

const magnitude = (n: bigint): bigint => (n < 0n ? -n : n);

/**
 * What rounding promises: at most 64 bits, within half a unit of the last place, a tie being even.
 * The smallest numbers have their last place at 2^-16445.
 */
function assertNearest(actual: LongDouble, [top, bottom]: Fraction, message: string): void {
  assert.equal(actual.kind, "finite", message);
  const size = magnitude(actual.significand);
  const bits = size.toString(2).replace(/0+$/, "").length;
  assert.ok(bits <= 64 && actual.exponent >= -16445, message);
  const whole = size.toString(2).length + actual.exponent;
  const unit = Math.max(whole - 64, -16445);
  // The error and the unit, both times the common denominator.
  const base = Math.min(actual.exponent, unit, 0);
  const scale = 1n << BigInt(-base);
  const value = actual.significand << BigInt(actual.exponent - base);
  const error = magnitude(value * bottom - top * scale);
  const place = bottom << BigInt(unit - base);
  assert.ok(2n * error <= place, message);
  if (2n * error === place)
    assert.equal((size >> BigInt(unit - actual.exponent)) & 1n, 0n, message);
}

test("reading rounds decimals and hexadecimals to the nearest", () => {
  const random = new Random("read");
  for (let i = 0; i < 3000; i++) {
    const digits = BigInt(1 + random.below(2 ** 53)) * BigInt(1 + random.below(2 ** 50));
    const wide = i % 50 === 0 ? 4900 : 60;
    const exponent = random.below(2 * wide) - wide;
    const sign = random.chance(0.5) ? -1n : 1n;
    const decimal = `${sign * digits}e${exponent}`;
    assertNearest(read(decimal), times(sign * digits, power(10n, exponent)), decimal);
    const hexadecimal = `${sign < 0n ? "-" : ""}0x${digits.toString(16)}p${exponent * 3}`;
    assertNearest(read(hexadecimal), times(sign * digits, power(2n, exponent * 3)), hexadecimal);
  }
});

test("ties go to the even significand, in the smallest numbers too", () => {
  const top = 2n ** 64n;
  const rows: [text: string, significand: bigint][] = [
    [`${top + 1n}`, top],
    [`${top + 3n}`, top + 4n],
    [`${top + 3n}.${"0".repeat(200)}`, top + 4n],
    [`${top + 1n}.${"0".repeat(200)}1`, top + 2n],
    [`${top - 1n}.5`, top],
  ];
  for (const [text, value] of rows) {
    const { significand, exponent } = read(text);
    assert.equal(exponent >= 0 ? significand << BigInt(exponent) : significand, value, text);
  }
  assert.deepEqual(read("0x1.8p-16445"), read("0x2p-16445"));
  assert.deepEqual(read("0x2.8p-16445"), read("0x2p-16445"));
});

test("sums are rounded once", () => {
  const random = new Random("sums");
  const any = (): LongDouble => {
    const digits = BigInt(random.below(2 ** 53)) * BigInt(1 + random.below(2 ** 12)) + 1n;
    return read(
      `${random.chance(0.5) ? "-" : ""}0x${digits.toString(16)}p${random.below(160) - 80}`,
    );
  };
  for (let i = 0; i < 4000; i++) {
    const a = any();
    const b = any();
    const low = Math.min(a.exponent, b.exponent);
    const sum =
      (a.significand << BigInt(a.exponent - low)) + (b.significand << BigInt(b.exponent - low));
    const message = `${a.significand}p${a.exponent} + ${b.significand}p${b.exponent}`;
    assertNearest(addLongDouble(a, b), times(sum, power(2n, low)), message);
    assert.deepEqual(addLongDouble(a, b), addLongDouble(b, a), message);
  }
});

test("text has at most 17 digits behind the point, the nearest, and no trailing zeros", () => {
  const random = new Random("text");
  for (let i = 0; i < 4000; i++) {
    const digits = BigInt(random.below(2 ** 53)) * BigInt(1 + random.below(2 ** 11));
    const exponent = random.below(140) - 100;
    const sign = random.chance(0.5) ? "-" : "";
    const text = formatLongDoubleHuman(read(`${sign}0x${digits.toString(16)}p${exponent}`));
    assert.match(text, /^(0|-?(0|[1-9][0-9]*)(\.[0-9]{0,16}[1-9])?)$/);
    assert.notEqual(text, "-0");
    const [whole = "", fraction = ""] = text.replace("-", "").split(".");
    const printed = BigInt(whole + fraction.padEnd(17, "0"));
    const [top, bottom] = times(digits * 10n ** 17n, power(2n, exponent));
    const error = magnitude(printed * bottom - top);
    assert.ok(2n * error <= bottom, text);
    if (2n * error === bottom) assert.equal(printed % 2n, 0n, text);
    if (printed !== 0n) assert.equal(text.startsWith("-"), sign === "-");
  }
});
