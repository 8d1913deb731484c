// long: segments, growth and walks share one set of words; they are due to be split.
/**
 * The hash table of records: one per database and slot, and for large collections.
 *
 * A table is one word, its root: 0, a segment, or a directory of segments (extendible hashing by
 * the highest bits of the hash). A segment starts with 4 entries, grows to 512 and only then splits.
 *
 *   segment    u32 word: count (10 bits), capacity code (4), expiring entries (10), depth (5),
 *                        overflow (1)
 *              u32 earliest expiry, seconds after the store's base; all ones = none
 *              u32 pointer[capacity], u8 tag[capacity]
 *              with overflow: u32 pointer to the next segment at OVERFLOW_WORD
 *   directory  u32 word: sign bit set, depth (5 bits at 24)
 *              u32 count, u32 expiring entries, u32 segments at full depth
 *              u32 pointer[1 << depth]
 *
 * Up to SMALL_MAX entries a segment is dense and scanned; above it is open addressing with linear
 * probing. A tag is 8 bits of the hash, 2..255; 0 is an empty place and 1 a removed one.
 *
 * Segments whose hashes agree in all the bits a directory may use get an overflow chain, so that
 * equal hashes cost time in their own chain and never memory.
 *
 * Order of iteration is (hash as u32): growth, splits and merges do not change it.
 *
 * Not here: the lock (the dispatcher holds the shard's) and the meaning of a record's value.
 */
import { halfSipHash13View } from "../base/siphash.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT, H_HASH_KEY_0, H_HASH_KEY_1, UNIT_MASK } from "../memory/layout.ts";
import { FLAG_EXPIRY, FLAG_LONG, keyOffset } from "./record.ts";

const CAPACITIES = [4, 6, 9, 12, 16, 24, 36, 54, 80, 120, 180, 270, 400, 512];
const CAPACITY = new Int32Array(CAPACITIES);
const LAST_CODE = CAPACITIES.length - 1;
/** Capacity code from which a segment is probed and not scanned. */
const FIRST_PROBED = 5;
const SMALL_MAX = 16;
/** Entries at which a segment of each code is full: all of a dense one, 4/5 of a probed one. */
const FULL_AT = new Int32Array(CAPACITIES.map((n) => (n <= SMALL_MAX ? n : Math.floor(n * 0.8))));
const SEGMENT_UNITS = new Int32Array(CAPACITIES.map((n) => (8 + 5 * n + 7) >>> 3));
/** A segment of the last code has room for this word behind its tags. */
const OVERFLOW_WORD = 680;
const OVERFLOW_UNITS = 341;
SEGMENT_UNITS[LAST_CODE] = OVERFLOW_UNITS;
/** Most entries of one segment. */
const FULL = FULL_AT[LAST_CODE] as number;

const COUNT_MASK = 1023;
const CODE_SHIFT = 10;
const EXPIRES_SHIFT = 14;
const EXPIRES_ONE = 1 << EXPIRES_SHIFT;
const DEPTH_SHIFT = 24;
const OVERFLOW = 1 << 29;
const DIRECTORY = 1 << 31;
export const DEPTH_MAX = 24;
const DIRECTORY_HEADER_WORDS = 4;
const D_COUNT = 1;
const D_EXPIRES = 2;
const D_FULL_DEPTH = 3;

const EMPTY = 0;
const REMOVED = 1;
/** Seconds of what never expires. */
export const NO_EXPIRY = -1;
/** A probe this long means that removed places have piled up. */
const PROBE_REBUILD = 48;
/** Entries below which two buddies become one segment. */
const MERGE_BELOW = 180;

/** What the table did, for the counters that prove the bounds. */
export type TableWork = { entriesMoved: number; entriesMovedMax: number };

export type SegmentFacts = {
  count: number;
  taken: number;
  capacity: number;
  expires: number;
  depth: number;
  /** Seconds after the store's base, as an unsigned 32-bit number. */
  earliest: number;
};

export class Table {
  readonly work: TableWork = { entriesMoved: 0, entriesMovedMax: 0 };
  /** Where `dueRecords` stopped, and how many segments and records it looked at. */
  dueNext = 0;
  dueVisits = 0;
  /** Place of the record that `find` returned last. */
  private foundSegment = 0;
  private foundPosition = 0;
  private readonly heap: Heap;
  private readonly i32: Int32Array[];
  private readonly u8: Uint8Array[];
  private readonly key0: number;
  private readonly key1: number;
  /** Entries collected from one segment, in the order of their hashes. */
  private readonly hashes: Float64Array = new Float64Array(512);
  private readonly records: Int32Array = new Int32Array(512);

  constructor(heap: Heap) {
    this.heap = heap;
    this.i32 = heap.i32;
    this.u8 = heap.u8;
    this.key0 = heap.control[H_HASH_KEY_0] as number;
    this.key1 = heap.control[H_HASH_KEY_1] as number;
  }

  hash(view: DataView, start: number, end: number): number {
    return halfSipHash13View(this.key0, this.key1, view, start, end) | 0;
  }

