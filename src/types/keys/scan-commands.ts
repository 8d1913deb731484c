/**
 * SCAN and KEYS.
 *
 * SCAN goes through the slots, and in a slot through the hashes: the cursor is slot * 2^32 + next
 * hash, below 2^46, and 0 is both start and end. Growth, splits and merges of tables leave the
 * order of hashes as it is, and a page takes whole ranges of them, so a key that is there from the
 * first to the last call is returned.
 *
 * A call sees the slots of one shard, the one that is locked, and looks at a bounded number of
 * slots and records. A pattern with a literal hash tag has one slot, and only that is looked at.
 */

import type { Args } from "../../base/args.ts";
import { Glob } from "../../base/glob.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { firstSlotOf, isExpired, lastSlotOf } from "../../keyspace/walk.ts";
import { INVALID_CURSOR, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { HASH_END } from "../../structures/table.ts";
import { longOrReply } from "./numbers.ts";
import { KEYS_META, SCAN_META } from "./specs.ts";
import { typeName } from "./type-name.ts";

const COUNT_DEFAULT = 10;
/** Most slots and records of one page, but for what the last range of hashes brings. */
const VISITS_MAX = 4096;
const CURSOR_MAX = "18446744073709551615";

/** The cursor in argument 1; -1 if it is none. Redis 7.4 takes what C's strtoull does, unsigned. */
function cursorOf(args: Args): number {
  const text = args.head(1, CURSOR_MAX.length + 2);
  if (!/^\+?\d+$/.test(text)) return -1;
  const digits = text.replace(/^\+?0*(?=\d)/, "");
  if (digits.length > CURSOR_MAX.length) return -1;
  if (digits.length === CURSOR_MAX.length && digits > CURSOR_MAX) return -1;
  return Number(digits);
}

type ScanOptions = { count: number; glob: Glob | null; type: string | null };

function scanOptionsOrReply(args: Args, reply: Reply): ScanOptions | null {
  const options: ScanOptions = { count: COUNT_DEFAULT, glob: null, type: null };
  for (let i = 2; i < args.count; i += 2) {
    const hasValue = i + 1 < args.count;
    if (hasValue && args.is(i, "COUNT")) {
      options.count = longOrReply(args, i + 1, reply);
      if (Number.isNaN(options.count)) return null;
      if (options.count < 1) {
        reply.error(SYNTAX_ERROR);
        return null;
      }
    } else if (hasValue && args.is(i, "MATCH")) {
      options.glob = globOf(args, i + 1);
    } else if (hasValue && args.is(i, "TYPE")) {
      options.type = args.lower(i + 1);
    } else {
      reply.error(SYNTAX_ERROR);
      return null;
    }
  }
  return options;
}

/** Redis: "*" is no pattern at all, it lists the empty key too. */
function globOf(args: Args, i: number): Glob | null {
  const glob = new Glob(args.take(i));
  return glob.isAll ? null : glob;
}

/** The slot of all keys that can match, -1 if they can be in several. */
function literalSlot(args: Args): number {
  let slot = -1;
  for (let i = 2; i + 1 < args.count; i += 2) {
    if (args.is(i, "MATCH")) slot = globOf(args, i + 1)?.slot ?? -1;
  }
  return slot;
}

/** One page: what it may still look at, what it found, and where it stands. */
class Page {
  readonly found: number[] = [];
  /** Where the next page begins; `next` is the slot, past the scope at the end. */
  slot: number;
  hash: number;
  private readonly db: Database;
  private readonly options: ScanOptions;
  private readonly due: number[] = [];
  private count: number;
  private visits: number = VISITS_MAX;

  constructor(db: Database, options: ScanOptions, slot: number, hash: number) {
    this.db = db;
    this.options = options;
    this.slot = slot;
    this.hash = hash;
    this.count = options.count;
  }

  /** Goes on until enough records were looked at, but not beyond slot `last`. */
  walk(last: number): void {
    while (this.slot <= last && this.count > 0 && this.visits > 0) {
      this.visits--;
      const root = this.db.rootOf(this.slot);
      const next = root === 0 ? HASH_END : this.take(root);
      if (next >= HASH_END) this.slot++;
      this.hash = next >= HASH_END ? 0 : next;
    }
  }

  private take(root: number): number {
    const { db, due, slot } = this;
    const most = Math.min(this.count, Math.max(this.visits, 1));
    const next = db.store.table.scan(root, this.hash, most, (p) => {
      this.count--;
      this.visits--;
      if (isExpired(db, p)) due.push(p);
      else if (this.matches(p)) this.found.push(p);
    });
    for (const p of due) db.expireIfDue(p, slot);
    due.length = 0;
    return next;
  }

  private matches(p: number): boolean {
    const { db } = this;
    const { glob, type } = this.options;
    if (type !== null && typeName(db, p) !== type) return false;
    if (glob === null) return true;
    const at = db.keyAt(p);
    return glob.matches(db.bytesOf(p), at, at + db.keyLength(p));
  }
}

/** First slot of the next shard that has keys, past the last slot if none has. */
function nextShardStart(db: Database, shard: number): number {
  // Unlocked: a shard that has no keys now has none that were there all the time.
  const { store } = db;
  for (let next = shard + 1; next <= store.shardOf(db.scopeLast); next++) {
    if (db.shardKeys(next) > 0) return store.firstSlot(next);
  }
  return db.scopeLast + 1;
}

function replyPage(db: Database, reply: Reply, cursor: number, found: readonly number[]): void {
  reply.array(2);
  reply.text(String(cursor));
  reply.array(found.length);
  for (const p of found) {
    const at = db.keyAt(p);
    reply.bulk(db.bytesOf(p), at, at + db.keyLength(p));
  }
}

export const SCAN: CommandSpec = {
  ...SCAN_META,
  differs:
    "One call looks at one shard and at 4,096 places at most, so that a page may hold fewer keys " +
    "than COUNT, or none, before the end.",
  locks: "cursor",
  slotOf(args) {
    const slot = Math.floor(Math.max(cursorOf(args), 0) / HASH_END);
    return Math.max(slot, literalSlot(args));
  },
  run(db, args, reply) {
    const cursor = cursorOf(args);
    if (cursor < 0) {
      reply.error(INVALID_CURSOR);
      return;
    }
    const options = scanOptionsOrReply(args, reply);
    if (options === null) return;
    const only = options.glob === null ? -1 : options.glob.slot;
    let slot = Math.floor(cursor / HASH_END);
    let hash = cursor % HASH_END;
    if (slot < Math.max(only, db.scopeFirst)) {
      slot = Math.max(only, db.scopeFirst);
      hash = 0;
    }
    if (slot > db.scopeLast || (only >= 0 && slot !== only)) {
      replyPage(db, reply, 0, []);
      return;
    }
    const page = new Page(db, options, slot, hash);
    const shard = db.store.shardOf(slot);
    page.walk(only >= 0 ? only : lastSlotOf(db, shard));
    let next = page.slot;
    if (only >= 0 && next > only) next = db.scopeLast + 1;
    else if (next > lastSlotOf(db, shard)) next = nextShardStart(db, shard);
    replyPage(db, reply, next > db.scopeLast ? 0 : next * HASH_END + page.hash, page.found);
  },
};

/** Keys that match, copied one behind another, and where each ends. */
class Matches {
  readonly glob: Glob;
  count = 0;
  bytes: Uint8Array = new Uint8Array(1024);
  ends: Float64Array = new Float64Array(64);
  private length = 0;

  constructor(glob: Glob) {
    this.glob = glob;
  }

  /** True if the key at `start..end` may be in the reply. */
  wants(source: Uint8Array, start: number, end: number): boolean {
    return this.glob.isAll || this.glob.matches(source, start, end);
  }

  add(source: Uint8Array, start: number, end: number): void {
    const length = this.length + end - start;
    if (length > this.bytes.length) {
      const bytes = new Uint8Array(Math.max(this.bytes.length * 2, length));
      bytes.set(this.bytes.subarray(0, this.length));
      this.bytes = bytes;
    }
    if (this.count === this.ends.length) {
      const ends = new Float64Array(this.count * 2);
      ends.set(this.ends);
      this.ends = ends;
    }
    for (let i = start, to = this.length; i < end; i++) this.bytes[to++] = source[i] as number;
    this.length = length;
    this.ends[this.count++] = length;
  }
}

export const KEYS: CommandSpec = {
  ...KEYS_META,
  differs:
    "Shards are looked at one after another: of a command that changes several at once meanwhile, " +
    "a part may be seen.",
  locks: "each",
  begin: (_db, args): Matches => new Matches(new Glob(args.take(1))),
  part(db, shard, state) {
    const matches = state as Matches;
    const { slot: only } = matches.glob;
    const first = firstSlotOf(db, shard);
    const last = lastSlotOf(db, shard);
    const visit = (p: number): void => {
      const u8 = db.bytesOf(p);
      const at = db.keyAt(p);
      const end = at + db.keyLength(p);
      if (matches.wants(u8, at, end) && !isExpired(db, p)) matches.add(u8, at, end);
    };
    if (only >= 0) {
      if (only >= first && only <= last) db.store.table.each(db.rootOf(only), visit);
      return;
    }
    if (db.shardKeys(shard) === 0) return;
    for (let slot = first; slot <= last; slot++) db.store.table.each(db.rootOf(slot), visit);
  },
  finish(_db, state, _args, reply) {
    const { bytes, count, ends } = state as Matches;
    reply.array(count);
    for (let k = 0, start = 0; k < count; k++) {
      const end = ends[k] as number;
      reply.bulk(bytes, start, end);
      start = end;
    }
  },
};
