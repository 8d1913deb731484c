/**
 * Eviction: removes keys that are chosen by `maxmemory-policy`.
 *
 * As in Redis a few keys are drawn at random, compared, and kept with the best of those that were
 * drawn before in a pool of sixteen; the best of the pool goes. Draws go over all databases with
 * keys, every key with the same chance. Pools are the thread's own.
 *
 * Each step is under the lock of one shard, which is never waited for: it draws keys of the shard
 * for a few evictions, and evicts the best candidates as far as they are of that shard too. A
 * candidate is looked up again before, and dropped if it is gone or was used since. Nothing is
 * allocated. Keys that are drawn after their time has passed expire, and are not counted as
 * evicted.
 */

import { FLAG_EXPIRY } from "../structures/record.ts";
import { frequencyAt, idleSeconds, LFU_MAX, lfuMinutes } from "./access.ts";
import type { Database } from "./database.ts";
import { EvictionPool } from "./eviction-pool.ts";
import { EvictionSamples } from "./eviction-samples.ts";
import { KeyWeights } from "./eviction-weights.ts";
import type { ShardLocks } from "./garbage.ts";
import type { Store } from "./store.ts";

/** Outcomes of `removeSome`. */
export const REMOVED = 1;
/** There is no key that the policy allows to evict. */
export const NOTHING_LEFT = 2;
/** Locks were taken, or what was drawn was gone: try again later. */
export const NOT_NOW = 3;

/** Times that one call of `removeSome` draws anew. */
const TRIES = 16;
/**
 * Keys are drawn for so many evictions at once: where some were drawn others cost little more. The
 * best of all these go, so the choice is no worse.
 */
const EVICTIONS_PER_DRAW = 4;
/** Most keys that one call of `removeSome` removes, those that expire included. */
export const REMOVALS_MAX = 16;
/** Keys that were drawn are taken in such steps, so that neighbours go less often together. */
const STEP = 7;

export type EvictionPolicy = {
  /** What a key is chosen by; "none" evicts nothing. */
  by: "none" | "lru" | "lfu" | "ttl" | "random";
  /** Only keys with an expiry are evicted. */
  isVolatile: boolean;
};

/** A policy by its name in the configuration. */
export function evictionPolicy(name: string): EvictionPolicy {
  const [keys, by] = name.split("-");
  if (by === undefined) return { by: "none", isVolatile: false };
  return { by: by as EvictionPolicy["by"], isVolatile: keys === "volatile" };
}

export class Eviction {
  /** Keys that the last `removeSome` removed, and their bytes. */
  removed = 0;
  freedBytes = 0;
  private policy: EvictionPolicy = { by: "none", isVolatile: false };
  private isRandom = false;
  private samples = 0;
  private readonly store: Store;
  private readonly locks: ShardLocks;
  private readonly weights: KeyWeights;
  private readonly drawn: EvictionSamples;
  private readonly pool: EvictionPool = new EvictionPool();
  private wantedBytes = 0;
  private samplesLeft = 0;
  /** Evictions for which keys were drawn already. */
  private evictionsDrawn = 0;
  private readonly drawAndEvict: () => void;
  private readonly evictCandidates: () => void;
  /** The shard that is locked, and the index in the pool of the best candidate to evict there. */
  private shard = 0;
  private candidate = 0;
  /** Time as scores need it. */
  private clock = 0;
  private minutes = 0;

  constructor(store: Store, locks: ShardLocks) {
    this.store = store;
    this.locks = locks;
    // Its chances are not exactly equal, by n in 2^32, and it divides nothing.
    const below = (n: number): number => Math.floor((store.random.u32() * n) / 2 ** 32);
    this.weights = new KeyWeights(store, below);
    this.drawn = new EvictionSamples(store, this.weights, below);
    this.drawAndEvict = () => this.drawLocked();
    this.evictCandidates = () => this.evictLocked();
  }

