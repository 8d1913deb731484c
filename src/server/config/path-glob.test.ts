import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSource } from "../../../test/support/config-source.ts";
import { hasWildcard, matchingPaths } from "./path-glob.ts";

const source = new FakeSource({
  files: { "a.conf": "", "b.conf": "", ".c.conf": "", "d/a.conf": "", "d/e/f.conf": "", "g/x": "" },
});

function matches(pattern: string, base = "/srv"): string[] {
  return matchingPaths(source, base, pattern);
}

test("a wildcard stays within its part of the path and is sorted", () => {
  assert.deepEqual(matches("*.conf"), ["a.conf", "b.conf"]);
  assert.deepEqual(matches("?.conf", "/srv/d"), ["a.conf"]);
  assert.deepEqual(matches("/srv/[ab].conf"), ["/srv/a.conf", "/srv/b.conf"]);
  assert.deepEqual(matches("d/*/f.conf"), ["d/e/f.conf"]);
  assert.deepEqual(matches("*/*/*"), ["d/e/f.conf"]);
});

test("a leading dot is matched by a dot only", () => {
  assert.deepEqual(matches(".*.conf"), [".c.conf"]);
});

test("a name after a wildcard has to exist", () => {
  assert.deepEqual(matches("*/a.conf"), ["d/a.conf"]);
  assert.deepEqual(matches("nothing/*"), []);
});

test("only these characters make a pattern", () => {
  assert.ok(hasWildcard("a[b") && hasWildcard("*") && hasWildcard("a?"));
  assert.ok(!hasWildcard("/etc/redis.conf]{}"));
});
