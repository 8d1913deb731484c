/**
 * What table.test.ts compares a table with: a Map of the same keys, records made as the keyspace
 * makes them, and `check`, which walks the table and throws unless both agree and every unit in use
 * belongs to one record, segment or directory.
 */
import { assert } from "../base/assert.ts";
import { latin1Bytes } from "../base/bytes.ts";
import type { Random } from "../base/random.ts";
import {
  MIB,
  newControl,
  poolHosts,
  RefusingHeap,
  unitsUsed,
} from "../memory/heap-test-support.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import type { PoolHost } from "../memory/pool.ts";
import { FLAG_EXPIRY, FLAG_LONG, isLong, keyOffset, recordUnits, STRING_BYTES } from "./record.ts";
import { NO_EXPIRY, Segments } from "./segment.ts";
import { Table } from "./table.ts";
import {
  depthOf,
  eachOfSegment,
  eachSegment,
  HASH_END,
  scanTable,
  segmentFacts,
} from "./table-walks.ts";

/** What a stub makes of the real hash. */
export type HashStub = (hash: number) => number;

class StubbedSegments extends Segments {
  stub: HashStub = (hash) => hash;

  override hash(view: DataView, start: number, end: number): number {
    return this.stub(super.hash(view, start, end)) | 0;
  }
}

export type Entry = { p: number; seconds: number };

const VALUE_BYTES = 11;

export class TableModel {
  readonly heap: RefusingHeap;
  readonly table: Table;
  readonly entries: Map<string, Entry> = new Map();
  /** The root is in the middle one. */
  readonly cells: Int32Array = new Int32Array(3);

  constructor(stub: HashStub, checked: boolean) {
    const [host] = poolHosts(1) as [PoolHost];
    this.heap = new RefusingHeap(newControl(1, 16 * MIB), host, checked);
    const segments = new StubbedSegments(this.heap);
    segments.stub = stub;
    this.table = new Table(this.heap, segments);
  }

  get root(): number {
    return this.cells[1] as number;
  }

  /** Units of blocks in use. */
  get units(): number {
    return unitsUsed(this.heap);
  }

  hashOfKey(key: string): number {
    const bytes = latin1Bytes(key);
    return this.table.hash(new DataView(bytes.buffer, bytes.byteOffset), 0, bytes.length);
  }

  find(key: string): number {
    // Bytes before and behind, so that a wrong start or length shows.
    const bytes = latin1Bytes(`<<${key}>>`);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const end = 2 + key.length;
    return this.table.find(this.root, this.table.hash(view, 2, end), view, 2, end);
  }

  /** False if there was no memory for the table; the record is then gone again. */
  insert(key: string, seconds: number): boolean {
    assert(this.find(key) === 0, "a key of the model is in the table already");
    const p = this.record(key, seconds);
    if (this.table.insert(0, this.cells, 1, this.hashOfKey(key), p, seconds)) {
      this.entries.set(key, { p, seconds });
      return true;
    }
    this.heap.free(0, p);
    return false;
  }

  remove(key: string): void {
    const { p, seconds } = this.foundEntry(key);
    const expires = seconds !== NO_EXPIRY;
    this.table.removeFound(0, this.cells, 1, this.hashOfKey(key), expires);
    this.heap.free(0, p);
    this.entries.delete(key);
  }

  /** Another record for a key, as a write of it makes, with another expiry. */
  replace(key: string, seconds: number): void {
    const old = this.foundEntry(key);
    const p = this.record(key, seconds);
    this.table.replaceFound(p);
    this.table.expiryChanged(this.cells, 1, old.seconds !== NO_EXPIRY, seconds);
    this.heap.free(0, old.p);
    this.entries.set(key, { p, seconds });
  }

  keyOf(p: number): string {
    const view = this.heap.view[p >>> CHUNK_SHIFT] as DataView;
    const at = (p & UNIT_MASK) << 3;
    const kind = view.getUint8(at);
    const length = kind & FLAG_LONG ? view.getUint32(at + 7, true) : view.getUint8(at + 1);
    const start = at + keyOffset(kind);
    let key = "";
    for (let i = 0; i < length; i++) key += String.fromCharCode(view.getUint8(start + i));
    return key;
  }

  randomKey(random: Random): string {
    const wanted = random.below(this.entries.size);
    let i = 0;
    for (const key of this.entries.keys()) if (i++ === wanted) return key;
    throw new Error("no key in an empty model");
  }

