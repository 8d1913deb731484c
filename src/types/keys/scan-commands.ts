/**
 * SCAN and KEYS.
 *
 * SCAN goes through the slots, and in a slot through the hashes: the cursor is slot * 2^32 + next
 * hash, below 2^46, and 0 is both start and end. Growth, splits and merges of tables leave the
 * order of hashes as it is, and a page takes whole ranges of them, so a key that is there from the
 * first to the last call is returned.
 *
 * A call goes from shard to shard under one lock at a time. A page is bounded in slots and records,
 * and so is what KEYS looks at under one lock. A pattern with a literal hash tag has one slot, and
 * only that is looked at.
 */

import type { Args } from "../../base/args.ts";
import { Glob } from "../../base/glob.ts";
import { int64, int64ToNumber } from "../../base/int64.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { firstSlotOf, isExpired, lastSlotOf } from "../../keyspace/walk.ts";
import { cString, INVALID_CURSOR, NOT_AN_INTEGER, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { eachRecord, HASH_END, scanTable } from "../../structures/table-walks.ts";
import { CopiedKeys } from "./copied-keys.ts";
import { KEYS_META, SCAN_META } from "./specs.ts";
import { typeName } from "./type-name.ts";

const COUNT_DEFAULT = 10;
/** Most records of one page, but for what the last range of hashes brings. */
const VISITS_MAX = 4096;
/** Most records that KEYS looks at under one lock, but for what the last range of hashes brings. */
const KEYS_VISITS_MAX = 2048;
const CURSOR_MAX = 2n ** 64n - 1n;
const CURSOR_TEXT_MAX = 64;
const INT64_MIN = -(2n ** 63n);

/**
 * The cursor in argument 1; -1 if it is none. Redis 7.4 refuses an integer below 0 and takes what
 * else C's strtoull does: leading blanks, a sign, and a minus that wraps.
 */
function cursorOf(args: Args): number {
  const text = cString(args.head(1, CURSOR_TEXT_MAX));
  const parts = /^([ \t-\r]*)([+-]?)(\d+)$/.exec(text);
  if (parts === null || text.length === CURSOR_TEXT_MAX) return -1;
  const [, blanks = "", sign = "", digits = ""] = parts;
  const value = BigInt(digits);
  if (value > CURSOR_MAX) return -1;
  if (sign !== "-") return Number(value);
  const isInt64 = blanks === "" && /^[1-9]/.test(digits) && value <= -INT64_MIN;
  return isInt64 ? -1 : Number(BigInt.asUintN(64, -value));
}

type ScanOptions = { count: number; glob: Glob | null; type: string | null };

/** The options, or the text of the error. */
function scanOptions(args: Args): ScanOptions | string {
  const options: ScanOptions = { count: COUNT_DEFAULT, glob: null, type: null };
  for (let i = 2; i < args.count; i += 2) {
    const hasValue = i + 1 < args.count;
    if (hasValue && args.is(i, "COUNT")) {
      const at = i + 1;
      const known = args.int64(at);
      if (!known) return NOT_AN_INTEGER;
      options.count = int64ToNumber(int64.hi, int64.lo);
      if (options.count < 1) return SYNTAX_ERROR;
    } else if (hasValue && args.is(i, "MATCH")) {
      options.glob = globOf(args, i + 1);
    } else if (hasValue && args.is(i, "TYPE")) {
      options.type = cString(args.lower(i + 1));
    } else if (args.is(i, "NOVALUES")) {
      return "ERR NOVALUES option can only be used in HSCAN";
    } else {
      return SYNTAX_ERROR;
    }
  }
  return options;
}

/** Redis: "*" is no pattern at all, it lists the empty key too. */
function globOf(args: Args, i: number): Glob | null {
  const glob = new Glob(args.take(i));
  return glob.isAll ? null : glob;
}

/** One page: what it may still look at, what it found, and where it stands. */
class Page {
  readonly options: ScanOptions;
  readonly found: CopiedKeys = new CopiedKeys();
  /** Where the next page begins; past the scope at the end. */
  slot: number;
  hash: number;
  private count: number;
  private visits: number = VISITS_MAX;

  constructor(options: ScanOptions, slot: number, hash: number) {
    this.options = options;
    this.slot = slot;
    this.hash = hash;
    this.count = options.count;
  }

  get isFull(): boolean {
    return this.count <= 0 || this.visits <= 0;
  }

  /** Goes on until enough was looked at, but not beyond slot `last`, whose shard is locked. */
  walk(db: Database, last: number): void {
    while (this.slot <= last && !this.isFull) {
      const root = db.rootOf(this.slot);
      const next = root === 0 ? HASH_END : this.take(db, root);
      if (next >= HASH_END) this.slot++;
      this.hash = next >= HASH_END ? 0 : next;
    }
  }

  private take(db: Database, root: number): number {
    const { slot } = this;
    const { work } = db.store.heap;
    const due: number[] = [];
    const most = Math.min(this.count, Math.max(this.visits, 1));
    const next = scanTable(db.store.table, root, this.hash, most, (p) => {
      this.count--;
      this.visits--;
      if (isExpired(db, p)) due.push(p);
      else this.add(db, p);
    });
    for (const p of due) if (work.mayRemove) db.expireIfDue(p, slot);
    return next;
  }

  private add(db: Database, p: number): void {
    const { glob, type } = this.options;
    if (type !== null && typeName(db, p) !== type) return;
    const at = db.keyAt(p);
    const end = at + db.keyLength(p);
    if (glob === null || glob.matches(db.bytesOf(p), at, end))
      this.found.add(db.bytesOf(p), at, end);
  }
}

function replyPage(reply: Reply, cursor: number, found: CopiedKeys): void {
  reply.array(2);
  reply.text(String(cursor));
  found.reply(reply);
}

/** The page that a call asks for, or the text of the error. */
function pageOf(db: Database, args: Args): Page | string {
  const cursor = cursorOf(args);
  if (cursor < 0) return INVALID_CURSOR;
  const options = scanOptions(args);
  if (typeof options === "string") return options;
  const only = options.glob === null ? -1 : options.glob.slot;
  const slot = Math.floor(cursor / HASH_END);
  const first = Math.max(only, db.scopeFirst);
  if (slot < first) return new Page(options, first, 0);
  const isPast = only >= 0 && slot !== only;
  return new Page(options, isPast ? db.scopeLast + 1 : slot, cursor % HASH_END);
}

export const SCAN: CommandSpec = {
  ...SCAN_META,
  differs:
    "One call looks at 4,096 places at most, so that a page may hold fewer keys than COUNT, or " +
    "none, before the end.",
  locks: "each",
  begin: (db, args): Page | string => pageOf(db, args),
  firstShard(db, state) {
    const slot = typeof state === "string" ? db.scopeFirst : (state as Page).slot;
    return db.store.shardOf(Math.min(slot, db.scopeLast));
  },
  part(db, shard, state) {
    if (typeof state === "string") return "stop";
    const page = state as Page;
    if (page.slot > db.scopeLast) return "stop";
    const only = page.options.glob?.slot ?? -1;
    const last = lastSlotOf(db, shard);
    if (db.shardKeys(shard) === 0) {
      page.slot = last + 1;
      page.hash = 0;
    } else {
      page.walk(db, only >= 0 ? only : last);
    }
    if (only >= 0 && page.slot > only) page.slot = db.scopeLast + 1;
    return page.isFull ? "stop" : "next";
  },
  finish(db, state, _args, reply) {
    if (typeof state === "string") {
      reply.error(state);
      return;
    }
    const { slot, hash, found } = state as Page;
    replyPage(reply, slot > db.scopeLast ? 0 : slot * HASH_END + hash, found);
  },
};

/** A walk over all keys, and those that match. */
class Matches {
  readonly glob: Glob;
  readonly keys: CopiedKeys = new CopiedKeys();
  /** Where the walk goes on. */
  private slot = 0;
  private hash = 0;

  constructor(glob: Glob) {
    this.glob = glob;
  }

  /** Looks at some keys of a shard, whose slots in question are these. True if there are more. */
  walk(db: Database, first: number, last: number): boolean {
    const { table } = db.store;
    const visit = (p: number): void => this.visit(db, p);
    this.slot = Math.max(this.slot, first);
    for (let left = KEYS_VISITS_MAX; this.slot <= last; ) {
      const root = db.rootOf(this.slot);
      const count = root === 0 ? 0 : table.count(root);
      if (left < KEYS_VISITS_MAX && count > left) return true;
      if (count <= KEYS_VISITS_MAX && this.hash === 0) {
        eachRecord(table, root, visit);
        table.work.visited(1 + count);
        left -= count;
        this.slot++;
      } else {
        // Keys of one slot, that of a hash tag: by pages, in an order that lasts.
        const next = scanTable(table, root, this.hash, KEYS_VISITS_MAX, visit);
        this.hash = next >= HASH_END ? 0 : next;
        if (next >= HASH_END) this.slot++;
        left = 0;
      }
    }
    return false;
  }

  private visit(db: Database, p: number): void {
    const { glob } = this;
    const u8 = db.bytesOf(p);
    const at = db.keyAt(p);
    const end = at + db.keyLength(p);
    if ((glob.isAll || glob.matches(u8, at, end)) && !isExpired(db, p)) this.keys.add(u8, at, end);
  }
}

export const KEYS: CommandSpec = {
  ...KEYS_META,
  differs:
    "Slots are looked at one after another: of a command that changes several keys at once " +
    "meanwhile, a part may be seen.",
  locks: "each",
  begin: (_db, args): Matches => new Matches(new Glob(args.take(1))),
  prepare: (state) => (state as Matches).keys.prepare(),
  part(db, shard, state) {
    const matches = state as Matches;
    if (db.shardKeys(shard) === 0) return "next";
    const { slot: only } = matches.glob;
    let first = firstSlotOf(db, shard);
    let last = lastSlotOf(db, shard);
    if (only >= 0) {
      first = Math.max(first, only);
      last = Math.min(last, only);
    }
    return matches.walk(db, first, last) ? "again" : "next";
  },
  finish(_db, state, _args, reply) {
    (state as Matches).keys.reply(reply);
  },
};
