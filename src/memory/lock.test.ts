/**
 * The lock: its states on one thread, where the fake way of waiting plays the other threads, and
 * that four real threads exclude each other. The canary shows that the threads would notice.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { seedText, testSeed } from "../../test/support/random.ts";
import { LOCK_LINE_WORDS, LOCK_OWNER, LOCK_PARKED, LOCK_STARVING, LOCK_WORD } from "./layout.ts";
import {
  acquire,
  acquireAlone,
  FREE,
  forgetStarving,
  GRANTED,
  HELD,
  HELD_SLEEPERS,
  type LockCounters,
  NOT_STARVING,
  park,
  release,
  releaseAlone,
  STARVING,
  STARVING_CHANGES,
  tryAcquire,
  type Waiting,
} from "./lock.ts";
import {
  COUNTERS_AT,
  INTRUSIONS_AT,
  LOCKS,
  PARKS_AT,
  RUNG_AT,
  THREADS,
  WORDS,
  type WorkerTask,
} from "./lock-test-worker.ts";

/** The line under test is not the first, so that a forgotten `line +` shows. */
const LINE = LOCK_LINE_WORDS;

function newWords(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(3 * LOCK_LINE_WORDS * 4));
}

function newCounters(): LockCounters {
  return { acquisitions: 0, contended: 0, waitMs: 0 };
}

function state(words: Int32Array): { word: number; owner: number; starving: number } {
  return {
    word: words[LINE + LOCK_WORD] as number,
    owner: words[LINE + LOCK_OWNER] as number,
    starving: words[LINE + LOCK_STARVING] as number,
  };
}

type Sleep = { value: number; timeoutMs: number };

/** Waiting whose clock moves only in `sleeping`, which stands for what the others do meanwhile. */
class FakeWaiting implements Waiting {
  nowMs = 0;
  readonly sleeps: Sleep[] = [];
  readonly #sleeping: (sleep: Sleep, count: number) => void;

  constructor(sleeping: (sleep: Sleep, count: number) => void) {
    this.#sleeping = sleeping;
  }

  wait(words: Int32Array, index: number, value: number, timeoutMs: number): void {
    assert.equal(index, LINE + LOCK_WORD);
    assert.equal(words[index], value, "a sleep on a value that is not there");
    assert.ok(this.sleeps.length < 100, "a waiter goes round for ever");
    const sleep = { value, timeoutMs };
    this.sleeps.push(sleep);
    this.#sleeping(sleep, this.sleeps.length);
  }

  now(): number {
    return this.nowMs;
  }
}

const neverWaits: FakeWaiting = new FakeWaiting(() => assert.fail("slept on a free lock"));

test("a free lock is taken at once and names its owner; a held one is not taken", () => {
  const words = newWords();
  const counters = newCounters();
  assert.ok(tryAcquire(words, LINE, 5));
  assert.deepEqual(state(words), { word: HELD, owner: 6, starving: 0 });
  assert.ok(!tryAcquire(words, LINE, 2));
  assert.deepEqual(state(words), { word: HELD, owner: 6, starving: 0 });
  assert.equal(release(words, LINE), 0);
  assert.deepEqual(state(words), { word: FREE, owner: 0, starving: 0 });
  assert.ok(acquire(words, LINE, 2, neverWaits, 10, counters));
  assert.deepEqual(state(words), { word: HELD, owner: 3, starving: 0 });
  assert.equal(release(words, LINE), 0);
  assert.equal(counters.contended, 0);
  assert.ok(words.every((word) => word === 0));
});

test("a lock of one thread is marked and unmarked", () => {
  const words = newWords();
  acquireAlone(words, LINE);
  assert.deepEqual(state(words), { word: HELD, owner: 1, starving: 0 });
  assert.ok(!tryAcquire(words, LINE, 1));
  releaseAlone(words, LINE);
  assert.ok(words.every((word) => word === 0));
});

test("a waiter marks the lock as slept on and takes it once it is free", () => {
  const words = newWords();
  const counters = newCounters();
  assert.ok(tryAcquire(words, LINE, 0));
  const waiting = new FakeWaiting((sleep) => {
    assert.equal(sleep.value, HELD_SLEEPERS);
    waiting.nowMs += 0.125;
    assert.equal(release(words, LINE), 0);
    assert.equal(words[LINE + LOCK_WORD], FREE);
  });
  assert.ok(acquire(words, LINE, 1, waiting, 10, counters));
  // Others may sleep still, so that the next release must wake one.
  assert.deepEqual(state(words), { word: HELD_SLEEPERS, owner: 2, starving: 0 });
  assert.equal(waiting.sleeps.length, 1);
  assert.deepEqual(counters, { acquisitions: 0, contended: 1, waitMs: 0.125 });
});

