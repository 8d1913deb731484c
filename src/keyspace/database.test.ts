/** What only shows with two threads, or with memory that comes and goes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_SHIFT, H_SPANS_USED } from "../memory/layout.ts";
import { WRONGTYPE } from "../protocol/errors.ts";
import { TYPE_MASK } from "../structures/record.ts";
import { dismantle, eachRecord } from "../structures/table-walks.ts";
import { STRING_COMMANDS } from "../types/string/commands.ts";
import { bulk, error, NIL, OK, TestStore } from "../types/test-support.ts";
import type { Database } from "./database.ts";
import { freeRoots } from "./roots.ts";
import { SET_BACK_MS } from "./store.ts";

const MIB = 1024 * 1024;

/** Frees all that a database had, as the walk over the garbage does. */
function empty(t: TestStore, db: Database): void {
  const { store } = t;
  const pointer = db.detachRoots();
  const cells = store.heap.i32[pointer >>> CHUNK_SHIFT] as Int32Array;
  const base = (pointer & 0x7ffffff) << 1;
  for (let slot = 0; slot < 16384; slot++) {
    const shard = store.shardOf(slot);
    dismantle(store.table, shard, cells, base + slot, 1e9, (p) => db.freeRecord(shard, p));
  }
  freeRoots(store.heap, pointer);
  for (let shard = 0; shard < store.shards; shard++) store.heap.trim(shard);
}

test("a thread sees the keys of a database whose roots another thread made", () => {
  const a = new TestStore({ commands: STRING_COMMANDS, shards: 4 });
  const b = new TestStore({ commands: STRING_COMMANDS, beside: a });
  assert.equal(b.call("GET", "k"), NIL);
  assert.equal(a.call("SET", "k", "v"), OK);
  assert.equal(b.call("GET", "k"), bulk("v"));
  assert.equal(b.call("SET", "other", "w"), OK);
  assert.equal(a.call("GET", "other"), bulk("w"));
  a.check();
});

test("threads write to shards of their own while chunks come", () => {
  const a = new TestStore({ commands: STRING_COMMANDS, shards: 4, chunkBytes: 4 * MIB });
  const b = new TestStore({ commands: STRING_COMMANDS, beside: a });
  const value = "v".repeat(30_000);
  for (let i = 0; i < 400; i++) {
    const [first, second] = i % 2 === 0 ? [a, b] : [b, a];
    assert.equal(first.call("SET", `{a}${i}`, value), OK);
    assert.equal(second.call("SET", `{b}${i}`, value), OK);
  }
  a.heap.pool.sync();
  a.check();
  assert.equal(a.call("GET", "{b}399"), bulk(value));
});

test("roots that come again at the same place of a new chunk are taken for what they are", () => {
  const chunkBytes = 128 * MIB;
  const a = new TestStore({ commands: STRING_COMMANDS, chunkBytes, checked: false });
  const b = new TestStore({ commands: STRING_COMMANDS, beside: a, checked: false });
  // The first chunk is full of large blocks, so that the roots are in the second.
  const fill = (): number[] => {
    const blocks: number[] = [];
    while (a.heap.u8[1]?.length === 0) blocks.push(a.heap.allocLarge(8193));
    return blocks;
  };
  const blocks = fill();
  assert.equal(a.call("SET", "k", "old"), OK);
  assert.equal(b.call("GET", "k"), bulk("old"));
  const before = a.db.rootOf(0);
  // One block keeps the first chunk.
  for (const p of blocks.slice(1)) a.heap.freeLarge(p);
  empty(a, a.db);
  assert.equal(a.heap.control[H_SPANS_USED], 2);
  assert.equal(a.heap.u8[1]?.length, 0, "the second chunk is gone");
  fill();
  assert.equal(a.call("SET", "k", "new"), OK);
  assert.equal(a.db.rootOf(0), before);
  assert.equal(b.call("GET", "k"), bulk("new"));
});

test("freeing the records of a flushed database leaves the counts of the new one alone", () => {
  const t = new TestStore({ commands: STRING_COMMANDS });
  const big = "b".repeat(100_000);
  t.call("SET", "k", big);
  const { db, store } = t;
  const pointer = db.detachRoots();
  t.call("SET", "k", big);
  const slot = 7629;
  const bytes = db.slotBytes(slot);
  assert.ok(bytes > 100_000);
  const cells = store.heap.i32[pointer >>> CHUNK_SHIFT] as Int32Array;
  const cell = ((pointer & 0x7ffffff) << 1) + slot;
  dismantle(store.table, 0, cells, cell, 10, (p) => db.freeRecord(0, p));
  freeRoots(store.heap, pointer);
  assert.equal(db.slotBytes(slot), bytes);
  t.check();
});

