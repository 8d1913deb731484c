/**
 * DUMP, RESTORE and RESTORE-ASKING. A payload is
 *
 *   u8 type | value | u16 RDB version | u64 CRC64 of all before it      little-endian
 *
 * Redis does not mind bytes between the value and the version.
 */

import type { Args } from "../../base/args.ts";
import { type Crc64, crc64, writeCrc64 } from "../../base/crc64.ts";
import { addInt64, fromNumber, int64, int64ToNumber } from "../../base/int64.ts";
import { newRdbString, readRdbString } from "../../base/rdb-string.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { type Database, NO_EXPIRY_MS } from "../../keyspace/database.ts";
import { EXPIRY_MS_MAX, RDB_VERSION_MAX } from "../../limits.ts";
import { BUSYKEY, OOM, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { rdbStringParts, restoreString } from "../string/rdb-value.ts";
import { int64OrReply } from "./numbers.ts";
import { DUMP_META, RESTORE_ASKING_META, RESTORE_META } from "./specs.ts";

const BAD_PAYLOAD = "ERR DUMP payload version or checksum are wrong";
const BAD_FORMAT = "ERR Bad data format";
const BAD_TTL = "ERR Invalid TTL value, must be >= 0";
const BAD_IDLETIME = "ERR Invalid IDLETIME value, must be >= 0";
const BAD_FREQ = "ERR Invalid FREQ value, must be >= 0 and <= 255";

const TTL = 2;
const PAYLOAD = 3;
const OPTIONS = 4;
const FREQ_MAX = 255;

const VERSION_BYTES = 2;
const CRC_BYTES = 8;
const FOOTER_BYTES = VERSION_BYTES + CRC_BYTES;
const TYPE_STRING = 0;

/** Types of values that Redis 7.4 loads, by number; those of modules and unknown ones have none. */
const TYPE_NAMES: readonly (string | undefined)[] = typeNames({
  string: [TYPE_STRING],
  list: [1, 10, 14, 18],
  set: [2, 11, 20],
  "sorted set": [3, 5, 12, 17],
  hash: [4, 9, 13, 16, 22, 23, 24, 25],
  stream: [15, 19, 21],
});

function typeNames(types: Record<string, readonly number[]>): string[] {
  const names: string[] = [];
  for (const [name, numbers] of Object.entries(types)) for (const n of numbers) names[n] = name;
  return names;
}

const footer = new Uint8Array(FOOTER_BYTES);
const sum: Crc64 = { hi: 0, lo: 0 };
const value = newRdbString();

export const DUMP: CommandSpec = {
  ...DUMP_META,
  differs:
    "Payloads have the version that rdb-write-version says, 10 by default, which Redis 7.0 and " +
    "later load. Compressed bytes may be others than Redis's.",
  locks: "keys",
  run(db, args, reply) {
    const p = db.findRead(args, 1);
    if (p === 0) {
      reply.nil();
      return;
    }
    const { head, body } = rdbStringParts(db, p);
    const first = new Uint8Array(1 + head.length);
    first[0] = TYPE_STRING;
    first.set(head, 1);
    footer[0] = db.store.rdbWriteVersion;
    footer[1] = 0;
    clearSum();
    crc64(first, 0, first.length, sum);
    if (body !== null) crc64(body.source, body.start, body.end, sum);
    crc64(footer, 0, VERSION_BYTES, sum);
    writeCrc64(sum, footer, VERSION_BYTES);
    reply.bulkOf(first, body, footer);
  },
};

function clearSum(): void {
  sum.hi = 0;
  sum.lo = 0;
}

/** True if argument `i` ends with a version that we read and the right sum. */
function isPayload(args: Args, i: number): boolean {
  const source = args.source(i);
  const start = args.start[i] as number;
  const end = args.end[i] as number;
  if (end - start < FOOTER_BYTES) return false;
  const at = end - FOOTER_BYTES;
  if (((source[at] as number) | ((source[at + 1] as number) << 8)) > RDB_VERSION_MAX) return false;
  clearSum();
  crc64(source, start, end - CRC_BYTES, sum);
  writeCrc64(sum, footer, VERSION_BYTES);
  for (let k = VERSION_BYTES; k < FOOTER_BYTES; k++) {
    if (source[at + k] !== footer[k]) return false;
  }
  return true;
}

type Options = { isReplacing: boolean; isAbsolute: boolean; idleSeconds: number; freq: number };

const UNSAID = -1;

/** The options from argument 4 on; null if they make no sense, which has been answered. */
function optionsOrReply(args: Args, reply: Reply): Options | null {
  const options = { isReplacing: false, isAbsolute: false, idleSeconds: UNSAID, freq: UNSAID };
  for (let i = OPTIONS; i < args.count; i++) {
    const hasValue = i + 1 < args.count;
    if (args.is(i, "REPLACE")) {
      options.isReplacing = true;
    } else if (args.is(i, "ABSTTL")) {
      options.isAbsolute = true;
    } else if (args.is(i, "IDLETIME") && hasValue && options.freq === UNSAID) {
      if (!int64OrReply(args, ++i, reply)) return null;
      options.idleSeconds = int64ToNumber(int64.hi, int64.lo);
      if (options.idleSeconds < 0) return failed(reply, BAD_IDLETIME);
    } else if (args.is(i, "FREQ") && hasValue && options.idleSeconds === UNSAID) {
      if (!int64OrReply(args, ++i, reply)) return null;
      options.freq = int64ToNumber(int64.hi, int64.lo);
      if (options.freq < 0 || options.freq > FREQ_MAX) return failed(reply, BAD_FREQ);
    } else {
      return failed(reply, SYNTAX_ERROR);
    }
  }
  return options;
}

function failed(reply: Reply, text: string): null {
  reply.error(text);
  return null;
}

/** Unix milliseconds that argument 2 means, 0 for never; NaN if none, which has been answered. */
function expiryOrReply(db: Database, args: Args, isAbsolute: boolean, reply: Reply): number {
  if (!int64OrReply(args, TTL, reply)) return Number.NaN;
  const { hi, lo } = int64;
  if (hi < 0) {
    reply.error(BAD_TTL);
    return Number.NaN;
  }
  if ((hi === 0 && lo === 0) || isAbsolute) return expiryMs(hi, lo);
  fromNumber(db.store.now);
  // Redis: a sum beyond 2^63 wraps around, to a time long past.
  if (!addInt64(hi, lo, int64.hi, int64.lo)) return 1;
  return expiryMs(int64.hi, int64.lo);
}

function expiryMs(hi: number, lo: number): number {
  return Math.min(int64ToNumber(hi, lo), EXPIRY_MS_MAX);
}

/** True if the payload holds a value that can be restored, which is then in `value`. */
function readValueOrReply(args: Args, reply: Reply): boolean {
  if (!isPayload(args, PAYLOAD)) {
    reply.error(BAD_PAYLOAD);
    return false;
  }
  const source = args.source(PAYLOAD);
  const start = args.start[PAYLOAD] as number;
  // Redis: a value that runs into the footer is taken.
  const end = args.end[PAYLOAD] as number;
  const type = source[start] as number;
  const name = TYPE_NAMES[type];
  if (name === undefined) reply.error(BAD_FORMAT);
  else if (type !== TYPE_STRING) reply.error(`ERR RESTORE of a ${name} is not supported yet`);
  else if (readRdbString(source, start + 1, end, value) < 0) reply.error(BAD_FORMAT);
  else return true;
  return false;
}

function restore(db: Database, args: Args, reply: Reply): void {
  const options = optionsOrReply(args, reply);
  if (options === null) return;
  const old = db.findWrite(args, 1);
  if (old !== 0 && !options.isReplacing) {
    reply.error(BUSYKEY);
    return;
  }
  const expiry = expiryOrReply(db, args, options.isAbsolute, reply);
  if (Number.isNaN(expiry) || !readValueOrReply(args, reply)) return;
  if (expiry !== NO_EXPIRY_MS && expiry <= db.store.now) {
    if (old !== 0) {
      db.remove(args, 1, old);
      db.changed("del", args, 1);
    }
    reply.ok();
    return;
  }
  if (!restoreString(db, args, 1, old, PAYLOAD, value, expiry)) {
    reply.error(OOM);
    return;
  }
  db.restoreAccess(db.find(args, 1), options.idleSeconds, options.freq);
  db.changed("restore", args, 1);
  reply.ok();
}

const ONLY_STRINGS = "Values of types that do not exist here yet are refused.";

export const RESTORE: CommandSpec = {
  ...RESTORE_META,
  locks: "keys",
  differs: ONLY_STRINGS,
  run: restore,
};

export const RESTORE_ASKING: CommandSpec = {
  ...RESTORE_ASKING_META,
  locks: "keys",
  differs: ONLY_STRINGS,
  run: restore,
};
