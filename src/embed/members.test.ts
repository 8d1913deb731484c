import assert from "node:assert/strict";
import { test } from "node:test";
import { Members, membersBytes } from "./members.ts";

test("the mark of an ended worker does not hold for whoever has its row then", () => {
  const members = new Members(new SharedArrayBuffer(membersBytes()));
  const row = members.claim(100, 5);
  assert.ok(!members.isMarkedEnded(row));
  members.markEnded(4);
  assert.ok(!members.isMarkedEnded(row));
  members.markEnded(5);
  assert.ok(members.isMarkedEnded(row));
  assert.ok(members.takeOver(row, 100, 200, 7));
  assert.ok(!members.isMarkedEnded(row));
  assert.ok(!members.takeOver(row, 100, 300, 8), "it was taken over already");
});
