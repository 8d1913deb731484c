/**
 * SCAN and KEYS: what is there from the first call to the last is returned, whatever else comes and
 * goes; what is looked at under one lock is bounded; a call only looks into the shard that the
 * dispatcher locks for it.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random, seedText, testSeed } from "../../../test/support/random.ts";
import { Args } from "../../base/args.ts";
import { latin1, latin1Bytes } from "../../base/bytes.ts";
import { keySlot } from "../../base/crc16.ts";
import type { EachCommand } from "../../command/spec.ts";
import { Reply } from "../../protocol/reply.ts";
import { error, type TestStore } from "../test-support.ts";
import { KEYS as KEYS_SPEC } from "./scan-commands.ts";
import { bulksOf, keyStore, SHARD_COUNTS } from "./test-keys.ts";

const KEYS = KEYS_SPEC as EachCommand;

type Page = { cursor: string; keys: string[] };

function scan(t: TestStore, cursor: string, ...options: string[]): Page {
  const reply = t.call("SCAN", cursor, ...options);
  assert.ok(reply.startsWith("*2\r\n$"), reply.slice(0, 80));
  const end = reply.indexOf("\r\n*");
  return {
    cursor: bulksOf(reply.slice(0, end + 2))[0] as string,
    keys: bulksOf(reply.slice(end + 2)),
  };
}

/** All keys of a whole iteration, in the order they came; `between` runs after each page. */
function scanAll(t: TestStore, options: string[] = [], between?: () => void): string[] {
  const keys: string[] = [];
  let cursor = "0";
  let last = -1;
  do {
    const page = scan(t, cursor, ...options);
    keys.push(...page.keys);
    cursor = page.cursor;
    between?.();
    assert.ok(cursor === "0" || Number(cursor) > last, "the cursor does not go forward");
    last = Number(cursor);
  } while (cursor !== "0");
  return keys;
}

function slotOf(key: string): number {
  return keySlot(latin1Bytes(key), 0, key.length);
}

