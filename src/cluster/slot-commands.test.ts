import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { latin1Bytes } from "../base/bytes.ts";
import { keySlot } from "../base/crc16.ts";
import { SLOTS } from "../limits.ts";
import { STRING_COMMANDS } from "../types/string/commands.ts";
import { TestStore } from "../types/test-support.ts";
import { CLUSTER_COMMANDS } from "./commands.ts";

const FOO = 12182;
const BAR = 5061;

let store: TestStore;

beforeEach(() => {
  store = new TestStore({ commands: [...STRING_COMMANDS, ...CLUSTER_COMMANDS], shards: 4 });
  own(0, SLOTS - 1);
});

/** What the dispatcher does for a session whose port stands for these slots. */
function own(first: number, last: number): void {
  store.db.ownFirst = first;
  store.db.ownLast = last;
}

function error(text: string): string {
  return `-ERR ${text}\r\n`;
}

/** The bulk strings of an array reply. */
function bulks(reply: string): string[] {
  return reply.split("\r\n").filter((_, i) => i > 0 && i % 2 === 0);
}

const DISABLED = error("This instance has cluster support disabled");

describe("COUNTKEYSINSLOT", () => {
  test("counts what is there", () => {
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(FOO)), ":0\r\n");
    store.calls("SET foo 1", "SET {foo}1 1", "SET {foo}2 1", "SET bar 1");
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(FOO)), ":3\r\n");
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(BAR)), ":1\r\n");
    store.call("GETDEL", "{foo}1");
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(FOO)), ":2\r\n");
  });

  test("a foreign slot has no keys", () => {
    store.calls("SET foo 1", "SET bar 1");
    own(0, FOO - 1);
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(FOO)), ":0\r\n");
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(BAR)), ":1\r\n");
    own(FOO, SLOTS - 1);
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(FOO)), ":1\r\n");
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", String(BAR)), ":0\r\n");
  });

  test("what is no slot", () => {
    const count = (slot: string): string => store.call("CLUSTER", "COUNTKEYSINSLOT", slot);
    const notInteger = error("value is not an integer or out of range");
    for (const slot of ["abc", "", "01", "+1", "1.0", " 1", "99999999999999999999"]) {
      assert.equal(count(slot), notInteger, slot);
    }
    for (const slot of ["-1", "16384", "9223372036854775807"]) {
      assert.equal(count(slot), error("Invalid slot"), slot);
    }
  });

  test("without shard owners", () => {
    own(0, -1);
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", "0"), DISABLED);
    assert.equal(store.call("CLUSTER", "COUNTKEYSINSLOT", "abc"), DISABLED);
  });
});

describe("GETKEYSINSLOT", () => {
  test("gives as many keys as asked for, each once", () => {
    const keys = Array.from({ length: 1000 }, (_, i) => `{foo}${i}`);
    for (const key of keys) store.call("SET", key, "1");
    for (const most of [0, 1, 2, 7, 100, 999, 1000, 1001]) {
      const reply = store.call("CLUSTER", "GETKEYSINSLOT", String(FOO), String(most));
      const found = bulks(reply);
      assert.ok(reply.startsWith(`*${Math.min(most, 1000)}\r\n`));
      assert.equal(found.length, Math.min(most, 1000));
      assert.equal(new Set(found).size, found.length);
      assert.ok(found.every((key) => keySlot(latin1Bytes(key), 0, key.length) === FOO));
    }
    const all = bulks(store.call("CLUSTER", "GETKEYSINSLOT", String(FOO), "9223372036854775807"));
    assert.deepEqual(all.sort(), keys.sort());
  });

  test("keys of any bytes and length", () => {
    const keys = ["{foo}\0\r\n\xff", `{foo}${"x".repeat(70_000)}`];
    for (const key of keys) store.call("SET", key, "1");
    const reply = store.call("CLUSTER", "GETKEYSINSLOT", String(FOO), "10");
    for (const key of keys) assert.ok(reply.includes(`$${key.length}\r\n${key}\r\n`));
  });

  test("a foreign slot has none", () => {
    store.call("SET", "foo", "1");
    own(0, FOO - 1);
    assert.equal(store.call("CLUSTER", "GETKEYSINSLOT", String(FOO), "10"), "*0\r\n");
  });

  test("wrong arguments", () => {
    const get = (slot: string, most: string): string =>
      store.call("CLUSTER", "GETKEYSINSLOT", slot, most);
    const notInteger = error("value is not an integer or out of range");
    assert.equal(get("x", "1"), notInteger);
    assert.equal(get("1", "x"), notInteger);
    assert.equal(get("16384", "x"), notInteger);
    const invalid = error("Invalid slot or number of keys");
    for (const [slot, most] of [
      ["0", "-1"],
      ["16384", "1"],
      ["-1", "1"],
    ] as const) {
      assert.equal(get(slot, most), invalid);
    }
    own(0, -1);
    assert.equal(get("x", "x"), DISABLED);
  });
});

