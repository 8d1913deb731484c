import assert from "node:assert/strict";
import { test } from "node:test";
import { Args } from "./args.ts";
import { argsOf } from "./args-test-support.ts";
import { int64 } from "./int64.ts";

test("arguments are compared, shown and copied", () => {
  const args = argsOf("Set", "k\xff", "");
  assert.ok(args.is(0, "SET") && !args.is(0, "SE") && !args.is(0, "SETX") && args.is(2, ""));
  const odd = argsOf("set\0", "SET\0x", "\0", "se\0t");
  assert.ok(odd.is(0, "SET") && odd.is(1, "SET") && odd.is(2, "") && odd.is(3, "SE"));
  assert.ok(!odd.is(3, "SET") && !odd.is(0, "SE") && !odd.is(2, "SET"));
  assert.equal(args.text(1), "k\xff");
  assert.equal(args.head(0, 2), "Se");
  assert.equal(args.head(0, 64), "Set");
  assert.equal(args.lower(0), "set");
  assert.deepEqual([...args.take(1)], [107, 255]);
  assert.equal(args.length(2), 0);
});

test("an integer is read where it lies, or not at all", () => {
  const args = argsOf("12", "-9223372036854775808", "12x", "", "9223372036854775808");
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => args.integer(i)),
    [12, -(2 ** 63), null, null, null],
  );
  assert.ok(args.int64(1) && int64.hi === -(2 ** 31) && int64.lo === 0);
  assert.ok(!args.int64(2));
});

test("making room keeps what is there", () => {
  const args = argsOf("a", "bc");
  args.slot[1] = 77;
  args.reserve(1000);
  assert.ok(args.start.length >= 1000 && args.hash.length >= 1000);
  assert.equal(args.text(1), "bc");
  assert.equal(args.slot[1], 77);
});

test("room for a request of many arguments is given up, room for an ordinary one is kept", () => {
  const args = new Args();
  args.reserve(1000);
  const { start } = args;
  args.shrink();
  assert.equal(args.start, start);
  args.reserve(1_000_000);
  args.shrink();
  for (const list of [args.start, args.end, args.slot, args.hash]) {
    assert.ok(list.length <= 1024, `${list.length} places`);
  }
});
