/**
 * The allocator's side of the heap check: every span, page, list and count, and that each block
 * in use was reached, or is on a stack of remote frees, or belongs to a request that is not yet
 * run. Runs after the walk over what points to blocks.
 */
import { BIG_BLOCK_ORPHAN, isLoose } from "../keyspace/big-block.ts";
import { CHUNKS_MAX } from "../limits.ts";
import {
  BITMAP_WORDS,
  BITMAPS_AT,
  CHUNK_FIRST_SPAN,
  CHUNK_FREE,
  CHUNK_ROW_WORDS,
  CHUNK_ROWS_AT,
  CHUNK_SHIFT,
  CHUNK_SPANS,
  CHUNK_STATE,
  H_FREE_SPANS,
  H_LARGE_UNITS,
  H_SHARDS,
  H_SPANS_USED,
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
  PAGE_UNIT_SHIFT,
  PAGES_PER_SPAN,
  pageRow,
  S_CLASS_LISTS,
  S_FLUSHES,
  S_OLD_LISTS,
  S_QUARANTINE_FIRST,
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
} from "../memory/layout.ts";
import {
  CLASS_COUNT,
  CLASS_UNITS,
  SLAB_BLOCK_MAX,
  SLAB_PAGES,
  SLAB_UNITS,
} from "../memory/size-classes.ts";
import { type HeapCheck, hex, unitsAt } from "./heap-check-marks.ts";

const PAGE_CHUNK_SHIFT = CHUNK_SHIFT - PAGE_UNIT_SHIFT;
const ALL_PAGES = (1 << PAGES_PER_SPAN) - 1;

/** What the walk over all spans counts, to be compared with the counters. */
type Totals = {
  spansUsed: number;
  spansFree: number;
  largeUnits: number;
  /** Of blocks in slabs of shards, those on remote stacks left out. */
  shardUnits: number;
  spansOf: Int32Array;
  /** Spans and slabs, by their first page, that must be in a list. */
  spansWithRoom: Set<number>;
  slabsWithRoom: Set<number>;
};

/** Views of the page that a pointer to a page names. */
function viewOf(check: HeapCheck, page: number): Int32Array {
  return check.heap.i32[page >>> PAGE_CHUNK_SHIFT] as Int32Array;
}

