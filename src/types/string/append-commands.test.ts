import assert from "node:assert/strict";
import { test } from "node:test";
import {
  NOT_AN_INTEGER,
  OFFSET_OUT_OF_RANGE,
  OOM,
  STRING_TOO_LONG,
} from "../../protocol/errors.ts";
import { bulk, error, integer, NIL, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";

function store(): TestStore {
  return new TestStore({ commands: STRING_COMMANDS, shards: 4 });
}

test("APPEND makes a key, then grows it over every border", () => {
  const t = store();
  let value = "";
  let step = 0;
  for (const size of [
    3, 1, 40, 1, 200, 8, 800, 7000, 57_482, 1, 1, 60_000, 1, 300_000, 2_000_000,
  ]) {
    const more = String.fromCharCode(97 + step++).repeat(size);
    value += more;
    assert.equal(t.call("APPEND", "k", more), integer(value.length));
    assert.equal(t.call("GET", "k"), bulk(value));
    t.check();
  }
  assert.equal(t.call("APPEND", "k", ""), integer(value.length));
  assert.deepEqual(t.takeEvents(), new Array(step + 1).fill("append k"));
});

test("each border of a record's forms is crossed byte by byte", () => {
  for (const length of [23, 65_534, 65_535, 65_536, 65_537]) {
    for (const key of ["k", "k".repeat(255), "k".repeat(256)]) {
      for (const options of [[], ["EX", "100"]]) {
        const t = store();
        const value = "v".repeat(length);
        t.call("SET", key, value, ...options);
        assert.equal(t.call("APPEND", key, "w"), integer(length + 1));
        assert.equal(t.call("GET", key), bulk(`${value}w`));
        assert.equal(t.call("SETRANGE", key, `${length + 1}`, "x"), integer(length + 2));
        assert.equal(t.call("GET", key), bulk(`${value}wx`));
        t.check();
        t.advance(100_001);
        assert.equal(t.call("GET", key), options.length === 0 ? bulk(`${value}wx`) : NIL);
      }
    }
  }
});

test("numbers become text when something is appended", () => {
  const t = store();
  for (const value of ["1", "-2147483649", "9223372036854775807"]) {
    t.call("SET", "k", value);
    assert.equal(t.call("APPEND", "k", "x"), integer(value.length + 1));
    assert.equal(t.call("GET", "k"), bulk(`${value}x`));
    t.call("SET", "k", value);
    assert.equal(t.call("SETRANGE", "k", "1", "0"), integer(Math.max(value.length, 2)));
    assert.equal(t.call("GET", "k"), bulk(`${value[0]}0${value.slice(2)}`));
    t.call("SET", "k", value);
    const big = "b".repeat(70_000);
    assert.equal(t.call("APPEND", "k", big), integer(value.length + big.length));
    assert.equal(t.call("GET", "k"), bulk(value + big));
  }
  t.check();
});

test("appending bit by bit to a big string moves it now and then only", () => {
  const t = store();
  const piece = "p".repeat(10_000);
  t.call("SET", "k", "b".repeat(100_000));
  const before = t.heap.allocations;
  for (let i = 0; i < 300; i++) t.call("APPEND", "k", piece);
  assert.ok(t.heap.allocations - before < 30, `${t.heap.allocations - before} allocations`);
  assert.equal(t.call("STRLEN", "k"), integer(3_100_000));
  t.check();
});

test("SETRANGE writes into, behind and far behind the end", () => {
  const t = store();
  assert.equal(t.call("SETRANGE", "k", "3", "abc"), integer(6));
  assert.equal(t.call("GET", "k"), bulk("\0\0\0abc"));
  assert.equal(t.call("SETRANGE", "k", "0", "xy"), integer(6));
  assert.equal(t.call("SETRANGE", "k", "5", "zzz"), integer(8));
  assert.equal(t.call("GET", "k"), bulk("xy\0abzzz"));
  const far = `xy\0abzzz${"\0".repeat(99_992)}end`;
  assert.equal(t.call("SETRANGE", "k", "100000", "end"), integer(100_003));
  assert.equal(t.call("GET", "k"), bulk(far));
  assert.equal(t.call("SETRANGE", "k", "50000", "mid"), integer(100_003));
  assert.equal(t.call("GETRANGE", "k", "49999", "50003"), bulk("\0mid\0"));
  assert.deepEqual(t.takeEvents(), new Array(5).fill("setrange k"));
  t.check();
});

test("what SETRANGE skips is zero even where other bytes were before", () => {
  const t = store();
  for (const size of [100, 60_000, 100_000]) {
    t.call("SET", "k", "x".repeat(size));
    t.call("SET", "k", "short");
    t.call("SETRANGE", "k", `${size}`, "!");
    assert.equal(t.call("GET", "k"), bulk(`short${"\0".repeat(size - 5)}!`));
    t.call("SET", "big", "y".repeat(70_000));
    t.call("APPEND", "big", "z".repeat(200_000));
    t.call("SETRANGE", "big", "300000", "!");
    assert.equal(t.call("GETRANGE", "big", "269999", "300000"), bulk(`z${"\0".repeat(30_000)}!`));
  }
  t.check();
});

test("SETRANGE of nothing changes nothing", () => {
  const t = store();
  assert.equal(t.call("SETRANGE", "none", "10", ""), integer(0));
  t.call("SET", "k", "123");
  t.takeEvents();
  assert.equal(t.call("SETRANGE", "k", "10", ""), integer(3));
  assert.equal(t.call("SETRANGE", "k", "9223372036854775807", ""), integer(3));
  assert.deepEqual(t.takeEvents(), []);
  assert.equal(t.call("INCR", "k"), integer(124));
});

test("SETRANGE names what is wrong with its offset", () => {
  const t = store();
  assert.deepEqual(t.calls("SETRANGE k -1 x", "SETRANGE k x y", "SETRANGE k 1.5 y"), [
    error(OFFSET_OUT_OF_RANGE),
    error(NOT_AN_INTEGER),
    error(NOT_AN_INTEGER),
  ]);
});

test("no string grows past proto-max-bulk-len, and nothing is allocated to find out", () => {
  const t = store();
  t.call("SET", "k", "x".repeat(10));
  const { allocations } = t.heap;
  const tooLong = error(STRING_TOO_LONG);
  assert.equal(t.call("SETRANGE", "k", "536870912", "x"), tooLong);
  assert.equal(t.call("SETRANGE", "none", "536870912", "x"), tooLong);
  assert.equal(t.call("SETRANGE", "none", "9223372036854775807", "x"), tooLong);
  t.store.bulkMax = 15;
  assert.equal(t.call("APPEND", "k", "123456"), tooLong);
  assert.equal(t.heap.allocations, allocations);
  assert.equal(t.call("APPEND", "k", "12345"), integer(15));
  assert.equal(t.call("SETRANGE", "k", "14", "x"), integer(15));
  assert.equal(t.call("SETRANGE", "k", "15", "x"), tooLong);
  // Redis does not look at the length of what makes the key.
  assert.equal(t.call("APPEND", "new", "x".repeat(16)), integer(16));
});

test("a string beyond 32 bits, where proto-max-bulk-len allows one, is out of memory", () => {
  const t = store();
  t.store.bulkMax = 2 ** 40;
  t.call("SET", "k", "value");
  t.takeEvents();
  for (const offset of [2 ** 30, 2 ** 31, 2 ** 32 - 4, 2 ** 32, 2 ** 33 + 5]) {
    for (const key of ["k", "none"]) {
      assert.equal(t.call("SETRANGE", key, `${offset}`, "x"), error(OOM), `${offset}`);
    }
  }
  assert.equal(t.call("GET", "k"), bulk("value"));
  assert.equal(t.call("GET", "none"), NIL);
  assert.deepEqual(t.takeEvents(), []);
  t.check();
});
