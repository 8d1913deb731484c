/**
 * The options of SET and GETEX, and times of expiry as both and SETEX take them.
 */

import type { Args } from "../../base/args.ts";
import { addInt64, fromNumber, int64, int64ToNumber, scaleInt64 } from "../../base/int64.ts";
import type { Database } from "../../keyspace/database.ts";
import { EXPIRY_MS_MAX } from "../../limits.ts";
import { invalidExpire, NOT_AN_INTEGER, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";

export const NX: number = 1 << 0;
export const XX: number = 1 << 1;
export const GET_OLD: number = 1 << 2;
export const KEEP_TTL: number = 1 << 3;
export const PERSIST: number = 1 << 4;
export const EX: number = 1 << 5;
export const PX: number = 1 << 6;
const EX_AT: number = 1 << 7;
const PX_AT: number = 1 << 8;

const TIMES = EX | PX | EX_AT | PX_AT;
export const ABSOLUTE: number = EX_AT | PX_AT;
const IN_SECONDS = EX | EX_AT;

/** What `parseOptionsOrReply` read last. */
export type Options = {
  flags: number;
  /** Argument with the time; 0 if there is none. */
  timeAt: number;
};

export const options: Options = { flags: 0, timeAt: 0 };

/**
 * Reads the options from argument `from` on, of SET if `isSet`, else of GETEX. Redis: an option may
 * be repeated, and of a repeated time the last one counts.
 */
export function parseOptionsOrReply(
  args: Args,
  from: number,
  isSet: boolean,
  reply: Reply,
): boolean {
  options.flags = 0;
  options.timeAt = 0;
  for (let i = from; i < args.count; i++) {
    const flag = optionAt(args, i, isSet);
    if (flag === 0 || (options.flags & excludedBy(flag)) !== 0) {
      reply.error(SYNTAX_ERROR);
      return false;
    }
    options.flags |= flag;
    if ((flag & TIMES) !== 0) options.timeAt = ++i;
  }
  return true;
}

/** The flag that argument `i` names; 0 if none, or if its time is missing. */
function optionAt(args: Args, i: number, isSet: boolean): number {
  if (isSet) {
    if (args.is(i, "NX")) return NX;
    if (args.is(i, "XX")) return XX;
    if (args.is(i, "GET")) return GET_OLD;
    if (args.is(i, "KEEPTTL")) return KEEP_TTL;
  } else if (args.is(i, "PERSIST")) {
    return PERSIST;
  }
  if (i === args.count - 1) return 0;
  if (args.is(i, "EX")) return EX;
  if (args.is(i, "PX")) return PX;
  if (args.is(i, "EXAT")) return EX_AT;
  return args.is(i, "PXAT") ? PX_AT : 0;
}

function excludedBy(flag: number): number {
  if (flag === NX) return XX;
  if (flag === XX) return NX;
  if (flag === GET_OLD) return 0;
  return (TIMES | KEEP_TTL | PERSIST) & ~flag;
}

/**
 * The unix milliseconds that argument `i` means as the time of option `flag`; 0 if it means none,
 * which has then been answered. `name` is the command's, for the error.
 */
export function expiryOrReply(
  db: Database,
  args: Args,
  i: number,
  flag: number,
  name: string,
  reply: Reply,
): number {
  if (!args.int64(i)) {
    reply.error(NOT_AN_INTEGER);
    return 0;
  }
  const isPositive = int64.hi > 0 || (int64.hi === 0 && int64.lo > 0);
  if (isPositive && toUnixMs(db, flag)) {
    return Math.min(int64ToNumber(int64.hi, int64.lo), EXPIRY_MS_MAX);
  }
  reply.error(invalidExpire(name));
  return 0;
}

/** Turns the positive time in `int64` into unix milliseconds; false if they are too many. */
function toUnixMs(db: Database, flag: number): boolean {
  if ((flag & IN_SECONDS) !== 0 && !scaleInt64(int64.hi, int64.lo, 1000)) return false;
  if ((flag & ABSOLUTE) !== 0) return true;
  const { hi, lo } = int64;
  fromNumber(db.store.now);
  return addInt64(hi, lo, int64.hi, int64.lo);
}
