/**
 * The roots of one database: a block of the heap that is made with the database's first key and
 * let go as a whole when the database is flushed.
 *
 *   u32 root[16384]      the slot's table
 *   u32 units[16384]     units of all records of the slot, the blocks of big strings included
 *   per shard: u32 keys, u32 keys with an expiry,
 *              u32 low, u32 high of their average milliseconds to live, as the expiry walk found it
 *
 * A flushed block hangs in the garbage list until its tables are taken apart, slot by slot; what
 * was shard 0's average then holds
 *
 *   the next block of the list, the first slot that may not be empty (with a mark while a thread
 *   works on the block)
 */
import { SLOTS, UNIT_BYTES } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT, H_ROOT_UNITS, UNIT_MASK } from "../memory/layout.ts";

export const ROOT_UNITS_AT: number = SLOTS;
export const ROOT_COUNTERS_AT: number = 2 * SLOTS;
export const COUNTER_WORDS = 4;
export const C_KEYS = 0;
export const C_EXPIRES = 1;
export const C_TTL_LOW = 2;
export const C_TTL_HIGH = 3;
export const C_NEXT_GARBAGE = 2;
export const C_GARBAGE_SLOT = 3;

/** A block of empty roots, 0 when memory is out. */
export function makeRoots(heap: Heap, shards: number): number {
  const words = ROOT_COUNTERS_AT + shards * COUNTER_WORDS;
  const block = heap.allocLarge((words + 1) >> 1);
  if (block === 0) return 0;
  Atomics.add(heap.control, H_ROOT_UNITS, heap.blockUnits(block));
  const at = (block & UNIT_MASK) << 1;
  (heap.i32[block >>> CHUNK_SHIFT] as Int32Array).fill(0, at, at + words);
  return block;
}

/** Bytes in blocks of the heap without the roots of databases: what `maxmemory` bounds. */
export function usedBytes(heap: Heap): number {
  const roots = Atomics.load(heap.control, H_ROOT_UNITS) >>> 0;
  return Math.max(0, heap.usedUnits() - roots) * UNIT_BYTES;
}

export function freeRoots(heap: Heap, block: number): void {
  Atomics.sub(heap.control, H_ROOT_UNITS, heap.blockUnits(block));
  heap.freeLarge(block);
}
