/**
 * The stack on which threads leave blocks that they free under another shard's lock, while its
 * owner empties it: every block is free once and no more, in every order of steps.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Heap } from "../../src/memory/heap.ts";
import { MIB, newHeaps, unitsUsed } from "../../src/memory/heap-test-support.ts";
import { CHUNK_SHIFT, P_KIND, S_REMOTE_FREE, shardRow } from "../../src/memory/layout.ts";
import { type Body, type Fault, Machine, type Scheduler } from "./machine.ts";
import { everyOrder, randomScheduler } from "./schedulers.ts";

const UNITS = 4;
const STACK = shardRow(0) + S_REMOTE_FREE;

/**
 * Threads 1 and on free `each` blocks of shard 0 under locks of their own shards; thread 0 drains
 * and allocates. One block stays in use, so that no page is given back meanwhile.
 */
function runFrees(threads: number, each: number, scheduler: Scheduler, fault?: Fault): void {
  const heap = newHeaps(1, { shards: threads + 1, chunkBytes: 4 * MIB, checked: false })[0] as Heap;
  heap.alloc(0, UNITS);
  const used = unitsUsed(heap);
  const blocks = Array.from({ length: threads * each }, () => heap.alloc(0, UNITS));
  const chunk = (blocks[0] as number) >>> CHUNK_SHIFT;
  const control = heap.control;
  const words = heap.i32[chunk] as Int32Array;
  const owner: Body = (thread) => {
    for (let n = 0; n < each; n++) {
      heap.drainRemoteFrees(0, 2);
      const p = heap.alloc(0, UNITS);
      thread.once(() => assert.ok(p !== 0));
      heap.free(0, p);
    }
  };
  const freer = (id: number): Body => {
    const own = blocks.filter((_, n) => n % threads === id - 1);
    return () => {
      for (const p of own) heap.free(id, p);
    };
  };
  const machine = new Machine({
    bodies: [owner, ...Array.from({ length: threads }, (_, n) => freer(n + 1))],
    scheduler,
    ...(fault && { fault }),
    // What else is read and written belongs to one shard, or to a block that one thread has.
    isPoint: (where, index) => where === control && index === STACK,
  });
  const seen = machine.shared(control);
  (heap as { control: Int32Array }).control = seen;
  heap.i32[chunk] = machine.shared(words);
  machine.run();
  (heap as { control: Int32Array }).control = control;
  heap.i32[chunk] = words;
  heap.drainRemoteFrees(0);
  assert.equal(unitsUsed(heap), used, "blocks are lost or free twice");
  // All of them can be had again, each once.
  const again = new Set(blocks.map(() => heap.alloc(0, UNITS)));
  assert.equal(again.size, blocks.length);
  for (const p of again) assert.ok(blocks.includes(p), "a block is lost");
  assert.notEqual(words[P_KIND], -1);
}

test("two threads free and the owner drains, in every order with at most 3 preemptions", () => {
  const orders = everyOrder(3, (scheduler) => runFrees(2, 2, scheduler));
  assert.ok(orders > 100, `only ${orders} orders`);
});

test("four threads free and the owner drains, in random orders", () => {
  for (let seed = 0; seed < 200; seed++) runFrees(4, 5, randomScheduler(seed));
});

function isFound(fault: Fault): boolean {
  for (let seed = 0; seed < 200; seed++) {
    try {
      runFrees(3, 4, randomScheduler(seed), fault);
    } catch {
      return true;
    }
  }
  return false;
}

test("canary: a push that is torn loses blocks", () => {
  assert.ok(
    isFound(({ kind, index }) =>
      kind === "compareExchange" && index === STACK ? "torn" : undefined,
    ),
  );
});

test("canary: a drain that is torn loses blocks", () => {
  assert.ok(
    isFound(({ kind, index }) => (kind === "exchange" && index === STACK ? "torn" : undefined)),
  );
});
