/**
 * The key commands against a naive model: seeded random commands on the keys of several databases,
 * over the sizes and encodings at which records differ, with expiry, flushes and lazy freeing in
 * between, and with memory refused now and then. Everything is checked as a whole again and again.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../../test/support/random.ts";
import { expireSlice } from "../../keyspace/expiry.ts";
import { OOM } from "../../protocol/errors.ts";
import { bulk, error, integer, NIL, OK, type TestStore } from "../test-support.ts";
import { bulksOf, freeGarbage, keyStore } from "./test-keys.ts";

const SIZES = [
  0, 1, 7, 8, 20, 44, 45, 192, 193, 255, 256, 1000, 8150, 65_535, 65_536, 65_537, 90_000,
];
const NUMBERS = ["0", "-1", "9999", "2147483648", "9223372036854775807"];
const DATABASES = 3;

type Entry = { text: string; expiryMs: number };
type Run = {
  seed: number;
  shards: number;
  steps: number;
  keys: number;
  refuseEvery: number;
  /** Chance of what is rare. */
  housekeeping: number;
};

class Fuzz {
  readonly random: Random;
  readonly t: TestStore;
  readonly model: Map<string, Entry>[] = [];
  readonly keys: string[] = [];
  readonly run: Run;
  refusals = 0;

  constructor(run: Run) {
    this.run = run;
    this.random = new Random(run.seed);
    this.t = keyStore({ shards: run.shards, databases: DATABASES });
    this.t.heap.refuseEvery = run.refuseEvery;
    for (let db = 0; db < DATABASES; db++) this.model.push(new Map());
    for (let i = 0; i < run.keys; i++) {
      const key = i % 2 === 0 ? `{s}${i}` : `k${i}`;
      this.keys.push(i % 10 === 0 ? key.padEnd(250 + i, "x") : key);
    }
  }

  now(): number {
    return this.t.clock.unixMs;
  }

  entries(): Map<string, Entry> {
    return this.model[this.t.db.index] as Map<string, Entry>;
  }

  get(entries: Map<string, Entry>, key: string): Entry | undefined {
    const entry = entries.get(key);
    if (entry === undefined || entry.expiryMs === 0 || entry.expiryMs >= this.now()) return entry;
    entries.delete(key);
    return undefined;
  }

  /** Runs a command that the model answers with `expected`; true unless memory ran out. */
  expect(expected: string, ...words: string[]): boolean {
    const got = this.t.call(...words);
    if (got === error(OOM)) {
      assert.ok(this.run.refuseEvery > 0, "memory ran out");
      this.refusals++;
      return false;
    }
    const shown = words.map((word) => word.slice(0, 30)).join(" ");
    assert.equal(got.slice(0, 100), expected.slice(0, 100), shown);
    assert.ok(got === expected, shown);
    return true;
  }

  value(): string {
    const { random } = this;
    if (random.chance(0.2)) return random.pick(NUMBERS);
    const size = random.pick(SIZES);
    return String.fromCharCode(random.below(256)).repeat(
      size > 300 && random.chance(0.9) ? random.below(60) : size,
    );
  }

  step(): void {
    const { random, t } = this;
    const key = random.pick(this.keys);
    const entry = this.get(this.entries(), key);
    switch (random.below(12)) {
      case 0:
      case 1: {
        const text = this.value();
        if (this.expect(OK, "SET", key, text)) this.entries().set(key, { text, expiryMs: 0 });
        break;
      }
      case 2:
        this.expect(entry === undefined ? NIL : bulk(entry.text), "GET", key);
        break;
      case 3:
        this.remove();
        break;
      case 4:
        this.rename(key, entry);
        break;
      case 5:
        this.copy(key, entry);
        break;
      case 6:
        this.move(key, entry);
        break;
      case 7:
      case 8:
        this.expire(key, entry);
        break;
      case 9:
        this.ask(key, entry);
        break;
      case 10:
        t.advance(random.below(50));
        t.select(random.below(DATABASES));
        break;
      default:
        if (random.chance(this.run.housekeeping)) this.housekeep();
    }
  }

  remove(): void {
    const { random } = this;
    const keys = [random.pick(this.keys), random.pick(this.keys), random.pick(this.keys)];
    let there = 0;
    const isDeleting = random.chance(0.5);
    for (const key of keys) {
      if (this.get(this.entries(), key) === undefined) continue;
      there++;
      if (isDeleting) this.entries().delete(key);
    }
    this.expect(integer(there), isDeleting ? random.pick(["DEL", "UNLINK"]) : "EXISTS", ...keys);
  }

  rename(key: string, entry: Entry | undefined): void {
    const { random } = this;
    const to = random.chance(0.05) ? key : random.pick(this.keys);
    const isNx = random.chance(0.3);
    const isBlocked = isNx && (to === key || this.get(this.entries(), to) !== undefined);
    const expected =
      entry === undefined ? error("ERR no such key") : isNx ? integer(isBlocked ? 0 : 1) : OK;
    const isDone = this.expect(expected, isNx ? "RENAMENX" : "RENAME", key, to);
    if (!isDone || entry === undefined || isBlocked || to === key) return;
    this.entries().delete(key);
    this.entries().set(to, entry);
  }

  copy(key: string, entry: Entry | undefined): void {
    const { random, t } = this;
    const to = random.pick(this.keys);
    const index = random.below(DATABASES);
    const entries = this.model[index] as Map<string, Entry>;
    const words = ["COPY", key, to, "DB", `${index}`];
    const isReplacing = random.chance(0.5);
    if (isReplacing) words.push("REPLACE");
    if (index === t.db.index && to === key) {
      this.expect(error("ERR source and destination objects are the same"), ...words);
      return;
    }
    const isCopied = entry !== undefined && (isReplacing || this.get(entries, to) === undefined);
    const isDone = this.expect(integer(isCopied ? 1 : 0), ...words);
    if (isDone && isCopied) entries.set(to, { ...entry });
  }

