/**
 * Every order of steps of small cases, and many random orders of larger ones: the lock excludes, no
 * wake-up is lost, grants that nobody wants are taken back, and whoever parked is rung. The
 * canaries leave out or tear one atomic call; each must be found.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LOCK_LINE_WORDS, LOCK_PARKED, LOCK_STARVING } from "../../src/memory/layout.ts";
import { FREE, GRANTED } from "../../src/memory/lock.ts";
import { isLong } from "../../test/support/environment.ts";
import { seedText, testSeed } from "../../test/support/random.ts";
import { type LockResult, newResult, type Part, runLock } from "./lock-steps.ts";
import type { Fault } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

const TAKE: Part = { kind: "take", times: 1 };
const PARK: Part = { kind: "park", times: 1 };
const SHORT: Part = { kind: "take", times: 1, patienceMs: 0.4 };

const SMALL: readonly (readonly [string, readonly Part[], number])[] = [
  ["two threads take it", [TAKE, TAKE], 6],
  ["three threads take it", [TAKE, TAKE, TAKE], 3],
  ["one takes it twice and one parks", [{ ...TAKE, times: 2 }, PARK], 5],
  ["one holds it long and one gives up", [{ ...TAKE, holdMs: 0.5 }, SHORT], 6],
  ["one holds it long, one gives up, one waits", [{ ...TAKE, holdMs: 0.5 }, SHORT, TAKE], 2],
  ["two park", [PARK, PARK, TAKE], 3],
];

for (const [name, parts, preemptions] of SMALL) {
  test(`every order with at most ${preemptions} preemptions: ${name}`, () => {
    const bound = preemptions + (isLong ? 1 : 0);
    const orders = everyOrder(bound, (scheduler) => runLock({ parts, scheduler }));
    assert.ok(orders > 100, `only ${orders} orders`);
  });
}

const STARVING = LOCK_LINE_WORDS + LOCK_STARVING;
const WORD = LOCK_LINE_WORDS;

const MIXED: readonly Part[] = [
  { kind: "take", times: 6, holdMs: 0.2 },
  { kind: "take", times: 4, patienceMs: 1, holdMs: 0.1 },
  { kind: "take", times: 4, patienceMs: 0.4 },
  { kind: "park", times: 4 },
  { kind: "take", times: 2 },
];

const SEEDS = isLong ? 20_000 : 600;

/** Adds up what many seeds did, so that a test can tell that all came to pass. */
function runSeeds(
  parts: readonly Part[],
  first: number,
  count: number,
  broken?: Fault,
): LockResult {
  const sum = newResult();
  for (let seed = first; seed < first + count; seed++) {
    try {
      const scheduler = randomScheduler(seed);
      const fault: Fault = (access) => {
        const { kind, index, a } = access;
        const isGrant = kind === "store" && index === LOCK_LINE_WORDS && a === GRANTED;
        if (isGrant) sum.granted++;
        return broken?.(access);
      };
      const result = runLock({ parts, scheduler, fault });
      sum.steps += result.steps;
      sum.gaveUp += result.gaveUp;
      sum.parked += result.parked;
      sum.taken += result.taken;
      sum.sleeps += result.sleeps;
      sum.overtaken = Math.max(sum.overtaken, result.overtaken);
    } catch (e) {
      console.error(seedText(seed));
      throw e;
    }
  }
  return sum;
}

test("random orders of five threads that take, hold, give up and park", () => {
  const asked = testSeed(0);
  const sum = runSeeds(MIXED, asked, asked === 0 ? SEEDS : 1);
  if (asked !== 0) return;
  for (const [what, count] of Object.entries(sum)) assert.ok(count > 0, `no ${what} in any order`);
});

test("a thread that starves is overtaken a few times at most, however the other hurries", () => {
  const hog: Part = { kind: "take", times: 60, holdMs: 0.05 };
  const { overtaken, granted } = runSeeds([hog, TAKE], 1, 80);
  assert.ok(granted > 0, "nobody ever starved");
  assert.ok(overtaken <= 2, `it was overtaken ${overtaken} times`);
});

