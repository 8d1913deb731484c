/**
 * The string commands and the engine under them against a naive model: seeded random commands on
 * thousands of keys that grow, shrink, expire and go, over all encodings and around the sizes at
 * which something changes; with memory refused now and then.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seedText, testSeed } from "../../../test/support/random.ts";
import { latin1 } from "../../base/bytes.ts";
import { keySlot } from "../../base/crc16.ts";
import { Random } from "../../base/random.ts";
import { H_SPANS_LIMIT, H_SPANS_USED } from "../../memory/layout.ts";
import { OOM } from "../../protocol/errors.ts";
import { eachRecord } from "../../structures/table-walks.ts";
import { bulk, error, integer, NIL, OK, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";
import { integerOf, StringModel } from "./test-model.ts";
import { stringEncoding } from "./value.ts";

const SIZES = [
  0, 1, 2, 3, 7, 8, 19, 20, 21, 24, 25, 44, 45, 64, 100, 191, 192, 193, 255, 256, 1000, 1024, 1025,
  4000, 8150, 8192, 20000, 65500, 65535, 65536, 65537, 65544, 70000, 131060, 131072, 140000,
];
const INTEGERS = [
  "0",
  "-1",
  "7",
  "100",
  "2147483647",
  "2147483648",
  "-2147483648",
  "-2147483649",
  "9007199254740991",
  "9007199254740993",
  "9223372036854775807",
  "-9223372036854775808",
  "9223372036854775808",
  "-0",
  "007",
  "+5",
  " 5",
];
const KEY_SIZES = [0, 1, 5, 8, 12, 31, 100, 254, 255, 256, 257, 1000];

type Run = {
  seed: number;
  shards: number;
  keys: number;
  steps: number;
  /** Every n-th allocation is refused; 0: none. */
  refuseEvery: number;
  /** Sizes above this come once in a hundred steps. */
  usualBytes: number;
  /** Spans that the heap may have; 0: no limit. */
  spansMax?: number;
  /** All keys in one slot. */
  oneSlot?: boolean;
  /** Bits of the hash that differ between keys: few make chains. */
  hashMask?: number;
};

class Fuzz {
  readonly random: Random;
  readonly model = new StringModel();
  readonly t: TestStore;
  readonly keys: string[];
  readonly run: Run;
  refusals = 0;

  constructor(run: Run) {
    this.run = run;
    this.random = new Random(run.seed);
    this.t = new TestStore({ commands: STRING_COMMANDS, shards: run.shards });
    this.t.heap.refuseEvery = run.refuseEvery;
    this.t.heap.control[H_SPANS_LIMIT] = run.spansMax ?? 0;
    const { segments } = this.t.store.table;
    const whole = segments.hash.bind(segments);
    const mask = run.hashMask ?? -1;
    if (mask !== -1) segments.hash = (view, start, end) => whole(view, start, end) & mask;
    this.model.now = this.t.clock.unixMs;
    const keys = new Set<string>();
    while (keys.size < run.keys) keys.add(this.newKey(keys.size));
    this.keys = [...keys];
  }

  newKey(i: number): string {
    const key = this.run.oneSlot ? `{s}${i}` : `${i.toString(36)}`;
    return this.random.chance(0.02) ? key.padEnd(this.random.pick(KEY_SIZES), "k") : key;
  }

  value(): string {
    const { random } = this;
    if (random.chance(0.3)) return random.pick(INTEGERS);
    let size = random.pick(SIZES);
    if (size > this.run.usualBytes && !random.chance(0.01)) size = random.below(60);
    const byte = String.fromCharCode(random.below(256));
    return byte.repeat(size);
  }

  /** Runs a command that the model answers with `expected`; true unless memory ran out. */
  expect(expected: string, words: string[]): boolean {
    const got = this.t.call(...words);
    if (this.isRefused(got)) return false;
    if (got !== expected) {
      const shown = words.map((word) => JSON.stringify(word.slice(0, 60)) + word.length);
      assert.fail(`${shown.join(" ")}: ${JSON.stringify(got.slice(0, 80))} of ${got.length}
not ${JSON.stringify(expected.slice(0, 80))} of ${expected.length}`);
    }
    return true;
  }

  /** True if memory ran out, which is only right where it is short. */
  isRefused(reply: string): boolean {
    if (reply !== error(OOM)) return false;
    assert.ok(this.run.refuseEvery > 0 || this.run.spansMax !== undefined, "memory ran out");
    this.refusals++;
    return true;
  }

