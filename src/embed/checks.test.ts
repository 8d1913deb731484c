/** What callers without types give by mistake is refused, in words that say what to write. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { open, type Store } from "../index.ts";
import { kindOf } from "./checks.ts";
import { optionNames } from "./options.ts";
import type { EvictionPolicy, StoreOptions } from "./types.ts";

let store: Store;
/** The store as a caller without types has it. */
let loose: Record<string, (...words: unknown[]) => unknown>;

before(() => {
  store = open({ memoryChunk: "8mb" });
  loose = store as unknown as typeof loose;
});

after(() => store.close());

function refused(method: string, words: readonly unknown[], message: RegExp): void {
  const run = (): unknown => (loose[method] as (...words: unknown[]) => unknown)(...words);
  assert.throws(run.bind(store), (error) => {
    assert.ok(error instanceof TypeError, String(error));
    assert.match(error.message, message);
    return true;
  });
}

test("kinds of values have names", () => {
  const kinds: readonly [unknown, string][] = [
    [null, "null"],
    [undefined, "undefined"],
    ["", "a string"],
    [1, "a number"],
    [[], "an Array"],
    [{}, "an Object"],
    [new Map(), "a Map"],
    [new ArrayBuffer(1), "an ArrayBuffer"],
    [Object.create(null), "an object"],
    [() => 1, "a function"],
    [new Uint16Array(), "a Uint16Array"],
    [new Error("x"), "an Error"],
  ];
  for (const [value, kind] of kinds) assert.equal(kindOf(value), kind);
});

