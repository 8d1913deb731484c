/** What each policy evicts, in which order, and what it leaves alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { freeGarbage, freeLocks, keyStore } from "../types/keys/test-keys.ts";
import { integer, type TestStore } from "../types/test-support.ts";
import { Eviction, evictionPolicy, NOT_NOW, NOTHING_LEFT, REMOVED } from "./eviction.ts";
import type { ShardLocks } from "./garbage.ts";

const ALLKEYS = ["allkeys-lru", "allkeys-lfu", "allkeys-random"];
const VOLATILE = ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"];

function evictionOf(t: TestStore, policy: string, samples = 5, locks?: ShardLocks): Eviction {
  const eviction = new Eviction(t.store, locks ?? freeLocks(t.store));
  const parsed = evictionPolicy(policy);
  t.store.setAccessMode(parsed.by === "lfu", 0, 0);
  eviction.configure(parsed, samples);
  return eviction;
}

/** Evicts until nothing is left that may be. Returns how often something was removed. */
function evictAll(eviction: Eviction): number {
  for (let removals = 0; ; removals++) {
    const result = eviction.removeSome(1);
    if (result === NOTHING_LEFT) return removals;
    assert.equal(result, REMOVED);
    assert.ok(eviction.freedBytes > 0);
  }
}

/** Keys of the databases 0, 3 and 9, every third with an expiry, some in the slot of one tag. */
function fill(t: TestStore, keys: number): { all: string[]; expiring: string[] } {
  const all: string[] = [];
  const expiring: string[] = [];
  for (let i = 0; i < keys; i++) {
    const db = [0, 3, 9][i % 3] as number;
    t.select(db);
    const name = i % 5 === 0 ? `{tag}${i}` : `key:${i}`;
    const expires = i % 7 < 2;
    t.call("SET", name, "v".repeat(i % 60), ...(expires ? ["EX", String(1000 + i)] : []));
    all.push(name);
    if (expires) expiring.push(name);
  }
  t.select(0);
  t.call("SET", "big", "b".repeat(200_000), "EX", "5000");
  all.push("big");
  expiring.push("big");
  return { all, expiring };
}

function evicted(t: TestStore): string[] {
  return t.takeEvents().flatMap((event) => (event.startsWith("evicted ") ? [event.slice(8)] : []));
}

for (const shards of [1, 4, 64]) {
  describe(`eviction with ${shards} shards`, () => {
    for (const policy of ALLKEYS) {
      test(`${policy} evicts every key, once`, () => {
        const t = keyStore({ shards, databases: 16 });
        const { all } = fill(t, 700);
        t.takeEvents();
        assert.equal(evictAll(evictionOf(t, policy)), all.length);
        assert.deepEqual(evicted(t).sort(), all.sort());
        assert.equal(t.store.stats.sum("evicted_keys"), all.length);
        assert.equal(t.store.stats.sum("expired_keys"), 0);
        t.check();
      });
    }

    for (const policy of VOLATILE) {
      test(`${policy} evicts every key with an expiry, and no other`, () => {
        const t = keyStore({ shards, databases: 16 });
        const { all, expiring } = fill(t, 700);
        t.takeEvents();
        assert.equal(evictAll(evictionOf(t, policy)), expiring.length);
        assert.deepEqual(evicted(t).sort(), expiring.sort());
        let left = 0;
        for (const db of [0, 3, 9]) {
          t.select(db);
          left += Number(t.call("DBSIZE").slice(1));
        }
        assert.equal(left, all.length - expiring.length);
        t.check();
      });
    }
  });
}

test("noeviction evicts nothing", () => {
  const t = keyStore({ databases: 16 });
  fill(t, 50);
  assert.equal(evictionOf(t, "noeviction").removeSome(1), NOTHING_LEFT);
  assert.equal(t.store.stats.sum("evicted_keys"), 0);
});