  /** Hash of a record's key. */
  hashOf(p: number): number {
    const kind = (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
    const start = ((p & UNIT_MASK) << 3) + keyOffset(kind);
    const view = this.heap.view[p >>> CHUNK_SHIFT] as DataView;
    return this.hash(view, start, start + this.keyLength(p, kind));
  }

  private keyLength(p: number, kind: number): number {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const at = (p & UNIT_MASK) << 1;
    if ((kind & FLAG_LONG) === 0) return ((m[at] as number) >>> 8) & 0xff;
    return (this.heap.view[p >>> CHUNK_SHIFT] as DataView).getUint32((at << 2) + 7, true);
  }

  /** Pointer to the record with this key, 0 if there is none. */
  find(root: number, hash: number, view: DataView, start: number, end: number): number {
    if (root === 0) return 0;
    let segment = root;
    let m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    let at = (segment & UNIT_MASK) << 1;
    let head = m[at] as number;
    if (head < 0) {
      segment = m[
        at + DIRECTORY_HEADER_WORDS + (hash >>> (32 - ((head >>> DEPTH_SHIFT) & 31)))
      ] as number;
      m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      at = (segment & UNIT_MASK) << 1;
      head = m[at] as number;
    }
    const tag = tagOf(hash);
    const length = end - start;
    for (;;) {
      const capacity = CAPACITY[(head >>> CODE_SHIFT) & 15] as number;
      const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
      const tags = ((at + 2 + capacity) << 2) | 0;
      if (capacity <= SMALL_MAX) {
        const count = head & COUNT_MASK;
        for (let k = 0; k < count; k++) {
          if (u8[tags + k] === tag) {
            const p = m[at + 2 + k] as number;
            if (this.matches(p, view, start, length)) {
              this.foundSegment = segment;
              this.foundPosition = k;
              return p;
            }
          }
        }
      } else {
        let k = homeOf(hash, capacity);
        for (let n = 0; n < capacity; n++) {
          const there = u8[tags + k] as number;
          if (there === EMPTY) break;
          if (there === tag) {
            const p = m[at + 2 + k] as number;
            if (this.matches(p, view, start, length)) {
              this.foundSegment = segment;
              this.foundPosition = k;
              return p;
            }
          }
          if (++k === capacity) k = 0;
        }
      }
      if ((head & OVERFLOW) === 0) return 0;
      segment = m[at + OVERFLOW_WORD] as number;
      m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      at = (segment & UNIT_MASK) << 1;
      head = m[at] as number;
    }
  }

  private matches(p: number, view: DataView, start: number, length: number): boolean {
    if (this.heap.blocks !== null) this.heap.blocks.check(p);
    const word = (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
    if ((word & FLAG_LONG) === 0) {
      if (((word >>> 8) & 0xff) !== length) return false;
    } else if (this.keyLength(p, word & 0xff) !== length) {
      return false;
    }
    const there = this.heap.view[p >>> CHUNK_SHIFT] as DataView;
    const at = ((p & UNIT_MASK) << 3) + keyOffset(word);
    let i = 0;
    for (const whole = length - 3; i < whole; i += 4) {
      if (there.getInt32(at + i, true) !== view.getInt32(start + i, true)) return false;
    }
    for (; i < length; i++) {
      if (there.getUint8(at + i) !== view.getUint8(start + i)) return false;
    }
    return true;
  }

  /** Puts another record with the same key into the place that `find` found last. */
  replaceFound(p: number): void {
    const segment = this.foundSegment;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    m[((segment & UNIT_MASK) << 1) + 2 + this.foundPosition] = p;
  }

  /** Entries of the table. */
  count(root: number): number {
    return root === 0 ? 0 : this.total(root, D_COUNT);
  }

  /** Entries of the table that have an expiry. */
  expires(root: number): number {
    return root === 0 ? 0 : this.total(root, D_EXPIRES);
  }

  private total(root: number, word: number): number {
    let segment = root;
    let sum = 0;
    for (;;) {
      const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      const at = (segment & UNIT_MASK) << 1;
      const head = m[at] as number;
      if (head < 0) return m[at + word] as number;
      sum += word === D_COUNT ? head & COUNT_MASK : (head >>> EXPIRES_SHIFT) & COUNT_MASK;
      if ((head & OVERFLOW) === 0) return sum;
      segment = m[at + OVERFLOW_WORD] as number;
    }
  }

  /**
   * Adds a record whose key is not there. `cells[cell]` is the root. False when memory is out;
   * the table is then as it was.
   */
  insert(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    p: number,
    expirySeconds: number,
  ): boolean {
    for (;;) {
      const root = cells[cell] as number;
      if (root === 0) {
        const segment = this.newSegment(shard, 0, 0);
        if (segment === 0) return false;
        cells[cell] = segment;
        continue;
      }
      const segment = this.lastOfChain(this.segmentOf(root, hash));
      const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      const head = m[(segment & UNIT_MASK) << 1] as number;
      const code = (head >>> CODE_SHIFT) & 15;
      if ((head & COUNT_MASK) < (FULL_AT[code] as number)) {
        const probes = this.put(segment, hash, p, expirySeconds);
        this.addTotals(root, 1, expirySeconds === NO_EXPIRY ? 0 : 1);
        if (probes > PROBE_REBUILD) this.resize(shard, cells, cell, hash, segment, code);
        return true;
      }
      if (code < LAST_CODE) {
        if (this.resize(shard, cells, cell, hash, segment, code + 1) === 0) return false;
      } else if (!this.split(shard, cells, cell, hash, segment)) {
        return false;
      }
    }
  }

  /** Removes the record that `find` found last with this hash; does not free it. */
  removeFound(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    expires: boolean,
  ): void {
    const segment = this.foundSegment;
    const position = this.foundPosition;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & 15;
    const capacity = CAPACITY[code] as number;
    const tags = (at + 2 + capacity) << 2;
    const last = (head & COUNT_MASK) - 1;
    if (code < FIRST_PROBED) {
      m[at + 2 + position] = m[at + 2 + last] as number;
      u8[tags + position] = u8[tags + last] as number;
    } else {
      this.clearPlace(u8, tags, position, capacity);
    }
    m[at] = head - 1 - (expires ? EXPIRES_ONE : 0);
    this.addTotals(cells[cell] as number, -1, expires ? -1 : 0);
    this.shrink(shard, cells, cell, hash, segment, last);
  }

  /** A removed place is empty if nothing was ever probed past it. */
  private clearPlace(u8: Uint8Array, tags: number, position: number, capacity: number): void {
    const next = position + 1 === capacity ? 0 : position + 1;
    if (u8[tags + next] !== EMPTY) {
      u8[tags + position] = REMOVED;
      return;
    }
    let k = position;
    u8[tags + k] = EMPTY;
    for (let n = 1; n < capacity; n++) {
      k = k === 0 ? capacity - 1 : k - 1;
      if (u8[tags + k] !== REMOVED) return;
      u8[tags + k] = EMPTY;
    }
  }

  /**
   * Says that the record found last got or lost an expiry. `wasExpiring` is what it was before.
   */
  expiryChanged(
    cells: Int32Array,
    cell: number,
    wasExpiring: boolean,
    expirySeconds: number,
  ): void {
    const segment = this.foundSegment;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    const expiring = expirySeconds !== NO_EXPIRY;
    if (expiring) m[at + 1] = earlier(m[at + 1] as number, expirySeconds);
    if (expiring === wasExpiring) return;
    m[at] = (m[at] as number) + (expiring ? EXPIRES_ONE : -EXPIRES_ONE);
    this.addTotals(cells[cell] as number, 0, expiring ? 1 : -1);
  }

  private segmentOf(root: number, hash: number): number {
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const head = m[at] as number;
    if (head >= 0) return root;
    const depth = (head >>> DEPTH_SHIFT) & 31;
    return m[at + DIRECTORY_HEADER_WORDS + (hash >>> (32 - depth))] as number;
  }

  private lastOfChain(segment: number): number {
    let last = segment;
    for (;;) {
      const m = this.i32[last >>> CHUNK_SHIFT] as Int32Array;
      const at = (last & UNIT_MASK) << 1;
      if (((m[at] as number) & OVERFLOW) === 0) return last;
      last = m[at + OVERFLOW_WORD] as number;
    }
  }

  private addTotals(root: number, count: number, expires: number): void {
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    if ((m[at] as number) >= 0) return;
    m[at + D_COUNT] = (m[at + D_COUNT] as number) + count;
    m[at + D_EXPIRES] = (m[at + D_EXPIRES] as number) + expires;
  }

  private newSegment(shard: number, code: number, depth: number): number {
    const segment = this.heap.alloc(shard, SEGMENT_UNITS[code] as number);
    if (segment === 0) return 0;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    m[at] = (code << CODE_SHIFT) | (depth << DEPTH_SHIFT);
    m[at + 1] = NO_EXPIRY;
    const capacity = CAPACITY[code] as number;
    const tags = (at + 2 + capacity) << 2;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    for (let k = 0; k < capacity; k++) u8[tags + k] = EMPTY;
    return segment;
  }

  /** Writes an entry into a segment that has room. Returns the places looked at. */
  private put(segment: number, hash: number, p: number, expirySeconds: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & 15;
    const capacity = CAPACITY[code] as number;
    const tags = (at + 2 + capacity) << 2;
    let k = head & COUNT_MASK;
    let probes = 1;
    if (code >= FIRST_PROBED) {
      k = homeOf(hash, capacity);
      while ((u8[tags + k] as number) > REMOVED) {
        probes++;
        if (++k === capacity) k = 0;
      }
    }
    m[at + 2 + k] = p;
    u8[tags + k] = tagOf(hash);
    if (expirySeconds === NO_EXPIRY) {
      m[at] = head + 1;
    } else {
      m[at] = head + 1 + EXPIRES_ONE;
      m[at + 1] = earlier(m[at + 1] as number, expirySeconds);
    }
    return probes;
  }

  /** Rebuilds one segment with another capacity. Returns the new one, 0 when memory is out. */
  private resize(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    segment: number,
    code: number,
  ): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const to = this.newSegment(shard, code, (head >>> DEPTH_SHIFT) & 31);
    if (to === 0) return 0;
    this.moveEntries(segment, to);
    const n = this.i32[to >>> CHUNK_SHIFT] as Int32Array;
    const nAt = (to & UNIT_MASK) << 1;
    n[nAt + 1] = m[at + 1] as number;
    n[nAt] = (n[nAt] as number) | (head & OVERFLOW);
    if (head & OVERFLOW) n[nAt + OVERFLOW_WORD] = m[at + OVERFLOW_WORD] as number;
    this.replaceSegment(cells, cell, hash, segment, to);
    this.heap.free(shard, segment);
    return to;
  }

  /** Copies all entries, and the number of those that expire. */
  private moveEntries(from: number, to: number): void {
    const m = this.i32[from >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[from >>> CHUNK_SHIFT] as Uint8Array;
    const at = (from & UNIT_MASK) << 1;
    const head = m[at] as number;
    const capacity = CAPACITY[(head >>> CODE_SHIFT) & 15] as number;
    const tags = (at + 2 + capacity) << 2;
    const n = this.i32[to >>> CHUNK_SHIFT] as Int32Array;
    const nAt = (to & UNIT_MASK) << 1;
    const dense = (((n[nAt] as number) >>> CODE_SHIFT) & 15) < FIRST_PROBED;
    let left = head & COUNT_MASK;
    this.moved(left);
    for (let k = 0; left > 0; k++) {
      if (((head >>> CODE_SHIFT) & 15) >= FIRST_PROBED && (u8[tags + k] as number) <= REMOVED)
        continue;
      const p = m[at + 2 + k] as number;
      if (dense) this.append(to, p, u8[tags + k] as number);
      else this.put(to, this.hashOf(p), p, NO_EXPIRY);
      left--;
    }
    n[nAt] = (n[nAt] as number) + (head & (COUNT_MASK << EXPIRES_SHIFT));
  }

  private append(segment: number, p: number, tag: number): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const k = head & COUNT_MASK;
    const capacity = CAPACITY[(head >>> CODE_SHIFT) & 15] as number;
    m[at + 2 + k] = p;
    (this.u8[segment >>> CHUNK_SHIFT] as Uint8Array)[((at + 2 + capacity) << 2) + k] = tag;
    m[at] = head + 1;
  }

  private moved(entries: number): void {
    this.work.entriesMoved += entries;
    if (entries > this.work.entriesMovedMax) this.work.entriesMovedMax = entries;
  }

  /** Points whatever pointed to `from` at `to` (0 unlinks an overflow segment). */
  private replaceSegment(
    cells: Int32Array,
    cell: number,
    hash: number,
    from: number,
    to: number,
  ): void {
    const root = cells[cell] as number;
    let segment = this.segmentOf(root, hash);
    if (segment !== from) {
      for (;;) {
        const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
        const at = (segment & UNIT_MASK) << 1;
        const next = m[at + OVERFLOW_WORD] as number;
        if (next === from) {
          m[at + OVERFLOW_WORD] = to;
          if (to === 0) m[at] = (m[at] as number) & ~OVERFLOW;
          return;
        }
        segment = next;
      }
    }
    if (root === from) {
      cells[cell] = to;
      return;
    }
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const depth = ((m[at] as number) >>> DEPTH_SHIFT) & 31;
    let i = hash >>> (32 - depth);
    while (i > 0 && m[at + DIRECTORY_HEADER_WORDS + i - 1] === from) i--;
    for (; i < 1 << depth && m[at + DIRECTORY_HEADER_WORDS + i] === from; i++) {
      m[at + DIRECTORY_HEADER_WORDS + i] = to;
    }
  }

  /** Makes room where a segment of the last capacity is full: a split or an overflow segment. */
  private split(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    segment: number,
  ): boolean {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    const depth = ((m[at] as number) >>> DEPTH_SHIFT) & 31;
    const root = cells[cell] as number;
    const count = this.collect(segment);
    this.moved(count);
    let differ = 0;
    for (let k = 1; k < count; k++)
      differ |= (this.hashes[k] as number) ^ (this.hashes[0] as number);
    // A directory much larger than the table is no use: a chain takes the few equal prefixes.
    const depthMax = Math.min(DEPTH_MAX, 34 - Math.clz32(this.count(root)));
    if (Math.clz32(differ) >= depthMax || this.segmentOf(root, hash) !== segment) {
      const next = this.newSegment(shard, 0, depth);
      if (next === 0) return false;
      m[at] = (m[at] as number) | OVERFLOW;
      m[at + OVERFLOW_WORD] = next;
      return true;
    }
    return this.splitInTwo(shard, cells, cell, hash, segment, depth, count);
  }

  /** Splits by bit `depth` of the hash. The entries are in `hashes` and `records`. */
  private splitInTwo(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    segment: number,
    depth: number,
    count: number,
  ): boolean {
    const bit = 1 << (31 - depth);
    let ones = 0;
    for (let k = 0; k < count; k++) if ((this.hashes[k] as number) & bit) ones++;
    const low = this.newSegment(shard, codeFor(count - ones), depth + 1);
    const high = low === 0 ? 0 : this.newSegment(shard, codeFor(ones), depth + 1);
    if (high === 0 || !this.deepen(shard, cells, cell, depth + 1)) {
      if (low !== 0) this.heap.free(shard, low);
      if (high !== 0) this.heap.free(shard, high);
      return false;
    }
    for (let k = 0; k < count; k++) {
      const h = this.hashes[k] as number;
      this.putAgain(h & bit ? high : low, h, this.records[k] as number);
    }
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const earliest = m[((segment & UNIT_MASK) << 1) + 1] as number;
    this.setEarliest(low, earliest);
    this.setEarliest(high, earliest);
    const root = cells[cell] as number;
    const d = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const global = ((d[at] as number) >>> DEPTH_SHIFT) & 31;
    const half = 1 << (global - depth - 1);
    const first = (hash >>> (32 - global)) & ~(2 * half - 1);
    d.fill(low, at + DIRECTORY_HEADER_WORDS + first, at + DIRECTORY_HEADER_WORDS + first + half);
    d.fill(
      high,
      at + DIRECTORY_HEADER_WORDS + first + half,
      at + DIRECTORY_HEADER_WORDS + first + 2 * half,
    );
    if (depth + 1 === global) d[at + D_FULL_DEPTH] = (d[at + D_FULL_DEPTH] as number) + 2;
    this.heap.free(shard, segment);
    return true;
  }

  /** Puts an entry into another segment and counts its expiry from the record. */
  private putAgain(segment: number, hash: number, p: number): void {
    this.put(segment, hash, p, NO_EXPIRY);
    const kind = (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
    if ((kind & FLAG_EXPIRY) === 0) return;
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const at = (segment & UNIT_MASK) << 1;
    m[at] = (m[at] as number) + EXPIRES_ONE;
  }

  private setEarliest(segment: number, seconds: number): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    m[((segment & UNIT_MASK) << 1) + 1] = seconds;
  }

  /** Makes sure that there is a directory of at least this depth. */
  private deepen(shard: number, cells: Int32Array, cell: number, depth: number): boolean {
    const root = cells[cell] as number;
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const isDirectory = (m[at] as number) < 0;
    const before = isDirectory ? ((m[at] as number) >>> DEPTH_SHIFT) & 31 : 0;
    if (before >= depth) return true;
    const directory = this.newDirectory(shard, depth, this.count(root), this.expires(root));
    if (directory === 0) return false;
    const n = this.i32[directory >>> CHUNK_SHIFT] as Int32Array;
    const children = ((directory & UNIT_MASK) << 1) + DIRECTORY_HEADER_WORDS;
    for (let i = 0; i < 1 << depth; i++) {
      n[children + i] = isDirectory
        ? (m[at + DIRECTORY_HEADER_WORDS + (i >>> (depth - before))] as number)
        : root;
    }
    cells[cell] = directory;
    if (isDirectory) this.heap.free(shard, root);
    return true;
  }

  private newDirectory(shard: number, depth: number, count: number, expires: number): number {
    const directory = this.heap.alloc(shard, (DIRECTORY_HEADER_WORDS + (1 << depth) + 1) >> 1);
    if (directory === 0) return 0;
    const m = this.i32[directory >>> CHUNK_SHIFT] as Int32Array;
    const at = (directory & UNIT_MASK) << 1;
    m[at] = DIRECTORY | (depth << DEPTH_SHIFT);
    m[at + D_COUNT] = count;
    m[at + D_EXPIRES] = expires;
    m[at + D_FULL_DEPTH] = 0;
    return directory;
  }

  /** Hashes and records of one segment, in no order. Returns how many. */
  private collect(segment: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & 15;
    const tags = (at + 2 + (CAPACITY[code] as number)) << 2;
    const count = head & COUNT_MASK;
    let n = 0;
    for (let k = 0; n < count; k++) {
      if (code >= FIRST_PROBED && (u8[tags + k] as number) <= REMOVED) continue;
      const p = m[at + 2 + k] as number;
      this.records[n] = p;
      this.hashes[n] = this.hashOf(p);
      n++;
    }
    return n;
  }

  /** After a removal: frees, shrinks or merges the segment. Only gives memory back, if it can. */
  private shrink(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    segment: number,
    count: number,
  ): void {
    const head = this.headOf(segment);
    const code = (head >>> CODE_SHIFT) & 15;
    const root = cells[cell] as number;
    if (count === 0) {
      // No segment of a chain stays empty, so that the last to go is the table's.
      const next = head & OVERFLOW ? this.nextOf(segment) : 0;
      if (next !== 0 || segment === root || this.segmentOf(root, hash) !== segment) {
        this.replaceSegment(cells, cell, hash, segment, next);
        this.heap.free(shard, segment);
        return;
      }
    }
    let now = segment;
    if (code > 0 && count < (CAPACITY[code] as number) >> 2 && (head & OVERFLOW) === 0) {
      now = this.resize(shard, cells, cell, hash, segment, codeFor(count));
      if (now === 0) return;
    }
    if (count < MERGE_BELOW >> 1) this.merge(shard, cells, cell, hash, now);
  }

  private headOf(segment: number): number {
    return (this.i32[segment >>> CHUNK_SHIFT] as Int32Array)[(segment & UNIT_MASK) << 1] as number;
  }

  /** Joins a segment with its buddy while both together are small. */
  private merge(
    shard: number,
    cells: Int32Array,
    cell: number,
    hash: number,
    segment: number,
  ): void {
    const root = cells[cell] as number;
    if (this.headOf(root) >= 0 || this.segmentOf(root, hash) !== segment) return;
    const head = this.headOf(segment);
    const depth = (head >>> DEPTH_SHIFT) & 31;
    const buddy = this.segmentOf(root, hash ^ (1 << (32 - depth)));
    const other = this.headOf(buddy);
    if (((other >>> DEPTH_SHIFT) & 31) !== depth || (head | other) & OVERFLOW) return;
    const count = (head & COUNT_MASK) + (other & COUNT_MASK);
    if (count >= MERGE_BELOW) return;
    const to = this.newSegment(shard, codeFor(count), depth - 1);
    if (to === 0) return;
    for (const from of [segment, buddy]) {
      const n = this.collect(from);
      this.moved(n);
      for (let k = 0; k < n; k++) {
        this.putAgain(to, this.hashes[k] as number, this.records[k] as number);
      }
      const m = this.i32[from >>> CHUNK_SHIFT] as Int32Array;
      this.setEarliest(to, earlier(this.earliest(to), m[((from & UNIT_MASK) << 1) + 1] as number));
    }
    const d = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const global = ((d[at] as number) >>> DEPTH_SHIFT) & 31;
    const size = 1 << (global - depth + 1);
    const first = (hash >>> (32 - global)) & ~(size - 1);
    const children = at + DIRECTORY_HEADER_WORDS;
    d.fill(to, children + first, children + first + size);
    this.heap.free(shard, segment);
    this.heap.free(shard, buddy);
    if (depth === global) {
      d[at + D_FULL_DEPTH] = (d[at + D_FULL_DEPTH] as number) - 2;
      if (d[at + D_FULL_DEPTH] === 0) this.halve(shard, cells, cell);
    }
  }

  private earliest(segment: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    return m[((segment & UNIT_MASK) << 1) + 1] as number;
  }

  /** Halves a directory in which no segment needs the last bit, as often as that holds. */
  private halve(shard: number, cells: Int32Array, cell: number): void {
    for (;;) {
      const root = cells[cell] as number;
      const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
      const at = (root & UNIT_MASK) << 1;
      const depth = (((m[at] as number) >>> DEPTH_SHIFT) & 31) - 1;
      if (depth === 0) {
        cells[cell] = m[at + DIRECTORY_HEADER_WORDS] as number;
        this.heap.free(shard, root);
        return;
      }
      const count = m[at + D_COUNT] as number;
      const directory = this.newDirectory(shard, depth, count, m[at + D_EXPIRES] as number);
      if (directory === 0) return;
      const n = this.i32[directory >>> CHUNK_SHIFT] as Int32Array;
      const nAt = (directory & UNIT_MASK) << 1;
      let full = 0;
      for (let i = 0; i < 1 << depth; i++) {
        const segment = m[at + DIRECTORY_HEADER_WORDS + 2 * i] as number;
        n[nAt + DIRECTORY_HEADER_WORDS + i] = segment;
        if (((this.headOf(segment) >>> DEPTH_SHIFT) & 31) === depth) full++;
      }
      n[nAt + D_FULL_DEPTH] = full;
      cells[cell] = directory;
      this.heap.free(shard, root);
      if (full !== 0) return;
    }
  }

  /**
   * Calls `visit` for the records with hashes from `from` on, in whole ranges of hashes and in the
   * order of the hashes, until at least `count` were visited. Returns the next hash, 2^32 at the
   * end. `visit` must not change the table.
   */
  scan(root: number, from: number, count: number, visit: (p: number) => void): number {
    if (root === 0) return HASH_END;
    let next = from;
    let visited = 0;
    while (next < HASH_END && visited < count) {
      const segment = this.segmentOf(root, next | 0);
      const depth = (this.headOf(segment) >>> DEPTH_SHIFT) & 31;
      const span = 2 ** (32 - depth);
      const end = (Math.floor(next / span) + 1) * span;
      const sorted = this.sortedFrom(segment, next);
      const whole = sorted.length <= SMALL_MAX;
      // A range may end at the boundaries of an eighth of the segment's own.
      const step = span / 8;
      let boundary = end;
      for (const [hash, p] of sorted) {
        if (hash >= boundary) break;
        visit(p);
        visited++;
        if (boundary === end && !whole && visited >= count) {
          boundary = (Math.floor(hash / step) + 1) * step;
        }
      }
      next = boundary;
    }
    return next;
  }

  /** Hash and record of a segment and its chain, from a hash on, sorted. */
  private sortedFrom(first: number, from: number): [number, number][] {
    const sorted: [number, number][] = [];
    let segment = first;
    for (;;) {
      const n = this.collect(segment);
      for (let k = 0; k < n; k++) {
        const hash = (this.hashes[k] as number) >>> 0;
        if (hash >= from) sorted.push([hash, this.records[k] as number]);
      }
      if ((this.headOf(segment) & OVERFLOW) === 0) break;
      const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      segment = m[((segment & UNIT_MASK) << 1) + OVERFLOW_WORD] as number;
    }
    return sorted.sort((a, b) => a[0] - b[0]);
  }

  /** Calls `visit` with every segment, overflow segments included. It must not change the table. */
  eachSegment(root: number, visit: (segment: number) => void): void {
    if (root === 0) return;
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const head = m[at] as number;
    if (head >= 0) {
      this.eachOfChain(root, visit);
      return;
    }
    const depth = (head >>> DEPTH_SHIFT) & 31;
    // Of a table that is being dismantled, what is before the place reached is gone.
    let i = (m[at + D_COUNT] as number) < 0 ? (m[at + D_FULL_DEPTH] as number) : 0;
    while (i < 1 << depth) {
      const segment = m[at + DIRECTORY_HEADER_WORDS + i] as number;
      this.eachOfChain(segment, visit);
      i += 1 << (depth - ((this.headOf(segment) >>> DEPTH_SHIFT) & 31));
    }
  }

  private eachOfChain(first: number, visit: (segment: number) => void): void {
    let segment = first;
    for (;;) {
      visit(segment);
      if ((this.headOf(segment) & OVERFLOW) === 0) return;
      const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      segment = m[((segment & UNIT_MASK) << 1) + OVERFLOW_WORD] as number;
    }
  }

  /** Calls `visit` with every record. It must not change the table. */
  each(root: number, visit: (p: number) => void): void {
    this.eachSegment(root, (segment) => this.eachOfSegment(segment, visit));
  }

  /** What a segment's header says, and how many of its places are taken. For checks. */
  segmentFacts(segment: number): SegmentFacts {
    const head = this.headOf(segment);
    const code = (head >>> CODE_SHIFT) & 15;
    const capacity = CAPACITY[code] as number;
    const count = head & COUNT_MASK;
    const tags = (((segment & UNIT_MASK) << 1) + 2 + capacity) << 2;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    let taken = code < FIRST_PROBED ? count : 0;
    for (let k = 0; code >= FIRST_PROBED && k < capacity; k++) {
      if ((u8[tags + k] as number) > REMOVED) taken++;
    }
    return {
      count,
      taken,
      capacity,
      expires: (head >>> EXPIRES_SHIFT) & COUNT_MASK,
      depth: (head >>> DEPTH_SHIFT) & 31,
      earliest: this.earliest(segment),
    };
  }

  /** Depth of a table's directory, 0 if it has none. */
  depthOf(root: number): number {
    const head = this.headOf(root);
    return head < 0 ? (head >>> DEPTH_SHIFT) & 31 : 0;
  }

  eachOfSegment(segment: number, visit: (p: number) => void): void {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & 15;
    const tags = (at + 2 + (CAPACITY[code] as number)) << 2;
    let left = head & COUNT_MASK;
    for (let k = 0; left > 0; k++) {
      if (code >= FIRST_PROBED && (u8[tags + k] as number) <= REMOVED) continue;
      left--;
      visit(m[at + 2 + k] as number);
    }
  }

  /**
   * Puts records whose expiry is at most `nowSeconds` into `found` and returns how many, looking at
   * segments from the one with hash `from` on, until `found` is full or `visitsMax` segments and
   * records were looked at. `dueNext` is then where to go on, `dueVisits` what was looked at.
   * Segments that have none are passed over; those looked at get their earliest expiry renewed.
   */
  dueRecords(
    root: number,
    from: number,
    nowSeconds: number,
    expirySecondsOf: (p: number) => number,
    found: Int32Array,
    visitsMax: number,
  ): number {
    let n = 0;
    let next = from;
    this.dueVisits = 0;
    while (next < HASH_END && this.dueVisits < visitsMax) {
      const first = this.segmentOf(root, next | 0);
      const span = 2 ** (32 - ((this.headOf(first) >>> DEPTH_SHIFT) & 31));
      this.eachOfChain(first, (segment) => {
        this.dueVisits++;
        if (n === found.length || this.earliest(segment) >>> 0 > nowSeconds) return;
        let earliest = NO_EXPIRY;
        this.eachOfSegment(segment, (p) => {
          this.dueVisits++;
          const seconds = expirySecondsOf(p);
          if (seconds === NO_EXPIRY) return;
          if (seconds >>> 0 <= nowSeconds && n < found.length) found[n++] = p;
          earliest = earlier(earliest, seconds);
        });
        this.setEarliest(segment, earliest);
      });
      if (n === found.length) break;
      next = (Math.floor(next / span) + 1) * span;
    }
    this.dueNext = next;
    return n;
  }

  /**
   * A record chosen with equal chances, 0 from an empty table. `below(n)` draws from 0..n-1.
   * A shallow segment has more places in the directory, so it is accepted less often. Within an
   * overflow chain, which natural keys never make, all records have equal chances too, but the
   * chain as a whole has those of one segment.
   */
  random(root: number, below: (n: number) => number): number {
    if (root === 0 || this.count(root) === 0) return 0;
    if (this.headOf(root) >= 0) return this.recordOfChain(root, below(this.count(root)));
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const depth = ((m[at] as number) >>> DEPTH_SHIFT) & 31;
    for (;;) {
      const segment = m[at + DIRECTORY_HEADER_WORDS + below(1 << depth)] as number;
      const head = this.headOf(segment);
      const local = (head >>> DEPTH_SHIFT) & 31;
      if (depth > local && below(1 << (depth - local)) !== 0) continue;
      const size = head & OVERFLOW ? this.chainCount(segment) : FULL;
      const p = this.recordOfChain(segment, below(size));
      if (p !== 0) return p;
    }
  }

  private chainCount(first: number): number {
    let count = 0;
    this.eachOfChain(first, (segment) => {
      count += this.headOf(segment) & COUNT_MASK;
    });
    return count;
  }

  /** Record `n` of a chain, 0 if it has fewer. */
  private recordOfChain(first: number, n: number): number {
    let left = n;
    let segment = first;
    for (;;) {
      const head = this.headOf(segment);
      if (left < (head & COUNT_MASK)) return this.nthRecord(segment, left);
      if ((head & OVERFLOW) === 0) return 0;
      left -= head & COUNT_MASK;
      segment = this.nextOf(segment);
    }
  }

  private nextOf(segment: number): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    return m[((segment & UNIT_MASK) << 1) + OVERFLOW_WORD] as number;
  }

