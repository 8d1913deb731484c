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

/** Records that were drawn, with the segment and the place in it of each. */
export type Samples = { records: Int32Array; segments: Int32Array; places: Int32Array };

export function makeSamples(most: number): Samples {
  return {
    records: new Int32Array(most),
    segments: new Int32Array(most),
    places: new Int32Array(most),
  };
}

/** For whoever wants a record alone. */
const ONE: Samples = makeSamples(1);

/**
 * A record chosen with equal chances, 0 from an empty table. `below(n)` draws from 0..n-1. Within
 * an overflow chain, which natural keys never make, all records have equal chances too, but the
 * chain as a whole has those of one segment.
 */
export function randomRecord(table: Table, root: number, below: Below): number {
  return drawRecord(table, root, below, ONE, 0) ? (ONE.records[0] as number) : 0;
}

/** As `randomRecord`, with the place. False from an empty table. */
export function drawRecord(
  table: Table,
  root: number,
  below: Below,
  found: Samples,
  to: number,
): boolean {
  if (table.count(root) === 0) return false;
  const { segments } = table;
  const global = segments.headOf(root);
  if (global >= 0) {
    drawOfChain(segments, root, global, below, found, to);
    return true;
  }
  const depth = depthIn(global);
  for (;;) {
    const segment = randomSegment(segments, root, depth, below);
    const head = segments.headOf(segment);
    if ((head & OVERFLOW) === 0 && below(FULL) >= (head & COUNT_MASK)) continue;
    drawOfChain(segments, segment, head, below, found, to);
    return true;
  }
}

/**
 * A record that expires, 0 if none was found: with certainty if there is none, else rarely and only
 * in a large table with hardly any. Chances are equal while the records that expire are spread as
 * hashes are.
 */
export function randomExpiring(table: Table, root: number, below: Below): number {
  return drawExpiring(table, root, below, ONE, 0) ? (ONE.records[0] as number) : 0;
}

/** As `randomExpiring`, with the place. False if none was found. */
export function drawExpiring(
  table: Table,
  root: number,
  below: Below,
  found: Samples,
  to: number,
): boolean {
  const expires = table.expires(root);
  if (expires === 0) return false;
  const { segments } = table;
  const global = segments.headOf(root);
  if (global >= 0) {
    drawExpiringOfChain(segments, root, below, found, to);
    return true;
  }
  const depth = depthIn(global);
  for (let draw = 0; draw < SEGMENT_DRAWS; draw++) {
    const segment = randomSegment(segments, root, depth, below);
    // Twice what a segment of this depth has on average, and some more where that is little.
    const most = Math.ceil(expires / 2 ** (depthIn(segments.headOf(segment)) - 1)) + 4;
    if (below(most) < expiringIn(segments, segment)) {
      drawExpiringOfChain(segments, segment, below, found, to);
      return true;
    }
  }
  const segment = walkToExpiring(segments, root, depth, below);
  if (segment !== 0) drawExpiringOfChain(segments, segment, below, found, to);
  return segment !== 0;
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
  found: Samples,
  to: number,
): number {
  const { segments } = table;
  if (segments.headOf(root) >= 0) {
    return runOfChain(segments, root, isExpiring, below, most, found, to);
  }
  const isFound = isExpiring
    ? drawExpiring(table, root, below, ONE, 0)
    : drawRecord(table, root, below, ONE, 0);
  if (!isFound) return 0;
  const hash = segments.hashOf(ONE.records[0] as number);
  const first = segmentOf(segments.heap.i32, root, hash);
  return runOfChain(segments, first, isExpiring, below, most, found, to);
}

