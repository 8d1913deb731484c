/**
 * One database as one thread sees it: keys, their records and their expiry. Keys come as argument
 * `i` of a request whose slot and hash the dispatcher has filled in.
 *
 * Everything here runs under the lock of the key's shard. Out of memory is a return value, and the
 * database is then as it was: a record is allocated before anything is changed.
 *
 * Every change goes through `changed`, which is the one place where counters, key events and
 * (later) the journal, WATCH and blocked clients hang.
 */

import type { Args } from "../base/args.ts";
import { copyLong } from "../base/bytes.ts";
import { SLOTS, UNIT_BYTES } from "../limits.ts";
import {
  CHUNK_SHIFT,
  DATABASE_ROW_WORDS,
  DATABASES_AT,
  DB_ROOTS,
  UNIT_MASK,
} from "../memory/layout.ts";
import { blockSize } from "../memory/size-classes.ts";
import {
  EXPIRY_BYTES,
  FLAG_EXPIRY,
  FLAG_LONG,
  HEADER_BYTES,
  isLong,
  keyOffset,
  LONG_BYTES,
  POINTER_BYTES,
  recordUnits,
  STRING_BIG,
  STRING_BYTES,
  TYPE_MASK,
} from "../structures/record.ts";
import { NO_EXPIRY } from "../structures/segment.ts";
import {
  ACCESS_MASK,
  accessBefore,
  frequencyAt,
  idleSeconds,
  lfuAccess,
  lfuMinutes,
  usedAgain,
} from "./access.ts";
import { BIG_BLOCK_LOOSE, BIG_BLOCK_ORPHAN, BIG_BLOCK_PINS } from "./big-block.ts";
import { Records } from "./records.ts";
import {
  C_EXPIRES,
  C_KEYS,
  COUNTER_WORDS,
  freeRoots,
  makeRoots,
  ROOT_COUNTERS_AT,
  ROOT_UNITS_AT,
} from "./roots.ts";
import { statIndex } from "./stats.ts";
import type { Store } from "./store.ts";

const HITS = statIndex("keyspace_hits");
const MISSES = statIndex("keyspace_misses");
const EXPIRED = statIndex("expired_keys");
const EVICTED = statIndex("evicted_keys");
const DIRTY = statIndex("dirty");
/** Longest value of a short record. */
const SHORT_VALUE_MAX = 0xffff;

/** Expiry argument of `write`: leave the record's expiry as it is. */
export const KEEP_EXPIRY = -1;
/** Expiry argument of `write`: the record has none afterwards. */
export const NO_EXPIRY_MS = 0;

const NO_CELLS = new Int32Array(0);

export class Database extends Records {
  readonly store: Store;
  readonly index: number;
  /** Slots that the running session's port stands for in CLUSTER: its owner's, or all, or none. */
  ownFirst = 0;
  ownLast = -1;
  /** Slots that keyspace commands of the running session may see: all, or its owner's. */
  scopeFirst = 0;
  scopeLast: number = SLOTS - 1;
  private rootsPointer = 0;
  /** View and first word of the roots block; meaningless while the pointer is 0. */
  private cells: Int32Array = NO_CELLS;
  private base = 0;
  private readonly row: number;

  constructor(store: Store, index: number) {
    super(store.heap);
    this.store = store;
    this.index = index;
    this.row = DATABASES_AT + index * DATABASE_ROW_WORDS + DB_ROOTS;
  }

  /** True if the database has roots; sets `cells` and `base` to them. */
  private attach(): boolean {
    const pointer = this.store.control[this.row] as number;
    // The view is compared too: roots may come again at the same place of a chunk made anew.
    const cells = this.i32[pointer >>> CHUNK_SHIFT] as Int32Array;
    if (pointer !== this.rootsPointer || cells !== this.cells) this.attachTo(pointer);
    return pointer !== 0;
  }

  private attachTo(pointer: number): void {
    const { heap } = this.store;
    // Another thread may have made the roots, and their chunk, since this one took its lock.
    heap.pool.sync();
    this.rootsPointer = pointer;
    this.cells = heap.i32[pointer >>> CHUNK_SHIFT] as Int32Array;
    this.base = (pointer & UNIT_MASK) << 1;
  }

  /** Lets go of the view of the roots; it is taken again when needed. */
  forgetViews(): void {
    this.rootsPointer = 0;
    this.cells = NO_CELLS;
  }

