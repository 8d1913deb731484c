import assert from "node:assert/strict";
import { test } from "node:test";
import { latin1Bytes } from "./bytes.ts";
import { scanNumber } from "./number-scan.ts";

function scan(text: string, base: 10 | 16, digitsMax: number): string {
  const number = scanNumber(latin1Bytes(`1${text}1`), 1, 1 + text.length, base, digitsMax);
  return number === undefined ? "none" : `${number.digits}|${number.exponent}`;
}

test("digits, point and exponent", () => {
  assert.equal(scan("12", 10, 99), "12|0");
  assert.equal(scan("0012.50", 10, 99), "1250|-2");
  assert.equal(scan("000.0", 10, 99), "|-1");
  assert.equal(scan(".05e7", 10, 99), "5|5");
  assert.equal(scan("5.E-07", 10, 99), "5|-7");
  assert.equal(scan("5e+3", 10, 99), "5|3");
  assert.equal(scan("aF.8", 16, 99), "aF8|-4");
  assert.equal(scan("1e2P-3", 16, 99), "1e2|-3");
  assert.equal(scan("1e99999999999999999999", 10, 99), "1|1000000000000");
});

test("beyond the wanted digits only their number and whether all are zero count", () => {
  assert.equal(scan("123456", 10, 3), "1231|2");
  assert.equal(scan("123000", 10, 3), "123|3");
  assert.equal(scan("00123000.0001", 10, 3), "1231|2");
  assert.equal(scan("1.23000e5", 10, 3), "123|3");
  assert.equal(scan("abc001", 16, 3), "abc1|8");
});

test("everything else is none", () => {
  for (const text of [
    "",
    ".",
    "e1",
    "1e",
    "1e+",
    "1e1.",
    "1..2",
    "1.2.",
    "+1",
    "1f",
    "1p1",
    "1 ",
  ]) {
    assert.equal(scan(text, 10, 99), "none", JSON.stringify(text));
  }
  for (const text of ["", ".", "p1", "1p", "1p-", "1pa", "1g", "0x1"]) {
    assert.equal(scan(text, 16, 99), "none", JSON.stringify(text));
  }
});