  step(): void {
    const { random, model, t } = this;
    t.plainArguments = random.chance(0.2);
    if (random.chance(0.02)) {
      t.holdReplies = !t.holdReplies;
      t.releaseReplies();
    }
    const key = random.pick(this.keys);
    const text = model.text(key);
    const old = text === undefined ? NIL : bulk(text);
    switch (random.below(14)) {
      case 0:
        this.expect(old, ["GET", key]);
        break;
      case 1:
      case 2:
        this.set(key, old);
        break;
      case 3: {
        const value = this.value();
        if (this.expect(OK, ["SET", key, value])) model.set(key, value, 0);
        break;
      }
      case 4:
        this.append(key);
        break;
      case 5:
        this.setRange(key);
        break;
      case 6: {
        const start = random.below(200) - 100;
        const end = random.chance(0.2) ? random.below(200_000) : random.below(200) - 100;
        this.expect(bulk(model.getRange(key, start, end)), ["GETRANGE", key, `${start}`, `${end}`]);
        break;
      }
      case 7:
        this.increment(key);
        break;
      case 8:
        if (this.expect(old, ["GETDEL", key])) model.entries.delete(key);
        break;
      case 9:
        this.getEx(key, old);
        break;
      case 10:
        this.setMany();
        break;
      case 11:
        this.expect(integer((text ?? "").length), ["STRLEN", key]);
        break;
      case 12: {
        const value = this.value();
        if (this.expect(old, ["GETSET", key, value])) model.set(key, value, 0);
        break;
      }
      default:
        t.advance(random.below(40));
        model.now = t.clock.unixMs;
    }
  }

  set(key: string, old: string): void {
    const { random, model } = this;
    const value = this.value();
    const words = ["SET", key, value];
    const isGet = random.chance(0.3);
    if (isGet) words.push("get");
    const ms = 1 + random.below(3000);
    let expiryMs = 0;
    const time = random.below(4);
    if (time === 0) expiryMs = model.now + ms;
    if (time === 0) words.push("PX", `${ms}`);
    if (time === 1) expiryMs = model.now + ms - 500;
    if (time === 1) words.push("PXAT", `${expiryMs}`);
    if (time === 2) expiryMs = model.entry(key)?.expiryMs ?? 0;
    if (time === 2) words.push("keepttl");
    const condition = random.pick(["", "", "NX", "XX"]);
    if (condition !== "") words.push(condition);
    const isRefused = condition === (old === NIL ? "XX" : "NX");
    const expected = isGet ? old : isRefused ? NIL : OK;
    if (this.expect(expected, words) && !isRefused) model.set(key, value, expiryMs);
  }

  append(key: string): void {
    const { model } = this;
    const more = this.value();
    const before = model.text(key) ?? "";
    if (before.length + more.length > 500_000) return;
    const isDone = this.expect(integer(before.length + more.length), ["APPEND", key, more]);
    if (isDone) model.append(key, more);
  }

  setRange(key: string): void {
    const { random, model } = this;
    const part = this.value();
    const length = model.text(key)?.length ?? 0;
    const offset = random.chance(0.5) ? random.below(length + 30) : random.below(100);
    const total = part === "" ? length : Math.max(length, offset + part.length);
    const isDone = this.expect(integer(total), ["SETRANGE", key, `${offset}`, part]);
    if (isDone) model.setRange(key, offset, part);
  }

  increment(key: string): void {
    const { random, model } = this;
    const amount = random.pick(INTEGERS);
    const by = integerOf(amount);
    const before = integerOf(model.text(key) ?? "0");
    const got = this.t.call("INCRBY", key, amount);
    if (this.isRefused(got)) return;
    const sum = by === undefined ? undefined : model.increment(key, by);
    if (sum !== undefined) assert.equal(got, integer(sum));
    else if (by === undefined || before === undefined) assert.match(got, /^-ERR value is not an/);
    else assert.match(got, /^-ERR increment or decrement would overflow/);
  }

  getEx(key: string, old: string): void {
    const { random, model } = this;
    const entry = model.entry(key);
    const ms = 1 + random.below(3000);
    const choice = random.below(3);
    if (choice === 0) {
      if (this.expect(old, ["GETEX", key, "PX", `${ms}`]) && entry) {
        entry.expiryMs = model.now + ms;
      }
    } else if (choice === 1) {
      if (this.expect(old, ["GETEX", key, "PERSIST"]) && entry) entry.expiryMs = 0;
    } else if (this.expect(old, ["GETEX", key, "PXAT", `${model.now + ms - 500}`]) && entry) {
      if (ms <= 500) model.entries.delete(key);
      else entry.expiryMs = model.now + ms - 500;
    }
  }

  setMany(): void {
    const { random, model, t } = this;
    const words: string[] = [];
    for (let n = 1 + random.below(8); n > 0; n--) words.push(random.pick(this.keys), this.value());
    const isNx = random.chance(0.2);
    const keys = words.filter((_, i) => i % 2 === 0);
    const isRefused = isNx && keys.some((key) => model.text(key) !== undefined);
    const expected = isNx ? integer(isRefused ? 0 : 1) : OK;
    t.takeEvents();
    const isDone = this.expect(expected, [isNx ? "MSETNX" : "MSET", ...words]);
    const sets = t.takeEvents().filter((event) => event.startsWith("set "));
    if (isDone) assert.equal(sets.length, isRefused ? 0 : keys.length);
    for (let i = 0; i < sets.length; i++) {
      assert.equal(sets[i], `set ${words[2 * i]}`);
      model.set(words[2 * i] as string, words[2 * i + 1] as string, 0);
    }
  }

