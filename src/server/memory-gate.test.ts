/**
 * The gate for memory on a whole server: what is evicted when, what is refused, what waits, and
 * that what is in use stays within the limit.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { H_RESERVED_UNITS, H_SPANS_LIMIT } from "../memory/layout.ts";
import { OOM } from "../protocol/errors.ts";
import { requestText } from "../protocol/test-request.ts";
import { evictionTimeMs, SLICE_KEYS_MAX, SLICE_VISITS_MAX } from "./memory-gate.ts";
import { type TestClient, TestServer } from "./test-server.ts";

const KB = 1024;
const MB = 1024 * 1024;
const REFUSAL = `-${OOM}\r\n`;

function stat(client: TestClient, name: string): number {
  return Number(client.info("everything").get(name));
}

function used(client: TestClient): number {
  return stat(client, "used_memory");
}

function newServer(settings: Record<string, string>, threads = 2): TestServer {
  return new TestServer({ threads, settings });
}

/** Sets keys until something was evicted or refused. Returns how many. */
function fillUp(client: TestClient, more: readonly string[] = [], size = 1000): number {
  for (let n = 0; n < 100_000; n++) {
    const reply = client.call("SET", `key:${n}`, "v".repeat(size), ...more);
    if (reply !== "+OK\r\n" || (n % 50 === 0 && stat(client, "evicted_keys") > 0)) return n;
  }
  throw new Error("it is never full");
}

/** Sets small keys until some hundred were evicted. */
function fillWithSmall(server: TestServer, client: TestClient): void {
  for (let n = 0; stat(client, "evicted_keys") < 100; ) {
    for (const end = n + 1000; n < end; n++) client.call("SET", `k${n}`, "v");
  }
  server.host.settle();
}

/** Makes the monotonic clock go on by so much each time that it is looked at. */
function tickingServer(settings: Record<string, string>, msPerLook: number): TestServer {
  const server = newServer(settings, 2);
  let now = 0;
  server.clock.monotonicMs = () => (now += msPerLook);
  return server;
}