const SHORT_SEEDS = 20;
/** 0.06 are needed, where threads are stopped at one access in fifty. */
const SLEEPS_MAX = 0.1;

/** Sleeps for each time that the lock is had by one of four threads that hold it shortly. */
function sleepsOf(fault?: Fault): number {
  const parts: Part[] = [1, 2, 3, 4].map(() => ({ kind: "take", times: 25 }));
  let sleeps = 0;
  for (let seed = 0; seed < SHORT_SEEDS; seed++) {
    const scheduler = randomScheduler(seed, { stickiness: 0.98, pauses: 0.001 });
    const result = runLock({ parts, scheduler, ...(fault && { fault }) });
    assert.equal(result.taken, 100);
    sleeps += result.sleeps;
  }
  return sleeps / (100 * SHORT_SEEDS);
}

test("a lock that is held shortly is shared with little sleep, and handed over it is not", () => {
  assert.ok(sleepsOf() < SLEEPS_MAX, `${sleepsOf()} sleeps each time`);
  const handedOver: Fault = ({ kind, index }) =>
    kind === "read" && index === STARVING ? { answer: 1 } : undefined;
  assert.ok(sleepsOf(handedOver) > SLEEPS_MAX, "a lock that grants always is not found out");
});

const LEAVING: readonly Part[] = [
  { kind: "take", times: 8, holdMs: 0.3 },
  { kind: "take", times: 8, patienceMs: 0.4 },
  { kind: "take", times: 8, patienceMs: 0.5, holdMs: 0.1 },
];
const PARKING: readonly Part[] = [PARK, PARK, PARK, TAKE].map((part) => ({ ...part, times: 4 }));

const CANARIES: readonly (readonly [string, readonly Part[], Fault])[] = [
  [
    "compare and exchange is torn",
    MIXED,
    ({ kind }) => (kind === "compareExchange" ? "torn" : undefined),
  ],
  [
    "the exchange of a release is torn",
    MIXED,
    ({ kind, index }) => (kind === "exchange" && index === WORD ? "torn" : undefined),
  ],
  ["nobody is notified", MIXED, ({ kind }) => (kind === "notify" ? { answer: 0 } : undefined)],
  [
    "a grant is not taken back",
    LEAVING,
    ({ kind, a, b }) =>
      kind === "compareExchange" && a === GRANTED && b === FREE ? { answer: FREE } : undefined,
  ],
  [
    "the starving count is not lowered",
    MIXED,
    ({ kind, index }) => (kind === "sub" && index === STARVING ? { answer: 0 } : undefined),
  ],
  [
    "the mark of a parked thread is torn",
    PARKING,
    ({ kind, index }) => (kind === "or" && index === WORD + LOCK_PARKED ? "torn" : undefined),
  ],
  [
    "the marks are cleared in a second step",
    PARKING,
    ({ kind, index }) => (kind === "exchange" && index === WORD + LOCK_PARKED ? "torn" : undefined),
  ],
];

/** The first seed that finds a fault, -1 if none does. */
function firstFind(parts: readonly Part[], fault: Fault | undefined): number {
  for (let seed = 0; seed < 3000; seed++) {
    try {
      runLock({ parts, scheduler: randomScheduler(seed), ...(fault && { fault }) });
    } catch {
      return seed;
    }
  }
  return -1;
}

for (const [name, parts, fault] of CANARIES) {
  test(`canary: ${name}`, () => {
    assert.notEqual(firstFind(parts, fault), -1, "no order of steps shows it");
  });
}

test("canary: a thread parks without a second try", () => {
  const careless: Part = { kind: "park", times: 3, isCareless: true };
  assert.notEqual(firstFind([careless, { kind: "take", times: 3 }], undefined), -1);
});
