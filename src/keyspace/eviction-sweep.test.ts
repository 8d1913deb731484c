/** Sweeps remove all that has expired, by slices, and pause in proportion to what they cost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { freeLocks, keyStore } from "../types/keys/test-keys.ts";
import type { TestStore } from "../types/test-support.ts";
import { ExpirySweep, FRESH_MS } from "./eviction-sweep.ts";
import { isSwept } from "./expiry.ts";

function fill(t: TestStore, keys: number): void {
  for (let i = 0; i < keys; i++) {
    t.select(i % 2);
    t.call("SET", i % 3 === 0 ? `{s}${i}` : `k${i}`, "v", "PX", i % 4 === 0 ? "900000" : "700");
  }
}

function expired(t: TestStore): number {
  return t.store.stats.sum("expired_keys");
}

/** Steps until there is nothing to do. Returns how many. */
function sweepAll(sweep: ExpirySweep): number {
  let steps = 0;
  for (; !sweep.isDone; steps++) {
    assert.ok(steps < 10_000, "the sweep does not end");
    sweep.step();
  }
  return steps;
}

for (const shards of [1, 4, 64]) {
  test(`a round finds every expired key, those of the running second too: ${shards} shards`, () => {
    const t = keyStore({ shards });
    fill(t, 8000);
    t.advance(701);
    const sweep = new ExpirySweep(t.store, freeLocks(t.store));
    const steps = sweepAll(sweep);
    assert.equal(expired(t), 6000);
    assert.ok(steps >= 6000 / 64, `${steps} steps`);
    for (let shard = 0; shard < shards; shard++) assert.ok(isSwept(t.store, shard, FRESH_MS));
    t.check();
  });
}

test("after a round nothing is done until some time has passed, and then what is due by then", () => {
  const t = keyStore({ shards: 4 });
  fill(t, 400);
  const sweep = new ExpirySweep(t.store, freeLocks(t.store));
  sweepAll(sweep);
  assert.equal(expired(t), 0);
  t.advance(FRESH_MS - 1);
  assert.ok(sweep.isDone);
  t.advance(701);
  assert.ok(!sweep.isDone);
  sweepAll(sweep);
  assert.equal(expired(t), 300);
});

test("what one thread has swept another passes over", () => {
  const t = keyStore({ shards: 16 });
  fill(t, 800);
  t.advance(701);
  sweepAll(new ExpirySweep(t.store, freeLocks(t.store)));
  let locked = 0;
  const other = new ExpirySweep(t.store, {
    tryShard: () => {
      locked++;
      return true;
    },
  });
  sweepAll(other);
  assert.equal(locked, 0);
});

test("a shard that stays locked is passed over", () => {
  const t = keyStore({ shards: 4 });
  fill(t, 800);
  t.advance(701);
  const locks = freeLocks(t.store);
  const sweep = new ExpirySweep(t.store, {
    tryShard: (shard, run) => shard !== 2 && locks.tryShard(shard, run),
  });
  sweepAll(sweep);
  assert.ok(expired(t) > 0 && expired(t) < 600, `${expired(t)}`);
  assert.ok(!isSwept(t.store, 2, FRESH_MS));
});

test("ends though the clock was set back, and waits no longer than before", () => {
  for (const backMs of [500, 3_600_000]) {
    const t = keyStore({ shards: 4 });
    fill(t, 800);
    t.advance(-backMs);
    const sweep = new ExpirySweep(t.store, freeLocks(t.store));
    sweepAll(sweep);
    assert.equal(expired(t), 0);
    t.advance(-backMs - 3_600_000);
    assert.ok(!sweep.isDone);
    sweepAll(sweep);
    t.call("SET", "k", "v", "PX", "500");
    t.advance(501 + FRESH_MS);
    sweepAll(sweep);
    assert.equal(expired(t), 1, `set back by ${backMs}`);
    t.check();
  }
});