describe("policies", () => {
  for (const policy of ["allkeys-lru", "allkeys-lfu", "allkeys-random"]) {
    test(`${policy} makes room for every write`, () => {
      const server = newServer({ maxmemory: `${4 * MB}`, "maxmemory-policy": policy });
      const client = server.connect();
      for (let n = 0; n < 12_000; n++) {
        assert.equal(client.call("SET", `key:${n}`, "v".repeat(n % 2000)), "+OK\r\n");
        if (n % 100 === 0) assert.ok(used(client) <= 4 * MB * 1.01, `${used(client)}`);
      }
      assert.ok(stat(client, "evicted_keys") > 5000);
      assert.ok(used(client) > 3.9 * MB, "more was evicted than had to be");
      assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
    });
  }

  for (const policy of ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"]) {
    test(`${policy} touches no key without an expiry, and refuses when no other is left`, () => {
      const server = newServer({ maxmemory: `${2 * MB}`, "maxmemory-policy": policy });
      const client = server.connect();
      for (let n = 0; n < 1000; n++) client.call("SET", `stays:${n}`, "v".repeat(500));
      for (let n = 0; n < 5000; n++) {
        const reply = client.call("SET", `goes:${n}`, "v".repeat(500), "EX", "1000");
        assert.equal(reply, "+OK\r\n");
      }
      assert.ok(stat(client, "evicted_keys") > 1000);
      let stays = 1000;
      while (client.call("SET", `stays:${stays}`, "v".repeat(500)) === "+OK\r\n") stays++;
      assert.ok(stays > 2500, `${stays}`);
      assert.equal(client.call("SET", "x", "v", "EX", "10"), REFUSAL);
      for (let n = 0; n < stays; n++) assert.equal(client.say(`EXISTS stays:${n}`), ":1\r\n");
      assert.equal(client.say("DBSIZE"), `:${stays}\r\n`);
      // What gets an expiry may go at once.
      client.say("EXPIRE stays:0 1000");
      client.say("EXPIRE stays:1 1000");
      assert.equal(client.call("SET", "x", "v"), "+OK\r\n");
      assert.ok(used(client) <= 2 * MB * 1.01);
      assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
    });
  }

  test("noeviction refuses what needs memory, and nothing else", () => {
    const server = newServer({ maxmemory: `${2 * MB}` });
    const client = server.connect();
    const keys = fillUp(client);
    assert.ok(keys > 1700, `${keys}`);
    for (const line of ["SET new v", "APPEND key:0 v", "INCR n", "MSET a 1 b 2", "COPY key:0 b"]) {
      assert.equal(client.say(line), REFUSAL, line);
    }
    for (const line of ["GET nokey", "EXPIRE key:0 100", "PERSIST key:0", "TTL key:0", "PING"]) {
      assert.doesNotMatch(client.say(line), /^-/, line);
    }
    assert.equal(stat(client, "evicted_keys"), 0);
    client.call("DEL", ...Array.from({ length: 20 }, (_, n) => `key:${n}`));
    assert.equal(client.say("SET new v"), "+OK\r\n");
  });

  test("a policy and a limit hold from the moment they are set, on every thread", () => {
    const server = newServer({});
    const client = server.connect();
    const other = server.connect({ thread: 1 });
    for (let n = 0; n < 3000; n++) client.call("SET", `key:${n}`, "v".repeat(1000));
    client.say("CONFIG SET maxmemory 2mb");
    server.host.settle();
    assert.equal(other.say("SET x v"), REFUSAL);
    assert.equal(stat(client, "evicted_keys"), 0);
    other.say("CONFIG SET maxmemory-policy volatile-ttl");
    assert.equal(client.say("SET x v"), REFUSAL);
    client.say("CONFIG SET maxmemory-policy allkeys-random");
    // Without any command that needs memory, between the turns of others.
    server.host.settle();
    assert.ok(used(client) <= 2 * MB);
    assert.ok(stat(client, "evicted_keys") >= 1000);
    assert.equal(other.say("SET x v"), "+OK\r\n");
    client.say("CONFIG SET maxmemory 1");
    server.host.settle();
    assert.equal(client.say("DBSIZE"), ":0\r\n");
    assert.equal(client.say("SET x v"), REFUSAL);
    client.say("CONFIG SET maxmemory 0");
    assert.equal(client.say("SET x v"), "+OK\r\n");
  });

  test("sessions with NO-TOUCH do not keep a key from being evicted", () => {
    const server = newServer({ maxmemory: `${2 * MB}`, "maxmemory-policy": "allkeys-lru" });
    server.config.apply([]);
    const client = server.connect();
    const silent = server.connect();
    client.say("CONFIG SET maxmemory-samples 64");
    silent.say("CLIENT NO-TOUCH ON");
    client.say("SET quiet v");
    client.say("SET loud v");
    for (let n = 0; n < 4000; n++) {
      if (n % 50 === 0) server.advance(1000);
      client.call("SET", `key:${n}`, "v".repeat(1000));
      client.say("GET loud");
      silent.say("GET quiet");
    }
    assert.equal(client.say("EXISTS loud quiet"), ":1\r\n");
    assert.equal(client.say("GET loud"), "$1\r\nv\r\n");
  });
});

