/**
 * Records of a table drawn at random, all of them or only those that expire.
 *
 * A directory has more places for a shallow segment than for a deep one, so a place drawn there is
 * accepted with the chance that makes up for it, and then with that of how full the segment is.
 */
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { DIRECTORY_HEADER_WORDS, depthIn, segmentOf } from "./directory.ts";
import { FLAG_EXPIRY } from "./record.ts";
import {
  CAPACITY,
  CODE_MASK,
  CODE_SHIFT,
  COUNT_MASK,
  EXPIRES_SHIFT,
  FIRST_PROBED,
  FULL,
  OVERFLOW,
  REMOVED,
  type Segments,
} from "./segment.ts";
import type { Table } from "./table.ts";

/** Places drawn in a segment before those of its records that expire are counted through. */
const PLACE_DRAWS = 8;
/** Segments drawn before the directory is walked for one with a record that expires. */
const SEGMENT_DRAWS = 64;
/** Segments that such a walk passes. */
const WALK_MAX = 512;

type Below = (n: number) => number;

/**
 * A record chosen with equal chances, 0 from an empty table. `below(n)` draws from 0..n-1. Within
 * an overflow chain, which natural keys never make, all records have equal chances too, but the
 * chain as a whole has those of one segment.
 */
export function randomRecord(table: Table, root: number, below: Below): number {
  if (table.count(root) === 0) return 0;
  const { segments } = table;
  const global = segments.headOf(root);
  if (global >= 0) return recordOfChain(segments, root, global, below);
  const depth = depthIn(global);
  for (;;) {
    const segment = randomSegment(segments, root, depth, below);
    const head = segments.headOf(segment);
    if ((head & OVERFLOW) === 0 && below(FULL) >= (head & COUNT_MASK)) continue;
    return recordOfChain(segments, segment, head, below);
  }
}

/**
 * A record that expires, 0 if none was found: with certainty if there is none, else rarely and only
 * in a large table with hardly any. Chances are equal while the records that expire are spread as
 * hashes are.
 */
export function randomExpiring(table: Table, root: number, below: Below): number {
  const expires = table.expires(root);
  if (expires === 0) return 0;
  const { segments } = table;
  const global = segments.headOf(root);
  if (global >= 0) return expiringOfChain(segments, root, below);
  const depth = depthIn(global);
  for (let draw = 0; draw < SEGMENT_DRAWS; draw++) {
    const segment = randomSegment(segments, root, depth, below);
    // Twice what a segment of this depth has on average, and some more where that is little.
    const most = Math.ceil(expires / 2 ** (depthIn(segments.headOf(segment)) - 1)) + 4;
    if (below(most) < expiringIn(segments, segment)) {
      return expiringOfChain(segments, segment, below);
    }
  }
  return walkToExpiring(segments, root, depth, below);
}

/**
 * Puts up to `most` different records of a table that is not empty into `found`, from index `to`
 * on, and returns how many: those that lie side by side in one segment, from a random place on, all
 * of them or only those that expire. Fewer are found only where the segment has no more. This costs
 * little more than one record does, and is for whoever does not need exactly equal chances: a
 * record behind empty places is drawn more often.
 */
export function randomRun(
  table: Table,
  root: number,
  isExpiring: boolean,
  below: Below,
  most: number,
  found: Int32Array,
  to: number,
): number {
  const { segments } = table;
  if (segments.headOf(root) >= 0) {
    return runOfChain(segments, root, isExpiring, below, most, found, to);
  }
  const p = isExpiring ? randomExpiring(table, root, below) : randomRecord(table, root, below);
  if (p === 0) return 0;
  const first = segmentOf(segments.heap.i32, root, segments.hashOf(p));
  return runOfChain(segments, first, isExpiring, below, most, found, to);
}

/** As `randomRun`, of a segment and its chain. */
function runOfChain(
  segments: Segments,
  first: number,
  isExpiring: boolean,
  below: Below,
  most: number,
  found: Int32Array,
  to: number,
): number {
  let segment = first;
  if ((segments.headOf(first) & OVERFLOW) !== 0) {
    for (let left = below(segmentsOfChain(segments, first)); left > 0; left--) {
      segment = segments.nextOf(segment);
    }
  }
  const head = segments.headOf(segment);
  const code = (head >>> CODE_SHIFT) & CODE_MASK;
  const isDense = code < FIRST_PROBED;
  const places = isDense ? head & COUNT_MASK : (CAPACITY[code] as number);
  if (places === 0) return 0;
  const m = segments.heap.i32[segment >>> CHUNK_SHIFT] as Int32Array;
  const u8 = segments.heap.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
  const at = ((segment & UNIT_MASK) << 1) + 2;
  const tags = (at + (CAPACITY[code] as number)) << 2;
  let place = below(places);
  let n = 0;
  let passed = 0;
  for (; passed < places && n < most; passed++) {
    if (isDense || (u8[tags + place] as number) > REMOVED) {
      const p = m[at + place] as number;
      if (!isExpiring || (segments.headOf(p) & FLAG_EXPIRY) !== 0) found[to + n++] = p;
    }
    if (++place === places) place = 0;
  }
  segments.work.visited(passed);
  return n;
}