  /** Throws unless the table holds exactly the entries of the model, in a sound structure. */
  check(): void {
    const { table, entries, root, heap } = this;
    const values = [...entries.values()];
    const expiring = values.filter(({ seconds }) => seconds !== NO_EXPIRY).length;
    assert(table.count(root) === entries.size, `count ${table.count(root)}, ${entries.size} keys`);
    assert(table.expires(root) === expiring, `expires ${table.expires(root)}, not ${expiring}`);
    for (const [key, { p }] of entries) assert(this.find(key) === p, `${key} is not found`);
    let units = this.checkSegments();
    if (root !== 0 && depthOf(table, root) > 0) units += heap.blockUnits(root);
    for (const { p } of values) units += heap.blockUnits(p);
    assert(units === this.units, `${this.units} units in use, ${units} found`);
  }

  /** Checks what the segments say of themselves. Returns their units. */
  private checkSegments(): number {
    const { table, entries, root, heap } = this;
    let units = 0;
    let records = 0;
    eachSegment(table, root, (segment) => {
      const facts = segmentFacts(table, segment);
      let expires = 0;
      assert(facts.count === facts.taken, "a segment counts other entries than it has");
      assert(facts.depth <= depthOf(table, root), "a segment is deeper than the directory");
      assert(facts.count > 0 || depthOf(table, root) > 0, "a segment is empty");
      eachOfSegment(table, segment, (p) => {
        const entry = entries.get(this.keyOf(p));
        assert(entry?.p === p, "a record that is not in the model");
        if (entry.seconds === NO_EXPIRY) return;
        expires++;
        assert(facts.earliest >>> 0 <= entry.seconds >>> 0, "the earliest expiry is too late");
      });
      assert(facts.expires === expires, "a segment counts other expiring entries than it has");
      records += facts.count;
      units += heap.blockUnits(segment);
    });
    assert(records === entries.size, `${records} records in segments`);
    return units;
  }

  /** Throws unless scanning in steps of `count` meets every record once, ordered by hash. */
  checkScan(count: number): void {
    const seen = new Set<number>();
    let next = 0;
    let last = 0;
    while (next < HASH_END) {
      const from = next;
      next = scanTable(this.table, this.root, from, count, (p) => {
        const hash = this.table.hashOf(p) >>> 0;
        assert(hash >= from && hash >= last, "scan goes back");
        assert(!seen.has(p), "scan meets a record twice");
        last = hash;
        seen.add(p);
      });
      assert(next > from, "scan stands still");
      assert(last < next, "scan leaves a part of equal hashes for the next call");
    }
    assert(seen.size === this.entries.size, `scan met ${seen.size} of ${this.entries.size}`);
  }

  private foundEntry(key: string): Entry {
    const entry = this.entries.get(key);
    assert(entry !== undefined && this.find(key) === entry.p, `${key} is not found`);
    return entry;
  }

  private record(key: string, seconds: number): number {
    const long = isLong(key.length, VALUE_BYTES);
    const kind = STRING_BYTES | (long ? FLAG_LONG : 0) | (seconds === NO_EXPIRY ? 0 : FLAG_EXPIRY);
    const every = this.heap.refuseEvery;
    this.heap.refuseEvery = 0;
    const p = this.heap.alloc(0, recordUnits(kind, key.length, VALUE_BYTES));
    this.heap.refuseEvery = every;
    assert(p !== 0, "no memory for a record");
    const view = this.heap.view[p >>> CHUNK_SHIFT] as DataView;
    const at = (p & UNIT_MASK) << 3;
    view.setUint32(at, kind | (long ? 0 : (key.length << 8) | (VALUE_BYTES << 16)), true);
    if (long) view.setUint32(at + 7, key.length, true);
    (this.heap.u8[p >>> CHUNK_SHIFT] as Uint8Array).set(latin1Bytes(key), at + keyOffset(kind));
    return p;
  }
}

/** A table of `size` keys "key:<i>". */
export function filledTable(
  size: number,
  secondsOf: (i: number) => number,
  hash: HashStub = (h) => h,
): TableModel {
  const model = new TableModel(hash, false);
  for (let i = 0; i < size; i++) assert(model.insert(`key:${i}`, secondsOf(i)));
  return model;
}
