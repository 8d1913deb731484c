/**
 * Emptying databases, and freeing what they held.
 *
 * A flush of more than a few keys only takes the roots away: the block of roots is put on the
 * garbage list in shared memory, and the threads take its tables apart later, in slices. One thread
 * works on a block at a time; it marks the block, and holds the lock of a slot's shard while it is
 * at that slot. So whoever holds all shard locks sees every table whole, and finds all of them.
 *
 *   H_GARBAGE -> block -> block -> 0     linked through C_NEXT_GARBAGE
 *
 * Whoever has emptied a database puts its block in front without a lock. The list is walked, a
 * block marked and a block taken out only under the list's own lock, which is taken after those of
 * shards and before the pool's, and never waited for: what cannot be done now is done later.
 */
import { SLOTS } from "../limits.ts";
import {
  CHUNK_SHIFT,
  H_GARBAGE,
  H_GARBAGE_COUNT,
  H_GARBAGE_LOCK,
  UNIT_MASK,
} from "../memory/layout.ts";
import { release, tryAcquire } from "../memory/lock.ts";
import { dismantle } from "../structures/table-walks.ts";
import type { Database } from "./database.ts";
import { C_GARBAGE_SLOT, C_NEXT_GARBAGE, freeRoots, makeRoots, ROOT_COUNTERS_AT } from "./roots.ts";
import { statIndex } from "./stats.ts";
import type { Store } from "./store.ts";
import { keysOfShard } from "./walk.ts";

const FREED = statIndex("lazyfreed_objects");
const NEXT_AT: number = ROOT_COUNTERS_AT + C_NEXT_GARBAGE;
const SLOT_AT: number = ROOT_COUNTERS_AT + C_GARBAGE_SLOT;
/** Mark of a block under work, with the thread, above the slot in the word at SLOT_AT. */
const BUSY: number = 1 << 30;
const BUSY_SHIFT = 16;
const SLOT_MASK = 0xffff;
/** Most records freed under one lock. */
const RECORDS_PER_LOCK = 512;
/** Keys that a flush frees itself. */
export const FREED_AT_ONCE_MAX = 512;

/** Runs something under a shard's lock, or returns false at once when that is taken. */
export type ShardLocks = { tryShard(shard: number, run: () => void): boolean };

/** A block of roots as this thread sees it. */
type Roots = { pointer: number; cells: Int32Array; base: number };

/**
 * Takes all keys within the database's scope out of it and returns how many those were. All shards
 * are locked. Up to `atOnceMax` keys are freed at once, which costs less than a block on the list;
 * if only a part of the slots is in the scope and memory is out, so are more.
 */
export function emptyDatabase(db: Database, atOnceMax: number = FREED_AT_ONCE_MAX): number {
  const { store } = db;
  const isWhole = db.scopeFirst === 0 && db.scopeLast === SLOTS - 1;
  let keys = 0;
  const last = store.shardOf(db.scopeLast);
  for (let shard = store.shardOf(db.scopeFirst); shard <= last; shard++) {
    keys += keysOfShard(db, shard);
  }
  const isSmall = keys <= atOnceMax;
  let pointer = 0;
  if (isWhole) pointer = db.detachRoots();
  else if (!isSmall) pointer = detachSlots(db);
  if (pointer !== 0 && !isSmall) {
    if (store.control[H_GARBAGE] === 0) ageSlabs(db);
    put(store, rootsAt(store, pointer), keys);
    return keys;
  }
  if (pointer !== 0) freeNow(store, pointer);
  else if (keys > 0) freeSlots(db);
  store.stats.add(FREED, keys);
  return keys;
}

/** What is made while the garbage is freed shall not keep the slabs that it is in. */
function ageSlabs(db: Database): void {
  const { store } = db;
  const last = store.shardOf(db.scopeLast);
  for (let shard = store.shardOf(db.scopeFirst); shard <= last; shard++) store.heap.age(shard);
}