function segmentsOfChain(segments: Segments, first: number): number {
  let segment = first;
  let count = 1;
  while ((segments.headOf(segment) & OVERFLOW) !== 0) {
    segment = segments.nextOf(segment);
    count++;
  }
  return count;
}

/** A segment, or the first one of a chain, with chances as its share of all hashes. */
function randomSegment(segments: Segments, root: number, depth: number, below: Below): number {
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = ((root & UNIT_MASK) << 1) + DIRECTORY_HEADER_WORDS;
  for (;;) {
    const segment = m[at + below(1 << depth)] as number;
    const local = depthIn(segments.headOf(segment));
    if (depth === local || below(1 << (depth - local)) === 0) return segment;
  }
}

/** From a random place of the directory to the first segment with a record that expires. */
function walkToExpiring(segments: Segments, root: number, depth: number, below: Below): number {
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = ((root & UNIT_MASK) << 1) + DIRECTORY_HEADER_WORDS;
  const places = 1 << depth;
  let place = below(places);
  for (let passed = 0; passed < WALK_MAX; passed++) {
    const segment = m[at + place] as number;
    if (expiringIn(segments, segment) > 0) return expiringOfChain(segments, segment, below);
    const run = 1 << (depth - depthIn(segments.headOf(segment)));
    place = ((place & -run) + run) & (places - 1);
  }
  return 0;
}

/** Records of a segment and its chain that expire. */
function expiringIn(segments: Segments, first: number): number {
  let segment = first;
  let expiring = 0;
  for (;;) {
    const head = segments.headOf(segment);
    expiring += (head >>> EXPIRES_SHIFT) & COUNT_MASK;
    if ((head & OVERFLOW) === 0) return expiring;
    segment = segments.nextOf(segment);
  }
}

/** A record of a segment and its chain, which are not empty; `head` is the segment's first word. */
function recordOfChain(segments: Segments, first: number, head: number, below: Below): number {
  let segment = first;
  if ((head & OVERFLOW) !== 0) {
    let left = below(chainCount(segments, first));
    for (;;) {
      const count = segments.headOf(segment) & COUNT_MASK;
      if (left < count) break;
      left -= count;
      segment = segments.nextOf(segment);
    }
  }
  return recordOfSegment(segments, segment, below);
}

function chainCount(segments: Segments, first: number): number {
  let segment = first;
  let count = 0;
  for (;;) {
    const head = segments.headOf(segment);
    count += head & COUNT_MASK;
    if ((head & OVERFLOW) === 0) return count;
    segment = segments.nextOf(segment);
  }
}

/** A record of one segment that is not empty: places are drawn until one is taken. */
function recordOfSegment(segments: Segments, segment: number, below: Below): number {
  const head = segments.headOf(segment);
  const capacity = CAPACITY[(head >>> CODE_SHIFT) & CODE_MASK] as number;
  for (;;) {
    const place = below(capacity);
    if (segments.isTaken(segment, place)) return segments.recordAt(segment, place);
  }
}

/** A record that expires of a segment and its chain, which have one. */
function expiringOfChain(segments: Segments, first: number, below: Below): number {
  let left = below(expiringIn(segments, first));
  let segment = first;
  for (;;) {
    const expiring = (segments.headOf(segment) >>> EXPIRES_SHIFT) & COUNT_MASK;
    if (left < expiring) break;
    left -= expiring;
    segment = segments.nextOf(segment);
  }
  for (let draw = 0; draw < PLACE_DRAWS; draw++) {
    const p = recordOfSegment(segments, segment, below);
    if ((segments.headOf(p) & FLAG_EXPIRY) !== 0) return p;
  }
  let place = -1;
  for (; left >= 0; left--) {
    do place = segments.place(segment, place + 1);
    while ((segments.headOf(segments.recordAt(segment, place)) & FLAG_EXPIRY) === 0);
  }
  return segments.recordAt(segment, place);
}
