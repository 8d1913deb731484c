/**
 * The heap checker behind DEBUG HEAP-CHECK: walks everything that points to blocks, then the
 * allocator's own books, and compares. It changes nothing.
 *
 * All shards are locked by the caller. Requests that are being received and replies that are being
 * sent go on: large blocks are made and let go without a shard's lock, so the pool is held still
 * meanwhile.
 */
import { eachGarbage } from "../keyspace/garbage.ts";
import type { Store } from "../keyspace/store.ts";
import { newHeapCheck } from "./heap-check-marks.ts";
import { checkPages } from "./heap-check-pages.ts";
import { checkDatabases, checkGarbage } from "./heap-check-tables.ts";

/** Lines of what is wrong, the first hundred; empty when all is sound. */
export function checkHeap(store: Store): string[] {
  const check = newHeapCheck(store.heap);
  // The list has a lock that comes before the pool's.
  const garbage: number[] = [];
  eachGarbage(store, (pointer) => garbage.push(pointer));
  store.heap.pool.frozen(() => {
    checkDatabases(check, store);
    checkGarbage(check, store, garbage);
    checkPages(check);
  });
  const { lines, count } = check.findings;
  return count > lines.length ? [...lines, `${count - lines.length} more`] : lines;
}
