/**
 * How a table grows and shrinks: segments change their capacity, split and merge, and a segment
 * that no split can help gets an overflow chain. All but the last segment of a chain are full.
 *
 * Growing allocates before it changes anything. Shrinking gives memory back if it can: without the
 * memory for a smaller form a table stays as it is.
 */
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import {
  countFullDepth,
  DEPTH_MAX,
  deepen,
  depthIn,
  halve,
  pointAt,
  segmentOf,
} from "./directory.ts";
import { FLAG_EXPIRY } from "./record.ts";
import {
  CAPACITY,
  CODE_MASK,
  CODE_SHIFT,
  COUNT_MASK,
  codeFor,
  earlier,
  OVERFLOW,
  OVERFLOW_WORD,
  type Segments,
} from "./segment.ts";

/** Largest capacity of segments that shrink late. */
const SMALL_MAX = 48;
/** Entries below which two buddies become one segment. */
const MERGE_BELOW = 180;

/**
 * Entries of each capacity below which a segment gives way to a smaller one. A slot of a full cache
 * gains and loses keys by chance: segments about the size of most slots shrink late, and to one
 * with room for twice as many, or they would soon grow again.
 */
const SHRINK_BELOW: Int32Array = CAPACITY.map((n, code) =>
  code === 0 ? 0 : n <= SMALL_MAX ? Math.floor(n / 6) : n >> 2,
);

/** The table with root `cells[cell]`, and a hash that says which segment or chain is meant. */
export type TablePlace = { shard: number; cells: Int32Array; cell: number; hash: number };

/** Rebuilds one segment with another capacity. Returns the new one, 0 when memory is out. */
export function resize(
  segments: Segments,
  place: TablePlace,
  segment: number,
  code: number,
): number {
  const to = segments.make(place.shard, code, depthIn(segments.headOf(segment)));
  if (to === 0) return 0;
  segments.copy(segment, to);
  replaceSegment(segments, place, segment, to);
  segments.heap.free(place.shard, segment);
  return to;
}

/** Points whatever pointed to `from` at `to`; 0 unlinks the last segment of a chain. */
function replaceSegment(segments: Segments, place: TablePlace, from: number, to: number): void {
  const { cells, cell, hash } = place;
  const root = cells[cell] as number;
  const first = segmentOf(segments.heap.i32, root, hash);
  if (first !== from) {
    let before = first;
    while (segments.nextOf(before) !== from) before = segments.nextOf(before);
    setNext(segments, before, to);
  } else if (root === from) {
    cells[cell] = to;
  } else {
    pointAt(segments, root, hash, depthIn(segments.headOf(from)), to);
  }
}

/** Makes `next` the segment behind this one, or none for 0. */
function setNext(segments: Segments, segment: number, next: number): void {
  const m = segments.heap.i32[segment >>> CHUNK_SHIFT] as Int32Array;
  const at = (segment & UNIT_MASK) << 1;
  m[at] = next === 0 ? (m[at] as number) & ~OVERFLOW : (m[at] as number) | OVERFLOW;
  m[at + OVERFLOW_WORD] = next;
}

/**
 * Makes room where a segment of the last capacity is full: a split or an overflow segment. `total`
 * and `expires` count the whole table. False when memory is out.
 */
export function split(
  segments: Segments,
  place: TablePlace,
  segment: number,
  total: number,
  expires: number,
): boolean {
  const { shard, cells, cell, hash } = place;
  const depth = depthIn(segments.headOf(segment));
  const count = segments.collect(segment);
  segments.work.visited(count);
  const first = segments.hashes[0] as number;
  let differ = 0;
  for (let k = 1; k < count; k++) differ |= (segments.hashes[k] as number) ^ first;
  // A directory much larger than the table is no use: a chain takes the few equal prefixes.
  const depthMax = Math.min(DEPTH_MAX, 34 - Math.clz32(total));
  const isFirst = segmentOf(segments.heap.i32, cells[cell] as number, hash) === segment;
  if (isFirst && Math.clz32(differ) < depthMax) {
    return splitInTwo(segments, place, segment, depth, count, total, expires);
  }
  const next = segments.make(shard, 0, depth);
  if (next === 0) return false;
  setNext(segments, segment, next);
  return true;
}

/** Splits by bit `depth` of the hash. The entries were collected. */
function splitInTwo(
  segments: Segments,
  place: TablePlace,
  segment: number,
  depth: number,
  count: number,
  total: number,
  expires: number,
): boolean {
  const { heap, hashes, records } = segments;
  const { shard, cells, cell, hash } = place;
  const bit = 1 << (31 - depth);
  let ones = 0;
  for (let k = 0; k < count; k++) if ((hashes[k] as number) & bit) ones++;
  if (ones === 0 || ones === count) {
    return splitOff(segments, place, segment, depth, ones === 0, total, expires);
  }
  // One more, which is about to come, must not make them grow at once.
  const isHigh = (hash & bit) !== 0;
  const low = segments.make(shard, codeFor(count - ones + (isHigh ? 0 : 1)), depth + 1);
  const high = low === 0 ? 0 : segments.make(shard, codeFor(ones + (isHigh ? 1 : 0)), depth + 1);
  if (high === 0 || !deepen(segments, shard, cells, cell, depth + 1, total, expires)) {
    if (low !== 0) heap.free(shard, low);
    if (high !== 0) heap.free(shard, high);
    return false;
  }
  segments.work.moved(count);
  for (let k = 0; k < count; k++) {
    const h = hashes[k] as number;
    segments.putAgain(h & bit ? high : low, h, records[k] as number);
  }
  segments.setEarliest(low, segments.earliest(segment));
  segments.setEarliest(high, segments.earliest(segment));
  const root = cells[cell] as number;
  pointAt(segments, root, hash & ~bit, depth + 1, low);
  pointAt(segments, root, hash | bit, depth + 1, high);
  countFullDepth(segments, root, depth + 1, 2);
  heap.free(shard, segment);
  return true;
}

