/**
 * Active expiry: removes keys whose time has passed and that nobody asks for.
 *
 * Each shard has a walk of its own over its slots in all databases, whose place is kept in shared
 * memory. Segments know their earliest expiry, so the walk looks at the records of a segment only
 * when one of them is due. It also draws samples for the average time to live that INFO shows.
 *
 * Segments count in seconds. While a shard has few keys that expire, the walk looks at those of the
 * running second too and so removes them at once; with many it waits until the second is over, so
 * that it looks at each segment once a second at most. Who needs memory has it look at all of them,
 * and at the words that say when it has been round (`isSwept`).
 *
 * A walk notes when the first of what it leaves behind is due, and whoever gives a key an expiry
 * sets that word back (`Store.expiresAt`). So a shard that has been walked to its end is left alone
 * until then (`isExpiryDue`), but for a second at most: the average wants its samples.
 */
import { S_EXPIRY_CURSOR, S_ROUND_BEGAN, S_ROUND_ENDED, shardRow } from "../memory/layout.ts";
import { NO_EXPIRY } from "../structures/segment.ts";
import { randomRecord } from "../structures/table-samples.ts";
import { dueRecords, HASH_END } from "../structures/table-walks.ts";
import type { Database } from "./database.ts";
import { C_TTL_HIGH, C_TTL_LOW, COUNTER_WORDS, ROOT_COUNTERS_AT } from "./roots.ts";
import { EXACT_KEYS_MAX, type Store } from "./store.ts";

/** Most records that one call removes. */
const REMOVALS_MAX = 512;
/** Most slots, segments and records that one call looks at, but for the last segment. */
const VISITS_MAX = 4096;
/** Longest that a shard is left alone. */
const PAUSE_MS = 1000;
/** Records drawn for one sample of the average, and the weight of what was known before. */
const SAMPLE_DRAWS = 8;
const OLD_WEIGHT = 0.9;

/** What fits the two words of an average. */
const TTL_MAX: number = 2 ** 62;

const SLOT_SHIFT = 7;
const DATABASE_SHIFT = 21;
const SLOT_MASK = 0x3fff;
const HASH_MASK = 0x7f;
/** Hashes per step of the place's hash bits. */
const HASH_STEP: number = 2 ** 25;

const found = new Int32Array(REMOVALS_MAX);
const due = { hash: 0, visits: 0, earliest: NO_EXPIRY };

/** A walk under way: what is left of its budget, and where it is. */
type Walk = {
  removals: number;
  visits: number;
  slot: number;
  hash: number;
  /** The running second is looked at too, however many keys expire. */
  isExact: boolean;
  /** In the database that it is in it is not. */
  waits: boolean;
  /** Unix milliseconds at which the first of what is passed and left is due. */
  dueMs: number;
  /** Slot that was drawn for the sample, each with the chance of its expiring keys; -1 none. */
  sampleSlot: number;
  sampleOf: number;
};

/**
 * Removes up to `limit` expired records of a shard whose lock is held, fewer where tables shrink by
 * much. Returns how many; if that is `limit`, or the heap's `work` has no more of it under this
 * lock (`mayRemove`), there may be more that are due now.
 */