describe("options of a method", () => {
  test("that are unknown are refused, with the one that was meant", () => {
    refused("set", ["k", "v", { ex: 60 }], /^unknown option ex; did you mean EX\?$/);
    refused("set", ["k", "v", { ttl: 60 }], /unknown option ttl; .* set\(key, value, \{ EX: 60 /);
    refused("setGetBuffer", ["k", "v", { nx: true }], /did you mean NX/);
    refused("getex", ["k", { persist: true }], /did you mean PERSIST/);
    refused("getexBuffer", ["k", { px: 1 }], /did you mean PX/);
    refused("scan", ["0", { match: "a*" }], /did you mean MATCH/);
    refused("scanBuffer", ["0", { count: 1 }], /did you mean COUNT/);
    refused("copy", ["a", "b", { replace: true }], /did you mean REPLACE/);
    assert.throws(() => [...store.scanIterator({ match: "a" } as object)], /did you mean MATCH/);
    assert.equal(store.exists("k"), 0);
  });

  test("that are no object are refused", () => {
    refused("set", ["k", "v", "EX", 60], /^options are a string: write them as in set\(key, /);
    refused("set", ["k", "v", null], /^options are null/);
    refused("set", ["k", "v", ["EX", 60]], /^options are an Array/);
    refused("scan", ["0", "MATCH"], /^options are a string: write them as in scan\(cursor/);
    refused("copy", ["a", "b", true], /^options are a boolean/);
    assert.equal(store.exists("k"), 0);
  });

  test("that are true or false are nothing else", () => {
    refused("set", ["k", "v", { NX: 1 }], /^option NX is a number: true or false$/);
    refused("set", ["k", "v", { KEEPTTL: "yes" }], /^option KEEPTTL is a string/);
    refused("copy", ["a", "b", { REPLACE: null }], /^option REPLACE is null/);
    assert.equal(store.set("k", "v", { NX: false, XX: undefined }), "OK");
    store.del("k");
  });
});

describe("arguments of a method", () => {
  test("that are no text and no bytes are refused", () => {
    refused("get", [], /^argument 1 is undefined: a string, a number, a Buffer or a Uint8Array$/);
    refused("getrange", ["k", 0], /^argument 3 is undefined: a string, a number, /);
    refused("expire", ["k", null], /^argument 2 is null: a string, a number, /);
    refused("del", [["a", "b"]], /^argument 1 is an Array: .*; spread a list with \.\.\.$/);
    refused("set", ["k", new ArrayBuffer(2)], /^argument 2 is an ArrayBuffer: .* a Uint8Array$/);
    refused("set", ["k", new Uint16Array(2)], /^argument 2 is a Uint16Array/);
    refused("set", ["k", true], /^argument 2 is a boolean/);
    refused("db", ["1"], /^index is a string: a number$/);
  });

  test("bytes may come from another context", () => {
    const key = runInNewContext("new Uint8Array([107])") as Uint8Array;
    const value = runInNewContext("new Uint8Array(100_000).fill(98)") as Uint8Array;
    assert.equal(store.set(key, value), "OK");
    assert.equal(store.get("k"), "b".repeat(100_000));
    assert.equal(store.del(key), 1);
    refused("get", [runInNewContext("new Int8Array(2)")], /^argument 1 is an Int8Array/);
  });

  test("bytes are what they are, whatever their class says", () => {
    class Longer extends Uint8Array {
      override get length(): number {
        return 100_000;
      }
      override get byteLength(): number {
        throw new Error("asked");
      }
    }
    class Named extends Uint8Array {
      override get [Symbol.toStringTag](): "Uint8Array" {
        throw new Error("asked");
      }
    }
    class Other extends Float64Array {
      // @ts-expect-error it is no name of its own
      override get [Symbol.toStringTag](): string {
        return "Uint8Array";
      }
    }
    store.set("k", new Longer([1, 2, 3]));
    assert.deepEqual(store.getBuffer("k"), Buffer.from([1, 2, 3]));
    store.set(new Named([107]), new Longer(70_000));
    assert.equal(store.strlen("k"), 70_000);
    store.del("k");
    refused("set", ["k", new Other(3)], /^argument 2 is an Other: a string, /);
    refused("set", ["k", Object.create(Uint8Array.prototype)], /^argument 2 is a Uint8Array: /);
    const floats = Object.setPrototypeOf(new Float64Array(3), Uint8Array.prototype) as Uint8Array;
    refused("set", ["k", floats], /^argument 2 is a Uint8Array: /);
    assert.equal(store.exists("k"), 0);
  });

  test("pairs are an object, a Map or a list of pairs", () => {
    refused("mset", [], /^pairs are undefined: an object, a Map or a list of \[key, value\]$/);
    refused("mset", ["a", "1"], /^pairs are a string/);
    refused("msetnx", [Buffer.from("ab")], /^pairs are a Buffer/);
    refused("mset", [["a", "1"]], /^pair 1 is a string: write \[key, value\]$/);
    refused("mset", [["ab", "cd"]], /^pair 1 is a string/);
    refused("mset", [[["a", "1"], ["b"]]], /^pair 2 is an Array/);
    assert.equal(store.dbsize(), 0);
  });

  test("a command and its words are not one text", () => {
    refused("call", [], /^the command is undefined/);
    refused("call", [["GET", "k"]], /^the command is an Array: write call\("GET", key\)$/);
    refused("call", ["SET k v"], /words of their own: call\("SET", "k", "v"\)$/);
    refused("callBuffer", ["GET k"], /call\("GET", "k"\)$/);
    assert.equal(store.call("PING"), "PONG");
  });
});

describe("code of the caller's that runs while a call is put together", () => {
  const big = Buffer.alloc(100_000, "b");
  const thrown = (): never => {
    throw new Error("mine");
  };

  test("may call the store", () => {
    const { options, getOptions } = {
      options: {
        get EX(): number {
          store.set("other", "inner");
          return 100;
        },
      },
      getOptions: {
        get NX(): boolean {
          return store.get("none") === null;
        },
      },
    };
    for (const value of ["short", big]) {
      store.flushall();
      assert.equal(store.set("key", value, options), "OK");
      assert.equal(store.set("new", value, getOptions), "OK");
      assert.deepEqual(store.setGetBuffer("key", value, options), Buffer.from(value));
      assert.deepEqual(store.mgetBuffer("key", "new"), [Buffer.from(value), Buffer.from(value)]);
      assert.deepEqual(
        [store.ttl("key"), store.get("other"), store.ttl("other")],
        [100, "inner", -1],
      );
    }
    store.flushall();
  });

  test("leaves nothing to the next call when it throws", () => {
    const proxy = new Proxy(new Uint8Array(3), {});
    const before = Number(/used_memory:(\d+)/.exec(String(store.call("INFO", "memory")))?.[1]);
    const calls: (() => unknown)[] = [
      () =>
        store.set("k", big, {
          get EX(): number {
            return thrown();
          },
        }),
      () => store.set(big, proxy),
      () => store.call("SET", big, proxy),
      () =>
        store.mset([
          ["k", big],
          ["l", proxy],
        ]),
      () => store.append(big, proxy),
    ];
    for (const call of calls) {
      store.set("a", "old");
      assert.throws(call);
      assert.equal(store.get("a"), "old");
      assert.throws(call);
      assert.equal(store.set("a", "new"), "OK");
      assert.throws(call);
      assert.equal(store.call("GET", "a"), "new");
      assert.throws(call);
      assert.deepEqual(store.keys("*"), ["a"]);
    }
    store.flushall();
    const after = Number(/used_memory:(\d+)/.exec(String(store.call("INFO", "memory")))?.[1]);
    assert.equal(after, before);
  });
});

describe("listen", () => {
  test("refuses what it does not know, and a missing folder by its name", async () => {
    const listen = loose["listen"]?.bind(store) as (options: unknown) => Promise<unknown>;
    await assert.rejects(
      listen(7000),
      /^TypeError: options are a number: .* listen\(\{ port: 7000/,
    );
    await assert.rejects(listen({ prt: 1 }), /^TypeError: unknown option prt; did you mean port/);
    await assert.rejects(listen({ port: "7000" }), /^TypeError: option port is a string: a number/);
    await assert.rejects(listen({ path: 5 }), /^TypeError: option path is a number: a string$/);
    await assert.rejects(listen({ host: null }), /^TypeError: option host is null: a string$/);
    await assert.rejects(listen({ host: "" }), /^TypeError: option host is empty: /);
    const code = "LISTEN";
    const missing = { code, message: "LISTEN /nosuch/s: No such file or directory" };
    await assert.rejects(listen({ path: "/nosuch/s" }), missing);
  });

  test("leaves a file that is no socket where it is", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "zh-"));
    const file = path.join(folder, "precious");
    writeFileSync(file, "");
    await assert.rejects(store.listen({ path: file }), { code: "LISTEN", message: /no socket/ });
    assert.ok(existsSync(file));
    rmSync(folder, { recursive: true });
  });
});

describe("open", () => {
  const given = (options: unknown) => (): Store => open(options as StoreOptions);

  test("refuses what are no options", () => {
    for (const wrong of [null, "redis://", 6379, [], true]) {
      assert.throws(given(wrong), /^TypeError: options are .*: write them as in open\(\{ maxmem/);
    }
  });

  test("never takes a lost or wrong handle for a wish for a new store", () => {
    const { handle } = store;
    assert.throws(given({ handle: undefined }), /OPTION handle: is undefined, not what store\.han/);
    assert.throws(
      given({ handle: store }),
      /OPTION handle: write open\(\{ handle: store\.handle \}\)/,
    );
    assert.throws(given(store), /OPTION handle: write open\(\{ handle: store\.handle \}\)/);
    assert.throws(given(handle), /OPTION handle: write open\(\{ handle: store\.handle \}\)/);
    const copied = { handle: JSON.parse(JSON.stringify(handle)) as unknown };
    assert.throws(given(copied), /by workerData or postMessage to threads of the same process/);
  });

  test("says what to use instead of a server's directive", () => {
    assert.throws(given({ port: 7000 }), /directive port; use store\.listen\(/);
    assert.throws(given({ threads: 2 }), /each thread opens the store with open\(\{ handle/);
    assert.throws(given({ maxmemroy: 1 }), /did you mean maxmemory\?$/);
  });
});

describe("a store", () => {
  test("is short where objects are printed or serialized", () => {
    assert.equal(inspect(store), "Store { isOpen: true }");
    assert.equal(inspect({ at: [store.db(3)] }), "{ at: [ Database { db: 3 } ] }");
    assert.ok(JSON.stringify(store).length < 40);
  });

  test("cannot be posted in place of its handle", () => {
    const message = /a store goes to a thread as store\.handle\) could not be cloned/;
    assert.throws(() => structuredClone(store), { name: "DataCloneError", message });
    assert.throws(() => structuredClone({ handle: store }), { name: "DataCloneError", message });
    assert.throws(() => structuredClone(store.db(1)), { name: "DataCloneError", message });
  });

  test("has no views once it is closed", async () => {
    const other = open({ handle: store.handle });
    await other.close();
    assert.throws(() => other.db(1), { code: "CLOSED" });
    assert.equal(inspect(other), "Store { isOpen: false }");
  });
});

/** Every option has a type; the compiler holds this list equal to the type. */
const TYPED: Record<keyof StoreOptions, true> = {
  activeDefragCycleMax: true,
  activeDefragCycleMin: true,
  activeDefragIgnoreBytes: true,
  activeDefragMaxScanFields: true,
  activeDefragThresholdLower: true,
  activeDefragThresholdUpper: true,
  activeExpireEffort: true,
  activedefrag: true,
  activerehashing: true,
  clientOutputBufferLimit: true,
  clientQueryBufferLimit: true,
  databases: true,
  dynamicHz: true,
  enableDebugCommand: true,
  enableProtectedConfigs: true,
  hashMaxListpackEntries: true,
  hashMaxListpackValue: true,
  hllSparseMaxBytes: true,
  hz: true,
  ioThreads: true,
  ioThreadsDoReads: true,
  jemallocBgThread: true,
  latencyMonitorThreshold: true,
  latencyTracking: true,
  latencyTrackingInfoPercentiles: true,
  lazyfreeLazyEviction: true,
  lazyfreeLazyExpire: true,
  lazyfreeLazyServerDel: true,
  lazyfreeLazyUserDel: true,
  lazyfreeLazyUserFlush: true,
  lfuDecayTime: true,
  lfuLogFactor: true,
  listCompressDepth: true,
  listMaxListpackSize: true,
  maxclients: true,
  maxmemory: true,
  maxmemoryEvictionTenacity: true,
  maxmemoryPolicy: true,
  maxmemorySamples: true,
  memoryChunk: true,
  notifyKeyspaceEvents: true,
  protectedMode: true,
  protoMaxBulkLen: true,
  setMaxIntsetEntries: true,
  setMaxListpackEntries: true,
  setMaxListpackValue: true,
  shards: true,
  streamNodeMaxBytes: true,
  streamNodeMaxEntries: true,
  tcpBacklog: true,
  tcpKeepalive: true,
  timeout: true,
  trackingTableMaxKeys: true,
  unixsocketperm: true,
  zsetMaxListpackEntries: true,
  zsetMaxListpackValue: true,
};

test("every option that is taken has a type", () => {
  assert.deepEqual(Object.keys(TYPED).sort(), optionNames().sort());
});

/** As above. */
const POLICIES: Record<EvictionPolicy, true> = {
  "allkeys-lfu": true,
  "allkeys-lru": true,
  "allkeys-random": true,
  noeviction: true,
  "volatile-lfu": true,
  "volatile-lru": true,
  "volatile-random": true,
  "volatile-ttl": true,
};

test("the type of maxmemoryPolicy has the words of the directive", () => {
  const wrong = { maxmemoryPolicy: "lru" as EvictionPolicy };
  assert.throws(
    () => open(wrong),
    ({ message }: Error) => {
      const [, words = ""] = /one of the following: (.*)$/.exec(message) ?? [];
      assert.deepEqual(words.split(", ").sort(), Object.keys(POLICIES).sort());
      return true;
    },
  );
});
