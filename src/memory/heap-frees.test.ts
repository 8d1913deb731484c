/**
 * What becomes of freed blocks: pages that go back, frees under another shard's lock, and the
 * quarantine of checked mode.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import type { Heap } from "./heap.ts";
import { MIB, newHeaps, unitsUsed } from "./heap-test-support.ts";
import {
  CHUNK_SHIFT,
  H_GARBAGE,
  H_LARGE_UNITS,
  H_SPANS_LIMIT,
  H_SPANS_USED,
  PAGE_UNITS,
  S_REMOTE_FREE,
  S_REMOTE_REST,
  S_SPANS,
  S_UNITS_USED,
  shardRow,
  UNIT_MASK,
} from "./layout.ts";
import {
  blockSize,
  CLASS_COUNT,
  CLASS_OF_UNITS,
  CLASS_UNITS,
  SLAB_BLOCK_MAX,
  SLAB_PAGES,
  SLAB_UNITS,
} from "./size-classes.ts";

function heapsOf(threads: number, shards: number, checked = false): Heap[] {
  return newHeaps(threads, { shards, chunkBytes: 16 * MIB, checked });
}

function oneHeap(shards: number, checked = false): Heap {
  return heapsOf(1, shards, checked)[0] as Heap;
}

test("classes fit exactly up to 1 KiB, then within a quarter, and fill their slabs", () => {
  for (let units = 1; units <= SLAB_BLOCK_MAX; units++) {
    const cls = CLASS_OF_UNITS[units] as number;
    const size = CLASS_UNITS[cls] as number;
    const smaller = cls === 0 ? 0 : (CLASS_UNITS[cls - 1] as number);
    assert.ok(size >= units && smaller < units);
    assert.equal(blockSize(units), size);
    if (units <= 128) assert.equal(size, units);
    else assert.ok(size <= smaller * 1.26, `${units} units take ${size}`);
  }
  assert.equal(blockSize(SLAB_BLOCK_MAX + 1), 2 * SLAB_BLOCK_MAX);
  for (let cls = 0; cls < CLASS_COUNT; cls++) {
    const size = CLASS_UNITS[cls] as number;
    const slab = SLAB_UNITS[cls] as number;
    assert.equal(slab, (SLAB_PAGES[cls] as number) * PAGE_UNITS);
    const unused = slab % size;
    assert.ok(unused <= PAGE_UNITS / 8, `class of ${size} units leaves ${unused} of a slab`);
  }
});

test("slabs of several pages: every block, the pages beside them, and what becomes of them", () => {
  const heap = oneHeap(1, true);
  for (let cls = 0; cls < CLASS_COUNT; cls++) {
    const size = CLASS_UNITS[cls] as number;
    const perSlab = Math.floor((SLAB_UNITS[cls] as number) / size);
    const blocks = Array.from({ length: 2 * perSlab + 1 }, () => heap.alloc(0, size));
    const sorted = blocks.map((p) => p >>> 0).sort((a, b) => a - b);
    for (const [i, p] of sorted.entries()) {
      assert.notEqual(p, 0);
      assert.equal(heap.blockUnits(p | 0), size);
      if (i > 0) assert.ok(p - (sorted[i - 1] as number) >= size, "blocks lie in one another");
      const m = heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
      const word = (p & UNIT_MASK) << 1;
      m.fill(i, word, word + 2 * size);
    }
    assert.equal(unitsUsed(heap), blocks.length * size);
    for (const p of blocks) heap.free(0, p);
    assert.equal(unitsUsed(heap), 0);
  }
  heap.trim(0);
  assert.equal(heap.control[H_SPANS_USED], 0);
});

test("of a class at most one slab stays empty, and only while it is the only one with room", () => {
  const heap = oneHeap(1);
  const perPage = Math.floor(PAGE_UNITS / 100);
  const pages = 40;
  const blocks = Array.from({ length: pages * perPage }, () => heap.alloc(0, 100));
  const spans = heap.control[shardRow(0) + S_SPANS] as number;
  assert.equal(spans, pages / 8);
  // The first page empties while all others are full: it is kept, being the only one with room.
  for (const p of blocks.slice(0, perPage)) heap.free(0, p);
  // One block of the last page: now that one has room, and the empty one goes.
  heap.free(0, blocks.at(-1) as number);
  for (const p of blocks.slice(perPage, 8 * perPage)) heap.free(0, p);
  assert.equal(heap.control[shardRow(0) + S_SPANS], spans - 1);
});

test("frees under other locks are made good a part at a time", () => {
  const heap = oneHeap(2);
  const blocks = Array.from({ length: 5000 }, () => heap.alloc(0, 4));
  const stack = shardRow(0) + S_REMOTE_FREE;
  const rest = shardRow(0) + S_REMOTE_REST;
  for (const p of blocks) heap.free(1, p);
  assert.equal(unitsUsed(heap), 0);
  assert.notEqual(heap.control[stack], 0);
  // A class that has no page: the shard looks for memory.
  const p = heap.alloc(0, 9);
  assert.equal(heap.control[stack], 0);
  assert.notEqual(heap.control[rest], 0, "all 5,000 were freed under one lock");
  for (const q of [heap.alloc(0, 10), heap.alloc(0, 2000), p]) heap.free(0, q);
  assert.equal(unitsUsed(heap), 0);
  heap.trim(0);
  assert.equal(heap.control[rest], 0);
  assert.equal(heap.control[H_SPANS_USED], 0);
});

test("memory that only remote frees hold is found before an allocation fails", () => {
  const heap = oneHeap(2);
  heap.control[H_SPANS_LIMIT] = 3;
  const blocks: number[] = [];
  for (let p = heap.alloc(0, 3); p !== 0; p = heap.alloc(0, 3)) blocks.push(p);
  assert.ok(blocks.length > 5000);
  for (const p of blocks) heap.free(1, p);
  assert.notEqual(heap.alloc(0, 7 * PAGE_UNITS), 0);
});

test("units in use are counted past 2^31, however they are spread over counters", () => {
  const heap = oneHeap(2);
  const { control } = heap;
  const first = shardRow(0) + S_UNITS_USED;
  const second = shardRow(1) + S_UNITS_USED;
  for (const [a, b, large] of [
    [2 ** 31 - 3, 0, 0],
    [2 ** 31 - 3, 2 ** 31 - 100_000, 0],
    [-1_000_000, 2 ** 31 - 1, 2 ** 31 - 1],
    [0, -500, 2 ** 31 - 1],
  ] as const) {
    control[first] = a;
    control[second] = b;
    control[H_LARGE_UNITS] = large;
    const p = heap.alloc(0, 8);
    const q = heap.allocLarge(10_000);
    assert.equal(heap.usedUnits(), a + b + large + 8 + 16_384);
    heap.free(0, p);
    heap.freeLarge(q);
    assert.equal(heap.usedUnits(), a + b + large);
  }
});

test("checked mode tells of a write into a freed block", () => {
  const heap = oneHeap(1, true);
  const [p, q] = [heap.alloc(0, 5), heap.alloc(0, 5)];
  heap.free(0, p);
  const m = heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
  m[((p & UNIT_MASK) << 1) + 9] = 1;
  assert.throws(() => {
    for (let n = 0; n < 200; n++) heap.free(0, heap.alloc(0, 5));
  }, /freed block was written to/);
  assert.notEqual(q, 0);
});

test("checked mode does not give a freed block out again at once", () => {
  const heap = oneHeap(1, true);
  const p = heap.alloc(0, 5);
  heap.free(0, p);
  for (let n = 0; n < 60; n++) {
    const q = heap.alloc(0, 5);
    assert.notEqual(q, p);
    assert.throws(() => heap.blocks?.check(p), /no block starts here/);
    heap.free(0, q);
  }
});

test("checked mode knows large blocks too", () => {
  const heap = oneHeap(1, true);
  const p = heap.allocLarge(10_000);
  heap.blocks?.check(p);
  heap.free(0, p);
  assert.throws(() => heap.freeLarge(p), /not a large block|no block starts here/);
  assert.throws(() => heap.blocks?.check(p), /no block starts here/);
});

type Block = { p: number; units: number; mark: number };

function words(heap: Heap, { p, units }: Block): Int32Array {
  const at = (p & UNIT_MASK) << 1;
  return (heap.i32[p >>> CHUNK_SHIFT] as Int32Array).subarray(at, at + 2 * units);
}

function drawUnits(random: Random): number {
  if (random.chance(0.9)) return 1 + random.below(random.chance(0.2) ? PAGE_UNITS : 40);
  return 1 + random.below(random.chance(0.1) ? 70_000 : 9000);
}

for (const checked of [false, true]) {
  test(`three threads share seven shards${checked ? ", checked" : ""}`, () => {
    const seed = testSeed(checked ? 41 : 42);
    const random = new Random(seed);
    const heaps = heapsOf(3, 7, checked);
    const { control } = heaps[0] as Heap;
    control[H_SPANS_LIMIT] = 300;
    const live: Block[] = [];
    let refused = 0;
    const drop = (i: number): void => {
      const block = live[i] as Block;
      live[i] = live.at(-1) as Block;
      live.pop();
      const heap = random.pick(heaps);
      heap.pool.sync();
      assert.ok(words(heap, block).every((word) => word === block.mark));
      heap.free(random.below(7), block.p);
    };
    try {
      for (let step = 0; step < 25_000; step++) {
        if (!random.chance(step % 5000 < 3000 ? 0.7 : 0.3)) {
          if (live.length > 0) drop(random.below(live.length));
          continue;
        }
        const heap = random.pick(heaps);
        heap.pool.sync();
        const block = { p: 0, units: drawUnits(random), mark: random.u32() | 0 };
        const before = unitsUsed(heap);
        block.p = heap.alloc(random.below(7), block.units);
        if (block.p === 0) {
          refused++;
          assert.equal(unitsUsed(heap), before);
          continue;
        }
        assert.equal(unitsUsed(heap), before + heap.blockUnits(block.p));
        words(heap, block).fill(block.mark);
        live.push(block);
      }
      assert.ok(refused > 0, "the limit was never met");
      while (live.length > 0) drop(live.length - 1);
      assert.equal(unitsUsed(heaps[0] as Heap), 0);
      for (let shard = 0; shard < 7; shard++) random.pick(heaps).trim(shard);
      assert.equal(control[H_SPANS_USED], 0);
    } catch (e) {
      console.error(seedText(seed));
      throw e;
    }
  });
}

test("an empty slab of several pages goes back at once, one of a page when pages are wanted", () => {
  const heap = oneHeap(1);
  const spans = (): number => heap.control[shardRow(0) + S_SPANS] as number;
  for (let cls = 0; cls < CLASS_COUNT; cls++) {
    if (SLAB_PAGES[cls] === 1) continue;
    heap.free(0, heap.alloc(0, CLASS_UNITS[cls] as number));
    assert.equal(spans(), 0, `class of ${CLASS_UNITS[cls]} units`);
  }
  // Eight slabs of a page fill a span, and stay when their blocks are freed.
  for (let units = 1; units <= 8; units++) heap.free(0, heap.alloc(0, units));
  assert.equal(spans(), 1);
  const p = heap.alloc(0, SLAB_BLOCK_MAX);
  assert.ok(p !== 0);
  assert.equal(spans(), 1, "empty slabs are kept while a span is taken");
  heap.free(0, p);
  assert.equal(spans(), 0);
});

/** A heap of one shard with so many blocks of a kind in whole slabs, and a flush of them begun. */
function agedHeap(count: number, units: number, checked: boolean): { heap: Heap; old: number[] } {
  const heap = oneHeap(1, checked);
  const old = Array.from({ length: count }, () => heap.alloc(0, units));
  heap.control[H_GARBAGE] = 1;
  heap.age(0);
  return { heap, old };
}

