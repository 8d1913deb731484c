import assert from "node:assert/strict";
import { test } from "node:test";
import { Work } from "./work.ts";

test("the most under one lock is kept, of what has a bound", () => {
  const work = new Work();
  assert.ok(!work.isUsed);
  work.copied(100);
  work.copied(50);
  work.moved(7);
  assert.ok(work.isUsed);
  work.settle(true);
  assert.ok(!work.isUsed);
  work.moved(3);
  work.visited(9);
  work.settle(true);
  work.copied(1e9);
  work.visited(1e6);
  work.settle(false);
  const { bytesCopiedMax, entriesMovedMax, elementsVisitedMax } = work;
  assert.deepEqual([bytesCopiedMax, entriesMovedMax, elementsVisitedMax], [150, 7, 9]);
  work.clear();
  work.visited(1);
  work.settle(true);
  assert.equal(work.bytesCopiedMax, 0);
  assert.equal(work.elementsVisitedMax, 1);
});
