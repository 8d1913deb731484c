import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { open, type Store, StoreBroken, StoreError } from "../index.ts";

let store: Store;

beforeEach(() => {
  store = open({ memoryChunk: "16mb", shards: 16 });
});

afterEach(() => store.close());

function throwsError(run: () => unknown, code: string, message: RegExp): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof StoreError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  });
}

describe("strings", () => {
  test("are set and read as text and as bytes", () => {
    assert.equal(store.set("k", "v"), "OK");
    assert.equal(store.get("k"), "v");
    assert.deepEqual(store.getBuffer("k"), Buffer.from("v"));
    assert.equal(store.get("none"), null);
    assert.equal(store.getBuffer("none"), null);
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    store.set(bytes, bytes);
    assert.deepEqual(store.getBuffer(Buffer.from(bytes)), Buffer.from(bytes));
  });

  test("text of any length and alphabet is kept as UTF-8", () => {
    for (const letter of ["a", "é", "語", "😀"]) {
      for (const length of [0, 1, 7, 8, 9, 16, 17, 40, 41, 200, 30_000, 70_000]) {
        const text = letter.repeat(length);
        store.set(text, text);
        assert.equal(store.get(text), text, `${letter} times ${length}`);
        assert.deepEqual(store.getBuffer(text), Buffer.from(text));
        assert.equal(store.strlen(text), Buffer.byteLength(text));
      }
    }
    store.set("mixed", "abcdéfgh");
    assert.equal(store.get("mixed"), "abcdéfgh");
    store.set("lone", "a\ud800b");
    assert.equal(store.get("lone"), "a\ufffdb");
  });

  test("payloads of DUMP are whole, however long and however sent", () => {
    const noise = Buffer.alloc(200_000);
    for (let i = 0, x = 1; i < noise.length; i++) noise[i] = (x = (x * 48_271) % 0x7fffffff) >> 8;
    for (const value of [
      Buffer.from("12"),
      Buffer.alloc(3000, "a"),
      noise.subarray(0, 60_000),
      noise,
      Buffer.concat([noise, noise]),
    ]) {
      store.set("from", value);
      const payload = store.callBuffer("DUMP", "from") as Buffer;
      assert.equal(store.call("RESTORE", "to", "0", payload, "REPLACE"), "OK");
      assert.deepEqual(store.getBuffer("to"), value);
    }
  });

  test("SET has all its options", () => {
    assert.equal(store.set("k", "1", { XX: true }), null);
    assert.equal(store.set("k", "1", { NX: true, EX: 100 }), "OK");
    assert.equal(store.set("k", "2", { NX: true }), null);
    assert.equal(store.ttl("k"), 100);
    assert.equal(store.set("k", "3", { KEEPTTL: true, GET: true }), "1");
    assert.equal(store.ttl("k"), 100);
    assert.equal(store.set("k", "4", { PX: 5000 }), "OK");
    assert.ok(store.pttl("k") > 4000);
    const at = Math.floor(Date.now() / 1000) + 1000;
    store.set("k", "5", { EXAT: at });
    assert.equal(store.expiretime("k"), at);
    store.set("k", "6", { PXAT: at * 1000 + 7 });
    assert.equal(store.pexpiretime("k"), at * 1000 + 7);
    assert.deepEqual(store.setGetBuffer("k", "7"), Buffer.from("6"));
    assert.equal(store.ttl("k"), -1);
    assert.equal(store.set("new", "1", { GET: true }), null);
    throwsError(() => store.set("k", "v", { NX: true, XX: true }), "ERR", /^ERR syntax error$/);
    throwsError(() => store.set("k", "v", { EX: 0 }), "ERR", /invalid expire time in 'set'/);
  });

  test("have all their methods", () => {
    assert.equal(store.mset({ a: "1", b: "2" }), "OK");
    assert.equal(store.mset(new Map([["c", "3"]])), "OK");
    assert.equal(store.mset([["d", Buffer.from([255])]]), "OK");
    assert.deepEqual(store.mget("a", "x", "c"), ["1", null, "3"]);
    assert.deepEqual(store.mgetBuffer("d", "x"), [Buffer.from([255]), null]);
    assert.equal(store.msetnx({ a: "9", z: "9" }), false);
    assert.equal(store.msetnx({ y: "9", z: "9" }), true);
    assert.equal(store.setnx("z", "1"), false);
    assert.equal(store.setnx("w", "1"), true);
    assert.equal(store.setex("e", 50, "1"), "OK");
    assert.equal(store.psetex("p", 50_000, "1"), "OK");
    assert.equal(store.getset("a", "2"), "1");
    assert.deepEqual(store.getsetBuffer("a", "3"), Buffer.from("2"));
    assert.equal(store.getdel("a"), "3");
    assert.equal(store.getdelBuffer("a"), null);
    assert.equal(store.getex("b", { EX: 60 }), "2");
    assert.equal(store.ttl("b"), 60);
    assert.deepEqual(store.getexBuffer("b", { PERSIST: true }), Buffer.from("2"));
    assert.equal(store.ttl("b"), -1);
    assert.equal(store.append("s", "Hello"), 5);
    assert.equal(store.append("s", " World"), 11);
    assert.equal(store.getrange("s", -5, -1), "World");
    assert.deepEqual(store.getrangeBuffer("s", 0, 0), Buffer.from("H"));
    assert.equal(store.setrange("s", 6, "Redis"), 11);
    assert.equal(store.get("s"), "Hello Redis");
    store.mset({ l1: "ohmytext", l2: "mynewtext" });
    assert.equal(store.lcs("l1", "l2"), "mytext");
    assert.deepEqual(store.lcsBuffer("l1", "l2"), Buffer.from("mytext"));
    assert.equal(store.lcsLength("l1", "l2"), 6);
  });

  test("count, and give bigint where a number is not exact", () => {
    assert.equal(store.incr("n"), 1);
    assert.equal(store.incrby("n", 41), 42);
    assert.equal(store.decr("n"), 41);
    assert.equal(store.decrby("n", 50), -9);
    assert.equal(store.incrby("m", Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
    assert.equal(store.incr("m"), 9007199254740992n);
    assert.equal(store.decrby("m", 9007199254740992n * 2n), -9007199254740992n);
    assert.equal(store.incrbyfloat("f", 10.5), "10.5");
    assert.equal(store.incrbyfloat("f", "-0.25"), "10.25");
    store.set("t", "text");
    throwsError(() => store.incr("t"), "ERR", /^ERR value is not an integer or out of range$/);
    throwsError(() => store.incrby("n", 1.5), "ERR", /not an integer/);
  });

  test("over 64 KiB come and go whole, and are given back", () => {
    const text = "0123456789".repeat(20_000);
    const before = Number(/used_memory:(\d+)/.exec(String(store.call("INFO", "memory")))?.[1]);
    store.set("big", text);
    assert.equal(store.get("big"), text);
    assert.deepEqual(store.getBuffer("big"), Buffer.from(text));
    assert.deepEqual(store.mget("big", "none", "big"), [text, null, text]);
    assert.equal(store.set("big", text.slice(1), { GET: true }), text);
    store.mset({ one: text, two: "short", three: text });
    assert.deepEqual(store.mget("three", "two"), [text, "short"]);
    assert.equal(store.setnx("one", text), false);
    store.flushall();
    const after = Number(/used_memory:(\d+)/.exec(String(store.call("INFO", "memory")))?.[1]);
    assert.ok(after <= before + 100_000, `${before} then ${after}`);
  });
});

describe("keys", () => {
  test("have all their methods", () => {
    store.mset({ a: "1", b: "text", c: "3" });
    assert.equal(store.exists("a", "a", "x"), 2);
    assert.equal(store.touch("a", "x"), 1);
    assert.equal(store.type("a"), "string");
    assert.equal(store.type("x"), "none");
    assert.equal(store.del("a", "x"), 1);
    assert.equal(store.unlink("b", "c"), 2);
    assert.equal(store.dbsize(), 0);
    assert.equal(store.randomkey(), null);
    store.set("a", "1");
    assert.equal(store.randomkey(), "a");
    assert.deepEqual(store.randomkeyBuffer(), Buffer.from("a"));
    assert.equal(store.rename("a", "b"), "OK");
    store.set("c", "3");
    assert.equal(store.renamenx("b", "c"), false);
    assert.equal(store.renamenx("b", "d"), true);
    assert.equal(store.copy("c", "d"), false);
    assert.equal(store.copy("c", "d", { REPLACE: true }), true);
    assert.equal(store.copy("c", "e", { DB: 1 }), true);
    assert.equal(store.move("d", 1), true);
    assert.equal(store.db(1).dbsize(), 2);
    assert.equal(store.swapdb(0, 1), "OK");
    assert.equal(store.dbsize(), 2);
    assert.equal(store.flushdb(), "OK");
    assert.equal(store.dbsize(), 0);
    assert.equal(store.flushall(), "OK");
    throwsError(() => store.rename("x", "y"), "ERR", /^ERR no such key$/);
  });

  test("are walked over in pages, by an iterator, and by a pattern", () => {
    const names = Array.from({ length: 1000 }, (_, i) => `key:${i}`);
    for (const name of names) store.set(name, "v");
    assert.deepEqual([...store.scanIterator()].sort(), [...names].sort());
    assert.deepEqual([...store.scanIterator({ MATCH: "key:99*", COUNT: 100 })].length, 11);
    assert.equal([...store.scanIterator({ TYPE: "string" })].length, 1000);
    assert.equal([...store.scanBufferIterator({ COUNT: 300 })].length, 1000);
    let cursor = "0";
    let seen = 0;
    do {
      const page = store.scan(cursor, { COUNT: 50 });
      seen += page.keys.length;
      cursor = page.cursor;
    } while (cursor !== "0");
    assert.equal(seen, 1000);
    assert.equal(store.scanBuffer("0", { COUNT: 2000 }).cursor, "0");
    assert.equal(store.keys("key:1??").length, 100);
    assert.equal(store.keysBuffer("*").length, 1000);
  });

  test("expire, and tell when", () => {
    store.set("k", "v");
    assert.equal(store.ttl("x"), -2);
    assert.equal(store.ttl("k"), -1);
    assert.equal(store.expire("k", 100), true);
    assert.equal(store.expire("k", 50, "GT"), false);
    assert.equal(store.expire("k", 50, "LT"), true);
    assert.equal(store.expire("k", 50, "NX"), false);
    assert.equal(store.pexpire("k", 40_000, "XX"), true);
    const at = Math.floor(Date.now() / 1000) + 500;
    assert.equal(store.expireat("k", at), true);
    assert.equal(store.expiretime("k"), at);
    assert.equal(store.pexpireat("k", at * 1000 + 1), true);
    assert.equal(store.pexpiretime("k"), at * 1000 + 1);
    assert.equal(store.persist("k"), true);
    assert.equal(store.persist("k"), false);
    assert.equal(store.expire("x", 1), false);
    assert.equal(store.expire("k", -1), true);
    assert.equal(store.exists("k"), 0);
  });

  test("whose time has passed are gone, in a loop that never lets events in as well", () => {
    const began = Date.now();
    store.set("k", "v", { PX: 20 });
    const early = store.get("k");
    // A busy machine may have let the time pass.
    assert.ok(early === "v" || Date.now() - began >= 20);
    const until = Date.now() + 25;
    while (Date.now() < until) store.get("other");
    assert.equal(store.get("k"), null);
    assert.equal(store.exists("k"), 0);
  });

  test("tell how their values are kept", () => {
    store.mset({ int: "12345", short: "text", long: "x".repeat(100) });
    assert.equal(store.objectEncoding("int"), "int");
    assert.equal(store.objectEncoding("short"), "embstr");
    assert.equal(store.objectEncoding("long"), "raw");
    assert.equal(store.objectEncoding("x"), null);
    assert.equal(store.objectIdletime("int"), 0);
    assert.equal(store.objectRefcount("long"), 1);
  });
});

describe("call", () => {
  test("runs any command and gives its reply as JavaScript has it", () => {
    assert.equal(store.call("set", "k", 12.5), "OK");
    assert.equal(store.call("GET", "k"), "12.5");
    assert.deepEqual(store.callBuffer("GET", "k"), Buffer.from("12.5"));
    assert.equal(store.call("INCRBY", "n", 9007199254740993n), 9007199254740993n);
    assert.equal(store.call("GET", "x"), null);
    assert.deepEqual(store.call("MGET", "k", "x"), ["12.5", null]);
    assert.equal(store.call("PING"), "PONG");
    assert.deepEqual(store.call("CONFIG", "GET", "databases"), new Map([["databases", "16"]]));
    assert.match(String(store.call("INFO", "server")), /redis_version:7\.4/);
    const [info] = store.call("COMMAND", "INFO", "get") as unknown[][];
    assert.deepEqual(info?.slice(0, 3), ["get", 2, ["readonly", "fast"]]);
    assert.deepEqual(
      store.call("LCS", "k", "k", "IDX"),
      new Map<string, unknown>([
        [
          "matches",
          [
            [
              [0, 3],
              [0, 3],
            ],
          ],
        ],
        ["len", 4],
      ]),
    );
  });

  test("throws a command's error", () => {
    throwsError(() => store.call("NOPE", "a"), "ERR", /unknown command 'NOPE'/);
    throwsError(() => store.call("GET"), "ERR", /wrong number of arguments for 'get'/);
    throwsError(() => store.call("SET", "k", "v", "PX", "abc"), "ERR", /not an integer/);
    assert.equal(store.call("PING"), "PONG");
  });

  test("does not wait where a connection would", () => {
    assert.equal(store.call("WAIT", 1, 0), 0);
    assert.equal(store.call("WAIT", 0, 100), 0);
    assert.deepEqual(store.call("WAITAOF", 0, 1, 0), [0, 0]);
    throwsError(() => store.call("WAIT", 1, -1), "ERR", /timeout is negative/);
    assert.match(String(store.call("INFO", "clients")), /blocked_clients:0/);
  });

  test("refuses what belongs to a connection, before anything happens", () => {
    for (const words of [
      "SUBSCRIBE a",
      "psubscribe a",
      "MONITOR",
      "SHUTDOWN",
      "QUIT",
      "RESET",
      "HELLO 2",
      "AUTH x",
      "CLIENT REPLY OFF",
      "SYNC",
    ]) {
      const [name = "", ...rest] = words.split(" ");
      throwsError(() => store.call(name, ...rest), "ERR", /connection|use close\(\)/);
    }
    throwsError(() => store.call("CONFIG", "SET", "port", 7000), "ERR", /use listen\(\)/);
    assert.equal(store.call("PING"), "PONG");
  });

  test("SELECT is for its own view", () => {
    const one = store.db(1);
    one.set("k", "one");
    assert.equal(store.call("SELECT", 1), "OK");
    assert.equal(store.get("k"), "one");
    assert.equal(store.call("SELECT", 0), "OK");
    assert.equal(store.get("k"), null);
    assert.equal(one.get("k"), "one");
    throwsError(() => store.db(16), "ERR", /^ERR DB index is out of range$/);
    throwsError(() => store.db(0.5), "ERR", /DB index/);
  });

  test("shows the handle among the clients", () => {
    assert.match(String(store.call("CLIENT", "INFO")), /addr=handle:0 .*lib-name=zerohop/);
    assert.equal(store.call("CLIENT", "SETNAME", "mine"), "OK");
    assert.match(String(store.call("CLIENT", "LIST")), /name=mine /);
    const threads = String(store.call("INFO", "threads"));
    assert.match(threads, /\nthreads:1\r/);
    assert.deepEqual(threads.match(/^thread\d+/gm), ["thread0"]);
  });
});

test("what is no key and no value is a TypeError that names the place", () => {
  const wrong = undefined as unknown as string;
  assert.throws(() => store.get(wrong), /^TypeError: argument 1 is undefined/);
  assert.throws(() => store.set("k", null as unknown as string), /argument 2 is null/);
  assert.throws(
    () => store.set("x".repeat(100_000), {} as unknown as string),
    /argument 2 is an Obj/,
  );
  assert.equal(store.set("k", "v"), "OK");
  assert.equal(store.get("k"), "v");
});

describe("options", () => {
  test("are directives, with their units and their checks", async () => {
    const other = open({
      maxmemory: "100mb",
      databases: 3,
      shards: 4,
      memoryChunk: 4 * 1024 * 1024,
      protectedMode: false,
    });
    const shown = other.call("CONFIG", "GET", "maxmemory", "databases", "protected-mode");
    assert.deepEqual(
      shown,
      new Map([
        ["maxmemory", "104857600"],
        ["databases", "3"],
        ["protected-mode", "no"],
      ]),
    );
    await other.close();
  });

  test("that are unknown, wrong or for a server are refused by name", () => {
    const cases: readonly [Record<string, unknown>, RegExp][] = [
      [{ maxMemory: 1 }, /^OPTION maxMemory: unknown option; did you mean maxmemory\?$/],
      [{ "maxmemory-policy": "noeviction" }, /unknown option; did you mean maxmemoryPolicy\?$/],
      [{ nonsense: 1 }, /^OPTION nonsense: unknown option$/],
      [{ maxmemory: "many" }, /^OPTION maxmemory: argument must be a memory value$/],
      [{ shards: 6 }, /^OPTION shards: argument must be a power of two$/],
      [{ databases: 0 }, /^OPTION databases: argument must be between 1/],
      [{ databases: {} }, /^OPTION databases: must be text, a number or a boolean$/],
      [{ maxclients: 4_294_967_295 }, /^OPTION maxclients: the system has no memory for 42949/],
      [{ dir: "/data" }, /^OPTION dir: the embedded store does not support the directive dir$/],
      [{ appendonly: true }, /does not support the directive appendonly$/],
      [{ threads: 4 }, /does not support the directive threads; each thread opens/],
      [{ port: 6379 }, /does not support the directive port; use store\.listen/],
      [{ replicaof: "a 1" }, /does not support the directive replicaof$/],
      [{ handle: {} }, /^OPTION handle: is an Object, not what store\.handle gave; /],
      [{ handle: store.handle, maxmemory: 1 }, /^OPTION maxmemory: a store that is open has its/],
      [{ handle: { ...store.handle, zerohop: "0.0.1" } }, /was made by version 0\.0\.1, and this/],
    ];
    for (const [options, message] of cases) {
      throwsError(() => open(options as Parameters<typeof open>[0]), "OPTION", message);
    }
  });
});

describe("memory", () => {
  test("that is out is an error, and nothing has changed", async () => {
    const small = open({ maxmemory: "8mb", memoryChunk: "16mb", shards: 4 });
    small.set("k", "v");
    let n = 0;
    throwsError(
      () => {
        for (; ; n++) small.set(`key:${n}`, "x".repeat(1000));
      },
      "OOM",
      /^OOM command not allowed when used memory > 'maxmemory'\.$/,
    );
    assert.ok(n > 5000, String(n));
    assert.equal(small.get("k"), "v");
    assert.equal(small.dbsize(), n + 1);
    // A flush frees later; here nothing but calls ever runs.
    small.flushall();
    for (let i = 0; i < 5000; i++) small.set(`other:${i}`, "x".repeat(1000));
    await small.close();
  });

  test("its limit holds in a pause, since calls go on", () => {
    store.call("CLIENT", "PAUSE", "100000", "ALL");
    store.set("k", "v");
    store.call("CONFIG", "SET", "maxmemory", "1");
    throwsError(() => store.set("k", "w"), "OOM", /^OOM command not allowed/);
    store.call("CONFIG", "SET", "maxmemory", "1mb", "maxmemory-policy", "allkeys-lru");
    for (let i = 0; i < 5000; i++) store.set(`key:${i}`, "x".repeat(1000));
    const used = /used_memory:(\d+)/.exec(String(store.call("INFO", "memory")))?.[1];
    assert.ok(Number(used) < 1.02 * 1024 * 1024, used);
  });

  test("an argument that no heap can hold is refused before the call", () => {
    const bytes = new Uint8Array(1100 * 1024 * 1024);
    throwsError(() => store.set("k", bytes), "OOM", /^OOM /);
    assert.equal(store.get("k"), null);
  });
});

describe("closing", () => {
  test("ends a handle, and calls on it throw", async () => {
    const other = open({ handle: store.handle });
    store.set("k", "v");
    assert.equal(other.get("k"), "v");
    await other.close();
    await other.close();
    for (const run of [
      () => other.get("k"),
      () => other.call("PING"),
      () => other.handle,
      () => other.set("big", "x".repeat(100_000)),
      () => other.db(1).dbsize(),
    ]) {
      throwsError(run, "CLOSED", /^CLOSED The store is closed$/);
    }
    await assert.rejects(other.listen(), { code: "CLOSED" });
    assert.equal(store.get("k"), "v");
  });

  test("the last one closes the store for good", async () => {
    const first = open({ memoryChunk: "16mb" });
    const { handle } = first;
    const second = open({ handle });
    first.set("k", "v");
    await first.close();
    assert.equal(second.get("k"), "v");
    second[Symbol.dispose]();
    throwsError(() => second.get("k"), "CLOSED", /closed/);
    throwsError(() => open({ handle }), "CLOSED", /closed/);
  });

  test("disposal closes", async () => {
    const other = open({ handle: store.handle });
    await other[Symbol.asyncDispose]();
    throwsError(() => other.get("k"), "CLOSED", /closed/);
  });

  test("only so many handles can be open", async () => {
    const { handle } = store;
    const others = Array.from({ length: 63 }, () => open({ handle }));
    throwsError(() => open({ handle }), "HANDLES", /64 handles of this store open already$/);
    await others.pop()?.close();
    others.push(open({ handle }));
    others[20]?.set("k", "v");
    assert.equal(store.get("k"), "v");
    await Promise.all(others.map((other) => other.close()));
  });
});

test("settings that one handle changes hold for all, and for those that come later", async () => {
  const before = store.handle;
  const other = open({ handle: before });
  other.call("CONFIG", "SET", "maxmemory", "123456789");
  assert.deepEqual(store.call("CONFIG", "GET", "maxmemory"), new Map([["maxmemory", "123456789"]]));
  const late = open({ handle: store.handle });
  assert.deepEqual(late.call("CONFIG", "GET", "maxmemory"), new Map([["maxmemory", "123456789"]]));
  await Promise.all([other.close(), late.close()]);
});

test("a fault inside a call breaks the store for every handle", async () => {
  const broken = open({ memoryChunk: "16mb", enableDebugCommand: "yes" });
  const other = open({ handle: broken.handle });
  assert.throws(() => broken.call("DEBUG", "PANIC"), /DEBUG PANIC was called/);
  // It held no lock: nothing is half done.
  assert.equal(broken.set("k", "v"), "OK");
  assert.equal(other.get("k"), "v");
  await other.close();
  await broken.close();
  assert.ok(new StoreBroken("x") instanceof StoreError);
  assert.equal(new StoreBroken("x").code, "BROKEN");
});

test("a store that is closed is let go of, though the application keeps it", async () => {
  const collect = (globalThis as { gc?: () => void }).gc;
  assert.ok(collect !== undefined, "the tests run with --expose-gc");
  const shared = (): number => {
    collect();
    // What the first one found is freed in the background, and done before a second.
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const closed: Store[] = [];
  const before = shared();
  for (let i = 0; i < 3; i++) {
    const other = open({ memoryChunk: "1gb" });
    other.set("k", "x".repeat(200_000));
    other.append("k", "y");
    other.getrange("k", 0, 100_000);
    other.setrange("short", 3, "abc");
    for (let n = 0; n < 1000; n++) other.set(`key:${n}`, "v");
    other.call("DEL", ...Array.from({ length: 1000 }, (_, n) => `key:${n}`));
    const second = open({ handle: other.handle });
    second.get("k");
    await Promise.all([other.close(), second.close()]);
    closed.push(other, second);
  }
  // Their tables stay; chunks of 1 GiB do not.
  const kept = shared() - before;
  assert.ok(kept < 2 ** 30, `${kept} bytes of ${closed.length} handles`);
});