  private addRoots(): boolean {
    const { heap, control, shards } = this.store;
    const block = makeRoots(heap, shards);
    if (block === 0) return false;
    // Another thread may make the first key of another shard at this moment.
    if (Atomics.compareExchange(control, this.row, 0, block) !== 0) freeRoots(heap, block);
    return this.attach();
  }

  /** True once the database had a key since it was last flushed. */
  isMade(): boolean {
    return this.attach();
  }

  /** Root of a slot's table. */
  rootOf(slot: number): number {
    return this.attach() ? (this.cells[this.base + slot] as number) : 0;
  }

  /** Record of the key in argument `i`, for reading: counts a hit or a miss. 0 if there is none. */
  findRead(args: Args, i: number): number {
    const p = this.find(args, i);
    this.noteRead(p);
    return p;
  }

  /** What `findRead` does beside finding, for commands that know only later that they are run. */
  noteRead(p: number): void {
    if (p === 0) {
      this.store.stats.add(MISSES, 1);
      return;
    }
    this.store.stats.add(HITS, 1);
    this.touch(p);
  }

  /** Record of the key in argument `i`, for changing. */
  findWrite(args: Args, i: number): number {
    const p = this.find(args, i);
    if (p !== 0) this.touch(p);
    return p;
  }

  /** As `findRead`, but leaves the access time alone. */
  peek(args: Args, i: number): number {
    const p = this.find(args, i);
    this.store.stats.add(p === 0 ? MISSES : HITS, 1);
    return p;
  }

  /** The record, unless it has expired; then it is removed. */
  find(args: Args, i: number): number {
    if (!this.attach()) return 0;
    const root = this.cells[this.base + (args.slot[i] as number)] as number;
    if (root === 0) return 0;
    const p = this.store.table.find(
      root,
      args.hash[i] as number,
      args.viewOf(i),
      args.start[i] as number,
      args.end[i] as number,
    );
    if (p === 0) return 0;
    if (((this.head(p) & FLAG_EXPIRY) as number) === 0) return p;
    if (!this.store.hasPassed(this.expiryOf(p))) return p;
    if (this.store.hidesExpired) return 0;
    this.expireFound(p, args.slot[i] as number, args.hash[i] as number);
    return 0;
  }

  /** The record was used: `find*` does this once for each look. */
  touch(p: number): void {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const word = m[((p & UNIT_MASK) << 1) + 1] as number;
    if ((word & ACCESS_MASK) !== this.store.touchedAccess) this.touchSlowly(p, word & ACCESS_MASK);
  }

  private touchSlowly(p: number, access: number): void {
    const { store } = this;
    if (!store.touches) return;
    this.setAccess(
      p,
      store.isLfu
        ? usedAgain(access, lfuMinutes(store.now), store.lfu, store.random)
        : store.lruClock,
    );
  }

  /** Seconds since the record was used, if it remembers the time. */
  idleSeconds(p: number): number {
    return idleSeconds(this.accessOf(p), this.store.lruClock);
  }

  /**
   * What RESTORE says of the use of a record: seconds since, or a counter, each -1 if not said.
   * What the policy keeps is taken, and if that was not said the record is as new.
   */
  restoreAccess(p: number, idle: number, frequency: number): void {
    const { store } = this;
    let access = store.newAccess;
    if (store.isLfu) {
      if (frequency >= 0) access = lfuAccess(lfuMinutes(store.now), frequency);
    } else if (idle >= 0) {
      access = accessBefore(store.lruClock, idle);
    }
    this.setAccess(p, access);
  }

  /** Counter of uses as it stands now, if the record remembers one. */
  frequency(p: number): number {
    const { store } = this;
    return frequencyAt(this.accessOf(p), lfuMinutes(store.now), store.lfu.decayMinutes);
  }

