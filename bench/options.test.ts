import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGateOptions } from "./gate-options.ts";
import {
  DEFAULTS,
  parseCount,
  parseOptions,
  pinPlan,
  requestCount,
  UsageError,
} from "./options.ts";

test("options are read over the defaults they are given", () => {
  const args = ["--keys", "100k,1m", "--pin", "--commands=get,MSET", "--threads", "2"];
  const options = parseOptions(args, { ...DEFAULTS, pairs: 7 });
  assert.deepEqual(options.keys, [100_000, 1_000_000]);
  assert.deepEqual(options.commands, ["GET", "MSET"]);
  assert.deepEqual(options.threads, [2]);
  assert.equal(options.pin, true);
  assert.equal(options.pairs, 7);
});

test("what is not understood is refused", () => {
  for (const args of [
    ["--kyes", "1m"],
    ["--keys"],
    ["--keys", ""],
    ["--keys", "1.5m"],
    ["--keys", "-1"],
    ["--keys", "0"],
    ["--keys", "99999m"],
    ["--keys", "1k,1k"],
    ["--commands", "lpush"],
    ["--pairs", "0"],
    ["--seconds", "0"],
    ["--seconds", "1e3"],
    ["--subject", "valkey"],
    ["--pin=yes"],
    ["1m"],
    ["--commands", "mix"],
  ]) {
    assert.throws(() => parseOptions(args, DEFAULTS), UsageError, args.join(" "));
  }
});

test("counts know k and m", () => {
  assert.equal(parseCount("n", "64", 1, 100), 64);
  assert.equal(parseCount("n", "10K", 1, 1e6), 10_000);
  assert.equal(parseCount("n", "3m", 1, 1e7), 3_000_000);
});

test("requests are a multiple of the batch, at least one and never without bound", () => {
  assert.equal(requestCount(1000, 1, 64), 1024);
  assert.equal(requestCount(1, 0.1, 64), 64);
  assert.equal(requestCount(1e12, 100, 1), 1e9);
});

test("the server gets the first cores, the generator the rest", () => {
  assert.deepEqual(pinPlan([0, 1], 1, true), { server: "0", generator: "1", note: "pinned" });
  const four = pinPlan([2, 3, 5, 6], 2, true);
  assert.deepEqual([four.server, four.generator], ["2,3", "5,6"]);
  assert.equal(pinPlan([0, 1], 1, false).server, undefined);
});

test("a generator without a core of its own is said, too few cores are refused", () => {
  const shared = pinPlan([0, 1], 2, true);
  assert.equal(shared.generator, undefined);
  assert.match(shared.note, /same cores/);
  assert.throws(() => pinPlan([0, 1], 3, true), UsageError);
});

test("the gate takes a base and refuses nonsense", () => {
  assert.equal(parseGateOptions(["--base", "HEAD~1"]).repetitions, 5);
  for (const args of [
    [],
    ["--base"],
    ["--base", ""],
    ["--base", "-x"],
    ["--base", "a", "--base", "b"],
    ["--base", "a", "--repetitions", "none"],
    ["--base", "a", "--repeat", "3"],
    ["HEAD"],
  ]) {
    assert.throws(() => parseGateOptions(args), UsageError, args.join(" "));
  }
});