for (const checked of [false, true]) {
  test(`blocks beside a flush come from new slabs, so that all old ones go back, checked ${checked}`, () => {
    const { heap, old } = agedHeap(10_000, 4, checked);
    const made: number[] = [];
    for (const [n, p] of old.entries()) {
      heap.free(0, p);
      if (n % 25 === 0) made.push(heap.alloc(0, 4));
    }
    heap.control[H_GARBAGE] = 0;
    heap.trim(0);
    assert.ok((heap.control[shardRow(0) + S_SPANS] as number) <= 2);
    for (const p of made) heap.free(0, p);
    heap.trim(0);
    assert.equal(heap.control[H_SPANS_USED], 0);
  });
}

test("old slabs are used when no page is left, and once all is freed", () => {
  const { heap, old } = agedHeap(1000, 4, false);
  heap.control[H_SPANS_LIMIT] = heap.control[H_SPANS_USED] as number;
  const holes = old.filter((_p, n) => n % 2 === 0);
  for (const p of holes) heap.free(0, p);
  // 1000 blocks take 4 slabs: the last is partly empty, and the span has 4 pages more.
  const made: number[] = [];
  for (let p = heap.alloc(0, 4); p !== 0; p = heap.alloc(0, 4)) made.push(p);
  assert.equal(made.length, 8 * 256 - (1000 - holes.length));
  for (const p of made.slice(0, 4 * 256)) assert.ok(!holes.includes(p));
  assert.deepEqual(new Set([...holes, ...made]).size, made.length);

  const after = agedHeap(1000, 4, false);
  for (const [n, p] of after.old.entries()) if (n % 2 === 0) after.heap.free(0, p);
  after.heap.control[H_GARBAGE] = 0;
  const again = Array.from({ length: 500 }, () => after.heap.alloc(0, 4));
  const freed = new Set(after.old.filter((_p, n) => n % 2 === 0));
  assert.ok(again.filter((p) => freed.has(p)).length > 450, "old slabs have their turn again");
});

test("a second flush finds old slabs that are still in use", () => {
  const { heap, old } = agedHeap(600, 4, false);
  heap.free(0, old[0] as number);
  const between = Array.from({ length: 600 }, () => heap.alloc(0, 4));
  heap.age(0);
  for (const p of [...old.slice(1), ...between]) heap.free(0, p);
  heap.control[H_GARBAGE] = 0;
  heap.trim(0);
  assert.equal(heap.control[H_SPANS_USED], 0);
});
