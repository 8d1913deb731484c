/**
 * Eight threads of the server over one store without sockets: the same overlapping commands as in
 * threads.test.ts, with random spins inside critical sections, so that locks are met, waited for
 * and parked behind all the time. The canary takes locks without looking, and must be found out.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { serverCommands } from "../../src/commands.ts";
import { makeSharedState } from "../../src/server/shared-state.ts";
import { isLong } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { COUNTERS } from "./calls.ts";
import { ANOTHER_FAILED, FAILED, STAGE_WORDS, type WorkerEnd, type WorkerStart } from "./worker.ts";

const THREADS = 8;

type Plan = { seed: number; calls: number; isBroken: boolean; checked: boolean };

/** A thread that hangs is ended; the broken ones may. */
const THREAD_TIMEOUT_MS = isLong ? 600_000 : 240_000;
const BROKEN_TIMEOUT_MS = 60_000;

async function runThread(start: WorkerStart): Promise<WorkerEnd> {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { workerData: start });
  const end = (): void => {
    Atomics.add(start.stages, FAILED, 1);
    void worker.terminate();
  };
  const timer = setTimeout(end, start.isBroken ? BROKEN_TIMEOUT_MS : THREAD_TIMEOUT_MS);
  try {
    const [end] = await Promise.race([
      once(worker, "message"),
      once(worker, "exit").then((code) => {
        throw new Error(`the thread ended with ${code}`);
      }),
    ]);
    return end as WorkerEnd;
  } finally {
    clearTimeout(timer);
  }
}

async function runThreads(plan: Plan): Promise<WorkerEnd[]> {
  const shared = makeSharedState({
    threads: THREADS,
    shards: 64,
    commands: serverCommands().list.length,
    clientRows: 64,
    owners: 0,
    chunkBytes: 1 << 24,
    memoryLimit: 0,
    unixMs: 1_700_000_000_000,
    random: new Random(plan.seed),
    checked: plan.checked,
  });
  const stages = new Int32Array(new SharedArrayBuffer(STAGE_WORDS * 4));
  const channel = `workers-test-${process.pid}-${plan.seed}-${plan.checked}`;
  const starts = Array.from({ length: THREADS }, (_, thread) => ({
    ...{ shared, stages, channel, thread },
    ...{ seed: plan.seed, calls: plan.calls, isBroken: plan.isBroken },
  }));
  const ends = await Promise.allSettled(starts.map(runThread));
  const failures = ends.filter((end) => end.status === "rejected").map(({ reason }) => reason);
  const first = failures.find(({ message }) => message !== ANOTHER_FAILED) ?? failures[0];
  if (first !== undefined) throw first;
  return ends.map((end) => (end as PromiseFulfilledResult<WorkerEnd>).value);
}

function check(ends: readonly WorkerEnd[]): void {
  const last = ends.find(({ counters }) => counters.length > 0) as WorkerEnd;
  for (let i = 0; i < COUNTERS; i++) {
    const all = ends.flatMap(({ counted }) => counted[i] as number[]);
    assert.equal(new Set(all).size, all.length, `two threads were told the same of counter ${i}`);
    assert.equal(Number(last.counters[i]), all.length, `counter ${i}`);
  }
  assert.deepEqual(last.findings, []);
}

for (const checked of [false, true]) {
  test(`eight threads see nothing half done, the heap ${checked ? "checked" : "as it is"}`, async () => {
    const seed = testSeed(checked ? 71 : 72);
    try {
      const calls = isLong ? 100_000 : checked ? 2500 : 4000;
      const ends = await runThreads({ seed, calls, isBroken: false, checked });
      check(ends);
      const sum = (of: (end: WorkerEnd) => number): number =>
        ends.reduce((all, end) => all + of(end), 0);
      assert.ok(sum(({ parked }) => parked) > 0, "no session was ever parked");
      assert.equal(
        sum(({ missed }) => missed),
        0,
        "a parked session was not rung",
      );
    } catch (error) {
      console.error(seedText(seed));
      throw error;
    }
  });
}

test("canary: threads that take locks without looking lose updates", async () => {
  await assert.rejects(async () => {
    for (let seed = 1; seed <= 5; seed++) {
      check(await runThreads({ seed, calls: 20_000, isBroken: true, checked: false }));
    }
  });
});