for (const shards of SHARD_COUNTS) {
  describe(`SCAN with ${shards} shards`, () => {
    test("returns everything once while nothing changes", () => {
      const t = keyStore({ shards });
      const names: string[] = [];
      for (let i = 0; i < 3000; i++) names.push(i % 3 === 0 ? `{tag}${i}` : `key:${i}`);
      for (const name of names) t.call("SET", name, "v");
      for (const count of ["1", "10", "100", "5000", "9223372036854775807"]) {
        assert.deepEqual(scanAll(t, ["COUNT", count]).sort(), [...names].sort(), `COUNT ${count}`);
      }
    });

    test("an empty database is one page", () => {
      const t = keyStore({ shards });
      assert.deepEqual(scan(t, "0"), { cursor: "0", keys: [] });
      assert.deepEqual(scanAll(t), []);
    });

    test("what is there all the time is returned while others come and go", () => {
      const seed = testSeed(20261130 + shards);
      const random = new Random(seed);
      const t = keyStore({ shards });
      // Half of the keys share a slot, whose table splits, merges, grows and shrinks meanwhile.
      const name = (i: number): string => (i % 2 === 0 ? `{s}${i}` : `k${i}`);
      for (let round = 0; round < 6; round++) {
        const fixed = new Set<string>();
        for (let i = 0; i < 500; i++) fixed.add(`{s}fixed${i}`).add(`fixed${i}`);
        for (const key of fixed) t.call("SET", key, "v");
        const isGrowing = round % 2 === 0;
        const seen = scanAll(t, ["COUNT", `${1 + random.below(40)}`], () => {
          for (let n = 0; n < 40; n++) {
            const key = name(random.below(6000));
            if (random.chance(isGrowing ? 0.9 : 0.1)) t.call("SET", key, "v");
            else t.call("DEL", key);
          }
        });
        const got = new Set(seen);
        for (const key of fixed) assert.ok(got.has(key), `${key} was missed; ${seedText(seed)}`);
        // No element twice either, since hashes only go up.
        assert.equal(got.size, seen.length, `a key came twice; ${seedText(seed)}`);
      }
      t.check();
    });

    test("MATCH, TYPE and a literal tag", () => {
      const t = keyStore({ shards });
      for (let i = 0; i < 200; i++) t.call("SET", `{tag${i % 2}}:${i}`, "v");
      t.call("SET", "", "empty");
      assert.equal(scanAll(t, ["MATCH", "*7"]).length, 20);
      assert.equal(scanAll(t, ["match", "*", "type", "STRING"]).length, 201);
      assert.equal(scanAll(t, ["MATCH", "**"]).length, 200);
      assert.deepEqual(scanAll(t, ["TYPE", "list"]), []);
      assert.deepEqual(scanAll(t, ["TYPE", "nosuch"]), []);
      // The slot of the tag is gone to at once, and left for the end.
      const page = scan(t, "0", "MATCH", "{tag1}*", "COUNT", "1000");
      assert.equal(page.keys.length, 100);
      assert.equal(page.cursor, "0");
      assert.equal(scanAll(t, ["MATCH", "{tag1}*", "COUNT", "7"]).length, 100);
      assert.deepEqual(scan(t, `${(slotOf("tag1") + 1) * 2 ** 32}`, "MATCH", "{tag1}*"), {
        cursor: "0",
        keys: [],
      });
    });

    test("keys whose time has passed are removed and not returned", () => {
      const t = keyStore({ shards });
      for (let i = 0; i < 300; i++) t.call("SET", `k${i}`, "v", "PX", i % 3 === 0 ? "10" : "9999");
      t.advance(11);
      t.takeEvents();
      assert.equal(scanAll(t, ["COUNT", "10"]).length, 200);
      assert.equal(t.takeEvents().filter((event) => event.startsWith("expired ")).length, 100);
      assert.equal(t.call("DBSIZE"), ":200\r\n");
      t.check();
    });

    test("within a scope only its slots are seen", () => {
      const t = keyStore({ shards });
      const names: string[] = [];
      for (let i = 0; i < 2000; i++) names.push(`key:${i}`);
      for (const name of names) t.call("SET", name, "v");
      const seen: string[] = [];
      for (const [first, last] of [
        [0, 5460],
        [5461, 10922],
        [10923, 16383],
      ] as const) {
        t.db.scopeFirst = first;
        t.db.scopeLast = last;
        const keys = scanAll(t, ["COUNT", "50"]);
        for (const key of keys) assert.ok(slotOf(key) >= first && slotOf(key) <= last);
        assert.deepEqual(bulksOf(t.call("KEYS", "*")).sort(), [...keys].sort());
        assert.equal(t.call("DBSIZE"), `:${keys.length}\r\n`);
        const other = first === 0 ? 9000 : 0;
        assert.equal(scan(t, `${(last + 1) * 2 ** 32}`).cursor, "0");
        assert.ok(scan(t, `${other * 2 ** 32}`).keys.every((key) => keys.includes(key)));
        seen.push(...keys);
      }
      assert.deepEqual(seen.sort(), names.sort());
    });

    test("a page is bounded, and takes a small database whole", () => {
      const t = keyStore({ shards });
      for (let i = 0; i < 500; i++) t.call("SET", `k${i}`, "v");
      const whole = scan(t, "0", "COUNT", "1000");
      assert.equal(whole.cursor, "0");
      assert.equal(new Set(whole.keys).size, 500);
      for (let i = 0; i < 20_000; i++) t.call("SET", `k${i}`, "v");
      let cursor = "0";
      let keys = 0;
      do {
        const page = scan(t, cursor, "COUNT", "1000000");
        assert.ok(page.keys.length <= 4096 + 512, `${page.keys.length} keys in a page`);
        keys += page.keys.length;
        cursor = page.cursor;
      } while (cursor !== "0");
      assert.equal(keys, 20_000);
    });
  });
}

