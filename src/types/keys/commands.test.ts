/** Replies, errors and events of the key commands, with one shard and with several. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsOf } from "../../base/args-test-support.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { bulk, error, integer, NIL, OK, type TestStore } from "../test-support.ts";
import { KEY_COMMANDS } from "./commands.ts";
import { bulksOf, callDetached, keyStore, SHARD_COUNTS } from "./test-keys.ts";

const BIG = 200_000;

function specOf(name: string): CommandSpec {
  const spec = KEY_COMMANDS.find((one) => one.name === name);
  assert.ok(spec);
  return spec;
}

function dirty(t: TestStore): number {
  return t.store.stats.sum("dirty");
}

for (const shards of SHARD_COUNTS) {
  describe(`key commands with ${shards} shards`, () => {
    test("DEL, UNLINK, EXISTS, TOUCH and TYPE", () => {
      const t = keyStore({ shards });
      t.call("MSET", "a", "1", "b", "2", "c", "3");
      t.takeEvents();
      assert.equal(t.call("EXISTS", "a", "a", "x", "b"), integer(3));
      assert.equal(t.call("TOUCH", "a", "a", "x"), integer(2));
      assert.equal(t.call("TYPE", "a"), "+string\r\n");
      assert.equal(t.call("TYPE", "x"), "+none\r\n");
      assert.equal(t.call("DEL", "a", "x", "b", "a"), integer(2));
      assert.equal(t.call("UNLINK", "c", "c"), integer(1));
      assert.deepEqual(t.takeEvents(), ["del a", "del b", "del c"]);
      assert.equal(dirty(t), 6);
      assert.equal(t.call("DBSIZE"), integer(0));
      t.check();
    });

    test("hits, misses and access times are Redis's", () => {
      const t = keyStore({ shards });
      t.call("SET", "a", "1");
      t.call("SET", "b", "1");
      const hits = (): number[] => [
        t.store.stats.sum("keyspace_hits"),
        t.store.stats.sum("keyspace_misses"),
      ];
      t.advance(5000);
      t.calls("TTL a", "PTTL x", "EXISTS a", "TYPE a", "OBJECT ENCODING a", "EXPIRETIME x");
      assert.deepEqual(hits(), [4, 2]);
      assert.equal(t.call("OBJECT", "IDLETIME", "a"), integer(5));
      t.calls("EXPIRE a 100", "PERSIST x", "DEL x", "MEMORY USAGE a", "RENAME x y");
      assert.deepEqual(hits(), [5, 2]);
      t.advance(2000);
      assert.equal(t.call("OBJECT", "IDLETIME", "a"), integer(2));
      assert.equal(t.call("OBJECT", "IDLETIME", "b"), integer(7));
      t.call("TOUCH", "b");
      assert.equal(t.call("OBJECT", "IDLETIME", "b"), integer(0));
    });

    test("EXPIRE and its options", () => {
      const t = keyStore({ shards });
      t.call("SET", "k", "v");
      t.takeEvents();
      const none = integer(0);
      const done = integer(1);
      assert.deepEqual(t.calls("EXPIRE k 100 XX", "EXPIRE k 100 GT", "EXPIRE x 1"), [
        none,
        none,
        none,
      ]);
      assert.deepEqual(t.calls("EXPIRE k 100 LT", "EXPIRE k 50 NX", "EXPIRE k 100 LT"), [
        done,
        none,
        none,
      ]);
      assert.deepEqual(t.calls("EXPIRE k 50 xx lt", "EXPIRE k 50 GT", "EXPIRE k 60 gt GT"), [
        done,
        none,
        done,
      ]);
      assert.deepEqual(t.takeEvents(), ["expire k", "expire k", "expire k"]);
      assert.deepEqual(t.calls("TTL k", "PERSIST k", "PERSIST k", "TTL k", "TTL x"), [
        integer(60),
        done,
        none,
        integer(-1),
        integer(-2),
      ]);
      assert.deepEqual(t.takeEvents(), ["persist k"]);
      const mixed = error("ERR NX and XX, GT or LT options at the same time are not compatible");
      assert.deepEqual(
        t.calls("EXPIRE k 1 NX XX", "EXPIRE k 1 gt lt nx", "EXPIRE k 1 GT LT", "EXPIRE k x foo"),
        [
          mixed,
          mixed,
          error("ERR GT and LT options at the same time are not compatible"),
          error("ERR Unsupported option foo"),
        ],
      );
      t.check();
    });

    test("times in the past delete", () => {
      const t = keyStore({ shards });
      for (const words of [
        ["EXPIRE", "0"],
        ["PEXPIRE", "-1"],
        ["EXPIREAT", "1"],
        ["PEXPIREAT", `${t.clock.unixMs}`],
        ["PEXPIRE", "-9223372036854775808"],
        ["EXPIRE", "-9223372036854775"],
        ["PEXPIREAT", "-9223372036854770000"],
      ]) {
        t.call("SET", "k", "v");
        t.takeEvents();
        assert.equal(t.call(words[0] as string, "k", words[1] as string), integer(1));
        assert.deepEqual(t.takeEvents(), ["del k"]);
        assert.equal(t.call("EXISTS", "k"), integer(0));
      }
      t.check();
    });

    test("times that overflow are refused, and leave the key as it is", () => {
      const t = keyStore({ shards });
      t.call("SET", "k", "v");
      for (const [name, time] of [
        ["EXPIRE", "9223372036854775807"],
        ["EXPIRE", "9223370399119966"],
        ["EXPIRE", "9223372036854776"],
        ["EXPIRE", "-9223372036854776"],
        ["PEXPIRE", "9223372036854770000"],
        ["EXPIREAT", "9223372036854776"],
      ] as const) {
        const text = `ERR invalid expire time in '${name.toLowerCase()}' command`;
        assert.equal(t.call(name, "k", time), error(text));
      }
      assert.equal(
        t.call("EXPIRE", "k", "1.5"),
        error("ERR value is not an integer or out of range"),
      );
      assert.equal(t.call("TTL", "k"), integer(-1));
      assert.equal(t.call("PEXPIREAT", "k", "9223372036854775807"), integer(1));
      assert.equal(t.call("PEXPIRETIME", "k"), integer(9223372036854774784n));
      assert.equal(t.call("EXPIRETIME", "k"), integer(9223372036854774n));
      t.check();
    });

    test("the TTL family rounds as Redis does", () => {
      const t = keyStore({ shards });
      const at = t.clock.unixMs + 1499;
      t.call("SET", "k", "v", "PXAT", `${at}`);
      assert.deepEqual(t.calls("TTL k", "PTTL k", "PEXPIRETIME k", "EXPIRETIME k"), [
        integer(1),
        integer(1499),
        integer(at),
        integer(Math.floor((at + 500) / 1000)),
      ]);
      t.call("PEXPIRE", "k", "1500");
      assert.equal(t.call("TTL", "k"), integer(2));
      t.advance(1500);
      assert.equal(t.call("PTTL", "k"), integer(0));
      t.advance(1);
      assert.equal(t.call("PTTL", "k"), integer(-2));
    });

    test("RENAME and RENAMENX", () => {
      const t = keyStore({ shards });
      t.call("SET", "a", "one", "PX", "5000");
      t.call("SET", "b", "two");
      t.takeEvents();
      const before = dirty(t);
      assert.equal(t.call("RENAME", "x", "y"), error("ERR no such key"));
      assert.equal(t.call("RENAME", "x", "x"), error("ERR no such key"));
      assert.equal(t.call("RENAMENX", "x", "x"), error("ERR no such key"));
      assert.equal(t.call("RENAME", "a", "a"), OK);
      assert.equal(t.call("RENAMENX", "a", "a"), integer(0));
      assert.equal(t.call("RENAMENX", "a", "b"), integer(0));
      assert.deepEqual(t.takeEvents(), []);
      assert.equal(dirty(t), before);
      assert.equal(t.call("RENAME", "a", "b"), OK);
      assert.deepEqual(t.takeEvents(), ["rename_from a", "rename_to b"]);
      assert.equal(dirty(t), before + 1);
      assert.deepEqual(t.calls("GET b", "PTTL b", "EXISTS a"), [
        bulk("one"),
        integer(5000),
        integer(0),
      ]);
      assert.equal(t.call("RENAMENX", "b", "a"), integer(1));
      assert.deepEqual(t.calls("GET a", "PTTL a", "DBSIZE"), [
        bulk("one"),
        integer(5000),
        integer(1),
      ]);
      t.check();
    });

    test("a big string moves with its block, and is copied with it", () => {
      const t = keyStore({ shards });
      const text = "0123456789".repeat(BIG / 10);
      t.call("SET", "a", text);
      const usage = t.call("MEMORY", "USAGE", "a");
      t.call("SET", "b", text.slice(1));
      assert.equal(t.call("RENAME", "a", "b"), OK);
      t.check();
      assert.equal(t.call("GET", "b"), bulk(text));
      assert.equal(t.call("MEMORY", "USAGE", "b"), usage);
      assert.equal(t.call("COPY", "b", "c"), integer(1));
      assert.equal(t.call("APPEND", "b", "!"), integer(BIG + 1));
      assert.equal(t.call("GET", "c"), bulk(text));
      assert.equal(t.call("COPY", "b", "c", "REPLACE"), integer(1));
      assert.equal(t.call("COPY", "b", "b", "DB", "1"), integer(1));
      t.check();
      t.holdReplies = true;
      t.call("GET", "b");
      t.call("RENAME", "b", "d");
      t.call("SET", "e", "short");
      t.call("RENAME", "e", "d");
      t.releaseReplies();
      t.check();
      assert.equal(t.call("GET", "d"), bulk("short"));
    });

    test("COPY and its options", () => {
      const t = keyStore({ shards, databases: 3 });
      t.call("SET", "a", "1", "PX", "7000");
      t.takeEvents();
      const same = error("ERR source and destination objects are the same");
      const syntax = error("ERR syntax error");
      assert.deepEqual(
        t.calls("COPY a a", "COPY x x", "COPY x y", "COPY a b DB", "COPY a b FOO", "COPY a a DB 0"),
        [same, same, integer(0), syntax, syntax, same],
      );
      assert.deepEqual(
        t.calls("COPY a b DB x", "COPY a b DB 3", "COPY a b DB -1", "COPY a b DB 2147483648"),
        [
          error("ERR value is not an integer or out of range"),
          error("ERR DB index is out of range"),
          error("ERR DB index is out of range"),
          error("ERR value is out of range, value must between -2147483648 and 2147483647"),
        ],
      );
      assert.deepEqual(t.calls("COPY a b", "COPY a b", "COPY a b replace", "COPY a a DB 2"), [
        integer(1),
        integer(0),
        integer(1),
        integer(1),
      ]);
      assert.deepEqual(t.takeEvents(), ["copy_to b", "copy_to b", "copy_to a"]);
      assert.deepEqual(t.calls("GET b", "PTTL b"), [bulk("1"), integer(7000)]);
      t.select(2);
      assert.deepEqual(t.calls("GET a", "PTTL a", "DBSIZE"), [
        bulk("1"),
        integer(7000),
        integer(1),
      ]);
      t.check();
    });

    test("MOVE", () => {
      const t = keyStore({ shards, databases: 3 });
      t.call("SET", "a", "1", "PX", "7000");
      t.call("SET", "b", "x".repeat(BIG));
      t.takeEvents();
      const before = dirty(t);
      assert.deepEqual(t.calls("MOVE a 0", "MOVE a 3", "MOVE a x", "MOVE x 1"), [
        error("ERR source and destination objects are the same"),
        error("ERR DB index is out of range"),
        error("ERR value is not an integer or out of range"),
        integer(0),
      ]);
      assert.deepEqual(t.calls("MOVE a 2", "MOVE b 2"), [integer(1), integer(1)]);
      assert.deepEqual(t.takeEvents(), ["move_from a", "move_to a", "move_from b", "move_to b"]);
      assert.equal(dirty(t), before + 2);
      t.call("SET", "a", "2");
      assert.equal(t.call("MOVE", "a", "2"), integer(0));
      t.check();
      t.select(2);
      assert.deepEqual(t.calls("GET a", "PTTL a", "STRLEN b"), [
        bulk("1"),
        integer(7000),
        integer(BIG),
      ]);
    });

    test("what renames or copies changes nothing when memory is out", () => {
      const t = keyStore({ shards });
      const oom = error("OOM command not allowed when used memory > 'maxmemory'.");
      for (const size of [3, 300, BIG]) {
        t.call("SET", "a", "v".repeat(size));
        t.takeEvents();
        t.heap.refuseEvery = 1;
        for (const line of ["RENAME a longer-name", "COPY a longer-name", "MOVE a 1"]) {
          assert.equal(t.call(...line.split(" ")), oom, line);
        }
        t.heap.refuseEvery = 0;
        assert.deepEqual(t.takeEvents(), []);
        assert.equal(t.call("DBSIZE"), integer(1));
        assert.equal(t.call("STRLEN", "a"), integer(size));
        t.check();
      }
    });

    test("SWAPDB exchanges whole databases", () => {
      const t = keyStore({ shards, databases: 3 });
      t.call("SET", "a", "0");
      t.select(1);
      t.call("MSET", "a", "1", "b", "1");
      assert.deepEqual(t.calls("SWAPDB 0 1", "GET a", "DBSIZE"), [OK, bulk("0"), integer(1)]);
      t.select(0);
      assert.deepEqual(t.calls("GET a", "DBSIZE", "SWAPDB 2 0", "DBSIZE"), [
        bulk("1"),
        integer(2),
        OK,
        integer(0),
      ]);
      assert.deepEqual(t.calls("SWAPDB x 1", "SWAPDB 1 y", "SWAPDB 0 3", "SWAPDB 9999999999 0"), [
        error("ERR invalid first DB index"),
        error("ERR invalid second DB index"),
        error("ERR DB index is out of range"),
        error("ERR invalid first DB index"),
      ]);
      t.check();
    });

    test("databases beside the first are not for owner ports", () => {
      const t = keyStore({ shards });
      t.call("SET", "a", "1");
      t.store.isOwnerPort = true;
      assert.deepEqual(t.calls("MOVE a 1", "SWAPDB 0 1", "COPY a b DB 1", "COPY a b DB 0"), [
        error("ERR MOVE is not allowed in cluster mode"),
        error("ERR SWAPDB is not allowed in cluster mode"),
        error("ERR Copying to another database is not allowed in cluster mode"),
        integer(1),
      ]);
    });

    test("FLUSHDB and FLUSHALL", () => {
      const t = keyStore({ shards, databases: 3 });
      const fill = (): void => {
        for (const db of [0, 1, 2]) {
          t.select(db);
          for (let i = 0; i < 50; i++) t.call("SET", `k${i}`, "v".repeat(i), "PX", "1000");
        }
        t.select(0);
      };
      fill();
      const before = dirty(t);
      assert.deepEqual(t.calls("FLUSHDB x", "FLUSHDB sync async", "FLUSHALL sync x"), [
        error("ERR syntax error"),
        error("ERR syntax error"),
        error("ERR syntax error"),
      ]);
      assert.deepEqual(t.calls("FLUSHDB", "DBSIZE", "FLUSHDB async"), [OK, integer(0), OK]);
      assert.equal(dirty(t), before + 50);
      t.select(1);
      assert.equal(t.call("DBSIZE"), integer(50));
      assert.deepEqual(t.calls("FLUSHALL SYNC", "DBSIZE"), [OK, integer(0)]);
      assert.equal(dirty(t), before + 150);
      t.call("SET", "k", "v");
      t.check();
      assert.equal(t.call("DBSIZE"), integer(1));
    });

    test("OBJECT", () => {
      const t = keyStore({ shards });
      const long = "l".repeat(45);
      t.calls("SET i 9999", "SET j 10000", "SET e abc", "SET r abc", "APPEND r d", `SET l ${long}`);
      t.call("SET", "b", "x".repeat(BIG));
      const encodings = ["i", "j", "e", "r", "l", "b", "x"].map((key) =>
        t.call("OBJECT", "ENCODING", key),
      );
      assert.deepEqual(
        encodings,
        ["int", "int", "embstr", "raw", "raw", "raw"].map(bulk).concat(NIL),
      );
      assert.deepEqual(
        ["i", "j", "e", "x"].map((key) => t.call("OBJECT", "REFCOUNT", key)),
        [integer(2147483647), integer(1), integer(1), NIL],
      );
      assert.match(
        t.call("OBJECT", "FREQ", "i"),
        /^-ERR An LFU maxmemory policy is not selected, /,
      );
      assert.deepEqual(t.calls("OBJECT FREQ x", "OBJECT IDLETIME x"), [NIL, NIL]);
    });

    test("MEMORY USAGE is what the key takes", () => {
      const t = keyStore({ shards });
      const used = (): number => t.db.slotBytes(12182);
      t.call("SET", "foo", "bar");
      assert.equal(t.call("MEMORY", "USAGE", "foo"), integer(used() + 5));
      t.call("SET", "foo", "x".repeat(BIG));
      assert.equal(t.call("MEMORY", "USAGE", "foo", "SAMPLES", "0"), integer(used() + 5));
      assert.deepEqual(
        t.calls("MEMORY USAGE x", "MEMORY USAGE x SAMPLES", "MEMORY USAGE x samples -1"),
        [NIL, error("ERR syntax error"), error("ERR syntax error")],
      );
      assert.equal(
        t.call("MEMORY", "USAGE", "foo", "SAMPLES", "x"),
        error("ERR value is not an integer or out of range"),
      );
    });

    test("KEYS", () => {
      const t = keyStore({ shards });
      t.call("MSET", "one", "1", "two", "2", "three", "3", "", "empty", "{t}1", "a", "{t}2", "b");
      t.call("SET", "gone", "x", "PX", "10");
      t.advance(11);
      const keys = (pattern: string): string[] => bulksOf(t.call("KEYS", pattern)).sort();
      assert.deepEqual(keys("*"), ["", "one", "three", "two", "{t}1", "{t}2"]);
      assert.deepEqual(keys("t*"), ["three", "two"]);
      assert.deepEqual(keys("?ne"), ["one"]);
      assert.deepEqual(keys("{t}*"), ["{t}1", "{t}2"]);
      assert.deepEqual(keys("{t}1"), ["{t}1"]);
      assert.deepEqual(keys("**"), ["one", "three", "two", "{t}1", "{t}2"]);
      assert.deepEqual(keys(""), [""]);
      assert.deepEqual(keys("gone"), []);
      assert.equal(t.call("DBSIZE"), integer(7));
    });
  });
}

test("HELP of OBJECT and MEMORY", () => {
  const t = keyStore();
  const object = callDetached(t, specOf("OBJECT HELP"), argsOf("OBJECT", "HELP"));
  assert.match(object, /^\*15\r\n\+OBJECT <subcommand> /);
  assert.match(object, /\r\n\+HELP\r\n\+ {4}Prints? this help\.\r\n$/);
  const memory = callDetached(t, specOf("MEMORY HELP"), argsOf("MEMORY", "HELP"));
  assert.match(memory, /^\*14\r\n\+MEMORY <subcommand> /);
});

test("WAIT knows of no replicas", () => {
  const t = keyStore();
  const wait = (...words: string[]): string =>
    callDetached(t, specOf("WAIT"), argsOf("WAIT", ...words));
  assert.equal(wait("0", "0"), integer(0));
  assert.equal(wait("-1", "0"), integer(0));
  assert.equal(wait("3", "1000"), integer(0));
  assert.equal(wait("x", "0"), error("ERR value is not an integer or out of range"));
  assert.equal(wait("0", "x"), error("ERR timeout is not an integer or out of range"));
  assert.equal(wait("0", "-1"), error("ERR timeout is negative"));
  assert.equal(wait("0", "9223372036854775807"), error("ERR timeout is out of range"));
});

test("an expired key is told of, and is no change", () => {
  const t = keyStore();
  t.call("SET", "k", "v", "PX", "10");
  const before = t.store.stats.sum("dirty");
  t.advance(11);
  t.takeEvents();
  assert.equal(t.call("RENAME", "k", "j"), error("ERR no such key"));
  assert.deepEqual(t.takeEvents(), ["expired k"]);
  assert.equal(t.store.stats.sum("dirty"), before);
  assert.equal(t.store.stats.sum("expired_keys"), 1);
});
