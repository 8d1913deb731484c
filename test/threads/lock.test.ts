/**
 * The lock between real threads that take it again and again, with more of them than cores: no
 * update is lost, everybody gets it as often as it wants, and once a thread starves nobody gets it
 * before who does not. All of it is counted, so that the speed of the machine does not matter; what
 * sharing costs is counted in sim/step/lock.test.ts, and measured by the bench.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { isLong } from "../support/environment.ts";
import { COUNT, type LockEnd, type LockTask, WORDS } from "./lock-worker.ts";

const MORE = isLong ? 10 : 1;
/** One that was let in just before, and one whose predecessor did not see that another starves. */
const OVERTAKEN_MAX = 2;

async function runThreads(threads: number, times: number, holdUs: number): Promise<LockEnd> {
  const shared = (words: number): Int32Array => new Int32Array(new SharedArrayBuffer(words * 4));
  const words = shared(WORDS);
  const sections = shared(threads * times);
  const ends = await Promise.all(
    Array.from({ length: threads }, async (_, thread) => {
      const workerData: LockTask = { words, sections, thread, threads, times, holdUs };
      const worker = new Worker(new URL("./lock-worker.js", import.meta.url), { workerData });
      const [end] = (await once(worker, "message")) as [LockEnd];
      return end;
    }),
  );
  assert.equal(words[COUNT], threads * times, "updates are lost");
  const counts = new Array<number>(threads).fill(0);
  for (const entry of sections) counts[entry >> 1] = (counts[entry >> 1] as number) + 1;
  assert.deepEqual(counts, new Array<number>(threads).fill(times));
  return {
    starved: ends.reduce((sum, end) => sum + end.starved, 0),
    overtaken: Math.max(...ends.map((end) => end.overtaken)),
  };
}

test("threads that take the lock again at once let in those who starve", async () => {
  const { starved, overtaken } = await runThreads(3, 500 * MORE, 250);
  assert.ok(starved > 0, "nobody starved");
  assert.ok(overtaken <= OVERTAKEN_MAX, `one that starved was overtaken ${overtaken} times`);
});

test("twice as many threads as cores share a lock that is held shortly", async () => {
  const threads = Math.min(8, 2 * availableParallelism());
  const { overtaken } = await runThreads(threads, 50_000 * MORE, 0);
  assert.ok(overtaken <= OVERTAKEN_MAX, `one that starved was overtaken ${overtaken} times`);
});
