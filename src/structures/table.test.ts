/**
 * The hash table against a Map, with the real hash and with stubbed ones that make overflow chains,
 * deep directories and equal tags; then what it does without memory, how much one operation moves,
 * and how many bytes a key costs.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isLong } from "../../test/support/environment.ts";
import { seeded } from "../../test/support/random.ts";
import { latin1Bytes } from "../base/bytes.ts";
import { keySlot } from "../base/crc16.ts";
import type { Random } from "../base/random.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { keyOffset, recordUnits, STRING_BYTES, STRING_INT32 } from "./record.ts";
import { NO_EXPIRY } from "./segment.ts";
import { type HashStub, TableModel } from "./table-test-model.ts";
import { depthOf, dismantle, eachRecord } from "./table-walks.ts";

const KEYS_MAX = 3000;

const HASHES: readonly (readonly [string, HashStub])[] = [
  ["the real hash", (hash) => hash],
  ["equal hashes", () => 0x5a5a5a5a],
  ["equal hashes of a sign bit", () => -1],
  ["four hashes", (hash) => (hash & 3) << 30],
  ["two hashes that differ in the last bit", (hash) => 0x12345678 | (hash & 1)],
  ["equal high 8 bits", (hash) => (hash >>> 8) | 0xab000000],
  ["equal high 20 bits", (hash) => (hash >>> 20) | 0xabcde000],
  ["high bits mostly equal", (hash) => (hash & 7 ? (hash >>> 9) | 0x40000000 : hash)],
  ["equal low 24 bits", (hash) => (hash & 0xff000000) | 0x77],
  ["removed and empty as tags", (hash) => (hash & ~0xff) | ((hash >>> 8) & 1)],
];

function newKey(random: Random, model: TableModel): string {
  for (;;) {
    const tail = random.chance(0.01) ? "x".repeat(random.below(400)) : "";
    const key = random.chance(0.001) ? "" : `k${random.below(1_000_000)}${tail}`;
    if (!model.entries.has(key)) return key;
  }
}

function randomSeconds(random: Random): number {
  // Also seconds with the sign bit set: they are compared as unsigned numbers.
  return random.chance(0.7) ? NO_EXPIRY : random.u32() & (random.chance(0.1) ? -2 : 0xffff);
}

/** Moves the table to `size` keys with some steps in the other direction. */
function moveTo(model: TableModel, random: Random, size: number): void {
  const grows = size > model.entries.size;
  while (model.entries.size !== size) {
    const draw = random.below(20);
    if (model.entries.size > 0 && draw === 0) {
      model.replace(model.randomKey(random), randomSeconds(random));
    } else if (model.entries.size === 0 || grows === draw > 3) {
      assert.ok(model.insert(newKey(random, model), randomSeconds(random)));
    } else {
      model.remove(model.randomKey(random));
    }
  }
}

function checkWalks(model: TableModel, random: Random): void {
  model.check();
  for (const count of [1, 7, 100, 10_000]) model.checkScan(count);
  const seen = new Set<number>();
  eachRecord(model.table, model.root, (p) => seen.add(p));
  assert.equal(seen.size, model.entries.size);
  for (let i = 0; i < 20; i++) assert.equal(model.find(newKey(random, model)), 0);
}

for (const [name, stub] of HASHES) {
  test(`a table does what a map does: ${name}`, () => {
    seeded(21, (random) => {
      const model = new TableModel(stub, true);
      for (const size of [3, 1, 17, 60, 9, 700, 250, 500, KEYS_MAX, 300, 1200, 40, 0, 5, 0]) {
        moveTo(model, random, size);
        checkWalks(model, random);
      }
      assert.equal(model.root, 0);
      assert.equal(model.units, 0);
      moveTo(model, random, KEYS_MAX);
      takeApart(model, random);
    });
  });
}

/** Takes a table apart in steps and looks at what is left between them. */
function takeApart(model: TableModel, random: Random): void {
  const { table, cells, heap, entries } = model;
  while (model.root !== 0) {
    const limit = 1 + random.below(400);
    const before = entries.size;
    const done = dismantle(table, 0, cells, 1, limit, (p) => {
      assert.ok(entries.delete(model.keyOf(p)), "a record is released twice");
      heap.free(0, p);
    });
    assert.equal(done, before - entries.size);
    assert.ok(done === limit || (done < limit && model.root === 0));
    let left = 0;
    eachRecord(table, model.root, () => left++);
    assert.equal(left, entries.size);
  }
  assert.equal(entries.size, 0);
  assert.equal(model.units, 0);
}

