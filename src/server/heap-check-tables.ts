/**
 * The keyspace's side of the heap check: databases, tables, segments, records and the blocks of
 * big strings, and the databases that were flushed and wait to be freed. Everything found is
 * marked as reached.
 */
import { keySlot } from "../base/crc16.ts";
import { BIG_BLOCK_LOOSE, BIG_BLOCK_ORPHAN, bigCapacity } from "../keyspace/big-block.ts";
import type { Database } from "../keyspace/database.ts";
import { isMissed } from "../keyspace/expiry.ts";
import type { Store } from "../keyspace/store.ts";
import { BIG_STRING_BYTES, SLOTS } from "../limits.ts";
import {
  CHUNK_SHIFT,
  DATABASE_ROW_WORDS,
  DATABASES_AT,
  DB_ROOTS,
  UNIT_MASK,
} from "../memory/layout.ts";
import { blockSize } from "../memory/size-classes.ts";
import {
  FLAG_LONG,
  isLong,
  POINTER_BYTES,
  recordUnits,
  STRING_BIG,
  STRING_INT32,
  STRING_INT64,
  STRING_LAST,
} from "../structures/record.ts";
import {
  depthOf,
  eachOfSegment,
  eachRecord,
  eachSegment,
  segmentFacts,
} from "../structures/table-walks.ts";
import { type HeapCheck, hex, reach, unitsAt } from "./heap-check-marks.ts";

type Found = { keys: number; expires: number; units: number };

/** Thrown to leave a table that cannot be followed further. */
class Unsound extends Error {}

export function checkDatabases(check: HeapCheck, store: Store): void {
  for (const db of store.databases) checkDatabase(check, db);
}

/** `pointers` are the blocks of roots in the garbage list. */
export function checkGarbage(check: HeapCheck, store: Store, pointers: readonly number[]): void {
  const { heap } = store;
  const db = store.databases[0] as Database;
  for (const pointer of pointers) {
    // Its last record may be gone, and the block with it, since the list was read.
    if (unitsAt(heap, pointer) === 0) continue;
    if (reach(check, pointer, "the garbage list") === 0) continue;
    const m = heap.i32[pointer >>> CHUNK_SHIFT] as Int32Array;
    const base = (pointer & UNIT_MASK) << 1;
    for (let slot = 0; slot < SLOTS; slot++) {
      const root = m[base + slot] as number;
      if (root === 0) continue;
      attempt(check, `flushed slot ${slot}`, () => walk(check, db, root, `flushed slot ${slot}`));
    }
  }
}