/** Moves the slots within the scope to a block of roots of their own; 0 if there is no memory. */
function detachSlots(db: Database): number {
  const { store } = db;
  const pointer = makeRoots(store.heap, store.shards);
  if (pointer === 0) return 0;
  const { cells, base } = rootsAt(store, pointer);
  for (let slot = db.scopeFirst; slot <= db.scopeLast; slot++) {
    cells[base + slot] = db.detachSlot(slot);
  }
  return pointer;
}

/** Frees the keys within the scope here and now. */
function freeSlots(db: Database): void {
  const cell = new Int32Array(1);
  for (let slot = db.scopeFirst; slot <= db.scopeLast; slot++) {
    cell[0] = db.detachSlot(slot);
    freeSlot(db.store, slot, cell, 0, Number.POSITIVE_INFINITY);
  }
}

/** Frees a block of roots and all that hangs on it here and now. */
function freeNow(store: Store, pointer: number): void {
  const { cells, base } = rootsAt(store, pointer);
  for (let slot = 0; slot < SLOTS; slot++) {
    if (cells[base + slot] === 0) continue;
    freeSlot(store, slot, cells, base + slot, Number.POSITIVE_INFINITY);
  }
  freeRoots(store.heap, pointer);
}

/** Frees up to `most` records of a slot, whose shard is locked. Returns how many. */
function freeSlot(
  store: Store,
  slot: number,
  cells: Int32Array,
  cell: number,
  most: number,
): number {
  const db = store.databases[0] as Database;
  const shard = store.shardOf(slot);
  return dismantle(store.table, shard, cells, cell, most, (p) => db.freeRecord(shard, p));
}

function rootsAt(store: Store, pointer: number): Roots {
  return {
    pointer,
    cells: store.heap.i32[pointer >>> CHUNK_SHIFT] as Int32Array,
    base: (pointer & UNIT_MASK) << 1,
  };
}

/** Puts a block in front of the list. */
function put(store: Store, roots: Roots, keys: number): void {
  const { control } = store;
  const { pointer, cells, base } = roots;
  Atomics.store(cells, base + SLOT_AT, 0);
  Atomics.add(control, H_GARBAGE_COUNT, keys);
  for (;;) {
    const head = Atomics.load(control, H_GARBAGE);
    Atomics.store(cells, base + NEXT_AT, head);
    if (Atomics.compareExchange(control, H_GARBAGE, head, pointer) === head) return;
  }
}

/**
 * Frees up to `limit` records of flushed databases, with at most RECORDS_PER_LOCK under one lock;
 * no shard is locked by the caller. Returns how many things it freed, an emptied block of roots
 * being one: 0 when there is nothing left, or others are at it.
 */
export function freeGarbageSlice(store: Store, locks: ShardLocks, limit: number): number {
  let done = 0;
  while (done < limit) {
    const roots = claim(store);
    if (roots === null) break;
    const freed = freeSome(store, locks, roots, limit - done);
    done += freed;
    if (freed === 0) break;
  }
  return done;
}

function freeSome(store: Store, locks: ShardLocks, roots: Roots, limit: number): number {
  const { cells, base } = roots;
  // The first slot that was passed over because its shard was locked.
  let passed = SLOTS;
  let slot = Atomics.load(cells, base + SLOT_AT) & SLOT_MASK;
  let done = 0;
  while (slot < SLOTS && done < limit) {
    if (cells[base + slot] === 0) {
      slot++;
      continue;
    }
    const most = Math.min(limit - done, RECORDS_PER_LOCK);
    const shard = store.shardOf(slot);
    const got = locks.tryShard(shard, () => {
      const freed = freeSlot(store, slot, cells, base + slot, most);
      store.heap.work.visited(freed);
      done += freed;
    });
    if (!got) {
      passed = Math.min(passed, slot);
      slot = store.firstSlot(shard + 1);
    }
  }
  Atomics.sub(store.control, H_GARBAGE_COUNT, done);
  store.stats.add(FREED, done);
  return giveBack(store, roots, Math.min(passed, slot)) ? done + 1 : done;
}

