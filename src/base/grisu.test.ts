import assert from "node:assert/strict";
import { test } from "node:test";
import { grisuDigits, shortestDigits } from "./grisu.ts";

test("digits and exponent at the ends of the range and around powers of two", () => {
  const rows: [value: number, digits: string, exponent: number][] = [
    [1, "1", 0],
    [0.1, "1", -1],
    [5e-324, "5", -324],
    [2.2250738585072014e-308, "22250738585072014", -324],
    [1.7976931348623157e308, "17976931348623157", 292],
    [9007199254740992, "9007199254740992", 0],
    [2 ** -25, "29802322387695313", -24],
  ];
  for (const [value, digits, exponent] of rows) {
    assert.deepEqual(grisuDigits(value), { digits, exponent });
    assert.deepEqual(shortestDigits(value), { digits, exponent });
  }
});

test("powers of two and of ten and their neighbours read back", () => {
  const check = (value: number): void => {
    if (value === 0 || !Number.isFinite(value)) return;
    const { digits, exponent } = grisuDigits(value);
    assert.equal(Number(`${digits}e${exponent}`), value);
    assert.deepEqual(shortestDigits(value), { digits, exponent });
  };
  for (let power = -1074; power < 1024; power++) {
    for (const factor of [1, 1 - 2 ** -53, 1 + 2 ** -52, 1.5]) check(2 ** power * factor);
  }
  for (let power = -323; power < 309; power++) {
    for (const digits of ["1", "9.5", "1.234", "9.999999999999999"]) {
      check(Number(`${digits}e${power}`));
    }
  }
});