export function expireSlice(store: Store, shard: number, limit: number, isExact = false): number {
  const { control, databases } = store;
  const most = Math.min(limit, REMOVALS_MAX);
  const at = shardRow(shard) + S_EXPIRY_CURSOR;
  const place = control[at] as number;
  const first = store.firstSlot(shard);
  let index = (place >>> DATABASE_SHIFT) % databases.length;
  const walk: Walk = {
    removals: most,
    visits: VISITS_MAX,
    slot: 0,
    hash: 0,
    isExact,
    waits: false,
    dueMs: isAtStart(store, shard) ? Number.POSITIVE_INFINITY : store.expiryDue(shard),
    sampleSlot: -1,
    sampleOf: 0,
  };
  walk.slot = Math.max((place >>> SLOT_SHIFT) & SLOT_MASK, first);
  walk.hash = (place & HASH_MASK) * HASH_STEP;
  // The database that the walk begins in is met twice: from its place on, and up to it.
  let isRound = true;
  for (let n = 0; n <= databases.length && isRound; n++) {
    isRound = walkDatabase(databases[index] as Database, shard, walk);
    if (!isRound) break;
    index = (index + 1) % databases.length;
    walk.slot = first;
    walk.hash = 0;
    if (index !== 0) continue;
    if (isExact) endRound(store, shard);
    walk.dueMs = Math.min(walk.dueMs, store.now + PAUSE_MS);
    if (n === databases.length || (!isExact && store.now < walk.dueMs)) break;
    walk.dueMs = Number.POSITIVE_INFINITY;
  }
  if (isRound && isExact) {
    beginRound(store, shard);
    endRound(store, shard);
  }
  const step = Math.floor(walk.hash / HASH_STEP);
  control[at] = (index << DATABASE_SHIFT) | (walk.slot << SLOT_SHIFT) | step;
  // Where it came no further than its start it has not been round.
  store.setExpiryDue(shard, !isRound && isAtStart(store, shard) ? 0 : walk.dueMs);
  return most - walk.removals;
}

/** True if the walk of a shard is between two rounds. */
function isAtStart(store: Store, shard: number): boolean {
  const place = store.control[shardRow(shard) + S_EXPIRY_CURSOR] as number;
  const slot = (place >>> SLOT_SHIFT) & SLOT_MASK;
  const isFirst = slot <= store.firstSlot(shard) && (place & HASH_MASK) === 0;
  return isFirst && place >>> DATABASE_SHIFT === 0;
}

/**
 * False if the walk would find nothing. Needs no lock: what another thread changes meanwhile is
 * seen the next time.
 */
export function isExpiryDue(store: Store, shard: number): boolean {
  return !isAtStart(store, shard) || store.clock.unixMs >= store.expiryDue(shard);
}

/** True if the walk would meet a key that expires then more than a second late. For checks. */
export function isMissed(store: Store, shard: number, unixMs: number): boolean {
  return isAtStart(store, shard) && store.expiryDue(shard) > unixMs + PAUSE_MS;
}

/** A round that began at S_ROUND_BEGAN is over, and the next begins. */
function endRound(store: Store, shard: number): void {
  const row = shardRow(shard);
  store.control[row + S_ROUND_ENDED] = store.control[row + S_ROUND_BEGAN] as number;
  beginRound(store, shard);
}

function beginRound(store: Store, shard: number): void {
  store.control[shardRow(shard) + S_ROUND_BEGAN] = roundTime(store.now);
}

function roundTime(unixMs: number): number {
  return (Math.floor(unixMs) % 2 ** 32) | 0;
}

/**
 * True if all keys of a shard that had expired so many milliseconds ago were removed by a walk that
 * was exact.
 */
export function isSwept(store: Store, shard: number, ms: number): boolean {
  const ended = store.control[shardRow(shard) + S_ROUND_ENDED] as number;
  // A shard whose time stands still, since the clock was set back a little, has nothing new.
  const now = Math.max(store.clock.unixMs, store.timeOf(shard));
  const age = (roundTime(now) - ended) | 0;
  return age >= 0 && age < ms;
}

/** Goes on to the shard's last slot. False if the budget was spent before. */
function walkDatabase(db: Database, shard: number, walk: Walk): boolean {
  const { store } = db;
  const { table } = store;
  const expires = db.shardExpires(shard);
  if (expires === 0) {
    setAverage(db, shard, 0);
    return true;
  }
  const last = store.firstSlot(shard + 1) - 1;
  walk.waits = expires > EXACT_KEYS_MAX && !walk.isExact;
  const seconds = store.expirySeconds(store.now) - (walk.waits ? 1 : 0);
  const secondsOf = (p: number): number => {
    const expiry = db.expiryOf(p);
    return expiry === 0 ? NO_EXPIRY : store.expirySeconds(expiry);
  };
  walk.sampleSlot = -1;
  walk.sampleOf = 0;
  let isDone = true;
  while (walk.slot <= last && isDone) {
    const inSlot = table.expires(db.rootOf(walk.slot));
    walk.visits--;
    if (inSlot > 0) {
      walk.sampleOf += inSlot;
      if (store.random.below(walk.sampleOf) < inSlot) walk.sampleSlot = walk.slot;
      isDone = walkSlot(db, seconds, secondsOf, walk);
    }
    if (isDone) {
      walk.slot++;
      walk.hash = 0;
      isDone = walk.slot > last || (walk.visits > 0 && walk.removals > 0);
    }
  }
  if (walk.sampleSlot >= 0) sample(db, shard, walk.sampleSlot);
  return isDone;
}

