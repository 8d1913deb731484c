import assert from "node:assert/strict";
import { test } from "node:test";
import { Histogram } from "./histogram.ts";

const FRACTIONS = [0.01, 0.5, 0.9, 0.99, 0.999, 1];

/** Values over nine powers of ten; a fixed multiplicative generator. */
function samples(count: number): number[] {
  const values: number[] = [];
  let x = 1;
  for (let i = 0; i < count; i++) {
    x = (x * 48271) % 0x7fffffff;
    values.push(10 ** ((x / 0x7fffffff) * 9 + 1));
  }
  return values;
}

test("percentiles are within 1% (or one unit of 16 ns) of the sorted samples", () => {
  const values = samples(20_000);
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  values.sort((a, b) => a - b);
  for (const fraction of FRACTIONS) {
    const exact = values[Math.ceil(fraction * values.length) - 1] as number;
    const found = histogram.percentileNs(fraction);
    assert.ok(
      Math.abs(found - exact) <= Math.max(16, exact * 0.01),
      `p${fraction}: ${found} for ${exact}`,
    );
  }
  assert.equal(histogram.maxNs, values.at(-1));
});

test("a histogram that travelled as JSON and was added up equals one that saw everything", () => {
  const values = samples(5000);
  const whole = new Histogram();
  const parts = [new Histogram(), new Histogram()];
  values.forEach((value, i) => {
    whole.record(value);
    parts[i % 2]?.record(value);
  });
  const sum = new Histogram();
  for (const part of parts) sum.add(JSON.parse(JSON.stringify(part)));
  assert.deepEqual(sum.toJSON(), whole.toJSON());
  assert.equal(sum.count, values.length);
});

test("every bucket holds the values of its own range, and no two overlap", () => {
  let previous = -1;
  for (let units = 0; units < 1 << 14; units++) {
    const histogram = new Histogram();
    histogram.record(units * 16);
    const bucket = histogram.toJSON().buckets[0]?.[0] as number;
    assert.ok(bucket === previous || bucket === previous + 1, `units ${units}: bucket ${bucket}`);
    previous = bucket;
  }
});

test("values beyond the range are counted and keep their exact maximum", () => {
  const histogram = new Histogram();
  histogram.record(1e12);
  assert.equal(histogram.count, 1);
  assert.equal(histogram.maxNs, 1e12);
  assert.ok(histogram.percentileNs(0.5) > 6e10);
});

test("without samples there is no percentile, and a bucket out of range is refused", () => {
  assert.ok(Number.isNaN(new Histogram().percentileNs(0.5)));
  assert.throws(() => new Histogram().add({ buckets: [[1e6, 1]], maxNs: 1 }), RangeError);
});
