import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "./random.ts";
import { halfSipHash13 } from "./siphash.ts";

/** Published vectors of HalfSipHash-1-3: key 00 01 .. 07, message i is the bytes 00 .. i-1. */
const VECTORS = `
  5814c896 e7e864ca bc4b0e30 01539939 7e059ea6 88e3d89b a0080b65 9d38d9d6
  577999b1 c839caed e4fa32cf 959246ee 6b28096c 66dd9cd6 16658a7c d0257b04
  8b31d501 2b1cd04b 06712339 522aca67 911bb605 90a65f0e f826ef7b 62512deb
  57150ad7 5d473507 1ec47442 ab64afd3 0a4100d0 6d2ce652 2331b6a3 08d8791a
  bc6dda8d e0f6c934 b0652033 9b9851cc 7c46fb7f 732ba8cb f142997a fcc9aa1b
  05327eb2 e110131c f9e5e7c0 a7d708a6 11795ab1 65671619 9f5fff91 d89c5267
  007783eb 95766243 ab639262 9c7e1390 c368dda6 38ddc455 fa13d379 979ea4e8
  53ecd77e 2ee80657 33dbb66a ae3f0577 88b4c4cc 3e7f480b 74c1ebf8 87178304`
  .trim()
  .split(/\s+/);

test("the published vectors, at every alignment, in private and shared memory", () => {
  for (const memory of [new ArrayBuffer(80), new SharedArrayBuffer(80)]) {
    const buf = new Uint8Array(memory);
    const view = new DataView(memory);
    for (let shift = 0; shift < 8; shift++) {
      for (let i = 0; i < 64; i++) buf[shift + i] = i;
      VECTORS.forEach((hex, length) => {
        const end = shift + length;
        const hash = halfSipHash13(0x03020100, 0x07060504, view, shift, end);
        assert.equal(hash, Number.parseInt(hex, 16) | 0, `shift ${shift}, length ${length}`);
      });
    }
  }
});

test("keys may be given signed or unsigned", () => {
  const view = new DataView(Uint8Array.of(1, 2, 3, 4, 5, 6, 7).buffer);
  const signed = halfSipHash13(-1, -2, view, 0, 7);
  assert.equal(halfSipHash13(0xffffffff, 0xfffffffe, view, 0, 7), signed);
  assert.equal(signed, signed | 0);
});

test("every bit of the message and of the key moves about half of the result", () => {
  const random = new Random(0x51b);
  const message = random.bytes(19);
  const view = new DataView(message.buffer);
  const flips = (a: number, b: number): number => {
    let count = 0;
    for (let x = a ^ b; x !== 0; x &= x - 1) count++;
    return count;
  };
  const base = halfSipHash13(11, 22, view, 0, 19);
  let total = 0;
  for (let bit = 0; bit < 19 * 8; bit++) {
    message[bit >> 3]! ^= 1 << (bit & 7);
    total += flips(base, halfSipHash13(11, 22, view, 0, 19));
    message[bit >> 3]! ^= 1 << (bit & 7);
  }
  for (let bit = 0; bit < 32; bit++) {
    total += flips(base, halfSipHash13(11 ^ (1 << bit), 22, view, 0, 19));
    total += flips(base, halfSipHash13(11, 22 ^ (1 << bit), view, 0, 19));
  }
  const mean = total / (19 * 8 + 64);
  assert.ok(mean > 14.5 && mean < 17.5, `mean of ${mean} bits`);
});
