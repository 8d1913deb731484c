/** Blocks of big strings: lengths that no block can have, and pins that outlive a record. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CHUNK_BYTES_MAX } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import { chunkCount, MIB, newHeaps, unitsUsed } from "../memory/heap-test-support.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import {
  BIG_BLOCK_LOOSE,
  BIG_BLOCK_ORPHAN,
  bigCapacity,
  freeLooseOf,
  isLoose,
  isPinned,
  makeBigBlock,
  pin,
  unpin,
  unpinAllOf,
} from "./big-block.ts";

function oneHeap(): Heap {
  return newHeaps(1, { shards: 1, chunkBytes: 16 * MIB, checked: false })[0] as Heap;
}

test("a block holds what was asked for, and is loose", () => {
  const heap = oneHeap();
  for (const bytes of [1, 65_537, 100_000, MIB - 8, MIB - 7, MIB]) {
    const block = makeBigBlock(heap, bytes);
    assert.notEqual(block, 0);
    assert.ok(bigCapacity(heap, block) >= bytes);
    const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
    assert.ok(isLoose(m, (block & UNIT_MASK) << 1));
    m[((block & UNIT_MASK) << 1) + BIG_BLOCK_LOOSE] = 0;
    assert.ok(!isLoose(m, (block & UNIT_MASK) << 1));
    heap.freeLarge(block);
  }
  assert.equal(unitsUsed(heap), 0);
});

test("what a thread that ended had in hand is freed, and nothing else", () => {
  const heaps = newHeaps(3, { shards: 1, chunkBytes: 16 * MIB, checked: true });
  const [one, dead, other] = heaps as [Heap, Heap, Heap];
  const kept = makeBigBlock(one, 100_000);
  const plain = dead.allocLarge(30_000);
  const adopted = makeBigBlock(dead, 70_000);
  const m = dead.i32[adopted >>> CHUNK_SHIFT] as Int32Array;
  m[((adopted & UNIT_MASK) << 1) + BIG_BLOCK_LOOSE] = 0;
  const before = unitsUsed(one);
  // More than one chunk of them.
  for (let i = 0; i < 5; i++) makeBigBlock(dead, 6 * MIB);
  assert.equal(freeLooseOf(other, one.thread + 50), 0);
  assert.equal(freeLooseOf(other, dead.thread), 5);
  assert.equal(unitsUsed(one), before);
  assert.equal(freeLooseOf(other, dead.thread), 0);
  for (const p of [kept, plain, adopted]) other.freeLarge(p);
  assert.equal(unitsUsed(one), 0);
});

test("lengths beyond a chunk are refused, those beyond 32 bits too", () => {
  const heap = oneHeap();
  assert.notEqual(makeBigBlock(heap, 100), 0);
  const used = unitsUsed(heap);
  const chunks = chunkCount(heap);
  for (const bytes of [
    CHUNK_BYTES_MAX,
    2 ** 31,
    2 ** 32 - 8,
    2 ** 32,
    2 ** 32 + 100,
    2 ** 33 + 65_536,
    2 ** 35 + 100,
    2 ** 46,
    Number.MAX_SAFE_INTEGER,
  ]) {
    assert.equal(makeBigBlock(heap, bytes), 0, `${bytes} bytes`);
    assert.equal(heap.allocLarge(Math.ceil(bytes / 8)), 0, `${bytes} bytes`);
  }
  assert.equal(unitsUsed(heap), used);
  assert.equal(chunkCount(heap), chunks);
});

test("a block that its record let go of lives until the last pin is taken off", () => {
  const heap = oneHeap();
  const block = makeBigBlock(heap, 100_000);
  pin(heap, block);
  pin(heap, block);
  const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
  Atomics.or(m, (block & UNIT_MASK) << 1, BIG_BLOCK_ORPHAN);
  unpin(heap, block);
  assert.ok(isPinned(heap, block));
  assert.ok(unitsUsed(heap) > 0);
  unpin(heap, block);
  assert.equal(unitsUsed(heap), 0);
});

test("pins are written down, as far as there is room, for whoever buries their thread", () => {
  const heap = oneHeap();
  const blocks = [1, 2, 3].map(() => makeBigBlock(heap, 100_000));
  const [a = 0, b = 0, c = 0] = blocks;
  const words = new Int32Array(3);
  heap.pinned = words;
  for (const block of [a, b, a, c]) pin(heap, block);
  assert.deepEqual([...words], [a, b, a]);
  unpin(heap, a);
  assert.deepEqual([...words], [0, b, a]);
  unpin(heap, c);
  assert.equal(isPinned(heap, c), false, "this one was not written down");
  for (const block of [a, b]) {
    const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
    Atomics.or(m, (block & UNIT_MASK) << 1, BIG_BLOCK_ORPHAN);
  }
  heap.pinned = null;
  unpinAllOf(heap, words);
  assert.deepEqual([...words], [0, 0, 0]);
  heap.freeLarge(c);
  assert.equal(unitsUsed(heap), 0);
});