/** Marks the first block of the list that nobody works on. Null if there is none. */
function claim(store: Store): Roots | null {
  const { control, heap } = store;
  if (Atomics.load(control, H_GARBAGE) === 0) return null;
  if (!tryAcquire(control, H_GARBAGE_LOCK, store.thread)) return null;
  let pointer = Atomics.load(control, H_GARBAGE);
  // Its chunk may be newer than what this thread knows.
  heap.pool.sync();
  let claimed: Roots | null = null;
  while (pointer !== 0 && claimed === null) {
    const roots = rootsAt(store, pointer);
    const position = Atomics.load(roots.cells, roots.base + SLOT_AT);
    if ((position & BUSY) === 0) {
      const mark = BUSY | (store.thread << BUSY_SHIFT);
      Atomics.store(roots.cells, roots.base + SLOT_AT, position | mark);
      claimed = roots;
    }
    pointer = nextOf(store, pointer);
  }
  release(control, H_GARBAGE_LOCK);
  return claimed;
}

/**
 * Takes the marks of a thread that died, and held no lock, off the blocks it worked on. False if
 * the list is locked by somebody.
 */
export function disownGarbage(store: Store, thread: number): boolean {
  const { control, heap } = store;
  if (!tryAcquire(control, H_GARBAGE_LOCK, store.thread)) return false;
  heap.pool.sync();
  const mark = BUSY | (thread << BUSY_SHIFT);
  for (let p = Atomics.load(control, H_GARBAGE); p !== 0; p = nextOf(store, p)) {
    const { cells, base } = rootsAt(store, p);
    const position = Atomics.load(cells, base + SLOT_AT);
    if ((position & ~SLOT_MASK) !== mark) continue;
    Atomics.store(cells, base + SLOT_AT, position & SLOT_MASK);
  }
  release(control, H_GARBAGE_LOCK);
  return true;
}

/**
 * Takes the mark off a block whose slots below `slot` are empty. True if all are, and the block
 * was freed.
 */
function giveBack(store: Store, roots: Roots, slot: number): boolean {
  const { control, heap } = store;
  if (slot < SLOTS || !tryAcquire(control, H_GARBAGE_LOCK, store.thread)) {
    Atomics.store(roots.cells, roots.base + SLOT_AT, slot);
    return false;
  }
  unlink(store, roots);
  freeRoots(heap, roots.pointer);
  release(control, H_GARBAGE_LOCK);
  return true;
}

function unlink(store: Store, roots: Roots): void {
  const { control } = store;
  const next = Atomics.load(roots.cells, roots.base + NEXT_AT);
  const { pointer } = roots;
  if (Atomics.compareExchange(control, H_GARBAGE, pointer, next) === pointer) return;
  // Others were put in front of it since.
  let before = Atomics.load(control, H_GARBAGE);
  store.heap.pool.sync();
  while (nextOf(store, before) !== pointer) before = nextOf(store, before);
  const last = rootsAt(store, before);
  Atomics.store(last.cells, last.base + NEXT_AT, next);
}

function nextOf(store: Store, pointer: number): number {
  const { cells, base } = rootsAt(store, pointer);
  return Atomics.load(cells, base + NEXT_AT);
}

/**
 * Calls `visit` with the pointer to each block of roots in the list, whose first SLOTS words are
 * the roots of tables. For checks: all shards are locked.
 */
export function eachGarbage(store: Store, visit: (pointer: number) => void): void {
  const { control, heap, thread } = store;
  while (!tryAcquire(control, H_GARBAGE_LOCK, thread)) {
    // Held for microseconds, and by nobody who waits for a shard.
  }
  heap.pool.sync();
  let pointer = Atomics.load(control, H_GARBAGE);
  while (pointer !== 0) {
    visit(pointer);
    pointer = nextOf(store, pointer);
  }
  release(control, H_GARBAGE_LOCK);
}