  configure(policy: EvictionPolicy, samples: number): void {
    this.policy = policy;
    this.isRandom = policy.by === "random";
    this.samples = samples;
    this.drawn.configure(samples * EVICTIONS_PER_DRAW, policy.isVolatile);
    this.pool.clear();
    this.evictionsDrawn = 0;
    this.weights.reset(policy.isVolatile);
  }

  get evicts(): boolean {
    return this.policy.by !== "none";
  }

  /**
   * Removes keys until so many bytes are free, but only a few, and one at least unless there is
   * none. No shard is locked by the caller.
   */
  removeSome(bytes: number): number {
    this.removed = 0;
    this.freedBytes = 0;
    this.wantedBytes = bytes;
    if (!this.evicts) return NOTHING_LEFT;
    for (let n = 0; n < TRIES && this.removed === 0; n++) {
      const hasKeys = this.isRandom ? this.drawSamples(1) : this.drawCandidates();
      if (this.removed === 0 && !this.isRandom) this.evictBest();
      if (!hasKeys && this.removed === 0) return NOTHING_LEFT;
    }
    return this.removed > 0 ? REMOVED : NOT_NOW;
  }

  /** Sees to it that enough keys were drawn for one more eviction. False if there are none. */
  private drawCandidates(): boolean {
    if (this.evictionsDrawn > 0 && this.pool.length > 0) return true;
    // Where no lock is had, there may still be a candidate.
    this.evictionsDrawn = 1;
    return this.drawSamples(this.samples * EVICTIONS_PER_DRAW);
  }

  /** Draws so many keys, and evicts the best where they are. False if there are none. */
  private drawSamples(samples: number): boolean {
    const { weights } = this;
    this.samplesLeft = samples;
    // A shard whose lock is taken counts as one sample, so that this ends.
    for (let n = 0; n < samples && this.samplesLeft > 0; n++) {
      if (!weights.draw()) return false;
      this.shard = weights.shard;
      this.locks.tryShard(weights.shard, this.drawAndEvict);
    }
    return true;
  }

  private drawLocked(): void {
    const { drawn, weights } = this;
    const db = this.store.databases[weights.database] as Database;
    if (this.isRandom) {
      drawn.drawEach(db, EVICTIONS_PER_DRAW);
      this.evictDrawn(db);
      return;
    }
    this.samplesLeft -= drawn.drawRun(db, this.samplesLeft);
    this.consider(db);
    if (this.samplesLeft > 0) return;
    this.evictionsDrawn = EVICTIONS_PER_DRAW;
    this.candidate = this.pool.length - 1;
    this.evictLocked();
  }

  /** Makes those that were drawn candidates, as far as they are better than what there is. */
  private consider(db: Database): void {
    const { drawn, pool } = this;
    const { count, found, accesses, heads } = drawn;
    const isTtl = this.policy.by === "ttl";
    this.clock = this.store.lruClock;
    this.minutes = lfuMinutes(this.store.now);
    // Each is met once if the step is less than their count and has no divisor in common with it.
    const step = count < STEP || count % STEP === 0 ? 1 : STEP;
    for (let left = count, n = 0; left > 0; left--) {
      let state = accesses[n] as number;
      if (((heads[n] as number) & FLAG_EXPIRY) === 0) {
        const score = this.scoreOf(state);
        if (pool.takes(score)) this.offer(db, n, score, state);
      } else {
        const expiry = db.expiryOf(found.records[n] as number);
        if (isTtl) state = expiry;
        const score = this.scoreOf(state);
        if (this.store.now > expiry)
          this.expire(db, drawn.slots[n] as number, found.records[n] as number);
        else if (pool.takes(score)) this.offer(db, n, score, state);
      }
      n += step;
      if (n >= count) n -= count;
    }
  }

  private offer(db: Database, n: number, score: number, state: number): void {
    const { pool, drawn } = this;
    const { found } = drawn;
    const p = found.records[n] as number;
    const entry = pool.offer(score, state, p);
    if (entry < 0) return;
    const slot = drawn.slots[n] as number;
    pool.databases[entry] = db.index;
    pool.slots[entry] = slot;
    pool.segments[entry] = found.segments[n] as number;
    pool.places[entry] = found.places[n] as number;
    pool.hashes[entry] = this.hashOf(db, slot, p);
  }

