/**
 * The share of one thread in the work that no command asks for: expiry, freeing what was flushed,
 * giving back empty pages. Each shard has one thread that looks after it; each slice of work runs
 * under one shard's lock, and what is behind a taken lock waits for the next time.
 */
import { expireSlice, isExpiryDue } from "../keyspace/expiry.ts";
import { freeGarbageSlice } from "../keyspace/garbage.ts";
import { statIndex } from "../keyspace/stats.ts";
import { H_GARBAGE } from "../memory/layout.ts";
import type { ThreadServer } from "./thread-server.ts";

/** Records freed or expired under one lock, and locks taken in one tick. */
const SLICE_RECORDS = 512;
const BUDGET_MS = 1;
/** For what is done once in a while. */
const LONG_BUDGET_MS = 5;

const EXPIRE_USEC = statIndex("expire_cycle_usec");
const TIME_CAP = statIndex("expired_time_cap_reached");

export class Housekeeping {
  /** DEBUG SET-ACTIVE-EXPIRE. */
  isExpiring = true;
  private readonly server: ThreadServer;
  private expiryShard: number;
  /** Shards that this thread looks after: this one and every so many on. */
  private shareFirst: number;
  private shareStep: number;

  constructor(server: ThreadServer) {
    this.server = server;
    this.expiryShard = server.thread;
    this.shareFirst = server.thread;
    this.shareStep = server.threads;
  }

  /** From now on this thread looks after all shards, or after none. */
  keepAll(isKeeper: boolean): void {
    this.shareFirst = isKeeper ? 0 : this.server.shards;
    this.shareStep = 1;
    this.expiryShard = 0;
  }

  /** False for a thread beyond the last shard, which looks after none. */
  private get isKeeper(): boolean {
    return this.shareFirst < this.server.shards;
  }

  /** True if there are more keys to expire now. */
  expireDue(): boolean {
    const { server, shareFirst, shareStep } = this;
    if (!this.isExpiring || !this.isKeeper) return false;
    const { dispatcher, shards, store } = server;
    const began = store.clock.monotonicMs();
    const budgetMs = BUDGET_MS * server.config.activeExpireEffort;
    let shard = this.expiryShard;
    let isBehind = false;
    for (let n = Math.ceil(shards / shareStep); n > 0; n--) {
      const isDue = isExpiryDue(store, shard);
      if (isDue && this.expireOf(shard)) isBehind = true;
      shard += shareStep;
      if (shard >= shards) shard = shareFirst;
      if (isDue && store.clock.monotonicMs() - began > budgetMs) break;
    }
    this.expiryShard = shard;
    const ms = store.clock.monotonicMs() - began;
    server.stats.add(EXPIRE_USEC, ms * 1000);
    dispatcher.times.event("expire-cycle", ms);
    if (isBehind) server.stats.add(TIME_CAP, 1);
    return isBehind;
  }

  /** Removes what is due of a shard, under as many locks as it takes. True if there is more. */
  private expireOf(shard: number): boolean {
    const { dispatcher, store } = this.server;
    let left = SLICE_RECORDS;
    let isCutShort = true;
    while (isCutShort && left > 0) {
      isCutShort = false;
      dispatcher.locks.tryShard(shard, () => {
        left -= expireSlice(store, shard, left);
        isCutShort = !store.heap.work.mayRemove;
      });
    }
    return left === 0;
  }

  /** True if there is more of what was flushed. */
  freeGarbage(isLong: boolean): boolean {
    if (!this.isKeeper) return false;
    const { dispatcher, store } = this.server;
    const { clock, control } = store;
    const budgetMs = isLong ? LONG_BUDGET_MS : BUDGET_MS;
    const began = clock.monotonicMs();
    while (control[H_GARBAGE] !== 0) {
      // What others are at, or is behind a lock, waits for the next tick.
      if (freeGarbageSlice(store, dispatcher.locks, SLICE_RECORDS) === 0) return false;
      if (clock.monotonicMs() - began > budgetMs) return true;
    }
    return false;
  }

  /** Gives back what is empty; of shards with many remote frees, what there is time for. */
  trim(): void {
    const { dispatcher, shards, store } = this.server;
    const { clock, heap } = store;
    const began = clock.monotonicMs();
    for (let shard = this.shareFirst; shard < shards; shard += this.shareStep) {
      let isLeft = true;
      while (isLeft) {
        isLeft = false;
        dispatcher.locks.tryShard(shard, () => {
          isLeft = heap.trim(shard, SLICE_RECORDS);
        });
        if (clock.monotonicMs() - began > LONG_BUDGET_MS) break;
      }
    }
  }
}
