import assert from "node:assert/strict";
import { test } from "node:test";
import { NAN_OR_INFINITY, NOT_A_FLOAT, NOT_AN_INTEGER, OVERFLOW } from "../../protocol/errors.ts";
import { bulk, error, integer, OK, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";

function store(): TestStore {
  return new TestStore({ commands: STRING_COMMANDS, shards: 4 });
}

test("INCR and DECR count from 0, over all widths of integers, and keep the expiry", () => {
  const t = store();
  assert.deepEqual(t.calls("INCR a", "INCR a", "DECR b", "DECRBY a 5", "INCRBY b -7"), [
    integer(1),
    integer(2),
    integer(-1),
    integer(-3),
    integer(-8),
  ]);
  assert.deepEqual(t.takeEvents(), ["incrby a", "incrby a", "incrby b", "incrby a", "incrby b"]);
  for (const start of [2n ** 31n, -(2n ** 31n), 2n ** 32n, 2n ** 53n, -(2n ** 53n), 2n ** 62n]) {
    t.call("SET", "k", String(start - 2n), "PX", "50");
    for (let n = start - 1n; n <= start + 2n; n++) assert.equal(t.call("INCR", "k"), integer(n));
    for (let n = start + 1n; n >= start - 2n; n--) assert.equal(t.call("DECR", "k"), integer(n));
    assert.equal(t.call("GET", "k"), bulk(String(start - 2n)));
    t.advance(51);
    assert.equal(t.call("INCR", "k"), integer(1));
  }
  t.check();
});

test("a counter in place allocates nothing", () => {
  const t = store();
  t.call("SET", "k", "10");
  const { allocations } = t.heap;
  for (let i = 0; i < 100; i++) t.call("INCR", "k");
  assert.equal(t.heap.allocations, allocations);
});

test("counters stay within 64 bits", () => {
  const t = store();
  const max = "9223372036854775807";
  const min = "-9223372036854775808";
  t.call("SET", "k", max);
  assert.equal(t.call("INCR", "k"), error(OVERFLOW));
  assert.equal(t.call("INCRBY", "k", max), error(OVERFLOW));
  assert.equal(t.call("GET", "k"), bulk(max));
  assert.equal(t.call("INCRBY", "k", min), integer(-1));
  assert.equal(t.call("DECRBY", "k", max), integer(BigInt(min)));
  assert.equal(t.call("DECR", "k"), error(OVERFLOW));
  assert.equal(t.call("DECRBY", "k", min), error("ERR decrement would overflow"));
  assert.equal(t.call("INCRBY", "k", "9223372036854775808"), error(NOT_AN_INTEGER));
});

test("only what Redis would print itself is an integer", () => {
  const t = store();
  for (const text of ["", " 1", "1 ", "+1", "01", "-0", "1.0", "x", "9223372036854775808"]) {
    t.call("SET", "k", text);
    assert.equal(t.call("INCR", "k"), error(NOT_AN_INTEGER), JSON.stringify(text));
    assert.equal(t.call("INCRBY", "n", text), error(NOT_AN_INTEGER), JSON.stringify(text));
  }
  t.call("SET", "k", "x".repeat(100_000));
  assert.equal(t.call("INCR", "k"), error(NOT_AN_INTEGER));
  // Bytes that APPEND made count as well.
  t.call("SET", "k", "1");
  t.call("APPEND", "k", "9");
  assert.equal(t.call("INCR", "k"), integer(20));
});

test("INCRBYFLOAT computes as long doubles do and stores text", () => {
  const t = store();
  for (const [value, by, sum] of [
    ["", "10.5", "10.5"],
    ["10.50", "0.1", "10.6"],
    ["5.0e3", "2.0e2", "5200"],
    ["3", "-3", "0"],
    ["128", "0.1", "128.10000000000000001"],
    ["9223372036854775807", "1", "9223372036854775808"],
    ["1e17", "0.5", "100000000000000000.5"],
  ] as const) {
    t.call("GETDEL", "k");
    if (value !== "") assert.equal(t.call("SET", "k", value, "PX", "50"), OK);
    t.takeEvents();
    assert.equal(t.call("INCRBYFLOAT", "k", by), bulk(sum), `${value} + ${by}`);
    assert.deepEqual(t.takeEvents(), ["incrbyfloat k"]);
    assert.equal(t.call("GET", "k"), bulk(sum));
  }
  t.advance(51);
  assert.equal(t.call("STRLEN", "k"), integer(0));
  t.check();
});

test("INCRBYFLOAT refuses what is no finite number", () => {
  const t = store();
  for (const text of ["", " 1", "x", "nan", "1 ", "1e9999"]) {
    assert.equal(t.call("INCRBYFLOAT", "k", text), error(NOT_A_FLOAT), JSON.stringify(text));
    t.call("SET", "v", text);
    assert.equal(t.call("INCRBYFLOAT", "v", "1"), error(NOT_A_FLOAT), JSON.stringify(text));
  }
  t.call("SET", "v", "1".repeat(70_000));
  assert.equal(t.call("INCRBYFLOAT", "v", "1"), error(NOT_A_FLOAT));
  assert.equal(t.call("INCRBYFLOAT", "k", "inf"), error(NAN_OR_INFINITY));
  t.call("SET", "v", "1e4932");
  assert.equal(t.call("INCRBYFLOAT", "v", "1e4932"), error(NAN_OR_INFINITY));
});