  /**
   * Makes the record of key `i` hold `valueLength` bytes of `kind`, in place where it fits, and
   * returns it with the value area not yet written; 0 when memory is out, with nothing changed.
   * `old` is what `find` just returned. The value area of `old` may be overwritten: what is still
   * needed of it must be copied before. A big string of `old` is let go.
   */
  write(
    args: Args,
    i: number,
    old: number,
    kind: number,
    valueLength: number,
    expiryMs: number,
  ): number {
    if (
      old !== 0 &&
      expiryMs <= 0 &&
      valueLength <= SHORT_VALUE_MAX &&
      this.head(old) === (kind | (args.length(i) << 8) | (valueLength << 16))
    ) {
      // The commonest case: a short record without expiry gives way to one of the same shape.
      return old;
    }
    const keyLength = args.length(i);
    const area = kind === STRING_BIG ? POINTER_BYTES : valueLength;
    const expiry = expiryMs === KEEP_EXPIRY && old !== 0 ? this.expiryOf(old) : expiryMs;
    const flags =
      (expiry > 0 ? FLAG_EXPIRY : 0) |
      (kind === STRING_BIG || isLong(keyLength, valueLength) ? FLAG_LONG : 0);
    const units = recordUnits(flags, keyLength, area);
    const oldUnits = old === 0 ? 0 : this.unitsOf(old);
    if (old !== 0 && blockSize(oldUnits) === blockSize(units)) {
      const oldKind = this.head(old) & 0xff;
      if (oldKind === (flags | kind) && (flags & FLAG_LONG) === 0) {
        // Only length, value and time of expiry differ.
        const m = this.i32[old >>> CHUNK_SHIFT] as Int32Array;
        m[(old & UNIT_MASK) << 1] = flags | kind | (keyLength << 8) | (valueLength << 16);
        if (expiry > 0) this.writeExpiry(args, i, old, expiry, true);
        return old;
      }
      if ((oldKind & TYPE_MASK) === STRING_BIG) this.dropBig(old, args.slot[i] as number);
      this.fill(old, args, i, flags | kind, valueLength, expiry, oldKind);
      return old;
    }
    return this.writeNew(args, i, old, oldUnits, flags | kind, units, valueLength, expiry);
  }

  private writeNew(
    args: Args,
    i: number,
    old: number,
    oldUnits: number,
    kind: number,
    units: number,
    valueLength: number,
    expiry: number,
  ): number {
    const { heap, table } = this.store;
    const slot = args.slot[i] as number;
    const shard = this.store.shardOf(slot);
    if (old === 0 && !this.attach() && !this.addRoots()) return 0;
    const p = heap.alloc(shard, units);
    if (p === 0) return 0;
    if (old !== 0) {
      const oldKind = this.head(old) & 0xff;
      if ((oldKind & TYPE_MASK) === STRING_BIG) this.dropBig(old, slot);
      this.setAccess(p, this.accessOf(old));
      this.fill(p, args, i, kind, valueLength, expiry, oldKind);
      table.replaceFound(p);
      heap.free(shard, old);
      this.addUnits(slot, blockSize(units) - blockSize(oldUnits));
      return p;
    }
    this.setAccess(p, this.store.newAccess);
    this.fillRecord(
      p,
      args.source(i),
      args.start[i] as number,
      args.end[i] as number,
      kind,
      valueLength,
      expiry,
    );
    const seconds = expiry > 0 ? this.store.expirySeconds(expiry) : NO_EXPIRY;
    if (!table.insert(shard, this.cells, this.base + slot, args.hash[i] as number, p, seconds)) {
      heap.free(shard, p);
      return 0;
    }
    this.count(shard, 1, expiry > 0 ? 1 : 0);
    if (expiry > 0) this.store.expiresAt(shard, expiry, this.shardExpires(shard));
    this.addUnits(slot, blockSize(units));
    return p;
  }

  /** Header, expiry and key of a record that replaces one of `oldKind`, and the expiry's counts. */
  private fill(
    p: number,
    args: Args,
    i: number,
    kind: number,
    valueLength: number,
    expiry: number,
    oldKind: number,
  ): void {
    this.fillRecord(
      p,
      args.source(i),
      args.start[i] as number,
      args.end[i] as number,
      kind,
      valueLength,
      expiry,
    );
    this.expiryChanged(args.slot[i] as number, (oldKind & FLAG_EXPIRY) !== 0, expiry);
  }

  private expiryChanged(slot: number, wasExpiring: boolean, expiry: number): void {
    if (!wasExpiring && expiry === 0) return;
    const seconds = expiry > 0 ? this.store.expirySeconds(expiry) : NO_EXPIRY;
    this.store.table.expiryChanged(this.cells, this.base + slot, wasExpiring, seconds);
    const shard = this.store.shardOf(slot);
    if (wasExpiring !== expiry > 0) this.count(shard, 0, expiry > 0 ? 1 : -1);
    if (expiry > 0) this.store.expiresAt(shard, expiry, this.shardExpires(shard));
  }