  /** Hash of a key, if its table needs that. */
  private hashOf(db: Database, slot: number, p: number): number {
    const { table } = this.store;
    return table.needsHash(db.rootOf(slot)) ? table.hashOf(p) : 0;
  }

  /** Removes a key whose time has passed. */
  private expire(db: Database, slot: number, p: number): void {
    if (this.removed === REMOVALS_MAX || !this.store.heap.work.mayRemove) return;
    const bytes = db.bytesUsed(p);
    if (!db.expireIfDue(p, slot)) return;
    this.freedBytes += bytes;
    this.removed++;
  }

  /** The higher, the sooner it is to go. */
  private scoreOf(state: number): number {
    const { by } = this.policy;
    if (by === "lru") return idleSeconds(state, this.clock);
    if (by === "ttl") return -state;
    return LFU_MAX - frequencyAt(state, this.minutes, this.store.lfu.decayMinutes);
  }

  /** What the score is made from and time does not change. */
  private stateOf(db: Database, p: number): number {
    return this.policy.by === "ttl" ? db.expiryOf(p) : db.accessOf(p);
  }

  /** Evicts the best candidates that are still there, of those whose locks are free. */
  private evictBest(): void {
    const { pool, store } = this;
    for (let at = pool.length - 1; at >= 0 && this.removed === 0; at--) {
      this.candidate = at;
      this.shard = store.shardOf(pool.slots[pool.order[at] as number] as number);
      if (this.locks.tryShard(this.shard, this.evictCandidates)) at = this.candidate + 1;
    }
  }

  /** True while something is to be evicted under the lock that is held. */
  private goesOn(): boolean {
    return this.freedBytes < this.wantedBytes && this.store.heap.work.mayRemove;
  }

  /** Evicts the best candidates as long as they are of the shard that is locked. */
  private evictLocked(): void {
    const { pool, store } = this;
    while (this.evictionsDrawn > 0 && this.candidate >= 0 && this.goesOn()) {
      const entry = pool.order[this.candidate] as number;
      if (store.shardOf(pool.slots[entry] as number) !== this.shard) return;
      pool.drop(this.candidate--);
      this.evictEntry(entry);
    }
  }

  private evictEntry(entry: number): void {
    const { pool } = this;
    const db = this.store.databases[pool.databases[entry] as number] as Database;
    const p = pool.records[entry] as number;
    const slot = pool.slots[entry] as number;
    const hash = pool.hashes[entry] as number;
    const segment = pool.segments[entry] as number;
    const root = db.rootOf(slot);
    const place = pool.places[entry] as number;
    if (!this.store.table.findPlaced(root, hash, segment, place, p)) return;
    // Its block may have gone to another key since.
    if (this.stateOf(db, p) !== (pool.states[entry] as number)) return;
    if (this.policy.isVolatile && db.expiryOf(p) === 0) return;
    this.evictionsDrawn--;
    this.removed++;
    this.freedBytes += db.evictFound(p, slot, hash);
  }

  /** Evicts those that were drawn by chance. */
  private evictDrawn(db: Database): void {
    const { drawn, store } = this;
    const { found, slots } = drawn;
    for (let n = 0; n < drawn.count && this.goesOn(); n++) {
      const p = found.records[n] as number;
      const slot = slots[n] as number;
      const root = db.rootOf(slot);
      const hash = this.hashOf(db, slot, p);
      const segment = found.segments[n] as number;
      // It may have been drawn twice.
      if (!store.table.findPlaced(root, hash, segment, found.places[n] as number, p)) continue;
      const expiry = db.expiryOf(p);
      if (expiry !== 0 && store.now > expiry) {
        this.expire(db, slot, p);
        continue;
      }
      this.removed++;
      this.freedBytes += db.evictFound(p, slot, hash);
    }
  }
}
