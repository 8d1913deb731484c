/**
 * Walks over the keys of a database that a session may see: the slots of one shard, as far as they
 * are within the database's scope. The caller holds that shard's lock.
 */
import type { Database } from "./database.ts";

/** First slot of the shard within the scope; beyond `lastSlotOf` if there is none. */
export function firstSlotOf(db: Database, shard: number): number {
  return Math.max(db.store.firstSlot(shard), db.scopeFirst);
}

export function lastSlotOf(db: Database, shard: number): number {
  return Math.min(db.store.firstSlot(shard + 1) - 1, db.scopeLast);
}

/** Keys of one slot, expired ones that nobody met included. */
export function keysOfSlot(db: Database, slot: number): number {
  return db.store.table.count(db.rootOf(slot));
}

/** Keys of a shard within the scope, expired ones that nobody met included. */
export function keysOfShard(db: Database, shard: number): number {
  const first = firstSlotOf(db, shard);
  const last = lastSlotOf(db, shard);
  if (first === db.store.firstSlot(shard) && last === db.store.firstSlot(shard + 1) - 1) {
    return db.shardKeys(shard);
  }
  let keys = 0;
  for (let slot = first; slot <= last; slot++) keys += keysOfSlot(db, slot);
  return keys;
}

/** True if the record's time has passed at the time of the running command. */
export function isExpired(db: Database, p: number): boolean {
  const expiry = db.expiryOf(p);
  return expiry !== 0 && db.store.now > expiry;
}
