import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_AN_INTEGER, SYNTAX_ERROR } from "../../protocol/errors.ts";
import { eachRecord } from "../../structures/table-walks.ts";
import { bulk, error, integer, NIL, NIL3, OK, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";

/** Runs a test on one and on four shards, with short and with long values. */
function onShards(name: string, run: (t: TestStore) => void): void {
  for (const shards of [1, 4]) {
    test(`${name}, ${shards} shards`, () => {
      const t = new TestStore({ commands: STRING_COMMANDS, shards });
      run(t);
      t.check();
    });
  }
}

const VALUES = [
  "",
  "a",
  "12",
  "-9223372036854775808",
  "3000000000",
  "\r\n\0\xff",
  "x".repeat(44),
  "x".repeat(45),
  "y".repeat(300),
  "z".repeat(65536),
  "z".repeat(65537),
  "w".repeat(1_000_000),
];

onShards("a string comes back as it was set, in every encoding", (t) => {
  for (const [i, value] of VALUES.entries()) {
    assert.equal(t.call("SET", `k${i}`, value), OK);
    assert.equal(t.call("GET", `k${i}`), bulk(value));
    assert.equal(t.call("STRLEN", `k${i}`), integer(value.length));
  }
  const keys = VALUES.map((_, i) => `k${i}`);
  assert.equal(
    t.call("MGET", ...keys, "none", "k0"),
    `*${keys.length + 2}\r\n${VALUES.map(bulk).join("")}${NIL}${bulk("")}`,
  );
});

onShards("what is not there is nil in either protocol", (t) => {
  assert.deepEqual(t.calls("GET k", "GETDEL k", "GETEX k", "GETSET k v"), [NIL, NIL, NIL, NIL]);
  t.reply.proto = 3;
  assert.deepEqual(t.calls("GET x", "GETDEL x", "GETEX x"), [NIL3, NIL3, NIL3]);
  assert.equal(t.call("MGET", "k", "x"), `*2\r\n${bulk("v")}${NIL3}`);
  assert.deepEqual(t.calls("STRLEN x", "GETRANGE x 0 -1"), [integer(0), bulk("")]);
});

onShards("GETDEL answers and deletes", (t) => {
  for (const value of VALUES) {
    t.call("SET", "k", value);
    t.takeEvents();
    assert.equal(t.call("GETDEL", "k"), bulk(value));
    assert.deepEqual(t.takeEvents(), ["del k"]);
    assert.equal(t.call("GET", "k"), NIL);
  }
  assert.equal(t.call("GETDEL", "k"), NIL);
  assert.deepEqual(t.takeEvents(), []);
});

onShards("GETSET answers with the old string and drops the expiry", (t) => {
  t.call("SET", "k", "first", "EX", "100");
  for (const value of VALUES) {
    const old = t.call("GET", "k");
    assert.equal(t.call("GETSET", "k", value), old);
  }
  t.advance(100_001);
  assert.equal(t.call("GETEX", "k", "PERSIST"), bulk(VALUES.at(-1) as string));
  t.takeEvents();
  t.call("GETSET", "k", "x");
  assert.deepEqual(t.takeEvents(), ["set k"]);
});

onShards("a big string being written out stays as it was whatever happens to its key", (t) => {
  t.holdReplies = true;
  const value = "v".repeat(200_000);
  for (const change of ["GETSET k x", "GETDEL k", "SET k x", "SET k x GET", "APPEND k x"]) {
    t.call("SET", "k", value);
    assert.equal(t.call("GET", "k"), bulk(value));
    t.call(...change.split(" "));
  }
  t.call("SET", "k", value);
  assert.equal(t.call("GETRANGE", "k", "100", "150000"), bulk(value.slice(100, 150_001)));
  assert.equal(t.call("SETRANGE", "k", "1", "changed"), integer(200_000));
  t.call("SET", "k2", value);
  assert.equal(t.call("GET", "k2"), bulk(value));
  t.call("SET", "k2", value);
  t.releaseReplies();
  assert.equal(t.call("GETRANGE", "k", "0", "8"), bulk("vchangedv"));
});

onShards("GETEX sets, keeps and removes the expiry", (t) => {
  const left = (): number => {
    t.call("GETEX", "k");
    return t.db.expiryOf(onlyRecord(t));
  };
  t.call("SET", "k", "v");
  const now = t.clock.unixMs;
  t.takeEvents();
  assert.equal(t.call("GETEX", "k"), bulk("v"));
  assert.deepEqual(t.takeEvents(), []);
  const seconds = Math.floor(now / 1000) + 500;
  for (const [options, expected] of [
    ["EX 100", now + 100_000],
    ["px 100", now + 100],
    ["ExAt 99999999999", 99_999_999_999_000],
    [`PXAT ${now + 77}`, now + 77],
    [`EXAT ${seconds}`, seconds * 1000],
    ["EX 10 EX 20", now + 20_000],
  ] as const) {
    assert.equal(t.call("GETEX", "k", ...options.split(" ")), bulk("v"));
    assert.equal(left(), expected, options);
    assert.deepEqual(t.takeEvents(), ["expire k"]);
  }
  assert.equal(t.call("GETEX", "k", "PERSIST"), bulk("v"));
  assert.equal(left(), 0);
  assert.deepEqual(t.takeEvents(), ["persist k"]);
  assert.equal(t.call("GETEX", "k", "PERSIST", "PERSIST"), bulk("v"));
  assert.deepEqual(t.takeEvents(), []);
  for (const past of ["PXAT 1", `PXAT ${now}`, "EXAT 1"]) {
    t.call("SET", "k", "v");
    t.takeEvents();
    assert.equal(t.call("GETEX", "k", ...past.split(" ")), bulk("v"));
    assert.deepEqual(t.takeEvents(), ["del k"]);
    assert.equal(t.call("GET", "k"), NIL);
  }
});

onShards("GETEX names what is wrong with its options", (t) => {
  t.call("SET", "k", "v");
  const invalid = error("ERR invalid expire time in 'getex' command");
  for (const [options, reply] of [
    ["EX", error(SYNTAX_ERROR)],
    ["EX 1 PX 1", error(SYNTAX_ERROR)],
    ["EX 1 PERSIST", error(SYNTAX_ERROR)],
    ["PERSIST EX 1", error(SYNTAX_ERROR)],
    ["KEEPTTL", error(SYNTAX_ERROR)],
    ["NX", error(SYNTAX_ERROR)],
    ["x", error(SYNTAX_ERROR)],
    ["EX x", error(NOT_AN_INTEGER)],
    ["EX 1.5", error(NOT_AN_INTEGER)],
    ["EX 0", invalid],
    ["PX -1", invalid],
    ["EX 9223372036854775807", invalid],
    ["EX 9223372036854776", invalid],
    ["EX 9223372036854775", invalid],
    ["PX 9223372036854775807", invalid],
  ] as const) {
    assert.equal(t.call("GETEX", "k", ...options.split(" ")), reply, options);
  }
  // A key that is not there comes before a wrong time, and after a wrong option.
  assert.deepEqual(t.calls("GETEX none EX 0", "GETEX none EX"), [NIL, error(SYNTAX_ERROR)]);
});

onShards("GETRANGE takes any pair of ends", (t) => {
  const max = "9223372036854775807";
  const min = "-9223372036854775808";
  for (const value of ["", "Hello", "1234567890", "-5", "H".repeat(30), "b".repeat(70_000)]) {
    t.call("SET", "k", value);
    const n = value.length;
    const slice = (from: number, last: number): string => bulk(value.slice(from, last + 1));
    for (const [start, end, expected] of [
      ["0", "-1", bulk(value)],
      ["0", "0", slice(0, 0)],
      ["1", "3", slice(1, 3)],
      ["-3", "-1", slice(Math.max(n - 3, 0), n - 1)],
      ["3", "1", bulk("")],
      ["-1", "-3", bulk("")],
      ["-100000", "-99999", slice(0, 0)],
      ["-100000", "2", slice(0, 2)],
      ["2", "100000", slice(2, n)],
      [`${n}`, `${n}`, bulk("")],
      ["0", max, bulk(value)],
      [min, max, bulk(value)],
      [max, max, bulk("")],
      [min, min, slice(0, 0)],
      ["-9223372036854775807", min, bulk("")],
      [min, "-9223372036854775807", slice(0, 0)],
      ["0", "9223372036854775808", error(NOT_AN_INTEGER)],
      ["x", "0", error(NOT_AN_INTEGER)],
      ["0", "", error(NOT_AN_INTEGER)],
    ] as const) {
      assert.equal(t.call("GETRANGE", "k", start, end), expected, `${n}: ${start} ${end}`);
      assert.equal(t.call("SUBSTR", "k", start, end), expected);
    }
  }
});

function onlyRecord(t: TestStore): number {
  let found = 0;
  for (let slot = 0; slot < 16384; slot++) {
    eachRecord(t.store.table, t.db.rootOf(slot), (p) => {
      found = p;
    });
  }
  return found;
}
