/** RANDOMKEY draws fairly, and a flush within a scope takes that scope's keys and no others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random, seedText, testSeed } from "../../../test/support/random.ts";
import { H_SPANS_LIMIT, H_SPANS_USED } from "../../memory/layout.ts";
import { integer, NIL, OK, type TestStore } from "../test-support.ts";
import { bulksOf, freeGarbage, keyStore, SHARD_COUNTS } from "./test-keys.ts";

/** Sum over keys of (drawn - expected)^2 / expected; its spread is known. */
function chiSquare(t: TestStore, keys: readonly string[], drawsPerKey: number): number {
  const drawn = new Map(keys.map((key) => [key, 0]));
  for (let n = 0; n < keys.length * drawsPerKey; n++) {
    const key = bulksOf(`*1\r\n${t.call("RANDOMKEY")}`)[0] as string;
    drawn.set(key, (drawn.get(key) as number) + 1);
  }
  assert.equal(drawn.size, keys.length, "a key was drawn that is not there");
  let sum = 0;
  for (const count of drawn.values()) sum += (count - drawsPerKey) ** 2 / drawsPerKey;
  return sum;
}

/** With k keys the sum has mean k-1 and variance 2(k-1): six deviations are no chance. */
function limitOf(keys: number): number {
  return keys - 1 + 6 * Math.sqrt(2 * (keys - 1));
}

for (const shards of SHARD_COUNTS) {
  describe(`databases with ${shards} shards`, () => {
    test("RANDOMKEY draws every key with the same chance", () => {
      const t = keyStore({ shards });
      const seed = testSeed(7);
      const random = new Random(seed);
      t.store.random.below = (n) => random.below(n);
      assert.equal(t.call("RANDOMKEY"), NIL);
      const keys: string[] = [];
      // Slots with one key, and one with several segments of different depths.
      for (let i = 0; i < 300; i++) keys.push(`k${i}`);
      for (let i = 0; i < 700; i++) keys.push(`{s}${i}`);
      for (const key of keys) t.call("SET", key, "v");
      for (let i = 300; i < 330; i++) t.call("SET", `{s}gone${i}`, "v", "PX", "1");
      t.advance(2);
      const all = chiSquare(t, keys, 20);
      assert.ok(all < limitOf(keys.length), `chi-square ${all}; ${seedText(seed)}`);
      t.db.scopeFirst = 3000;
      t.db.scopeLast = 12999;
      const inScope = bulksOf(t.call("KEYS", "*"));
      assert.ok(inScope.length > 100 && inScope.length < 1000);
      const some = chiSquare(t, inScope, 20);
      assert.ok(some < limitOf(inScope.length), `chi-square ${some}; ${seedText(seed)}`);
      t.check();
    });

    test("RANDOMKEY passes over keys whose time has passed, and removes them", () => {
      const t = keyStore({ shards });
      for (let i = 0; i < 50; i++) t.call("SET", `k${i}`, "v", "PX", "10");
      t.call("SET", "stays", "v");
      t.advance(11);
      for (let n = 0; n < 30; n++) assert.equal(t.call("RANDOMKEY"), "$5\r\nstays\r\n");
      t.call("DEL", "stays");
      assert.equal(t.call("RANDOMKEY"), NIL);
      assert.equal(t.call("DBSIZE"), integer(0));
      t.check();
    });

    test("a flush within a scope takes that scope's keys", () => {
      const t = keyStore({ shards, databases: 3 });
      const setScope = (first: number, last: number): void => {
        t.db.scopeFirst = first;
        t.db.scopeLast = last;
      };
      for (const isMemoryOut of [false, true]) {
        for (const db of [0, 2]) {
          t.select(db);
          for (let i = 0; i < 3000; i++) t.call("SET", `key:${i}`, "v".repeat(i % 50));
          for (let i = 0; i < 1000; i++) t.call("SET", `{s}${i}`, "v", "PX", "100000");
          t.call("SET", "{s}big", "v".repeat(100_000));
        }
        t.select(0);
        setScope(4000, 8999);
        const inScope = bulksOf(t.call("KEYS", "*"));
        setScope(0, 16383);
        const all = bulksOf(t.call("KEYS", "*"));
        setScope(4000, 8999);
        const { control } = t.heap;
        if (isMemoryOut) control[H_SPANS_LIMIT] = control[H_SPANS_USED] as number;
        assert.equal(t.call("FLUSHALL"), OK);
        control[H_SPANS_LIMIT] = 0;
        assert.equal(t.call("DBSIZE"), integer(0));
        assert.equal(freeGarbage(t.store), isMemoryOut ? 0 : 2 * inScope.length);
        t.check();
        for (const db of [0, 2]) {
          t.select(db);
          setScope(0, 16383);
          const left = new Set(all);
          for (const key of inScope) left.delete(key);
          assert.deepEqual(bulksOf(t.call("KEYS", "*")).sort(), [...left].sort());
        }
        t.select(2);
        setScope(9000, 16383);
        t.call("FLUSHDB");
        t.select(0);
        setScope(9000, 16383);
        assert.notEqual(t.call("DBSIZE"), integer(0));
        setScope(0, 16383);
        freeGarbage(t.store);
        t.check();
      }
    });
  });
}
