import assert from "node:assert/strict";
import { test } from "node:test";
import { entropy, randomBytes, randomHex } from "./entropy.ts";

test("random bytes have the length asked for and do not repeat", () => {
  for (const count of [0, 1, 6, 20, 4096]) {
    assert.equal(randomBytes(count).length, count);
    assert.match(randomHex(count), new RegExp(`^[0-9a-f]{${2 * count}}$`));
  }
  const seen = new Set(Array.from({ length: 1000 }, () => randomHex(8)));
  assert.equal(seen.size, 1000);
});

test("numbers use all 32 bits and stay below their limit", () => {
  let ones = 0;
  let zeros = 0;
  for (let n = 0; n < 200; n++) {
    const word = entropy.u32();
    assert.ok(Number.isInteger(word) && word >= 0 && word < 2 ** 32);
    ones |= word;
    zeros |= ~word;
    const small = entropy.below(7);
    assert.ok(Number.isInteger(small) && small >= 0 && small < 7);
  }
  assert.equal(ones, -1);
  assert.equal(zeros, -1);
});
