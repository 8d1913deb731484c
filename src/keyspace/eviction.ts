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

import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { FLAG_EXPIRY } from "../structures/record.ts";
import { randomExpiring, randomRecord, randomRun } from "../structures/table-samples.ts";
import { ACCESS_MASK, frequencyAt, idleSeconds, LFU_MAX, lfuMinutes } from "./access.ts";
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
/**
 * Keys are drawn for so many evictions at once: where some were drawn others cost little more. The
 * best of all these go, so the choice is no worse.
 */
const EVICTIONS_PER_DRAW = 4;
/** Of the keys of a shard at most an eighth is drawn at once, and half of those of a slot. */
const SHARD_PART_SHIFT = 3;
const SLOT_PART_SHIFT = 1;
/** Most slots that are passed for one draw. */
const SLOTS_MAX = 64;

const NOTHING = new Int32Array(0);

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
  private isRandom = false;
  private samples = 0;
  private readonly store: Store;
  private readonly locks: ShardLocks;
  private readonly weights: KeyWeights;
  private readonly pool: EvictionPool = new EvictionPool();
  private readonly below: (n: number) => number;
  private samplesLeft = 0;
  /** Evictions for which keys were drawn already. */
  private evictionsDrawn = 0;
  /** What was drawn: records, their slots and first words, and what they remember of their use. */
  private found: Int32Array = NOTHING;
  private slots: Int32Array = NOTHING;
  private heads: Int32Array = NOTHING;
  private states: Int32Array = NOTHING;
  private readonly drawFromShard: () => void;
  private readonly evictCandidate: () => void;
  /** Index in the pool of the candidate that `evictCandidate` is to evict. */
  private candidate = 0;

  constructor(store: Store, locks: ShardLocks) {
    this.store = store;
    this.locks = locks;
    this.weights = new KeyWeights(store);
    // Its chances are not exactly equal, by n in 2^32, and it divides nothing.
    this.below = (n) => Math.floor((store.random.u32() * n) / 2 ** 32);
    this.drawFromShard = () => this.drawLocked();
    this.evictCandidate = () => this.evictCandidateLocked();
  }

  configure(policy: EvictionPolicy, samples: number): void {
    this.policy = policy;
    this.isRandom = policy.by === "random";
    this.samples = samples;
    const most = samples * EVICTIONS_PER_DRAW;
    if (this.found.length < most) {
      this.found = new Int32Array(most);
      this.slots = new Int32Array(most);
      this.heads = new Int32Array(most);
      this.states = new Int32Array(most);
    }
    this.pool.clear();
    this.evictionsDrawn = 0;
    this.weights.reset(policy.isVolatile);
  }

  get evicts(): boolean {
    return this.policy.by !== "none";
  }

  /** Removes one key, or a few that have expired. No shard is locked by the caller. */
  removeOne(): number {
    this.freedBytes = 0;
    if (!this.evicts) return NOTHING_LEFT;
    for (let n = 0; n < TRIES && this.freedBytes === 0; n++) {
      const hasKeys = this.isRandom ? this.drawSamples(1) : this.drawCandidates();
      if (this.freedBytes === 0 && !this.isRandom) this.evictBest();
      if (!hasKeys && this.freedBytes === 0) return NOTHING_LEFT;
    }
    return this.freedBytes > 0 ? REMOVED : NOT_NOW;
  }

  /** Sees to it that enough keys were drawn for one more eviction. False if there are none. */
  private drawCandidates(): boolean {
    if (this.evictionsDrawn > 0 && this.pool.length > 0) {
      this.evictionsDrawn--;
      return true;
    }
    const all = this.samples * EVICTIONS_PER_DRAW;
    const hasKeys = this.drawSamples(all);
    this.evictionsDrawn = Math.max(0, Math.floor((all - this.samplesLeft) / this.samples) - 1);
    return hasKeys;
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

  /** Draws keys of the shard that was chosen: evicts one, or makes some candidates. */
  private drawLocked(): void {
    const { weights } = this;
    const db = this.store.databases[weights.database] as Database;
    const slot = weights.drawSlot();
    if (slot < 0) return;
    if (this.isRandom) this.evictAny(db, slot);
    else this.drawRun(db, slot);
  }

  private evictAny(db: Database, slot: number): void {
    const { table } = this.store;
    const root = db.rootOf(slot);
    const p = this.policy.isVolatile
      ? randomExpiring(table, root, this.below)
      : randomRecord(table, root, this.below);
    this.samplesLeft--;
    this.store.heap.work.visited(1);
    if (p === 0 || this.expires(db, slot, p)) return;
    const hash = table.hashOf(p);
    if (db.findAgain(p, slot, hash)) this.freedBytes += db.evictFound(p, slot, hash);
  }

  /**
   * Draws keys side by side, from a slot on: what is in one segment costs less to look at, and says
   * as much, but for keys of one tag that are used together. So not all keys of a slot are taken.
   */
  private drawRun(db: Database, slot: number): void {
    const { weights, store, found, slots } = this;
    const { isVolatile } = this.policy;
    const first = store.firstSlot(weights.shard);
    const last = store.firstSlot(weights.shard + 1) - 1;
    let left = Math.min(this.samplesLeft, Math.max(1, weights.keysOfShard >>> SHARD_PART_SHIFT));
    this.samplesLeft -= left;
    const slotsMax = Math.min(SLOTS_MAX, last - first + 1);
    let drawn = 0;
    let passed = 0;
    for (let at = slot; left > 0 && passed < slotsMax; passed++) {
      const keys = weights.countOf(db, at);
      if (keys > 0) {
        const most = Math.min(left, (keys + 1) >>> SLOT_PART_SHIFT);
        const root = db.rootOf(at);
        const run = randomRun(store.table, root, isVolatile, this.below, most, found, drawn);
        for (const end = drawn + run; drawn < end; drawn++) slots[drawn] = at;
        left -= most;
      }
      at = at === last ? first : at + 1;
    }
    store.heap.work.visited(passed);
    this.consider(db, drawn);
  }

  /** Makes those of the first `count` in `found` candidates that are better than what there is. */
  private consider(db: Database, count: number): void {
    const { found, slots, heads, states, pool, store } = this;
    readHeaders(store.heap.i32, found, count, heads, states);
    for (let n = 0; n < count; n++) {
      const p = found[n] as number;
      const slot = slots[n] as number;
      let state = states[n] as number;
      if (((heads[n] as number) & FLAG_EXPIRY) !== 0) {
        if (this.expires(db, slot, p)) continue;
        if (this.policy.by === "ttl") state = db.expiryOf(p);
      }
      const score = this.scoreOf(state);
      if (!pool.takes(score)) continue;
      pool.offer(score, state, p, store.table.hashOf(p), slot, db.index);
    }
  }

  /** True if the time of a key has passed; then it is removed. */
  private expires(db: Database, slot: number, p: number): boolean {
    if (!isExpired(db, p)) return false;
    const bytes = db.bytesUsed(p);
    if (db.store.table.work.mayRemove && db.expireIfDue(p, slot)) this.freedBytes += bytes;
    return true;
  }

  /** The higher, the sooner it is to go. */
  private scoreOf(state: number): number {
    const { store } = this;
    if (this.policy.by === "lru") return idleSeconds(state, store.lruClock);
    if (this.policy.by === "ttl") return -state;
    return LFU_MAX - frequencyAt(state, lfuMinutes(store.now), store.lfu.decayMinutes);
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
      const slot = pool.slots[pool.order[at] as number] as number;
      this.locks.tryShard(store.shardOf(slot), this.evictCandidate);
    }
  }

  private evictCandidateLocked(): void {
    const { pool } = this;
    const entry = pool.order[this.candidate] as number;
    const db = this.store.databases[pool.databases[entry] as number] as Database;
    const p = pool.records[entry] as number;
    const slot = pool.slots[entry] as number;
    const hash = pool.hashes[entry] as number;
    const state = pool.states[entry] as number;
    pool.drop(this.candidate);
    if (!db.findAgain(p, slot, hash) || this.stateOf(db, p) !== state) return;
    // Its block may have gone to another key of the same hash.
    if (this.policy.isVolatile && db.expiryOf(p) === 0) return;
    this.freedBytes += db.evictFound(p, slot, hash);
  }
}

/**
 * Reads the first word of each record, and what it remembers of its use: all of them in one short
 * loop, so that the misses of the cache overlap. This is where the time goes.
 */
function readHeaders(
  i32: Int32Array[],
  records: Int32Array,
  count: number,
  heads: Int32Array,
  states: Int32Array,
): void {
  for (let n = 0; n < count; n++) {
    const p = records[n] as number;
    const m = i32[p >>> CHUNK_SHIFT] as Int32Array;
    const at = (p & UNIT_MASK) << 1;
    heads[n] = m[at] as number;
    states[n] = (m[at + 1] as number) & ACCESS_MASK;
  }
}
