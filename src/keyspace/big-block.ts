/**
 * Blocks of big strings. The first word counts pins: replies (later also journal entries) that are
 * being written out after the lock was released. Whoever takes the block out of its record marks
 * it as an orphan; whoever finds an orphan without pins frees it.
 */
import { SPAN_BYTES, UNIT_BYTES } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { BIG_HEADER_BYTES } from "../structures/record.ts";

/**
 * Word behind the pins: the thread that has the block while no record does, else 0. So checks know
 * it, and it can be freed when that thread has ended.
 */
export const BIG_BLOCK_LOOSE = 1;
/** In the upper half of that word, with the thread below; no pointer, and no count, is like it. */
const LOOSE = 0x4c5b0000;

/** One more than a span: what is smaller comes from a shard's own pages. */
const UNITS_MIN = SPAN_BYTES / UNIT_BYTES + 1;

export const BIG_BLOCK_ORPHAN: number = 1 << 30;
export const BIG_BLOCK_PINS: number = BIG_BLOCK_ORPHAN - 1;

/** A block for a string, with no pins and in no record; 0 when memory is out. Needs no lock. */
export function makeBigBlock(heap: Heap, bytes: number): number {
  // No shift: a length beyond 2^32 must stay what it is, so that it is refused.
  const units = Math.ceil((bytes + BIG_HEADER_BYTES) / UNIT_BYTES);
  return heap.allocLarge(Math.max(units, UNITS_MIN), looseBy(heap.thread));
}

function looseBy(thread: number): number {
  return LOOSE | (thread & 0xffff);
}

/** True if the first words of a large block are those of a string that no record has. */
export function isLoose(m: Int32Array, at: number): boolean {
  return m[at] === 0 && ((m[at + BIG_BLOCK_LOOSE] as number) & 0xffff0000) === LOOSE;
}

/** Frees the blocks without a record that a thread had which has ended. Returns how many. */
export function freeLooseOf(heap: Heap, thread: number): number {
  const loose: number[] = [];
  heap.pool.frozen(() => {
    heap.eachLarge((block) => {
      const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
      const at = (block & UNIT_MASK) << 1;
      if (m[at] === 0 && m[at + BIG_BLOCK_LOOSE] === looseBy(thread)) loose.push(block);
    });
  });
  for (const block of loose) heap.freeLarge(block);
  return loose.length;
}

/** Bytes that a block can hold. */
export function bigCapacity(heap: Heap, block: number): number {
  return heap.blockUnits(block) * 8 - BIG_HEADER_BYTES;
}

export function bigStart(block: number): number {
  return ((block & UNIT_MASK) << 3) + BIG_HEADER_BYTES;
}

/**
 * Keeps the block alive and unchanged until `unpin`. Its record's shard is locked. Where threads may
 * be terminated it is written down in `heap.pinned`, as far as there is room.
 */
export function pin(heap: Heap, block: number): void {
  const { pinned } = heap;
  if (pinned !== null) {
    const at = pinned.indexOf(0);
    if (at >= 0) pinned[at] = block;
  }
  Atomics.add(heap.i32[block >>> CHUNK_SHIFT] as Int32Array, (block & UNIT_MASK) << 1, 1);
}

export function isPinned(heap: Heap, block: number): boolean {
  const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
  return (Atomics.load(m, (block & UNIT_MASK) << 1) & BIG_BLOCK_PINS) !== 0;
}

/** True if no record has the block any more; it is alive as long as it is pinned. */
export function isOrphan(heap: Heap, block: number): boolean {
  const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
  return (Atomics.load(m, (block & UNIT_MASK) << 1) & BIG_BLOCK_ORPHAN) !== 0;
}

/** Undoes one `pin` of this thread; needs no lock. */
export function unpin(heap: Heap, block: number): void {
  const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
  const { pinned } = heap;
  const at = pinned === null ? -1 : pinned.indexOf(block);
  // A thread is terminated where it calls or repeats something, so not between these two.
  if (pinned !== null && at >= 0) pinned[at] = 0;
  const before = Atomics.sub(m, (block & UNIT_MASK) << 1, 1);
  if (before === (BIG_BLOCK_ORPHAN | 1)) heap.freeLarge(block);
}

/** Undoes the pins that a thread which has ended had written down. */
export function unpinAllOf(heap: Heap, pinned: Int32Array): void {
  heap.pool.sync();
  for (let at = 0; at < pinned.length; at++) {
    const block = Atomics.exchange(pinned, at, 0);
    if (block === 0) continue;
    const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
    const before = Atomics.sub(m, (block & UNIT_MASK) << 1, 1);
    if (before === (BIG_BLOCK_ORPHAN | 1)) heap.freeLarge(block);
  }
}
