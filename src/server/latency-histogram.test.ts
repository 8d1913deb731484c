import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  BUCKETS,
  bucketOf,
  cumulativeCalls,
  LatencyHistograms,
  latencyHistogramBytes,
  valueAtPercentile,
} from "./latency-histogram.ts";

const COMMANDS = 3;

function histograms(threads: number): LatencyHistograms[] {
  const buffer = new SharedArrayBuffer(latencyHistogramBytes(COMMANDS));
  return Array.from({ length: threads }, () => new LatencyHistograms(buffer));
}

function only(usec: number) {
  const [one] = histograms(1) as [LatencyHistograms];
  one.record(0, usec, 1);
  return one.of(0);
}

describe("buckets", () => {
  test("cover every value once, in order, each within 0.8%", () => {
    let before = -1;
    for (let ns = 0; ns < 70_000; ns++) {
      const bucket = bucketOf(ns);
      assert.ok(bucket === before || bucket === before + 1, `${ns}`);
      before = bucket;
    }
    for (let ns = 70_000; ns <= 1_000_000_000; ns = Math.ceil(ns * 1.01)) {
      const bucket = bucketOf(ns);
      assert.ok(bucket >= before && bucket < BUCKETS);
      before = bucket;
      const found = valueAtPercentile(only(ns / 1000), 50);
      assert.ok(found >= ns - 1 && found <= ns * 1.008, `${ns} as ${found}`);
    }
  });

  // What redis-server 7.4 shows for calls of these lengths.
  test("are Redis's", () => {
    const shown: [usec: number, level: number, p50: string][] = [
      [0, 1, "0.001"],
      [1, 1, "1.003"],
      [207, 264, "207.871"],
      [500_000, 541_065, "501219.327"],
      [600_000, 1_073_741, "603979.775"],
      [1_200_000, 1_073_741, "1002438.655"],
    ];
    for (const [usec, level, p50] of shown) {
      const histogram = only(usec);
      assert.deepEqual(cumulativeCalls(histogram, 1), [[level, 1]], String(usec));
      if (usec === 500_000) continue;
      assert.equal((valueAtPercentile(histogram, 50) / 1000).toFixed(3), p50);
    }
  });
});

describe("a command's histogram", () => {
  test("is the sum over threads, apart from other commands", () => {
    const [one, other] = histograms(2) as [LatencyHistograms, LatencyHistograms];
    one.record(1, 10, 1);
    other.record(1, 10, 1);
    other.record(1, 20, 1);
    other.record(2, 30, 1);
    assert.deepEqual(cumulativeCalls(one.of(1), 3), [
      [16, 2],
      [33, 3],
    ]);
    assert.equal(one.of(0).total, 0);
    assert.deepEqual(cumulativeCalls(one.of(0), 0), []);
    one.reset(1);
    assert.equal(other.of(1).total, 0);
    assert.equal(other.of(2).total, 1);
  });

  test("counts on beyond 32 bits", () => {
    const [one] = histograms(1) as [LatencyHistograms];
    const most = 2 ** 31 - 1;
    for (const [total, weight] of [
      [most, most],
      [2 * most, most],
      [2 ** 32 - 1, 1],
      [2 ** 32, 1],
      [2 ** 32 + 64, 64],
      [2 ** 32 + 64 + most, most],
      [2 ** 33 + 62, most],
    ] as const) {
      one.record(2, 10, weight);
      assert.equal(one.of(2).total, total);
    }
    assert.equal(one.of(1).total, 0);
    one.reset(2);
    assert.equal(one.of(2).total, 0);
  });

  test("tells of all calls, of which only some were timed", () => {
    const [one] = histograms(1) as [LatencyHistograms];
    one.record(0, 1, 64);
    one.record(0, 5000, 1);
    assert.deepEqual(cumulativeCalls(one.of(0), 130), [
      [1, 128],
      [8454, 130],
    ]);
    assert.equal(valueAtPercentile(one.of(0), 50), 1003);
    assert.ok(valueAtPercentile(one.of(0), 100) > 5_000_000);
    assert.equal(valueAtPercentile(one.of(0), 0), 1000);
  });
});
