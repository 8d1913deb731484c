/**
 * Strings as numbers: INCR, DECR, INCRBY and DECRBY on 64-bit integers, INCRBYFLOAT on the long
 * doubles of x86. An integer is stored as one; the result of INCRBYFLOAT is text.
 */

import type { Args } from "../../base/args.ts";
import { latin1, latin1Bytes } from "../../base/bytes.ts";
import { addInt64, int64, negateInt64 } from "../../base/int64.ts";
import {
  addLongDouble,
  formatLongDoubleHuman,
  isInfiniteLongDouble,
  isNaNLongDouble,
  type LongDouble,
  parseLongDouble,
} from "../../base/long-double.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { KEEP_EXPIRY } from "../../keyspace/database.ts";
import {
  NAN_OR_INFINITY,
  NOT_A_FLOAT,
  NOT_AN_INTEGER,
  OOM,
  OVERFLOW,
  WRONGTYPE,
} from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { DECR_META, DECRBY_META, INCR_META, INCRBY_META, INCRBYFLOAT_META } from "./specs.ts";
import { found, isString, readInteger, readString, setBytes, setInteger } from "./value.ts";

const DECREMENT_OVERFLOW = "ERR decrement would overflow";
/** Longer texts are no float whatever they spell. */
const FLOAT_CHARS_MAX = 5 * 1024;

/** Adds to the number of key 1; a key that is not there counts as 0. */
function increment(db: Database, args: Args, reply: Reply, hi: number, lo: number): void {
  const old = db.findWrite(args, 1);
  if (old === 0) {
    int64.hi = 0;
    int64.lo = 0;
  } else if (!isString(db, old)) {
    reply.error(WRONGTYPE);
    return;
  } else if (!readInteger(db, old)) {
    reply.error(NOT_AN_INTEGER);
    return;
  }
  if (!addInt64(int64.hi, int64.lo, hi, lo)) {
    reply.error(OVERFLOW);
    return;
  }
  const sumHi = int64.hi;
  const sumLo = int64.lo;
  if (!setInteger(db, args, 1, old, sumHi, sumLo, KEEP_EXPIRY)) {
    reply.error(OOM);
    return;
  }
  db.changed("incrby", args, 1);
  reply.int64(sumHi, sumLo);
}

/** Reads argument 2 into `int64`. */
function amountOrReply(args: Args, reply: Reply): boolean {
  if (args.int64(2)) return true;
  reply.error(NOT_AN_INTEGER);
  return false;
}

export const INCR: CommandSpec = {
  ...INCR_META,
  locks: "keys",
  run(db, args, reply) {
    increment(db, args, reply, 0, 1);
  },
};

export const DECR: CommandSpec = {
  ...DECR_META,
  locks: "keys",
  run(db, args, reply) {
    increment(db, args, reply, -1, -1);
  },
};

export const INCRBY: CommandSpec = {
  ...INCRBY_META,
  locks: "keys",
  run(db, args, reply) {
    if (amountOrReply(args, reply)) increment(db, args, reply, int64.hi, int64.lo);
  },
};

export const DECRBY: CommandSpec = {
  ...DECRBY_META,
  locks: "keys",
  run(db, args, reply) {
    if (!amountOrReply(args, reply)) return;
    if (negateInt64(int64.hi, int64.lo)) increment(db, args, reply, int64.hi, int64.lo);
    else reply.error(DECREMENT_OVERFLOW);
  },
};

export const INCRBYFLOAT: CommandSpec = {
  ...INCRBYFLOAT_META,
  locks: "keys",
  run(db, args, reply) {
    const old = db.findWrite(args, 1);
    if (old !== 0 && !isString(db, old)) {
      reply.error(WRONGTYPE);
      return;
    }
    const value = old === 0 ? parseLongDouble("0") : floatOf(db, old);
    const amount = value && parseFloatText(args.source(2), args.start[2], args.end[2]);
    if (!value || !amount) {
      reply.error(NOT_A_FLOAT);
      return;
    }
    const sum = addLongDouble(value, amount);
    if (isNaNLongDouble(sum) || isInfiniteLongDouble(sum)) {
      reply.error(NAN_OR_INFINITY);
      return;
    }
    const text = formatLongDoubleHuman(sum);
    if (!setBytes(db, args, 1, old, latin1Bytes(text), KEEP_EXPIRY)) {
      reply.error(OOM);
      return;
    }
    db.changed("incrbyfloat", args, 1);
    reply.text(text);
  },
};

function floatOf(db: Database, p: number): LongDouble | undefined {
  readString(db, p);
  return parseFloatText(found.source, found.start, found.end);
}

function parseFloatText(source: Uint8Array, start = 0, end = 0): LongDouble | undefined {
  return end - start > FLOAT_CHARS_MAX ? undefined : parseLongDouble(latin1(source, start, end));
}
