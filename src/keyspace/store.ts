/**
 * One thread's view of a store: the heap, its tables and its databases.
 *
 * All threads have a Store of their own over the same shared memory. What it does to keys is done
 * under the shard's lock, which the dispatcher takes; the store itself never locks a shard.
 */

import type { Clock, RandomSource } from "../env/env.ts";
import { RDB_VERSION_DEFAULT, SLOTS } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import {
  DATABASE_ROW_WORDS,
  DATABASES_AT,
  DB_ROOTS,
  H_BASE_SECONDS,
  H_SHARDS,
  S_EXPIRY_DUE,
  S_TIME_LOW,
  shardRow,
} from "../memory/layout.ts";
import { Table } from "../structures/table.ts";
import { LFU_INITIAL, type LfuSettings, lfuAccess, lfuMinutes, lruClock } from "./access.ts";
import { BlockCopy } from "./block-copy.ts";
import { Database } from "./database.ts";
import type { Stats } from "./stats.ts";

const SLOT_BITS = 14;
/** Expiring keys of a shard and database up to which the expiry walk is exact to its tick. */
export const EXACT_KEYS_MAX = 256;
/** No record remembers this. */
const NEVER_TOUCHED = -1;

/** Hears of every change; see `Database.changed`. */
export type ChangeListener = {
  changed(
    db: Database,
    event: string,
    source: Uint8Array,
    start: number,
    end: number,
    also: string,
  ): void;
};

export type StoreOptions = {
  heap: Heap;
  thread: number;
  databases: number;
  clock: Clock;
  random: RandomSource;
  stats: Stats;
};

/** By how much the system's clock may be set back, and time in the shards just stands still. */
export const SET_BACK_MS = 1000;

export class Store {
  readonly heap: Heap;
  /** The copy of a big string that this thread makes under no lock. */
  readonly blockCopy: BlockCopy;
  readonly table: Table;
  readonly control: Int32Array;
  readonly shards: number;
  readonly thread: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Where the running command is counted. */
  stats: Stats;
  readonly databases: Database[] = [];
  readonly baseSeconds: number;
  /** Unix milliseconds at which the running command happens. */
  now = 0;
  /** The clock was not read for the running command; that is put off until a key may expire. */
  isTimeless = false;
  /** 24 bits: seconds for LRU. */
  lruClock = 0;
  /** What a record of a new key remembers of its use. */
  newAccess = 0;
  /** What a record that needs no touch remembers; with LFU none is like that. */
  touchedAccess = 0;
  /** Records remember a counter of uses instead of the time of the last one. */
  isLfu = false;
  readonly lfu: LfuSettings = { logFactor: 10, decayMinutes: 1 };
  /** Small integers count as shared: Redis keeps no time or counter of use for each then. */
  sharesIntegers = true;
  /** Commands of the running session leave their mark in the keys they use: no CLIENT NO-TOUCH. */
  touches = true;
  /** What is past its time is hidden but not removed: clients are paused. */
  hidesExpired = false;
  /** The running command came by an owner's port, where there is no database but 0. */
  isOwnerPort = false;
  /** Longest string that APPEND and SETRANGE may make: `proto-max-bulk-len`. */
  bulkMax: number = 512 * 1024 * 1024;
  /** How DUMP writes: `rdbcompression` and `rdb-write-version`. */
  rdbCompression = true;
  rdbWriteVersion: number = RDB_VERSION_DEFAULT;
  listener: ChangeListener | null = null;
  private readonly times: Float64Array;

  constructor(options: StoreOptions) {
    this.heap = options.heap;
    this.blockCopy = new BlockCopy(options.heap);
    this.control = options.heap.control;
    this.table = new Table(options.heap);
    this.shards = this.control[H_SHARDS] as number;
    this.baseSeconds = (this.control[H_BASE_SECONDS] as number) >>> 0;
    this.thread = options.thread;
    this.clock = options.clock;
    this.random = options.random;
    this.stats = options.stats;
    this.times = new Float64Array(this.control.buffer);
    for (let i = 0; i < options.databases; i++) this.databases.push(new Database(this, i));
    this.setTime(options.clock.unixMs);
  }

  shardOf(slot: number): number {
    return (slot * this.shards) >> SLOT_BITS;
  }

  /** First slot of a shard; `shards` gives one past the last slot. */
  firstSlot(shard: number): number {
    return Math.ceil((shard * SLOTS) / this.shards);
  }

  /** True if a time of expiry lies before the running command. */
  hasPassed(unixMs: number): boolean {
    if (this.isTimeless) this.readTime();
    return this.now > unixMs;
  }