describe("SLOT-STATS", () => {
  const stats = (...words: string[]): string => store.call("CLUSTER", "SLOT-STATS", ...words);

  /** Slot and key count of each entry, in the order of the reply. */
  const counts = (reply: string): number[][] =>
    [...reply.matchAll(/:(\d+)\r\n[*%]\d\r\n\$9\r\nkey-count\r\n:(\d+)/g)].map((match) => [
      Number(match[1]),
      Number(match[2]),
    ]);

  test("a range of slots, in both protocols", () => {
    store.calls("SET foo 1", "SET {foo}1 22");
    const bytes = store.db.slotBytes(FOO);
    assert.ok(bytes > 0);
    const figures = (keys: number, used: number): string =>
      `$9\r\nkey-count\r\n:${keys}\r\n$12\r\nmemory-bytes\r\n:${used}\r\n`;
    const range = ["SLOTSRANGE", String(FOO), String(FOO + 1)];
    assert.equal(
      stats(...range),
      `*2\r\n*2\r\n:${FOO}\r\n*4\r\n${figures(2, bytes)}*2\r\n:${FOO + 1}\r\n*4\r\n${figures(0, 0)}`,
    );
    store.reply.proto = 3;
    assert.equal(
      stats(...range),
      `*2\r\n*2\r\n:${FOO}\r\n%2\r\n${figures(2, bytes)}*2\r\n:${FOO + 1}\r\n%2\r\n${figures(0, 0)}`,
    );
  });

  test("only the port's own slots", () => {
    store.calls("SET foo 1", "SET bar 1");
    own(FOO, FOO + 2);
    assert.deepEqual(counts(stats("SLOTSRANGE", "0", "16383")), [
      [FOO, 1],
      [FOO + 1, 0],
      [FOO + 2, 0],
    ]);
    assert.deepEqual(counts(stats("SLOTSRANGE", "0", "100")), []);
    assert.equal(stats("SLOTSRANGE", "0", "100"), "*0\r\n");
    assert.deepEqual(counts(stats("ORDERBY", "key-count", "LIMIT", "1")), [[FOO, 1]]);
  });

  test("sorted by a metric; equal figures by slot either way", () => {
    store.calls("SET foo 1", "SET {foo}1 1", "SET bar 1", "SET hello 1");
    own(800, SLOTS - 1);
    assert.deepEqual(counts(stats("ORDERBY", "KEY-COUNT", "LIMIT", "4")), [
      [FOO, 2],
      [866, 1],
      [BAR, 1],
      [800, 0],
    ]);
    assert.deepEqual(counts(stats("orderby", "key-count", "asc", "limit", "2")), [
      [800, 0],
      [801, 0],
    ]);
    const all = counts(stats("ORDERBY", "key-count", "ASC"));
    assert.equal(all.length, SLOTS - 800);
    assert.deepEqual(all.slice(-3), [
      [866, 1],
      [BAR, 1],
      [FOO, 2],
    ]);
    store.call("SET", "bar", "x".repeat(10_000));
    assert.deepEqual(counts(stats("ORDERBY", "memory-bytes", "DESC", "LIMIT", "2")), [
      [BAR, 1],
      [FOO, 2],
    ]);
  });

  test("sums over all slots are those of the database", () => {
    for (let i = 0; i < 500; i++) store.call("SET", `key:${i}`, String(i));
    const entries = counts(stats("SLOTSRANGE", "0", "16383"));
    assert.equal(entries.length, SLOTS);
    assert.equal(
      entries.reduce((sum, [, keys]) => sum + (keys ?? 0), 0),
      500,
    );
  });

  test("wrong arguments", () => {
    const invalidSlot = error("Invalid or out of range slot");
    assert.equal(stats("SLOTSRANGE", "x", "1"), invalidSlot);
    assert.equal(stats("SLOTSRANGE", "0", "16384"), invalidSlot);
    assert.equal(stats("SLOTSRANGE", "-1", "1"), invalidSlot);
    assert.equal(
      stats("SLOTSRANGE", "5", "4"),
      error("Start slot number 5 is greater than end slot number 4"),
    );
    const unknown = error(
      "unknown subcommand or wrong number of arguments for 'SLOT-STATS'. Try CLUSTER HELP.",
    );
    assert.equal(stats("SLOTSRANGE", "1"), unknown);
    assert.equal(stats("SLOTSRANGE", "1", "2", "3"), unknown);
    assert.equal(stats("FOO", "1"), unknown);
    const metric = error("Unrecognized sort metric for ORDERBY.");
    assert.equal(stats("ORDERBY", "cpu-usec"), metric);
    assert.equal(stats("ORDERBY", "foo", "LIMIT", "x"), metric);
    const limit = error("Limit has to lie in between 1 and 16384 (maximum number of slots).");
    for (const bad of ["0", "16385", "-1", "x"]) {
      assert.equal(stats("ORDERBY", "key-count", "LIMIT", bad), limit);
    }
    const syntax = error("syntax error");
    assert.equal(stats("ORDERBY", "key-count", "LIMIT"), syntax);
    assert.equal(stats("ORDERBY", "key-count", "FOO"), syntax);
    const twice = error("Multiple filters of the same type are disallowed.");
    assert.equal(stats("ORDERBY", "key-count", "ASC", "DESC"), twice);
    assert.equal(stats("ORDERBY", "key-count", "LIMIT", "1", "LIMIT", "2"), twice);
    own(0, -1);
    assert.equal(stats("SLOTSRANGE", "0", "1"), DISABLED);
    assert.equal(stats("FOO", "1"), DISABLED);
  });
});