  private nthRecord(segment: number, n: number): number {
    let left = n;
    let found = 0;
    this.eachOfSegment(segment, (p) => {
      if (left-- === 0) found = p;
    });
    return found;
  }

  /**
   * Takes up to `limit` records out of a table that nobody looks keys up in any more, passing each
   * to `release`, and frees what becomes empty. Returns how many; fewer than `limit` at the end,
   * when the root is 0.
   */
  dismantle(
    shard: number,
    cells: Int32Array,
    cell: number,
    limit: number,
    release: (p: number) => void,
  ): number {
    let done = 0;
    while (done < limit && cells[cell] !== 0) {
      const root = cells[cell] as number;
      if (this.headOf(root) < 0) {
        done += this.dismantleDirectory(shard, cells, cell, limit - done, release);
        continue;
      }
      done += this.emptySegment(root, limit - done, release);
      if ((this.headOf(root) & COUNT_MASK) !== 0) continue;
      cells[cell] = this.headOf(root) & OVERFLOW ? this.nextOf(root) : 0;
      this.heap.free(shard, root);
    }
    return done;
  }

  private dismantleDirectory(
    shard: number,
    cells: Int32Array,
    cell: number,
    limit: number,
    release: (p: number) => void,
  ): number {
    const root = cells[cell] as number;
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const size = 1 << (((m[at] as number) >>> DEPTH_SHIFT) & 31);
    const children = at + DIRECTORY_HEADER_WORDS;
    // The place reached is kept in the word that counts segments, which has no meaning any more.
    if ((m[at + D_COUNT] as number) >= 0) {
      m[at + D_COUNT] = -1;
      m[at + D_FULL_DEPTH] = 0;
    }
    let i = m[at + D_FULL_DEPTH] as number;
    let done = 0;
    while (i < size && done < limit) {
      const segment = m[children + i] as number;
      done += this.emptySegment(segment, limit - done, release);
      const head = this.headOf(segment);
      if (head & COUNT_MASK) continue;
      const next = head & OVERFLOW ? this.nextOf(segment) : 0;
      if (next !== 0) {
        m[children + i] = next;
      } else {
        const depth = (((m[at] as number) >>> DEPTH_SHIFT) & 31) - ((head >>> DEPTH_SHIFT) & 31);
        i += 1 << depth;
      }
      this.heap.free(shard, segment);
    }
    m[at + D_FULL_DEPTH] = i;
    if (i >= size) {
      cells[cell] = 0;
      this.heap.free(shard, root);
    }
    return done;
  }

