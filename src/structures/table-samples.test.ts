/** Records by chance: all of a table, and those that expire, however many there are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seeded } from "../../test/support/random.ts";
import { Random } from "../base/random.ts";
import { NO_EXPIRY } from "./segment.ts";
import { makeSamples, randomExpiring, randomRecord, randomRun } from "./table-samples.ts";
import { filledTable, TableModel } from "./table-test-model.ts";
import { eachRecord, eachSegment, segmentFacts } from "./table-walks.ts";

/** Sum of (seen - expected)^2 / expected, and what it exceeds with a chance of one in a million. */
function chiSquare(counts: readonly number[], draws: number): { value: number; most: number } {
  const expected = draws / counts.length;
  const value = counts.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
  const free = counts.length - 1;
  return { value, most: free + 4.76 * Math.sqrt(2 * free) + 15 };
}

for (const [name, size, hash] of [
  ["one segment", 7, (h: number) => h],
  ["a probed segment", 60, (h: number) => h],
  ["a directory", 1500, (h: number) => h],
  // One half of all hashes shares a long prefix, so that depths differ by many bits.
  ["segments of many depths", 2500, (h: number) => (h & 1 ? h : (h >>> 7) | 0x54000000)],
] as const) {
  test(`records are drawn with equal chances: ${name}`, () => {
    seeded(52, (random) => {
      const model = filledTable(size, () => NO_EXPIRY, hash);
      const draws = size * 60;
      const counts = new Map<number, number>();
      eachRecord(model.table, model.root, (p) => counts.set(p, 0));
      for (let n = 0; n < draws; n++) {
        const p = randomRecord(model.table, model.root, (limit) => random.below(limit));
        assert.ok(counts.has(p), "a record that is not there is drawn");
        counts.set(p, (counts.get(p) as number) + 1);
      }
      const { value, most } = chiSquare([...counts.values()], draws);
      assert.ok(value <= most, `chi-square ${value}, at most ${most}`);
      if (size > 2000) {
        const depths = new Set<number>();
        eachSegment(model.table, model.root, (s) => depths.add(segmentFacts(model.table, s).depth));
        assert.ok(depths.size > 3, "all segments have one depth");
      }
    });
  });
}

test("nothing is drawn from an empty table, and from an emptied directory what is left", () => {
  const model = new TableModel((h) => h, false);
  assert.equal(
    randomRecord(model.table, 0, () => 0),
    0,
  );
  for (let i = 0; i < 3000; i++) model.insert(`${i}`, NO_EXPIRY);
  for (let i = 1; i < 3000; i++) model.remove(`${i}`);
  const random = new Random(1);
  const p = randomRecord(model.table, model.root, (limit) => random.below(limit));
  assert.equal(model.keyOf(p), "0");
});

/** Records that expire, by the model. */
function expiring(model: TableModel): Set<number> {
  const found = new Set<number>();
  for (const { p, seconds } of model.entries.values()) if (seconds !== NO_EXPIRY) found.add(p);
  return found;
}

for (const [name, size, every, hash] of [
  ["a dense segment", 9, 2, (h: number) => h],
  ["a probed segment, most expire", 60, 1, (h: number) => h],
  ["a probed segment, few expire", 300, 40, (h: number) => h],
  ["an overflow chain", 900, 7, () => 77],
] as const) {
  test(`records that expire are drawn with equal chances: ${name}`, () => {
    seeded(54, (random) => {
      const model = filledTable(size, (i) => (i % every === 0 ? 100 + i : NO_EXPIRY), hash);
      const counts = new Map<number, number>([...expiring(model)].map((p) => [p, 0]));
      const draws = counts.size * 80;
      for (let n = 0; n < draws; n++) {
        const p = randomExpiring(model.table, model.root, (limit) => random.below(limit));
        assert.ok(counts.has(p), "a record that does not expire is drawn");
        counts.set(p, (counts.get(p) as number) + 1);
      }
      const { value, most } = chiSquare([...counts.values()], draws);
      assert.ok(value <= most, `chi-square ${value}, at most ${most}`);
    });
  });
}

test("in a directory records that expire are drawn about as often as one another", () => {
  seeded(55, (random) => {
    for (const every of [1, 3, 50]) {
      const model = filledTable(20_000, (i) => (i % every === 0 ? 100 : NO_EXPIRY));
      const all = expiring(model);
      const counts = new Map<number, number>([...all].map((p) => [p, 0]));
      const draws = all.size * 40;
      for (let n = 0; n < draws; n++) {
        const p = randomExpiring(model.table, model.root, (limit) => random.below(limit));
        counts.set(p, (counts.get(p) as number) + 1);
      }
      assert.equal(counts.size, all.size);
      const seen = [...counts.values()];
      assert.ok(Math.min(...seen) >= 5, `${Math.min(...seen)} of 40 draws`);
      assert.ok(Math.max(...seen) <= 120, `${Math.max(...seen)} of 40 draws`);
    }
  });
});

test("one record that expires among many is found soon, and none where there is none", () => {
  seeded(56, (random) => {
    const below = (limit: number): number => random.below(limit);
    const model = filledTable(150_000, (i) => (i === 77_777 ? 100 : NO_EXPIRY));
    const only = [...expiring(model)][0] as number;
    let tries = 1;
    for (let p = 0; (p = randomExpiring(model.table, model.root, below)) !== only; tries++) {
      assert.equal(p, 0);
      assert.ok(tries < 100, "it is never found");
    }
    model.remove("key:77777");
    assert.equal(randomExpiring(model.table, model.root, below), 0);
    assert.equal(randomExpiring(model.table, 0, below), 0);
  });
});

for (const [name, size, every, hash] of [
  ["a dense segment", 9, 2, (h: number) => h],
  ["a probed segment", 60, 3, (h: number) => h],
  ["a probed segment, few expire", 300, 40, (h: number) => h],
  ["an overflow chain", 900, 7, () => 77],
  ["a directory", 3000, 2, (h: number) => h],
] as const) {
  test(`runs have different records of one segment, and in time each: ${name}`, () => {
    seeded(57, (random) => {
      const model = filledTable(size, (i) => (i % every === 0 ? 100 + i : NO_EXPIRY), hash);
      const all = new Set<number>();
      eachRecord(model.table, model.root, (p) => all.add(p));
      for (const isExpiring of [false, true]) {
        const wanted = isExpiring ? expiring(model) : all;
        const left = new Set(wanted);
        const samples = makeSamples(8);
        const found = samples.records;
        for (let n = 0; left.size > 0; n++) {
          assert.ok(n < size * 100, `${left.size} of ${wanted.size} are never drawn`);
          found.fill(-1);
          const most = 1 + random.below(5);
          const below = (limit: number): number => random.below(limit);
          const count = randomRun(model.table, model.root, isExpiring, below, most, samples, 2);
          assert.ok(count <= most);
          if (size < 100) assert.equal(count, Math.min(most, wanted.size));
          const run = [...found.subarray(2, 2 + count)];
          assert.equal(new Set(run).size, count, "a record is drawn twice");
          assert.ok(run.every((p) => wanted.has(p)));
          assert.deepEqual([...found.subarray(0, 2)], [-1, -1]);
          assert.ok(found.subarray(2 + count).every((p) => p === -1));
          for (const p of run) left.delete(p);
          for (let i = 2; i < 2 + count; i++) {
            const segment = samples.segments[i] as number;
            const place = samples.places[i] as number;
            assert.ok(model.table.segments.isTaken(segment, place));
            assert.equal(model.table.segments.recordAt(segment, place), found[i]);
          }
        }
      }
    });
  });
}