test("bytes of a range of slots are those of its slots", () => {
  const t = new TestStore({ commands: STRING_COMMANDS });
  const { db } = t;
  assert.equal(db.slotRangeBytes(0, 16383), 0);
  for (let i = 0; i < 200; i++) t.call("SET", `key:${i}`, "x".repeat(i));
  for (const [first, last] of [
    [0, 16383],
    [0, 0],
    [16383, 16383],
    [100, 9000],
  ] as const) {
    let bytes = 0;
    for (let slot = first; slot <= last; slot++) bytes += db.slotBytes(slot);
    assert.equal(db.slotRangeBytes(first, last), bytes, `${first}-${last}`);
  }
  assert.ok(db.slotRangeBytes(0, 16383) > 20_000);
});

test("a key that expires is told of and counted as expired, but is no change", () => {
  const t = new TestStore({ commands: STRING_COMMANDS });
  t.call("SET", "k", "v", "PX", "10");
  assert.deepEqual(t.takeEvents(), ["set k", "expire k"]);
  assert.equal(t.store.stats.sum("dirty"), 1);
  t.advance(10);
  assert.equal(t.call("GET", "k"), bulk("v"));
  t.advance(1);
  assert.equal(t.call("GET", "k"), NIL);
  assert.deepEqual(t.takeEvents(), ["expired k"]);
  assert.equal(t.store.stats.sum("dirty"), 1);
  assert.equal(t.store.stats.sum("expired_keys"), 1);
  assert.equal(t.store.stats.sum("keyspace_hits"), 1);
  assert.equal(t.store.stats.sum("keyspace_misses"), 1);
  t.check();
});

test("the string commands refuse what is no string", () => {
  const t = new TestStore({ commands: STRING_COMMANDS });
  const wrong: string[][] = [
    ["GET", "k"],
    ["GETSET", "k", "v"],
    ["GETDEL", "k"],
    ["GETEX", "k"],
    ["GETEX", "k", "EX", "0"],
    ["SET", "k", "v", "GET"],
    ["SET", "k", "v", "NX", "GET"],
    ["STRLEN", "k"],
    ["GETRANGE", "k", "0", "1"],
    ["SUBSTR", "k", "0", "1"],
    ["APPEND", "k", ""],
    ["SETRANGE", "k", "0", ""],
    ["INCR", "k"],
    ["INCRBY", "k", "1"],
    ["INCRBYFLOAT", "k", "x"],
  ];
  t.call("SET", "k", "value");
  const slot = 7629;
  const p = firstRecord(t, slot);
  const m = t.heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
  const word = (p & 0x7ffffff) << 1;
  m[word] = ((m[word] as number) & ~TYPE_MASK) | 16;
  for (const words of wrong) assert.equal(t.call(...words), error(WRONGTYPE), words.join(" "));
  assert.equal(t.call("MGET", "k"), `*1\r\n${NIL}`);
  assert.equal(
    t.call("LCS", "k", "other"),
    error("ERR The specified keys must contain string values"),
  );
  assert.equal(t.call("SETNX", "k", "v"), ":0\r\n");
  assert.equal(t.call("SET", "k", "v"), OK);
  assert.equal(t.call("GET", "k"), bulk("v"));
});

function firstRecord(t: TestStore, slot: number): number {
  let found = 0;
  eachRecord(t.store.table, t.db.rootOf(slot), (p) => {
    found = p;
  });
  return found;
}

test("a command over several shards runs at the latest time any of them has seen", () => {
  const t = new TestStore({ shards: 4, commands: STRING_COMMANDS });
  const { store } = t;
  const start = store.now;
  t.advance(50);
  store.enterShard(1);
  t.advance(-40);
  store.enterShards(Int32Array.of(0, 1, 2), 3);
  assert.equal(store.now, start + 50);
  store.enterShard(2);
  assert.equal(store.now, start + 50, "a shard that took part does not go back");
  store.enterShard(3);
  assert.equal(store.now, start + 10);
});

test("a clock that was set back by more than a moment takes the shards with it", () => {
  const t = new TestStore({ shards: 4, commands: STRING_COMMANDS });
  const { store } = t;
  const start = store.now;
  const HOUR_MS = 3_600_000;
  const all = Int32Array.of(0, 1, 2, 3);
  t.advance(HOUR_MS);
  store.enterShards(all, 4);
  t.advance(-SET_BACK_MS);
  store.enterShard(1);
  assert.equal(store.now, start + HOUR_MS, "a moment is waited for");
  t.advance(SET_BACK_MS - HOUR_MS);
  store.enterShard(1);
  assert.equal(store.now, start);
  store.enterShards(all, 4);
  assert.equal(store.now, start);
  t.call("SET", "k", "v", "PX", "500");
  t.advance(501);
  assert.equal(t.call("GET", "k"), "$-1\r\n");
});

test("a thread that has not looked at the clock for long takes no time back", () => {
  const t = new TestStore({ shards: 4, commands: STRING_COMMANDS });
  const { store } = t;
  const start = store.now;
  t.advance(60_000);
  store.enterShard(1);
  // What this thread read last; the clock goes on.
  t.advance(-60_000);
  store.clock.refresh = () => {
    store.clock.unixMs = start + 60_000;
  };
  store.enterShard(1);
  assert.equal(store.now, start + 60_000);
});
