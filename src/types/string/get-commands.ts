/**
 * Commands that read strings: GET, MGET, STRLEN, GETRANGE and SUBSTR, and those that read and then
 * change: GETDEL, GETEX, GETSET. These answer first, so that a big string which they take out of
 * its record is pinned before it is let go.
 */

import type { Args } from "../../base/args.ts";
import { compareInt64, int64, int64ToNumber } from "../../base/int64.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { NO_EXPIRY_MS } from "../../keyspace/database.ts";
import { NOT_AN_INTEGER, OOM, WRONGTYPE } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { ABSOLUTE, expiryOrReply, options, PERSIST, parseOptionsOrReply } from "./options.ts";
import {
  GET_META,
  GETDEL_META,
  GETEX_META,
  GETRANGE_META,
  GETSET_META,
  MGET_META,
  STRLEN_META,
  SUBSTR_META,
} from "./specs.ts";
import { isString, replyRange, replyString, setString, stringLength } from "./value.ts";

const EMPTY = new Uint8Array(0);

/** Answers with the string of key 1, or nil. False if it is no string, which has been answered. */
export function getOrReply(db: Database, p: number, reply: Reply): boolean {
  if (p === 0) {
    reply.nil();
    return true;
  }
  if (!isString(db, p)) {
    reply.error(WRONGTYPE);
    return false;
  }
  replyString(db, p, reply);
  return true;
}

export const GET: CommandSpec = {
  ...GET_META,
  locks: "keys",
  run(db, args, reply) {
    getOrReply(db, db.findRead(args, 1), reply);
  },
};

export const MGET: CommandSpec = {
  ...MGET_META,
  locks: "keys",
  run(db, args, reply) {
    const { count } = args;
    reply.array(count - 1);
    for (let i = 1; i < count; i++) {
      const p = db.findRead(args, i);
      if (p === 0 || !isString(db, p)) reply.nil();
      else replyString(db, p, reply);
    }
  },
};

export const STRLEN: CommandSpec = {
  ...STRLEN_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.findRead(args, 1);
    if (p === 0) reply.integer(0);
    else if (!isString(db, p)) reply.error(WRONGTYPE);
    else reply.integer(stringLength(db, p));
  },
};

export const GETDEL: CommandSpec = {
  ...GETDEL_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.findRead(args, 1);
    if (!getOrReply(db, p, reply) || p === 0) return;
    db.remove(args, 1, p);
    db.changed("del", args, 1);
  },
};

export const GETSET: CommandSpec = {
  ...GETSET_META,
  locks: "keys",
  run(db, args, reply) {
    const mark = reply.length;
    const old = db.findRead(args, 1);
    if (!getOrReply(db, old, reply)) return;
    // Redis looks the key up once more to set it, which counts as a use.
    if (old !== 0) db.touch(old);
    if (!setString(db, args, 1, 2, old, NO_EXPIRY_MS)) {
      reply.truncate(mark);
      reply.error(OOM);
      return;
    }
    db.changed("set", args, 1);
  },
};

export const GETEX: CommandSpec = {
  ...GETEX_META,
  locks: "keys",
  run(db, args, reply) {
    if (!parseOptionsOrReply(args, 2, false, reply)) return;
    const { flags, timeAt } = options;
    const p = db.findRead(args, 1);
    if (p === 0 || !isString(db, p)) {
      getOrReply(db, p, reply);
      return;
    }
    let expiryMs = NO_EXPIRY_MS;
    if (timeAt !== 0) {
      expiryMs = expiryOrReply(db, args, timeAt, flags, "getex", reply);
      if (expiryMs === 0) return;
    }
    const mark = reply.length;
    replyString(db, p, reply);
    if (timeAt === 0 && (flags & PERSIST) === 0) return;
    if (timeAt !== 0 && (flags & ABSOLUTE) !== 0 && expiryMs <= db.store.now) {
      db.remove(args, 1, p);
      db.changed("del", args, 1);
      return;
    }
    if (timeAt === 0 && db.expiryOf(p) === 0) return;
    if (db.setExpiry(args, 1, p, expiryMs) === 0) {
      reply.truncate(mark);
      reply.error(OOM);
      return;
    }
    db.changed(timeAt === 0 ? "persist" : "expire", args, 1);
  },
};

function getRange(db: Database, args: Args, reply: Reply): void {
  if (!args.int64(2)) {
    reply.error(NOT_AN_INTEGER);
    return;
  }
  const { hi, lo } = int64;
  if (!args.int64(3)) {
    reply.error(NOT_AN_INTEGER);
    return;
  }
  let from = int64ToNumber(hi, lo);
  let last = int64ToNumber(int64.hi, int64.lo);
  // Redis: of two negative ends in the wrong order nothing is returned, though both may mean 0.
  const isCrossed = from < 0 && last < 0 && compareInt64(hi, lo, int64.hi, int64.lo) > 0;
  const p = db.findRead(args, 1);
  if (p !== 0 && !isString(db, p)) {
    reply.error(WRONGTYPE);
    return;
  }
  const length = p === 0 ? 0 : stringLength(db, p);
  if (from < 0) from = Math.max(length + from, 0);
  if (last < 0) last = Math.max(length + last, 0);
  if (last >= length) last = length - 1;
  if (isCrossed || from > last || length === 0) reply.bulk(EMPTY, 0, 0);
  else replyRange(db, p, from, last + 1, reply);
}

export const GETRANGE: CommandSpec = { ...GETRANGE_META, locks: "keys", run: getRange };

export const SUBSTR: CommandSpec = { ...SUBSTR_META, locks: "keys", run: getRange };
