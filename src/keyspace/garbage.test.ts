/** Lazy freeing: everything comes back, in bounded slices, by several threads, beside new keys. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SPAN_BYTES } from "../limits.ts";
import {
  CHUNK_SHIFT,
  H_GARBAGE,
  H_GARBAGE_COUNT,
  H_GARBAGE_LOCK,
  H_LARGE_UNITS,
  H_SPANS_LIMIT,
  H_SPANS_USED,
  S_UNITS_USED,
  shardRow,
  UNIT_MASK,
} from "../memory/layout.ts";
import { release, tryAcquire } from "../memory/lock.ts";
import { eachOfSegment, eachSegment } from "../structures/table-walks.ts";
import { freeGarbage, freeLocks, keyStore } from "../types/keys/test-keys.ts";
import { OK, type TestStore } from "../types/test-support.ts";
import { disownGarbage, eachGarbage, freeGarbageSlice, type ShardLocks } from "./garbage.ts";
import { Store } from "./store.ts";

function fill(t: TestStore, keys: number): void {
  for (let i = 0; i < keys; i++) {
    const name = i % 2 === 0 ? `k${i}` : `{s}${i}`;
    t.call("SET", name, "v".repeat(i % 97), ...(i % 3 === 0 ? ["PX", "100000"] : []));
  }
  t.call("SET", "big", "b".repeat(300_000));
}

function unitsUsed(t: TestStore): number {
  const { control } = t.heap;
  let units = control[H_LARGE_UNITS] as number;
  for (let shard = 0; shard < t.store.shards; shard++) t.heap.drainRemoteFrees(shard);
  for (let shard = 0; shard < t.store.shards; shard++) {
    units += control[shardRow(shard) + S_UNITS_USED] as number;
  }
  return units;
}

test("a flush frees nothing itself, and slices free everything", () => {
  const t = keyStore({ shards: 4 });
  fill(t, 5000);
  const before = unitsUsed(t);
  assert.equal(t.call("FLUSHDB"), OK);
  assert.equal(unitsUsed(t), before);
  assert.equal(t.heap.control[H_GARBAGE_COUNT], 5001);
  // 5001 records and their block of roots.
  for (let left = 5002; left > 0; ) {
    const freed = freeGarbageSlice(t.store, freeLocks(t.store), 100);
    assert.equal(freed, Math.min(left, 100));
    left -= freed;
    assert.equal(t.heap.control[H_GARBAGE_COUNT], Math.max(left - 1, 0));
  }
  assert.equal(t.heap.control[H_GARBAGE], 0);
  assert.equal(unitsUsed(t), 0);
  assert.equal(t.store.stats.sum("lazyfreed_objects"), 5001);
  t.check();
});

test("a flush of few keys frees them and the roots itself", () => {
  const t = keyStore({ shards: 4 });
  for (let round = 0; round < 3; round++) {
    for (const db of [0, 1]) {
      t.select(db);
      fill(t, 511);
    }
    t.call("FLUSHDB");
    assert.equal(t.heap.control[H_GARBAGE], 0);
    fill(t, 300);
    t.call("FLUSHALL");
    // What FLUSHALL frees itself is limited as a whole.
    assert.notEqual(t.heap.control[H_GARBAGE], 0);
    assert.equal(t.heap.control[H_GARBAGE_COUNT], 301);
    freeGarbage(t.store);
    assert.equal(unitsUsed(t), 0);
    assert.equal(t.store.stats.sum("lazyfreed_objects"), (round + 1) * (512 + 301 + 512));
    t.check();
  }
});

test("roots without keys do not pile up", () => {
  const t = keyStore({ shards: 4 });
  for (let round = 0; round < 50; round++) {
    t.call("SET", "k", "v");
    t.call("DEL", "k");
    t.call("FLUSHALL");
    assert.equal(unitsUsed(t), 0);
  }
});

/** What threads do once a second. */
function trimAll(t: TestStore): void {
  for (let shard = 0; shard < t.store.shards; shard++) t.heap.trim(shard);
}

/** Sets keys as long as there is room, which garbage makes. Returns how many. */
function fillBesideGarbage(t: TestStore, name: string): number {
  // As much as the first key takes, for which there are roots to be made.
  const isShort = (): boolean => !t.heap.pool.reserve(6 * SPAN_BYTES);
  for (let n = 0; ; n++) {
    while (isShort() && freeGarbageSlice(t.store, freeLocks(t.store), 64) > 0);
    if (isShort()) return n;
    assert.equal(t.call("SET", `${name}:${n}`, "0123456789"), OK);
  }
}

test("what is set while the old is freed leaves as much room as there was before", () => {
  const t = keyStore({ shards: 4 });
  t.heap.control[H_SPANS_LIMIT] = 60;
  const first = fillBesideGarbage(t, "first");
  assert.ok(first > 50_000, `${first}`);
  for (const name of ["again", "third"]) {
    t.call("FLUSHALL");
    const count = fillBesideGarbage(t, name);
    assert.equal(t.heap.control[H_GARBAGE], 0);
    assert.ok(count > first * 0.97, `${count} keys after ${first}`);
    t.check();
    trimAll(t);
  }
  t.call("FLUSHALL");
  for (let n = 0; freeGarbageSlice(t.store, freeLocks(t.store), 100) > 0; n++) {
    t.call("SET", `beside:${n}`, "0123456789");
  }
  trimAll(t);
  // The roots, and a few spans of each shard.
  const spans = t.heap.control[H_SPANS_USED] as number;
  assert.ok(spans <= 4 + 4 * 3, `${spans} spans`);
  t.check();
});