/**
 * Splits a segment whose entries all have the same bit `depth`: it stays as it is, and an empty one
 * is put beside it.
 */
function splitOff(
  segments: Segments,
  place: TablePlace,
  segment: number,
  depth: number,
  isLow: boolean,
  total: number,
  expires: number,
): boolean {
  const { heap } = segments;
  const { shard, cells, cell, hash } = place;
  const bit = 1 << (31 - depth);
  const empty = segments.make(shard, 0, depth + 1);
  if (empty === 0) return false;
  if (!deepen(segments, shard, cells, cell, depth + 1, total, expires)) {
    heap.free(shard, empty);
    return false;
  }
  segments.deepened(segment);
  const root = cells[cell] as number;
  pointAt(segments, root, isLow ? hash & ~bit : hash | bit, depth + 1, segment);
  pointAt(segments, root, isLow ? hash | bit : hash & ~bit, depth + 1, empty);
  countFullDepth(segments, root, depth + 1, 2);
  return true;
}

/**
 * True if a removal that left `count` entries in a table of one segment, whose first word is given,
 * changes nothing else.
 */
export function staysAsItIs(head: number, count: number): boolean {
  if (count === 0 || (head & OVERFLOW) !== 0) return false;
  return count >= (SHRINK_BELOW[(head >>> CODE_SHIFT) & CODE_MASK] as number);
}

/** After a removal that left `count` entries: frees, shrinks or merges the segment. */
export function shrink(
  segments: Segments,
  place: TablePlace,
  segment: number,
  count: number,
): void {
  let last = segment;
  let left = count;
  if (segments.headOf(segment) & OVERFLOW) {
    last = segments.lastOfChain(segment);
    left = refill(segments, segment, last);
  }
  const code = (segments.headOf(last) >>> CODE_SHIFT) & CODE_MASK;
  const shrinkBelow = SHRINK_BELOW[code] as number;
  if (left > 0 && left >= MERGE_BELOW >> 1 && left >= shrinkBelow) return;
  if (left === 0) {
    const root = place.cells[place.cell] as number;
    // An empty segment stays only as a part of a directory.
    if (last === root || segmentOf(segments.heap.i32, root, place.hash) !== last) {
      replaceSegment(segments, place, last, 0);
      segments.heap.free(place.shard, last);
      return;
    }
  }
  if (left < shrinkBelow) {
    const room = (CAPACITY[code] as number) <= SMALL_MAX ? left * 2 : left;
    last = resize(segments, place, last, codeFor(room));
    if (last === 0) return;
  }
  if (left < MERGE_BELOW >> 1) merge(segments, place, last);
}

/** Moves an entry from the end of a chain into a segment that lost one. Returns what is left. */
function refill(segments: Segments, segment: number, last: number): number {
  const place = segments.place(last, 0);
  const p = segments.recordAt(last, place);
  segments.work.moved(1);
  segments.putAgain(segment, segments.hashOf(p), p);
  segments.setEarliest(segment, earlier(segments.earliest(segment), segments.earliest(last)));
  return segments.take(last, place, (segments.headOf(p) & FLAG_EXPIRY) !== 0);
}

/** Joins a segment with its buddy while both together are small. */
function merge(segments: Segments, place: TablePlace, segment: number): void {
  const { heap } = segments;
  const { shard, cells, cell, hash } = place;
  const root = cells[cell] as number;
  if (segments.headOf(root) >= 0 || segmentOf(heap.i32, root, hash) !== segment) return;
  const head = segments.headOf(segment);
  const depth = depthIn(head);
  if (depth === 0) {
    // The only segment has no buddy: its directory is left from a halving that had no memory.
    halve(segments, shard, cells, cell);
    return;
  }
  const buddy = segmentOf(heap.i32, root, hash ^ (1 << (32 - depth)));
  const other = segments.headOf(buddy);
  if (depthIn(other) !== depth || ((head | other) & OVERFLOW) !== 0) return;
  const count = (head & COUNT_MASK) + (other & COUNT_MASK);
  if (count >= MERGE_BELOW) return;
  const to = segments.make(shard, codeFor(count), depth - 1);
  if (to === 0) return;
  segments.copy(segment, to);
  segments.copy(buddy, to);
  pointAt(segments, root, hash, depth - 1, to);
  heap.free(shard, segment);
  heap.free(shard, buddy);
  const full = countFullDepth(segments, root, depth, -2);
  if (full === 0) halve(segments, shard, cells, cell);
}