  private fillRecord(
    p: number,
    source: Uint8Array,
    start: number,
    end: number,
    kind: number,
    valueLength: number,
    expiry: number,
  ): void {
    const u8 = this.bytesOf(p);
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const word = (p & UNIT_MASK) << 1;
    let at = ((p & UNIT_MASK) << 3) + HEADER_BYTES;
    if (kind & FLAG_LONG) {
      const view = this.viewOf(p);
      m[word] = kind;
      view.setUint32(at, end - start, true);
      view.setUint32(at + 4, valueLength, true);
      at += LONG_BYTES;
      this.store.heap.work.copied(end - start);
    } else {
      m[word] = kind | ((end - start) << 8) | (valueLength << 16);
    }
    if (kind & FLAG_EXPIRY) {
      this.viewOf(p).setFloat64(at, expiry, true);
      at += EXPIRY_BYTES;
    }
    for (let k = start; k < end; k++) u8[at++] = source[k] as number;
  }

  private writeExpiry(args: Args, i: number, p: number, expiry: number, was: boolean): void {
    const kind = this.head(p);
    const at = ((p & UNIT_MASK) << 3) + HEADER_BYTES + (kind & FLAG_LONG ? LONG_BYTES : 0);
    this.viewOf(p).setFloat64(at, expiry, true);
    this.expiryChanged(args.slot[i] as number, was, expiry);
  }

  /**
   * Gives the record that `find` just returned another expiry, or none (0). Returns the record,
   * which may have moved; 0 when memory is out.
   */
  setExpiry(args: Args, i: number, p: number, expiry: number): number {
    const head = this.head(p);
    const was = (head & FLAG_EXPIRY) !== 0;
    if (was && expiry > 0) {
      this.writeExpiry(args, i, p, expiry, true);
      return p;
    }
    if (!was && expiry === 0) return p;
    const kind = (head & 0xff & ~FLAG_EXPIRY) | (expiry > 0 ? FLAG_EXPIRY : 0);
    return this.reshape(args, i, p, kind, this.valueLength(p), this.areaBytes(p), expiry);
  }

  /**
   * Gives the string that `find` just returned, which is bytes and no big one, another kind and a
   * greater length, up to the longest that is no big one. Its bytes stay in front, its expiry too.
   * Returns the record, which may have moved; 0 when memory is out.
   */
  lengthen(args: Args, i: number, p: number, type: number, valueLength: number): number {
    const form = isLong(this.keyLength(p), valueLength) ? FLAG_LONG : 0;
    const kind = type | (this.head(p) & FLAG_EXPIRY) | form;
    return this.reshape(args, i, p, kind, valueLength, valueLength, this.expiryOf(p));
  }

  /** Moves a record to a header of another kind and a value area of `area` bytes, no less. */
  private reshape(
    args: Args,
    i: number,
    p: number,
    kind: number,
    valueLength: number,
    area: number,
    expiry: number,
  ): number {
    const { heap, table } = this.store;
    const slot = args.slot[i] as number;
    const shard = this.store.shardOf(slot);
    const oldKind = this.head(p) & 0xff;
    const kept = this.areaBytes(p);
    const units = recordUnits(kind, this.keyLength(p), area);
    const before = this.unitsOf(p);
    const from = this.valueAt(p);
    heap.work.copied(kept);
    if (blockSize(before) === blockSize(units)) {
      // Key and value move by what the header grows or shrinks, within the block.
      const to = ((p & UNIT_MASK) << 3) + keyOffset(kind) + this.keyLength(p);
      const u8 = this.bytesOf(p);
      if (to > from) u8.copyWithin(to, from, from + kept);
      this.fill(p, args, i, kind, valueLength, expiry, oldKind);
      if (to < from) u8.copyWithin(to, from, from + kept);
      return p;
    }
    const q = heap.alloc(shard, units);
    if (q === 0) return 0;
    this.setAccess(q, this.accessOf(p));
    this.fill(q, args, i, kind, valueLength, expiry, oldKind);
    const to = this.valueAt(q);
    copyLong(this.bytesOf(q), to, this.bytesOf(p), from, kept);
    table.replaceFound(q);
    heap.free(shard, p);
    this.addUnits(slot, blockSize(units) - blockSize(before));
    return q;
  }

  /** Removes the record that `find` just returned and frees it. The caller calls `changed`. */
  remove(args: Args, i: number, p: number): void {
    this.removeFound(p, args.slot[i] as number, args.hash[i] as number);
  }