test("at most 512 records are freed under one lock", () => {
  const t = keyStore({ shards: 2 });
  fill(t, 4000);
  t.call("FLUSHALL");
  let most = 0;
  const locks: ShardLocks = {
    tryShard(_shard, run) {
      const left = t.store.stats.sum("dirty");
      const before = countGarbage(t);
      run();
      most = Math.max(most, before - countGarbage(t));
      assert.equal(t.store.stats.sum("dirty"), left);
      return true;
    },
  };
  assert.equal(freeGarbageSlice(t.store, locks, 3000), 3000);
  assert.equal(most, 512);
  freeGarbage(t.store);
  t.check();
});

function countGarbage(t: TestStore): number {
  let count = 0;
  eachGarbage(t.store, (pointer) => {
    const cells = t.heap.i32[pointer >>> CHUNK_SHIFT] as Int32Array;
    for (let slot = 0; slot < 16384; slot++) {
      const root = cells[((pointer & UNIT_MASK) << 1) + slot] as number;
      eachSegment(t.store.table, root, (segment) => {
        eachOfSegment(t.store.table, segment, () => count++);
      });
    }
  });
  return count;
}

test("new keys live beside garbage, and several flushes wait at once", () => {
  const t = keyStore({ shards: 4 });
  for (let round = 0; round < 5; round++) {
    fill(t, 1000);
    freeGarbageSlice(t.store, freeLocks(t.store), 300);
    t.call(round % 2 === 0 ? "FLUSHDB" : "FLUSHALL");
  }
  fill(t, 1000);
  freeGarbage(t.store, 64);
  assert.equal(t.call("DBSIZE"), ":1001\r\n");
  t.check();
});

test("a locked shard is passed over, and its slots are freed later", () => {
  const t = keyStore({ shards: 4 });
  fill(t, 2000);
  t.call("FLUSHDB");
  const locked = new Set([1, 2]);
  const asked: number[] = [];
  const locks: ShardLocks = {
    tryShard(shard, run) {
      asked.push(shard);
      if (locked.has(shard)) return false;
      run();
      return true;
    },
  };
  let freed = 0;
  for (let n = freeGarbageSlice(t.store, locks, 500); n > 0; ) {
    freed += n;
    n = freeGarbageSlice(t.store, locks, 500);
  }
  assert.ok(freed > 0 && freed < 2001);
  assert.ok(asked.includes(3), "shards behind the locked ones were not reached");
  assert.notEqual(t.heap.control[H_GARBAGE], 0);
  locked.clear();
  while (t.heap.control[H_GARBAGE] !== 0) freed += freeGarbageSlice(t.store, locks, 500);
  assert.equal(freed, 2002);
  t.check();
});

test("two threads never work on one block", () => {
  const t = keyStore({ shards: 4 });
  const { heap, clock, random, stats } = t.store;
  const other = new Store({ heap, thread: 1, databases: 2, clock, random, stats });
  fill(t, 1500);
  t.call("FLUSHDB");
  fill(t, 1500);
  t.call("FLUSHDB");
  let inner = 0;
  let isInside = false;
  const locks: ShardLocks = {
    tryShard(_shard, run) {
      run();
      // While this thread is at one block, the other one gets the next, and a third gets none.
      if (!isInside) {
        isInside = true;
        inner += freeGarbageSlice(other, locks, 200);
        isInside = false;
      } else {
        assert.equal(freeGarbageSlice(t.store, locks, 200), 0);
      }
      return true;
    },
  };
  let outer = 0;
  while (t.heap.control[H_GARBAGE] !== 0) outer += freeGarbageSlice(t.store, locks, 200);
  // Records and the two blocks of roots.
  assert.equal(outer + inner, 3004);
  assert.ok(inner > 0);
  t.check();
});

test("while the list is locked nothing is waited for and nothing is lost", () => {
  const t = keyStore({ shards: 1 });
  fill(t, 600);
  t.call("FLUSHDB");
  const { control } = t.heap;
  assert.ok(tryAcquire(control, H_GARBAGE_LOCK, 5));
  assert.equal(freeGarbageSlice(t.store, freeLocks(t.store), 1000), 0);
  release(control, H_GARBAGE_LOCK);
  // Taken while the last slot is freed: the empty block stays for the next slice.
  const locks: ShardLocks = {
    tryShard(_shard, run) {
      run();
      tryAcquire(control, H_GARBAGE_LOCK, 5);
      return true;
    },
  };
  assert.equal(freeGarbageSlice(t.store, locks, 1000), 601);
  assert.notEqual(control[H_GARBAGE], 0);
  release(control, H_GARBAGE_LOCK);
  assert.equal(freeGarbageSlice(t.store, locks, 1000), 1);
  assert.equal(control[H_GARBAGE], 0);
  t.check();
});

test("what a thread that died was freeing is freed by others", () => {
  const t = keyStore({ shards: 4 });
  const other = keyStore({ shards: 4, beside: t });
  fill(t, 2000);
  t.call("FLUSHDB");
  const dies: ShardLocks = {
    tryShard: () => {
      throw new Error("dies");
    },
  };
  assert.throws(() => freeGarbageSlice(t.store, dies, 100), /dies/);
  assert.equal(freeGarbageSlice(other.store, freeLocks(other.store), 100), 0, "it is taken");
  assert.ok(disownGarbage(other.store, t.store.thread + 5), "not of this thread");
  assert.equal(freeGarbageSlice(other.store, freeLocks(other.store), 100), 0);
  tryAcquire(other.heap.control, H_GARBAGE_LOCK, 7);
  assert.equal(disownGarbage(other.store, t.store.thread), false, "the list is locked");
  release(other.heap.control, H_GARBAGE_LOCK);
  assert.ok(disownGarbage(other.store, t.store.thread));
  freeGarbage(other.store);
  assert.equal(unitsUsed(other), 0);
});
