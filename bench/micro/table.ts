/**
 * What the hash table costs alone: keys that are there, keys that are not, inserting and removing,
 * in tables of one slot each as the keyspace has them. Fixed work, best of several rounds.
 *
 *   node build/bench/micro/table.js [--rounds 5] [keys ...]
 */
import { latin1Bytes } from "../../src/base/bytes.ts";
import { keySlot } from "../../src/base/crc16.ts";
import { Random } from "../../src/base/random.ts";
import { Heap } from "../../src/memory/heap.ts";
import {
  CHUNK_SHIFT,
  controlWords,
  H_CHUNK_BYTES,
  H_SHARDS,
  S_UNITS_USED,
  shardRow,
  UNIT_MASK,
} from "../../src/memory/layout.ts";
import { keyOffset, recordUnits, STRING_BYTES } from "../../src/structures/record.ts";
import { NO_EXPIRY } from "../../src/structures/segment.ts";
import { Table } from "../../src/structures/table.ts";

const SLOTS = 16384;
const VALUE_BYTES = 16;
const LOOKUPS = 500_000;

class Keys {
  readonly heap: Heap;
  readonly table: Table;
  readonly cells: Int32Array = new Int32Array(SLOTS);
  readonly count: number;
  /** Keys behind one another, as requests have them, and where each starts. */
  private readonly view: DataView;
  private readonly starts: Int32Array;
  private readonly slots: Int32Array;
  private readonly hashes: Int32Array;
  private readonly records: Int32Array;

  /** As many keys again are made that are not in the tables. */
  constructor(count: number) {
    const control = new Int32Array(new SharedArrayBuffer(controlWords(1) * 4));
    control[H_SHARDS] = 1;
    control[H_CHUNK_BYTES] = 1 << 30;
    this.heap = new Heap(
      control,
      {
        thread: 0,
        waiting: { wait: () => {}, now: () => 0 },
        counters: { acquisitions: 0, contended: 0, waitMs: 0 },
        publish: () => {},
        receive: () => null,
        makeBuffer: (bytes) => new SharedArrayBuffer(bytes),
      },
      false,
    );
    this.table = new Table(this.heap);
    this.count = count;
    const text = latin1Bytes(Array.from({ length: 2 * count }, (_, i) => `key:${i};`).join(""));
    this.view = new DataView(text.buffer, text.byteOffset);
    this.starts = new Int32Array(2 * count + 1);
    this.slots = new Int32Array(2 * count);
    this.hashes = new Int32Array(2 * count);
    this.records = new Int32Array(count);
    for (let i = 0, at = 0; i < 2 * count; i++) {
      this.starts[i] = at;
      while (text[at] !== 59) at++;
      this.slots[i] = keySlot(text, this.starts[i] as number, at);
      this.hashes[i] = this.table.hash(this.view, this.starts[i] as number, at);
      this.starts[i + 1] = ++at;
    }
  }

  find(i: number): number {
    const root = this.cells[this.slots[i] as number] as number;
    const end = (this.starts[i + 1] as number) - 1;
    const hash = this.hashes[i] as number;
    return this.table.find(root, hash, this.view, this.starts[i] as number, end);
  }

  insert(i: number): void {
    const start = this.starts[i] as number;
    const length = (this.starts[i + 1] as number) - 1 - start;
    const p = this.heap.alloc(0, recordUnits(STRING_BYTES, length, VALUE_BYTES));
    const view = this.heap.view[p >>> CHUNK_SHIFT] as DataView;
    const at = (p & UNIT_MASK) << 3;
    view.setUint32(at, STRING_BYTES | (length << 8) | (VALUE_BYTES << 16), true);
    const to = at + keyOffset(STRING_BYTES);
    for (let k = 0; k < length; k++) view.setUint8(to + k, this.view.getUint8(start + k));
    this.records[i] = p;
    this.table.insert(
      0,
      this.cells,
      this.slots[i] as number,
      this.hashes[i] as number,
      p,
      NO_EXPIRY,
    );
  }

  remove(i: number): void {
    this.find(i);
    this.table.removeFound(0, this.cells, this.slots[i] as number, this.hashes[i] as number, false);
    this.heap.free(0, this.records[i] as number);
  }

  bytesPerKey(): number {
    const units = this.heap.control[shardRow(0) + S_UNITS_USED] as number;
    return (units * 8 + this.cells.byteLength) / this.count;
  }
}

let sink = 0;

function nsEach(count: number, run: () => void): number {
  const began = process.hrtime.bigint();
  run();
  return Number(process.hrtime.bigint() - began) / count;
}

function lookups(keys: Keys, from: number, random: Random): number {
  const order = Int32Array.from({ length: LOOKUPS }, () => from + random.below(keys.count));
  return nsEach(LOOKUPS, () => {
    for (let n = 0; n < LOOKUPS; n++) sink ^= keys.find(order[n] as number);
  });
}

function measure(count: number, rounds: number): void {
  const keys = new Keys(count);
  const random = new Random(1);
  const best = { insert: Infinity, hit: Infinity, miss: Infinity, remove: Infinity };
  let perKey = 0;
  for (let round = 0; round < rounds; round++) {
    const insert = nsEach(count, () => {
      for (let i = 0; i < count; i++) keys.insert(i);
    });
    perKey = keys.bytesPerKey();
    best.insert = Math.min(best.insert, insert);
    best.hit = Math.min(best.hit, lookups(keys, 0, random));
    best.miss = Math.min(best.miss, lookups(keys, count, random));
    const remove = nsEach(count, () => {
      for (let i = 0; i < count; i++) keys.remove(i);
    });
    best.remove = Math.min(best.remove, remove);
  }
  const figures = Object.entries(best).map(([name, ns]) => `${name} ${ns.toFixed(1)} ns`);
  console.log(`${count} keys: ${figures.join(", ")}, ${perKey.toFixed(2)} bytes a key`);
}

function main(): void {
  const at = process.argv.indexOf("--rounds");
  const rounds = at < 0 ? 5 : Number(process.argv[at + 1]);
  const words = process.argv.slice(2).filter((_, i) => at < 0 || (i !== at - 2 && i !== at - 1));
  const counts = words.map(Number);
  for (const count of counts.length > 0 ? counts : [100_000, 1_000_000]) measure(count, rounds);
  if (sink === 1) console.log("");
}

main();