  move(key: string, entry: Entry | undefined): void {
    const { random, t } = this;
    const index = (t.db.index + 1 + random.below(DATABASES - 1)) % DATABASES;
    const entries = this.model[index] as Map<string, Entry>;
    const isMoved = entry !== undefined && this.get(entries, key) === undefined;
    const isDone = this.expect(integer(isMoved ? 1 : 0), "MOVE", key, `${index}`);
    if (!isDone || !isMoved) return;
    this.entries().delete(key);
    entries.set(key, entry);
  }

  expire(key: string, entry: Entry | undefined): void {
    const { random } = this;
    if (random.chance(0.2)) {
      const isDone = this.expect(integer((entry?.expiryMs ?? 0) === 0 ? 0 : 1), "PERSIST", key);
      if (isDone && entry !== undefined) entry.expiryMs = 0;
      return;
    }
    const ms = random.below(3000) - 100;
    const expiryMs = this.now() + ms;
    const condition = random.pick(["", "", "NX", "XX", "GT", "LT"]);
    const current = entry?.expiryMs ?? 0;
    const isMet =
      condition === "" ||
      (condition === "NX" && current === 0) ||
      (condition === "XX" && current !== 0) ||
      (condition === "GT" && current !== 0 && expiryMs > current) ||
      (condition === "LT" && (current === 0 || expiryMs < current));
    const isChanged = entry !== undefined && isMet;
    const words = random.chance(0.5)
      ? ["PEXPIRE", key, `${ms}`]
      : ["PEXPIREAT", key, `${expiryMs}`];
    if (condition !== "") words.push(condition);
    if (!this.expect(integer(isChanged ? 1 : 0), ...words) || !isChanged) return;
    if (ms <= 0) this.entries().delete(key);
    else entry.expiryMs = expiryMs;
  }

  ask(key: string, entry: Entry | undefined): void {
    const left = entry === undefined || entry.expiryMs === 0 ? 0 : entry.expiryMs - this.now();
    const none = entry === undefined ? -2 : entry.expiryMs === 0 ? -1 : undefined;
    this.expect(integer(none ?? left), "PTTL", key);
    this.expect(integer(none ?? Math.floor((left + 500) / 1000)), "TTL", key);
    this.expect(integer(none ?? (entry as Entry).expiryMs), "PEXPIRETIME", key);
    this.expect(entry === undefined ? "+none\r\n" : "+string\r\n", "TYPE", key);
  }

  /** What is rare, and what threads do between commands. */
  housekeep(): void {
    const { random, t } = this;
    switch (random.below(5)) {
      case 0:
        this.expect(OK, "FLUSHDB");
        this.entries().clear();
        break;
      case 1: {
        const a = random.below(DATABASES);
        const b = random.below(DATABASES);
        this.expect(OK, "SWAPDB", `${a}`, `${b}`);
        const entries = this.model[a] as Map<string, Entry>;
        this.model[a] = this.model[b] as Map<string, Entry>;
        this.model[b] = entries;
        break;
      }
      case 2:
        freeGarbage(t.store, 1 + random.below(50));
        break;
      case 3:
        for (let shard = 0; shard < t.store.shards; shard++) {
          t.store.enterShard(shard);
          expireSlice(t.store, shard, 1 + random.below(20));
        }
        break;
      default:
        this.compareAll();
    }
  }

  compareAll(): void {
    const { t } = this;
    const index = t.db.index;
    for (let db = 0; db < DATABASES; db++) {
      t.select(db);
      const entries = this.model[db] as Map<string, Entry>;
      for (const key of this.keys) this.get(entries, key);
      assert.deepEqual(bulksOf(t.call("KEYS", "*")).sort(), [...entries.keys()].sort());
    }
    t.select(index);
    freeGarbage(t.store);
    t.check();
  }
}

const RUNS: readonly Run[] = [
  { seed: 1, shards: 1, steps: 20_000, keys: 60, refuseEvery: 0, housekeeping: 0.1 },
  { seed: 2, shards: 4, steps: 20_000, keys: 60, refuseEvery: 0, housekeeping: 0.1 },
  { seed: 3, shards: 64, steps: 10_000, keys: 60, refuseEvery: 0, housekeeping: 0.1 },
  // So many keys that flushes leave garbage.
  { seed: 4, shards: 4, steps: 60_000, keys: 1500, refuseEvery: 0, housekeeping: 0.01 },
  { seed: 5, shards: 4, steps: 20_000, keys: 60, refuseEvery: 7, housekeeping: 0.1 },
  { seed: 6, shards: 1, steps: 10_000, keys: 60, refuseEvery: 3, housekeeping: 0.1 },
];

for (const run of RUNS) {
  const { shards, keys, refuseEvery } = run;
  test(`the model agrees: ${shards} shards, ${keys} keys, refusing ${refuseEvery}`, () => {
    const seed = testSeed(run.seed);
    const fuzz = new Fuzz({ ...run, seed });
    for (let step = 0; step < run.steps; step++) {
      try {
        fuzz.step();
      } catch (thrown) {
        const text = thrown instanceof Error ? thrown.message : String(thrown);
        throw new Error(`step ${step}: ${text}; ${seedText(seed)}`, { cause: thrown });
      }
    }
    fuzz.t.heap.refuseEvery = 0;
    fuzz.compareAll();
    assert.equal(fuzz.refusals > 0, refuseEvery > 0);
  });
}
