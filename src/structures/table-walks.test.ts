/**
 * Walks over tables: what is due, and scans while the table changes between calls.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seeded } from "../../test/support/random.ts";
import type { Random } from "../base/random.ts";
import { NO_EXPIRY } from "./segment.ts";
import { filledTable, type TableModel } from "./table-test-model.ts";
import { depthOf, dueRecords, eachSegment, HASH_END, scanTable } from "./table-walks.ts";

/** Keys whose time has come, by the model. */
function dueKeys(model: TableModel, now: number): Set<string> {
  const due = new Set<string>();
  for (const [key, { seconds }] of model.entries) {
    if (seconds !== NO_EXPIRY && seconds <= now) due.add(key);
  }
  return due;
}

/** Removes all that is due, with lists of `listSize` and `visits` for each call. */
function removeDue(model: TableModel, now: number, listSize: number, visits: number): Set<string> {
  const removed = new Set<string>();
  const found = new Int32Array(listSize);
  const secondsOf = (p: number): number => model.entries.get(model.keyOf(p))?.seconds ?? NO_EXPIRY;
  const walk = { hash: 0, visits, earliest: NO_EXPIRY };
  while (model.root !== 0 && walk.hash < HASH_END) {
    const before = walk.hash;
    walk.visits = visits;
    const n = dueRecords(model.table, model.root, walk, now, secondsOf, found);
    assert.ok(n <= listSize);
    assert.ok(n > 0 || walk.hash > before, "a walk for due records stands still");
    const keys = [...found.subarray(0, n)].map((p) => model.keyOf(p));
    for (const key of keys) {
      removed.add(key);
      model.remove(key);
    }
  }
  return removed;
}

test("a walk finds all that is due, once, whatever its budget", () => {
  seeded(51, (random) => {
    const hashes = [(h: number) => h, (h: number) => h & 0x3fffff, () => 99];
    for (const hash of hashes) {
      const model = filledTable(
        3000,
        () => (random.chance(0.5) ? NO_EXPIRY : random.below(1000)),
        hash,
      );
      for (let now = 0; now < 1000; now += 130) {
        const due = dueKeys(model, now);
        const removed = removeDue(model, now, 1 + random.below(100), 1 + random.below(900));
        assert.deepEqual([...removed].sort(), [...due].sort());
        model.check();
      }
      const left = model.table.expires(model.root);
      assert.equal(left, [...model.entries.values()].filter((e) => e.seconds !== NO_EXPIRY).length);
    }
  });
});

test("a walk passes segments over where nothing is due, and learns when the next is", () => {
  const model = filledTable(20_000, (i) => (i % 10 === 0 ? 500 + (i % 7) : NO_EXPIRY));
  const { work } = model.table;
  const segments = (): number => {
    let n = 0;
    eachSegment(model.table, model.root, () => n++);
    return n;
  };
  work.elementsVisited = 0;
  assert.equal(removeDue(model, 499, 100, 1e9).size, 0);
  assert.equal(work.elementsVisited, segments());
  assert.equal(removeDue(model, 600, 100, 1e9).size, 2000);
  // What was found was still there when its segment was looked at: the next walk looks once more.
  assert.equal(removeDue(model, 700, 100, 1e9).size, 0);
  work.elementsVisited = 0;
  assert.equal(removeDue(model, 700, 100, 1e9).size, 0);
  assert.equal(work.elementsVisited, segments());
});

/** Inserts and removes keys that do not stay, a few or so many that the table changes its shape. */
function disturb(model: TableModel, random: Random, step: number): void {
  const count = random.below(random.chance(0.2) ? 3000 : 20);
  for (let n = 0; n < count; n++) model.insert(`passing:${step}:${n}`, NO_EXPIRY);
  if (random.chance(0.6)) return;
  for (const key of [...model.entries.keys()]) {
    if (key.startsWith("passing") && random.chance(0.9)) model.remove(key);
  }
}

test("a scan meets whatever was there throughout, whatever comes and goes", () => {
  seeded(53, (random) => {
    let depthsSeen = 0;
    for (let round = 0; round < 30; round++) {
      const stays = random.pick([3, 20, 200, 1200]);
      const model = filledTable(stays, () => NO_EXPIRY);
      const met = new Set<string>();
      const depths = new Set<number>();
      let next = 0;
      for (let step = 0; next < HASH_END; step++) {
        let visited = 0;
        const count = 1 + random.below(30);
        const before = next;
        next = scanTable(model.table, model.root, next, count, (p) => {
          met.add(model.keyOf(p));
          visited++;
        });
        assert.ok(next > before);
        // A page ends at an eighth of a segment's range, which holds about 51 of 409.
        assert.ok(visited <= count + 120, `${visited} records in a page of ${count}`);
        depths.add(depthOf(model.table, model.root));
        disturb(model, random, step);
      }
      for (let i = 0; i < stays; i++) assert.ok(met.has(`key:${i}`), `key:${i} was not met`);
      depthsSeen = Math.max(depthsSeen, depths.size);
    }
    assert.ok(depthsSeen > 2, "no directory changed its depth under a scan");
  });
});