describe("what is freed before any key is evicted", () => {
  test("keys that have expired, in all databases, though expiry in the background is off", () => {
    for (const policy of ["allkeys-lru", "volatile-ttl", "allkeys-random"]) {
      const server = newServer({ maxmemory: `${4 * MB}`, "maxmemory-policy": policy });
      const client = server.connect();
      client.say("DEBUG SET-ACTIVE-EXPIRE 0");
      for (let n = 0; n < 3000; n++) {
        client.say(`SELECT ${n % 3}`);
        const expiry = n % 2 === 0 ? ["PX", "500"] : ["PX", "900000"];
        client.call("SET", `key:${n}`, "v".repeat(1000), ...expiry);
      }
      client.say("SELECT 7");
      server.advance(501);
      for (let n = 0; n < 1500; n++) {
        assert.equal(client.call("SET", `new:${n}`, "v".repeat(1000)), "+OK\r\n");
      }
      assert.equal(stat(client, "evicted_keys"), 0, policy);
      assert.ok(stat(client, "expired_keys") > 500, policy);
      for (let n = 0; stat(client, "evicted_keys") === 0; n++) {
        assert.equal(client.call("SET", `newer:${n}`, "v".repeat(1000), "EX", "99"), "+OK\r\n");
      }
      assert.equal(stat(client, "expired_keys"), 1500, policy);
    }
  });

  test("databases that were flushed, and without eviction too", () => {
    for (const policy of ["noeviction", "allkeys-lru"]) {
      const server = newServer({ maxmemory: `${4 * MB}`, "maxmemory-policy": policy });
      const client = server.connect();
      for (let n = 0; n < 3600; n++) client.call("SET", `key:${n}`, "v".repeat(1000));
      client.say("SELECT 1");
      client.say("SET kept v");
      client.say("SELECT 0");
      client.say("FLUSHDB");
      assert.ok(used(client) > 3.5 * MB, "a flush frees everything itself");
      for (let n = 0; n < 3000; n++) {
        assert.equal(client.call("SET", `new:${n}`, "v".repeat(1000)), "+OK\r\n");
      }
      assert.equal(stat(client, "evicted_keys"), 0);
      assert.ok(stat(client, "lazyfreed_objects") > 2000);
      client.say("SELECT 1");
      assert.equal(client.say("EXISTS kept"), ":1\r\n");
    }
  });
});

describe("time", () => {
  test("is Redis's, by tenacity", () => {
    for (const [tenacity, ms] of [
      [0, 0],
      [1, 0.05],
      [10, 0.5],
      [11, 0.575],
      [20, 2.0227788],
      [99, 126_158.4],
      [100, Number.POSITIVE_INFINITY],
    ] as const) {
      assert.ok(
        Math.abs(evictionTimeMs(tenacity) / ms - 1) < 0.02 || evictionTimeMs(tenacity) === ms,
      );
    }
  });

  test("when it is up the command waits, and the thread goes on evicting", () => {
    const settings = { maxmemory: `${4 * MB}`, "maxmemory-policy": "allkeys-lru" };
    const server = tickingServer(settings, 0.002);
    const client = server.connect();
    fillWithSmall(server, client);
    const evictedBefore = stat(client, "evicted_keys");
    // It needs thousands of keys to go, of which a command evicts some hundred.
    const words = Array.from({ length: 40 }, (_, n) => [`long${n}`, "x".repeat(20_000)]).flat();
    assert.equal(client.call("MSET", ...words), "");
    const observer = server.connect({ thread: 1 });
    const step = stat(observer, "evicted_keys") - evictedBefore;
    assert.ok(step > 16 && step < 3000, `${step} keys in one command`);
    assert.ok(stat(observer, "memory_waits") > 0);
    // What is reserved for it is kept from others.
    const other = server.connect();
    assert.equal(other.say("SET small v"), "");
    for (let turns = 0; server.host.step(); turns++) assert.ok(turns < 1000, "it waits for ever");
    assert.equal(client.link.sent, "+OK\r\n");
    assert.equal(other.link.sent, "+OK\r\n");
    assert.equal(client.say("STRLEN long39"), ":20000\r\n");
    assert.ok(used(client) <= 4 * MB * 1.01);
    server.host.servers[0]?.tick();
    assert.equal(server.host.servers[0]?.store.control[H_RESERVED_UNITS], 0);
  });

  test("without a clock that goes on, a command still evicts so much and no more", () => {
    const settings = {
      maxmemory: `${4 * MB}`,
      "maxmemory-policy": "allkeys-lru",
      "maxmemory-eviction-tenacity": "100",
    };
    const server = newServer(settings);
    const client = server.connect();
    fillWithSmall(server, client);
    const words = Array.from({ length: 40 }, (_, n) => [`long${n}`, "x".repeat(20_000)]).flat();
    const before = stat(client, "evicted_keys");
    assert.equal(client.call("MSET", ...words), "");
    const observer = server.connect({ thread: 1 });
    const step = stat(observer, "evicted_keys") - before;
    assert.ok(step >= SLICE_KEYS_MAX && step <= SLICE_KEYS_MAX + 16, `${step} keys`);
    server.host.settle();
    assert.equal(client.link.sent, "+OK\r\n");
    assert.ok(stat(observer, "eviction_slice_max_keys") <= SLICE_KEYS_MAX + 16);
    const visits = stat(observer, "eviction_slice_max_visits");
    assert.ok(visits > SLICE_KEYS_MAX && visits <= SLICE_VISITS_MAX + 4096, `${visits} visits`);
    assert.ok(stat(observer, "eviction_slice_max_bytes") >= 16 * SLICE_KEYS_MAX);
  });

  test("a long argument waits before it is received, and what comes behind it waits too", () => {
    const settings = { maxmemory: `${4 * MB}`, "maxmemory-policy": "allkeys-lru" };
    const server = tickingServer(settings, 0.002);
    const client = server.connect();
    fillWithSmall(server, client);
    const value = "x".repeat(700_000);
    const bytes =
      requestText(["SET", "big", value]) + requestText(["STRLEN", "big"]) + requestText(["PING"]);
    client.link.sent = "";
    for (let at = 0; at < bytes.length; at += 50_000) {
      const piece = Uint8Array.from(bytes.slice(at, at + 50_000), (c) => c.charCodeAt(0));
      client.session.onData(piece, piece.length);
      assert.ok(used(server.connect()) <= 4 * MB * 1.01);
    }
    assert.equal(client.link.sent, "");
    server.host.settle();
    assert.equal(client.link.sent, "+OK\r\n:700000\r\n+PONG\r\n");
    assert.ok(used(client) <= 4 * MB * 1.01);
  });

  test("a session that is closed while it waits holds nothing back", () => {
    const settings = { maxmemory: `${4 * MB}`, "maxmemory-policy": "allkeys-lru" };
    const server = tickingServer(settings, 0.002);
    const client = server.connect();
    fillWithSmall(server, client);
    const words = Array.from({ length: 40 }, (_, n) => [`long${n}`, "x".repeat(20_000)]).flat();
    const doomed = server.connect();
    assert.equal(doomed.call("MSET", ...words), "");
    doomed.session.destroy();
    server.host.settle();
    for (let n = 0; n < 2; n++) server.host.servers[0]?.tick();
    assert.equal(server.host.servers[0]?.store.control[H_RESERVED_UNITS], 0);
    assert.equal(client.say("SET x v"), "+OK\r\n");
  });
});

