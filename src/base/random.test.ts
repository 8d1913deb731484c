import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "./random.ts";

/** The first numbers of seed 42: if they change, every seed noted down anywhere is void. */
const FIRST_OF_42 = [1978359478, 106724493, 213393235, 2482268032];

test("a seed always gives the same numbers", () => {
  const first = (seed: number | string): number[] => {
    const random = new Random(seed);
    return [random.u32(), random.u32(), random.u32(), random.u32()];
  };
  assert.deepEqual(first(42), FIRST_OF_42);
  assert.deepEqual(first("42"), FIRST_OF_42);
  assert.notDeepEqual(first(43), FIRST_OF_42);
});

test("below is even over small and large limits, and never reaches the limit", () => {
  const random = new Random("below");
  for (const limit of [1, 2, 3, 7, 10, 1000]) {
    const counts = new Array<number>(limit).fill(0);
    const draws = limit * 1000;
    for (let i = 0; i < draws; i++) counts[random.below(limit)]!++;
    // Six standard deviations of a binomial count around 1000.
    for (const count of counts) assert.ok(Math.abs(count - 1000) < 6 * Math.sqrt(1000));
    assert.equal(
      counts.reduce((a, b) => a + b),
      draws,
    );
  }
  for (let i = 0; i < 1000; i++) {
    const draw = random.below(2 ** 53);
    assert.ok(Number.isSafeInteger(draw) && draw >= 0);
    assert.ok(random.below(0x100000000) < 0x100000000);
  }
});

test("floats fill [0, 1), bytes take every value at every place", () => {
  const random = new Random(7);
  let sum = 0;
  for (let i = 0; i < 20_000; i++) {
    const x = random.float();
    assert.ok(x >= 0 && x < 1);
    sum += x;
  }
  assert.ok(Math.abs(sum / 20_000 - 0.5) < 0.02);
  const seen = [0, 1, 2, 3, 4].map(() => new Set<number>());
  for (let i = 0; i < 5000; i++) random.bytes(5).forEach((byte, at) => seen[at]!.add(byte));
  for (const values of seen) assert.equal(values.size, 256);
  assert.equal(random.bytes(0).length, 0);
});

test("neighbouring seeds have nothing in common", () => {
  const firsts = new Set<number>();
  for (let seed = 0; seed < 10_000; seed++) firsts.add(new Random(seed).u32());
  assert.ok(firsts.size >= 9_995, `${firsts.size} different first numbers`);
});

test("pick and chance follow their odds", () => {
  const random = new Random(3);
  const picked = new Set<string>();
  for (let i = 0; i < 200; i++) picked.add(random.pick(["a", "b", "c"]));
  assert.deepEqual([...picked].sort(), ["a", "b", "c"]);
  let hits = 0;
  for (let i = 0; i < 10_000; i++) if (random.chance(0.25)) hits++;
  assert.ok(Math.abs(hits - 2500) < 6 * Math.sqrt(1875));
});
