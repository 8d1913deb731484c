import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compareBytes,
  copyLong,
  copyShort,
  copyWords,
  decimalDigits,
  equalBytes,
  hexDigit,
  LOWER,
  latin1,
  latin1Bytes,
  lowerText,
  toHex,
  upperText,
  writeDecimal,
  writeLatin1,
} from "./bytes.ts";
import { Random } from "./random.ts";

const ALL = Uint8Array.from({ length: 256 }, (_, i) => i);
const ALL_TEXT = Buffer.from(ALL).toString("latin1");

test("case folding touches the ASCII letters only", () => {
  for (let byte = 0; byte < 256; byte++) {
    const isCapital = byte >= 65 && byte <= 90;
    assert.equal(LOWER[byte], isCapital ? byte + 32 : byte);
  }
  assert.equal(lowerText(ALL_TEXT), String.fromCharCode(...LOWER));
  assert.equal(upperText("aZ\xe4\xb5\xff-1z"), "AZ\xe4\xb5\xff-1Z");
});

test("equality and order of ranges are those of Buffer.compare", () => {
  const random = new Random("order");
  for (let i = 0; i < 20_000; i++) {
    const a = Uint8Array.from(random.bytes(random.below(6)), (byte) => byte % 3);
    const b = Uint8Array.from(random.bytes(random.below(6)), (byte) => byte % 3);
    const aStart = random.below(a.length + 1);
    const bStart = random.below(b.length + 1);
    const expected = Buffer.compare(a.subarray(aStart), b.subarray(bStart));
    const order = compareBytes(a, aStart, a.length, b, bStart, b.length);
    assert.equal(Math.sign(order), expected, `case ${i}`);
    assert.equal(equalBytes(a, aStart, a.length, b, bStart, b.length), expected === 0);
  }
  assert.ok(compareBytes(Uint8Array.of(255), 0, 1, Uint8Array.of(1), 0, 1) > 0);
});

test("copies of every length and offset move exactly the range", () => {
  const from = Uint8Array.from(ALL);
  const fromView = new DataView(from.buffer);
  for (let length = 0; length <= 80; length++) {
    for (let shift = 0; shift < 4; shift++) {
      const expected = new Uint8Array(96);
      expected.set(from.subarray(100 + shift, 100 + shift + length), 7);
      const bytes = new Uint8Array(new SharedArrayBuffer(96));
      assert.equal(copyShort(bytes, 7, from, 100 + shift, 100 + shift + length), 7 + length);
      assert.deepEqual(Uint8Array.from(bytes), expected);
      const words = new DataView(new SharedArrayBuffer(96));
      copyWords(words, 7, fromView, 100 + shift, length);
      assert.deepEqual(new Uint8Array(words.buffer).slice(), expected);
    }
  }
});

test("long copies move exactly the range however its ends are aligned", () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7) >>> 3);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  for (const length of [0, 1, 255, 256, 257, 1000, 65535, 65536, 65537, 140_001]) {
    for (let shift = 0; shift < 64; shift += 9) {
      const start = 100 + (shift & 7);
      const at = 40 + (shift >> 3);
      for (const from of [bytes.subarray(3), shared]) {
        const expected = from.slice(start, start + length);
        const to = new Uint8Array(new SharedArrayBuffer(bytes.length));
        copyLong(to, at, from, start, length);
        assert.deepEqual(to.slice(at, at + length), expected);
        assert.equal(to[at - 1], 0);
        assert.ok(to.subarray(at + length).every((byte) => byte === 0));
      }
    }
  }
});

test("decimals: all small numbers, all powers of ten and two and their neighbours, both signs", () => {
  const numbers = Array.from({ length: 20_001 }, (_, i) => i);
  for (let power = 1; power <= 2 ** 53; power *= 2) numbers.push(power - 1, power, power + 1);
  for (let power = 1; power <= 1e15; power *= 10) numbers.push(power - 1, power, power + 1);
  const random = new Random("decimal");
  for (let i = 0; i < 5000; i++) numbers.push(random.below(2 ** (1 + random.below(53))));
  const buf = new Uint8Array(32);
  for (const n of numbers) {
    if (n > Number.MAX_SAFE_INTEGER) continue;
    for (const signed of [n, 0 - n]) {
      buf.fill(120);
      const end = writeDecimal(buf, 3, signed);
      assert.equal(latin1(buf, 0, 32), `xxx${signed}`.padEnd(32, "x"));
      assert.equal(end, 3 + String(signed).length);
    }
    assert.equal(decimalDigits(n), String(n).length);
  }
});

test("latin1 text survives a round trip at every length, in shared memory too", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(300));
  for (let length = 0; length <= 256; length++) {
    const text = ALL_TEXT.slice(256 - length);
    shared.fill(0);
    assert.equal(writeLatin1(shared, 5, text), 5 + length);
    assert.equal(latin1(shared, 5, 5 + length), text);
    assert.equal(shared[5 + length], 0);
    assert.deepEqual(latin1Bytes(text), ALL.slice(256 - length));
  }
  assert.deepEqual(latin1Bytes("\u{101}".repeat(3)), Uint8Array.of(1, 1, 1));
  assert.deepEqual(latin1Bytes("\u{101}".repeat(30)), new Uint8Array(30).fill(1));
});

test("hexadecimal, and the digits of either case", () => {
  const text = Buffer.from(ALL).toString("hex");
  assert.equal(toHex(ALL, 0, 256), text);
  assert.equal(toHex(ALL, 254, 256), "feff");
  for (let code = 0; code < 256; code++) {
    const digit = Number.parseInt(String.fromCharCode(code), 16);
    assert.equal(hexDigit(code), Number.isNaN(digit) ? -1 : digit);
  }
});