test("of several sessions that wait for memory, what one needs is held, and let go once", () => {
  const settings = { maxmemory: `${4 * MB}`, "maxmemory-policy": "allkeys-lru" };
  const server = tickingServer(settings, 0.002);
  const client = server.connect();
  fillWithSmall(server, client);
  const control = server.host.servers[0]?.store.control as Int32Array;
  const words = Array.from({ length: 40 }, (_, n) => [`long${n}`, "x".repeat(20_000)]).flat();
  const waiting = [server.connect(), server.connect()];
  const held = waiting.map((one, n) => {
    // The second needs less: what is as large as that which is held may be the same.
    assert.equal(one.call("MSET", ...words.slice(0, n === 0 ? 80 : 60)), "");
    return control[H_RESERVED_UNITS] as number;
  });
  assert.ok((held[0] as number) > 0);
  assert.equal(held[1], held[0]);
  for (let n = 0; n < 50 && control[H_RESERVED_UNITS] !== 0; n++) {
    server.host.settle();
    for (const thread of server.host.servers) thread.tick();
  }
  for (const one of waiting) assert.equal(one.link.sent, "+OK\r\n");
  assert.equal(control[H_RESERVED_UNITS], 0);
  assert.ok(used(client) <= 4 * MB * 1.01);
});

