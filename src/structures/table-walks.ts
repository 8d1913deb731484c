/**
 * Walks over whole tables: in the order of the hashes, over everything, for what is due, and taking
 * a table apart. None but `dismantle` changes a table, and no callback may.
 */
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { D_COUNT, D_FULL_DEPTH, DIRECTORY_HEADER_WORDS, depthIn, segmentOf } from "./directory.ts";
import {
  CAPACITY,
  CODE_MASK,
  CODE_SHIFT,
  COUNT_MASK,
  EMPTY,
  EXPIRES_SHIFT,
  earlier,
  FIRST_PROBED,
  NO_EXPIRY,
  OVERFLOW,
  REMOVED,
  type Segments,
} from "./segment.ts";
import type { Table } from "./table.ts";

/** One past the last hash: what `scanTable` returns at the end. */
export const HASH_END: number = 2 ** 32;
/** A scan may stop at the boundaries of so many parts of a segment's own range of hashes. */
const SCAN_PARTS = 8;
/** Entries of a segment up to which a scan visits it whole. */
const WHOLE_MAX = 16;
/** Hash and place in the list, in one number that sorts by the hash. */
const PLACES: number = 2 ** 20;

/** What a scan found in one segment or chain. */
let scanOrder = new Float64Array(512);
let scanRecords = new Int32Array(512);

/**
 * Calls `visit` for the records with hashes from `from` on, in whole ranges of hashes and in the
 * order of the hashes, until at least `count` were visited. Returns the next hash, HASH_END at the
 * end. Segments of up to WHOLE_MAX entries are visited whole.
 */
export function scanTable(
  table: Table,
  root: number,
  from: number,
  count: number,
  visit: (p: number) => void,
): number {
  if (root === 0) return HASH_END;
  const { segments } = table;
  let next = from;
  let visited = 0;
  let looked = 0;
  while (next < HASH_END && visited < count) {
    const segment = segmentOf(segments.heap.i32, root, next | 0);
    const span = 2 ** (32 - depthIn(segments.headOf(segment)));
    const step = span / SCAN_PARTS;
    let boundary = (Math.floor(next / span) + 1) * span;
    const found = sortFrom(segments, segment, next);
    looked += 1 + found;
    let isLast = found <= WHOLE_MAX;
    for (let n = 0; n < found; n++) {
      const hash = Math.floor((scanOrder[n] as number) / PLACES);
      if (hash >= boundary) break;
      visit(scanRecords[(scanOrder[n] as number) % PLACES] as number);
      visited++;
      if (isLast || visited < count) continue;
      boundary = (Math.floor(hash / step) + 1) * step;
      isLast = true;
    }
    next = boundary;
  }
  segments.work.visited(looked);
  return next;
}

/** Collects a segment and its chain from a hash on, in order. Returns how many records. */
function sortFrom(segments: Segments, first: number, from: number): number {
  let found = 0;
  eachOfChain(segments, first, (segment) => {
    const n = segments.collect(segment);
    if (found + n > scanRecords.length) growScan(found + n);
    for (let k = 0; k < n; k++) {
      const hash = (segments.hashes[k] as number) >>> 0;
      if (hash < from) continue;
      scanOrder[found] = hash * PLACES + found;
      scanRecords[found] = segments.records[k] as number;
      found++;
    }
  });
  scanOrder.subarray(0, found).sort();
  return found;
}

function growScan(entries: number): void {
  const order = new Float64Array(entries * 2);
  const records = new Int32Array(entries * 2);
  order.set(scanOrder);
  records.set(scanRecords);
  scanOrder = order;
  scanRecords = records;
}

/** Calls `visit` with every segment, overflow segments included. */
export function eachSegment(table: Table, root: number, visit: (segment: number) => void): void {
  if (root === 0) return;
  const { segments } = table;
  const head = segments.headOf(root);
  if (head >= 0) {
    eachOfChain(segments, root, visit);
    return;
  }
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = (root & UNIT_MASK) << 1;
  const depth = depthIn(head);
  // Of a table that is being dismantled, what is before the place reached is gone.
  let i = (m[at + D_COUNT] as number) < 0 ? (m[at + D_FULL_DEPTH] as number) : 0;
  while (i < 1 << depth) {
    const segment = m[at + DIRECTORY_HEADER_WORDS + i] as number;
    eachOfChain(segments, segment, visit);
    i += 1 << (depth - depthIn(segments.headOf(segment)));
  }
}

function eachOfChain(segments: Segments, first: number, visit: (segment: number) => void): void {
  let segment = first;
  for (;;) {
    visit(segment);
    if ((segments.headOf(segment) & OVERFLOW) === 0) return;
    segment = segments.nextOf(segment);
  }
}

/** Calls `visit` with every record. */
export function eachRecord(table: Table, root: number, visit: (p: number) => void): void {
  eachSegment(table, root, (segment) => eachOfSegment(table, segment, visit));
}

/** Calls `visit` with every record of one segment. */
export function eachOfSegment(table: Table, segment: number, visit: (p: number) => void): void {
  const { segments } = table;
  for (let k = segments.place(segment, 0); k >= 0; k = segments.place(segment, k + 1)) {
    visit(segments.recordAt(segment, k));
  }
}

/**
 * Where a walk for due records stands: the hash to go on with, and visits left. Of what it has
 * passed and not found, `earliest` is not after the first second in which anything is due.
 */
export type DueWalk = { hash: number; visits: number; earliest: number };

/**
 * Puts records whose expiry is at most `nowSeconds` into `found` and returns how many, looking at
 * segments from the walk's hash on, until `found` is full or the walk's visits are spent: one for
 * each segment and record. Segments where nothing is due are passed over; those looked at get their
 * earliest expiry renewed. If `found` is full, the walk stands where it must look once more.
 */