  /** Returns the units of the record's blocks. */
  private removeFound(p: number, slot: number, hash: number): number {
    const { store } = this;
    const shard = store.shardOf(slot);
    const head = this.head(p);
    const expires = (head & FLAG_EXPIRY) !== 0;
    let units = blockSize(this.unitsOf(p));
    store.table.removeFound(shard, this.cells, this.base + slot, hash, expires);
    this.addUnits(slot, -units);
    if ((head & TYPE_MASK) === STRING_BIG) units += this.dropBig(p, slot);
    store.heap.free(shard, p);
    this.count(shard, -1, expires ? -1 : 0);
    return units;
  }

  /** Frees a record and what hangs on it. No table has it and no slot counts it any more. */
  freeRecord(shard: number, p: number): void {
    if (this.kindOf(p) === STRING_BIG) this.releaseBig(this.bigBlockOf(p));
    this.store.heap.free(shard, p);
  }

  /** Takes the block of a record off its slot's count and lets go of it. Returns its units. */
  private dropBig(p: number, slot: number): number {
    const block = this.bigBlockOf(p);
    const units = this.store.heap.blockUnits(block);
    this.addUnits(slot, -units);
    this.releaseBig(block);
    return units;
  }

  /** Lets go of a big block; a pinned one stays until its last unpin. */
  private releaseBig(block: number): void {
    const { heap } = this.store;
    const m = heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
    const before = Atomics.or(m, (block & UNIT_MASK) << 1, BIG_BLOCK_ORPHAN);
    if ((before & BIG_BLOCK_PINS) === 0) heap.freeLarge(block);
  }

  /**
   * Gives a string that `find` just returned another kind and length in its own block, with its
   * bytes, key and expiry where they are. False if its block or the form of its header cannot hold
   * them. Neither the old nor the new string may be a big one.
   */
  resizeInPlace(p: number, kind: number, valueLength: number): boolean {
    const head = this.head(p);
    const keyLength = this.keyLength(p);
    const flags = head & 0xff & ~TYPE_MASK;
    if (isLong(keyLength, valueLength) !== ((flags & FLAG_LONG) !== 0)) return false;
    const units = recordUnits(flags, keyLength, valueLength);
    if (blockSize(units) !== blockSize(this.unitsOf(p))) return false;
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    if (flags & FLAG_LONG) {
      m[(p & UNIT_MASK) << 1] = flags | kind;
      this.setLongLength(p, valueLength);
    } else {
      m[(p & UNIT_MASK) << 1] = flags | kind | (keyLength << 8) | (valueLength << 16);
    }
    return true;
  }

  /** Says how long the string in a record's big block is now. */
  setBigLength(p: number, bytes: number): void {
    this.setLongLength(p, bytes);
  }

  private setLongLength(p: number, bytes: number): void {
    this.viewOf(p).setUint32(((p & UNIT_MASK) << 3) + HEADER_BYTES + 4, bytes, true);
  }

  /** Makes the big string of a record that was just written point to a block. */
  adoptBig(args: Args, i: number, p: number, block: number): void {
    const m = this.store.heap.i32[block >>> CHUNK_SHIFT] as Int32Array;
    m[((block & UNIT_MASK) << 1) + BIG_BLOCK_LOOSE] = 0;
    this.viewOf(p).setInt32(this.valueAt(p), block, true);
    this.addUnits(args.slot[i] as number, this.store.heap.blockUnits(block));
  }

  /**
   * Takes the block out of the big string that `find` just returned, for `adoptBig` of another
   * record. What is left is a short string as long as the pointer was, and is to be removed.
   */
  takeBig(args: Args, i: number, p: number): number {
    const block = this.bigBlockOf(p);
    const m = this.store.heap.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const word = (p & UNIT_MASK) << 1;
    m[word] = ((m[word] as number) & ~TYPE_MASK) | STRING_BYTES;
    this.setLongLength(p, POINTER_BYTES);
    this.addUnits(args.slot[i] as number, -this.store.heap.blockUnits(block));
    return block;
  }

  /** Removes an expired record that the table found last. */
  private expireFound(p: number, slot: number, hash: number): void {
    const at = this.keyAt(p);
    this.store.stats.add(EXPIRED, 1);
    this.tell("expired", this.bytesOf(p), at, at + this.keyLength(p), "");
    this.removeFound(p, slot, hash);
  }

  /** Evicts the record that the table found last. Returns the bytes of its blocks. */
  evictFound(p: number, slot: number, hash: number): number {
    this.store.stats.add(EVICTED, 1);
    if (this.store.listener !== null) {
      const at = this.keyAt(p);
      this.tell("evicted", this.bytesOf(p), at, at + this.keyLength(p), "");
    }
    return this.removeFound(p, slot, hash) * UNIT_BYTES;
  }

