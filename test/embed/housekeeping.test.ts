/** Expiring and freeing is the work of one handle at a time; any other one can take it over. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { WholeHandle } from "../../src/embed/handle.ts";
import { open, type Store } from "../../src/index.ts";
import { H_LEASE } from "../../src/memory/layout.ts";
import { until } from "../support/owners.ts";
import { newWords, startWorker, wordReaches } from "./support.ts";

/** Longest that a blocked thread waits for what another one has to do. */
const LIMIT_MS = 60_000;

/** The row that keeps house, -1 for none. */
function keeper(store: Store): number {
  const { shared } = store.handle as WholeHandle;
  return Atomics.load(new Int32Array(shared.control), H_LEASE) - 1;
}

test("the first handle keeps house, and removes what nobody asks for", async () => {
  const store = open({ memoryChunk: "16mb" });
  const other = open({ handle: store.handle });
  for (let i = 0; i < 3000; i++) store.set(`key:${i}`, "v", { PX: 1 + (i % 50) });
  await until("all have expired", () => store.dbsize() === 0);
  const row = keeper(store);
  assert.ok(row === 0 || row === 1);
  store.mset(Array.from({ length: 3000 }, (_, i) => [`key:${i}`, "v"] as const));
  store.flushall();
  await until("what was flushed is freed", () =>
    /lazyfree_pending_objects:0\b/.test(String(store.call("INFO", "memory"))),
  );
  assert.equal(keeper(store), row, "nobody else took it over");
  await Promise.all([store.close(), other.close()]);
});

test("a worker takes over from a thread that never comes to its event loop", async () => {
  const store = open({ memoryChunk: "16mb" });
  await until("this thread keeps house", () => keeper(store) === 0);
  const words = newWords(2);
  const worker = startWorker({ name: "watch-size", handle: store.handle, words });
  await wordReaches(words, 0, 1);
  for (let i = 0; i < 100; i++) store.set(`key:${i}`, "v", { PX: 1 });
  // Only the worker's event loop runs now.
  assert.equal(Atomics.wait(words, 1, 0, LIMIT_MS), "ok");
  assert.equal(keeper(store), 1);
  await once(worker, "exit");
  await store.close();
});

test("the lease is free once its holder is closed", async () => {
  const store = open({ memoryChunk: "16mb" });
  const other = open({ handle: store.handle });
  await until("one of them keeps house", () => keeper(store) >= 0);
  const [holder, left] = keeper(store) === 0 ? [store, other] : [other, store];
  await holder.close();
  left.set("k", "v", { PX: 1 });
  await until("the other one does", () => left.dbsize() === 0);
  await left.close();
});
