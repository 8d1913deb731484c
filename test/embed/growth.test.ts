/** Chunks that one thread makes reach all others, those that come late and from afar as well. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { open, type Store } from "../../src/index.ts";
import { until } from "../support/owners.ts";
import { newWords, resultOf, runWorker, startWorker, wordReaches } from "./support.ts";

const WORKERS = 4;
/** Some 20 MB from each worker, so 20 chunks of 4 MiB. */
const KEYS = 8000;

function chunks(store: Store): number {
  const reserved = /arena_bytes_reserved:(\d+)/.exec(String(store.call("INFO", "threads")))?.[1];
  return Math.round(Number(reserved) / (4 * 1024 * 1024));
}

async function fillFrom(store: Store): Promise<void> {
  const words = newWords(2);
  const { handle } = store;
  const workers = Array.from({ length: WORKERS }, (_, seed) =>
    startWorker({ name: "fill", handle, seed, count: KEYS, words }),
  );
  const results = Promise.all(workers.map(resultOf));
  results.catch(() => undefined);
  await wordReaches(words, 0, WORKERS);
  Atomics.store(words, 1, 1);
  Atomics.notify(words, 1);
  assert.deepEqual(await results, new Array(WORKERS).fill("filled"));
}

describe("chunks", () => {
  test("that workers make are read by the main thread and by late ones", async () => {
    const store = open({ memoryChunk: "4mb", shards: 16, enableDebugCommand: "yes" });
    const early = store.handle;
    await fillFrom(store);
    assert.ok(chunks(store) >= 4, `${chunks(store)} chunks`);
    assert.equal(store.dbsize(), WORKERS * KEYS);
    for (let i = 0; i < KEYS; i += 97) {
      assert.equal(store.get(`3:${i}`), `3:${i}:`.padEnd(500, "x"));
    }
    // A handle from before: it lacks all chunks but the first, and asks.
    const task = { handle: early, seed: WORKERS, count: KEYS };
    assert.equal(await runWorker({ name: "verify", ...task }), "verified");
    assert.equal(await runWorker({ name: "nest", ...task }), "verified");
    assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
    await store.close();
  });

  test("that nobody can tell of are an error after a while", async (t) => {
    const store = open({ memoryChunk: "4mb", shards: 4 });
    const early = store.handle;
    for (let i = 0; i < 10_000; i++) store.set(`key:${i}`, "x".repeat(500));
    // This thread knows itself.
    const other = open({ handle: early });
    assert.equal(other.get("key:9999")?.length, 500);
    const words = newWords(2);
    const worker = startWorker({ name: "idle", handle: store.handle, words });
    await wordReaches(words, 0, 1);
    await Promise.all([store.close(), other.close()]);
    // The only thread that knows is waiting for something else.
    const began = Date.now();
    assert.throws(() => open({ handle: early }), {
      code: "TIMEOUT",
      message: /^TIMEOUT No thread that has the store open has answered for 5000 ms/,
    });
    t.diagnostic(`after ${Date.now() - began} ms`);
    await worker.terminate();
  });

  test("are given up when they are empty, and made again", async () => {
    const store = open({ memoryChunk: "4mb", shards: 16, enableDebugCommand: "yes" });
    for (let round = 0; round < 2; round++) {
      await fillFrom(store);
      // Each has a chunk of 64 MiB, of which one is kept for what comes.
      for (let i = 0; i < 3; i++) store.set(`huge:${i}`, "x".repeat(60 * 1024 * 1024));
      const most = chunks(store);
      store.flushall();
      await until("chunks are given up", () => chunks(store) < most / 2);
      assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
    }
    await store.close();
  });
});