  /** The whole content, not by way of replies. */
  compare(): void {
    const { t, model } = this;
    t.holdReplies = false;
    t.releaseReplies();
    t.check();
    const seen = new Set<string>();
    for (const key of this.keys) {
      const entry = model.entry(key);
      this.expect(entry === undefined ? NIL : bulk(entry.text), ["GET", key]);
    }
    for (let slot = 0; slot < 16384; slot++) {
      const root = t.db.rootOf(slot);
      if (root === 0) continue;
      eachRecord(t.store.table, root, (p) => {
        const at = t.db.keyAt(p);
        const key = latin1(t.db.bytesOf(p), at, at + t.db.keyLength(p));
        const entry = model.entry(key);
        assert.ok(entry !== undefined, `${key} ought to be gone`);
        assert.equal(stringEncoding(t.db, p), entry.encoding, `encoding of ${key}`);
        assert.equal(t.db.expiryOf(p), entry.expiryMs, `expiry of ${key}`);
        seen.add(key);
      });
    }
    assert.equal(seen.size, model.entries.size);
  }

  deleteAll(): void {
    const { control } = this.t.heap;
    this.t.heap.refuseEvery = 0;
    if (this.run.spansMax !== undefined) control[H_SPANS_LIMIT] = control[H_SPANS_USED] as number;
    for (const key of this.keys) this.t.call("GETDEL", key);
    this.model.entries.clear();
    this.compare();
    for (const key of this.keys) {
      const bytes = Uint8Array.from(key, (letter) => letter.charCodeAt(0));
      assert.equal(this.t.db.rootOf(keySlot(bytes, 0, bytes.length)), 0);
    }
  }
}

function fuzz(run: Run): void {
  const f = new Fuzz(run);
  let step = 0;
  try {
    for (; step < run.steps; step++) {
      f.step();
      if (step % (run.steps >> 2) === 0) f.compare();
    }
    f.compare();
    f.deleteAll();
    if (run.refuseEvery > 0 || run.spansMax !== undefined) assert.ok(f.refusals > 10);
  } catch (e) {
    console.error(`seed ${run.seed}, step ${step}; ${seedText(run.seed)}`);
    throw e;
  }
}

const seed = testSeed(20260801);

test("random commands agree with a model on one shard", () => {
  fuzz({ seed, shards: 1, keys: 3000, steps: 20_000, refuseEvery: 0, usualBytes: 300 });
});

test("random commands agree with a model on four shards", () => {
  fuzz({ seed, shards: 4, keys: 3000, steps: 20_000, refuseEvery: 0, usualBytes: 300 });
});

test("the keys of one slot agree with a model while its table splits and merges", () => {
  fuzz({
    seed,
    shards: 1,
    keys: 4000,
    steps: 40_000,
    refuseEvery: 0,
    usualBytes: 100,
    oneSlot: true,
  });
});

for (const hashMask of [0, 7, 0x700, 0x70000000, 0xe0000001, 0xfff00000, 0x007ff800]) {
  test(`hashes that agree in all bits but ${(hashMask >>> 0).toString(16)} only cost time`, () => {
    const run = { seed, shards: 1, keys: 2500, usualBytes: 60, oneSlot: true, hashMask };
    fuzz({ ...run, steps: 8000, refuseEvery: 0 });
    fuzz({ ...run, steps: 4000, refuseEvery: 5 });
  });
}

test("few keys with values of all sizes agree with a model", () => {
  fuzz({ seed, shards: 4, keys: 40, steps: 6000, refuseEvery: 0, usualBytes: 1e9 });
});

test("with too little memory commands fail or do all, and deleting always works", () => {
  const run = { seed, shards: 4, refuseEvery: 0 };
  fuzz({ ...run, keys: 2000, steps: 10_000, usualBytes: 1000, spansMax: 16 });
  fuzz({ ...run, keys: 60, steps: 3000, usualBytes: 1e9, spansMax: 40 });
});

for (const refuseEvery of [2, 3, 7]) {
  test(`every allocation number ${refuseEvery} being refused changes nothing by halves`, () => {
    const run = { seed, shards: 4, steps: 8000, refuseEvery };
    fuzz({ ...run, keys: 1500, usualBytes: 300 });
    fuzz({ ...run, keys: 1500, usualBytes: 60, oneSlot: true });
    fuzz({ ...run, keys: 30, steps: 2000, usualBytes: 1e9 });
  });
}
