/**
 * LCS: the longest common subsequence of two strings, its length or its ranges.
 */

import type { Args } from "../../base/args.ts";
import type { ByteRange } from "../../base/byte-range.ts";
import { int64, int64ToNumber } from "../../base/int64.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { NOT_AN_INTEGER, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { type LcsTable, lcsTable, walkLcs } from "./lcs.ts";
import { LCS_META } from "./specs.ts";
import { found, isNumber, isString, readString } from "./value.ts";

const NOT_STRINGS = "ERR The specified keys must contain string values";
const AMBIGUOUS = "ERR If you want both the length and indexes, please just use IDX.";
const TABLE_TOO_BIG =
  "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";
const NO_MEMORY = "ERR Insufficient memory, failed allocating transient memory for LCS";
/** Redis's table has 4 bytes per pair of prefixes, and its size is what the limit is for. */
const REDIS_CELL_BYTES = 4;

type LcsOptions = { isLength: boolean; isRanges: boolean; withLengths: boolean; least: number };

export const LCS: CommandSpec = {
  ...LCS_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.findRead(args, 1);
    const q = db.findRead(args, 2);
    if ((p !== 0 && !isString(db, p)) || (q !== 0 && !isString(db, q))) {
      reply.error(NOT_STRINGS);
      return;
    }
    const options = parseLcsOptionsOrReply(args, reply);
    if (options === null) return;
    const a = bytesOf(db, p);
    const b = bytesOf(db, q);
    const cells = (a.end - a.start + 1) * (b.end - b.start + 1);
    if (cells * REDIS_CELL_BYTES > db.store.bulkMax) {
      reply.error(TABLE_TOO_BIG);
      return;
    }
    const table = lcsTable(a, b);
    if (table === null) reply.error(NO_MEMORY);
    else answer(table, options, reply);
  },
};

function bytesOf(db: Database, p: number): ByteRange {
  if (p === 0) return { source: new Uint8Array(0), start: 0, end: 0 };
  readString(db, p);
  const { source, start, end } = found;
  // The text of a number lies where that of the other string may come.
  return isNumber(db, p)
    ? { source: source.slice(start, end), start: 0, end: end - start }
    : { source, start, end };
}

function parseLcsOptionsOrReply(args: Args, reply: Reply): LcsOptions | null {
  const options: LcsOptions = { isLength: false, isRanges: false, withLengths: false, least: 0 };
  for (let i = 3; i < args.count; i++) {
    if (args.is(i, "IDX")) {
      options.isRanges = true;
    } else if (args.is(i, "LEN")) {
      options.isLength = true;
    } else if (args.is(i, "WITHMATCHLEN")) {
      options.withLengths = true;
    } else if (args.is(i, "MINMATCHLEN") && i < args.count - 1) {
      i++;
      if (!args.int64(i)) {
        reply.error(NOT_AN_INTEGER);
        return null;
      }
      options.least = int64ToNumber(int64.hi, int64.lo);
    } else {
      reply.error(SYNTAX_ERROR);
      return null;
    }
  }
  if (!options.isLength || !options.isRanges) return options;
  reply.error(AMBIGUOUS);
  return null;
}

function answer(table: LcsTable, options: LcsOptions, reply: Reply): void {
  if (options.isRanges) {
    answerRanges(table, options, reply);
  } else if (options.isLength) {
    reply.integer(table.length);
  } else {
    const text = new Uint8Array(table.length);
    walkLcs(table, text, () => {});
    reply.bulk(text, 0, text.length);
  }
}

function answerRanges(table: LcsTable, options: LcsOptions, reply: Reply): void {
  reply.map(2);
  reply.text("matches");
  const mark = reply.beginArray();
  let count = 0;
  walkLcs(table, null, ({ aStart, aEnd, bStart, bEnd }) => {
    const length = aEnd - aStart + 1;
    if (length < options.least) return;
    reply.array(options.withLengths ? 3 : 2);
    reply.array(2);
    reply.integer(aStart);
    reply.integer(aEnd);
    reply.array(2);
    reply.integer(bStart);
    reply.integer(bEnd);
    if (options.withLengths) reply.integer(length);
    count++;
  });
  reply.endArray(mark, count);
  reply.text("len");
  reply.integer(table.length);
}
