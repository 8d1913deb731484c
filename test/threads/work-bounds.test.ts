/**
 * The bounds of what is done under one lock, while keys of all sizes come, change and go, by
 * commands that are documented as taking constant time and by the housekeeping: 64 KiB copied, 512
 * entries moved, 4,096 elements visited. Counters tell, since a clock would measure the machine.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BIG_STRING_BYTES } from "../../src/limits.ts";
import { requestText } from "../../src/protocol/test-request.ts";
import { type TestClient, TestServer } from "../../src/server/test-server.ts";
import { isLong } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";

const KEYS = isLong ? 10_000_000 : 100_000;
const BATCH = 500;
/** A SCAN or a walk stops with the range of hashes that it has begun. */
const LAST_RANGE = 512;

const BOUNDS = {
  work_bytes_copied_max: 65_536,
  work_entries_moved_max: 512,
  work_elements_visited_max: 4096 + LAST_RANGE,
} as const;

type Counters = Record<keyof typeof BOUNDS, number>;

function counters(client: TestClient): Counters {
  const info = client.info("threads");
  const of = (name: keyof typeof BOUNDS): number => Number(info.get(name));
  return {
    work_bytes_copied_max: of("work_bytes_copied_max"),
    work_entries_moved_max: of("work_entries_moved_max"),
    work_elements_visited_max: of("work_elements_visited_max"),
  };
}

function assertBounded(client: TestClient, hint: string): Counters {
  const found = counters(client);
  for (const [name, most] of Object.entries(BOUNDS)) {
    const value = found[name as keyof Counters];
    assert.ok(value <= most, `${name} ${value} > ${most} (${hint})`);
  }
  return found;
}

function newServer(): TestServer {
  return new TestServer({ settings: { "memory-chunk": String(isLong ? 2 ** 28 : 2 ** 24) } });
}

/** Sends one call after another in batches. */
function each(client: TestClient, count: number, call: (i: number) => string[]): void {
  for (let at = 0; at < count; at += BATCH) {
    let text = "";
    for (let i = at; i < Math.min(count, at + BATCH); i++) text += requestText(call(i));
    assert.doesNotMatch(client.send(text).slice(0, 200), /^-/);
  }
}

describe("what is done under one lock", () => {
  test(`is bounded while ${KEYS} keys come and go`, () => {
    const server = newServer();
    const client = server.connect();
    each(client, KEYS, (i) => ["SET", `key:${i}`, "v".repeat(i % 40)]);
    const filled = assertBounded(client, "in");
    assert.ok(filled.work_entries_moved_max > 0, "the counter does not count");
    client.say("CONFIG RESETSTAT");
    each(client, KEYS, (i) => ["DEL", `key:${(i * 7919) % KEYS}`]);
    assert.equal(client.say("DBSIZE"), ":0\r\n");
    assertBounded(client, "out");
  });

  test("is bounded for keys of one slot, with expiries, pages and changes", () => {
    const seed = testSeed(501);
    const random = new Random(seed);
    const server = newServer();
    const client = server.connect();
    const count = KEYS / 10;
    const key = (): string => `{tag}${random.below(count)}`;
    const value = (): string => "v".repeat(random.below(random.chance(0.001) ? 65_536 : 300));
    const calls: readonly (() => string[])[] = [
      () => ["SET", key(), value()],
      () => ["SET", key(), value(), "PX", `${1 + random.below(5000)}`],
      () => ["GET", key()],
      () => ["EXPIRE", key(), `${random.below(10)}`],
      () => ["PERSIST", key()],
      () => ["INCR", `{n}${random.below(1000)}`],
      () => ["RENAME", `{n}${random.below(1000)}`, `{m}${random.below(1000)}`],
      () => ["SCAN", `${random.below(2 ** 31)}`, "COUNT", "100000"],
    ];
    for (let n = 0; n < KEYS / 3; n += BATCH) {
      let text = "";
      for (let i = 0; i < BATCH; i++) {
        text += requestText((i % 100 === 0 ? calls[7] : calls[random.below(7)])?.() ?? []);
      }
      client.send(text);
      server.advance(20);
      for (const thread of server.host.servers) thread.tick();
      if (n % (BATCH * 50) === 0) server.slowTick();
    }
    server.slowTick();
    const found = assertBounded(client, seedText(seed));
    for (const [name, at] of Object.entries(found)) assert.ok(at > 0, `${name} does not count`);
  });

  test("is bounded for FLUSHALL and for KEYS, whose work is done in slices", () => {
    const server = newServer();
    const client = server.connect();
    each(client, KEYS / 3, (i) => ["SET", i % 2 === 0 ? `key:${i}` : `{tag}${i}`, "v"]);
    client.say("CONFIG RESETSTAT");
    client.say("KEYS *");
    assert.ok(assertBounded(client, "KEYS").work_elements_visited_max > 1000);
    client.say("FLUSHALL");
    for (const thread of server.host.servers) while (thread.tick());
    server.slowTick();
    assertBounded(client, "FLUSHALL");
    assert.equal(client.info("memory").get("lazyfree_pending_objects"), "0");
  });

  test("counts long copies, of what is set, read and moved", () => {
    const server = newServer();
    const client = server.connect();
    const copied = (...words: string[]): number => {
      client.say("CONFIG RESETSTAT");
      client.call(...words);
      return counters(client).work_bytes_copied_max;
    };
    const long = "v".repeat(50_000);
    assert.equal(copied("SET", "a", long), 50_000);
    assert.equal(copied("GET", "a"), 50_000);
    assert.equal(copied("APPEND", "a", "w".repeat(1000)), 1000);
    assert.equal(copied("APPEND", "a", "x".repeat(9000)), 60_000, "a record that moves");
    assert.equal(copied("SETRANGE", "a", "60000", "y".repeat(5535)), 60_000 + 5535, "once more");
    assert.equal(copied("SETRANGE", "a", "0", "z".repeat(51_000)), 51_000);
    client.call("SET", "a", "v".repeat(51_000));
    assert.equal(copied("EXPIRE", "a", "100"), 51_000);
    assert.equal(copied("RENAME", "a", "b"), 51_000);
    assert.equal(copied("SET", "k".repeat(1000), "v"), 1000);
    assert.equal(copied("SET", "big", "v".repeat(BIG_STRING_BYTES + 1)), 3);
    assert.equal(copied("GET", "big"), 0);
    // What comes on top is the key, in a record with a long value.
    const huge = "v".repeat(3_000_000);
    client.call("SET", "huge", huge);
    assert.equal(copied("APPEND", "huge", "w".repeat(60_000)), 60_004, "moved under no lock");
    assert.equal(copied("SETRANGE", "huge", "6000000", "x".repeat(100)), 104, "behind a gap");
    assert.equal(copied("SETRANGE", "none", "3000000", "x".repeat(100)), 104, "behind nothing");
    assert.equal(copied("SETRANGE", "huge", "6060000", "x".repeat(100)), 59_900 + 100, "in place");
    // Documented as taking as long as they are given to do.
    assert.equal(copied("MGET", "b", "b", "b"), 0);
    assert.equal(copied("COPY", "b", "a"), 0);
  });
});
