/**
 * Eviction: removes keys that are chosen by `maxmemory-policy`.
 *
 * As in Redis a few keys are drawn at random, compared, and kept with the best of those that were
 * drawn before in a pool of sixteen; the best of the pool goes. Draws go over all databases with
 * keys, every key with the same chance. Pools are the thread's own.
 *
 * Each step is under the lock of one shard, which is never waited for. A candidate is looked up
 * again under the lock of its shard, and dropped if it is gone or was used since. Nothing is
 * allocated. Keys that are drawn after their time has passed expire, and are not counted as
 * evicted.
 */

import { randomExpiring, randomRecord } from "../structures/table-samples.ts";
import { LFU_MAX } from "./access.ts";
import type { Database } from "./database.ts";
import { EvictionPool } from "./eviction-pool.ts";
import { KeyWeights } from "./eviction-weights.ts";
import type { ShardLocks } from "./garbage.ts";
import type { Store } from "./store.ts";
import { isExpired } from "./walk.ts";

/** Outcomes of `removeOne`. */
export const REMOVED = 1;
/** There is no key that the policy allows to evict. */
export const NOTHING_LEFT = 2;
/** Locks were taken, or what was drawn was gone: try again later. */
export const NOT_NOW = 3;

/** Times that one call of `removeOne` draws anew. */
const TRIES = 16;
/** Of the keys of a shard, and of a slot, at most an eighth is drawn at once. */
const PART_SHIFT = 3;

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
  /** Bytes of what the last `removeOne` removed. */
  freedBytes = 0;
  private policy: EvictionPolicy = { by: "none", isVolatile: false };
  private samples = 0;
  private readonly store: Store;
  private readonly locks: ShardLocks;
  private readonly weights: KeyWeights;
  private readonly pool: EvictionPool = new EvictionPool();
  private readonly below: (n: number) => number;
  private samplesLeft = 0;
  private readonly drawFromShard: () => void;
  private readonly evictCandidate: () => void;
  /** Place of the candidate that `evictCandidate` is to evict. */
  private candidate = 0;

  constructor(store: Store, locks: ShardLocks) {
    this.store = store;
    this.locks = locks;
    this.weights = new KeyWeights(store);
    this.below = (n) => store.random.below(n);
    this.drawFromShard = () => this.drawLocked();
    this.evictCandidate = () => this.evictCandidateLocked();
  }

  configure(policy: EvictionPolicy, samples: number): void {
    this.policy = policy;
    this.samples = samples;
    this.pool.clear();
    this.weights.reset(policy.isVolatile);
  }

  get evicts(): boolean {
    return this.policy.by !== "none";
  }

  /** Removes one key, or a few that have expired. No shard is locked by the caller. */
  removeOne(): number {
    this.freedBytes = 0;
    if (!this.evicts) return NOTHING_LEFT;
    const isRandom = this.policy.by === "random";
    for (let n = 0; n < TRIES && this.freedBytes === 0; n++) {
      const hasKeys = this.drawSamples(isRandom ? 1 : this.samples);
      if (this.freedBytes === 0 && !isRandom) this.evictBest();
      if (!hasKeys && this.freedBytes === 0) return NOTHING_LEFT;
    }
    return this.freedBytes > 0 ? REMOVED : NOT_NOW;
  }

  /** Draws so many keys. False if there are none. */
  private drawSamples(samples: number): boolean {
    this.samplesLeft = samples;
    // A shard whose lock is taken counts as one sample, so that this ends.
    for (let n = 0; n < samples && this.samplesLeft > 0; n++) {
      if (!this.weights.draw()) return false;
      this.locks.tryShard(this.weights.shard, this.drawFromShard);
    }
    return true;
  }

  /** A key drawn from a slot; 0 if none was found, or if it had expired, which it then does. */
  private drawRecord(db: Database, slot: number): number {
    const { table } = this.store;
    const root = db.rootOf(slot);
    const p = this.policy.isVolatile
      ? randomExpiring(table, root, this.below)
      : randomRecord(table, root, this.below);
    if (p === 0 || !isExpired(db, p)) return p;
    const bytes = db.bytesUsed(p);
    if (table.work.mayRemove && db.expireIfDue(p, slot)) this.freedBytes += bytes;
    return 0;
  }

  /**
   * Draws keys of the shard that was chosen, some of them from the same slot if both have many:
   * what is in one segment costs less to look at, and says as much.
   */
  private drawLocked(): void {
    const { weights } = this;
    const db = this.store.databases[weights.database] as Database;
    let slot = weights.drawSlot();
    let fromShard = Math.max(1, weights.keysOfShard >>> PART_SHIFT);
    while (slot >= 0) {
      const fromSlot = Math.max(1, weights.keysOfSlot >>> PART_SHIFT);
      const draws = Math.min(this.samplesLeft, fromSlot, fromShard);
      for (let n = 0; n < draws; n++) this.take(db, slot, this.drawRecord(db, slot));
      fromShard -= draws;
      this.samplesLeft -= draws;
      if (fromShard === 0 || this.samplesLeft === 0) return;
      slot = weights.drawSlot();
    }
  }

  /** Evicts what was drawn, or makes it a candidate. */
  private take(db: Database, slot: number, p: number): void {
    if (p === 0) return;
    const { pool, store } = this;
    if (this.policy.by === "random") {
      const hash = store.table.hashOf(p);
      if (db.findAgain(p, slot, hash)) this.freedBytes += db.evictFound(p, slot, hash);
      return;
    }
    const score = this.scoreOf(db, p);
    if (!pool.takes(score)) return;
    pool.offer(score, this.stateOf(db, p), p, store.table.hashOf(p), slot, db.index);
  }

  /** The higher, the sooner it is to go. */
  private scoreOf(db: Database, p: number): number {
    if (this.policy.by === "lru") return db.idleSeconds(p);
    if (this.policy.by === "lfu") return LFU_MAX - db.frequency(p);
    return -db.expiryOf(p);
  }

  /** What the score is made from and time does not change. */
  private stateOf(db: Database, p: number): number {
    return this.policy.by === "ttl" ? db.expiryOf(p) : db.accessOf(p);
  }

  /** Evicts the best candidate that is still there, of those whose locks are free. */
  private evictBest(): void {
    const { pool, store } = this;
    for (let at = pool.length - 1; at >= 0 && this.freedBytes === 0; at--) {
      this.candidate = at;
      this.locks.tryShard(store.shardOf(pool.slots[at] as number), this.evictCandidate);
    }
  }

  private evictCandidateLocked(): void {
    const { pool, candidate } = this;
    const db = this.store.databases[pool.databases[candidate] as number] as Database;
    const p = pool.records[candidate] as number;
    const slot = pool.slots[candidate] as number;
    const hash = pool.hashes[candidate] as number;
    const state = pool.states[candidate] as number;
    pool.drop(candidate);
    if (!db.findAgain(p, slot, hash) || this.stateOf(db, p) !== state) return;
    // Its block may have gone to another key of the same hash.
    if (this.policy.isVolatile && db.expiryOf(p) === 0) return;
    this.freedBytes += db.evictFound(p, slot, hash);
  }
}