function longestRun(mask: number): number {
  let longest = 0;
  for (let bit = 0, run = 0; bit < PAGES_PER_SPAN; bit++) {
    run = mask & (1 << bit) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** All shards are locked and no spans change hands. */
export function checkPages(check: HeapCheck): void {
  const { control } = check.heap;
  const shards = control[H_SHARDS] as number;
  const totals: Totals = {
    spansUsed: 0,
    spansFree: 0,
    largeUnits: 0,
    shardUnits: 0,
    spansOf: new Int32Array(shards),
    spansWithRoom: new Set(),
    slabsWithRoom: new Set(),
  };
  let remoteUnits = 0;
  for (let shard = 0; shard < shards; shard++) {
    for (const [list, what] of FREED_LISTS) {
      remoteUnits += checkFreed(check, shardRow(shard) + list, `${what} of shard ${shard}`);
    }
  }
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk++) checkChunk(check, chunk, totals);
  for (let shard = 0; shard < shards; shard++) {
    checkSpanLists(check, shard, totals);
    checkClassLists(check, shard, totals);
  }
  for (const first of totals.spansWithRoom) {
    check.findings.add(`span ${hex(first << PAGE_UNIT_SHIFT)} has free pages and is in no list`);
  }
  for (const slab of totals.slabsWithRoom) {
    check.findings.add(`slab ${hex(slab << PAGE_UNIT_SHIFT)} has free blocks and is in no list`);
  }
  compareTotals(check, totals, remoteUnits);
}

function compareTotals(check: HeapCheck, totals: Totals, remoteUnits: number): void {
  const { control } = check.heap;
  let used = 0;
  for (const [shard, spans] of totals.spansOf.entries()) {
    used += control[shardRow(shard) + S_UNITS_USED] as number;
    expect(check, `spans of shard ${shard}`, control[shardRow(shard) + S_SPANS] as number, spans);
  }
  // Counters wrap at 2^32.
  const units = (totals.shardUnits - remoteUnits) >>> 0;
  expect(check, "units used in slabs of shards", used >>> 0, units);
  const large = (control[H_LARGE_UNITS] as number) >>> 0;
  expect(check, "units in large blocks", large, totals.largeUnits);
  expect(check, "spans handed out", control[H_SPANS_USED] as number, totals.spansUsed);
  expect(check, "free spans", control[H_FREE_SPANS] as number, totals.spansFree);
}

function expect(check: HeapCheck, what: string, counted: number, found: number): void {
  if (counted !== found) check.findings.add(`${what}: ${counted} counted, ${found} found`);
}

/** Blocks that are freed but not yet free to be given out again. */
const FREED_LISTS = [
  [S_REMOTE_FREE, "the stack of remote frees"],
  [S_REMOTE_REST, "the rest of the remote frees"],
  [S_QUARANTINE_FIRST, "the quarantine"],
] as const;

/** Marks the blocks on a list of freed ones. Returns their units. */
function checkFreed(check: HeapCheck, list: number, what: string): number {
  const { heap, findings } = check;
  let sum = 0;
  let p = Atomics.load(heap.control, list);
  while (p !== 0) {
    const units = unitsAt(heap, p);
    if (units === 0) {
      findings.add(`${what} has ${hex(p)}, where no block starts`);
      break;
    }
    if (!check.freed.mark(p)) {
      findings.add(`${what} has ${hex(p)} twice`);
      break;
    }
    if (check.reached.has(p)) findings.add(`${what} has ${hex(p)}, which is in use`);
    sum += units;
    p = (heap.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
  }
  return sum;
}

function checkChunk(check: HeapCheck, chunk: number, totals: Totals): void {
  const { control } = check.heap;
  const row = CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS;
  if (control[row + CHUNK_STATE] === 0) return;
  const bits = BITMAPS_AT + chunk * BITMAP_WORDS;
  const isFree = (span: number): boolean =>
    ((control[bits + (span >>> 5)] as number) & (1 << (span & 31))) !== 0;
  const first = control[row + CHUNK_FIRST_SPAN] as number;
  const end = first + (control[row + CHUNK_SPANS] as number);
  let free = 0;
  for (let span = first; span < end; ) {
    if (isFree(span)) {
      free++;
      span++;
      continue;
    }
    const p = (chunk << CHUNK_SHIFT) | (span << SPAN_UNIT_SHIFT);
    const spans = checkSpan(check, p, totals);
    for (let n = 1; n < spans; n++) {
      if (span + n >= end || isFree(span + n)) {
        check.findings.add(`large block ${hex(p)} of ${spans} spans covers a free one`);
        break;
      }
    }
    totals.spansUsed += spans;
    span += spans;
  }
  totals.spansFree += free;
  expect(check, `free spans of chunk ${chunk}`, control[row + CHUNK_FREE] as number, free);
}

/** Returns the spans that belong to what starts here. */
function checkSpan(check: HeapCheck, p: number, totals: Totals): number {
  const first = p >>> PAGE_UNIT_SHIFT;
  const m = viewOf(check, first);
  if (((m[pageRow(first) + P_KIND] as number) & 0xff) !== KIND_LARGE) {
    checkShardSpan(check, first, totals);
    return 1;
  }
  const spans = Math.max(1, m[pageRow(first) + P_USED] as number);
  totals.largeUnits += spans << SPAN_UNIT_SHIFT;
  if (!check.reached.has(p)) checkLoose(check, p);
  return spans;
}

/**
 * A large block that nothing was found to point to: fine if a request that is being received has
 * it, or if a reply that is being sent keeps what a record has let go of.
 */
function checkLoose(check: HeapCheck, p: number): void {
  const m = check.heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
  const at = (p & UNIT_MASK) << 1;
  if ((Atomics.load(m, at) & BIG_BLOCK_ORPHAN) !== 0) return;
  if (isLoose(m, at)) return;
  check.findings.add(`large block ${hex(p)} is in use and nothing points to it`);
}

function checkShardSpan(check: HeapCheck, first: number, totals: Totals): void {
  const m = viewOf(check, first);
  const shard = m[pageRow(first) + P_SPAN_OWNER] as number;
  const mask = m[pageRow(first) + P_SPAN_MASK] as number;
  const what = `span ${hex(first << PAGE_UNIT_SHIFT)}`;
  if (shard < 0 || shard >= totals.spansOf.length) {
    check.findings.add(`${what} belongs to shard ${shard}`);
    return;
  }
  totals.spansOf[shard] = (totals.spansOf[shard] as number) + 1;
  if (mask === ALL_PAGES) check.findings.add(`${what} is empty and was not given back`);
  if (mask !== 0) totals.spansWithRoom.add(first);
  for (let i = 0; i < PAGES_PER_SPAN; ) {
    const page = first + i;
    const kind = m[pageRow(page) + P_KIND] as number;
    const pages = checkPage(check, page, kind, totals);
    if (((mask & (1 << i)) !== 0) !== ((kind & 0xff) === KIND_FREE)) {
      check.findings.add(`${what} is in doubt about whether page ${i} is free`);
    }
    if ((kind & 0xff) !== KIND_FREE && kind >>> 16 !== shard) {
      check.findings.add(`${what} of shard ${shard} has a page of shard ${kind >>> 16}`);
    }
    i += pages;
  }
}

/** Returns the pages that belong to what starts here. */
function checkPage(check: HeapCheck, page: number, kind: number, totals: Totals): number {
  const p = page << PAGE_UNIT_SHIFT;
  switch (kind & 0xff) {
    case KIND_FREE:
      return 1;
    case KIND_SLAB:
      return checkSlab(check, page, kind, totals);
    default:
      check.findings.add(`page ${hex(p)} has kind ${kind & 0xff}`);
      return 1;
  }
}

const isFreeUnit = new Uint8Array(SLAB_BLOCK_MAX);

/** Returns the pages of the slab. */
function checkSlab(check: HeapCheck, slab: number, kind: number, totals: Totals): number {
  const m = viewOf(check, slab);
  const base = slab << PAGE_UNIT_SHIFT;
  const cls = (kind >>> 8) & 0xff;
  if (cls >= CLASS_COUNT) {
    check.findings.add(`slab ${hex(base)} has class ${cls}`);
    return 1;
  }
  const pages = SLAB_PAGES[cls] as number;
  for (let back = 1; back < pages; back++) {
    const body = KIND_SLAB_BODY | (back << 8) | ((kind >>> 16) << 16);
    if (m[pageRow(slab + back) + P_KIND] === body) continue;
    check.findings.add(`slab ${hex(base)} of ${pages} pages is broken at page ${back}`);
    return back;
  }
  checkBlocks(check, slab, cls, totals);
  return pages;
}

function checkBlocks(check: HeapCheck, slab: number, cls: number, totals: Totals): void {
  const m = viewOf(check, slab);
  const at = pageRow(slab);
  const base = slab << PAGE_UNIT_SHIFT;
  const units = CLASS_UNITS[cls] as number;
  const bump = m[at + P_BUMP] as number;
  const free = checkFreeList(check, slab, units, bump);
  const used = Math.floor(bump / units) - free;
  expect(check, `blocks used in slab ${hex(base)}`, (m[at + P_USED] as number) & USED_MASK, used);
  totals.shardUnits += used * units;
  const hasRoom = m[at + P_FREE_HEAD] !== 0 || bump + units <= (SLAB_UNITS[cls] as number);
  if (hasRoom) totals.slabsWithRoom.add(slab);
  for (let unit = 0; unit < bump; unit += units) {
    if (isFreeUnit[unit] === 0) checkInUse(check, (base + unit) | 0);
    else if (check.reached.has((base + unit) | 0)) {
      check.findings.add(`block ${hex(base + unit)} is free and something points to it`);
    }
  }
}

/** Sets `isFreeUnit` for the slab. Returns how many blocks are free. */
function checkFreeList(check: HeapCheck, slab: number, units: number, bump: number): number {
  const m = viewOf(check, slab);
  const words = (slab << PAGE_UNIT_SHIFT) & UNIT_MASK;
  isFreeUnit.fill(0);
  let free = 0;
  let head = m[pageRow(slab) + P_FREE_HEAD] as number;
  while (head !== 0) {
    const unit = head - 1;
    if (unit < 0 || unit >= bump || unit % units !== 0 || isFreeUnit[unit] !== 0) {
      check.findings.add(`the free list of slab ${hex(slab << PAGE_UNIT_SHIFT)} has unit ${unit}`);
      break;
    }
    isFreeUnit[unit] = 1;
    free++;
    head = m[(words + unit) << 1] as number;
  }
  return free;
}

function checkInUse(check: HeapCheck, p: number): void {
  if (check.reached.has(p) || check.freed.has(p)) return;
  const page = p >>> PAGE_UNIT_SHIFT;
  const shard = (viewOf(check, page)[pageRow(page) + P_KIND] as number) >>> 16;
  check.findings.add(`block ${hex(p)} of shard ${shard} is in use and nothing points to it`);
}

/** Lists of spans by their longest run of free pages. Takes what it finds out of the totals. */
function checkSpanLists(check: HeapCheck, shard: number, totals: Totals): void {
  const { control } = check.heap;
  for (let run = 1; run <= PAGES_PER_SPAN; run++) {
    let first = control[shardRow(shard) + S_SPAN_LISTS + run - 1] as number;
    for (let previous = 0; first !== 0; ) {
      const m = viewOf(check, first);
      const links = pageRow(first + 1);
      const what = `list ${run} of shard ${shard} has span ${hex(first << PAGE_UNIT_SHIFT)}`;
      if (!totals.spansWithRoom.delete(first)) {
        check.findings.add(`${what}, which has no room or is in it twice`);
        break;
      }
      if (m[pageRow(first) + P_SPAN_OWNER] !== shard) check.findings.add(`${what} of another`);
      if (longestRun(m[pageRow(first) + P_SPAN_MASK] as number) !== run) {
        check.findings.add(`${what}, whose longest run is another`);
      }
      if (m[links + P_SPAN_OWNER] !== previous) check.findings.add(`${what} with a wrong link`);
      previous = first;
      first = m[links + P_SPAN_MASK] as number;
    }
  }
}

/** Lists of slabs with free blocks. Takes what it finds out of the totals. */
function checkClassLists(check: HeapCheck, shard: number, totals: Totals): void {
  for (let cls = 0; cls < CLASS_COUNT; cls++) {
    checkClassList(check, shard, cls, false, totals);
    checkClassList(check, shard, cls, true, totals);
  }
}

function checkClassList(
  check: HeapCheck,
  shard: number,
  cls: number,
  isOld: boolean,
  totals: Totals,
): void {
  const { control } = check.heap;
  const row = shardRow(shard);
  let slab = control[row + (isOld ? S_OLD_LISTS : S_CLASS_LISTS) + cls] as number;
  for (let previous = 0; slab !== 0; ) {
    const m = viewOf(check, slab);
    const at = pageRow(slab);
    const place = hex(slab << PAGE_UNIT_SHIFT);
    const what = `class ${cls} of shard ${shard} lists ${isOld ? "old " : ""}slab ${place}`;
    if (!totals.slabsWithRoom.delete(slab)) {
      check.findings.add(`${what}, which has no room or is in it twice`);
      break;
    }
    if (m[at + P_KIND] !== (KIND_SLAB | (cls << 8) | (shard << 16))) {
      check.findings.add(`${what} of another kind`);
    }
    const used = m[at + P_USED] as number;
    if ((used >> USED_SHIFT !== control[row + S_FLUSHES]) !== isOld) {
      check.findings.add(`${what} of another age`);
    }
    if (isOld && (used & USED_MASK) === 0) check.findings.add(`${what}, which is empty`);
    if (m[at + P_PREVIOUS] !== previous) check.findings.add(`${what} with a wrong link`);
    previous = slab;
    slab = m[at + P_NEXT] as number;
  }
}