test("requests that are not finished make keys give way, and room is there again when they end", () => {
  const server = newServer({ maxmemory: `${2 * MB}`, "maxmemory-policy": "allkeys-lru" });
  const client = server.connect();
  for (let n = 0; n < 1700; n++) client.call("SET", `key:${n}`, "v".repeat(1000));
  assert.equal(stat(client, "evicted_keys"), 0);
  const slow = Array.from({ length: 4 }, () => server.connect());
  const head = `*1000\r\n${`$1000\r\n${"x".repeat(1000)}\r\n`.repeat(300)}`;
  for (const one of slow) assert.equal(one.send(head), "");
  for (const thread of server.host.servers) thread.tick();
  server.host.settle();
  assert.ok(stat(client, "evicted_keys") > 500);
  const left = used(client);
  assert.ok(left < 0.9 * MB, `${left}`);
  for (const one of slow) one.session.destroy();
  for (let n = 0; n < 500; n++) client.call("SET", `new:${n}`, "v".repeat(1000));
  assert.ok(used(client) > left + 0.4 * MB);
});

describe("arguments", () => {
  test("a long one makes one chunk for itself, and none beside it", () => {
    const server = newServer({ "memory-chunk": `${8 * MB}` });
    const client = server.connect();
    client.say("SET small v");
    const before = stat(client, "arena_bytes_reserved");
    assert.equal(client.call("SET", "big", "x".repeat(40 * MB)), "+OK\r\n");
    const more = stat(client, "arena_bytes_reserved") - before;
    assert.ok(more > 60 * MB && more <= 64 * MB, `${more} bytes`);
  });

  test("one that is longer than maxmemory is refused and evicts nothing", () => {
    const server = newServer({ maxmemory: `${MB}`, "maxmemory-policy": "allkeys-lru" });
    const client = server.connect();
    client.say("SET kept v");
    assert.equal(client.call("SET", "big", "x".repeat(1_100_000)), REFUSAL);
    assert.equal(client.say("EXISTS kept big"), ":1\r\n");
    assert.equal(stat(client, "evicted_keys"), 0);
  });

  test("where nothing can be evicted commands that need no memory may have long ones", () => {
    const server = newServer({ maxmemory: `${MB}` });
    const client = server.connect();
    fillUp(client);
    const long = "x".repeat(100_000);
    assert.equal(client.call("ECHO", long), `$100000\r\n${long}\r\n`);
    assert.equal(client.call("SET", "k", long), REFUSAL);
  });
});

test("the time over the limit is counted", () => {
  const server = newServer({});
  const client = server.connect();
  const tick = (): void => {
    for (const thread of server.host.servers) thread.tick();
    server.host.settle();
  };
  const times = (): number[] => [
    stat(client, "total_eviction_exceeded_time"),
    stat(client, "current_eviction_exceeded_time"),
  ];
  for (let n = 0; n < 100; n++) client.call("SET", `key:${n}`, "v".repeat(1000));
  assert.deepEqual(times(), [0, 0]);
  client.say("CONFIG SET maxmemory 50kb");
  tick();
  server.advance(3000);
  assert.deepEqual(times(), [3000, 3000]);
  client.say("CONFIG SET maxmemory 0");
  tick();
  server.advance(500);
  assert.deepEqual(times(), [3000, 0]);
  client.say("CONFIG SET maxmemory 50kb");
  tick();
  server.advance(1000);
  assert.deepEqual(times(), [4000, 1000]);
  client.say("CONFIG RESETSTAT");
  assert.deepEqual(times(), [0, 0]);
});

