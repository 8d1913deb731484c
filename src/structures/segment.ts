/**
 * Segments: where the hash table keeps its entries, a pointer to a record and a tag each.
 *
 *   u32 word: count (10 bits), capacity code (4), expiring entries (10), depth (5), overflow (1)
 *   u32 earliest expiry, seconds after the store's base; all ones = none
 *   u32 pointer[capacity], u8 tag[capacity]
 *   with overflow: u32 pointer to the next segment at OVERFLOW_WORD
 *
 * Up to DENSE_MAX entries a segment is dense: entries have no order, may fill it, and their tags
 * are scanned. Above it is open addressing with linear probing. A tag is 8 bits of the hash,
 * 2..255; 0 is an empty place and 1 a removed one. An entry has no room for its hash: whoever moves
 * it to a probed segment hashes the record's key again.
 */
import { halfSipHash13 } from "../base/siphash.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT, H_HASH_KEY_0, H_HASH_KEY_1, UNIT_MASK } from "../memory/layout.ts";
import type { Work } from "../memory/work.ts";
import { FLAG_EXPIRY, FLAG_LONG, keyOffset } from "./record.ts";

/** Steps are smallest about 70, which is where a database of a million keys has its slots. */
const CAPACITIES = [4, 6, 9, 12, 16, 24, 34, 48, 62, 76, 100, 140, 203, 270, 408, 512];
export const CAPACITY: Int32Array = new Int32Array(CAPACITIES);
export const LAST_CODE: number = CAPACITIES.length - 1;
/** Capacity code from which a segment is probed and not scanned. */
export const FIRST_PROBED = 5;
export const DENSE_MAX = 16;
/**
 * Capacity up to which a probed segment is filled to nine tenths: to pass all its tags over for a
 * key that is not there costs less than a miss of the cache. Larger ones are filled to four fifths.
 */
const TIGHT_MAX = 203;
/** Entries at which a segment of each code is full. */
export const FULL_AT: Int32Array = new Int32Array(
  CAPACITIES.map((n) => (n <= DENSE_MAX ? n : Math.floor(n * (n <= TIGHT_MAX ? 0.91 : 0.8)))),
);
const SEGMENT_UNITS = new Int32Array(CAPACITIES.map((n) => (8 + 5 * n + 7) >>> 3));
/** A segment of the last code has room for this word behind its tags. */
export const OVERFLOW_WORD = 680;
SEGMENT_UNITS[LAST_CODE] = 341;
/** Most entries of one segment. */
export const FULL: number = FULL_AT[LAST_CODE] as number;

export const COUNT_MASK = 1023;
export const CODE_SHIFT = 10;
export const CODE_MASK = 15;
export const EXPIRES_SHIFT = 14;
export const EXPIRES_ONE: number = 1 << EXPIRES_SHIFT;
export const DEPTH_SHIFT = 24;
export const DEPTH_MASK = 31;
export const OVERFLOW: number = 1 << 29;

export const EMPTY = 0;
export const REMOVED = 1;
/** Seconds of what never expires. */
export const NO_EXPIRY = -1;
/**
 * A segment is rebuilt when a removal leaves a run of this many places without an empty one and an
 * eighth of all places are removed ones: else a key that is not there would be looked for in all.
 */
const LONG_RUN = 32;
const REMOVED_SHIFT = 3;

/** A thread's hands on the segments of all its tables. */
export class Segments {
  readonly work: Work;
  readonly heap: Heap;
  /** What `collect` found. */
  readonly hashes: Int32Array = new Int32Array(512);
  readonly records: Int32Array = new Int32Array(512);
  private readonly i32: Int32Array[];
  private readonly u8: Uint8Array[];
  private readonly key0: number;
  private readonly key1: number;

  constructor(heap: Heap) {
    this.heap = heap;
    this.work = heap.work;
    this.i32 = heap.i32;
    this.u8 = heap.u8;
    this.key0 = heap.control[H_HASH_KEY_0] as number;
    this.key1 = heap.control[H_HASH_KEY_1] as number;
  }

  hash(view: DataView, start: number, end: number): number {
    return halfSipHash13(this.key0, this.key1, view, start, end) | 0;
  }

  /** Hash of a record's key. */
  hashOf(p: number): number {
    const kind = this.headOf(p);
    const start = ((p & UNIT_MASK) << 3) + keyOffset(kind);
    const view = this.heap.view[p >>> CHUNK_SHIFT] as DataView;
    return this.hash(view, start, start + this.keyLength(p, kind));
  }

  /** Length of the key of a record with this first word. */
  keyLength(p: number, word: number): number {
    if ((word & FLAG_LONG) === 0) return (word >>> 8) & 0xff;
    const at = ((p & UNIT_MASK) << 3) + 7;
    return (this.heap.view[p >>> CHUNK_SHIFT] as DataView).getUint32(at, true);
  }