/** Runs a walk. A damaged table may lead it anywhere; whatever that throws is a finding. */
function attempt(check: HeapCheck, what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    check.findings.add(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkDatabase(check: HeapCheck, db: Database): void {
  const { store } = db;
  const row = DATABASES_AT + db.index * DATABASE_ROW_WORDS + DB_ROOTS;
  const pointer = store.control[row] as number;
  if (pointer === 0) return;
  if (reach(check, pointer, `database ${db.index}`) === 0) return;
  const keys = new Int32Array(store.shards);
  const expires = new Int32Array(store.shards);
  for (let slot = 0; slot < SLOTS; slot++) {
    const what = `db ${db.index} slot ${slot}`;
    attempt(check, what, () => {
      const found = checkSlot(check, db, slot, what);
      const shard = store.shardOf(slot);
      keys[shard] = (keys[shard] as number) + found.keys;
      expires[shard] = (expires[shard] as number) + found.expires;
    });
  }
  for (let shard = 0; shard < store.shards; shard++) {
    const what = `db ${db.index} shard ${shard}`;
    expect(check, `${what} keys`, db.shardKeys(shard), keys[shard] as number);
    expect(check, `${what} expires`, db.shardExpires(shard), expires[shard] as number);
  }
}

function expect(check: HeapCheck, what: string, counted: number, found: number): void {
  if (counted !== found) check.findings.add(`${what}: ${counted} counted, ${found} found`);
}

function checkSlot(check: HeapCheck, db: Database, slot: number, what: string): Found {
  const root = db.rootOf(slot);
  const { table } = db.store;
  if (root === 0) {
    expect(check, `${what} bytes`, db.slotBytes(slot), 0);
    return { keys: 0, expires: 0, units: 0 };
  }
  const found = walk(check, db, root, what);
  expect(check, `${what} keys`, table.count(root), found.keys);
  expect(check, `${what} expires`, table.expires(root), found.expires);
  expect(check, `${what} bytes`, db.slotBytes(slot), found.units * 8);
  eachRecord(table, root, (p) => checkPlace(check, db, slot, p, what));
  return found;
}

/** Reaches all blocks of a table. Throws `Unsound` where it cannot go on. */
function walk(check: HeapCheck, db: Database, root: number, what: string): Found {
  const { heap, table } = db.store;
  const found: Found = { keys: 0, expires: 0, units: 0 };
  if (unitsAt(heap, root) === 0) throw new Unsound(`its root is ${hex(root)}`);
  const depth = depthOf(table, root);
  if (depth > 0) reach(check, root, what);
  eachSegment(table, root, (segment) => {
    if (reach(check, segment, `${what}: the table`) === 0) throw new Unsound("a broken segment");
    const facts = segmentFacts(table, segment);
    if (facts.depth > depth) throw new Unsound(`a segment has depth ${facts.depth} of ${depth}`);
    if (facts.count > facts.capacity) throw new Unsound(`a segment has ${facts.count} entries`);
    expect(check, `${what}: places of a segment`, facts.taken, facts.count);
    let expires = 0;
    eachOfSegment(table, segment, (p) => {
      const units = checkRecord(check, db, p, what);
      if (units === 0) throw new Unsound("a broken record");
      found.units += units;
      found.keys++;
      const expiry = db.expiryOf(p);
      if (expiry === 0) return;
      expires++;
      if (facts.earliest >>> 0 > db.store.expirySeconds(expiry) >>> 0) {
        check.findings.add(`${what}: a record expires before its segment's earliest`);
      }
    });
    expect(check, `${what}: expiring entries of a segment`, facts.expires, expires);
    found.expires += expires;
  });
  return found;
}

/** Reaches a record and its big block. Returns their units, 0 if the record cannot be read. */
function checkRecord(check: HeapCheck, db: Database, p: number, what: string): number {
  const { heap } = db.store;
  const units = reach(check, p, `${what}: an entry`);
  if (units === 0) return 0;
  if (heap.blocks !== null) heap.blocks.check(p);
  const kind = db.kindOf(p);
  const record = `${what}: record ${hex(p)}`;
  if (kind === 0 || kind > STRING_LAST) {
    check.findings.add(`${record} has kind ${kind}`);
    return 0;
  }
  const flags = db.head(p) & 0xff;
  const length = db.valueLength(p);
  const area = kind === STRING_BIG ? POINTER_BYTES : length;
  const needed = recordUnits(flags, db.keyLength(p), area);
  if (blockSize(needed) !== units) {
    check.findings.add(`${record} needs ${needed} units and has ${units}`);
    if (needed > units) return 0;
  }
  if (kind !== STRING_BIG && ((flags & FLAG_LONG) !== 0) !== isLong(db.keyLength(p), length)) {
    check.findings.add(`${record} has the wrong form for its lengths`);
  }
  if (kind === STRING_INT32) expect(check, `${record}: bytes of a number`, length, 4);
  if (kind === STRING_INT64) expect(check, `${record}: bytes of a number`, length, 8);
  if (length > BIG_STRING_BYTES !== (kind === STRING_BIG)) {
    check.findings.add(`${record} of kind ${kind} has ${length} bytes`);
  }
  return kind === STRING_BIG ? units + checkBig(check, db, p, record) : units;
}

function checkBig(check: HeapCheck, db: Database, p: number, record: string): number {
  const { heap } = db.store;
  const block = db.bigBlockOf(p);
  const units = reach(check, block, record);
  if (units === 0) return 0;
  if (bigCapacity(heap, block) < db.valueLength(p)) {
    check.findings.add(`${record} is longer than its block`);
  }
  const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
  const at = (block & UNIT_MASK) << 1;
  const isOrphan = (Atomics.load(m, at) & BIG_BLOCK_ORPHAN) !== 0;
  if (isOrphan || m[at + BIG_BLOCK_LOOSE] !== 0) {
    check.findings.add(`${record} has a block that does not know of it`);
  }
  return units;
}

/** A record must be in the table of its key's slot, and be found there by its key. */
function checkPlace(check: HeapCheck, db: Database, slot: number, p: number, what: string): void {
  const { store } = db;
  const { table } = store;
  const expiry = db.expiryOf(p);
  if (expiry !== 0 && isMissed(store, store.shardOf(slot), expiry)) {
    check.findings.add(`${what}: the expiry walk comes too late for record ${hex(p)}`);
  }
  const u8 = db.bytesOf(p);
  const start = db.keyAt(p);
  const end = start + db.keyLength(p);
  const right = keySlot(u8, start, end);
  if (right !== slot) {
    check.findings.add(`${what}: record ${hex(p)} belongs to slot ${right}`);
  } else if (table.find(db.rootOf(slot), table.hashOf(p), db.viewOf(p), start, end) !== p) {
    check.findings.add(`${what}: record ${hex(p)} is not found by its key`);
  }
}