test("errors of SCAN are Redis's", () => {
  const t = keyStore();
  const invalid = error("ERR invalid cursor");
  const syntax = error("ERR syntax error");
  const notInteger = error("ERR value is not an integer or out of range");
  for (const cursor of [
    ..."x,-1,1.5,0 ,0x1,+,-,- 1,+-1,,-9223372036854775808".split(","),
    "18446744073709551616",
    "-18446744073709551616",
    "0".repeat(100),
  ]) {
    assert.equal(t.call("SCAN", cursor), invalid, cursor);
  }
  assert.equal(t.call("SCAN", "x", "FOO"), invalid);
  for (const cursor of ["18446744073709551615", "70368744177664", "+70368744177664"]) {
    assert.deepEqual(scan(t, cursor), { cursor: "0", keys: [] });
  }
  for (const cursor of [" -5", "-05", "-9223372036854775809"]) {
    assert.deepEqual(scan(t, cursor), { cursor: "0", keys: [] });
  }
  for (const cursor of ["+007", " 0", "\t\n\v\f\r+0", "-0", "-00", "-18446744073709551615"]) {
    assert.ok(t.call("SCAN", cursor).startsWith("*2"), cursor);
  }
  assert.ok(t.call("SCAN", "7\0x", "TYPE", "string\0x").startsWith("*2"));
  assert.equal(t.call("SCAN", "\x007"), invalid);
  for (const words of [
    ["COUNT", "0"],
    ["COUNT", "-1"],
    ["COUNT"],
    ["MATCH"],
    ["TYPE"],
    ["FOO", "bar"],
    ["MATCH", "NOVALUES", "TYPE"],
  ]) {
    assert.equal(t.call("SCAN", "0", ...words), syntax, words.join(" "));
  }
  for (const words of [["NOVALUES"], ["COUNT", "5", "novalues"], ["NoValues", "FOO"]]) {
    assert.equal(
      t.call("SCAN", "0", ...words),
      "-ERR NOVALUES option can only be used in HSCAN\r\n",
      words.join(" "),
    );
  }
  assert.equal(t.call("SCAN", "0", "COUNT", "x"), notInteger);
  assert.equal(t.call("SCAN", "0", "COUNT", "9223372036854775808"), notInteger);
});

/** Runs KEYS part by part, with something between two parts. Returns the keys, sorted. */
function keysInParts(t: TestStore, pattern: string, between: (part: number) => void): string[] {
  const args = new Args();
  args.buffer = latin1Bytes(pattern);
  args.end[1] = pattern.length;
  args.count = 2;
  const { db } = t;
  const state = KEYS.begin(db, args, null as never);
  let parts = 0;
  for (let shard = 0; shard < t.store.shards; shard++) {
    while (KEYS.part(db, shard, state) === "again") between(parts++);
    between(parts++);
  }
  const reply = new Reply();
  KEYS.finish(db, state, args, reply);
  return bulksOf(latin1(reply.buffer, 0, reply.length)).sort();
}

describe("KEYS", () => {
  test("looks at a bounded number under one lock, in one slot and over many", () => {
    for (const [name, shards] of [
      [(i: number): string => `key:${i}`, 2],
      [(i: number): string => `{tag}${i}`, 2],
      [(i: number): string => `{tag}${i}`, 64],
    ] as const) {
      const t = keyStore({ shards });
      const names = Array.from({ length: 20_000 }, (_, i) => name(i));
      for (const key of names) t.call("SET", key, "v");
      let parts = 0;
      const found = keysInParts(t, "*", () => {
        parts++;
      });
      assert.deepEqual(found, names.sort());
      assert.ok(parts >= 20_000 / 2100 && parts <= 2 * shards + 20, `${parts} parts`);
    }
  });

  test("names once what is there all the while, and nothing that never was", () => {
    const seed = testSeed(77);
    const random = new Random(seed);
    const t = keyStore({ shards: 4 });
    const name = (i: number): string => (i % 2 === 0 ? `{tag}${i}` : `key:${i}`);
    const steady = Array.from({ length: 12_000 }, (_, i) => name(i));
    for (const key of steady) t.call("SET", key, "v");
    const others = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const found = keysInParts(t, "*", () => {
        for (let n = 0; n < 300; n++) {
          const other = name(20_000 + random.below(6000));
          others.add(other);
          if (random.chance(0.5)) t.call("SET", other, "v");
          else t.call("DEL", other);
        }
      });
      const counts = new Map<string, number>();
      for (const key of found) counts.set(key, (counts.get(key) ?? 0) + 1);
      for (const key of steady) assert.equal(counts.get(key), 1, `${key} (${seedText(seed)})`);
      const known = new Set([...steady, ...others]);
      for (const [key, count] of counts) {
        assert.ok(count === 1 && known.has(key), `${key} ${count} times (${seedText(seed)})`);
      }
    }
  });
});
