/**
 * What is due before any key is evicted: keys whose time has passed go first, wherever they are.
 *
 * A thread that needs memory has the expiry walk go round every shard, a slice at a time, and is
 * done with a shard once somebody has been round it in the last moment. Rounds over all shards are
 * at least FRESH_MS apart, and as far apart as keeps their cost below a fiftieth of the time.
 */
import { expireSlice, isSwept } from "./expiry.ts";
import type { ShardLocks } from "./garbage.ts";
import type { Store } from "./store.ts";

/** A shard that was swept this recently is not swept again. */
export const FRESH_MS = 100;
const COST_SHARE = 50;
/** Most records that one slice removes. */
const SLICE_RECORDS = 64;

export class ExpirySweep {
  private readonly store: Store;
  private readonly locks: ShardLocks;
  /** Shards of the round that are still to be swept; 0 between rounds. */
  private shardsLeft = 0;
  private shard = 0;
  private nextRoundMs = 0;
  private pauseMs = 0;
  private spentMs = 0;
  private readonly slice: () => void;

  constructor(store: Store, locks: ShardLocks) {
    this.store = store;
    this.locks = locks;
    this.slice = () => {
      expireSlice(store, this.shard, SLICE_RECORDS, true);
    };
  }

  /** True while there is nothing to do. */
  get isDone(): boolean {
    if (this.shardsLeft !== 0) return false;
    const left = this.nextRoundMs - this.store.clock.unixMs;
    // A clock that was set back makes no pause longer.
    return left > 0 && left <= this.pauseMs;
  }

  /** Does a little: passes over shards that are swept, and walks on in the first that is not. */
  step(): void {
    const { clock } = this.store;
    const began = clock.monotonicMs();
    if (this.shardsLeft === 0) this.begin();
    while (this.shardsLeft > 0) {
      if (!isSwept(this.store, this.shard, FRESH_MS)) {
        const got = this.locks.tryShard(this.shard, this.slice);
        // Behind a lock that is held for long there may be keys that have expired.
        if (!got || isSwept(this.store, this.shard, FRESH_MS)) this.next();
        break;
      }
      this.next();
    }
    this.spentMs += clock.monotonicMs() - began;
    if (this.shardsLeft === 0) this.end();
  }

  private begin(): void {
    this.shardsLeft = this.store.shards;
    this.spentMs = 0;
    // Threads begin at different shards, so that they share the work.
    this.shard = this.store.random.below(this.store.shards);
  }

  private next(): void {
    this.shardsLeft--;
    this.shard = (this.shard + 1) % this.store.shards;
  }

  private end(): void {
    this.pauseMs = Math.max(FRESH_MS, this.spentMs * COST_SHARE);
    this.nextRoundMs = this.store.clock.unixMs + this.pauseMs;
  }
}
