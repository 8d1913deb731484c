/**
 * The list of flushed databases: threads put blocks in front of it without a lock, and others claim
 * one, take it apart and take it out under the list's lock. In every order of steps each block is
 * given back once, though one that was may come again at once, and none stays marked.
 *
 * The blocks are empty, so that there is nothing to free but themselves.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../src/base/random.ts";
import type { Database } from "../../src/keyspace/database.ts";
import { emptyDatabase, freeGarbageSlice } from "../../src/keyspace/garbage.ts";
import { makeRoots } from "../../src/keyspace/roots.ts";
import { Stats, statsBytes } from "../../src/keyspace/stats.ts";
import { Store } from "../../src/keyspace/store.ts";
import type { Heap } from "../../src/memory/heap.ts";
import { MIB, newHeaps } from "../../src/memory/heap-test-support.ts";
import {
  DATABASE_ROW_WORDS,
  DATABASES_AT,
  DB_ROOTS,
  H_GARBAGE,
  H_GARBAGE_LOCK,
  LOCK_WORD,
} from "../../src/memory/layout.ts";
import { FREE } from "../../src/memory/lock.ts";
import { type Body, type Fault, Machine, type Scheduler, type StepThread } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

const NO_SHARDS = { tryShard: (): boolean => assert.fail("there is nothing in a shard") };

/** Blocks of roots that nobody has, and those that are given back. */
class Blocks {
  readonly heap: Heap = newHeaps(1, { shards: 1, chunkBytes: 16 * MIB, checked: false })[0] as Heap;
  readonly free: number[];
  private readonly all: readonly number[];

  constructor(count: number) {
    this.free = Array.from({ length: count }, () => makeRoots(this.heap, 1));
    this.all = [...this.free];
  }

  take(): number {
    const p = this.free.pop();
    assert.ok(p !== undefined, "there are enough blocks");
    return p;
  }

  give(p: number): void {
    assert.ok(this.all.includes(p), "what is given back is no block");
    assert.ok(!this.free.includes(p), "a block is given back twice");
    this.free.push(p);
  }

  get areAllFree(): boolean {
    return this.free.length === this.all.length;
  }

  /** What a thread sees: `give` is called as the machine wants it. */
  store(thread: number, once: (run: () => void) => void): Store {
    const heap = Object.create(this.heap) as Heap;
    heap.freeLarge = (p) => once(() => this.give(p));
    const stats = new Stats(new SharedArrayBuffer(statsBytes(1)), 1, 0);
    const clock = { unixMs: 0, refresh: () => {}, monotonicMs: () => 0, unixUsec: () => 0 };
    return new Store({ heap, thread, databases: 8, clock, random: new Random(1), stats });
  }
}

type Sizes = { putters: number; freers: number; each: number };

function runList({ putters, freers, each }: Sizes, scheduler: Scheduler, fault?: Fault): void {
  const blocks = new Blocks(putters * each);
  const { control } = blocks.heap;
  const bodyOf = (id: number, run: (thread: StepThread, store: Store) => void): Body => {
    let running: StepThread | null = null;
    const store = blocks.store(id, (give) => running?.once(give));
    return (thread) => {
      running = thread;
      run(thread, store);
    };
  };
  const putter = (id: number): Body =>
    bodyOf(id, (thread, store) => {
      const row = DATABASES_AT + id * DATABASE_ROW_WORDS + DB_ROOTS;
      for (let n = 0; n < each; n++) {
        thread.once(() => {
          control[row] = blocks.take();
        });
        emptyDatabase(store.databases[id] as Database, -1);
      }
    });
  const freer = (id: number): Body =>
    bodyOf(id, (_thread, store) => {
      for (let n = 0; n < each + 1; n++) freeGarbageSlice(store, NO_SHARDS, 2);
    });
  const machine = new Machine({
    bodies: [
      ...Array.from({ length: putters }, (_, n) => putter(n)),
      ...Array.from({ length: freers }, (_, n) => freer(putters + n)),
    ],
    scheduler,
    stepsMax: 1500,
    ...(fault && { fault }),
    // The rows of databases and the count have one writer here, or no order that matters.
    isPoint: (words, index) =>
      words !== control || index === H_GARBAGE || index === H_GARBAGE_LOCK + LOCK_WORD,
  });
  machine.run();
  // What was passed over, because somebody was at it, is still in the list and not marked.
  const store = blocks.store(9, (give) => give());
  for (let n = 0; n < 20 && control[H_GARBAGE] !== 0; n++) freeGarbageSlice(store, NO_SHARDS, 9);
  assert.equal(control[H_GARBAGE], 0, "a block stays in the list");
  assert.ok(blocks.areAllFree, "a block is lost");
  assert.equal(control[H_GARBAGE_LOCK + LOCK_WORD], FREE);
}

test("two put and one frees, in every order with at most 2 preemptions", () => {
  const orders = everyOrder(2, (scheduler) =>
    runList({ putters: 2, freers: 1, each: 1 }, scheduler),
  );
  assert.ok(orders > 100, `only ${orders} orders`);
});

test("one puts and two free, in every order with one preemption", () => {
  const orders = everyOrder(1, (scheduler) =>
    runList({ putters: 1, freers: 2, each: 2 }, scheduler),
  );
  assert.ok(orders > 50, `only ${orders} orders`);
});

test("three put and three free, in random orders", () => {
  for (let seed = 0; seed < 40; seed++) {
    runList({ putters: 3, freers: 3, each: 3 }, randomScheduler(seed));
  }
});

function isFound(fault: Fault): boolean {
  for (let seed = 0; seed < 200; seed++) {
    try {
      runList({ putters: 3, freers: 3, each: 3 }, randomScheduler(seed), fault);
    } catch {
      return true;
    }
  }
  return false;
}

test("canary: a block that is put in front without a look at who else does is lost", () => {
  assert.ok(
    isFound(({ kind, index }) =>
      kind === "compareExchange" && index === H_GARBAGE ? "torn" : undefined,
    ),
  );
});

test("canary: without the list's lock two threads work on one block", () => {
  assert.ok(
    isFound(({ kind, index, b }) =>
      kind === "compareExchange" && index === H_GARBAGE_LOCK + LOCK_WORD && b !== FREE
        ? { answer: FREE }
        : undefined,
    ),
  );
});
