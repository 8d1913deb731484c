/**
 * Mailboxes in every order of steps: every message comes, those of one sender in order, and nobody
 * sleeps while there is something to read or room to write.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BELL_WORDS, ringBell, takeBellBack } from "../../src/server/bell.ts";
import { Mailboxes, mailboxBytes } from "../../src/server/mailbox.ts";
import { newLockCounters } from "../../src/server/shared-state.ts";
import { type Body, type Fault, Machine, type Scheduler, type StepThread } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

const NO_BYTES = new Uint8Array(0);
/** The thread that reads; the others write. */
const READER = 0;

type Visit = {
  writers: number;
  messages: number;
  /** A header is 8 bytes: a ring of 16 holds two messages. */
  ringBytes: number;
  scheduler: Scheduler;
  fault?: Fault;
};

/** Each writer sends its messages, numbered by their kinds. Returns how often the reader looked. */
function runMailboxes({ writers, messages, ringBytes, scheduler, fault }: Visit): number {
  const threads = writers + 1;
  const buffer = new SharedArrayBuffer(mailboxBytes(threads, ringBytes));
  const words = new Int32Array(buffer);
  const bells = new Int32Array(new SharedArrayBuffer(threads * BELL_WORDS * 4));
  let seen = { words, bells };
  let looks = 0;
  const open = (thread: StepThread): Mailboxes => {
    const boxes = new Mailboxes({
      buffer,
      thread: thread.id,
      threads,
      waiting: thread.waiting,
      counters: newLockCounters(),
      ring: (to) => ringBell(seen.bells, to),
    });
    Object.assign(boxes, { i32: seen.words });
    return boxes;
  };
  const sleep = (thread: StepThread): void => {
    const bell = thread.id * BELL_WORDS;
    thread.waiting.wait(seen.bells, bell, 0, Number.POSITIVE_INFINITY);
  };
  const reader: Body = (thread) => {
    const boxes = open(thread);
    const next = new Array<number>(threads).fill(1);
    let left = writers * messages;
    for (;;) {
      takeBellBack(seen.bells, READER);
      boxes.take({
        message: (sender, kind) => {
          assert.equal(kind, next[sender], `message of writer ${sender}`);
          next[sender] = kind + 1;
          left--;
        },
        lost: () => assert.fail("a message was lost"),
      });
      thread.once(() => looks++);
      if (left === 0) return;
      sleep(thread);
    }
  };
  const writer: Body = (thread) => {
    const boxes = open(thread);
    for (let n = 1; n <= messages; n++) boxes.post(READER, n, NO_BYTES, 0);
    while (boxes.isWaiting) {
      takeBellBack(seen.bells, thread.id);
      boxes.flush();
      if (boxes.isWaiting) sleep(thread);
    }
  };
  const bodies = [reader, ...Array.from({ length: writers }, () => writer)];
  const machine = new Machine({ bodies, scheduler, ...(fault && { fault }) });
  seen = { words: machine.shared(words), bells: machine.shared(bells) };
  machine.run();
  return looks;
}

test("two writers and room enough, in every order with at most 2 preemptions", () => {
  let least = Number.POSITIVE_INFINITY;
  const orders = everyOrder(2, (scheduler) => {
    least = Math.min(least, runMailboxes({ writers: 2, messages: 1, ringBytes: 64, scheduler }));
  });
  assert.ok(orders > 200, `only ${orders} orders`);
  assert.equal(least, 1, "the reader was rung for each message");
});

test("one writer and a ring that is full at once, in every order with at most 2 preemptions", () => {
  const orders = everyOrder(2, (scheduler) => {
    runMailboxes({ writers: 1, messages: 2, ringBytes: 8, scheduler });
  });
  assert.ok(orders > 200, `only ${orders} orders`);
});

test("one writer that waits for room twice, in every order with at most 2 preemptions", () => {
  const orders = everyOrder(2, (scheduler) => {
    runMailboxes({ writers: 1, messages: 3, ringBytes: 8, scheduler });
  });
  assert.ok(orders > 200, `only ${orders} orders`);
});

test("three writers and a small ring, in random orders", () => {
  for (let seed = 0; seed < 50; seed++) {
    runMailboxes({ writers: 3, messages: 4, ringBytes: 16, scheduler: randomScheduler(seed) });
  }
});

function runSeeds(visit: Omit<Visit, "scheduler">): void {
  for (let seed = 0; seed < 200; seed++) {
    runMailboxes({ ...visit, scheduler: randomScheduler(seed) });
  }
}

const FULL = { writers: 2, messages: 4, ringBytes: 16 };

test("canary: who waits for room is not known to the reader", () => {
  const fault: Fault = ({ kind }) => (kind === "or" ? { answer: 0 } : undefined);
  assert.throws(() => runSeeds({ ...FULL, fault }), /a wake-up was lost/);
});

test("canary: the lock is taken without looking", () => {
  const fault: Fault = ({ kind }) => (kind === "compareExchange" ? "torn" : undefined);
  assert.throws(() => runSeeds({ writers: 3, messages: 3, ringBytes: 64, fault }));
});
