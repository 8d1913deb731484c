import assert from "node:assert/strict";
import { test } from "node:test";
import * as limits from "./limits.ts";

const powerOfTwo = (n: number): boolean => n > 0 && (n & (n - 1)) === 0;

test("a slot's shard is a shift: slots and shards are powers of two, and every shard has a slot", () => {
  assert.ok(powerOfTwo(limits.SLOTS));
  assert.ok(powerOfTwo(limits.SHARDS_MAX));
  assert.ok(powerOfTwo(limits.SHARDS_MIN) && limits.SLOTS / limits.SHARDS_MIN <= 4096);
  assert.ok(limits.SHARDS_MAX <= limits.SLOTS);
  assert.ok(limits.SLOTS * limits.SHARDS_MAX <= 2 ** 31 - 1, "slot * shards stays an int32");
});

test("a chunk is addressed by 27 bits of units and its byte indices stay below 2^31", () => {
  assert.equal(limits.CHUNK_BYTES_MAX / limits.UNIT_BYTES, 2 ** 27);
  assert.ok(limits.CHUNK_BYTES_MAX < 2 ** 31);
  assert.equal(limits.CHUNKS_MAX * 2 ** 27, 2 ** 32);
  assert.equal(limits.CHUNK_BYTES_MAX % limits.CHUNK_BYTES_MIN, 0);
  assert.equal(limits.CHUNK_BYTES_MIN % limits.SPAN_BYTES, 0);
});

test("every thread can have its share of the shards, and an owner for each slot range", () => {
  assert.ok(powerOfTwo(limits.SHARDS_PER_THREAD) && powerOfTwo(limits.SHARDS_AUTO_MIN));
  assert.ok(limits.SHARDS_AUTO_MIN <= limits.SHARDS_MAX);
  assert.ok(limits.OWNERS_MAX <= limits.SLOTS);
  assert.ok(limits.CLUSTER_PORT_OFFSET > limits.OWNERS_MAX, "the bus never meets the owners");
});
