/**
 * Strings of megabytes in an embedded store, which are copied while no lock is held: several
 * threads append to the same ones, and a thread that is terminated in the middle of a copy leaves
 * nothing.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { open, type Store, StoreBroken } from "../../src/index.ts";
import { isLong } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { BASE, BASE_BYTES, checkPieces, PIECE_BYTES, piece } from "../support/pieces.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { APPENDED, newWords, resultOf, startWorker, wordReaches } from "./support.ts";

const MB = 2 ** 20;
const WORKERS = 3;
const PIECES = isLong ? 1000 : 100;
const ROUNDS = isLong ? 200 : 15;
const LONG_BYTES = 8 * MB;
/** Of what is left when all keys are gone. */
const REST_BYTES = 100_000;

function used(store: Store): number {
  return Number(/^used_memory:(\d+)/m.exec(String(store.call("INFO", "memory")))?.[1]);
}

test("threads append to the same strings at once, and no byte is lost", async () => {
  const seed = testSeed(21);
  const store = open({ memoryChunk: "64mb", shards: 4, enableDebugCommand: "yes" });
  for (const key of APPENDED) store.set(key, BASE);
  const words = newWords(2);
  const { handle } = store;
  const workers = Array.from({ length: WORKERS }, (_, i) =>
    startWorker({ name: "append-pieces", handle, seed: seed + i, count: PIECES, words }),
  );
  const results = workers.map(resultOf);
  await wordReaches(words, 0, WORKERS);
  Atomics.store(words, 1, 1);
  Atomics.notify(words, 1);
  const lengths = new Set<number>();
  const [key = ""] = APPENDED;
  for (let n = 0; n < PIECES; n++) lengths.add(store.append(key, piece(key, 0, n)));
  assert.deepEqual(await Promise.all(results), new Array(WORKERS).fill("appended"));
  assert.equal(lengths.size, PIECES);
  for (const each of APPENDED) {
    const value = store.get(each) ?? "";
    const found = checkPieces(value, each);
    const writers = each === key ? WORKERS + 1 : WORKERS;
    assert.equal(value.length, BASE_BYTES + writers * PIECES * PIECE_BYTES, seedText(seed));
    assert.deepEqual(
      [...found.values()].map(({ count }) => count),
      new Array(writers).fill(PIECES),
    );
    for (let i = 0; i < WORKERS; i++) {
      checkPieces(store.get(`{${each}}copy:${seed + i}`) ?? "", each);
    }
  }
  assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
  store.flushall();
  assert.ok(used(store) < REST_BYTES, `${used(store)} bytes`);
  await store.close();
});

/** Returns how often it broke the store. */
async function terminate(task: string, rounds: number): Promise<number> {
  const seed = testSeed(22);
  const random = new Random(seed);
  let broken = 0;
  for (let round = 0; round < rounds; round++) {
    const store = open({ memoryChunk: "64mb", shards: 4, enableDebugCommand: "yes" });
    store.set("long", Buffer.alloc(LONG_BYTES, "long"));
    const words = newWords(2);
    const worker = startWorker({ name: task, handle: store.handle, words });
    await wordReaches(words, 0, 1 + random.below(4));
    await worker.terminate();
    try {
      assert.equal(store.append("long", "!"), LONG_BYTES + 1);
      store.call("DEL", "long", "copy");
      await until(`it is given back; ${seedText(seed)}`, () => used(store) < REST_BYTES);
      assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
    } catch (error) {
      // It was terminated in the moment that it held the lock.
      if (!(error instanceof StoreBroken)) throw error;
      broken++;
    }
    await store.close();
  }
  return broken;
}

for (const task of ["copy-for-ever", "read-for-ever"]) {
  test(`${task} is terminated ${ROUNDS} times, and nothing stays pinned`, async (t) => {
    const broken = await terminate(task, ROUNDS);
    t.diagnostic(`${broken} of ${ROUNDS} rounds broke the store`);
    assert.ok(broken < ROUNDS / 2, "most of the time it copies, and holds no lock");
  });
}
