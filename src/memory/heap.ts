/**
 * The heap: chunks of shared memory, cut into spans of 64 KiB, cut into slabs of one size class:
 * 1..8 neighbouring pages of 8 KiB.
 *
 * Every thread has a Heap object with its own views of the same chunks. A shard's allocator state
 * (its slabs, its counters) is only touched under that shard's lock; the pool of spans has a lock
 * of its own, the last in the order. A block of another shard goes onto that shard's stack of
 * remote frees, which its owner empties before it asks the pool for more.
 *
 * A slab that was there when many keys were flushed is old. Their blocks are freed little by little
 * while others are made; those come from slabs of their own, or nearly every old one would keep a
 * few of them, and its span with it. Old slabs are used again when all is freed, or nothing else is
 * left.
 *
 * In checked mode small blocks that were freed stay in quarantine for a while, where a write into
 * one of them shows.
 *
 * Blocks up to a span come from slabs, larger ones are runs of spans that belong to no shard.
 * Running out returns 0 and changes nothing. Slabs are named by the number of their first page.
 *
 * See layout.ts for pointers and for where everything is.
 */

import { assert } from "../base/assert.ts";
import { CHUNK_BYTES_MAX, CHUNKS_MAX, UNIT_BYTES } from "../limits.ts";
import { BlockMap } from "./checked.ts";
import {
  BITMAP_WORDS,
  BITMAPS_AT,
  CHUNK_FIRST_SPAN,
  CHUNK_ROW_WORDS,
  CHUNK_ROWS_AT,
  CHUNK_SHIFT,
  CHUNK_SPANS,
  CHUNK_STATE,
  FLUSH_MASK,
  H_GARBAGE,
  H_LARGE_UNITS,
  H_SHARDS,
  KIND_FREE,
  KIND_LARGE,
  KIND_SLAB,
  KIND_SLAB_BODY,
  P_BUMP,
  P_FREE_HEAD,
  P_KIND,
  P_NEXT,
  P_PREVIOUS,
  P_SPAN_MASK,
  P_SPAN_OWNER,
  P_USED,
  PAGE_IN_CHUNK,
  PAGE_UNIT_SHIFT,
  PAGES_PER_SPAN,
  pageRow,
  S_CLASS_LISTS,
  S_FLUSHES,
  S_OLD_LISTS,
  S_QUARANTINE_COUNT,
  S_QUARANTINE_FIRST,
  S_QUARANTINE_LAST,
  S_REMOTE_FREE,
  S_REMOTE_REST,
  S_SPAN_LISTS,
  S_SPANS,
  S_UNITS_USED,
  SPAN_UNIT_SHIFT,
  shardRow,
  UNIT_MASK,
  USED_MASK,
  USED_SHIFT,
} from "./layout.ts";
import { ChunkPool, type PoolHost } from "./pool.ts";
import {
  CLASS_COUNT,
  CLASS_OF_UNITS,
  CLASS_UNITS,
  SLAB_BLOCK_MAX,
  SLAB_PAGES,
  SLAB_UNITS,
} from "./size-classes.ts";
import { Work } from "./work.ts";

const PAGE_CHUNK_SHIFT = CHUNK_SHIFT - PAGE_UNIT_SHIFT;
const SPAN_UNITS = 1 << SPAN_UNIT_SHIFT;
const ALL_PAGES = 0xff;
/** Most remote frees that one allocation makes good. */
const DRAIN_MAX = 512;
/** Most old slabs that one `trim` makes like new. */
const RENEWED_MAX = 512;
/** Small blocks of a shard that nobody gets again soon, in checked mode. */
const QUARANTINE_BLOCKS = 64;

/** Longest run of set bits in a byte, and where the first run of at least n bits starts. */
const LONGEST_RUN = new Uint8Array(256);
for (let mask = 0; mask < 256; mask++) {
  let run = 0;
  for (let bit = 0; bit < 8; bit++) {
    run = mask & (1 << bit) ? run + 1 : 0;
    if (run > (LONGEST_RUN[mask] as number)) LONGEST_RUN[mask] = run;
  }
}

