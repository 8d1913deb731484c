/**
 * What a parser does with requests in pieces beside what the differential tests show: it looks at
 * each byte a bounded number of times, and holds no more than it has received.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Args } from "../base/args.ts";
import { latin1Bytes } from "../base/bytes.ts";
import { INLINE_MAX, UNIT_BYTES } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import { MIB, newHeaps, unitsUsed } from "../memory/heap-test-support.ts";
import { ADMITTED, COMPLETE, FAILED, NEED_MORE, Parser, type ParserLimits } from "./parser.ts";
import { requestText } from "./test-request.ts";

const LIMITS: ParserLimits = {
  bulkMax: 512 * MIB,
  queryMax: 2 ** 40,
  unauthenticated: false,
  admitLong: () => ADMITTED,
};

function newParser(): { parser: Parser; heap: Heap } {
  const heap = newHeaps(1, { shards: 1, chunkBytes: 16 * MIB, checked: true })[0] as Heap;
  return { parser: new Parser(heap, new Args()), heap };
}

function request(words: readonly string[]): Uint8Array {
  return latin1Bytes(requestText(words));
}

/** Feeds bytes in pieces; how many requests were complete. */
function feed(parser: Parser, bytes: Uint8Array, piece: number): number {
  let complete = 0;
  for (let at = 0; at < bytes.length; at += piece) {
    const end = Math.min(bytes.length, at + piece);
    for (let from = at; from < end; from = parser.consumed) {
      if (parser.feed(bytes, from, end, LIMITS) !== COMPLETE) break;
      complete++;
    }
  }
  return complete;
}

test("a byte is looked at twice at most, however a request is cut", () => {
  const words = ["SET", "k".repeat(300), "v".repeat(70_000), "x".repeat(5000), ""];
  for (const bytes of [request(words), latin1Bytes(`${"word ".repeat(2000)}\r\n`)]) {
    for (const piece of [1, 2, 3, 7, 100, 1400, bytes.length]) {
      const { parser } = newParser();
      assert.equal(feed(parser, bytes, piece), 1);
      assert.ok(parser.scanned <= 2 * bytes.length, `${parser.scanned} of ${bytes.length}`);
    }
  }
});

test("what a request of many or long arguments took is given up when it is finished", () => {
  const { parser, heap } = newParser();
  const many = request(["EXISTS", ...Array.from({ length: 100_000 }, (_, i) => `key:${i}`)]);
  assert.equal(feed(parser, many, 1400), 1);
  assert.equal(parser.args.count, 100_001);
  parser.finish();
  assert.ok(parser.args.start.length <= 1024, `${parser.args.start.length} places`);
  assert.equal(parser.capacity, 0);
  assert.equal(parser.args.buffer.length, 0);
  assert.equal(parser.args.view.byteLength, 0);
  assert.equal(feed(parser, request(["SET", "k", "v".repeat(200_000)]), 1400), 1);
  assert.ok(unitsUsed(heap) > 0);
  parser.finish();
  assert.equal(unitsUsed(heap), 0);
});

test("trimmed between requests it holds nothing, within one what has come of it", () => {
  const { parser, heap } = newParser();
  const words = ["SET", "", "key".repeat(3000), "v".repeat(100_000), "end"];
  const bytes = request(words);
  for (let cut = 1; cut < bytes.length; cut += cut > 9100 && cut < 109_000 ? 4999 : 13) {
    assert.equal(feed(parser, request(["SET", "k", "v".repeat(20_000)]), 1400), 1);
    parser.finish();
    parser.trim();
    assert.equal(parser.capacity + parser.args.buffer.length + parser.args.view.byteLength, 0);
    assert.equal(parser.feed(bytes, 0, cut, LIMITS), NEED_MORE);
    parser.trim();
    const held = parser.buffered + unitsUsed(heap) * UNIT_BYTES;
    assert.equal(parser.capacity, held, `cut at ${cut}`);
    assert.equal(parser.feed(bytes, cut, bytes.length, LIMITS), COMPLETE);
    assert.deepEqual(
      words.map((_, i) => parser.args.text(i)),
      words,
    );
    parser.finish();
  }
});

test("what is announced is not held before it comes", () => {
  const { parser } = newParser();
  const announced = latin1Bytes("*2\r\n$3\r\nSET\r\n$5000000\r\nabc");
  assert.equal(parser.feed(announced, 0, announced.length, LIMITS), NEED_MORE);
  assert.ok(parser.unparsed < 100, `${parser.unparsed} bytes`);
  const more = new Uint8Array(10_000);
  parser.feed(more, 0, more.length, LIMITS);
  assert.ok(parser.unparsed > 10_000 && parser.unparsed < 10_100, `${parser.unparsed} bytes`);
});

test("a length beyond 32 bits, where the limit allows it, is received and refused", () => {
  const { parser, heap } = newParser();
  const limits = { ...LIMITS, bulkMax: 2 ** 40 };
  const announced = latin1Bytes(`*1\r\n$${2 ** 32 + 100}\r\n`);
  assert.equal(parser.feed(announced, 0, announced.length, limits), NEED_MORE);
  const more = new Uint8Array(100_000);
  assert.equal(parser.feed(more, 0, more.length, limits), NEED_MORE);
  assert.equal(unitsUsed(heap), 0);
  parser.release();
  assert.ok(parser.idle);
});

test("the longest argument and the longest line are taken, one byte more is not", () => {
  const limits = { ...LIMITS, bulkMax: 10 };
  for (const [bytes, result] of [
    [10, COMPLETE],
    [11, FAILED],
  ] as const) {
    const { parser } = newParser();
    const one = request(["x".repeat(bytes)]);
    assert.equal(parser.feed(one, 0, one.length, limits), result);
  }
  for (const [bytes, result] of [
    [INLINE_MAX, NEED_MORE],
    [INLINE_MAX + 1, FAILED],
  ] as const) {
    const { parser } = newParser();
    const line = latin1Bytes("x".repeat(bytes));
    assert.equal(parser.feed(line, 0, line.length, LIMITS), result);
  }
});

test("a long argument that has come in part leaves nothing in the heap", () => {
  const { parser, heap } = newParser();
  const part = request(["SET", "k", "x".repeat(100_000)]).subarray(0, 50_000);
  assert.equal(parser.feed(part, 0, part.length, LIMITS), NEED_MORE);
  assert.ok(unitsUsed(heap) > 0);
  parser.release();
  assert.equal(unitsUsed(heap), 0);
});
