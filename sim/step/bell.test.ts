/** The doorbell in every order of steps: whatever was put down before a ring is seen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BELL_WORDS, ringBell, takeBellBack } from "../../src/server/bell.ts";
import { type Body, type Fault, Machine, type Scheduler } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

/** The thread that listens is 1; the words of its mail are behind the bells. */
const LISTENER = 1;
const MAIL = 2 * BELL_WORDS;

type Visit = {
  ringers: number;
  times: number;
  scheduler: Scheduler;
  fault?: Fault;
  /** The listener looks first and takes the bell back afterwards. */
  looksFirst?: boolean;
};

/** Each ringer puts something down and rings, some times. Returns how often the listener looked. */
function runBell({ ringers, times, scheduler, fault, looksFirst }: Visit): number {
  const bells = new Int32Array(new SharedArrayBuffer((MAIL + ringers) * 4));
  let seen: Int32Array = bells;
  let looks = 0;
  const listener: Body = (thread) => {
    for (;;) {
      if (!looksFirst) takeBellBack(seen, LISTENER);
      let there = 0;
      for (let n = 0; n < ringers; n++) there += seen[MAIL + n] as number;
      thread.once(() => looks++);
      if (there === ringers * times) return;
      if (looksFirst) takeBellBack(seen, LISTENER);
      thread.waiting.wait(seen, LISTENER * BELL_WORDS, 0, Number.POSITIVE_INFINITY);
    }
  };
  const ringer = (n: number): Body => {
    return () => {
      for (let time = 1; time <= times; time++) {
        seen[MAIL + n] = time;
        ringBell(seen, LISTENER);
      }
    };
  };
  const bodies = [listener, ...Array.from({ length: ringers }, (_, n) => ringer(n))];
  const machine = new Machine({ bodies, scheduler, ...(fault && { fault }) });
  seen = machine.shared(bells);
  machine.run();
  return looks;
}

test("two ringers, in every order with at most 4 preemptions", () => {
  let most = 0;
  const orders = everyOrder(4, (scheduler) => {
    most = Math.max(most, runBell({ ringers: 2, times: 1, scheduler }));
  });
  assert.ok(orders > 500, `only ${orders} orders`);
  // A notification may come when its ring was heard already.
  assert.ok(most <= 5, `${most} looks for two rings`);
});

test("many rings, in random orders", () => {
  for (let seed = 0; seed < 300; seed++) {
    runBell({ ringers: 3, times: 4, scheduler: randomScheduler(seed) });
  }
});

const LOST = /a wake-up was lost/;

function runSeeds(visit: Omit<Visit, "scheduler">): void {
  for (let seed = 0; seed < 500; seed++) runBell({ ...visit, scheduler: randomScheduler(seed) });
}

test("canary: a listener that looks before it takes the bell back sleeps for ever", () => {
  assert.throws(() => runSeeds({ ringers: 2, times: 2, looksFirst: true }), LOST);
});

test("canary: a bell that notifies nobody", () => {
  const fault: Fault = ({ kind }) => (kind === "notify" ? { answer: 0 } : undefined);
  assert.throws(() => runSeeds({ ringers: 2, times: 2, fault }), LOST);
});

test("canary: a ring that is torn", () => {
  const fault: Fault = ({ kind }) => (kind === "exchange" ? "torn" : undefined);
  assert.throws(() => runSeeds({ ringers: 3, times: 3, fault }), LOST);
});
