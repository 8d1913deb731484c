/**
 * What the heap checker's walks share: which blocks were reached, and what is wrong. A bit per unit
 * of each chunk says that a block which starts there was reached, so that a large heap costs the
 * check a 64th of its own size and nothing per block.
 */
import type { Heap } from "../memory/heap.ts";
import {
  CHUNK_SHIFT,
  KIND_LARGE,
  KIND_SLAB,
  KIND_SLAB_BODY,
  P_BUMP,
  P_KIND,
  P_USED,
  PAGE_UNIT_SHIFT,
  pageRow,
  SPAN_UNIT_SHIFT,
  UNIT_MASK,
} from "../memory/layout.ts";
import { CLASS_COUNT, CLASS_UNITS } from "../memory/size-classes.ts";

/** More lines than this help nobody. */
const LINES_MAX = 100;

export class Findings {
  readonly lines: string[] = [];
  count = 0;

  add(text: string): void {
    this.count++;
    if (this.lines.length < LINES_MAX) this.lines.push(text);
  }
}

export class Marks {
  readonly #chunks: (Uint8Array | null)[];
  readonly #heap: Heap;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#chunks = heap.u8.map(() => null);
  }

  /** False if it was marked before. */
  mark(p: number): boolean {
    const chunk = p >>> CHUNK_SHIFT;
    const unit = p & UNIT_MASK;
    const bytes = this.#heap.u8[chunk]?.length ?? 0;
    const bits = this.#chunks[chunk] ?? new Uint8Array(bytes / 64);
    this.#chunks[chunk] = bits;
    const before = bits[unit >>> 3] as number;
    bits[unit >>> 3] = before | (1 << (unit & 7));
    return (before & (1 << (unit & 7))) === 0;
  }

  has(p: number): boolean {
    const bits = this.#chunks[p >>> CHUNK_SHIFT];
    const unit = p & UNIT_MASK;
    return bits != null && ((bits[unit >>> 3] as number) & (1 << (unit & 7))) !== 0;
  }
}

/** What a check of one store knows. */
export type HeapCheck = {
  readonly heap: Heap;
  readonly findings: Findings;
  /** Blocks that something points to. */
  readonly reached: Marks;
  /** Blocks on a stack of remote frees. */
  readonly freed: Marks;
  /** Units of the blocks reached. */
  reachedUnits: number;
};

export function newHeapCheck(heap: Heap): HeapCheck {
  return {
    heap,
    findings: new Findings(),
    reached: new Marks(heap),
    freed: new Marks(heap),
    reachedUnits: 0,
  };
}

export function hex(p: number): string {
  return `0x${(p >>> 0).toString(16)}`;
}

/** Units of the block that starts at `p`, 0 if none does. */
export function unitsAt(heap: Heap, p: number): number {
  const m = heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
  if ((p & UNIT_MASK) << 1 >= m.length) return 0;
  let page = p >>> PAGE_UNIT_SHIFT;
  let kind = m[pageRow(page) + P_KIND] as number;
  if ((kind & 0xff) === KIND_SLAB_BODY) {
    page -= (kind >>> 8) & 0xff;
    kind = m[pageRow(page) + P_KIND] as number;
  }
  const row = pageRow(page);
  const detail = (kind >>> 8) & 0xff;
  const unit = p - (page << PAGE_UNIT_SHIFT);
  switch (kind & 0xff) {
    case KIND_SLAB: {
      if (detail >= CLASS_COUNT) return 0;
      const units = CLASS_UNITS[detail] as number;
      return unit % units === 0 && unit < (m[row + P_BUMP] as number) ? units : 0;
    }
    case KIND_LARGE:
      return (p & ((1 << SPAN_UNIT_SHIFT) - 1)) === 0
        ? (m[row + P_USED] as number) << SPAN_UNIT_SHIFT
        : 0;
    default:
      return 0;
  }
}

/**
 * Says that `what` points to the block at `p`. Returns the block's units; 0 if it is none or was
 * reached before, so that the caller does not follow it.
 */
export function reach(check: HeapCheck, p: number, what: string): number {
  const units = p === 0 ? 0 : unitsAt(check.heap, p);
  if (units === 0) {
    check.findings.add(`${what} points to ${hex(p)}, where no block starts`);
    return 0;
  }
  if (!check.reached.mark(p)) {
    check.findings.add(`${what} points to ${hex(p)}, which something else points to`);
    return 0;
  }
  check.reachedUnits += units;
  return units;
}
