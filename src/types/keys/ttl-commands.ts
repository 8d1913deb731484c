/** TTL, PTTL, EXPIRETIME, PEXPIRETIME. */
import type { Args } from "../../base/args.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import type { Reply } from "../../protocol/reply.ts";
import { replyWhole } from "./numbers.ts";
import { EXPIRETIME_META, PEXPIRETIME_META, PTTL_META, TTL_META } from "./specs.ts";

const NO_KEY = -2;
const NO_TIME = -1;

/** Redis: seconds are rounded to the nearest, absolute ones too. */
function answer(
  db: Database,
  args: Args,
  isSeconds: boolean,
  isAbsolute: boolean,
  reply: Reply,
): void {
  const p = db.peek(args, 1);
  const expiry = p === 0 ? 0 : db.expiryOf(p);
  if (expiry === 0) {
    reply.integer(p === 0 ? NO_KEY : NO_TIME);
    return;
  }
  const ms = isAbsolute ? expiry : Math.max(expiry - db.store.now, 0);
  replyWhole(reply, isSeconds ? Math.floor((ms + 500) / 1000) : ms);
}

export const TTL: CommandSpec = {
  ...TTL_META,
  locks: "keys",
  run: (db, args, reply) => answer(db, args, true, false, reply),
};

export const PTTL: CommandSpec = {
  ...PTTL_META,
  locks: "keys",
  run: (db, args, reply) => answer(db, args, false, false, reply),
};

export const EXPIRETIME: CommandSpec = {
  ...EXPIRETIME_META,
  locks: "keys",
  run: (db, args, reply) => answer(db, args, true, true, reply),
};

export const PEXPIRETIME: CommandSpec = {
  ...PEXPIRETIME_META,
  locks: "keys",
  run: (db, args, reply) => answer(db, args, false, true, reply),
};
