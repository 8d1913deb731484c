import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { Random } from "../base/random.ts";
import { BIG_BLOCK_LOOSE, makeBigBlock } from "../keyspace/big-block.ts";
import { freeGarbageSlice } from "../keyspace/garbage.ts";
import {
  CHUNK_FREE,
  CHUNK_ROWS_AT,
  CHUNK_SHIFT,
  DATABASES_AT,
  DB_ROOTS,
  H_FREE_SPANS,
  H_LARGE_UNITS,
  H_SPANS_USED,
  P_FREE_HEAD,
  P_USED,
  PAGE_UNIT_SHIFT,
  pageRow,
  S_CLASS_LISTS,
  S_SPANS,
  S_UNITS_USED,
  shardRow,
  UNIT_MASK,
} from "../memory/layout.ts";
import { eachRecord, eachSegment, segmentFacts } from "../structures/table-walks.ts";
import { KEY_COMMANDS } from "../types/keys/commands.ts";
import { STRING_COMMANDS } from "../types/string/commands.ts";
import { TestStore } from "../types/test-support.ts";
import { checkHeap } from "./heap-check.ts";

const COMMANDS = [...STRING_COMMANDS, ...KEY_COMMANDS];
const SEED = Number(process.env["ZEROHOP_TEST_SEED"] ?? 20261130);
const SLOTS = 16384;

function newStore(checked = true): TestStore {
  return new TestStore({ commands: COMMANDS, shards: 4, checked });
}

/** Records by where their database keeps them. */
function records(t: TestStore): number[] {
  const found: number[] = [];
  for (let slot = 0; slot < SLOTS; slot++) {
    eachRecord(t.store.table, t.db.rootOf(slot), (p) => found.push(p));
  }
  return found;
}

function firstRecord(t: TestStore): number {
  return records(t)[0] as number;
}

function words(t: TestStore, p: number): { m: Int32Array; at: number } {
  return { m: t.heap.i32[p >>> CHUNK_SHIFT] as Int32Array, at: (p & UNIT_MASK) << 1 };
}

function found(t: TestStore, wanted: RegExp): void {
  const lines = checkHeap(t.store);
  assert.ok(
    lines.some((line) => wanted.test(line)),
    `${wanted} is not in\n${lines.join("\n")}`,
  );
}

describe("a sound heap", () => {
  test("is sound when empty, and after every kind of change", () => {
    const t = newStore();
    assert.deepEqual(checkHeap(t.store), []);
    const random = new Random(SEED);
    const key = (): string => `key:${random.below(400)}`;
    const length = (): number => {
      const kind = random.below(20);
      return kind === 0 ? 70_000 + random.below(9000) : random.below(kind < 4 ? 6000 : 60);
    };
    for (let round = 0; round < 40; round++) {
      for (let n = 0; n < 60; n++) {
        switch (random.below(9)) {
          case 0:
            t.call("DEL", key());
            break;
          case 1:
            t.call("RENAME", key(), key());
            break;
          case 2:
            t.call("COPY", key(), key(), "REPLACE");
            break;
          case 3:
            t.call("EXPIRE", key(), String(random.below(3) - 1));
            break;
          case 4:
            t.call("APPEND", key(), "y".repeat(length()));
            break;
          case 5:
            t.call("SET", key(), String(random.u32()));
            break;
          default:
            t.call("SET", key(), "x".repeat(length()));
        }
      }
      if (random.below(8) === 0) t.advance(500);
      if (random.below(12) === 0) t.call(random.below(2) === 0 ? "FLUSHALL" : "FLUSHDB");
      if (random.below(3) === 0) freeGarbageSlice(t.store, ALL_LOCKS, 50);
      assert.deepEqual(checkHeap(t.store), [], `seed ${SEED}, round ${round}`);
    }
  });

  test("is sound with tables that are split, and while those are taken apart", () => {
    const t = newStore();
    for (let i = 0; i < 3000; i++) t.call("SET", `{one}${i}`, "v");
    assert.deepEqual(checkHeap(t.store), []);
    t.call("FLUSHALL");
    for (let n = 0; n < 40; n++) {
      assert.deepEqual(checkHeap(t.store), [], `after ${n} slices`);
      freeGarbageSlice(t.store, ALL_LOCKS, 97);
    }
    assert.equal(t.heap.control[H_LARGE_UNITS], 0);
    assert.deepEqual(checkHeap(t.store), []);
  });

  test("has blocks of requests and of replies that nothing points to", () => {
    const t = newStore();
    const request = makeBigBlock(t.heap, 100_000);
    t.call("SET", "big", "x".repeat(100_000));
    t.holdReplies = true;
    t.call("GET", "big");
    t.call("DEL", "big");
    assert.deepEqual(checkHeap(t.store), []);
    t.releaseReplies();
    t.heap.freeLarge(request);
    assert.deepEqual(checkHeap(t.store), []);
  });
});

