import assert from "node:assert/strict";
import { test } from "node:test";
import { Heap } from "../memory/heap.ts";
import { MIB, newControl, poolHosts } from "../memory/heap-test-support.ts";
import { CHUNK_SHIFT, H_LARGE_UNITS, H_SPANS_LIMIT, UNIT_MASK } from "../memory/layout.ts";
import type { PoolHost } from "../memory/pool.ts";
import { BIG_BLOCK_ORPHAN, bigStart, isLoose, isPinned, makeBigBlock } from "./big-block.ts";
import { BlockCopy } from "./block-copy.ts";

const LENGTH = 3 * MIB + 123;
const MAX_IN_VAIN = 4;

class World {
  readonly heap: Heap;
  readonly copy: BlockCopy;
  readonly block: number;

  constructor() {
    this.heap = new Heap(newControl(1, 64 * MIB), poolHosts(1)[0] as PoolHost, false);
    this.copy = new BlockCopy(this.heap);
    this.block = this.newBlock();
    const bytes = this.bytesOf(this.block, LENGTH);
    for (let i = 0; i < LENGTH; i++) bytes[i] = i * 31;
  }

  /** A block of a record. */
  newBlock(): number {
    const block = makeBigBlock(this.heap, LENGTH);
    (this.heap.i32[block >>> CHUNK_SHIFT] as Int32Array)[((block & UNIT_MASK) << 1) + 1] = 0;
    return block;
  }

  bytesOf(block: number, length: number): Uint8Array {
    const start = bigStart(block);
    return (this.heap.u8[block >>> CHUNK_SHIFT] as Uint8Array).subarray(start, start + length);
  }

  /** Does what a record does that lets go of its block. */
  orphan(block: number): void {
    Atomics.or(
      this.heap.i32[block >>> CHUNK_SHIFT] as Int32Array,
      (block & UNIT_MASK) << 1,
      BIG_BLOCK_ORPHAN,
    );
  }

  get used(): number {
    return this.heap.control[H_LARGE_UNITS] as number;
  }
}

test("a copy has the bytes, zeros up to the new length, and room for more", () => {
  const w = new World();
  const { copy, block } = w;
  const total = LENGTH + 100_000;
  assert.equal(copy.fits(block, LENGTH, LENGTH), false);
  assert.equal(copy.want(block, LENGTH, total, 8 * MIB), true);
  assert.ok(copy.isWanted && copy.isDue && isPinned(w.heap, block));
  copy.make();
  assert.ok(!copy.isWanted && !copy.isDue);
  assert.equal(copy.fits(block, total, total), true);
  assert.equal(copy.fits(block, total + 1, total + 1), false, "it is filled up to there only");
  assert.equal(copy.fits(block, LENGTH, 8 * MIB), true);
  assert.equal(copy.fits(block, LENGTH, 9 * MIB), false, "it is too short");
  assert.equal(copy.fits(block + 8, LENGTH, LENGTH), false, "it is of another block");
  const made = w.bytesOf(copy.block, total);
  assert.ok(Buffer.from(w.bytesOf(block, LENGTH)).equals(made.subarray(0, LENGTH)));
  assert.ok(made.subarray(LENGTH).every((byte) => byte === 0));
});

test("it is somebody's at every moment, and given back unless it is taken", () => {
  const w = new World();
  const { heap, copy, block } = w;
  const words = new Int32Array(2);
  heap.pinned = words;
  const before = w.used;
  copy.want(block, LENGTH, LENGTH, LENGTH);
  assert.deepEqual([...words], [block, 0], "who buries this thread finds the pin");
  copy.make();
  const to = copy.block;
  const m = heap.i32[to >>> CHUNK_SHIFT] as Int32Array;
  assert.ok(isLoose(m, (to & UNIT_MASK) << 1), "who buries this thread finds the copy");
  assert.ok(w.used > before);
  copy.drop();
  copy.drop();
  assert.equal(w.used, before);
  assert.equal(isPinned(heap, block), false);
  assert.deepEqual([...words], [0, 0]);
  copy.want(block, LENGTH, LENGTH, LENGTH);
  copy.make();
  const taken = copy.block;
  copy.take();
  assert.ok(copy.isDue, "the dispatcher lets go of the pin");
  w.orphan(block);
  copy.finish();
  assert.ok(!copy.isDue);
  heap.freeLarge(taken);
  assert.equal(w.used, 0, "the block that nobody has any more is free");
});

test("a string that its key has lost is not copied to the end", () => {
  const w = new World();
  const { copy, block } = w;
  copy.want(block, LENGTH, LENGTH, LENGTH);
  w.orphan(block);
  copy.make();
  assert.equal(copy.fits(block, LENGTH, LENGTH), false);
  assert.equal(w.used, 0);
});

test("after some copies in vain a command copies itself, once", () => {
  const w = new World();
  const { copy } = w;
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < MAX_IN_VAIN; n++) {
      assert.equal(copy.want(w.newBlock(), LENGTH, LENGTH, LENGTH), true, `copy ${n}`);
      copy.make();
    }
    assert.equal(copy.want(w.block, LENGTH, LENGTH, LENGTH), false);
    assert.equal(isPinned(w.heap, w.block), false);
  }
  for (let n = 0; n < 3 * MAX_IN_VAIN; n++) {
    assert.equal(copy.want(w.newBlock(), LENGTH, LENGTH, LENGTH), true, "others were of use");
    copy.make();
    copy.finish();
  }
});

test("without memory for slack it has none, and without any there is no copy", () => {
  const w = new World();
  const { heap, copy, block } = w;
  const spansOf = (bytes: number): number => Math.ceil((bytes + 8) / 65_536);
  heap.control[H_SPANS_LIMIT] = spansOf(LENGTH) * 2 + 1;
  copy.want(block, LENGTH, LENGTH, 2 * LENGTH);
  copy.make();
  assert.ok(copy.fits(block, LENGTH, LENGTH) && copy.block !== 0);
  copy.finish();
  heap.control[H_SPANS_LIMIT] = spansOf(LENGTH) + 1;
  copy.want(block, LENGTH, LENGTH, 2 * LENGTH);
  copy.make();
  assert.ok(copy.fits(block, LENGTH, LENGTH), "there is an answer");
  assert.equal(copy.block, 0);
  copy.finish();
  assert.equal(isPinned(heap, block), false);
});

test("what nobody comes back for is dropped", () => {
  const w = new World();
  const { copy, block } = w;
  copy.want(block, LENGTH, LENGTH, LENGTH);
  copy.tick();
  assert.ok(copy.isWanted, "it is not made yet");
  copy.make();
  copy.tick();
  assert.ok(copy.fits(block, LENGTH, LENGTH));
  copy.tick();
  assert.ok(!copy.fits(block, LENGTH, LENGTH) && !isPinned(w.heap, block));
});
