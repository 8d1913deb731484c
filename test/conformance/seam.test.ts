/**
 * The seam that every change goes through: for each write command of the table, calls and exactly
 * the changes that they tell of, names and keys and in order, and how much they add to what a save
 * is due for. A write command without a case fails. Where there is a redis-server, its own key
 * events are compared with what is written here.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serverCommands } from "../../src/commands.ts";
import { KEY_COMMANDS } from "../../src/types/keys/commands.ts";
import { STRING_COMMANDS } from "../../src/types/string/commands.ts";
import { TestStore } from "../../src/types/test-support.ts";
import { needs } from "../support/environment.ts";
import { encodeCommand } from "../support/resp.ts";
import { textOf, textsOf } from "../support/resp-parser.ts";
import { startRedis } from "../support/servers.ts";

/** Before a case: a = "1", b = "text", t = "1" with a time, nothing else. */
const SETUP: readonly string[] = ["SET a 1", "SET b text", "SET t 1 EX 1000"];

type Case = {
  /** Words separated by blanks. */
  call: string;
  /** "event key". */
  events: string[];
  dirty: number;
};

function one(call: string, event: string, key = "a"): Case {
  return { call, events: [`${event} ${key}`], dirty: 1 };
}

function nothing(call: string): Case {
  return { call, events: [], dirty: 0 };
}

/** A changed key of which two events tell. */
function two(call: string, first: string, second: string): Case {
  return { call, events: [`${first} a`, `${second} a`], dirty: 1 };
}

const PAST_SECONDS = "1000000000";
const FUTURE_SECONDS = "4000000000";
/** DUMP of 10. */
const DUMPED = "\x00\xc0\x0a\x0a\x00\x6e\x9f\x57\x45\x0e\xae\x63\xbb";

const CASES: Readonly<Record<string, readonly Case[]>> = {
  append: [one("APPEND a x", "append"), one("APPEND n x", "append", "n")],
  set: [
    one("SET a 2", "set"),
    two("SET a 2 EX 100", "set", "expire"),
    one("SET a 2 KEEPTTL", "set"),
    one("SET n 2 NX", "set", "n"),
    nothing("SET a 2 NX"),
    nothing("SET n 2 XX"),
    one("SET a 2 XX GET", "set"),
    nothing("SET a 2 NX GET"),
  ],
  setex: [two("SETEX a 100 v", "set", "expire")],
  psetex: [two("PSETEX a 100000 v", "set", "expire")],
  setnx: [one("SETNX n v", "set", "n"), nothing("SETNX a v")],
  mset: [{ call: "MSET a 1 n 2 a 3", events: ["set a", "set n", "set a"], dirty: 3 }],
  msetnx: [
    { call: "MSETNX m 1 n 2", events: ["set m", "set n"], dirty: 2 },
    nothing("MSETNX n 1 a 2"),
  ],
  getset: [one("GETSET a 2", "set"), one("GETSET n 2", "set", "n")],
  getdel: [one("GETDEL a", "del"), nothing("GETDEL n")],
  getex: [
    nothing("GETEX a"),
    one("GETEX a EX 100", "expire"),
    one(`GETEX a EXAT ${PAST_SECONDS}`, "del"),
    one("GETEX t PERSIST", "persist", "t"),
    nothing("GETEX a PERSIST"),
    nothing("GETEX n EX 100"),
  ],
  incr: [one("INCR a", "incrby"), nothing("INCR b")],
  decr: [one("DECR a", "incrby")],
  incrby: [one("INCRBY a 5", "incrby"), nothing("INCRBY a x")],
  decrby: [one("DECRBY n 5", "incrby", "n")],
  incrbyfloat: [one("INCRBYFLOAT a 0.5", "incrbyfloat"), nothing("INCRBYFLOAT b 1")],
  setrange: [one("SETRANGE a 3 x", "setrange"), nothing("SETRANGE a 3 "), nothing("SETRANGE n 1 ")],
  del: [{ call: "DEL a n b a", events: ["del a", "del b"], dirty: 2 }, nothing("DEL n")],
  unlink: [{ call: "UNLINK a n b", events: ["del a", "del b"], dirty: 2 }],
  expire: [
    one("EXPIRE a 100", "expire"),
    one("EXPIRE a -1", "del"),
    nothing("EXPIRE n 100"),
    nothing("EXPIRE t 100 NX"),
    one("EXPIRE t 5000 GT", "expire", "t"),
  ],
  pexpire: [one("PEXPIRE a 100000", "expire"), one("PEXPIRE a 0", "del")],
  expireat: [one(`EXPIREAT a ${FUTURE_SECONDS}`, "expire"), one("EXPIREAT a 1", "del")],
  pexpireat: [one(`PEXPIREAT a ${FUTURE_SECONDS}000`, "expire"), one("PEXPIREAT a 1", "del")],
  persist: [one("PERSIST t", "persist", "t"), nothing("PERSIST a"), nothing("PERSIST n")],
  rename: [
    { call: "RENAME a n", events: ["rename_from a", "rename_to n"], dirty: 1 },
    { call: "RENAME a b", events: ["rename_from a", "rename_to b"], dirty: 1 },
    nothing("RENAME a a"),
    nothing("RENAME n a"),
  ],
  renamenx: [
    { call: "RENAMENX a n", events: ["rename_from a", "rename_to n"], dirty: 1 },
    nothing("RENAMENX a b"),
  ],
  copy: [
    one("COPY a n", "copy_to", "n"),
    nothing("COPY a b"),
    one("COPY a b REPLACE", "copy_to", "b"),
  ],
  move: [{ call: "MOVE a 1", events: ["move_from a", "move_to a"], dirty: 1 }, nothing("MOVE n 1")],
  restore: [
    one(`RESTORE n 0 ${DUMPED}`, "restore", "n"),
    nothing(`RESTORE a 0 ${DUMPED}`),
    one(`RESTORE a 100000 ${DUMPED} REPLACE`, "restore"),
    one(`RESTORE a 1000 ${DUMPED} REPLACE ABSTTL`, "del"),
  ],
  "restore-asking": [one(`RESTORE-ASKING n 0 ${DUMPED}`, "restore", "n")],
  flushdb: [{ call: "FLUSHDB", events: [], dirty: 3 }],
  flushall: [{ call: "FLUSHALL", events: [], dirty: 4 }],
  swapdb: [{ call: "SWAPDB 0 1", events: [], dirty: 1 }],
};

