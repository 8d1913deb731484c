/**
 * Walks a store at rest and throws when something is not as it must be: every record is where its
 * key is looked for, counters agree with what is there, and the units in use are exactly those of
 * the records, segments, directories and roots that were found.
 */
import { assert } from "../base/assert.ts";
import { keySlot } from "../base/crc16.ts";
import type { Database } from "../keyspace/database.ts";
import type { Store } from "../keyspace/store.ts";
import { BIG_STRING_BYTES, SLOTS } from "../limits.ts";
import {
  CHUNK_SHIFT,
  DATABASE_ROW_WORDS,
  DATABASES_AT,
  DB_ROOTS,
  H_GARBAGE,
  H_LARGE_UNITS,
  H_ROOT_UNITS,
  S_UNITS_USED,
  shardRow,
  UNIT_MASK,
} from "../memory/layout.ts";
import { STRING_BIG, STRING_LAST } from "../structures/record.ts";
import { eachOfSegment, eachRecord, eachSegment } from "../structures/table-walks.ts";

export function checkStore(store: Store): void {
  assert(store.control[H_GARBAGE] === 0, "there is garbage to be freed");
  const blocks = new Set<number>();
  let units = 0;
  let roots = 0;
  for (const db of store.databases) {
    units += unitsOfDatabase(db, blocks);
    const block = rootsOf(db);
    if (block !== 0) roots += store.heap.blockUnits(block);
  }
  assert(store.control[H_ROOT_UNITS] === roots, "units of roots are counted wrong");
  let used = store.control[H_LARGE_UNITS] as number;
  for (let shard = 0; shard < store.shards; shard++) {
    store.heap.drainRemoteFrees(shard);
  }
  for (let shard = 0; shard < store.shards; shard++) {
    used += store.control[shardRow(shard) + S_UNITS_USED] as number;
  }
  assert(used === units, `${used} units in use, ${units} found`);
}

function rootsOf(db: Database): number {
  return db.store.control[DATABASES_AT + db.index * DATABASE_ROW_WORDS + DB_ROOTS] as number;
}

function unitsOfDatabase(db: Database, blocks: Set<number>): number {
  const { store } = db;
  const { heap } = store;
  const roots = rootsOf(db);
  if (roots === 0) return 0;
  let units = addBlock(blocks, heap.blockUnits(roots), roots);
  const keys = new Array<number>(store.shards).fill(0);
  const expires = new Array<number>(store.shards).fill(0);
  for (let slot = 0; slot < SLOTS; slot++) {
    const root = db.rootOf(slot);
    if (root === 0) {
      assert(db.slotBytes(slot) === 0, `slot ${slot} is empty and has ${db.slotBytes(slot)} bytes`);
      continue;
    }
    const found = checkSlot(db, slot, root, blocks);
    const shard = store.shardOf(slot);
    keys[shard] = (keys[shard] as number) + found.keys;
    expires[shard] = (expires[shard] as number) + found.expires;
    units += found.units;
  }
  for (let shard = 0; shard < store.shards; shard++) {
    assert(db.shardKeys(shard) === keys[shard], `shard ${shard}: keys`);
    assert(db.shardExpires(shard) === expires[shard], `shard ${shard}: expires`);
  }
  return units;
}

type Found = { keys: number; expires: number; units: number };

function checkSlot(db: Database, slot: number, root: number, blocks: Set<number>): Found {
  const { heap, table } = db.store;
  const found: Found = { keys: 0, expires: 0, units: 0 };
  if (((heap.i32[root >>> CHUNK_SHIFT] as Int32Array)[(root & UNIT_MASK) << 1] as number) < 0) {
    found.units += addBlock(blocks, heap.blockUnits(root), root);
  }
  eachSegment(table, root, (segment) => {
    found.units += addBlock(blocks, heap.blockUnits(segment), segment);
    const head = (segment & UNIT_MASK) << 1;
    const earliest = (heap.i32[segment >>> CHUNK_SHIFT] as Int32Array)[head + 1] as number;
    eachOfSegment(table, segment, (p) => {
      const expiry = db.expiryOf(p);
      if (expiry === 0) return;
      assert(earliest >>> 0 <= db.store.expirySeconds(expiry) >>> 0, "earliest expiry is too late");
    });
  });
  let recordUnits = 0;
  eachRecord(table, root, (p) => {
    checkRecord(db, slot, p);
    found.keys++;
    if (db.expiryOf(p) !== 0) found.expires++;
    recordUnits += addBlock(blocks, heap.blockUnits(p), p);
    if (db.kindOf(p) === STRING_BIG) {
      const big = db.bigBlockOf(p);
      const words = heap.i32[big >>> CHUNK_SHIFT] as Int32Array;
      assert(words[(big & UNIT_MASK) << 1] === 0, "a big block in use is pinned or orphaned");
      recordUnits += addBlock(blocks, heap.blockUnits(big), big);
    }
  });
  assert(table.count(root) === found.keys, `slot ${slot}: count`);
  assert(table.expires(root) === found.expires, `slot ${slot}: expires`);
  assert(db.slotBytes(slot) === recordUnits * 8, `slot ${slot}: bytes`);
  found.units += recordUnits;
  return found;
}

function checkRecord(db: Database, slot: number, p: number): void {
  const { table } = db.store;
  const u8 = db.bytesOf(p);
  const at = db.keyAt(p);
  const end = at + db.keyLength(p);
  assert(keySlot(u8, at, end) === slot, "a key in another slot's table");
  const there = table.find(
    db.rootOf(slot),
    table.hash(db.viewOf(p), at, end),
    db.viewOf(p),
    at,
    end,
  );
  assert(there === p, "a record is not where its key is looked for");
  const kind = db.kindOf(p);
  if (kind > STRING_LAST) return;
  const isBig = db.valueLength(p) > BIG_STRING_BYTES;
  assert(isBig === (kind === STRING_BIG), "a long string without a block, or a short one with");
}

function addBlock(blocks: Set<number>, units: number, p: number): number {
  assert(!blocks.has(p), "a block is found twice");
  blocks.add(p);
  return units;
}
