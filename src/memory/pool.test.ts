/**
 * The pool of spans beyond what heap.test.ts shows of it: limits, sizes of chunks, and seeded takes
 * and gives by several threads against a list of what each span belongs to.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { CHUNK_BYTES_MAX, SPAN_BYTES } from "../limits.ts";
import { Heap } from "./heap.ts";
import { chunkCount, MIB, newControl, newHeaps, poolHosts } from "./heap-test-support.ts";
import {
  H_FREE_SPANS,
  H_SPANS_LIMIT,
  H_SPANS_PEAK,
  H_SPANS_USED,
  SPAN_UNIT_SHIFT,
} from "./layout.ts";
import type { PoolHost } from "./pool.ts";

const SPAN_UNITS = 1 << SPAN_UNIT_SHIFT;

function silentHost(): PoolHost {
  const [host] = poolHosts(1, (bytes) => new SharedArrayBuffer(bytes));
  assert.ok(host !== undefined);
  return { ...host, publish: () => {}, receive: () => null };
}

function oneHeap(chunkBytes: number): Heap {
  return newHeaps(1, { shards: 1, chunkBytes, checked: false })[0] as Heap;
}

test("at the limit no chunk is made for what is refused anyway", () => {
  const heap = oneHeap(4 * MIB);
  heap.control[H_SPANS_LIMIT] = 10;
  assert.notEqual(heap.allocLarge(10 * SPAN_UNITS), 0);
  for (let n = 0; n < 50; n++) {
    assert.equal(heap.allocLarge(SPAN_UNITS), 0);
    assert.equal(heap.alloc(0, 1), 0);
    assert.ok(!heap.pool.reserve(1));
  }
  assert.equal(chunkCount(heap), 1);
  assert.equal(heap.control[H_SPANS_USED], 10);
});

test("memory is reserved over several chunks, and no more is made than is asked for", () => {
  const heap = oneHeap(4 * MIB);
  assert.ok(heap.pool.reserve(1));
  assert.equal(chunkCount(heap), 1);
  assert.ok(heap.pool.reserve(30 * MIB));
  assert.equal(chunkCount(heap), 8);
  assert.ok(heap.pool.reserve(30 * MIB));
  assert.equal(chunkCount(heap), 8);
  assert.ok((heap.control[H_FREE_SPANS] as number) * SPAN_BYTES >= 30 * MIB);
  for (let n = 0; n < 480; n++) assert.notEqual(heap.pool.take(1), 0);
  assert.equal(chunkCount(heap), 8);
});

test("what cannot be reserved in all the chunks there may be is refused", () => {
  const heap = oneHeap(4 * MIB);
  assert.ok(!heap.pool.reserve(200 * MIB));
  assert.equal(chunkCount(heap), 32);
});

test("a block that no chunk of the usual size can hold gets a larger chunk", () => {
  const sizes: number[] = [];
  const host = poolHosts(1, (bytes) => {
    sizes.push(bytes);
    return new SharedArrayBuffer(bytes);
  })[0];
  const heap = new Heap(newControl(1, 4 * MIB), host as never, false);
  const p = heap.allocLarge((100 * MIB) / 8);
  assert.notEqual(p, 0);
  assert.deepEqual(sizes, [128 * MIB]);
  assert.notEqual(heap.alloc(0, 8192), 0);
  assert.equal(heap.allocLarge(CHUNK_BYTES_MAX / 8), 0);
  heap.freeLarge(p);
  assert.equal(heap.control[H_SPANS_USED], 1);
});

test("a chunk that the system refuses is tried smaller, down to an eighth", () => {
  for (const [most, expected] of [
    [40 * MIB, [64, 32]],
    [8 * MIB, [64, 32, 16, 8]],
    [7 * MIB, [64, 32, 16, 8]],
    [0, [64, 32, 16, 8]],
  ] as const) {
    const tried: number[] = [];
    const host = poolHosts(1, (bytes) => {
      tried.push(bytes / MIB);
      return bytes > most ? null : new SharedArrayBuffer(bytes);
    })[0];
    const heap = new Heap(newControl(1, 64 * MIB), host as never, false);
    assert.equal(heap.pool.reserve(1), most >= 8 * MIB);
    assert.deepEqual(tried, expected);
    assert.equal(chunkCount(heap), most >= 8 * MIB ? 1 : 0);
    assert.equal(heap.alloc(0, 1) !== 0, most >= 8 * MIB);
  }
});

test("a chunk is given up only when enough is free elsewhere", () => {
  const heap = oneHeap(64 * MIB);
  const blocks = Array.from({ length: 5 }, () => heap.allocLarge((40 * MIB) / 8));
  assert.equal(chunkCount(heap), 5);
  heap.freeLarge(blocks[4] as number);
  assert.equal(chunkCount(heap), 4, "four chunks have 1,500 free spans");
  for (const p of blocks.slice(0, 4)) heap.freeLarge(p);
  assert.ok(chunkCount(heap) >= 2);
  assert.ok((heap.control[H_FREE_SPANS] as number) >= 1024);
});

type Run = { p: number; spans: number; mark: number };

/** Spans of a run carry its mark in their first word, so that runs which overlap show. */
function mark(heap: Heap, run: Run, value: number): void {
  for (let n = 0; n < run.spans; n++) {
    const at = ((run.p & 0x7ffffff) + n * SPAN_UNITS) << 1;
    (heap.i32[run.p >>> 27] as Int32Array)[at] = value;
  }
}

