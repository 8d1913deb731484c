/**
 * What the tests of the heap run on: a control buffer without a server, and hosts of threads that
 * share it within one thread of Node.
 */
import { assert } from "../base/assert.ts";
import { CHUNKS_MAX } from "../limits.ts";
import { Heap } from "./heap.ts";
import {
  CHUNK_ROW_WORDS,
  CHUNK_ROWS_AT,
  CHUNK_STATE,
  controlWords,
  H_CHUNK_BYTES,
  H_HASH_KEY_0,
  H_HASH_KEY_1,
  H_LARGE_UNITS,
  H_SHARDS,
  S_UNITS_USED,
  shardRow,
} from "./layout.ts";
import type { ChunkMessage, PoolHost } from "./pool.ts";

export const MIB: number = 1024 * 1024;

/** A heap that refuses an allocation where it is told to. */
export class RefusingHeap extends Heap {
  /** Every allocation whose number is a multiple of this is refused; 0: none. */
  refuseEvery = 0;
  allocations = 0;
  refusals = 0;

  override alloc(shard: number, units: number): number {
    return this.#refuses() ? 0 : super.alloc(shard, units);
  }

  override allocLarge(units: number, mark = 0): number {
    return this.#refuses() ? 0 : super.allocLarge(units, mark);
  }

  #refuses(): boolean {
    this.allocations++;
    if (this.refuseEvery === 0 || this.allocations % this.refuseEvery !== 0) return false;
    this.refusals++;
    return true;
  }
}

export function newControl(shards: number, chunkBytes: number): Int32Array {
  const words = new Int32Array(new SharedArrayBuffer(controlWords(shards) * 4));
  words[H_SHARDS] = shards;
  words[H_CHUNK_BYTES] = chunkBytes;
  words[H_HASH_KEY_0] = 0x01234567;
  words[H_HASH_KEY_1] = 0x76543210;
  return words;
}

/** Hosts of threads that share a heap; what one publishes the others receive. */
export function poolHosts(count: number, makeBuffer?: PoolHost["makeBuffer"]): PoolHost[] {
  const queues: ChunkMessage[][] = Array.from({ length: count }, () => []);
  return queues.map((queue, thread) => ({
    thread,
    waiting: {
      wait: () => assert(false, "a thread waits for itself"),
      now: () => 0,
    },
    counters: { acquisitions: 0, contended: 0, waitMs: 0 },
    publish: (message) => {
      for (const other of queues) if (other !== queue) other.push(message);
    },
    receive: () => queue.shift() ?? null,
    makeBuffer: makeBuffer ?? ((bytes) => new SharedArrayBuffer(bytes)),
  }));
}

/** Threads' views of one new heap. */
export function newHeaps(
  threads: number,
  options: { shards: number; chunkBytes: number; checked: boolean },
): Heap[] {
  const control = newControl(options.shards, options.chunkBytes);
  return poolHosts(threads).map((host) => new Heap(control, host, options.checked));
}

/** Units of all blocks in use. */
export function unitsUsed(heap: Heap): number {
  let units = heap.control[H_LARGE_UNITS] as number;
  for (let shard = 0; shard < (heap.control[H_SHARDS] as number); shard++) {
    units += heap.control[shardRow(shard) + S_UNITS_USED] as number;
  }
  return units;
}

export function chunkCount(heap: Heap): number {
  let count = 0;
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk++) {
    count += heap.control[CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS + CHUNK_STATE] as number;
  }
  return count;
}
