import assert from "node:assert/strict";
import { test } from "node:test";
import {
  alternate,
  figure,
  MissingFigure,
  median,
  pairedRatio,
  quantile,
  summarize,
} from "./stats.ts";

test("the median of an odd and of an even number of samples, unsorted", () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([100, 20, 3]), 20);
});

test("a quantile lies between two samples where no sample has that place", () => {
  assert.equal(quantile([4, 1, 3, 2, 5], 0.25), 2);
  assert.equal(quantile([4, 1, 3, 2], 0.25), 1.75);
  assert.equal(quantile([1, 2], 0), 1);
  assert.equal(quantile([1, 2], 1), 2);
  assert.equal(quantile([7], 0.75), 7);
});

test("nothing and non-numbers have no median", () => {
  assert.throws(() => median([]), MissingFigure);
  assert.throws(() => median([1, Number.NaN, 2]), MissingFigure);
  assert.throws(() => median([1, Number.POSITIVE_INFINITY]), MissingFigure);
});

test("spread is the range over the median", () => {
  assert.deepEqual(summarize([90, 100, 120]), {
    median: 100,
    min: 90,
    max: 120,
    middle: [95, 110],
    spread: 0.3,
  });
  assert.equal(summarize([7]).spread, 0);
  assert.equal(summarize([0, 0]).spread, 0);
});

test("the ratio is taken pair by pair, so a drift of both cancels", () => {
  const ratio = pairedRatio([10, 20, 40], [20, 40, 80]);
  assert.deepEqual([ratio.median, ratio.min, ratio.max], [0.5, 0.5, 0.5]);
});

test("a ratio of unequal series or to zero is refused", () => {
  assert.throws(() => pairedRatio([1, 2], [1]), MissingFigure);
  assert.throws(() => pairedRatio([1], [0]), MissingFigure);
});

test("only numbers and their texts are figures", () => {
  assert.equal(figure("x", "12.5"), 12.5);
  assert.equal(figure("x", 0), 0);
  assert.equal(figure("x", "-1e3"), -1000);
  for (const bad of ["", " ", "12kB", "null", "nan", null, undefined, Number.NaN, [1], true]) {
    assert.throws(() => figure("x", bad), /missing figure: x is/);
  }
});

test("pairs change who goes first", async () => {
  const order: string[] = [];
  const note = (name: string) => async (round: number) => {
    order.push(name + round);
    return name;
  };
  const result = await alternate(3, note("a"), note("b"));
  assert.deepEqual(order, ["a0", "b0", "b1", "a1", "a2", "b2"]);
  assert.deepEqual(result, { first: ["a", "a", "a"], second: ["b", "b", "b"] });
});
