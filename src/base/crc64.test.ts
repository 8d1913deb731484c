import assert from "node:assert/strict";
import { test } from "node:test";
import { latin1Bytes, toHex } from "./bytes.ts";
import { type Crc64, crc64, writeCrc64 } from "./crc64.ts";
import { Random } from "./random.ts";

const valueOf = (state: Crc64): bigint => (BigInt(state.hi >>> 0) << 32n) | BigInt(state.lo >>> 0);

/** Bit by bit, from the definition. */
function naiveCrc64(bytes: Uint8Array): bigint {
  let crc = 0n;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let i = 0; i < 8; i++) crc = (crc >> 1n) ^ ((crc & 1n) === 1n ? 0x95ac9329ac4bc9b5n : 0n);
  }
  return crc;
}

test("the check value of the Jones polynomial", () => {
  const state = { hi: 0, lo: 0 };
  crc64(latin1Bytes("123456789"), 0, 9, state);
  assert.equal(valueOf(state), 0xe9c6d914c4b8d9can);
});

test("DUMP payloads of a real server end with the sum of what precedes it", () => {
  const dumps = [
    "000568656c6c6f0b000aad620598abc983",
    "00c00a0b000740ea36f3318a32",
    "000a323134373438333634380b008e6e94d0b1829f67",
    "00c30928016161e01b000161610b00a6d692d953ba6a94",
    "120102171700000005008161020101c08002dfff02f270110104ff0b009b7cc4cfab33ee53",
    "1900d8c32cbb0300001f1f0000000600816602817602f400d8c32cbb030000098167028177020001ff0e003d1b3537211f66a1",
  ];
  for (const hex of dumps) {
    const bytes = Buffer.from(hex, "hex");
    const state = { hi: 0, lo: 0 };
    crc64(bytes, 0, bytes.length - 8, state);
    const sum = new Uint8Array(9);
    assert.equal(writeCrc64(state, sum, 1), 9);
    assert.equal(toHex(sum, 1, 9), hex.slice(-16));
  }
});

test("random ranges, whole or in parts, equal the bitwise sum", () => {
  const random = new Random(64);
  for (let i = 0; i < 1500; i++) {
    const bytes = random.bytes(random.below(60));
    const start = random.below(bytes.length + 1);
    const middle = start + random.below(bytes.length - start + 1);
    const whole = { hi: 0, lo: 0 };
    const parts = { hi: 0, lo: 0 };
    crc64(bytes, start, bytes.length, whole);
    crc64(bytes, start, middle, parts);
    crc64(bytes, middle, bytes.length, parts);
    assert.equal(valueOf(whole), naiveCrc64(bytes.subarray(start)), `case ${i}`);
    assert.deepEqual(parts, whole, `case ${i}`);
  }
});