describe("the order of eviction", () => {
  const KEYS = ["a", "b", "c", "d", "e", "f", "g", "h"];

  test("lru: the key that was used longest ago", () => {
    for (const policy of ["allkeys-lru", "volatile-lru"]) {
      const t = keyStore({ shards: 4 });
      for (const key of KEYS) t.call("SET", key, "v", "EX", "100000");
      for (const key of [...KEYS].reverse()) {
        t.advance(1000);
        t.call("GET", key);
      }
      t.takeEvents();
      evictAll(evictionOf(t, policy, 64));
      assert.deepEqual(evicted(t), [...KEYS].reverse());
    }
  });

  test("lfu: the key with the fewest uses, as they stand now", () => {
    for (const policy of ["allkeys-lfu", "volatile-lfu"]) {
      const t = keyStore({ shards: 4 });
      const eviction = evictionOf(t, policy, 64);
      t.store.setAccessMode(true, 0, 1);
      t.call("SET", "long ago", "v", "EX", "100000");
      for (let n = 0; n < 50; n++) t.call("GET", "long ago");
      t.advance(53 * 60_000);
      for (const [i, key] of KEYS.entries()) {
        t.call("SET", key, "v", "EX", "100000");
        for (let n = 0; n < 20 - i; n++) t.call("GET", key);
      }
      t.takeEvents();
      evictAll(eviction);
      assert.deepEqual(evicted(t), ["long ago", ...[...KEYS].reverse()]);
    }
  });

  test("ttl: the key that is the next to expire", () => {
    const t = keyStore({ shards: 4 });
    for (const [i, key] of KEYS.entries()) t.call("SET", key, "v", "PX", String(90_000_000 - i));
    t.takeEvents();
    evictAll(evictionOf(t, "volatile-ttl", 64));
    assert.deepEqual(evicted(t), [...KEYS].reverse());
  });
});

test("a candidate that was used, or got another time, since it was drawn is passed over", () => {
  const t = keyStore({ shards: 4 });
  const eviction = evictionOf(t, "allkeys-lru", 64);
  for (const key of ["first", "old", "x", "y", "z"]) {
    t.call("SET", key, "v");
    t.advance(5000);
  }
  t.takeEvents();
  eviction.removeSome(1);
  assert.deepEqual(evicted(t), ["first"]);
  t.call("GET", "old");
  eviction.removeSome(1);
  assert.deepEqual(evicted(t), ["x"]);
  const times = evictionOf(t, "volatile-ttl", 64);
  for (const [key, seconds] of [
    ["old", 100],
    ["y", 200],
    ["z", 300],
  ] as const) {
    t.call("EXPIRE", key, String(seconds));
  }
  times.removeSome(1);
  assert.deepEqual(evicted(t), ["old"]);
  t.call("EXPIRE", "y", "400");
  times.removeSome(1);
  assert.deepEqual(evicted(t), ["z"]);
  t.call("PERSIST", "y");
  assert.equal(times.removeSome(1), NOTHING_LEFT);
  t.check();
});

test("keys that are drawn after their time expire and are not counted as evicted", () => {
  for (const policy of [...ALLKEYS, ...VOLATILE]) {
    const t = keyStore({ shards: 4 });
    for (let i = 0; i < 100; i++) t.call("SET", `k${i}`, "v", "PX", i % 2 === 0 ? "10" : "100000");
    t.advance(11);
    const eviction = evictionOf(t, policy);
    evictAll(eviction);
    assert.equal(t.store.stats.sum("expired_keys"), 50, policy);
    assert.equal(t.store.stats.sum("evicted_keys"), 50, policy);
    t.check();
  }
});

test("shards whose locks are taken are left alone, and nobody waits for them", () => {
  for (const policy of ["allkeys-lru", "allkeys-random", "volatile-ttl"]) {
    const t = keyStore({ shards: 16 });
    const taken = new Set<number>([1, 2, 3, 5, 8, 13]);
    const locks: ShardLocks = {
      tryShard(shard, run) {
        if (taken.has(shard)) return false;
        t.store.enterShard(shard);
        run();
        return true;
      },
    };
    for (let i = 0; i < 500; i++) t.call("SET", `k${i}`, "v", "EX", String(100 + i));
    const eviction = evictionOf(t, policy, 5, locks);
    for (let failures = 0; failures < 100; ) if (eviction.removeSome(1) === NOT_NOW) failures++;
    assert.equal(eviction.removeSome(1), NOT_NOW);
    for (let shard = 0; shard < 16; shard++) {
      assert.equal(t.db.shardKeys(shard) > 0, taken.has(shard), `${policy}, shard ${shard}`);
    }
    taken.clear();
    evictAll(eviction);
    assert.equal(t.call("DBSIZE"), integer(0));
    t.check();
  }
});

/** What exceeds this has a chance of one in a million. */
function chiSquareMost(counts: number): number {
  const free = counts - 1;
  return free + 4.76 * Math.sqrt(2 * free) + 15;
}

