/**
 * The hash table of records: one per database and slot, and for large collections.
 *
 * A table is one word, its root: 0, a segment, or a directory of segments. A segment starts with 4
 * entries, grows to 512 and only then splits; how it grows and shrinks is in table-shape.ts, walks
 * over all of it are in table-walks.ts.
 *
 * Segments whose hashes agree in all the bits a directory may use get an overflow chain, so that
 * equal hashes cost time in their own chain and never memory.
 *
 * Order of iteration is (hash as u32): growth, splits and merges do not change it.
 *
 * Not here: the lock (the dispatcher holds the shard's) and the meaning of a record's value.
 */
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import type { Work } from "../memory/work.ts";
import { D_COUNT, D_EXPIRES, DIRECTORY_HEADER_WORDS, segmentOf } from "./directory.ts";
import { FLAG_LONG, keyOffset } from "./record.ts";
import {
  CAPACITY,
  CODE_MASK,
  CODE_SHIFT,
  COUNT_MASK,
  DENSE_MAX,
  DEPTH_MASK,
  DEPTH_SHIFT,
  EMPTY,
  EXPIRES_ONE,
  EXPIRES_SHIFT,
  earlier,
  FULL_AT,
  homeOf,
  LAST_CODE,
  NO_EXPIRY,
  OVERFLOW,
  OVERFLOW_WORD,
  Segments,
  tagOf,
} from "./segment.ts";
import { resize, shrink, split, staysAsItIs, type TablePlace } from "./table-shape.ts";

const NO_CELLS = new Int32Array(0);

export class Table {
  readonly segments: Segments;
  readonly work: Work;
  /** Place of the record that `find` returned last. */
  private foundSegment = 0;
  private foundPosition = 0;
  /** Filled for every change, so that none is made under a lock. */
  private readonly place: TablePlace = { shard: 0, cells: NO_CELLS, cell: 0, hash: 0 };
  private readonly heap: Heap;
  private readonly i32: Int32Array[];
  private readonly u8: Uint8Array[];

  constructor(heap: Heap, segments: Segments = new Segments(heap)) {
    this.segments = segments;
    this.work = segments.work;
    this.heap = heap;
    this.i32 = heap.i32;
    this.u8 = heap.u8;
  }

  /** Lets go of the view that the last change has left. */
  forgetViews(): void {
    this.place.cells = NO_CELLS;
  }

  hash(view: DataView, start: number, end: number): number {
    return this.segments.hash(view, start, end);
  }

  /** Hash of a record's key. */
  hashOf(p: number): number {
    return this.segments.hashOf(p);
  }

