import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { latin1Bytes } from "./bytes.ts";
import { Random } from "./random.ts";
import { sha1Hex } from "./sha1.ts";

test("the examples of the standard", () => {
  const cases = [
    ["", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
    ["abc", "a9993e364706816aba3e25717850c26c9cd0d89d"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
    ],
    ["a".repeat(1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"],
  ] as const;
  for (const [text, sum] of cases) assert.equal(sha1Hex(latin1Bytes(text)), sum);
});

test("every length around the block size, with random bytes", () => {
  const seed = 20;
  const random = new Random(seed);
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, () => random.below(256));
    const expected = createHash("sha1").update(bytes).digest("hex");
    assert.equal(sha1Hex(bytes), expected, `length ${length}, seed ${seed}`);
  }
});