for (const policy of ["allkeys-random", "volatile-random"]) {
  test(`${policy} gives every key the same chance, wherever it is`, () => {
    const seed = testSeed(321);
    const random = new Random(seed);
    const t = keyStore({ shards: 16, databases: 4 });
    t.store.random.u32 = () => random.u32();
    const eviction = evictionOf(t, policy);
    // Half of all keys in one slot, a sixth in another database.
    const names = Array.from({ length: 240 }, (_, i) => (i % 2 === 0 ? `{s}${i}` : `k${i}`));
    const database = (name: string): number => (Number(/\d+$/.exec(name)?.[0]) % 6 === 1 ? 2 : 0);
    const add = (name: string): void => {
      t.select(database(name));
      t.call("SET", name, "v", "EX", "100000");
    };
    for (const name of names) add(name);
    for (let i = 0; i < 300; i++) if (policy === "volatile-random") t.call("SET", `plain${i}`, "v");
    const counts = new Map<string, number>(names.map((name) => [name, 0]));
    t.takeEvents();
    const draws = names.length * 60;
    for (let n = 0; n < draws; n++) {
      assert.equal(eviction.removeSome(1), REMOVED);
      const [name] = evicted(t) as [string];
      counts.set(name, (counts.get(name) as number) + 1);
      add(name);
    }
    const expected = draws / names.length;
    let value = 0;
    for (const seen of counts.values()) value += (seen - expected) ** 2 / expected;
    assert.ok(value < chiSquareMost(names.length), `chi-square ${value}; ${seedText(seed)}`);
  });
}

/** What the fuzz knows of its keys: whether each expires, by database and name. */
class Model {
  readonly keys: Map<string, boolean>[] = [new Map(), new Map(), new Map()];

  get size(): number {
    return this.keys.reduce((sum, { size }) => sum + size, 0);
  }
}

function randomCommand(t: TestStore, model: Model, random: Random): void {
  const db = random.below(3);
  const keys = model.keys[db] as Map<string, boolean>;
  const name = random.chance(0.3) ? `{t}${random.below(60)}` : `k${random.below(200)}`;
  t.select(db);
  const draw = random.below(100);
  if (draw < 55) {
    const expires = random.chance(0.4);
    const size = random.chance(0.02) ? 70_000 : random.below(200);
    t.call("SET", name, "v".repeat(size), ...(expires ? ["EX", `${100 + random.below(900)}`] : []));
    keys.set(name, expires);
  } else if (draw < 70) {
    t.call("GET", name);
  } else if (draw < 80) {
    t.call("DEL", name);
    keys.delete(name);
  } else if (draw < 88) {
    if (t.call("EXPIRE", name, "500") === integer(1)) keys.set(name, true);
  } else if (draw < 94) {
    if (t.call("PERSIST", name) === integer(1)) keys.set(name, false);
  } else if (draw < 97) {
    t.advance(random.below(1500));
  } else if (draw < 99) {
    t.call("SWAPDB", "0", "2");
    model.keys.unshift(...model.keys.splice(2, 1), ...model.keys.splice(1, 1));
  } else {
    t.call("FLUSHDB");
    keys.clear();
    freeGarbage(t.store);
  }
}

for (const policy of [...ALLKEYS, ...VOLATILE]) {
  test(`${policy} beside all kinds of commands evicts what is there and may go`, () => {
    const seed = testSeed(331);
    const random = new Random(seed);
    const t = keyStore({ shards: 4, databases: 3 });
    const eviction = evictionOf(t, policy);
    const model = new Model();
    const isVolatile = policy.startsWith("volatile");
    const listener = t.store.listener as NonNullable<typeof t.store.listener>;
    t.store.listener = {
      changed: (db, event, source, start, end, also) => {
        listener.changed(db, event, source, start, end, also);
        if (event !== "evicted") return;
        const name = String.fromCharCode(...source.subarray(start, end));
        const keys = model.keys[db.index] as Map<string, boolean>;
        assert.ok(keys.has(name), `${name} was not there; ${seedText(seed)}`);
        assert.ok(!isVolatile || keys.get(name), `${name} does not expire; ${seedText(seed)}`);
        keys.delete(name);
      },
    };
    for (let step = 0; step < 4000; step++) {
      randomCommand(t, model, random);
      if (random.chance(0.25)) {
        const mayGo = model.keys.some((keys) => [...keys.values()].some((ex) => ex || !isVolatile));
        assert.equal(eviction.removeSome(1), mayGo ? REMOVED : NOTHING_LEFT, seedText(seed));
      }
      if (step % 500 === 0) t.check();
    }
    let size = 0;
    for (let db = 0; db < 3; db++) {
      t.select(db);
      size += Number(t.call("DBSIZE").slice(1));
    }
    assert.equal(size, model.size, seedText(seed));
    t.check();
  });
}
