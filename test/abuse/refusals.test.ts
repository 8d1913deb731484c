/**
 * A whole server in this process of whose allocations every n-th is refused, beside one whose are
 * not: each call is either answered with -OOM and has changed nothing, or is answered as the other
 * server answers it. MSET may have set the keys before the one that was refused. More of n and more
 * calls with ZEROHOP_LONG=1.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { OOM } from "../../src/protocol/errors.ts";
import { requestText } from "../../src/protocol/test-request.ts";
import { type TestClient, TestServer } from "../../src/server/test-server.ts";
import { isLong } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";

const EVERY = isLong
  ? [...Array.from({ length: 40 }, (_, i) => i + 1), 64, 99, 250, 1000]
  : [1, 2, 3, 7, 20, 101];
const CALLS = isLong ? 10_000 : 3000;
const CALLS_BETWEEN_CHECKS = 500;
const DATABASES = [0, 1, 15];

const REFUSED = `-${OOM}\r\n`;
const SIZES = [0, 1, 5, 20, 21, 44, 200, 256, 1000, 4000, 20_000, 65_536, 65_537, 140_000];
const NUMBERS = ["0", "1", "-7", "2147483648", "9223372036854775807", "1.5", "text"];
const KEYS = [
  ...Array.from({ length: 60 }, (_, i) => `key:${i}`),
  ...Array.from({ length: 200 }, (_, i) => `{slot}${i}`),
  ...["k".repeat(255), "k".repeat(256), "k".repeat(70_000)],
];

function value(random: Random): string {
  if (random.chance(0.3)) return random.pick(NUMBERS);
  const size = random.chance(0.9) ? random.below(60) : random.pick(SIZES);
  return String.fromCharCode(random.below(256)).repeat(size);
}

const key = (random: Random): string => random.pick(KEYS);
const database = (random: Random): string => `${random.pick(DATABASES)}`;
const seconds = (random: Random): string => `${1 + random.below(50)}`;

const CALL_MAKERS: readonly ((random: Random) => string[])[] = [
  (random) => ["SET", key(random), value(random)],
  (random) => ["SET", key(random), value(random)],
  (random) => ["SET", key(random), value(random), "EX", seconds(random), "GET"],
  (random) => ["SET", key(random), value(random), "XX", "KEEPTTL"],
  (random) => ["SETEX", key(random), seconds(random), value(random)],
  (random) => ["MSET", key(random), value(random), key(random), value(random)],
  (random) => ["MSETNX", key(random), value(random)],
  (random) => ["GETSET", key(random), value(random)],
  (random) => ["GETEX", key(random), "EX", seconds(random)],
  (random) => ["GETDEL", key(random)],
  (random) => ["GET", key(random)],
  (random) => ["MGET", key(random), key(random)],
  (random) => ["APPEND", key(random), value(random)],
  (random) => ["SETRANGE", key(random), `${random.pick(SIZES)}`, value(random)],
  (random) => ["GETRANGE", key(random), "3", "-3"],
  (random) => ["INCRBY", key(random), random.pick(NUMBERS)],
  (random) => ["INCRBYFLOAT", key(random), random.pick(NUMBERS)],
  (random) => ["LCS", random.pick(KEYS.slice(0, 3)), random.pick(KEYS.slice(0, 3)), "LEN"],
  (random) => ["DEL", key(random), key(random), key(random)],
  (random) => ["UNLINK", key(random)],
  (random) => ["EXPIRE", key(random), seconds(random)],
  (random) => ["PEXPIREAT", key(random), "1700000100000"],
  (random) => ["PERSIST", key(random)],
  (random) => ["TTL", key(random)],
  (random) => ["RENAME", key(random), key(random)],
  (random) => ["RENAMENX", key(random), key(random)],
  (random) => ["COPY", key(random), key(random), "DB", database(random), "REPLACE"],
  (random) => ["MOVE", key(random), database(random)],
  (random) => ["SELECT", database(random)],
  (random) => ["OBJECT", "ENCODING", key(random)],
  (random) => ["TOUCH", key(random), key(random)],
  (random) => ["DUMP", key(random)],
  (random) => ["ECHO", value(random)],
  (random) => ["PING"],
  (random) => (random.chance(0.05) ? ["FLUSHDB"] : ["DBSIZE"]),
  (random) => (random.chance(0.05) ? ["SWAPDB", "0", "1"] : ["EXISTS", key(random)]),
];

class Pair {
  readonly refusing = new TestServer();
  readonly other = new TestServer();
  readonly ours: TestClient = this.refusing.connect();
  readonly model: TestClient = this.other.connect();
  refusals = 0;
  refusedCalls = 0;
  isRefusing = false;

  constructor(every: number) {
    let allocations = 0;
    const refuses = (): boolean => {
      if (!this.isRefusing || ++allocations % every !== 0) return false;
      this.refusals++;
      return true;
    };
    for (const { store } of this.refusing.host.servers) {
      const { heap } = store;
      const alloc = heap.alloc.bind(heap);
      const allocLarge = heap.allocLarge.bind(heap);
      heap.alloc = (shard, units) => (refuses() ? 0 : alloc(shard, units));
      heap.allocLarge = (units, mark) => (refuses() ? 0 : allocLarge(units, mark));
    }
  }

  /** Runs a call on both, unless it is refused. */
  run(words: readonly string[], hint: string): void {
    this.isRefusing = true;
    const reply = this.ours.send(requestText(words));
    this.isRefusing = false;
    if (reply === REFUSED) {
      this.refusedCalls++;
      if (words[0] === "MSET") this.followPairs(words);
      return;
    }
    const expected = this.model.send(requestText(words));
    if (reply === expected) return;
    const shown = words.map((word) => `${JSON.stringify(word.slice(0, 40))}(${word.length})`);
    assert.fail(
      `${shown.join(" ")}: ${reply.slice(0, 100)}, not ${expected.slice(0, 100)} ${hint}`,
    );
  }

  /** Sets in the model what an MSET has set before it was refused. */
  private followPairs(words: readonly string[]): void {
    for (let i = 1; i < words.length; i += 2) {
      const [name, text] = [words[i] as string, words[i + 1] as string];
      if (this.ours.call("GET", name) !== `$${text.length}\r\n${text}\r\n`) return;
      if (this.ours.call("TTL", name) !== ":-1\r\n") return;
      this.model.call("SET", name, text);
    }
  }

  advance(ms: number): void {
    for (const server of [this.refusing, this.other]) {
      server.advance(ms);
      for (const thread of server.host.servers) while (thread.tick());
      server.slowTick();
    }
  }

  check(hint: string): void {
    this.advance(0);
    assert.equal(this.ours.say("DEBUG HEAP-CHECK"), "+OK\r\n", hint);
    const [ours, model] = [this.refusing.connect(), this.other.connect()];
    for (const db of DATABASES) {
      ours.say(`SELECT ${db}`);
      model.say(`SELECT ${db}`);
      assert.equal(ours.say("DBSIZE"), model.say("DBSIZE"), hint);
      for (const name of KEYS) {
        for (const command of ["GET", "PTTL"]) {
          const [reply, expected] = [ours.call(command, name), model.call(command, name)];
          assert.ok(reply === expected, `${command} of ${name.slice(0, 20)} in ${db} ${hint}`);
        }
      }
    }
    ours.session.destroy();
    model.session.destroy();
  }
}

for (const every of EVERY) {
  test(`every allocation of number ${every} is refused`, (t) => {
    const seed = testSeed(700 + every);
    const hint = `(${seedText(seed)})`;
    const random = new Random(seed);
    const pair = new Pair(every);
    for (let n = 1; n <= CALLS; n++) {
      pair.run(random.pick(CALL_MAKERS)(random), hint);
      if (n % 50 === 0) pair.advance(random.below(3000));
      if (n % CALLS_BETWEEN_CHECKS === 0) pair.check(hint);
    }
    t.diagnostic(`${pair.refusals} allocations and ${pair.refusedCalls} calls refused`);
    assert.ok(pair.refusedCalls > 0, "no call was refused");
    for (const db of DATABASES) {
      pair.ours.say(`SELECT ${db}`);
      pair.ours.say("FLUSHDB");
    }
    pair.advance(1000);
    assert.equal(pair.ours.say("DEBUG HEAP-CHECK"), "+OK\r\n", hint);
    assert.ok(Number(pair.ours.info("memory").get("used_memory")) < 4096, hint);
  });
}
