/** The expiry walk removes what is due, all of it, and does bounded work for it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { S_EXPIRY_CURSOR, shardRow } from "../memory/layout.ts";
import { keyStore } from "../types/keys/test-keys.ts";
import type { TestStore } from "../types/test-support.ts";
import { averageTimeToLive, expireSlice, isExpiryDue } from "./expiry.ts";

/** One tick: a slice of every shard. Returns how many were removed. */
function tick(t: TestStore, limit = 512): number {
  let removed = 0;
  for (let shard = 0; shard < t.store.shards; shard++) {
    t.store.enterShard(shard);
    removed += slice(t, shard, limit);
  }
  return removed;
}

/** One slice of a shard, as under a lock of its own. */
function slice(t: TestStore, shard: number, limit: number): number {
  const removed = expireSlice(t.store, shard, limit);
  t.heap.work.settle(true);
  return removed;
}

function keysLeft(t: TestStore): number {
  let keys = 0;
  for (const db of t.store.databases) {
    for (let shard = 0; shard < t.store.shards; shard++) keys += db.shardKeys(shard);
  }
  return keys;
}

for (const shards of [1, 4, 64]) {
  describe(`expiry with ${shards} shards`, () => {
    test("a few keys go with the first round after their time", () => {
      const t = keyStore({ shards, databases: 16 });
      for (const db of [0, 7, 15]) {
        t.select(db);
        for (let i = 0; i < 20; i++) t.call("SET", `k${i}`, "v", "PX", "500");
        t.call("SET", "stays", "v");
        t.call("SET", "later", "v", "PX", "60000");
      }
      t.takeEvents();
      t.advance(500);
      for (let n = 0; n < 20; n++) assert.equal(tick(t), 0);
      t.advance(1);
      let removed = 0;
      for (let n = 0; n < (shards === 1 ? 16 : 4); n++) removed += tick(t);
      assert.equal(removed, 60);
      assert.equal(t.takeEvents().filter((event) => event.startsWith("expired k")).length, 60);
      assert.equal(keysLeft(t), 6);
      t.check();
    });

    test("many keys go in slices of bounded work", () => {
      const seed = testSeed(99 + shards);
      const random = new Random(seed);
      const t = keyStore({ shards });
      const { table } = t.store;
      for (let i = 0; i < 12_000; i++) {
        const key = i % 2 === 0 ? `k${i}` : `{s}${i}`;
        t.call("SET", key, "v", "PX", `${1 + random.below(20_000)}`);
      }
      for (let i = 0; i < 2000; i++) t.call("SET", `{s}stays${i}`, "v");
      for (let ms = 0; ms < 22_000; ms += 100) {
        t.advance(100);
        for (let shard = 0; shard < shards; shard++) {
          table.work.elementsVisited = 0;
          t.store.enterShard(shard);
          const removed = expireSlice(t.store, shard, 100);
          assert.ok(removed <= 100);
          table.work.entriesMoved = 0;
          const visits = table.work.elementsVisited;
          assert.ok(visits <= 4096 + 512, `${visits} visits; ${seedText(seed)}`);
        }
      }
      for (let n = 0; n < 20; n++) tick(t);
      assert.equal(keysLeft(t), 2000);
      t.check();
    });
  });
}

test("a slice that removed its limit says that there may be more", () => {
  const t = keyStore({ shards: 1 });
  for (let i = 0; i < 1000; i++) t.call("SET", `{s}${i}`, "v", "PX", "10");
  t.advance(2000);
  const removals: number[] = [];
  for (;;) {
    t.store.enterShard(0);
    t.heap.work.settle(true);
    removals.push(expireSlice(t.store, 0, 30));
    if ((removals.at(-1) as number) < 30 && t.heap.work.mayRemove) break;
  }
  assert.equal(
    removals.reduce((sum, n) => sum + n, 0),
    1000,
  );
  assert.equal(keysLeft(t), 0);
  assert.ok(removals.filter((n) => n === 30).length > 20);
  t.check();
});

for (const keys of [500, 10_000]) {
  test(`of ${keys} keys in one slot a slice moves no more than 512 entries`, () => {
    const t = keyStore({ shards: 1 });
    for (let i = 0; i < keys; i++) t.call("SET", `{s}${i}`, "v", "PX", "10");
    t.advance(2000);
    const { work } = t.heap;
    work.settle(false);
    work.clear();
    let slices = 0;
    for (let removed = 0; removed < keys; slices++) {
      t.store.enterShard(0);
      const before = removed;
      removed += slice(t, 0, 512);
      assert.ok(removed > before, `nothing removed after ${removed} keys`);
    }
    assert.ok(slices < keys / 40, `${slices} slices`);
    assert.ok(work.entriesMovedMax > 100 && work.entriesMovedMax <= 512, `${work.entriesMovedMax}`);
    t.check();
  });
}