const ALL_LOCKS = {
  tryShard(_shard: number, run: () => void): boolean {
    run();
    return true;
  },
};

describe("damage", () => {
  let t: TestStore;

  beforeEach(() => {
    t = newStore(false);
    for (let i = 0; i < 200; i++) t.call("SET", `key:${i}`, "x".repeat(i % 40), "EX", "1000");
    for (let i = 0; i < 200; i += 3) t.call("DEL", `key:${i}`);
    t.call("SET", "big", "x".repeat(100_000));
    t.call("SET", "n", "123456");
    assert.deepEqual(checkHeap(t.store), []);
  });

  test("a block that nothing points to", () => {
    t.heap.alloc(0, 7);
    found(t, /^block 0x\w+ of shard 0 is in use and nothing points to it$/);
    t.heap.alloc(1, 5000);
    found(t, /^block 0x\w+ of shard 1 is in use and nothing points to it$/);
  });

  test("a large block that nothing points to", () => {
    t.heap.allocLarge(20_000);
    found(t, /^large block 0x\w+ is in use and nothing points to it$/);
  });

  test("a record that is free all the same", () => {
    const p = firstRecord(t);
    const { m } = words(t, p);
    t.heap.free((m[pageRow(p >>> PAGE_UNIT_SHIFT)] as number) >>> 16, p);
    found(t, /(is free and something points to it|where no block starts)$/);
  });

  test("a key that changed, and so is in the wrong table", () => {
    const p = firstRecord(t);
    t.db.bytesOf(p)[t.db.keyAt(p)]! ^= 1;
    found(t, /belongs to slot \d+$/);
  });

  test("a record that its hash does not lead to", () => {
    const other = newStore(false);
    for (let i = 0; i < 60; i++) other.call("SET", `{one}${i}`, "v");
    const p = firstRecord(other);
    // Same slot, another key.
    const u8 = other.db.bytesOf(p);
    u8[other.db.keyAt(p) + 5] = 120;
    found(other, /is not found by its key$/);
  });

  test("a kind that there is not, and lengths that do not fit", () => {
    const p = firstRecord(t);
    const { m, at } = words(t, p);
    const head = m[at] as number;
    m[at] = head | 31;
    found(t, /has kind 31$/);
    m[at] = head + (60 << 16);
    found(t, /needs \d+ units and has \d+$/);
    m[at] = head;
    assert.deepEqual(checkHeap(t.store), []);
  });

  test("two records for one entry", () => {
    for (let i = 0; i < 3; i++) t.call("SET", `{one}${i}`, "v");
    let segment = 0;
    for (let slot = 0; slot < SLOTS; slot++) {
      eachSegment(t.store.table, t.db.rootOf(slot), (one) => {
        if (segmentFacts(t.store.table, one).count >= 2) segment = one;
      });
    }
    const { m, at } = words(t, segment);
    m[at + 2] = m[at + 3] as number;
    found(t, /which something else points to$/);
  });

  test("counts of keys, of expiring ones and of bytes", () => {
    const roots = t.heap.control[DATABASES_AT + DB_ROOTS] as number;
    const { m, at } = words(t, roots);
    m[at + SLOTS]! += 1;
    found(t, /^db 0 slot 0 bytes: 8 counted, 0 found$/);
    m[at + SLOTS]! -= 1;
    m[at + 2 * SLOTS]! += 1;
    found(t, /^db 0 shard 0 keys: \d+ counted, \d+ found$/);
    m[at + 2 * SLOTS]! -= 1;
    m[at + 2 * SLOTS + 1]! -= 1;
    found(t, /^db 0 shard 0 expires: \d+ counted, \d+ found$/);
  });

  test("an expiry before its segment's earliest", () => {
    const p = records(t).find((one) => t.db.expiryOf(one) !== 0) as number;
    t.db.viewOf(p).setFloat64(((p & UNIT_MASK) << 3) + 7, t.clock.unixMs - 500_000, true);
    found(t, /expires before its segment's earliest$/);
  });

  test("an expiry that the walk would come too late for", () => {
    const p = records(t).find((one) => t.db.expiryOf(one) !== 0) as number;
    const expiry = t.db.expiryOf(p);
    for (let shard = 0; shard < t.store.shards; shard++) t.store.setExpiryDue(shard, expiry + 1000);
    assert.deepEqual(checkHeap(t.store), []);
    for (let shard = 0; shard < t.store.shards; shard++) t.store.setExpiryDue(shard, expiry + 1001);
    found(t, /: the expiry walk comes too late for record 0x\w+$/);
  });

  test("a big string's block that does not know of it, or is too short", () => {
    const p = records(t).find((one) => t.db.valueLength(one) > 65536) as number;
    const block = t.db.bigBlockOf(p);
    const { m, at } = words(t, block);
    m[at + BIG_BLOCK_LOOSE] = 1;
    found(t, /has a block that does not know of it$/);
    m[at + BIG_BLOCK_LOOSE] = 0;
    t.db.setBigLength(p, 200_000);
    found(t, /is longer than its block$/);
  });

  test("the allocator's counters", () => {
    const { control } = t.heap;
    const counters: [index: number, line: RegExp][] = [
      [shardRow(1) + S_UNITS_USED, /^units used in slabs of shards: /],
      [shardRow(1) + S_SPANS, /^spans of shard 1: /],
      [H_LARGE_UNITS, /^units in large blocks: /],
      [H_SPANS_USED, /^spans handed out: /],
      [H_FREE_SPANS, /^free spans: /],
      [CHUNK_ROWS_AT + CHUNK_FREE, /^free spans of chunk 0: /],
    ];
    for (const [index, line] of counters) {
      control[index]! += 1;
      found(t, line);
      control[index]! -= 1;
    }
    assert.deepEqual(checkHeap(t.store), []);
  });

  test("free lists, counts and lists of pages", () => {
    const { control } = t.heap;
    const row = shardRow(0) + S_CLASS_LISTS;
    let cls = 0;
    while (control[row + cls] === 0) cls++;
    const page = control[row + cls] as number;
    const m = t.heap.i32[0] as Int32Array;
    const at = pageRow(page);
    m[at + P_USED]! += 1;
    found(t, /^blocks used in slab 0x\w+: /);
    m[at + P_USED]! -= 1;
    const head = m[at + P_FREE_HEAD] as number;
    m[at + P_FREE_HEAD] = 1024;
    found(t, /^the free list of slab 0x\w+ has unit 1023$/);
    m[at + P_FREE_HEAD] = head;
    control[row + cls] = 0;
    found(t, /^slab 0x\w+ has free blocks and is in no list$/);
    control[row + cls] = page;
    assert.deepEqual(checkHeap(t.store), []);
  });

  test("a root that leads nowhere does not stop the check", () => {
    const roots = t.heap.control[DATABASES_AT + DB_ROOTS] as number;
    const { m, at } = words(t, roots);
    m[at + 100] = 0x7ffffff0 | 0;
    m[at + 101] = -5;
    found(t, /^db 0 slot 100: its root is 0x7ffffff0$/);
    found(t, /^db 0 slot 101: its root is 0xfffffffb$/);
  });

  test("more lines than anybody reads are counted", () => {
    for (let i = 0; i < 150; i++) t.heap.alloc(2, 9);
    const lines = checkHeap(t.store);
    assert.equal(lines.length, 101);
    assert.match(lines[100] ?? "", /^\d+ more$/);
  });
});