  /** First word of a segment, of a directory or of a record. */
  headOf(p: number): number {
    return (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
  }

  /** The next segment of an overflow chain; there is one. */
  nextOf(segment: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    return m[((segment & UNIT_MASK) << 1) + OVERFLOW_WORD] as number;
  }

  lastOfChain(segment: number): number {
    let last = segment;
    while ((this.headOf(last) & OVERFLOW) !== 0) last = this.nextOf(last);
    return last;
  }

  earliest(segment: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    return m[((segment & UNIT_MASK) << 1) + 1] as number;
  }

  setEarliest(segment: number, seconds: number): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    m[((segment & UNIT_MASK) << 1) + 1] = seconds;
  }

  /** One more bit of their hashes is the same for all that belong into this segment. */
  deepened(segment: number): void {
    const m = this.heap.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    m[(segment & UNIT_MASK) << 1] = this.headOf(segment) + (1 << DEPTH_SHIFT);
  }

  /** A segment without entries, 0 when memory is out. */
  make(shard: number, code: number, depth: number): number {
    const segment = this.heap.alloc(shard, SEGMENT_UNITS[code] as number);
    if (segment === 0) return 0;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    m[at] = (code << CODE_SHIFT) | (depth << DEPTH_SHIFT);
    m[at + 1] = NO_EXPIRY;
    this.clearTags(segment, CAPACITY[code] as number);
    return segment;
  }

  private clearTags(segment: number, capacity: number): void {
    const tags = (((segment & UNIT_MASK) << 1) + 2 + capacity) << 2;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    for (let k = 0; k < capacity; k++) u8[tags + k] = EMPTY;
  }

  /** Writes an entry into a segment that has room. */
  put(segment: number, hash: number, p: number, expirySeconds: number): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & CODE_MASK;
    const capacity = CAPACITY[code] as number;
    const tags = (at + 2 + capacity) << 2;
    let k = head & COUNT_MASK;
    if (code >= FIRST_PROBED) {
      k = homeOf(hash, capacity);
      while ((u8[tags + k] as number) > REMOVED) if (++k === capacity) k = 0;
    }
    m[at + 2 + k] = p;
    u8[tags + k] = tagOf(hash);
    if (expirySeconds === NO_EXPIRY) {
      m[at] = head + 1;
    } else {
      m[at] = head + 1 + EXPIRES_ONE;
      m[at + 1] = earlier(m[at + 1] as number, expirySeconds);
    }
  }

  /** Puts an entry into another segment and counts its expiry from the record. */
  putAgain(segment: number, hash: number, p: number): void {
    this.put(segment, hash, p, NO_EXPIRY);
    if ((this.headOf(p) & FLAG_EXPIRY) === 0) return;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    m[at] = (m[at] as number) + EXPIRES_ONE;
  }

  /** Takes the entry at a place out. Returns how many are left. */
  take(segment: number, position: number, expires: boolean): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & CODE_MASK;
    const capacity = CAPACITY[code] as number;
    const tags = (at + 2 + capacity) << 2;
    const last = (head & COUNT_MASK) - 1;
    m[at] = head - 1 - (expires ? EXPIRES_ONE : 0);
    if (code < FIRST_PROBED) {
      m[at + 2 + position] = m[at + 2 + last] as number;
      u8[tags + position] = u8[tags + last] as number;
    } else if (clearPlace(u8, tags, position, capacity)) {
      this.rebuild(segment);
    }
    return last;
  }

  /** Puts all entries of a probed segment where they belong, so that no removed place is left. */
  private rebuild(segment: number): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const count = this.collect(segment);
    this.work.moved(count);
    this.clearTags(segment, CAPACITY[(head >>> CODE_SHIFT) & CODE_MASK] as number);
    m[at] = head & ~COUNT_MASK;
    for (let k = 0; k < count; k++) {
      this.put(segment, this.hashes[k] as number, this.records[k] as number, NO_EXPIRY);
    }
  }

  /** Copies all entries into a segment that has room, with their expiries. */
  copy(from: number, to: number): void {
    const head = this.headOf(from);
    const m = this.i32[from >>> CHUNK_SHIFT] as Int32Array;
    const n = this.i32[to >>> CHUNK_SHIFT] as Int32Array;
    const at = (from & UNIT_MASK) << 1;
    const nAt = (to & UNIT_MASK) << 1;
    const code = (head >>> CODE_SHIFT) & CODE_MASK;
    const isDense = (((n[nAt] as number) >>> CODE_SHIFT) & CODE_MASK) < FIRST_PROBED;
    const tags = (at + 2 + (CAPACITY[code] as number)) << 2;
    const u8 = this.u8[from >>> CHUNK_SHIFT] as Uint8Array;
    let left = head & COUNT_MASK;
    this.work.moved(left);
    for (let k = 0; left > 0; k++) {
      if (code >= FIRST_PROBED && (u8[tags + k] as number) <= REMOVED) continue;
      const p = m[at + 2 + k] as number;
      if (isDense) this.append(to, p, u8[tags + k] as number);
      else this.put(to, this.hashOf(p), p, NO_EXPIRY);
      left--;
    }
    n[nAt] = (n[nAt] as number) + (head & (COUNT_MASK << EXPIRES_SHIFT));
    n[nAt + 1] = earlier(n[nAt + 1] as number, m[at + 1] as number);
  }

  /** Adds an entry to a dense segment, where the tag is all that is needed of the hash. */
  private append(segment: number, p: number, tag: number): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const k = head & COUNT_MASK;
    const capacity = CAPACITY[(head >>> CODE_SHIFT) & CODE_MASK] as number;
    m[at + 2 + k] = p;
    (this.u8[segment >>> CHUNK_SHIFT] as Uint8Array)[((at + 2 + capacity) << 2) + k] = tag;
    m[at] = head + 1;
  }

  /** Puts the hashes and records of one segment, in no order, into the lists. Returns how many. */
  collect(segment: number): number {
    let n = 0;
    for (let k = this.place(segment, 0); k >= 0; k = this.place(segment, k + 1)) {
      const p = this.recordAt(segment, k);
      this.records[n] = p;
      this.hashes[n] = this.hashOf(p);
      n++;
    }
    return n;
  }

  /** The first place from `from` on that has an entry, -1 if there is none. */
  place(segment: number, from: number): number {
    const head = this.headOf(segment);
    const code = (head >>> CODE_SHIFT) & CODE_MASK;
    if (code < FIRST_PROBED) return from < (head & COUNT_MASK) ? from : -1;
    const capacity = CAPACITY[code] as number;
    const tags = (((segment & UNIT_MASK) << 1) + 2 + capacity) << 2;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    let k = from;
    while (k < capacity && (u8[tags + k] as number) <= REMOVED) k++;
    return k < capacity ? k : -1;
  }

  /** True if there is an entry at this place. */
  isTaken(segment: number, place: number): boolean {
    const head = this.headOf(segment);
    const code = (head >>> CODE_SHIFT) & CODE_MASK;
    if (code < FIRST_PROBED) return place < (head & COUNT_MASK);
    const tags = (((segment & UNIT_MASK) << 1) + 2 + (CAPACITY[code] as number)) << 2;
    return ((this.u8[segment >>> CHUNK_SHIFT] as Uint8Array)[tags + place] as number) > REMOVED;
  }

  recordAt(segment: number, place: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    return m[((segment & UNIT_MASK) << 1) + 2 + place] as number;
  }
}

