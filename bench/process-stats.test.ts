import assert from "node:assert/strict";
import { test } from "node:test";
import {
  allowedCores,
  cpuBetweenNs,
  parseCoreList,
  parseStatTicks,
  readCpu,
  residentBytes,
} from "./process-stats.ts";

test("ticks are read behind a name with blanks and parentheses", () => {
  const rest = "S 1 2 3 4 5 6 7 8 9 10 700 42 0 0";
  assert.equal(parseStatTicks(`17 (a) b (c) ${rest}`), 742);
});

test("CPU is the sum over threads, new ones included", () => {
  const before = { threads: new Map([["1", 100]]), tickNs: 0 };
  const after = {
    threads: new Map([
      ["1", 150],
      ["2", 30],
    ]),
    tickNs: 10_000_000,
  };
  assert.equal(cpuBetweenNs(before, after), 80);
});

test("when a thread ended, the process's own ticks are used", () => {
  const before = { threads: new Map([["1", 100]]), tickNs: 10_000_000 };
  const after = { threads: new Map([["2", 7]]), tickNs: 50_000_000 };
  assert.equal(cpuBetweenNs(before, after), 40_000_000);
});

test("this process's own CPU shows what it burnt", () => {
  const before = readCpu(process.pid);
  const started = process.cpuUsage();
  let used = 0;
  while (used < 100_000) {
    const usage = process.cpuUsage(started);
    used = usage.user + usage.system;
  }
  const ns = cpuBetweenNs(before, readCpu(process.pid));
  assert.ok(ns > 60e6 && ns < 5e9, `${ns} ns for 100 ms`);
});

test("core lists and resident memory are read", () => {
  assert.deepEqual(parseCoreList("0-2,5\n"), [0, 1, 2, 5]);
  assert.deepEqual(parseCoreList("3"), [3]);
  assert.throws(() => parseCoreList("x"), /missing figure/);
  assert.ok(allowedCores().length >= 1);
  assert.ok(residentBytes(process.pid) > 1 << 20);
});
