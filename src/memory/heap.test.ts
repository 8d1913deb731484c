import assert from "node:assert/strict";
import { test } from "node:test";
import { seedText, testSeed } from "../../test/support/random.ts";
import { Random } from "../base/random.ts";
import { Heap } from "./heap.ts";
import { MIB, newControl, poolHosts, unitsUsed } from "./heap-test-support.ts";
import { CHUNK_SHIFT, H_SPANS_LIMIT, H_SPANS_USED, UNIT_MASK } from "./layout.ts";
import type { PoolHost } from "./pool.ts";

const anyBuffer = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes);

function oneHeap(shards: number, chunkBytes: number): Heap {
  return new Heap(newControl(shards, chunkBytes), poolHosts(1, anyBuffer)[0] as PoolHost, true);
}

type Block = { p: number; units: number; mark: number };

/** Marks both ends of a block, so that blocks which overlap spoil each other's marks. */
function mark(heap: Heap, { p, units, mark }: Block): void {
  const m = heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
  const at = (p & UNIT_MASK) << 1;
  m[at] = mark;
  m[at + 2 * units - 1] = mark;
}

function checkMark(heap: Heap, { p, units, mark }: Block): void {
  const m = heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
  const at = (p & UNIT_MASK) << 1;
  assert.equal(m[at], mark);
  assert.equal(m[at + 2 * units - 1], mark);
}

function randomUnits(random: Random): number {
  switch (random.below(8)) {
    case 0:
      return 1 + random.below(1024);
    case 1:
      return 1025 + random.below(7168);
    case 2:
      return random.chance(0.1) ? 8193 + random.below(40_000) : 1;
    default:
      return 1 + random.below(64);
  }
}

test("blocks of all sizes never overlap, whoever frees them, and are counted exactly", () => {
  const seed = testSeed(7);
  const random = new Random(seed);
  const shards = 4;
  const heap = oneHeap(shards, 16 * MIB);
  const live: Block[] = [];
  try {
    for (let step = 0; step < 60_000; step++) {
      const wanted = step < 20_000 || (step > 40_000 && step < 50_000) ? 0.6 : 0.4;
      if (random.chance(wanted)) {
        const units = randomUnits(random);
        const p = heap.alloc(random.below(shards), units);
        assert.notEqual(p, 0);
        assert.ok(heap.blockUnits(p) >= units);
        const block = { p, units, mark: random.u32() | 0 };
        mark(heap, block);
        live.push(block);
      } else if (live.length > 0) {
        const i = random.below(live.length);
        const block = live[i] as Block;
        live[i] = live.at(-1) as Block;
        live.pop();
        checkMark(heap, block);
        heap.free(random.below(shards), block.p);
      }
    }
    const units = live.reduce((sum, { p }) => sum + heap.blockUnits(p), 0);
    assert.equal(unitsUsed(heap), units);
    for (const block of live) {
      checkMark(heap, block);
      heap.free(0, block.p);
    }
    for (let shard = 0; shard < shards; shard++) heap.trim(shard);
    assert.equal(unitsUsed(heap), 0);
    assert.equal(heap.control[H_SPANS_USED], 0);
  } catch (e) {
    console.error(seedText(seed));
    throw e;
  }
});

test("at the limit of spans an allocation fails and changes nothing", () => {
  const heap = oneHeap(2, 16 * MIB);
  heap.control[H_SPANS_LIMIT] = 4;
  const blocks: number[] = [];
  for (;;) {
    const p = heap.alloc(blocks.length & 1, 1000);
    if (p === 0) break;
    blocks.push(p);
  }
  assert.equal(heap.control[H_SPANS_USED], 4);
  assert.equal(blocks.length, 32);
  const used = unitsUsed(heap);
  assert.equal(heap.alloc(0, 1), 0);
  assert.equal(heap.alloc(0, 8192), 0);
  assert.equal(heap.allocLarge(8193), 0);
  assert.ok(!heap.pool.reserve(1));
  assert.equal(unitsUsed(heap), used);
  heap.free(0, blocks.pop() as number);
  assert.notEqual(heap.alloc(1, 1), 0);
});

test("where the system refuses a chunk, smaller ones are tried", () => {
  const sizes: number[] = [];
  const host = poolHosts(1, (bytes) => {
    sizes.push(bytes);
    return bytes > 8 * MIB ? null : new SharedArrayBuffer(bytes);
  })[0] as PoolHost;
  const heap = new Heap(newControl(1, 64 * MIB), host, true);
  assert.notEqual(heap.alloc(0, 10), 0);
  assert.deepEqual(sizes, [64 * MIB, 32 * MIB, 16 * MIB, 8 * MIB]);
  assert.equal(heap.allocLarge((9 * MIB) / 8), 0);
  assert.equal(sizes.at(-1), 16 * MIB);
});

test("a thread takes a chunk that another made before it uses a span of it", () => {
  const words = newControl(2, 16 * MIB);
  const [a, b] = poolHosts(2, anyBuffer).map((host) => new Heap(words, host, true)) as [Heap, Heap];
  const p = a.alloc(0, 100);
  const q = b.alloc(1, 100);
  mark(a, { p, units: 100, mark: 1 });
  mark(b, { p: q, units: 100, mark: 2 });
  b.pool.sync();
  checkMark(b, { p, units: 100, mark: 1 });
  checkMark(a, { p: q, units: 100, mark: 2 });
  // Under the lock of shard 0 either may free what the other allocated there.
  b.free(0, p);
  a.free(1, q);
  assert.equal(unitsUsed(a), 0);
});

test("empty chunks are dropped everywhere while enough is left, and made anew", () => {
  const words = newControl(1, 64 * MIB);
  const [a, b] = poolHosts(2, anyBuffer).map((host) => new Heap(words, host, true)) as [Heap, Heap];
  const large = (32 * MIB) / 8;
  const blocks = Array.from({ length: 6 }, () => a.allocLarge(large));
  assert.ok(blocks.every((p) => p !== 0));
  b.pool.sync();
  const present = (heap: Heap): number => heap.u8.filter((bytes) => bytes.length > 0).length;
  assert.equal(present(b), 6);
  for (const p of blocks) a.freeLarge(p);
  b.pool.sync();
  assert.equal(present(a), present(b));
  assert.ok(present(a) < 6);
  assert.equal(words[H_SPANS_USED], 0);
  const again = Array.from({ length: 6 }, () => b.allocLarge(large));
  assert.ok(again.every((p) => p !== 0));
  a.pool.sync();
  assert.equal(present(a), 6);
});

test("checked mode finds a block freed twice and a pointer to no block", () => {
  const heap = oneHeap(1, 16 * MIB);
  const p = heap.alloc(0, 5);
  heap.alloc(0, 5);
  assert.throws(() => heap.blocks?.check(p + 1), /no block starts here/);
  heap.free(0, p);
  assert.throws(() => heap.free(0, p), /no block starts here/);
  assert.throws(() => heap.blocks?.check(p), /no block starts here/);
});