export class Heap {
  readonly pool: ChunkPool;
  readonly control: Int32Array;
  /** The thread whose views these are. */
  readonly thread: number;
  /** Views by chunk number. The arrays keep their identity; a dropped chunk's view is empty. */
  readonly i32: Int32Array[];
  readonly u8: Uint8Array[];
  readonly view: DataView[];
  readonly work: Work = new Work();
  /** Words for the blocks that this thread has pinned; null where no thread ends alone. */
  pinned: Int32Array | null = null;
  /** Units that this thread has ever allocated, as an int32 that wraps: only differences count. */
  allocatedUnits = 0;
  /** Null unless checked mode is on. */
  readonly blocks: BlockMap | null;

  constructor(control: Int32Array, host: PoolHost, checked: boolean) {
    this.control = control;
    this.thread = host.thread;
    this.pool = new ChunkPool(control, host, checked);
    this.i32 = this.pool.i32;
    this.u8 = this.pool.u8;
    this.view = this.pool.view;
    this.blocks = checked ? new BlockMap(this) : null;
  }

  /**
   * A block of at least `units` units for `shard`, whose lock is held; 0 when memory is out. Its
   * content is whatever was there before.
   */
  alloc(shard: number, units: number): number {
    if (units > SLAB_BLOCK_MAX) return this.allocLarge(units);
    const row = shardRow(shard);
    const cls = CLASS_OF_UNITS[units] as number;
    const slab = this.control[row + S_CLASS_LISTS + cls] as number;
    const p = slab !== 0 ? this.takeFromSlab(row, slab, cls) : this.allocFromNewSlab(shard, cls);
    if (this.blocks !== null && p !== 0) this.blocks.allocated(p);
    return p;
  }