test("with many keys in the slot of a tag the walk goes on where it stopped", () => {
  const t = keyStore({ shards: 1 });
  for (let i = 0; i < 20_000; i++) {
    t.call("SET", `{s}${i}`, "v", "PX", i % 40 === 0 ? "1500" : "900000");
  }
  t.advance(3000);
  let slices = 0;
  let stops = 0;
  let removed = 0;
  for (; removed < 500 && slices < 100; slices++) {
    removed += tick(t);
    const place = t.heap.control[shardRow(0) + S_EXPIRY_CURSOR] as number;
    if ((place & 0x7f) !== 0) stops++;
  }
  assert.equal(removed, 500);
  assert.ok(stops > 2, `stopped ${stops} times within the slot`);
  assert.ok(slices > 4, `${slices} slices`);
  t.check();
});

test("the average time to live is near the truth", () => {
  const t = keyStore({ shards: 4 });
  assert.equal(averageTimeToLive(t.db), 0);
  for (let i = 0; i < 4000; i++) t.call("SET", `k${i}`, "v", "PX", `${50_000 + (i % 100) * 1000}`);
  for (let i = 0; i < 4000; i++) t.call("SET", `plain${i}`, "v");
  for (let n = 0; n < 300; n++) tick(t);
  const average = averageTimeToLive(t.db);
  assert.ok(average > 85_000 && average < 115_000, `${average}`);
  for (let i = 0; i < 4000; i++) t.call("PERSIST", `k${i}`);
  for (let n = 0; n < 4; n++) tick(t);
  assert.equal(averageTimeToLive(t.db), 0);
  t.call("SET", "only", "v", "PX", "9223370000000000000");
  for (let n = 0; n < 4; n++) tick(t);
  assert.ok(averageTimeToLive(t.db) > 2 ** 60);
});

/** As a thread does: walks shards that are due. Returns how many slices that took. */
function dueSlices(t: TestStore): number {
  let slices = 0;
  for (let shard = 0; shard < t.store.shards; shard++) {
    if (!isExpiryDue(t.store, shard)) continue;
    t.store.enterShard(shard);
    slice(t, shard, 512);
    slices++;
  }
  return slices;
}

for (const shards of [1, 16]) {
  for (const keys of [100, 20_000]) {
    test(`${shards} shards whose ${keys} keys are not due are walked once a second`, () => {
      const t = keyStore({ shards, databases: 4 });
      t.select(2);
      for (let i = 0; i < keys; i++) t.call("SET", `k${i}`, "v", "PX", `${3_600_000 + i}`);
      for (let n = 0; n < 50; n++) dueSlices(t);
      let slices = 0;
      for (let ms = 0; ms < 10_000; ms += 2) {
        t.advance(2);
        slices += dueSlices(t);
      }
      // A round over 16,384 slots, and as many segments, takes a few slices.
      const round = shards === 1 ? 10 : shards;
      assert.ok(slices >= 10 * shards && slices <= 11 * round, `${slices} slices`);
      t.check();
    });
  }
}

test("a key that is due before all others goes with the first tick after its time", () => {
  const seed = testSeed(7);
  const random = new Random(seed);
  for (const others of [0, 50, 4000]) {
    const t = keyStore({ shards: 4, databases: 3 });
    for (let i = 0; i < others; i++) t.call("SET", `other${i}`, "v", "EX", "5000");
    for (let n = 0; n < 30; n++) dueSlices(t);
    // With many keys the walk waits for the end of the second.
    const late = others > 256 * 4 ? 1000 : 0;
    for (let i = 0; i < 60; i++) {
      t.select(random.below(3));
      const ms = 1 + random.below(3000);
      t.call("SET", "k", "v");
      if (random.below(2) === 0) t.call("PEXPIRE", "k", `${ms}`);
      else t.call("SET", "k", "w", "PX", `${ms}`);
      const before = keysLeft(t);
      for (let passed = 0; passed <= ms + late; passed += 50) {
        dueSlices(t);
        t.advance(50);
        if (passed + 50 <= ms) assert.equal(keysLeft(t), before);
      }
      for (let n = 0; n < 3; n++) dueSlices(t);
      assert.equal(keysLeft(t), before - 1, `after ${ms} ms beside ${others}; ${seedText(seed)}`);
    }
    t.check();
  }
});