export function dueRecords(
  table: Table,
  root: number,
  walk: DueWalk,
  nowSeconds: number,
  expirySecondsOf: (p: number) => number,
  found: Int32Array,
): number {
  const { segments } = table;
  const before = walk.visits;
  let n = 0;
  const look = (segment: number): void => {
    walk.visits--;
    if (n === found.length) return;
    if (segments.earliest(segment) >>> 0 > nowSeconds) {
      walk.earliest = earlier(walk.earliest, segments.earliest(segment));
      return;
    }
    let earliest = NO_EXPIRY;
    eachOfSegment(table, segment, (p) => {
      walk.visits--;
      const seconds = expirySecondsOf(p);
      if (seconds === NO_EXPIRY) return;
      if (seconds >>> 0 > nowSeconds) walk.earliest = earlier(walk.earliest, seconds);
      else if (n < found.length) found[n++] = p;
      earliest = earlier(earliest, seconds);
    });
    segments.setEarliest(segment, earliest);
  };
  while (walk.hash < HASH_END && walk.visits > 0) {
    const first = segmentOf(segments.heap.i32, root, walk.hash | 0);
    const span = 2 ** (32 - depthIn(segments.headOf(first)));
    eachOfChain(segments, first, look);
    if (n === found.length) break;
    walk.hash = (Math.floor(walk.hash / span) + 1) * span;
  }
  segments.work.visited(before - walk.visits);
  return n;
}

/**
 * Takes up to `limit` records out of a table that nobody looks keys up in any more, passing each
 * to `release`, and frees what becomes empty. Returns how many; fewer than `limit` at the end,
 * when the root is 0.
 */
export function dismantle(
  table: Table,
  shard: number,
  cells: Int32Array,
  cell: number,
  limit: number,
  release: (p: number) => void,
): number {
  const { segments } = table;
  let done = 0;
  while (done < limit && cells[cell] !== 0) {
    const root = cells[cell] as number;
    if (segments.headOf(root) < 0) {
      done += dismantleDirectory(segments, shard, cells, cell, limit - done, release);
      continue;
    }
    done += emptySegment(segments, root, limit - done, release);
    const head = segments.headOf(root);
    if ((head & COUNT_MASK) !== 0) continue;
    cells[cell] = head & OVERFLOW ? segments.nextOf(root) : 0;
    segments.heap.free(shard, root);
  }
  return done;
}

function dismantleDirectory(
  segments: Segments,
  shard: number,
  cells: Int32Array,
  cell: number,
  limit: number,
  release: (p: number) => void,
): number {
  const root = cells[cell] as number;
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = (root & UNIT_MASK) << 1;
  const depth = depthIn(m[at] as number);
  const children = at + DIRECTORY_HEADER_WORDS;
  if ((m[at + D_COUNT] as number) >= 0) {
    m[at + D_COUNT] = -1;
    m[at + D_FULL_DEPTH] = 0;
  }
  let i = m[at + D_FULL_DEPTH] as number;
  let done = 0;
  while (i < 1 << depth && done < limit) {
    const segment = m[children + i] as number;
    done += emptySegment(segments, segment, limit - done, release);
    const head = segments.headOf(segment);
    if (head & COUNT_MASK) continue;
    if (head & OVERFLOW) m[children + i] = segments.nextOf(segment);
    else i += 1 << (depth - depthIn(head));
    segments.heap.free(shard, segment);
  }
  m[at + D_FULL_DEPTH] = i;
  if (i >= 1 << depth) {
    cells[cell] = 0;
    segments.heap.free(shard, root);
  }
  return done;
}

/** Releases up to `limit` records of a segment, the last ones first. */
function emptySegment(
  segments: Segments,
  segment: number,
  limit: number,
  release: (p: number) => void,
): number {
  const m = segments.heap.i32[segment >>> CHUNK_SHIFT] as Int32Array;
  const u8 = segments.heap.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
  const at = (segment & UNIT_MASK) << 1;
  const head = m[at] as number;
  const code = (head >>> CODE_SHIFT) & CODE_MASK;
  const tags = (at + 2 + (CAPACITY[code] as number)) << 2;
  let left = head & COUNT_MASK;
  let done = 0;
  for (let k = (code < FIRST_PROBED ? left : (CAPACITY[code] as number)) - 1; left > 0; k--) {
    if (done === limit) break;
    if (code >= FIRST_PROBED && (u8[tags + k] as number) <= REMOVED) continue;
    release(m[at + 2 + k] as number);
    u8[tags + k] = EMPTY;
    left--;
    done++;
  }
  m[at] = (head & ~COUNT_MASK) | left;
  return done;
}

export type SegmentFacts = {
  count: number;
  taken: number;
  capacity: number;
  expires: number;
  depth: number;
  /** Seconds after the store's base, as an unsigned 32-bit number. */
  earliest: number;
};

/** What a segment's header says, and how many of its places are taken. For checks. */
export function segmentFacts(table: Table, segment: number): SegmentFacts {
  const { segments } = table;
  const head = segments.headOf(segment);
  let taken = 0;
  eachOfSegment(table, segment, () => taken++);
  return {
    count: head & COUNT_MASK,
    taken,
    capacity: CAPACITY[(head >>> CODE_SHIFT) & CODE_MASK] as number,
    expires: (head >>> EXPIRES_SHIFT) & COUNT_MASK,
    depth: depthIn(head),
    earliest: segments.earliest(segment),
  };
}

/** Depth of a table's directory, 0 if it has none. */
export function depthOf(table: Table, root: number): number {
  const head = table.segments.headOf(root);
  return head < 0 ? depthIn(head) : 0;
}
