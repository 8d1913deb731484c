/**
 * Checked mode (ZEROHOP_CHECK=1): one bit per unit that says "a block starts here", and poison in
 * freed blocks, which the heap looks at once more before it gives them out again. A stray pointer
 * in JavaScript reads zeros and says nothing; with this it throws.
 *
 * The bits are in shared memory of their own, one buffer per chunk, so that all threads see the
 * same ones. It costs an atomic operation per allocation and is off in production.
 */
import { assert } from "../base/assert.ts";
import type { Heap } from "./heap.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "./layout.ts";

const POISON: number = 0x5eadbeef | 0;
/** Units at the start of a freed block that are poisoned. */
const POISONED_UNITS = 1024;

export class BlockMap {
  private readonly heap: Heap;
  /** By chunk; made and shared by the pool together with the chunk. */
  private readonly bits: Int32Array[];

  constructor(heap: Heap) {
    this.heap = heap;
    this.bits = heap.pool.bits;
  }

  allocated(p: number): void {
    const bits = this.bits[p >>> CHUNK_SHIFT] as Int32Array;
    const unit = p & UNIT_MASK;
    const before = Atomics.or(bits, unit >>> 5, 1 << (unit & 31));
    assert((before & (1 << (unit & 31))) === 0, "alloc: block is in use already");
  }

  freed(p: number): void {
    const bits = this.bits[p >>> CHUNK_SHIFT] as Int32Array;
    const unit = p & UNIT_MASK;
    const before = Atomics.and(bits, unit >>> 5, ~(1 << (unit & 31)));
    assert((before & (1 << (unit & 31))) !== 0, "free: no block starts here");
    const m = this.heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const units = Math.min(this.heap.blockUnits(p), POISONED_UNITS);
    m.fill(POISON, unit << 1, (unit + units) << 1);
  }

  /** Throws if a freed block was written to. Its first word is a link. */
  checkPoison(p: number): void {
    const m = this.heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const unit = p & UNIT_MASK;
    const end = (unit + Math.min(this.heap.blockUnits(p), POISONED_UNITS)) << 1;
    for (let word = (unit << 1) + 1; word < end; word++) {
      assert(m[word] === POISON, "a freed block was written to");
    }
  }

  /** Throws unless a block starts at `p`. */
  check(p: number): void {
    const bits = this.bits[p >>> CHUNK_SHIFT] as Int32Array;
    const unit = p & UNIT_MASK;
    assert((Atomics.load(bits, unit >>> 5) & (1 << (unit & 31))) !== 0, "no block starts here");
  }
}