/** False if the budget was spent before the end of the slot. */
function walkSlot(
  db: Database,
  seconds: number,
  secondsOf: (p: number) => number,
  walk: Walk,
): boolean {
  const { table } = db.store;
  const { work } = table;
  while (walk.hash < HASH_END) {
    const root = db.rootOf(walk.slot);
    if (root === 0) return true;
    if (walk.visits <= 0 || walk.removals === 0 || !work.mayRemove) return false;
    due.hash = walk.hash;
    due.visits = walk.visits;
    due.earliest = NO_EXPIRY;
    const n = dueRecords(table, root, due, seconds, secondsOf, found);
    walk.visits = due.visits;
    leave(db, walk);
    for (let k = 0; k < n; k++) {
      if (walk.removals === 0 || !work.mayRemove) return false;
      const p = found[k] as number;
      if (db.expireIfDue(p, walk.slot)) walk.removals--;
      else walk.dueMs = Math.min(walk.dueMs, db.expiryOf(p));
    }
    walk.hash = due.hash;
  }
  return true;
}

/** Notes when the first of what `dueRecords` has passed is due. */
function leave(db: Database, walk: Walk): void {
  if (due.earliest === NO_EXPIRY) return;
  const { store } = db;
  // Whole seconds are waited for to their end, others are looked at from their begin on.
  const end = store.secondAfter(due.earliest);
  walk.dueMs = Math.min(walk.dueMs, walk.waits ? end : end - 1000);
}

/** Lets a few keys of a slot bear on the average time to live of its shard. */
function sample(db: Database, shard: number, slot: number): void {
  const { store } = db;
  const root = db.rootOf(slot);
  let count = 0;
  let sum = 0;
  for (let draw = 0; draw < SAMPLE_DRAWS; draw++) {
    const p = randomRecord(store.table, root, (n) => store.random.below(n));
    const left = p === 0 ? 0 : db.expiryOf(p) - store.now;
    if (left <= 0) continue;
    sum += left;
    count++;
  }
  if (count === 0) return;
  const before = average(db, shard);
  const now = sum / count;
  setAverage(db, shard, before === 0 ? now : before * OLD_WEIGHT + now * (1 - OLD_WEIGHT));
}

function average(db: Database, shard: number): number {
  const { cells, cell } = db.cell(0);
  const at = cell + ROOT_COUNTERS_AT + shard * COUNTER_WORDS;
  const low = (cells[at + C_TTL_LOW] as number) >>> 0;
  return (cells[at + C_TTL_HIGH] as number) * 2 ** 32 + low;
}

function setAverage(db: Database, shard: number, ms: number): void {
  if (db.shardKeys(shard) === 0) return;
  const { cells, cell } = db.cell(0);
  const at = cell + ROOT_COUNTERS_AT + shard * COUNTER_WORDS;
  const whole = Math.min(Math.round(ms), TTL_MAX);
  cells[at + C_TTL_LOW] = (whole % 2 ** 32) | 0;
  cells[at + C_TTL_HIGH] = Math.floor(whole / 2 ** 32);
}

/**
 * Estimated average milliseconds to live of the keys within the scope that expire; 0 if there are
 * none, or none were met yet. Needs no lock.
 */
export function averageTimeToLive(db: Database): number {
  const { store } = db;
  let keys = 0;
  let sum = 0;
  const last = store.shardOf(db.scopeLast);
  for (let shard = store.shardOf(db.scopeFirst); shard <= last; shard++) {
    const expires = db.shardExpires(shard);
    if (expires === 0) continue;
    const ms = average(db, shard);
    if (ms === 0) continue;
    keys += expires;
    sum += ms * expires;
  }
  return keys === 0 ? 0 : Math.round(sum / keys);
}