  /** Pointer to the record with this key, 0 if there is none. */
  find(root: number, hash: number, view: DataView, start: number, end: number): number {
    if (root === 0) return 0;
    let segment = root;
    let m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
    let at = (segment & UNIT_MASK) << 1;
    let head = m[at] as number;
    if (head < 0) {
      const depth = (head >>> DEPTH_SHIFT) & DEPTH_MASK;
      segment = m[at + DIRECTORY_HEADER_WORDS + (hash >>> (32 - depth))] as number;
      m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      at = (segment & UNIT_MASK) << 1;
      head = m[at] as number;
    }
    const tag = tagOf(hash);
    const length = end - start;
    for (;;) {
      const capacity = CAPACITY[(head >>> CODE_SHIFT) & CODE_MASK] as number;
      const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
      const tags = ((at + 2 + capacity) << 2) | 0;
      if (capacity <= DENSE_MAX) {
        const count = head & COUNT_MASK;
        for (let k = 0; k < count; k++) {
          if (u8[tags + k] !== tag) continue;
          const p = m[at + 2 + k] as number;
          if (this.matches(p, view, start, length)) {
            this.foundSegment = segment;
            this.foundPosition = k;
            return p;
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

  /**
   * Finds the entry of a record by its pointer, through which nothing is read: it may be stale.
   * True if a key with this hash has that record.
   */
  findRecord(root: number, hash: number, p: number): boolean {
    if (root === 0) return false;
    const tag = tagOf(hash);
    let segment = segmentOf(this.i32, root, hash);
    for (;;) {
      const m = this.i32[segment >>> CHUNK_SHIFT] as Int32Array;
      const u8 = this.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
      const at = (segment & UNIT_MASK) << 1;
      const head = m[at] as number;
      const capacity = CAPACITY[(head >>> CODE_SHIFT) & CODE_MASK] as number;
      const tags = (at + 2 + capacity) << 2;
      const isDense = capacity <= DENSE_MAX;
      const places = isDense ? head & COUNT_MASK : capacity;
      let k = isDense ? 0 : homeOf(hash, capacity);
      for (let n = 0; n < places; n++) {
        const there = u8[tags + k] as number;
        if (there === EMPTY) break;
        if (there === tag && m[at + 2 + k] === p) {
          this.foundSegment = segment;
          this.foundPosition = k;
          return true;
        }
        if (++k === capacity) k = 0;
      }
      if ((head & OVERFLOW) === 0) return false;
      segment = m[at + OVERFLOW_WORD] as number;
    }
  }

  /**
   * As `findRecord`, for a record that was at a place of a segment: is at once there if it still is
   * and the segment is the table's only one, and only else looks for it. In such a table a record
   * is found without its hash too, so only that of one in a directory need be given.
   */
  findPlaced(root: number, hash: number, segment: number, place: number, p: number): boolean {
    if (root === 0) return false;
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const head = m[at] as number;
    if (head < 0) return this.findRecord(root, hash, p);
    if (root === segment && m[at + 2 + place] === p && this.segments.isTaken(root, place)) {
      this.foundSegment = segment;
      this.foundPosition = place;
      return true;
    }
    return this.findInChain(root, p);
  }

  private findInChain(first: number, p: number): boolean {
    const { segments } = this;
    let segment = first;
    for (;;) {
      let place = segments.place(segment, 0);
      while (place >= 0 && segments.recordAt(segment, place) !== p) {
        place = segments.place(segment, place + 1);
      }
      if (place >= 0) {
        this.foundSegment = segment;
        this.foundPosition = place;
        return true;
      }
      if ((segments.headOf(segment) & OVERFLOW) === 0) return false;
      segment = segments.nextOf(segment);
    }
  }

  /** True if records of the table are only found and removed with their hashes. */
  needsHash(root: number): boolean {
    return root !== 0 && this.segments.headOf(root) < 0;
  }

  private matches(p: number, view: DataView, start: number, length: number): boolean {
    if (this.heap.blocks !== null) this.heap.blocks.check(p);
    const word = (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
    if ((word & FLAG_LONG) === 0) {
      if (((word >>> 8) & 0xff) !== length) return false;
    } else if (this.segments.keyLength(p, word) !== length) {
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

  private addTotals(root: number, count: number, expires: number): void {
    const m = this.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    if ((m[at] as number) >= 0) return;
    m[at + D_COUNT] = (m[at + D_COUNT] as number) + count;
    m[at + D_EXPIRES] = (m[at + D_EXPIRES] as number) + expires;
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
    const { segments } = this;
    for (;;) {
      const root = cells[cell] as number;
      if (root === 0) {
        const first = segments.make(shard, 0, 0);
        if (first === 0) return false;
        cells[cell] = first;
        continue;
      }
      const segment = segments.lastOfChain(segmentOf(this.i32, root, hash));
      const head = segments.headOf(segment);
      const code = (head >>> CODE_SHIFT) & CODE_MASK;
      if ((head & COUNT_MASK) < (FULL_AT[code] as number)) {
        segments.put(segment, hash, p, expirySeconds);
        this.addTotals(root, 1, expirySeconds === NO_EXPIRY ? 0 : 1);
        return true;
      }
      const place = this.placeOf(shard, cells, cell, hash);
      if (code < LAST_CODE) {
        if (resize(segments, place, segment, code + 1) === 0) return false;
      } else if (!split(segments, place, segment, this.count(root), this.expires(root))) {
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
    const { segments, foundSegment } = this;
    const left = segments.take(foundSegment, this.foundPosition, expires);
    const root = cells[cell] as number;
    if (foundSegment === root && staysAsItIs(segments.headOf(root), left)) return;
    this.addTotals(root, -1, expires ? -1 : 0);
    shrink(segments, this.placeOf(shard, cells, cell, hash), foundSegment, left);
  }

  private placeOf(shard: number, cells: Int32Array, cell: number, hash: number): TablePlace {
    const { place } = this;
    place.shard = shard;
    place.cells = cells;
    place.cell = cell;
    place.hash = hash;
    return place;
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
}
