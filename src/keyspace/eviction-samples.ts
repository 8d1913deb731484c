/**
 * Keys of one shard that are drawn for eviction: where they are and the first words of their
 * records.
 *
 * To look at them is to wait for memory, so whatever is read of many of them is read in one short
 * loop of its own, in which those waits overlap.
 */
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import {
  drawExpiring,
  drawRecord,
  makeSamples,
  randomRun,
  type Samples,
} from "../structures/table-samples.ts";
import { ACCESS_MASK } from "./access.ts";
import type { Database } from "./database.ts";
import type { KeyWeights } from "./eviction-weights.ts";
import type { Store } from "./store.ts";

/** Of the keys of a shard at most an eighth is drawn at once. */
const SHARD_PART_SHIFT = 3;
/** Of the keys of a slot half are drawn at once, or so many. */
const SLOT_PART_SHIFT = 1;
const SLOT_PART = 10;
/** Most slots that are passed for one draw, and whose tables are looked at at once. */
const SLOTS_MAX = 64;
const SLOTS_AT_ONCE = 4;

export class EvictionSamples {
  /** Keys that were drawn: the first so many of what follows. */
  count = 0;
  /** Their records, and the segments and places that they were found at. */
  found: Samples = makeSamples(0);
  slots: Int32Array = new Int32Array(0);
  /** First words of the records, and what these remember of their use. */
  heads: Int32Array = new Int32Array(0);
  accesses: Int32Array = new Int32Array(0);
  private readonly store: Store;
  private readonly weights: KeyWeights;
  private readonly below: (n: number) => number;
  private isExpiring = false;
  /** Keys of the slots that are looked at. */
  private readonly counts: Int32Array = new Int32Array(SLOTS_AT_ONCE);

  constructor(store: Store, weights: KeyWeights, below: (n: number) => number) {
    this.store = store;
    this.weights = weights;
    this.below = below;
  }

  /** Makes room for so many keys. All keys are drawn from now on, or only those that expire. */
  configure(most: number, isExpiring: boolean): void {
    this.isExpiring = isExpiring;
    this.count = 0;
    if (this.slots.length >= most) return;
    this.found = makeSamples(most);
    this.slots = new Int32Array(most);
    this.heads = new Int32Array(most);
    this.accesses = new Int32Array(most);
  }

  /**
   * Draws up to `most` keys side by side, from a slot on: what is in one segment costs less to look
   * at, and says as much, but for keys of one tag that are used together. So not all keys of a slot
   * are taken. Returns how many were to be drawn here.
   */
  drawRun(db: Database, most: number): number {
    const { store, weights, found, slots, counts } = this;
    this.count = 0;
    const slot = weights.drawSlot();
    if (slot < 0) return 0;
    const first = store.firstSlot(weights.shard);
    const end = store.firstSlot(weights.shard + 1);
    const wanted = Math.min(most, Math.max(1, weights.keysOfShard >>> SHARD_PART_SHIFT));
    const slotsMax = Math.min(SLOTS_MAX, end - first);
    let drawn = 0;
    let at = slot;
    let left = wanted;
    let passed = 0;
    while (left > 0 && passed < slotsMax) {
      const group = Math.min(SLOTS_AT_ONCE, slotsMax - passed);
      for (let n = 0, s = at; n < group; n++) {
        counts[n] = weights.countOf(db, s);
        if (++s === end) s = first;
      }
      for (let n = 0; n < group && left > 0; n++, passed++) {
        const keys = counts[n] as number;
        if (keys > 0) {
          const part = Math.min(left, Math.max((keys + 1) >>> SLOT_PART_SHIFT, SLOT_PART), keys);
          const root = db.rootOf(at);
          const run = randomRun(store.table, root, this.isExpiring, this.below, part, found, drawn);
          for (const to = drawn + run; drawn < to; drawn++) slots[drawn] = at;
          left -= part;
        }
        if (++at === end) at = first;
      }
    }
    store.heap.work.visited(passed);
    this.count = drawn;
    if (drawn === 0) weights.forgetSlots();
    this.readRecords();
    return wanted;
  }

  /** Draws up to `most` keys, each with the same chance as every other of the shard. */
  drawEach(db: Database, most: number): void {
    const { store, weights, slots, found } = this;
    this.count = 0;
    for (let n = 0; n < most; n++) {
      const slot = weights.drawSlot();
      if (slot < 0) return;
      slots[n] = slot;
    }
    let drawn = 0;
    for (let n = 0; n < most; n++) {
      const slot = slots[n] as number;
      const root = db.rootOf(slot);
      const isFound = this.isExpiring
        ? drawExpiring(store.table, root, this.below, found, drawn)
        : drawRecord(store.table, root, this.below, found, drawn);
      if (isFound) slots[drawn++] = slot;
      else weights.forgetSlots();
    }
    store.heap.work.visited(most);
    this.count = drawn;
    this.readRecords();
  }

  private readRecords(): void {
    readHeads(this.store.heap.i32, this.found.records, this.count, this.heads, this.accesses);
  }
}

function readHeads(
  i32: Int32Array[],
  records: Int32Array,
  count: number,
  heads: Int32Array,
  accesses: Int32Array,
): void {
  for (let n = 0; n < count; n++) {
    const p = records[n] as number;
    const m = i32[p >>> CHUNK_SHIFT] as Int32Array;
    const at = (p & UNIT_MASK) << 1;
    heads[n] = m[at] as number;
    accesses[n] = (m[at + 1] as number) & ACCESS_MASK;
  }
}
