import assertStrict from "node:assert/strict";
import { test } from "node:test";
import { AssertionError, assert } from "./assert.ts";

test("a true condition passes, a false one throws our class with the message", () => {
  assert(true);
  assert(true, "not seen");
  assertStrict.throws(
    () => assert(false, "slot in range"),
    (error: unknown) =>
      error instanceof AssertionError &&
      error.name === "AssertionError" &&
      error.message === "slot in range",
  );
  assertStrict.throws(() => assert(false), { message: "assertion failed" });
});