test("patience that has passed returns false and leaves the holder alone", () => {
  const words = newWords();
  const counters = newCounters();
  assert.ok(tryAcquire(words, LINE, 0));
  const starvingAt: number[] = [];
  const waiting = new FakeWaiting((sleep) => {
    starvingAt.push(words[LINE + LOCK_STARVING] as number);
    waiting.nowMs += sleep.timeoutMs;
  });
  assert.ok(!acquire(words, LINE, 1, waiting, 10, counters));
  assert.deepEqual(state(words), { word: HELD_SLEEPERS, owner: 1, starving: 0 });
  assert.deepEqual(starvingAt, [0, 1], "starves after the first sleep");
  assert.ok((waiting.sleeps[0] as Sleep).timeoutMs < 1);
  assert.ok(waiting.nowMs >= 10 && waiting.nowMs < 10.1, "the sleeps add up to the patience");
  assert.ok(counters.waitMs >= 10 && counters.waitMs < 10.1);
  assert.equal(release(words, LINE), 0);
  assert.deepEqual(state(words), { word: FREE, owner: 0, starving: 0 });
});

test("without patience a held lock is not waited for", () => {
  const words = newWords();
  assert.ok(tryAcquire(words, LINE, 0));
  assert.ok(!acquire(words, LINE, 1, neverWaits, 0, newCounters()));
  assert.equal(words[LINE + LOCK_STARVING], 0);
});

test("a release grants to the thread that starves, and only that thread takes the grant", () => {
  const words = newWords();
  assert.ok(tryAcquire(words, LINE, 0));
  const waiting = new FakeWaiting((sleep, count) => {
    waiting.nowMs += sleep.timeoutMs / 2 + 0.2;
    if (count < 3) return;
    assert.equal(words[LINE + LOCK_STARVING], 1);
    assert.equal(release(words, LINE), 0);
    assert.deepEqual(state(words), { word: GRANTED, owner: 0, starving: 1 });
    assert.ok(!tryAcquire(words, LINE, 2), "a thread that does not starve took the grant");
    const other = new FakeWaiting((inner) => {
      assert.equal(inner.value, GRANTED);
      other.nowMs += 0.2;
    });
    assert.ok(!acquire(words, LINE, 2, other, 0.25, newCounters()));
    assert.equal(words[LINE + LOCK_WORD], GRANTED);
  });
  assert.ok(acquire(words, LINE, 1, waiting, 100, newCounters()));
  assert.equal(waiting.sleeps.length, 3);
  assert.deepEqual(state(words), { word: HELD_SLEEPERS, owner: 2, starving: 0 });
  assert.equal(release(words, LINE), 0);
  assert.deepEqual(state(words), { word: FREE, owner: 0, starving: 0 });
});

/**
 * A waiter that leaves: the lock is granted after its last look at the word, when it reads the
 * clock and finds its patience at an end. `others` more threads starve beside it.
 */
function leaveAGrant(others: number): { word: number; owner: number; starving: number } {
  const words = newWords();
  assert.ok(tryAcquire(words, LINE, 0));
  let granted = false;
  const fake = new FakeWaiting((sleep) => {
    fake.nowMs += sleep.timeoutMs;
  });
  const waiting: Waiting = {
    wait: (...at) => fake.wait(...at),
    now: () => {
      if (fake.nowMs >= 10 && !granted) {
        granted = true;
        Atomics.add(words, LINE + LOCK_STARVING, others);
        release(words, LINE);
        assert.equal(words[LINE + LOCK_WORD], GRANTED);
      }
      return fake.nowMs;
    },
  };
  assert.ok(!acquire(words, LINE, 1, waiting, 10, newCounters()));
  assert.ok(granted);
  return state(words);
}

test("a grant is taken back when the waiter leaves, unless another starves", () => {
  assert.deepEqual(leaveAGrant(0), { word: FREE, owner: 0, starving: 0 });
  assert.deepEqual(leaveAGrant(2), { word: GRANTED, owner: 0, starving: 2 });
});

