import assert from "node:assert/strict";
import { test } from "node:test";
import { FAMILIES, FAMILY_BITS_MAX, type Family } from "./collisions.ts";
import { Random, seedText, testSeed } from "./random.ts";

const BITS = 12;

function bytesOf(family: Family, n: number, bits: number): Buffer {
  return Buffer.from(family.key(n, bits), "latin1");
}

for (const family of FAMILIES) {
  test(`keys collide under ${family.name}, though they all differ`, () => {
    const seed = testSeed(31);
    const random = new Random(seed);
    const keys = Array.from({ length: 2 ** BITS }, (_, n) => bytesOf(family, n, BITS));
    assert.equal(new Set(keys.map((key) => key.toString("latin1"))).size, keys.length);
    assert.equal(new Set(keys.map((key) => key.length)).size, 1);
    for (let i = 0; i < 8; i++) {
      const hashSeed = random.u32() | 0;
      const hashes = new Set(keys.map((key) => family.hash(key, hashSeed)));
      assert.equal(hashes.size, 1, seedText(seed));
    }
    const long = [0, 1, 2 ** FAMILY_BITS_MAX - 1, random.below(2 ** FAMILY_BITS_MAX)];
    const hashes = long.map((n) => family.hash(bytesOf(family, n, FAMILY_BITS_MAX), seed));
    assert.equal(new Set(hashes).size, 1, seedText(seed));
    const one = bytesOf(family, 0, BITS);
    const other = Buffer.from(one);
    other[3] = (other[3] as number) ^ 1;
    assert.notEqual(family.hash(one, 1), family.hash(other, 1), "it hashes nothing");
    assert.equal(family.isSeeded, family.hash(one, 1) !== family.hash(one, 2));
  });
}
