/** Four workers and the main thread on one store, each checking what it sees of the others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { open } from "../../src/index.ts";
import { isLong } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { begin, Checker, COUNTERS } from "./calls.ts";
import { newWords, resultOf, startWorker, wordReaches } from "./support.ts";

const WORKERS = 4;
const CALLS = isLong ? 200_000 : 8000;
/** Calls of the main thread between two looks at its events. */
const BURST = 200;

async function run(seed: number): Promise<void> {
  const store = open({ memoryChunk: "16mb", shards: 16, enableDebugCommand: "yes" });
  begin(store);
  const words = newWords(2);
  const { handle } = store;
  const workers = Array.from({ length: WORKERS }, (_, i) =>
    startWorker({ name: "check", handle, seed: seed + i + 1, count: CALLS, words }),
  );
  const results = Promise.all(workers.map(resultOf));
  results.catch(() => undefined);
  await wordReaches(words, 0, WORKERS);
  Atomics.store(words, 1, 1);
  Atomics.notify(words, 1);
  const own = new Checker(store, new Random(seed), "main");
  for (let done = 0; done < CALLS; done += BURST) {
    own.run(BURST);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const counted = [own.counted, ...((await results) as number[][])];
  for (let i = 0; i < COUNTERS; i++) {
    const sum = counted.reduce((total, counts) => total + (counts[i] as number), 0);
    assert.equal(store.get(`count:${i}`), String(sum), `counter ${i}`);
  }
  assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
  await store.close();
}

describe("a checker on five threads", () => {
  for (const checked of [false, true]) {
    test(`finds nothing wrong${checked ? ", in checked mode" : ""}`, async () => {
      const seed = testSeed(71);
      const before = process.env["ZEROHOP_CHECK"];
      if (checked) process.env["ZEROHOP_CHECK"] = "1";
      try {
        await run(seed);
      } catch (error) {
        throw new Error(seedText(seed), { cause: error });
      } finally {
        if (before === undefined) delete process.env["ZEROHOP_CHECK"];
        else process.env["ZEROHOP_CHECK"] = before;
      }
    });
  }
});