function wordsOf(call: string): string[] {
  return call.split(" ");
}

/** A store as it is before every case; database 1 has one key. */
function newStore(): TestStore {
  const t = new TestStore({ commands: [...STRING_COMMANDS, ...KEY_COMMANDS], shards: 4 });
  for (const line of SETUP) t.call(...wordsOf(line));
  t.select(1);
  t.call("SET", "other", "1");
  t.select(0);
  t.takeEvents();
  return t;
}

const writeCommands = serverCommands().list.filter(({ spec }) => spec.flags?.includes("write"));

describe("the seam of changes", () => {
  test("has a case for every write command, and no other", () => {
    assert.ok(writeCommands.length > 20);
    assert.deepEqual(Object.keys(CASES).sort(), writeCommands.map(({ name }) => name).sort());
  });

  for (const [name, cases] of Object.entries(CASES)) {
    test(`${name} tells of exactly what it changes`, () => {
      for (const { call, events, dirty } of cases) {
        const t = newStore();
        const before = t.store.stats.sum("dirty");
        t.call(...wordsOf(call));
        assert.deepEqual(t.takeEvents(), events, call);
        assert.equal(t.store.stats.sum("dirty") - before, dirty, `${call}: changes`);
        t.check();
      }
    });
  }

  test("a key that has expired is told of once, whoever meets it, and is no change", () => {
    for (const call of ["GET t", "EXISTS t", "DEL t", "SET t 1 XX", "EXPIRE t 100", "PERSIST t"]) {
      const t = newStore();
      const before = t.store.stats.sum("dirty");
      t.advance(1_000_001);
      t.call(...wordsOf(call));
      assert.deepEqual(t.takeEvents(), ["expired t"], call);
      assert.equal(t.store.stats.sum("dirty"), before, call);
      t.call("GET", "t");
      assert.deepEqual(t.takeEvents(), [], call);
    }
  });

  test("no other command changes anything", () => {
    const names = new Set(writeCommands.map(({ name }) => name));
    for (const { name, locks } of [...STRING_COMMANDS, ...KEY_COMMANDS]) {
      if (names.has(name.toLowerCase()) || locks === "container" || locks === "none") continue;
      for (const rest of ["", " a", " a b", " a 1 2", " a 0 -1"]) {
        const t = newStore();
        const before = t.store.stats.sum("dirty");
        t.call(...name.split(" "), ...rest.split(" ").slice(1));
        assert.deepEqual(t.takeEvents(), [], `${name}${rest}`);
        assert.equal(t.store.stats.sum("dirty"), before, `${name}${rest}`);
      }
    }
  });
});

test(
  "redis-server sends the same events and counts the same changes",
  needs("redis-server"),
  async () => {
    const redis = await startRedis({ "notify-keyspace-events": "EA" });
    const client = await redis.connect();
    const listener = await redis.connect();
    await listener.call("PSUBSCRIBE", "__keyevent@*", "done");
    await listener.next("the second subscription");
    const changes = async (): Promise<number> => {
      const info = textOf((await client.call("INFO", "persistence")).reply);
      return Number(/^rdb_changes_since_last_save:(\d+)/m.exec(info)?.[1]);
    };
    /** The events since the last call of this. */
    const events = async (): Promise<string[]> => {
      await client.call("PUBLISH", "done", "");
      const found: string[] = [];
      for (;;) {
        const [, , channel, key] = textsOf((await listener.next("an event")).reply);
        if (channel === "done") return found;
        found.push(`${channel?.replace(/^__keyevent@\d+__:/, "")} ${key}`);
      }
    };
    for (const { call, events: expected, dirty } of Object.values(CASES).flat()) {
      await client.call("FLUSHALL");
      for (const line of SETUP) await client.call(...wordsOf(line));
      await client.pipeline([
        ["SELECT", 1],
        ["SET", "other", 1],
        ["SELECT", 0],
      ]);
      await events();
      const before = await changes();
      client.sendRaw(encodeCommand(wordsOf(call)));
      await client.next(call);
      assert.deepEqual(await events(), expected, call);
      assert.equal((await changes()) - before, dirty, `${call}: changes`);
    }
    await redis.stop();
  },
);