  /** Removes a record met on a walk if it has expired. True if it had. */
  expireIfDue(p: number, slot: number): boolean {
    const expiry = this.expiryOf(p);
    if (expiry === 0 || this.store.now <= expiry || this.store.hidesExpired) return false;
    const at = this.keyAt(p);
    const { table } = this.store;
    const hash = table.hashOf(p);
    const end = at + this.keyLength(p);
    if (table.find(this.rootOf(slot), hash, this.viewOf(p), at, end) !== p) return false;
    this.expireFound(p, slot, hash);
    return true;
  }

  /**
   * A key changed: `event` is the name of the key event, `also` of the one that Redis sends after it
   * for the same change ("expire" where SET has a time), else empty. Called once per changed key.
   */
  changed(event: string, args: Args, i: number, also = ""): void {
    this.changedKey(event, args.source(i), args.start[i] as number, args.end[i] as number, also);
  }

  changedKey(event: string, source: Uint8Array, start: number, end: number, also = ""): void {
    this.store.stats.add(DIRTY, 1);
    this.tell(event, source, start, end, also);
  }

  /** A second key or name of the change that `changed` was just called for: RENAME is one change. */
  changedToo(event: string, args: Args, i: number): void {
    this.tell(event, args.source(i), args.start[i] as number, args.end[i] as number, "");
  }

  /** So many keys changed that nobody names one by one: FLUSHDB, SWAPDB. */
  changedAll(keys: number): void {
    this.store.stats.add(DIRTY, keys);
  }

  /** Redis: a key that expires is told of, but is no change that a save is due for. */
  private tell(event: string, source: Uint8Array, start: number, end: number, also: string): void {
    const { listener } = this.store;
    if (listener !== null) listener.changed(this, event, source, start, end, also);
  }

  private count(shard: number, keys: number, expires: number): void {
    const at = this.base + ROOT_COUNTERS_AT + shard * COUNTER_WORDS;
    this.cells[at + C_KEYS] = (this.cells[at + C_KEYS] as number) + keys;
    this.cells[at + C_EXPIRES] = (this.cells[at + C_EXPIRES] as number) + expires;
  }

  private addUnits(slot: number, units: number): void {
    if (units === 0) return;
    const at = this.base + ROOT_UNITS_AT + slot;
    this.cells[at] = (this.cells[at] as number) + units;
  }

  /** Keys of a shard, expired ones that nobody met included. */
  shardKeys(shard: number): number {
    if (!this.attach()) return 0;
    return this.cells[this.base + ROOT_COUNTERS_AT + shard * COUNTER_WORDS + C_KEYS] as number;
  }

  shardExpires(shard: number): number {
    if (!this.attach()) return 0;
    return this.cells[this.base + ROOT_COUNTERS_AT + shard * COUNTER_WORDS + C_EXPIRES] as number;
  }

  /** Bytes of all records of a slot. */
  slotBytes(slot: number): number {
    if (!this.attach()) return 0;
    return ((this.cells[this.base + ROOT_UNITS_AT + slot] as number) >>> 0) * 8;
  }

  /** Bytes of the records in slots `first` to `last`, both included. */
  slotRangeBytes(first: number, last: number): number {
    if (!this.attach()) return 0;
    const { cells } = this;
    const end = this.base + ROOT_UNITS_AT + last;
    let units = 0;
    for (let at = this.base + ROOT_UNITS_AT + first; at <= end; at++) {
      units += (cells[at] as number) >>> 0;
    }
    return units * 8;
  }

  /** Takes all keys out of the database. All shards are locked. Returns the block of roots. */
  detachRoots(): number {
    return Atomics.exchange(this.store.control, this.row, 0);
  }

  /** View and index of a slot's root, for walks that change tables. The database has roots. */
  cell(slot: number): { cells: Int32Array; cell: number } {
    this.attach();
    return { cells: this.cells, cell: this.base + slot };
  }

  /** Empties one slot's table into the hands of the caller: returns its root. */
  detachSlot(slot: number): number {
    if (!this.attach()) return 0;
    const root = this.cells[this.base + slot] as number;
    if (root === 0) return 0;
    const { table } = this.store;
    this.count(this.store.shardOf(slot), -table.count(root), -table.expires(root));
    this.cells[this.base + slot] = 0;
    this.cells[this.base + ROOT_UNITS_AT + slot] = 0;
    return root;
  }
}
