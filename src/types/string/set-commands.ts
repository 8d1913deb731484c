/**
 * Commands that replace strings: SET with its options, SETNX, SETEX, PSETEX, MSET and MSETNX.
 *
 * Memory for what a command writes is reserved before it runs. Should it run out all the same, a
 * command with one key has changed nothing; MSET and MSETNX have then set the keys before the one
 * that failed, and answer with the error.
 */
import type { Args } from "../../base/args.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { KEEP_EXPIRY, NO_EXPIRY_MS } from "../../keyspace/database.ts";
import { OOM, wrongArity } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { getOrReply } from "./get-commands.ts";
import {
  EX,
  expiryOrReply,
  GET_OLD,
  KEEP_TTL,
  NX,
  options,
  PX,
  parseOptionsOrReply,
  XX,
} from "./options.ts";
import { MSET_META, MSETNX_META, PSETEX_META, SET_META, SETEX_META, SETNX_META } from "./specs.ts";
import { setString } from "./value.ts";

export const SET: CommandSpec = {
  ...SET_META,
  locks: "keys",
  run(db, args, reply) {
    if (args.count > 3) {
      setWithOptions(db, args, reply);
      return;
    }
    if (setString(db, args, 1, 2, db.findWrite(args, 1), NO_EXPIRY_MS)) {
      db.changed("set", args, 1);
      reply.ok();
    } else {
      reply.error(OOM);
    }
  },
};

/** Redis: with GET the reply is the old string or nil, whether or not the new one was set. */
function setWithOptions(db: Database, args: Args, reply: Reply): void {
  if (!parseOptionsOrReply(args, 3, true, reply)) return;
  const { flags, timeAt } = options;
  let expiryMs = (flags & KEEP_TTL) !== 0 ? KEEP_EXPIRY : NO_EXPIRY_MS;
  if (timeAt !== 0) {
    expiryMs = expiryOrReply(db, args, timeAt, flags, "set", reply);
    if (expiryMs === 0) return;
  }
  const mark = reply.length;
  const isGet = (flags & GET_OLD) !== 0;
  const old = isGet ? db.findRead(args, 1) : db.findWrite(args, 1);
  if (isGet && !getOrReply(db, old, reply)) return;
  // Redis looks the key up once more to set it, which counts as a use.
  if (isGet && old !== 0) db.touch(old);
  if ((flags & (old === 0 ? XX : NX)) !== 0) {
    if (!isGet) reply.nil();
    return;
  }
  if (!setString(db, args, 1, 2, old, expiryMs)) {
    reply.truncate(mark);
    reply.error(OOM);
    return;
  }
  db.changed("set", args, 1, timeAt === 0 ? "" : "expire");
  if (!isGet) reply.ok();
}

export const SETNX: CommandSpec = {
  ...SETNX_META,
  locks: "keys",
  run(db, args, reply) {
    const old = db.findWrite(args, 1);
    if (old !== 0) {
      reply.integer(0);
    } else if (setString(db, args, 1, 2, old, NO_EXPIRY_MS)) {
      db.changed("set", args, 1);
      reply.integer(1);
    } else {
      reply.error(OOM);
    }
  },
};

function setWithTime(db: Database, args: Args, reply: Reply, flag: number, name: string): void {
  const expiryMs = expiryOrReply(db, args, 2, flag, name, reply);
  if (expiryMs === 0) return;
  if (setString(db, args, 1, 3, db.findWrite(args, 1), expiryMs)) {
    db.changed("set", args, 1, "expire");
    reply.ok();
  } else {
    reply.error(OOM);
  }
}

export const SETEX: CommandSpec = {
  ...SETEX_META,
  locks: "keys",
  run(db, args, reply) {
    setWithTime(db, args, reply, EX, "setex");
  },
};

export const PSETEX: CommandSpec = {
  ...PSETEX_META,
  locks: "keys",
  run(db, args, reply) {
    setWithTime(db, args, reply, PX, "psetex");
  },
};

/** Sets all pairs. False when memory ran out, which has been answered. */
function setPairsOrReply(db: Database, args: Args, reply: Reply): boolean {
  const { count } = args;
  for (let i = 1; i < count; i += 2) {
    if (!setString(db, args, i, i + 1, db.findWrite(args, i), NO_EXPIRY_MS)) {
      reply.error(OOM);
      return false;
    }
    db.changed("set", args, i);
  }
  return true;
}

export const MSET: CommandSpec = {
  ...MSET_META,
  locks: "keys",
  run(db, args, reply) {
    if (args.count % 2 === 0) reply.error(wrongArity("mset"));
    else if (setPairsOrReply(db, args, reply)) reply.ok();
  },
};

export const MSETNX: CommandSpec = {
  ...MSETNX_META,
  locks: "keys",
  run(db, args, reply) {
    if (args.count % 2 === 0) {
      reply.error(wrongArity("msetnx"));
      return;
    }
    for (let i = 1; i < args.count; i += 2) {
      if (db.findWrite(args, i) !== 0) {
        reply.integer(0);
        return;
      }
    }
    if (setPairsOrReply(db, args, reply)) reply.integer(1);
  },
};
