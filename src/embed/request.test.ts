/** What a request takes of arguments that change while they are taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Heap } from "../memory/heap.ts";
import { MIB, newHeaps } from "../memory/heap-test-support.ts";
import { ADMITTED } from "../protocol/parser.ts";
import { commandName, RequestWriter } from "./request.ts";

const NAME = commandName("TEST");

type Growable = SharedArrayBuffer & { grow(bytes: number): void };
type MakeGrowable = new (bytes: number, options: { maxByteLength: number }) => Growable;

test("bytes that grow while there is made room for them are taken as they were", () => {
  const heap = newHeaps(1, { shards: 1, chunkBytes: 16 * MIB, checked: false })[0] as Heap;
  const buffer = new (SharedArrayBuffer as MakeGrowable)(70_000, { maxByteLength: MIB });
  const bytes = new Uint8Array(buffer).fill(1);
  const request = new RequestWriter(
    heap,
    (run) => run(),
    () => {
      buffer.grow(MIB);
      bytes.fill(1);
      return ADMITTED;
    },
  );
  request.begin(NAME);
  request.add(bytes);
  const { args } = request;
  const taken = (args.end[1] as number) - (args.start[1] as number);
  assert.equal(taken, 70_000);
  const { source } = (args.bigs ?? [])[1] as { source: Uint8Array };
  const end = args.end[1] as number;
  assert.deepEqual(source.subarray(end - 2, end + 2), Uint8Array.of(1, 1, 0, 0));
  request.finish();
});
