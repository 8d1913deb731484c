import assert from "node:assert/strict";
import { test } from "node:test";
import * as errors from "../protocol/errors.ts";
import { ERROR_CODES, errorStat, errorStatIndex, Stats, statIndex, statsBytes } from "./stats.ts";

test("every error text that is shared has its code among those counted apart", () => {
  const known: readonly string[] = ERROR_CODES;
  for (const [name, text] of Object.entries(errors)) {
    if (typeof text === "string") assert.ok(known.includes(text.split(" ", 1)[0] ?? ""), name);
  }
});

test("codes are counted under their own name, unknown ones under OTHER", () => {
  assert.equal(errorStatIndex("MOVED"), statIndex(errorStat("MOVED")));
  assert.equal(errorStatIndex("NOSUCH"), statIndex(errorStat("OTHER")));
  assert.equal(errorStatIndex(""), statIndex(errorStat("OTHER")));
});

test("rows are apart, and summed by whoever reads", () => {
  const buffer = new SharedArrayBuffer(statsBytes(3));
  const [a, b] = [new Stats(buffer, 3, 0), new Stats(buffer, 3, 2)];
  a.add(statIndex("dirty"), 2);
  b.add(statIndex("dirty"), 3);
  b.max(statIndex("lock_hold_max_usec"), 7);
  b.max(statIndex("lock_hold_max_usec"), 5);
  b.add(statIndex("errorstat_WRONGTYPE"), 1);
  assert.deepEqual([a.of(0, "dirty"), a.of(1, "dirty"), a.of(2, "dirty")], [2, 0, 3]);
  assert.equal(a.sum("dirty"), 5);
  assert.equal(a.most("lock_hold_max_usec"), 7);
  a.reset("dirty");
  assert.equal(b.sum("dirty"), 0);
  assert.equal(a.sum("errorstat_WRONGTYPE"), 1);
});
