import assert from "node:assert/strict";
import { test } from "node:test";
import { crc16, keySlot } from "./crc16.ts";
import { Random } from "./random.ts";

const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));

/** Bit by bit, from the definition. */
function naiveCrc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let i = 0; i < 8; i++) crc = (crc << 1) ^ ((crc & 0x8000) !== 0 ? 0x11021 : 0);
  }
  return crc;
}

function naiveSlot(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open);
  return naiveCrc16(latin1(close > open + 1 ? key.slice(open + 1, close) : key)) % 16384;
}

test("the check value of CRC16-XMODEM", () => {
  assert.equal(crc16(latin1("123456789"), 0, 9), 0x31c3);
  assert.equal(crc16(latin1("xx123456789yy"), 2, 11), 0x31c3);
});

test("all messages of up to two bytes, and random ones up to 40, equal the bitwise sum", () => {
  assert.equal(crc16(new Uint8Array(0), 0, 0), 0);
  for (let a = 0; a < 256; a++) {
    assert.equal(crc16(Uint8Array.of(a), 0, 1), naiveCrc16(Uint8Array.of(a)));
    for (let b = 0; b < 256; b++) {
      const pair = Uint8Array.of(a, b);
      assert.equal(crc16(pair, 0, 2), naiveCrc16(pair));
    }
  }
  const random = new Random(16);
  for (let i = 0; i < 5000; i++) {
    const bytes = random.bytes(random.below(41));
    const start = random.below(bytes.length + 1);
    assert.equal(crc16(bytes, start, bytes.length), naiveCrc16(bytes.subarray(start)), `case ${i}`);
  }
});

test("slots of known keys", () => {
  const known: [string, number][] = [
    ["", 0],
    ["a", 15495],
    ["b", 3300],
    ["foo", 12182],
    ["bar", 5061],
    ["hello", 866],
    ["{user1000}.following", 3443],
    ["foo{}{bar}", 8363],
    ["foo{{bar}}zap", 4015],
    ["foo{bar}{zap}", 5061],
    ["{}abc", 5980],
    ["06S", 0],
    ["Qi", 1],
    ["foo{hash_tag}", 2515],
  ];
  for (const [key, slot] of known) assert.equal(keySlot(latin1(key), 0, key.length), slot, key);
});

test("every key of up to seven bytes over a, {, } has the slot of the rule", () => {
  for (let length = 0; length <= 7; length++) {
    for (let code = 0; code < 3 ** length; code++) {
      let key = "";
      for (let rest = code, i = 0; i < length; i++, rest = Math.floor(rest / 3)) {
        key += "a{}"[rest % 3]!;
      }
      const framed = latin1(`}{${key}{x}`);
      assert.equal(keySlot(framed, 2, 2 + length), naiveSlot(key), key);
    }
  }
});
