import assert from "node:assert/strict";
import { test } from "node:test";
import { NOT_AN_INTEGER, OOM, SYNTAX_ERROR, wrongArity } from "../../protocol/errors.ts";
import { bulk, error, integer, NIL, NIL3, OK, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";

const BIG = "b".repeat(100_000);

function onShards(name: string, run: (t: TestStore) => void): void {
  for (const shards of [1, 4]) {
    test(`${name}, ${shards} shards`, () => {
      const t = new TestStore({ commands: STRING_COMMANDS, shards });
      run(t);
      t.check();
    });
  }
}

onShards("SET NX and XX look at whether the key is there", (t) => {
  assert.equal(t.call("SET", "k", "1", "XX"), NIL);
  assert.equal(t.call("SET", "k", "1", "NX"), OK);
  assert.equal(t.call("SET", "k", "2", "nx"), NIL);
  assert.equal(t.call("SET", "k", "3", "xx", "XX"), OK);
  assert.deepEqual(t.takeEvents(), ["set k", "set k"]);
  t.reply.proto = 3;
  assert.equal(t.call("SET", "k", "4", "NX"), NIL3);
  assert.equal(t.call("GET", "k"), bulk("3"));
});

onShards("SET GET answers with the old string, set or not", (t) => {
  assert.equal(t.call("SET", "k", "1", "GET"), NIL);
  assert.equal(t.call("SET", "k", BIG, "GET"), bulk("1"));
  assert.equal(t.call("SET", "k", "3", "GET", "NX"), bulk(BIG));
  assert.equal(t.call("SET", "k", "4", "XX", "GET"), bulk(BIG));
  assert.equal(t.call("GET", "k"), bulk("4"));
  assert.equal(t.call("SET", "none", "5", "XX", "GET"), NIL);
  assert.equal(t.call("GET", "none"), NIL);
});

onShards("SET takes times, keeps one or drops it", (t) => {
  for (const [value, options, ms] of [
    ["v", "EX 10", 10_000],
    ["123", "PX 10", 10],
    [BIG, "EXAT", 10_000],
    ["v", "PXAT", 10],
    ["v", "EX 1 GET EX 10 XX", 10_000],
  ] as const) {
    t.advance(1000 - (t.clock.unixMs % 1000));
    const at = t.clock.unixMs + ms;
    const words = options.split(" ");
    if (options === "EXAT") words.push(`${at / 1000}`);
    if (options === "PXAT") words.push(`${at}`);
    t.call("SET", "k", "old");
    t.call("SET", "k", value, ...words);
    assert.deepEqual(t.takeEvents(), ["set k", "set k", "expire k"]);
    t.advance(ms);
    assert.equal(t.call("SET", "k", value, "KEEPTTL"), OK);
    assert.equal(t.call("GET", "k"), bulk(value), options);
    t.advance(1);
    assert.equal(t.call("GET", "k"), NIL, options);
    assert.deepEqual(t.takeEvents(), ["set k", "expired k"]);
  }
  t.call("SET", "k", "v", "EX", "10");
  t.call("SET", "k", "v");
  t.advance(20_000);
  assert.equal(t.call("GET", "k"), bulk("v"));
});

onShards("SET with a time that has passed leaves a key that has expired", (t) => {
  assert.equal(t.call("SET", "k", "v", "PXAT", "1"), OK);
  assert.deepEqual(t.takeEvents(), ["set k", "expire k"]);
  assert.equal(t.call("SET", "k", "w", "XX"), NIL);
  assert.deepEqual(t.takeEvents(), ["expired k"]);
});

onShards("SET names what is wrong with its options", (t) => {
  const invalid = error("ERR invalid expire time in 'set' command");
  for (const [options, reply] of [
    ["NX XX", error(SYNTAX_ERROR)],
    ["XX NX", error(SYNTAX_ERROR)],
    ["EX", error(SYNTAX_ERROR)],
    ["EX 1 PX 1", error(SYNTAX_ERROR)],
    ["PXAT 1 EXAT 1", error(SYNTAX_ERROR)],
    ["KEEPTTL EX 1", error(SYNTAX_ERROR)],
    ["EX 1 KEEPTTL", error(SYNTAX_ERROR)],
    ["PERSIST", error(SYNTAX_ERROR)],
    ["IFEQ x", error(SYNTAX_ERROR)],
    ["EX x", error(NOT_AN_INTEGER)],
    ["EX 0", invalid],
    ["EX -1", invalid],
    ["PX 0", invalid],
    ["EXAT 0", invalid],
    ["EX 9223372036854776", invalid],
    ["PX 9223372036854775807", invalid],
    ["EX 0 x", error(SYNTAX_ERROR)],
  ] as const) {
    assert.equal(t.call("SET", "k", "v", ...options.split(" ")), reply, options);
  }
  assert.equal(t.call("GET", "k"), NIL);
  // The time comes before the condition.
  assert.equal(t.call("SET", "k", "v", "XX", "EX", "0"), invalid);
  assert.equal(t.call("SET", "k", "v", "EX", "9223372036854775"), invalid);
  assert.equal(t.call("SET", "k", "v", "PXAT", "9223372036854775807"), OK);
  assert.equal(t.call("GET", "k"), bulk("v"));
});

onShards("SETNX, SETEX and PSETEX", (t) => {
  assert.equal(t.call("SETNX", "k", "v"), integer(1));
  assert.equal(t.call("SETNX", "k", "w"), integer(0));
  assert.equal(t.call("SETEX", "k", "10", "5"), OK);
  assert.equal(t.call("PSETEX", "p", "10", BIG), OK);
  assert.deepEqual(t.takeEvents(), ["set k", "set k", "expire k", "set p", "expire p"]);
  t.advance(11);
  assert.equal(t.call("MGET", "k", "p"), `*2\r\n${bulk("5")}${NIL}`);
  assert.deepEqual(t.calls("SETEX k 0 v", "SETEX k x v", "PSETEX k -1 v"), [
    error("ERR invalid expire time in 'setex' command"),
    error(NOT_AN_INTEGER),
    error("ERR invalid expire time in 'psetex' command"),
  ]);
  assert.equal(t.call("GET", "k"), bulk("5"));
});

onShards("MSET sets all, MSETNX all or none", (t) => {
  assert.equal(t.call("MSET", "a", "1", "b", BIG, "a", "3"), OK);
  assert.deepEqual(t.takeEvents(), ["set a", "set b", "set a"]);
  assert.equal(t.call("MGET", "a", "b"), `*2\r\n${bulk("3")}${bulk(BIG)}`);
  assert.equal(t.call("MSETNX", "c", "1", "b", "2"), integer(0));
  assert.equal(t.call("GET", "c"), NIL);
  assert.equal(t.call("MSETNX", "c", "1", "d", "2", "c", "3"), integer(1));
  assert.equal(t.call("MGET", "c", "d"), `*2\r\n${bulk("3")}${bulk("2")}`);
  assert.equal(t.call("MSET", "a", "1", "b"), error(wrongArity("mset")));
  assert.equal(t.call("MSETNX", "a", "1", "b"), error(wrongArity("msetnx")));
  t.call("SET", "a", "v", "PX", "10");
  t.call("MSET", "a", "w");
  t.advance(11);
  assert.equal(t.call("GET", "a"), bulk("w"));
});

onShards("a string of the same shape takes the place of the old one", (t) => {
  t.call("SET", "k", "abc");
  const { allocations } = t.heap;
  for (const value of ["def", "1", "ghi", "23", "j"]) {
    t.call("SET", "k", value);
    assert.equal(t.call("GET", "k"), bulk(value));
  }
  assert.equal(t.heap.allocations, allocations);
});

onShards("when memory is out, SET and its kin change nothing and say so", (t) => {
  t.call("SET", "k", "old", "EX", "100");
  t.call("SET", "big", BIG);
  t.takeEvents();
  t.heap.refuseEvery = 1;
  const long = "l".repeat(1000);
  const oom = error(OOM);
  for (const words of [
    ["SET", "new", "v"],
    ["SET", "k", long],
    ["SET", "k", long, "GET"],
    ["SET", "big", "v".repeat(200), "GET"],
    ["GETSET", "k", long],
    ["SETNX", "new", "v"],
    ["SETEX", "k", "10", long],
    ["MSET", "new", "v"],
    ["MSETNX", "new", "v", "newer", "w"],
    ["APPEND", "k", long],
    ["SETRANGE", "k", "1000", "x"],
    ["SETRANGE", "k", "100000", "x"],
    ["INCR", "new"],
    ["INCRBYFLOAT", "new", "1"],
  ]) {
    assert.equal(t.call(...words), oom, words.slice(0, 2).join(" "));
  }
  t.heap.refuseEvery = 0;
  assert.deepEqual(t.takeEvents(), []);
  assert.equal(t.call("MGET", "k", "new", "big"), `*3\r\n${bulk("old")}${NIL}${bulk(BIG)}`);
  t.advance(100_001);
  assert.equal(t.call("GET", "k"), NIL);
});
