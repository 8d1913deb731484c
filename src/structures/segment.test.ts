/**
 * What a segment does over a long time of comings and goings: a key that is not there is given up
 * on soon, and no change moves more than one segment.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isLong } from "../../test/support/environment.ts";
import { seedText, testSeed } from "../../test/support/random.ts";
import { Random } from "../base/random.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { codeFor, FULL_AT, homeOf, NO_EXPIRY, REMOVED, tagOf } from "./segment.ts";
import { TableModel } from "./table-test-model.ts";
import { eachSegment, segmentFacts } from "./table-walks.ts";

test("a tag is never that of an empty or of a removed place", () => {
  for (let hash = -70_000; hash < 70_000; hash++) {
    const tag = tagOf(hash);
    assert.ok(tag > REMOVED && tag < 256);
  }
});

test("a home is a place, and homes are spread over hashes that differ in few bits", () => {
  for (const capacity of [24, 180, 512]) {
    const seen = new Set<number>();
    for (let i = 0; i < 5000; i++) {
      const home = homeOf((i << 9) | 0x40000000, capacity);
      assert.ok(home >= 0 && home < capacity);
      seen.add(home);
    }
    assert.ok(seen.size > capacity * 0.6, `${seen.size} homes of ${capacity}`);
  }
});

test("a capacity holds what it is chosen for", () => {
  for (let count = 0; count <= 409; count++) {
    const code = codeFor(count);
    assert.ok((FULL_AT[code] as number) >= count);
    assert.ok(code === 0 || (FULL_AT[code - 1] as number) < count);
  }
});

/** Places that are looked at on average before a key that is not there is given up. */
function missCost(model: TableModel, random: Random): number {
  const { heap, table } = model;
  let sum = 0;
  let segments = 0;
  eachSegment(table, model.root, (segment) => {
    const { capacity } = segmentFacts(table, segment);
    if (capacity <= 16) return;
    const u8 = heap.u8[segment >>> CHUNK_SHIFT] as Uint8Array;
    const tags = (((segment & UNIT_MASK) << 1) + 2 + capacity) << 2;
    for (let n = 0; n < 500; n++) {
      let k = random.below(capacity);
      let looked = 1;
      for (; u8[tags + k] !== 0 && looked <= capacity; looked++) if (++k === capacity) k = 0;
      sum += looked;
    }
    segments++;
  });
  return sum / (500 * segments);
}

// In the small ones all tags may be passed over, which are few. Chance makes long stretches without
// a free place, so that single looks say little.
for (const [size, meanAllowed] of [
  [17, 16],
  [60, 24],
  [69, 77],
  [180, 204],
  [300, 24],
  [390, 28],
  [2000, 12],
] as const) {
  test(`${size} keys that are replaced for ever leave few removed places`, () => {
    const seed = testSeed(61);
    const random = new Random(seed);
    const model = new TableModel((hash) => hash, false);
    const { work } = model.table;
    const keys: string[] = [];
    let next = 0;
    const add = (): void => {
      keys.push(`key:${next++}`);
      assert.ok(model.insert(keys.at(-1) as string, NO_EXPIRY));
    };
    try {
      while (keys.length < size) add();
      work.settle(false);
      let entriesMoved = 0;
      const churn = isLong ? 1_000_000 : 30_000;
      const costs: number[] = [];
      for (let n = 1; n <= churn; n++) {
        const i = random.below(keys.length);
        model.remove(keys[i] as string);
        entriesMoved += work.entriesMoved;
        work.settle(true);
        keys[i] = keys.at(-1) as string;
        keys.pop();
        add();
        entriesMoved += work.entriesMoved;
        work.settle(true);
        if (n % 500 === 0) costs.push(missCost(model, random));
      }
      model.check();
      const mean = costs.reduce((sum, cost) => sum + cost) / costs.length;
      assert.ok(mean <= meanAllowed, `${mean} places are looked at for a key that is not there`);
      const moved = entriesMoved / churn;
      assert.ok(moved < 6, `${moved} entries are moved for each that is removed`);
      assert.ok(work.entriesMovedMax <= 512);
    } catch (e) {
      console.error(seedText(seed));
      throw e;
    }
  });
}