  /** First page of the slab or run of spans that holds the block. */
  private firstPage(p: number): number {
    const page = p >>> PAGE_UNIT_SHIFT;
    const kind = (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[pageRow(page) + P_KIND] as number;
    return (kind & 0xff) === KIND_SLAB_BODY ? page - ((kind >>> 8) & 0xff) : page;
  }

  /** Units of the class or run that holds the block: what the block costs. */
  blockUnits(p: number): number {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const row = pageRow(this.firstPage(p));
    const kind = m[row + P_KIND] as number;
    if ((kind & 0xff) === KIND_SLAB) return CLASS_UNITS[(kind >>> 8) & 0xff] as number;
    assert((kind & 0xff) === KIND_LARGE, "blockUnits: not a block");
    return (m[row + P_USED] as number) << SPAN_UNIT_SHIFT;
  }

  /** Frees a block under the lock of `shard`, whichever shard allocated it. */
  free(shard: number, p: number): void {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const slab = this.firstPage(p);
    const kind = m[pageRow(slab) + P_KIND] as number;
    if ((kind & 0xff) === KIND_LARGE) {
      this.freeLarge(p);
      return;
    }
    if (this.blocks !== null) this.blocks.freed(p);
    assert((kind & 0xff) === KIND_SLAB, "free: not a block");
    if (kind >>> 16 === shard) this.freeLocal(shard, slab, p);
    else this.freeRemote(kind >>> 16, shard, p);
  }

  /**
   * A block over 64 KiB: a run of spans of the pool. Needs no shard's lock. With a `mark`, its first
   * word is 0 and its second the mark before anybody else can find it.
   */
  allocLarge(units: number, mark = 0): number {
    if (units > CHUNK_BYTES_MAX / UNIT_BYTES) return 0;
    const spans = (units + SPAN_UNITS - 1) >>> SPAN_UNIT_SHIFT;
    const p = this.pool.takeLarge(spans, mark);
    if (p === 0) return 0;
    this.allocatedUnits = (this.allocatedUnits + (spans << SPAN_UNIT_SHIFT)) | 0;
    if (this.blocks !== null) this.blocks.allocated(p);
    return p;
  }

  /** Units of all blocks, at class size. Counters wrap at 2^32, which is all the heap can have. */
  usedUnits(): number {
    const { control } = this;
    let units = control[H_LARGE_UNITS] as number;
    const shards = control[H_SHARDS] as number;
    for (let s = 0; s < shards; s++) units += control[shardRow(s) + S_UNITS_USED] as number;
    return units >>> 0;
  }

  freeLarge(p: number): void {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const row = pageRow(p >>> PAGE_UNIT_SHIFT);
    assert((m[row + P_KIND] as number) === KIND_LARGE, "freeLarge: not a large block");
    if (this.blocks !== null) this.blocks.freed(p);
    this.pool.giveLarge(p);
  }

  /** Calls `visit` with every large block; in `pool.frozen` only. */
  eachLarge(visit: (p: number) => void): void {
    const { control } = this;
    for (let chunk = 0; chunk < CHUNKS_MAX; chunk++) {
      const row = CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS;
      if (control[row + CHUNK_STATE] === 0) continue;
      const m = this.i32[chunk] as Int32Array;
      const bits = BITMAPS_AT + chunk * BITMAP_WORDS;
      let span = control[row + CHUNK_FIRST_SPAN] as number;
      const end = span + (control[row + CHUNK_SPANS] as number);
      while (span < end) {
        const isFree = ((control[bits + (span >>> 5)] as number) & (1 << (span & 31))) !== 0;
        const at = pageRow(span * PAGES_PER_SPAN);
        if (isFree || m[at + P_KIND] !== KIND_LARGE) {
          span++;
          continue;
        }
        visit((chunk << CHUNK_SHIFT) | (span << SPAN_UNIT_SHIFT));
        span += m[at + P_USED] as number;
      }
    }
  }

  private takeFromSlab(row: number, slab: number, cls: number): number {
    const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const at = pageRow(slab);
    const units = CLASS_UNITS[cls] as number;
    const head = m[at + P_FREE_HEAD] as number;
    let unit: number;
    if (head !== 0) {
      unit = head - 1;
      m[at + P_FREE_HEAD] = m[(((slab & PAGE_IN_CHUNK) << PAGE_UNIT_SHIFT) + unit) << 1] as number;
    } else {
      unit = m[at + P_BUMP] as number;
      m[at + P_BUMP] = unit + units;
    }
    m[at + P_USED] = (m[at + P_USED] as number) + 1;
    if (this.isFull(m, at, cls)) this.unlinkSlab(row + S_CLASS_LISTS + cls, slab);
    const control = this.control;
    control[row + S_UNITS_USED] = ((control[row + S_UNITS_USED] as number) + units) | 0;
    this.allocatedUnits = (this.allocatedUnits + units) | 0;
    return ((slab << PAGE_UNIT_SHIFT) + unit) | 0;
  }

  /** A slab without a free block is in no list. */
  private isFull(m: Int32Array, at: number, cls: number): boolean {
    const after = (m[at + P_BUMP] as number) + (CLASS_UNITS[cls] as number);
    return m[at + P_FREE_HEAD] === 0 && after > (SLAB_UNITS[cls] as number);
  }

  private allocFromNewSlab(shard: number, cls: number): number {
    const row = shardRow(shard);
    if (this.drainRemoteFrees(shard, DRAIN_MAX) && this.control[row + S_CLASS_LISTS + cls] !== 0) {
      return this.takeFromSlab(row, this.control[row + S_CLASS_LISTS + cls] as number, cls);
    }
    const slab =
      this.control[H_GARBAGE] === 0 && this.renewSlabs(row, cls, 1) !== 0
        ? (this.control[row + S_CLASS_LISTS + cls] as number)
        : this.newSlab(shard, cls);
    return slab === 0 ? 0 : this.takeFromSlab(row, slab, cls);
  }

  /** Makes a slab, or an old one like new if memory is out; 0 if there is none either. */
  private newSlab(shard: number, cls: number): number {
    const row = shardRow(shard);
    const pages = SLAB_PAGES[cls] as number;
    const slab = this.takePagesAtAnyCost(shard, pages);
    if (slab === 0) {
      this.renewSlabs(row, cls, 1);
      return this.control[row + S_CLASS_LISTS + cls] as number;
    }
    const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const at = pageRow(slab);
    m[at + P_KIND] = KIND_SLAB | (cls << 8) | (shard << 16);
    for (let back = 1; back < pages; back++) {
      m[pageRow(slab + back) + P_KIND] = KIND_SLAB_BODY | (back << 8) | (shard << 16);
    }
    m[at + P_FREE_HEAD] = 0;
    m[at + P_USED] = (this.control[row + S_FLUSHES] as number) << USED_SHIFT;
    m[at + P_BUMP] = 0;
    this.linkSlab(row + S_CLASS_LISTS + cls, slab);
    return slab;
  }

  /**
   * Says that much of what the shard has is about to be freed, under its lock: all its slabs are
   * old from now on. While there are some of an earlier time, these only join when they are used.
   */
  age(shard: number): void {
    const { control } = this;
    const row = shardRow(shard);
    this.giveEmptySlabs(shard);
    for (let cls = 0; cls < CLASS_COUNT; cls++) {
      if (control[row + S_OLD_LISTS + cls] !== 0) return;
    }
    control[row + S_FLUSHES] = ((control[row + S_FLUSHES] as number) + 1) & FLUSH_MASK;
    for (let cls = 0; cls < CLASS_COUNT; cls++) {
      control[row + S_OLD_LISTS + cls] = control[row + S_CLASS_LISTS + cls] as number;
      control[row + S_CLASS_LISTS + cls] = 0;
    }
  }

  /** Makes up to `most` old slabs of a class like new. Returns how many. */
  private renewSlabs(row: number, cls: number, most: number): number {
    const { control } = this;
    let renewed = 0;
    for (; renewed < most; renewed++) {
      const slab = control[row + S_OLD_LISTS + cls] as number;
      if (slab === 0) break;
      this.unlinkSlab(row + S_OLD_LISTS + cls, slab);
      const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
      const at = pageRow(slab);
      const used = (m[at + P_USED] as number) & USED_MASK;
      m[at + P_USED] = used | ((control[row + S_FLUSHES] as number) << USED_SHIFT);
      this.linkSlab(row + S_CLASS_LISTS + cls, slab);
    }
    return renewed;
  }

  /** Word of the list that a slab of a class is in as long as it has free blocks. */
  private listOf(row: number, usedWord: number, cls: number): number {
    const isOld = usedWord >> USED_SHIFT !== this.control[row + S_FLUSHES];
    return row + (isOld ? S_OLD_LISTS : S_CLASS_LISTS) + cls;
  }

  private freeLocal(shard: number, slab: number, p: number): void {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const cls = ((m[pageRow(slab) + P_KIND] as number) >>> 8) & 0xff;
    this.count(shard, -(CLASS_UNITS[cls] as number));
    if (this.blocks === null) this.freeBlock(shard, slab, p);
    else this.freeLater(shard, p);
  }

  /** Makes a block free whose units were counted already. */
  private freeBlock(shard: number, slab: number, p: number): void {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const at = pageRow(slab);
    const cls = ((m[at + P_KIND] as number) >>> 8) & 0xff;
    const wasFull = this.isFull(m, at, cls);
    m[(p & UNIT_MASK) << 1] = m[at + P_FREE_HEAD] as number;
    m[at + P_FREE_HEAD] = p - (slab << PAGE_UNIT_SHIFT) + 1;
    const used = (m[at + P_USED] as number) - 1;
    m[at + P_USED] = used;
    const isEmpty = (used & USED_MASK) === 0;
    if (wasFull || isEmpty) this.moveSlab(shard, slab, cls, wasFull, isEmpty);
  }

  /** Links a slab that was full and gives one back that is empty, after a block of it was freed. */
  private moveSlab(
    shard: number,
    slab: number,
    cls: number,
    wasFull: boolean,
    isEmpty: boolean,
  ): void {
    const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const at = pageRow(slab);
    const row = shardRow(shard);
    const list = this.listOf(row, m[at + P_USED] as number, cls);
    if (wasFull) {
      const head = this.control[list] as number;
      this.linkSlab(list, slab);
      if (head !== 0) this.giveIfEmpty(shard, list, head, cls);
    }
    if (!isEmpty) return;
    // The last slab of a class is kept, so that a block freed and made again costs no slab; but not
    // an old one, nor a large one, beside whose few blocks that is little, and of which each shard
    // would keep many.
    const isLast = m[at + P_NEXT] === 0 && m[at + P_PREVIOUS] === 0;
    const isKept = isLast && SLAB_PAGES[cls] === 1 && list === row + S_CLASS_LISTS + cls;
    if (!isKept) this.giveIfEmpty(shard, list, slab, cls);
  }

  /** Gives a slab back that is in this list of its class if no block of it is in use. */
  private giveIfEmpty(shard: number, list: number, slab: number, cls: number): void {
    const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
    if (((m[pageRow(slab) + P_USED] as number) & USED_MASK) !== 0) return;
    this.unlinkSlab(list, slab);
    this.givePages(shard, slab, SLAB_PAGES[cls] as number);
  }

  /** Checked mode: puts a freed block at the end of the quarantine. */
  private freeLater(shard: number, p: number): void {
    const { control } = this;
    const row = shardRow(shard);
    const last = control[row + S_QUARANTINE_LAST] as number;
    this.setLink(p, 0);
    if (last === 0) control[row + S_QUARANTINE_FIRST] = p;
    else this.setLink(last, p);
    control[row + S_QUARANTINE_LAST] = p;
    control[row + S_QUARANTINE_COUNT] = (control[row + S_QUARANTINE_COUNT] as number) + 1;
    this.emptyQuarantine(shard, QUARANTINE_BLOCKS);
  }

  /** Makes blocks free that have been in quarantine longest, until `most` are left. */
  private emptyQuarantine(shard: number, most: number): void {
    const { control } = this;
    const row = shardRow(shard);
    while ((control[row + S_QUARANTINE_COUNT] as number) > most) {
      const p = control[row + S_QUARANTINE_FIRST] as number;
      const next = this.linkOf(p);
      control[row + S_QUARANTINE_FIRST] = next;
      if (next === 0) control[row + S_QUARANTINE_LAST] = 0;
      control[row + S_QUARANTINE_COUNT] = (control[row + S_QUARANTINE_COUNT] as number) - 1;
      this.blocks?.checkPoison(p);
      this.freeBlock(shard, this.firstPage(p), p);
    }
  }

  /** The first word of a free block, which links it to another. */
  private linkOf(p: number): number {
    return (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
  }

  private setLink(p: number, next: number): void {
    (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] = next;
  }

  private freeRemote(owner: number, shard: number, p: number): void {
    const units = this.blockUnits(p);
    const stack = shardRow(owner) + S_REMOTE_FREE;
    for (;;) {
      const head = Atomics.load(this.control, stack);
      this.setLink(p, head);
      if (Atomics.compareExchange(this.control, stack, head, p) === head) break;
    }
    // Counted here, and counted back by the owner when it really frees it.
    this.count(shard, -units);
  }

  /**
   * Frees what other shards left on the stack of `shard`, at most so many blocks. True if there was
   * anything.
   */
  drainRemoteFrees(shard: number, most: number = Number.POSITIVE_INFINITY): boolean {
    const { control } = this;
    const row = shardRow(shard);
    let p = control[row + S_REMOTE_REST] as number;
    if (p === 0 && Atomics.load(control, row + S_REMOTE_FREE) === 0) return false;
    let freed = 0;
    for (; freed < most; freed++) {
      if (p === 0) p = Atomics.exchange(control, row + S_REMOTE_FREE, 0);
      if (p === 0) break;
      const next = this.linkOf(p);
      this.count(shard, this.blockUnits(p));
      this.freeLocal(shard, this.firstPage(p), p);
      p = next;
    }
    control[row + S_REMOTE_REST] = p;
    this.work.visited(freed);
    return true;
  }

  /**
   * Gives back the empty slabs that freeing kept, once at most so many remote frees are made good.
   * The lock of `shard` is held. True if there are more of those.
   */
  trim(shard: number, mostFrees: number = Number.POSITIVE_INFINITY): boolean {
    this.drainRemoteFrees(shard, mostFrees);
    if (this.blocks !== null) this.emptyQuarantine(shard, 0);
    this.giveEmptySlabs(shard);
    if (this.control[H_GARBAGE] === 0) this.renewAll(shard, RENEWED_MAX);
    return this.control[shardRow(shard) + S_REMOTE_REST] !== 0;
  }

  private giveEmptySlabs(shard: number): void {
    const lists = shardRow(shard) + S_CLASS_LISTS;
    // An empty slab is never but alone in its list, and no old one is empty.
    for (let cls = 0; cls < CLASS_COUNT; cls++) {
      const slab = this.control[lists + cls] as number;
      if (slab !== 0) this.giveIfEmpty(shard, lists + cls, slab, cls);
    }
  }

  private renewAll(shard: number, most: number): void {
    const row = shardRow(shard);
    let left = most;
    for (let cls = 0; cls < CLASS_COUNT && left > 0; cls++) left -= this.renewSlabs(row, cls, left);
  }

  private count(shard: number, units: number): void {
    const at = shardRow(shard) + S_UNITS_USED;
    this.control[at] = ((this.control[at] as number) + units) | 0;
  }

  /** First page of `pages` free neighbours in a span of the shard, 0 when memory is out. */
  private takePages(shard: number, pages: number): number {
    const row = shardRow(shard);
    let first = this.spanWith(row, pages);
    if (first === 0) {
      this.giveEmptySlabs(shard);
      first = this.spanWith(row, pages);
    }
    if (first === 0) first = this.takeSpan(shard);
    if (first === 0) return 0;
    const m = this.i32[first >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const mask = m[pageRow(first) + P_SPAN_MASK] as number;
    const wanted = (1 << pages) - 1;
    let offset = 0;
    while ((mask & (wanted << offset)) !== wanted << offset) {
      assert(++offset < PAGES_PER_SPAN, "takePages: a span on the wrong list");
    }
    this.setSpanMask(row, first, mask & ~(wanted << offset));
    return first + offset;
  }

  /** A span of the shard with so many free neighbours, the fewest that do; 0 if there is none. */
  private spanWith(row: number, pages: number): number {
    let first = 0;
    for (let run = pages; run <= PAGES_PER_SPAN && first === 0; run++) {
      first = this.control[row + S_SPAN_LISTS + run - 1] as number;
    }
    return first;
  }

  /** As `takePages`, but makes good all remote frees before it fails. */
  private takePagesAtAnyCost(shard: number, pages: number): number {
    const page = this.takePages(shard, pages);
    if (page !== 0) return page;
    this.trim(shard);
    return this.takePages(shard, pages);
  }

  private takeSpan(shard: number): number {
    const p = this.pool.take(1);
    if (p === 0) return 0;
    const first = p >>> PAGE_UNIT_SHIFT;
    const row = shardRow(shard);
    const m = this.i32[first >>> PAGE_CHUNK_SHIFT] as Int32Array;
    for (let i = 0; i < PAGES_PER_SPAN; i++) m[pageRow(first + i) + P_KIND] = KIND_FREE;
    m[pageRow(first) + P_SPAN_OWNER] = shard;
    m[pageRow(first) + P_SPAN_MASK] = 0;
    this.control[row + S_SPANS] = (this.control[row + S_SPANS] as number) + 1;
    this.setSpanMask(row, first, ALL_PAGES);
    return first;
  }

  private givePages(shard: number, page: number, pages: number): void {
    const first = page & ~(PAGES_PER_SPAN - 1);
    const m = this.i32[first >>> PAGE_CHUNK_SHIFT] as Int32Array;
    for (let i = 0; i < pages; i++) m[pageRow(page + i) + P_KIND] = KIND_FREE;
    const mask = m[pageRow(first) + P_SPAN_MASK] as number;
    const given = ((1 << pages) - 1) << (page - first);
    const row = shardRow(shard);
    this.setSpanMask(row, first, mask | given);
    if ((mask | given) !== ALL_PAGES) return;
    this.setSpanMask(row, first, 0);
    this.control[row + S_SPANS] = (this.control[row + S_SPANS] as number) - 1;
    this.pool.give(first << PAGE_UNIT_SHIFT, 1);
  }

  /** Sets a span's mask of free pages and moves it to the list of its longest run. */
  private setSpanMask(row: number, first: number, mask: number): void {
    const m = this.i32[first >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const at = pageRow(first);
    const links = pageRow(first + 1);
    const control = this.control;
    const before = LONGEST_RUN[m[at + P_SPAN_MASK] as number] as number;
    const after = LONGEST_RUN[mask] as number;
    m[at + P_SPAN_MASK] = mask;
    if (before === after) return;
    if (before !== 0) {
      const next = m[links + P_SPAN_MASK] as number;
      const previous = m[links + P_SPAN_OWNER] as number;
      if (previous === 0) control[row + S_SPAN_LISTS + before - 1] = next;
      else this.setSpanLink(previous, P_SPAN_MASK, next);
      if (next !== 0) this.setSpanLink(next, P_SPAN_OWNER, previous);
    }
    if (after !== 0) {
      const head = control[row + S_SPAN_LISTS + after - 1] as number;
      m[links + P_SPAN_MASK] = head;
      m[links + P_SPAN_OWNER] = 0;
      if (head !== 0) this.setSpanLink(head, P_SPAN_OWNER, first);
      control[row + S_SPAN_LISTS + after - 1] = first;
    }
  }

  private setSpanLink(first: number, word: number, value: number): void {
    const m = this.i32[first >>> PAGE_CHUNK_SHIFT] as Int32Array;
    m[pageRow(first + 1) + word] = value;
  }

  /** Puts a slab in front of the list at a word of the control buffer. */
  private linkSlab(list: number, slab: number): void {
    const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const at = pageRow(slab);
    const head = this.control[list] as number;
    m[at + P_NEXT] = head;
    m[at + P_PREVIOUS] = 0;
    if (head !== 0) {
      (this.i32[head >>> PAGE_CHUNK_SHIFT] as Int32Array)[pageRow(head) + P_PREVIOUS] = slab;
    }
    this.control[list] = slab;
  }

  private unlinkSlab(list: number, slab: number): void {
    const m = this.i32[slab >>> PAGE_CHUNK_SHIFT] as Int32Array;
    const at = pageRow(slab);
    const next = m[at + P_NEXT] as number;
    const previous = m[at + P_PREVIOUS] as number;
    if (previous === 0) this.control[list] = next;
    else (this.i32[previous >>> PAGE_CHUNK_SHIFT] as Int32Array)[pageRow(previous) + P_NEXT] = next;
    if (next !== 0) {
      (this.i32[next >>> PAGE_CHUNK_SHIFT] as Int32Array)[pageRow(next) + P_PREVIOUS] = previous;
    }
    m[at + P_NEXT] = 0;
    m[at + P_PREVIOUS] = 0;
  }
}