test("the mask of parked threads is returned by one release and by no other", () => {
  for (const starving of [0, 1]) {
    const words = newWords();
    assert.ok(tryAcquire(words, LINE, 0));
    words[LINE + LOCK_STARVING] = starving;
    for (const thread of [0, 3, 3, 31, 36]) park(words, LINE, thread);
    const mask = (1 << 0) | (1 << 3) | (1 << 31) | (1 << 4);
    assert.equal(words[LINE + LOCK_PARKED], mask);
    assert.equal(release(words, LINE), mask);
    assert.equal(words[LINE + LOCK_PARKED], 0);
    words[LINE + LOCK_STARVING] = 0;
    words[LINE + LOCK_WORD] = HELD;
    assert.equal(release(words, LINE), 0);
  }
});

async function runThreads(
  task: Pick<WorkerTask, "seed" | "increments" | "spinMax" | "broken">,
): Promise<Int32Array> {
  const words = new Int32Array(new SharedArrayBuffer(WORDS * 4));
  const ends = Array.from({ length: THREADS }, async (_, thread) => {
    const workerData: WorkerTask = { ...task, words, thread, seed: task.seed + thread };
    const worker = new Worker(new URL("./lock-test-worker.js", import.meta.url), { workerData });
    const [code] = await once(worker, "exit");
    assert.equal(code, 0);
  });
  await Promise.all(ends);
  return words;
}

function countersOf(words: Int32Array): number[] {
  return Array.from(
    { length: LOCKS },
    (_, lock) => words[COUNTERS_AT + lock * LOCK_LINE_WORDS] as number,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, n) => total + n, 0);
}

const INCREMENTS = 20_000;

test("four threads on two locks lose no update and no parked thread", async () => {
  const seed = testSeed(11);
  try {
    for (const spinMax of [8, 400]) {
      const words = await runThreads({ seed, increments: INCREMENTS, spinMax, broken: false });
      assert.equal(sum(countersOf(words)), THREADS * INCREMENTS);
      assert.equal(words[INTRUSIONS_AT], 0);
      let parks = 0;
      for (let lock = 0; lock < LOCKS; lock++) {
        const line = lock * LOCK_LINE_WORDS;
        assert.equal(words[line + LOCK_WORD], FREE);
        assert.equal(words[line + LOCK_STARVING], 0);
        assert.ok(tryAcquire(words, line, 0));
        const mask = release(words, line);
        for (let thread = 0; thread < THREADS; thread++) {
          const at = lock * THREADS + thread;
          const rung = (words[RUNG_AT + at] as number) + ((mask >>> thread) & 1);
          assert.equal(rung, words[PARKS_AT + at], `lock ${lock}, thread ${thread}`);
          parks += rung;
        }
      }
      assert.ok(parks > LOCKS * THREADS);
    }
  } catch (e) {
    console.error(seedText(seed));
    throw e;
  }
});

test("canary: threads that do not compare and swap lose updates", async () => {
  const words = await runThreads({ seed: 1, increments: INCREMENTS, spinMax: 600, broken: true });
  const got = sum(countersOf(words));
  assert.ok(got < THREADS * INCREMENTS, `${got} updates were not lost`);
  assert.ok((words[INTRUSIONS_AT] as number) > 0);
});

test("who starves says so around each change, and a dead thread is taken out of the count", () => {
  const words = newWords();
  tryAcquire(words, LINE, 0);
  const said: [number, number, number][] = [];
  const passing = new FakeWaiting((sleep) => {
    passing.nowMs += sleep.timeoutMs;
  });
  const waiting: Waiting = passing;
  waiting.countStarving = (_words, line, state) => {
    said.push([line, state, words[LINE + LOCK_STARVING] as number]);
  };
  assert.equal(acquire(words, LINE, 1, waiting, 1, newCounters()), false);
  assert.deepEqual(said, [
    [LINE, STARVING_CHANGES, 0],
    [LINE, STARVING, 1],
    [LINE, STARVING_CHANGES, 1],
    [LINE, NOT_STARVING, 0],
  ]);
  // Now as if the waiter had died in between: its release would be granted to nobody for ever.
  words[LINE + LOCK_STARVING] = 1;
  release(words, LINE);
  assert.deepEqual(state(words), { word: GRANTED, owner: 0, starving: 1 });
  forgetStarving(words, LINE);
  assert.deepEqual(state(words), { word: FREE, owner: 0, starving: 0 });
});
