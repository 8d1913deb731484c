/** What OBJECT says of the use of a key, by the two ways in which records remember it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { error, integer, NIL, type TestStore } from "../test-support.ts";
import { keyStore } from "./test-keys.ts";

const NOT_LRU =
  "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when " +
  "switching between policies at runtime LRU and LFU data will take some time to adjust.";
const NOT_LFU =
  "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that " +
  "when switching between policies at runtime LRU and LFU data will take some time to adjust.";

const MINUTE_MS = 60_000;

/** With these settings every use counts and nothing decays. */
function countingStore(decayMinutes = 0): TestStore {
  const t = keyStore({ shards: 4 });
  t.store.setAccessMode(true, 0, decayMinutes);
  return t;
}

function frequency(t: TestStore, key: string): number {
  const reply = t.call("OBJECT", "FREQ", key);
  assert.match(reply, /^:\d+\r\n$/);
  return Number(reply.slice(1));
}

describe("OBJECT FREQ", () => {
  test("counts uses, from 5 on, and is none itself", () => {
    const t = countingStore();
    t.call("SET", "a", "v");
    for (let n = 0; n < 3; n++) assert.equal(frequency(t, "a"), 5);
    for (const line of ["GET a", "STRLEN a", "TTL a", "EXISTS a", "TYPE a", "OBJECT ENCODING a"]) {
      t.calls(line);
    }
    assert.equal(frequency(t, "a"), 7);
    t.calls("APPEND a x", "SETRANGE a 0 y", "EXPIRE a 100", "PERSIST a");
    assert.equal(frequency(t, "a"), 11);
    t.call("TOUCH", "a", "a");
    assert.equal(frequency(t, "a"), 13);
    for (let n = 0; n < 300; n++) t.call("GET", "a");
    assert.equal(frequency(t, "a"), 255);
  });

  test("a key that is overwritten keeps its counter, whatever its record becomes", () => {
    const t = countingStore();
    t.call("SET", "a", "v");
    let uses = 5;
    for (const value of ["w", "x".repeat(50), "12", "y".repeat(70_000), "short", "z".repeat(300)]) {
      t.call("SET", "a", value);
      assert.equal(frequency(t, "a"), ++uses);
      t.call("SET", "a", value, "EX", "100");
      assert.equal(frequency(t, "a"), ++uses);
    }
    t.call("DEL", "a");
    t.call("SET", "a", "v");
    assert.equal(frequency(t, "a"), 5);
  });

  test("under a new name a key begins anew, be it moved or copied", () => {
    const t = countingStore();
    t.calls("SET a v", "SET b v", "GET a", "GET a", "GET b");
    t.call("COPY", "a", "c");
    t.call("COPY", "a", "b", "REPLACE");
    assert.equal(frequency(t, "c"), 5);
    assert.equal(frequency(t, "b"), 5);
    assert.equal(frequency(t, "a"), 9);
    t.call("RENAME", "a", "b");
    assert.equal(frequency(t, "b"), 5);
    t.calls("GET b", "MOVE b 1");
    t.select(1);
    assert.equal(frequency(t, "b"), 5);
    t.select(0);
    t.calls("SET long " + "x".repeat(70_000), "GET long");
    t.call("COPY", "long", "longer");
    assert.equal(frequency(t, "longer"), 5);
  });

  test("what answers with the old value and sets a new one are two uses", () => {
    const t = countingStore();
    t.calls("SET a v", "GETSET a w");
    assert.equal(frequency(t, "a"), 7);
    t.calls("SET a x GET", "SET a y KEEPTTL GET", "SET a z NX GET");
    assert.equal(frequency(t, "a"), 13);
    t.call("GETEX", "a", "EX", "100");
    assert.equal(frequency(t, "a"), 14);
  });

  test("falls with time", () => {
    const t = countingStore(2);
    t.call("SET", "a", "v");
    for (let n = 0; n < 10; n++) t.call("GET", "a");
    const seen: number[] = [];
    for (let n = 0; n < 5; n++) {
      seen.push(frequency(t, "a"));
      t.advance(3 * MINUTE_MS);
    }
    assert.deepEqual(seen, [15, 14, 12, 11, 9]);
    // 15 minutes are seven periods.
    t.call("GET", "a");
    assert.equal(frequency(t, "a"), 9);
    t.advance(1000 * MINUTE_MS);
    assert.equal(frequency(t, "a"), 0);
    t.call("GET", "a");
    assert.equal(frequency(t, "a"), 1);
  });

  test("is refused unless the policy is an LFU one, as the idle time is if it is", () => {
    const t = keyStore();
    t.call("SET", "a", "v");
    assert.equal(t.call("OBJECT", "FREQ", "a"), error(NOT_LFU));
    assert.equal(t.call("OBJECT", "IDLETIME", "a"), integer(0));
    t.store.setAccessMode(true, 10, 1);
    assert.equal(t.call("OBJECT", "IDLETIME", "a"), error(NOT_LRU));
    assert.match(t.call("OBJECT", "FREQ", "a"), /^:/);
    for (const about of ["FREQ", "IDLETIME"]) assert.equal(t.call("OBJECT", about, "x"), NIL);
  });
});

test("sessions that ask not to be counted leave time and counter alone, but for TOUCH", () => {
  const t = keyStore();
  t.call("SET", "a", "v");
  t.advance(9000);
  t.store.touches = false;
  t.calls(
    "GET a",
    "APPEND a x",
    "SET a " + "y".repeat(100),
    "SET a z",
    "EXPIRE a 100",
    "PERSIST a",
  );
  assert.equal(t.call("OBJECT", "IDLETIME", "a"), integer(9));
  t.call("TOUCH", "a");
  assert.equal(t.call("OBJECT", "IDLETIME", "a"), integer(0));
  t.store.setAccessMode(true, 0, 0);
  t.call("SET", "b", "v");
  t.calls("GET b", "SET b " + "y".repeat(100), "SETRANGE b 1 x");
  assert.equal(frequency(t, "b"), 5);
  t.call("TOUCH", "b");
  assert.equal(frequency(t, "b"), 6);
});

test("small integers count as shared only while nothing is kept for each", () => {
  const t = keyStore();
  t.calls("SET a 1", "SET b 10000");
  assert.equal(t.call("OBJECT", "REFCOUNT", "a"), integer(2147483647));
  assert.equal(t.call("OBJECT", "REFCOUNT", "b"), integer(1));
  t.store.sharesIntegers = false;
  assert.equal(t.call("OBJECT", "REFCOUNT", "a"), integer(1));
});