/** As `randomRun`, of a segment and its chain. */
function runOfChain(
  segments: Segments,
  first: number,
  isExpiring: boolean,
  below: Below,
  most: number,
  found: Samples,
  to: number,
): number {
  let segment = first;
  if ((segments.headOf(first) & OVERFLOW) !== 0) {
    for (let left = below(segmentsOfChain(segments, first)); left > 0; left--) {
      segment = segments.nextOf(segment);
    }
  }
  const m = segments.heap.i32[segment >>> CHUNK_SHIFT] as Int32Array;
  const head = m[(segment & UNIT_MASK) << 1] as number;
  const code = (head >>> CODE_SHIFT) & CODE_MASK;
  const isDense = code < FIRST_PROBED;
  const count = head & COUNT_MASK;
  const capacity = CAPACITY[code] as number;
  const places = isDense ? count : capacity;
  if (places === 0) return 0;
  // Where all expire, no record need be looked at for that.
  const isPicky = isExpiring && ((head >>> EXPIRES_SHIFT) & COUNT_MASK) !== count;
  const u8 = segments.heap.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
  const at = ((segment & UNIT_MASK) << 1) + 2;
  const tags = (at + capacity) << 2;
  const { records, places: taken } = found;
  const end = to + most;
  let place = below(places);
  let n = to;
  let passed = 0;
  while (passed < places && n < end) {
    const p = m[at + place] as number;
    records[n] = p;
    taken[n] = place;
    passed++;
    // Whether a place is taken is as good as random: counted, and not branched on.
    let one = isDense ? 1 : (REMOVED - (u8[tags + place] as number)) >>> 31;
    if (isPicky && one !== 0 && (segments.headOf(p) & FLAG_EXPIRY) === 0) one = 0;
    n += one;
    if (++place === places) place = 0;
  }
  for (let k = to; k < n; k++) found.segments[k] = segment;
  segments.work.visited(passed);
  return n - to;
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

/** The first segment with a record that expires, from a random place of the directory on; or 0. */
function walkToExpiring(segments: Segments, root: number, depth: number, below: Below): number {
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = ((root & UNIT_MASK) << 1) + DIRECTORY_HEADER_WORDS;
  const places = 1 << depth;
  let place = below(places);
  for (let passed = 0; passed < WALK_MAX; passed++) {
    const segment = m[at + place] as number;
    if (expiringIn(segments, segment) > 0) return segment;
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
function drawOfChain(
  segments: Segments,
  first: number,
  head: number,
  below: Below,
  found: Samples,
  to: number,
): void {
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
  note(segments, segment, placeOfSegment(segments, segment, below), found, to);
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

/** A place of one segment that is not empty: places are drawn until one is taken. */
function placeOfSegment(segments: Segments, segment: number, below: Below): number {
  const head = segments.headOf(segment);
  const code = (head >>> CODE_SHIFT) & CODE_MASK;
  if (code < FIRST_PROBED) return below(head & COUNT_MASK);
  const capacity = CAPACITY[code] as number;
  for (;;) {
    const place = below(capacity);
    if (segments.isTaken(segment, place)) return place;
  }
}

/** A record that expires of a segment and its chain, which have one. */
function drawExpiringOfChain(
  segments: Segments,
  first: number,
  below: Below,
  found: Samples,
  to: number,
): void {
  let left = below(expiringIn(segments, first));
  let segment = first;
  for (;;) {
    const expiring = (segments.headOf(segment) >>> EXPIRES_SHIFT) & COUNT_MASK;
    if (left < expiring) break;
    left -= expiring;
    segment = segments.nextOf(segment);
  }
  for (let draw = 0; draw < PLACE_DRAWS; draw++) {
    const place = placeOfSegment(segments, segment, below);
    if (expiresAt(segments, segment, place)) {
      note(segments, segment, place, found, to);
      return;
    }
  }
  let place = -1;
  for (; left >= 0; left--) {
    do place = segments.place(segment, place + 1);
    while (!expiresAt(segments, segment, place));
  }
  note(segments, segment, place, found, to);
}

function expiresAt(segments: Segments, segment: number, place: number): boolean {
  return (segments.headOf(segments.recordAt(segment, place)) & FLAG_EXPIRY) !== 0;
}

function note(
  segments: Segments,
  segment: number,
  place: number,
  found: Samples,
  to: number,
): void {
  found.records[to] = segments.recordAt(segment, place);
  found.segments[to] = segment;
  found.places[to] = place;
}