/**
 * Marks a place as removed, or as empty if nothing was ever probed past it. True if so many places
 * are removed that the segment should be rebuilt.
 */
function clearPlace(u8: Uint8Array, tags: number, position: number, capacity: number): boolean {
  let k = position + 1 === capacity ? 0 : position + 1;
  if (u8[tags + k] === EMPTY) {
    k = position;
    u8[tags + k] = EMPTY;
    for (let n = 1; n < capacity; n++) {
      k = k === 0 ? capacity - 1 : k - 1;
      if (u8[tags + k] !== REMOVED) return false;
      u8[tags + k] = EMPTY;
    }
    return false;
  }
  u8[tags + position] = REMOVED;
  const longest = Math.min(LONG_RUN, capacity);
  for (let run = 1; run < longest; run++) {
    if (u8[tags + k] === EMPTY) return false;
    if (++k === capacity) k = 0;
  }
  let removed = 0;
  for (k = 0; k < capacity; k++) if (u8[tags + k] === REMOVED) removed++;
  return removed > capacity >> REMOVED_SHIFT;
}

/** Code of the smallest capacity that holds so many entries. */
export function codeFor(count: number): number {
  let code = 0;
  while (code < LAST_CODE && (FULL_AT[code] as number) < count) code++;
  return code;
}

export function tagOf(hash: number): number {
  const tag = hash & 0xff;
  return tag < 2 ? tag + 128 : tag;
}

/** Where a hash is looked for first: from its low bits, since the high ones chose the segment. */
export function homeOf(hash: number, capacity: number): number {
  return ((Math.imul(hash, 0x9e3779b1) >>> 16) * capacity) >>> 16;
}

/** The earlier of two expiries in seconds. */
export function earlier(a: number, b: number): number {
  return a >>> 0 < b >>> 0 ? a : b;
}