  /** Releases up to `limit` records of a segment. */
  private emptySegment(segment: number, limit: number, release: (p: number) => void): number {
    const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const at = (segment & UNIT_MASK) << 1;
    const head = m[at] as number;
    const code = (head >>> CODE_SHIFT) & 15;
    const capacity = CAPACITY[code] as number;
    const tags = (at + 2 + capacity) << 2;
    let left = head & COUNT_MASK;
    let done = 0;
    let k = code < FIRST_PROBED ? left - 1 : capacity - 1;
    for (; left > 0 && done < limit; k--) {
      if ((u8[tags + k] as number) <= REMOVED) continue;
      release(m[at + 2 + k] as number);
      u8[tags + k] = EMPTY;
      left--;
      done++;
    }
    m[at] = (head & ~COUNT_MASK) | left;
    return done;
  }
}

/** One past the last hash: what `scan` returns at the end. */
export const HASH_END: number = 2 ** 32;

/** Code of the smallest capacity that is not full with this many entries. */
function codeFor(count: number): number {
  let code = 0;
  while (code < LAST_CODE && (FULL_AT[code] as number) < count) code++;
  return code;
}

function tagOf(hash: number): number {
  const tag = hash & 0xff;
  return tag < 2 ? tag + 128 : tag;
}

function homeOf(hash: number, capacity: number): number {
  return ((Math.imul(hash, 0x9e3779b1) >>> 16) * capacity) >>> 16;
}

function earlier(a: number, b: number): number {
  return a >>> 0 < b >>> 0 ? a : b;
}
