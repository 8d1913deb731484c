/**
 * Keys that were chosen to collide under common hash functions cost what random keys of the same
 * length cost: the same memory, as many entries moved, records compared and parts of tables. Told
 * by counters, in a server within this process. A million keys of each family with ZEROHOP_LONG=1.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SLOTS } from "../../src/limits.ts";
import { requestText } from "../../src/protocol/test-request.ts";
import { TestServer } from "../../src/server/test-server.ts";
import type { ThreadServer } from "../../src/server/thread-server.ts";
import { eachSegment } from "../../src/structures/table-walks.ts";
import { FAMILIES, type Family } from "../support/collisions.ts";
import { isLong } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";

const BITS = isLong ? 20 : 13;
const BATCH = 512;
/** Chance makes two sets of random keys differ by less, and colliding ones by far more. */
const APART_MAX = 0.1;

/** Hash tags of 8 bytes, so that words of the keys behind them stay words. */
const PLACES: readonly (readonly [string, (n: number) => string])[] = [
  ["one slot", () => "{tagtag}"],
  ["a thousand slots", (n) => `{${String(n % 1000).padStart(6, "0")}}`],
];

type Costs = {
  readonly usedBytes: number;
  readonly entriesMoved: number;
  /** Of commands, with the key asked for. */
  readonly recordsCompared: number;
  readonly segments: number;
};

type Load = {
  readonly keys: number;
  key(n: number): string;
  /** Takes the place of the server's hash. */
  readonly hash?: (key: Buffer) => number;
};

/** Sets all keys, reads them and looks for as many that are not there; then all are deleted. */
function costsOf(load: Load): Costs {
  const server = new TestServer({ settings: { "memory-chunk": String(2 ** 28) } });
  const client = server.connect();
  const { store } = server.host.servers[0] as ThreadServer;
  const { table } = store;
  let entriesMoved = 0;
  const moved = table.work.moved.bind(table.work);
  table.work.moved = (entries) => {
    entriesMoved += entries;
    moved(entries);
  };
  let recordsCompared = 0;
  const matches = table["matches"].bind(table);
  table["matches"] = (...place) => {
    recordsCompared++;
    return matches(...place);
  };
  const { hash } = load;
  if (hash !== undefined) {
    table.segments.hash = (view, start, end) =>
      hash(Buffer.from(view.buffer, view.byteOffset + start, end - start)) | 0;
  }
  const all = (call: (n: number) => string[], expected: string): void => {
    for (let at = 0; at < load.keys; at += BATCH) {
      let text = "";
      for (let n = at; n < at + BATCH; n++) text += requestText(call(n));
      assert.equal(client.send(text), expected.repeat(BATCH));
    }
  };
  const before = Number(client.info("memory").get("used_memory"));
  all((n) => ["SET", load.key(n), "value"], "+OK\r\n");
  assert.equal(client.say("DBSIZE"), `:${load.keys}\r\n`);
  const usedBytes = Number(client.info("memory").get("used_memory"));
  all((n) => ["GET", load.key(n)], "$5\r\nvalue\r\n");
  all((n) => ["EXISTS", `${load.key(n)}!`], ":0\r\n");
  let segments = 0;
  for (let slot = 0; slot < SLOTS; slot++) {
    const root = store.databases[0]?.rootOf(slot) ?? 0;
    eachSegment(table, root, () => segments++);
  }
  all((n) => ["DEL", load.key(n)], ":1\r\n");
  assert.equal(client.say("DBSIZE"), ":0\r\n");
  assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  assert.ok(Number(client.info("memory").get("used_memory")) <= before + 4096);
  return { usedBytes: usedBytes - before, entriesMoved, recordsCompared, segments };
}

function assertAlike(costs: Costs, random: Costs, hint: string): void {
  for (const name of ["recordsCompared", "entriesMoved", "segments", "usedBytes"] as const) {
    const [one, other] = [costs[name], random[name]];
    const shown = `${name} ${one}, of random keys ${other} (${hint})`;
    assert.ok(Math.abs(one - other) <= APART_MAX * other, shown);
  }
}

function randomLoad(length: number, prefix: (n: number) => string, seed: number): Load {
  return {
    keys: 2 ** BITS,
    // From its number, so that it can be had again without being kept.
    key: (n) => prefix(n) + new Random(seed + n).bytes(length).toString("latin1"),
  };
}

function loadOf(family: Family, prefix: (n: number) => string): Load {
  return { keys: 2 ** BITS, key: (n) => prefix(n) + family.key(n, BITS) };
}

const randomCosts = new Map<string, Costs>();

/** Costs of random keys of a length, measured once. */
function costsOfRandom(length: number, prefix: (n: number) => string, seed: number): Costs {
  const name = `${length} ${prefix(0)}`;
  const costs = randomCosts.get(name) ?? costsOf(randomLoad(length, prefix, seed));
  randomCosts.set(name, costs);
  return costs;
}

describe(`${2 ** BITS} keys that collide under a common hash cost what random ones cost`, () => {
  for (const [where, prefix] of PLACES) {
    for (const family of FAMILIES) {
      test(`${family.name}, in ${where}`, (t) => {
        const seed = testSeed(88);
        const costs = costsOf(loadOf(family, prefix));
        const random = costsOfRandom(family.key(0, BITS).length, prefix, seed);
        t.diagnostic(`${JSON.stringify(costs)}, random keys ${JSON.stringify(random)}`);
        assertAlike(costs, random, seedText(seed));
      });
    }
  }

  test("a server that hashed with one of these functions would be found out", () => {
    const family = FAMILIES.find(({ name }) => name === "murmur 2") as Family;
    const load = { ...loadOf(family, () => "{tagtag}"), keys: 4 * BATCH };
    const hash = (key: Buffer): number => family.hash(key.subarray(0, key.length & ~3), 4711);
    const broken = costsOf({ ...load, hash });
    assert.throws(() => assertAlike(broken, costsOf(load), ""), /recordsCompared/);
  });
});
