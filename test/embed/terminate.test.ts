/**
 * Workers that are terminated, in the middle of calls and between them: the others go on, or every
 * later call says that the store is broken. Nothing hangs, and nothing is half done unnoticed.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { open, type Store, StoreBroken, type StoreError } from "../../src/index.ts";
import { isLong } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { newWords, resultOf, startWorker, wordReaches } from "./support.ts";

const ROUNDS = isLong ? 300 : 25;
/** A call that waits for a dead thread ends within this, however busy the machine is. */
const CALL_LIMIT_MS = 60_000;

function newStore(): Store {
  return open({ memoryChunk: "16mb", shards: 4, enableDebugCommand: "yes" });
}

/** Calls of all kinds in this thread. True if the store is sound, false if it is broken. */
function use(store: Store): boolean {
  try {
    for (let i = 0; i < 300; i++) {
      store.set(`key:${i % 200}`, "main");
      store.incr("main");
      assert.equal(store.set("own", "x".repeat(i)), "OK");
      const own = store.get("own");
      // The other worker may have flushed everything.
      assert.ok(own === null || own === "x".repeat(i));
      if (i % 50 === 0) store.mset({ a: String(i), b: String(i) });
    }
    assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
    return true;
  } catch (error) {
    if (!(error instanceof StoreBroken)) throw error;
    assert.throws(() => store.get("own"), { code: "BROKEN", name: "StoreBroken" });
    assert.throws(() => store.call("PING"), { code: "BROKEN" });
    return false;
  }
}

test(`workers are terminated at any moment, ${ROUNDS} times`, async (t) => {
  const seed = testSeed(9);
  const random = new Random(seed);
  let broken = 0;
  let store = newStore();
  for (let round = 0; round < ROUNDS; round++) {
    const words = newWords(2);
    const { handle } = store;
    const workers = [0, 1].map((i) =>
      startWorker({ name: "hammer", handle, seed: seed + 2 * round + i, words }),
    );
    // What becomes of the other worker in a broken store: its next call throws.
    const errors: unknown[] = [];
    for (const worker of workers) worker.on("error", (error) => errors.push(error));
    let isSound: boolean;
    try {
      await wordReaches(words, 0, random.below(300));
      const isSynchronous = random.chance(0.5);
      const ended = workers[0]?.terminate();
      const began = Date.now();
      if (!isSynchronous) await ended;
      isSound = use(store);
      const ms = Date.now() - began;
      assert.ok(ms < CALL_LIMIT_MS, `${ms} ms; ${seedText(seed)}`);
    } finally {
      await Promise.all(workers.map((worker) => worker.terminate()));
    }
    for (const error of errors) {
      assert.equal((error as StoreError).code, "BROKEN", `${error}; ${seedText(seed)}`);
      assert.throws(() => store.get("own"), { code: "BROKEN" });
    }
    if (!isSound || !use(store)) {
      broken++;
      await store.close();
      store = newStore();
    }
  }
  await store.close();
  t.diagnostic(`${broken} of ${ROUNDS} rounds broke the store`);
});

describe("a thread that ends with locks", () => {
  test("breaks the store for every handle, here and in other workers", async () => {
    const store = newStore();
    const second = open({ handle: store.handle });
    const words = newWords(2);
    const other = startWorker({ name: "until-error", handle: store.handle, words });
    const result = resultOf(other);
    await wordReaches(words, 0, 1);
    const holding = newWords(2);
    const holder = startWorker({
      name: "hold-locks",
      handle: store.handle,
      words: holding,
      count: 4,
    });
    await wordReaches(holding, 0, 1);
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
    await holder.terminate();
    const began = Date.now();
    assert.throws(() => store.get("k"), { name: "StoreBroken", code: "BROKEN" });
    assert.throws(
      () => second.set("k", "v"),
      /^StoreBroken: BROKEN A thread was terminated in the/,
    );
    assert.deepEqual(await result, { name: "StoreBroken", code: "BROKEN" });
    assert.ok(Date.now() - began < CALL_LIMIT_MS);
    assert.throws(() => open({ handle: store.handle }), { code: "BROKEN" });
    assert.throws(() => store.handle, { code: "BROKEN" });
    await assert.rejects(store.listen(), { code: "BROKEN" });
    await Promise.all([store.close(), second.close()]);
  });

  test("is noticed by a thread that waits and never looks at its events", async () => {
    const store = newStore();
    const holding = newWords(2);
    const holder = startWorker({
      name: "hold-locks",
      handle: store.handle,
      words: holding,
      count: 4,
    });
    await wordReaches(holding, 0, 1);
    const words = newWords(2);
    const other = startWorker({ name: "until-error", handle: store.handle, words });
    const result = resultOf(other);
    await wordReaches(words, 0, 1);
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
    await holder.terminate();
    assert.deepEqual(await result, { name: "StoreBroken", code: "BROKEN" });
    await store.close();
  });
});

describe("a thread that ends between calls", () => {
  test("gives its row back, and what it set stays", async () => {
    const store = newStore();
    // Of 64 that there are.
    for (let i = 0; i < 5; i++) {
      const words = newWords(2);
      const worker = startWorker({ name: "idle", handle: store.handle, words, count: 20 });
      await wordReaches(words, 0, 1);
      await worker.terminate();
    }
    assert.equal(store.get("idle"), "here");
    await until("its client is gone", () => {
      return String(store.call("CLIENT", "LIST")).trim().split("\n").length === 1;
    });
    assert.equal(use(store), true);
    await store.close();
  });

  test("while it opens and closes handles", async () => {
    let store = newStore();
    for (let round = 0; round < 10; round++) {
      const words = newWords(2);
      const worker = startWorker({ name: "open-and-close", handle: store.handle, words });
      await wordReaches(words, 0, 3 + round);
      await worker.terminate();
      if (use(store)) continue;
      await store.close();
      store = newStore();
    }
    await store.close();
  });

  test("and had the lease: another handle keeps house", async () => {
    const store = newStore();
    const words = newWords(2);
    const worker = startWorker({ name: "idle", handle: store.handle, words });
    await wordReaches(words, 0, 1);
    await worker.terminate();
    store.set("gone", "v", { PX: 1 });
    await until("it expires though nobody asks for it", () => store.dbsize() === 1);
    await store.close();
  });
});