function isMarked(heap: Heap, run: Run): boolean {
  for (let n = 0; n < run.spans; n++) {
    const at = ((run.p & 0x7ffffff) + n * SPAN_UNITS) << 1;
    if ((heap.i32[run.p >>> 27] as Int32Array)[at] !== run.mark) return false;
  }
  return true;
}

function drawSpans(random: Random): number {
  return random.chance(0.6) ? 1 : 1 + random.below(random.chance(0.1) ? 200 : 12);
}

test("spans taken and given by three threads never overlap and are counted", () => {
  const seed = testSeed(31);
  const random = new Random(seed);
  const heaps = newHeaps(3, { shards: 1, chunkBytes: 16 * MIB, checked: false });
  const { control } = heaps[0] as Heap;
  const live: Run[] = [];
  let spans = 0;
  let most = 0;
  try {
    for (let step = 0; step < 30_000; step++) {
      const heap = random.pick(heaps);
      if (random.chance(step % 10_000 < 4000 ? 0.65 : 0.4)) {
        const run = { p: 0, spans: drawSpans(random), mark: random.u32() | 0 };
        run.p = heap.pool.take(run.spans);
        if (run.p === 0) continue;
        heap.pool.sync();
        mark(heap, run, run.mark);
        live.push(run);
        spans += run.spans;
      } else if (live.length > 0) {
        const i = random.below(live.length);
        const run = live[i] as Run;
        live[i] = live.at(-1) as Run;
        live.pop();
        heap.pool.sync();
        assert.ok(isMarked(heap, run), `step ${step}: a run was given out twice`);
        heap.pool.give(run.p, run.spans);
        spans -= run.spans;
      }
      most = Math.max(most, spans);
      assert.equal(control[H_SPANS_USED], spans);
    }
    assert.equal(control[H_SPANS_PEAK], most);
    assert.ok(chunkCount(heaps[0] as Heap) > 1, "one chunk was enough");
    for (const run of live) (heaps[0] as Heap).pool.give(run.p, run.spans);
    assert.equal(control[H_SPANS_USED], 0);
  } catch (e) {
    console.error(seedText(seed));
    throw e;
  }
});

test("a span given twice is noticed", () => {
  const heap = oneHeap(4 * MIB);
  const p = heap.pool.take(2);
  heap.pool.give(p, 1);
  assert.throws(() => heap.pool.give(p, 2), /free already/);
});

test("a thread that comes late knows what it lacks, and old messages change nothing", () => {
  const heaps = newHeaps(3, { shards: 1, chunkBytes: 4 * MIB, checked: false });
  const [maker, other, late] = heaps as [Heap, Heap, Heap];
  assert.ok(maker.pool.reserve(1));
  const early = maker.pool.snapshot();
  assert.ok(late.pool.isComplete());
  // A store whose messages of before do not reach this thread.
  const lost = new Heap(maker.control, { ...silentHost(), thread: 3 }, false);
  lost.pool.adopt(early);
  assert.ok(lost.pool.isComplete());
  assert.ok(maker.pool.reserve(10 * MIB));
  assert.ok(!lost.pool.isComplete());
  const now = other.pool.snapshot();
  assert.equal(now.chunks.length, 3);
  for (const message of now.chunks) lost.pool.receive(message);
  assert.ok(lost.pool.isComplete());
  const kept = lost.u8[1];
  for (const message of early.chunks) lost.pool.receive(message);
  const [, second] = now.chunks;
  assert.ok(second !== undefined);
  const stale = { ...second, serial: second.serial - 1, buffer: null };
  lost.pool.receive(stale);
  assert.equal(lost.u8[1], kept, "a message that is older than what is known");
  lost.pool.receive({ ...second, serial: second.serial + 9, buffer: null });
  assert.equal(lost.u8[1]?.length, 0);
  assert.ok(!lost.pool.isComplete());
  lost.pool.forget();
  assert.equal(lost.u8[0]?.length, 0);
});