  private readTime(): void {
    this.isTimeless = false;
    this.clock.refresh();
    const ahead = this.now - this.clock.unixMs;
    if (ahead < 0 || ahead > SET_BACK_MS) this.setTime(this.clock.unixMs);
  }

  setTime(unixMs: number): void {
    this.now = unixMs;
    this.lruClock = lruClock(unixMs);
    this.newAccess = this.isLfu ? lfuAccess(lfuMinutes(unixMs), LFU_INITIAL) : this.lruClock;
    this.touchedAccess = this.isLfu ? NEVER_TOUCHED : this.lruClock;
  }

  /** Says how records remember their use from now on. */
  setAccessMode(isLfu: boolean, logFactor: number, decayMinutes: number): void {
    this.isLfu = isLfu;
    this.lfu.logFactor = logFactor;
    this.lfu.decayMinutes = decayMinutes;
    this.setTime(this.now);
  }

  /**
   * Sets the time of a command that runs under this shard's lock: not before the latest command
   * there, so that an expiry never goes backwards between threads. It does where the system's clock
   * was set back, else no key made from then on would expire until the clock has caught up.
   */
  enterShard(shard: number): void {
    const at = (shardRow(shard) + S_TIME_LOW) >> 1;
    const latest = this.times[at] as number;
    if (latest === this.now && latest === this.clock.unixMs) return;
    if (this.clock.unixMs >= latest || this.isSetBack(latest)) {
      this.times[at] = this.clock.unixMs;
      if (this.now !== this.clock.unixMs) this.setTime(this.clock.unixMs);
    } else if (this.now !== latest) {
      this.setTime(latest);
    }
  }

  /** As `enterShard`, for a command over the first `count` shards of a list: one time for all. */
  enterShards(list: Int32Array, count: number): void {
    let time = this.clock.unixMs;
    for (let n = 0; n < count; n++) time = Math.max(time, this.timeOf(list[n] as number));
    if (this.isSetBack(time)) time = this.clock.unixMs;
    for (let n = 0; n < count; n++) {
      this.times[(shardRow(list[n] as number) + S_TIME_LOW) >> 1] = time;
    }
    if (this.now !== time) this.setTime(time);
  }

  /** True if a time that some thread has seen is one that the system's clock has not come to. */
  private isSetBack(seenMs: number): boolean {
    if (seenMs - this.clock.unixMs <= SET_BACK_MS) return false;
    // A thread that was long in a command may only be behind.
    this.clock.refresh();
    return seenMs - this.clock.unixMs > SET_BACK_MS;
  }

  /** Time of the latest command in a shard. */
  timeOf(shard: number): number {
    return this.times[(shardRow(shard) + S_TIME_LOW) >> 1] as number;
  }

  /** See S_EXPIRY_DUE. */
  expiryDue(shard: number): number {
    return this.times[(shardRow(shard) + S_EXPIRY_DUE) >> 1] as number;
  }

  setExpiryDue(shard: number, unixMs: number): void {
    this.times[(shardRow(shard) + S_EXPIRY_DUE) >> 1] = unixMs;
  }

  /**
   * A key of a shard expires then, one of so many in its database: the walk must not come later.
   * With many it does not look at them before the second is over.
   */
  expiresAt(shard: number, unixMs: number, expires: number): void {
    const due = expires > EXACT_KEYS_MAX ? this.secondAfter(this.expirySeconds(unixMs)) : unixMs;
    const at = (shardRow(shard) + S_EXPIRY_DUE) >> 1;
    if (due < (this.times[at] as number)) this.times[at] = due;
  }

  /** Unix milliseconds at which a second is over that segments keep. */
  secondAfter(seconds: number): number {
    return (this.baseSeconds + (seconds >>> 0) + 1) * 1000;
  }

  /** Seconds after the store's base, rounded down, as segments keep their earliest expiry. */
  expirySeconds(unixMs: number): number {
    const seconds = Math.floor(unixMs / 1000) - this.baseSeconds;
    return Math.min(Math.max(seconds, 0), 0xfffffffe) | 0;
  }

  /** Lets go of views that are kept for speed, so that a dropped chunk can be collected. */
  forgetViews(): void {
    this.table.forgetViews();
    for (const db of this.databases) db.forgetViews();
  }

  /** Exchanges two databases. All shards are locked. */
  swap(a: number, b: number): void {
    const rowA = DATABASES_AT + a * DATABASE_ROW_WORDS + DB_ROOTS;
    const rowB = DATABASES_AT + b * DATABASE_ROW_WORDS + DB_ROOTS;
    const roots = this.control[rowA] as number;
    this.control[rowA] = this.control[rowB] as number;
    this.control[rowB] = roots;
  }
}
