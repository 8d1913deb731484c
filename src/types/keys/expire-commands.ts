/**
 * The EXPIRE family: EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT and PERSIST.
 *
 * Times are read and added up as 64-bit integers, and kept as doubles: exact to the millisecond
 * for 285,000 years, then to the nearest multiple of a power of two.
 */

import type { Args } from "../../base/args.ts";
import { addInt64, fromNumber, int64, int64ToNumber, scaleInt64 } from "../../base/int64.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { NO_EXPIRY_MS } from "../../keyspace/database.ts";
import { EXPIRY_MS_MAX } from "../../limits.ts";
import { invalidExpire, OOM, unsupportedOption } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { int64OrReply } from "./numbers.ts";
import { EXPIRE_META, EXPIREAT_META, PERSIST_META, PEXPIRE_META, PEXPIREAT_META } from "./specs.ts";

const NX: number = 1 << 0;
const XX: number = 1 << 1;
const GT: number = 1 << 2;
const LT: number = 1 << 3;

const NX_WITH_OTHERS = "ERR NX and XX, GT or LT options at the same time are not compatible";
const GT_WITH_LT = "ERR GT and LT options at the same time are not compatible";
const DIFFERS = "Times beyond 2^53 milliseconds are kept to the nearest double.";

type Unit = { name: string; isSeconds: boolean; isAbsolute: boolean };

/** The conditions from argument 3 on; -1 if they make no sense, which has been answered. */
function conditionsOrReply(args: Args, reply: Reply): number {
  let conditions = 0;
  for (let i = 3; i < args.count; i++) {
    if (args.is(i, "NX")) conditions |= NX;
    else if (args.is(i, "XX")) conditions |= XX;
    else if (args.is(i, "GT")) conditions |= GT;
    else if (args.is(i, "LT")) conditions |= LT;
    else {
      reply.error(unsupportedOption(args.text(i)));
      return -1;
    }
  }
  if ((conditions & NX) !== 0 && conditions !== NX) {
    reply.error(NX_WITH_OTHERS);
    return -1;
  }
  if ((conditions & GT) !== 0 && (conditions & LT) !== 0) {
    reply.error(GT_WITH_LT);
    return -1;
  }
  return conditions;
}

/**
 * Unix milliseconds that argument 2 means, which may lie in the past or before 1970; NaN if it
 * means none, which has been answered.
 */
function timeOrReply(db: Database, args: Args, unit: Unit, reply: Reply): number {
  if (!int64OrReply(args, 2, reply)) return Number.NaN;
  let isValid = !unit.isSeconds || scaleInt64(int64.hi, int64.lo, 1000);
  if (isValid && !unit.isAbsolute) {
    const { hi, lo } = int64;
    fromNumber(db.store.now);
    isValid = addInt64(hi, lo, int64.hi, int64.lo);
  }
  if (!isValid) {
    reply.error(invalidExpire(unit.name));
    return Number.NaN;
  }
  return Math.min(int64ToNumber(int64.hi, int64.lo), EXPIRY_MS_MAX);
}

/** Redis: no expiry counts as the latest possible one for GT and LT. */
function isMet(conditions: number, current: number, expiry: number): boolean {
  if ((conditions & NX) !== 0 && current !== 0) return false;
  if ((conditions & XX) !== 0 && current === 0) return false;
  if ((conditions & GT) !== 0 && (current === 0 || expiry <= current)) return false;
  return (conditions & LT) === 0 || current === 0 || expiry < current;
}

function expire(db: Database, args: Args, unit: Unit, reply: Reply): void {
  const conditions = conditionsOrReply(args, reply);
  if (conditions < 0) return;
  const expiry = timeOrReply(db, args, unit, reply);
  if (Number.isNaN(expiry)) return;
  const p = db.findWrite(args, 1);
  if (p === 0 || !isMet(conditions, db.expiryOf(p), expiry)) {
    reply.integer(0);
    return;
  }
  if (expiry <= db.store.now) {
    db.remove(args, 1, p);
    db.changed("del", args, 1);
  } else if (db.setExpiry(args, 1, p, expiry) !== 0) {
    db.changed("expire", args, 1);
  } else {
    reply.error(OOM);
    return;
  }
  reply.integer(1);
}

const SECONDS: Unit = { name: "expire", isSeconds: true, isAbsolute: false };
const MILLISECONDS: Unit = { name: "pexpire", isSeconds: false, isAbsolute: false };
const UNIX_SECONDS: Unit = { name: "expireat", isSeconds: true, isAbsolute: true };
const UNIX_MILLISECONDS: Unit = { name: "pexpireat", isSeconds: false, isAbsolute: true };

export const EXPIRE: CommandSpec = {
  ...EXPIRE_META,
  differs: DIFFERS,
  locks: "keys",
  run: (db, args, reply) => expire(db, args, SECONDS, reply),
};

export const PEXPIRE: CommandSpec = {
  ...PEXPIRE_META,
  differs: DIFFERS,
  locks: "keys",
  run: (db, args, reply) => expire(db, args, MILLISECONDS, reply),
};

export const EXPIREAT: CommandSpec = {
  ...EXPIREAT_META,
  differs: DIFFERS,
  locks: "keys",
  run: (db, args, reply) => expire(db, args, UNIX_SECONDS, reply),
};

export const PEXPIREAT: CommandSpec = {
  ...PEXPIREAT_META,
  differs: DIFFERS,
  locks: "keys",
  run: (db, args, reply) => expire(db, args, UNIX_MILLISECONDS, reply),
};

export const PERSIST: CommandSpec = {
  ...PERSIST_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.findWrite(args, 1);
    if (p === 0 || db.expiryOf(p) === 0) {
      reply.integer(0);
    } else if (db.setExpiry(args, 1, p, NO_EXPIRY_MS) === 0) {
      reply.error(OOM);
    } else {
      db.changed("persist", args, 1);
      reply.integer(1);
    }
  },
};
