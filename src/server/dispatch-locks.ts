/**
 * The shard locks of one thread: those of the command under way, taken in ascending order, and
 * single ones for background work. Nothing else of a thread takes them but the dispatcher's path
 * for one key.
 *
 * Waiting can fail: when a lock is not had within PATIENCE_MS, everything taken is given back.
 * Whoever wanted it may leave a mark at the shard, whose release then rings this thread.
 */
import type { Args } from "../base/args.ts";
import type { KeyList } from "../command/key-specs.ts";
import type { ShardLocks } from "../keyspace/garbage.ts";
import { statIndex } from "../keyspace/stats.ts";
import { RECORDER_ENTRIES, S_RECORDER, S_RECORDER_AT, shardRow } from "../memory/layout.ts";
import {
  acquire,
  acquireAlone,
  FREE,
  type LockCounters,
  park,
  release,
  releaseAlone,
  tryAcquire,
  type Waiting,
} from "../memory/lock.ts";
import type { ThreadServer } from "./thread-server.ts";

/** Longest wait for a lock. */
const PATIENCE_MS = 1;
/** In the flight recorder: the command has several keys, or none. */
const NO_SLOT = -1;

const CONTENDED = statIndex("lock_contended");
const WAIT_USEC = statIndex("lock_wait_usec");
const HOLD_MAX = statIndex("lock_hold_max_usec");

export class DispatchLocks implements ShardLocks {
  /** Locks taken since the dispatcher has counted them. */
  taken = 0;
  /**
   * For steps of which each looks at a few keys: they cost less than to time them. Whoever does
   * many of them times them together.
   */
  readonly brief: ShardLocks = { tryShard: (shard, run) => this.tryBriefly(shard, run) };
  private readonly server: ThreadServer;
  private readonly control: Int32Array;
  private readonly waiting: Waiting;
  private readonly counters: LockCounters;
  private readonly marks: Uint8Array;
  /** Shards of the command under way, ascending. */
  private readonly list: Int32Array;
  private count = 0;

  constructor(server: ThreadServer, waiting: Waiting, counters: LockCounters) {
    this.server = server;
    this.control = server.store.control;
    this.waiting = waiting;
    this.counters = counters;
    this.marks = new Uint8Array(server.shards);
    this.list = new Int32Array(server.shards);
  }

  /** The next command wants no shards yet. */
  wantNone(): void {
    this.count = 0;
  }

  wantOne(shard: number): void {
    this.list[this.count++] = shard;
  }

  wantAll(): void {
    for (let shard = 0; shard < this.server.shards; shard++) this.wantOne(shard);
  }

  /** Each shard of these keys once. */
  wantKeys(keys: KeyList, args: Args): void {
    const { marks, list } = this;
    const { store } = this.server;
    for (let k = 0; k < keys.count; k++) {
      const shard = store.shardOf(args.slot[keys.at[k] as number] as number);
      if (marks[shard] !== 0) continue;
      marks[shard] = 1;
      let at = this.count++;
      for (; at > 0 && (list[at - 1] as number) > shard; at--) list[at] = list[at - 1] as number;
      list[at] = shard;
    }
    for (let n = 0; n < this.count; n++) marks[list[n] as number] = 0;
  }

  /** Takes all that are wanted. Returns -1, or the shard that was not had with none held. */
  acquire(): number {
    const { server, control, list } = this;
    for (let n = 0; n < this.count; n++) {
      const shard = list[n] as number;
      if (!tryAcquire(control, shardRow(shard), server.thread) && !this.acquireSlowly(shard)) {
        this.releaseFirst(n);
        return shard;
      }
    }
    server.store.enterShards(list, this.count);
    this.taken += this.count;
    return -1;
  }

  release(): void {
    this.releaseFirst(this.count);
  }

  private releaseFirst(count: number): void {
    for (let n = count - 1; n >= 0; n--) this.releaseOne(this.list[n] as number);
  }

  releaseOne(shard: number): void {
    const parked = release(this.control, shardRow(shard));
    if (parked !== 0) this.server.ringParked(parked);
  }

  /** A lock that was found taken; false if it is not had within PATIENCE_MS. */
  acquireSlowly(shard: number): boolean {
    const { server, control, counters, waiting } = this;
    const waited = counters.waitMs;
    const got = acquire(control, shardRow(shard), server.thread, waiting, PATIENCE_MS, counters);
    server.stats.add(CONTENDED, 1);
    server.stats.add(WAIT_USEC, Math.round((counters.waitMs - waited) * 1000));
    return got;
  }

  /** Leaves a mark at the shard so that its release rings this thread. */
  park(shard: number): void {
    const line = shardRow(shard);
    park(this.control, line, this.server.thread);
    // It may have been released between the last try and the mark.
    if (tryAcquire(this.control, line, this.server.thread)) this.releaseOne(shard);
  }

  /** Runs something under one shard's lock; false if it is not had within PATIENCE_MS. */
  withShard(shard: number, command: number, run: () => void): boolean {
    const { server, control } = this;
    const row = shardRow(shard);
    if (!tryAcquire(control, row, server.thread) && !this.acquireSlowly(shard)) return false;
    this.record(row, command, NO_SLOT);
    this.taken++;
    this.runHolding(shard, run);
    return true;
  }

  /** As `withShard`, but gives up at once when the lock is taken. For work that can wait. */
  tryShard(shard: number, run: () => void): boolean {
    if (!tryAcquire(this.control, shardRow(shard), this.server.thread)) return false;
    this.runHolding(shard, run);
    return true;
  }

  private tryBriefly(shard: number, run: () => void): boolean {
    const { server, control } = this;
    const line = shardRow(shard);
    const alone = server.threads === 1;
    if (alone) {
      if (control[line] !== FREE) return false;
      acquireAlone(control, line);
    } else if (!tryAcquire(control, line, server.thread)) {
      return false;
    }
    server.store.enterShard(shard);
    server.store.heap.pool.sync();
    run();
    const { work } = server.store.heap;
    if (work.isUsed) work.settle(true);
    if (alone) releaseAlone(control, line);
    else this.releaseOne(shard);
    return true;
  }

  private runHolding(shard: number, run: () => void): void {
    const { server, waiting } = this;
    server.store.enterShard(shard);
    server.store.heap.pool.sync();
    const began = waiting.now();
    run();
    server.store.heap.work.settle(true);
    server.stats.max(HOLD_MAX, (waiting.now() - began) * 1000);
    this.releaseOne(shard);
  }

  /** Marks all shards of the command under way; see `record`. */
  recordAll(command: number): void {
    for (let n = 0; n < this.count; n++) {
      this.record(shardRow(this.list[n] as number), command, NO_SLOT);
    }
  }

  /** The shard's flight recorder: command, thread and slot of the last commands. */
  record(line: number, command: number, slot: number): void {
    const { control } = this;
    const at = control[line + S_RECORDER_AT] as number;
    control[line + S_RECORDER_AT] = (at + 1) | 0;
    control[line + S_RECORDER + (at & (RECORDER_ENTRIES - 1))] =
      ((command + 1) << 22) | (this.server.thread << 15) | (slot + 1);
  }
}
