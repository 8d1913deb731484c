/**
 * Chooses database, shard and slot so that every key has the same chance, all keys or all that
 * expire.
 *
 * Databases count their keys by shards, and tables by slots; adding those up for every draw would
 * cost more than to evict. So a thread keeps running sums of both as they were some draws ago:
 *
 *   over all shards of all databases with keys      read again after as many draws as sums
 *   over the slots of one shard of one database     read again after four times as many draws,
 *                                                   or after a quarter of its keys was drawn
 *
 * What is drawn may be gone then, which the caller sees.
 */
import type { Database } from "./database.ts";
import type { Store } from "./store.ts";

/** The sums of a shard are good for this many draws at least. */
const SLOT_DRAWS_MIN = 4;

export class KeyWeights {
  /** What `draw` chose. */
  database = 0;
  shard = 0;
  /** Keys of that shard, about, once `drawSlot` was called. */
  keysOfShard = 0;
  private readonly store: Store;
  private readonly below: (n: number) => number;
  private isExpiring = false;
  /** Databases that had keys, and running sums of the counts of all their shards. */
  private readonly databases: Int32Array;
  private sums: Float64Array = new Float64Array(0);
  private pairs = 0;
  private total = 0;
  private drawsLeft = 0;
  /** By database and shard: running sums over the slots, and the draws they are good for. */
  private readonly slotSums: Float64Array[] = [];
  private readonly slotDraws: Int32Array;

  /** `below(n)` draws from 0..n-1. */
  constructor(store: Store, below: (n: number) => number) {
    this.store = store;
    this.below = below;
    this.databases = new Int32Array(store.databases.length);
    this.slotDraws = new Int32Array(store.databases.length * store.shards);
  }

  /** Forgets all sums. From now on all keys count, or only those that expire. */
  reset(isExpiring: boolean): void {
    this.isExpiring = isExpiring;
    this.forget();
    this.slotDraws.fill(0);
  }

  /** Makes the next draw read what databases count. */
  forget(): void {
    this.drawsLeft = 0;
  }

  /** Chooses `database` and `shard`. False if there are no keys. No lock is needed. */
  draw(): boolean {
    if (this.drawsLeft === 0 || this.total === 0) this.addUp();
    if (this.total === 0) return false;
    this.drawsLeft--;
    const at = search(this.sums, this.pairs, this.below(this.total));
    const { shards } = this.store;
    this.database = this.databases[Math.floor(at / shards)] as number;
    this.shard = at % shards;
    return true;
  }

  private addUp(): void {
    const { databases, shards } = this.store;
    let count = 0;
    for (const db of databases) if (db.isMade()) this.databases[count++] = db.index;
    this.pairs = count * shards;
    if (this.sums.length < this.pairs) this.sums = new Float64Array(this.pairs);
    this.total = 0;
    for (let n = 0; n < count; n++) {
      const db = databases[this.databases[n] as number] as Database;
      for (let shard = 0; shard < shards; shard++) {
        // No lock is held: of roots that are being freed anything may be read.
        this.total += Math.max(0, this.isExpiring ? db.shardExpires(shard) : db.shardKeys(shard));
        this.sums[n * shards + shard] = this.total;
      }
    }
    this.drawsLeft = this.pairs;
  }

  /**
   * A slot of what `draw` chose, -1 if it has no keys any more. The slot may have lost its keys; then
   * `forgetSlots` makes the next draw read anew. The shard is locked.
   */
  drawSlot(): number {
    const { store } = this;
    const first = store.firstSlot(this.shard);
    const at = this.database * store.shards + this.shard;
    if (this.slotDraws[at] === 0) this.addUpSlots(at, first);
    this.slotDraws[at] = (this.slotDraws[at] as number) - 1;
    const sums = this.slotSums[at] as Float64Array;
    this.keysOfShard = sums[sums.length - 1] as number;
    if (this.keysOfShard > 0)
      return first + search(sums, sums.length, this.below(this.keysOfShard));
    this.forget();
    this.forgetSlots();
    return -1;
  }

  /** Makes the next draw in what `draw` chose read what its slots count. */
  forgetSlots(): void {
    this.slotDraws[this.database * this.store.shards + this.shard] = 0;
  }

  private addUpSlots(at: number, first: number): void {
    const db = this.store.databases[this.database] as Database;
    const slots = this.store.firstSlot(this.shard + 1) - first;
    const sums = (this.slotSums[at] ??= new Float64Array(slots));
    let total = 0;
    for (let n = 0; n < slots; n++) {
      total += this.countOf(db, first + n);
      sums[n] = total;
    }
    this.store.heap.work.visited(slots);
    this.slotDraws[at] = Math.max(SLOT_DRAWS_MIN, Math.min(4 * slots, total >>> 2));
  }

  /** Keys of a slot that count. Its shard is locked. */
  countOf(db: Database, slot: number): number {
    const { table } = this.store;
    const root = db.rootOf(slot);
    return this.isExpiring ? table.expires(root) : table.count(root);
  }
}

/** The first of `count` running sums that is more than `n`. */
function search(sums: Float64Array, count: number, n: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] as number) > n) high = middle;
    else low = middle + 1;
  }
  return low;
}