test("a deep directory is made and given up again", () => {
  seeded(22, (random) => {
    const model = new TableModel((hash) => (hash >>> 8) | 0xab000000, true);
    moveTo(model, random, KEYS_MAX);
    assert.ok(depthOf(model.table, model.root) >= 8);
    moveTo(model, random, 10);
    assert.equal(depthOf(model.table, model.root), 0);
    model.check();
  });
});

for (const [name, stub] of HASHES) {
  test(`an allocation that fails leaves the table as it was: ${name}`, () => {
    seeded(23, (random) => {
      for (const every of [1, 2, 3, 5]) {
        const model = new TableModel(stub, true);
        let failed = 0;
        for (let i = 0; i < 1500; i++) {
          const key = newKey(random, model);
          const entries = model.entries.size;
          // Every second step of a phase has no refusal, so that the table grows all the same.
          model.heap.refuseEvery = i & 1 ? every : 0;
          const done = model.insert(key, randomSeconds(random));
          if (!done) {
            failed++;
            assert.equal(model.find(key), 0);
            assert.equal(model.entries.size, entries);
            if (entries < 600 || failed % 20 === 0) model.check();
          }
          if (i % 3 === 2) model.remove(model.randomKey(random));
        }
        assert.ok(failed > 0, `no insert failed with every ${every}`);
        model.check();
        model.heap.refuseEvery = every;
        while (model.entries.size > 0) model.remove(model.randomKey(random));
        // Merging needs memory, so what is left may be a directory of empty segments.
        model.check();
        model.heap.refuseEvery = 0;
        moveTo(model, random, 100);
        checkWalks(model, random);
        takeApart(model, random);
      }
    });
  });
}

for (const [name, stub] of [HASHES[0], HASHES[5]] as (readonly [string, HashStub])[]) {
  test(`no insert and no delete moves more than 512 entries: ${name}`, () => {
    seeded(24, (random) => {
      const model = new TableModel(stub, false);
      const { work } = model.table.segments;
      const keys: string[] = [];
      const steps = isLong ? 3_000_000 : 200_000;
      let entriesMoved = 0;
      for (let step = 0; step < steps; step++) {
        if (random.chance(step % (steps / 2) < steps / 4 ? 0.9 : 0.1) || keys.length === 0) {
          keys.push(`${step}`);
          assert.ok(model.insert(`${step}`, NO_EXPIRY));
        } else {
          const i = random.below(keys.length);
          model.remove(keys[i] as string);
          keys[i] = keys.at(-1) as string;
          keys.pop();
        }
        entriesMoved += work.entriesMoved;
        work.settle(true);
      }
      model.check();
      assert.ok(entriesMoved > 50_000, "the counter does not count");
      assert.ok(work.entriesMovedMax >= 300 && work.entriesMovedMax <= 512);
    });
  });
}

const SLOTS = 16_384;

for (const keys of isLong ? [100_000, 1_000_000] : [100_000]) {
  test(`of ${keys} keys each costs at most 36, 46 and 290 bytes, by its value`, () => {
    measureKeys(keys);
  });
}

/** Fills the tables of a database as records of a number, of 16 and of 256 bytes would. */
function measureKeys(keys: number): void {
  const limits = [
    [STRING_INT32, 4, 36],
    [STRING_BYTES, 16, 46],
    [STRING_BYTES, 256, 290],
  ] as const;
  for (const [kind, valueBytes, limit] of limits) {
    const model = new TableModel((hash) => hash, false);
    const { heap, table } = model;
    const cells = new Int32Array(SLOTS);
    for (let i = 0; i < keys; i++) {
      const key = latin1Bytes(`key:${i}`);
      const p = heap.alloc(0, recordUnits(kind, key.length, valueBytes));
      const view = heap.view[p >>> CHUNK_SHIFT] as DataView;
      const at = (p & UNIT_MASK) << 3;
      view.setUint32(at, kind | (key.length << 8) | (valueBytes << 16), true);
      (heap.u8[p >>> CHUNK_SHIFT] as Uint8Array).set(key, at + keyOffset(kind));
      const slot = keySlot(key, 0, key.length);
      assert.ok(table.insert(0, cells, slot, table.hashOf(p), p, NO_EXPIRY));
    }
    const perKey = (model.units * 8 + cells.byteLength) / keys;
    assert.ok(perKey <= limit, `${perKey} bytes for a key with ${valueBytes} bytes of value`);
    assert.ok(perKey > limit - 10, `${perKey}: the model leaves something out`);
  }
}