test("sizes of all kinds on four threads stay within a hundredth of the limit", () => {
  const seed = testSeed(341);
  const random = new Random(seed);
  const limit = 16 * MB;
  for (const policy of ["allkeys-lru", "volatile-ttl"]) {
    const server = newServer({ maxmemory: String(limit), "maxmemory-policy": policy }, 4);
    const clients = Array.from({ length: 8 }, (_, n) => server.connect({ thread: n % 4 }));
    const observer = server.connect();
    let most = 0;
    for (let step = 0; step < 6000; step++) {
      const client = random.pick(clients);
      // Each phase has sizes of its own, so that all of what was there must make way.
      const phase = Math.floor(step / 1000) % 3;
      const size =
        phase === 0
          ? 200
          : phase === 1
            ? 150 * KB
            : Math.floor(10 ** (1 + random.below(4300) / 1000));
      const value = "x".repeat(random.below(size));
      const pairs = random.chance(0.1) ? 1 + random.below(5) : 1;
      const words = Array.from({ length: pairs }, () => [`k${random.below(4000)}`, value]).flat();
      const reply =
        pairs > 1 && policy === "allkeys-lru"
          ? client.call("MSET", ...words)
          : client.call("SET", words[0] as string, value, "EX", String(100 + random.below(1000)));
      assert.ok(reply === "+OK\r\n" || reply === "", `${reply}; ${seedText(seed)}`);
      if (reply === "") server.host.settle();
      if (step % 10 === 0) most = Math.max(most, used(observer));
      if (step % 100 === 0) server.advance(50);
    }
    assert.ok(most <= limit * 1.01, `${most} of ${limit}; ${seedText(seed)}`);
    assert.ok(stat(observer, "evicted_keys") > 1000);
    assert.equal(observer.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  }
});

describe("where the heap has only so many spans", () => {
  const SPANS = 100;

  function limit(server: TestServer): void {
    const control = server.host.servers[0]?.store.control as Int32Array;
    control[H_SPANS_LIMIT] = SPANS;
  }

  /** Sets keys of two sizes until one is refused. Returns how many. */
  function fillSpans(client: TestClient): number {
    for (let n = 0; n < 100_000; n++) {
      const reply = client.call("SET", `key:${n}`, "v".repeat(n % 3 === 0 ? 300 : 10));
      if (reply === "+OK\r\n") continue;
      assert.equal(reply, REFUSAL);
      return n;
    }
    throw new Error("it is never full");
  }

  test("what was flushed is no longer in the way", () => {
    const server = newServer({});
    limit(server);
    const client = server.connect();
    for (const value of ["v", "v".repeat(200_000)]) {
      const keys = fillSpans(client);
      assert.ok(keys > 10_000, `${keys}`);
      assert.equal(client.call("FLUSHALL"), "+OK\r\n");
      assert.equal(client.call("SET", "key", value), "+OK\r\n");
      assert.equal(client.call("MSET", "a", value, "b", value), "+OK\r\n");
      assert.equal(client.say("FLUSHALL"), "+OK\r\n");
      server.advance(1000);
    }
    assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("who comes before all of it is freed waits for it", () => {
    const server = tickingServer({}, 0.01);
    limit(server);
    const client = server.connect();
    fillSpans(client);
    client.say("FLUSHALL");
    const long = server.connect();
    assert.equal(client.call("SET", "key", "value"), "");
    assert.equal(long.call("SET", "long", "v".repeat(500_000)), "");
    server.host.settle();
    assert.equal(client.link.sent, "+OK\r\n");
    assert.equal(long.link.sent, "+OK\r\n");
    assert.equal(client.say("GET key"), "$5\r\nvalue\r\n");
    assert.equal(client.say("STRLEN long"), ":500000\r\n");
    assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("what deleted keys left within spans is used by commands with one key", () => {
    const server = newServer({});
    limit(server);
    const client = server.connect();
    const keys = fillSpans(client);
    assert.equal(client.call("SET", "more", "v".repeat(3000)), REFUSAL);
    for (let n = 0; n < keys; n += 2) assert.equal(client.say(`DEL key:${n}`), ":1\r\n");
    server.slowTick();
    const before = used(client);
    let taken = 0;
    while (client.call("SET", `new:${taken}`, "v".repeat(10)) === "+OK\r\n") taken++;
    assert.ok(taken > keys / 5, `${taken} of ${keys}`);
    assert.ok(used(client) > before);
    assert.equal(client.call("MSET", "one", "1", "two", "2"), REFUSAL);
    assert.equal(client.say("EXISTS one two"), ":0\r\n");
    // What takes no reservation has the last spans to itself.
    for (let n = 0; n < taken; n += 10) assert.equal(client.say(`EXPIRE new:${n} 1000`), ":1\r\n");
    for (let n = 1; n < keys; n += 2) {
      const size = n % 3 === 0 ? 300 : 10;
      assert.equal(client.say(`STRLEN key:${n}`), `:${size}\r\n`);
    }
    assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });
});
