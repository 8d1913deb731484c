/**
 * Commands that change a part of a string: APPEND and SETRANGE. Both look at `proto-max-bulk-len`
 * before they allocate anything.
 */

import type { Args } from "../../base/args.ts";
import { copyLong, copyShort } from "../../base/bytes.ts";
import { int64, int64ToNumber } from "../../base/int64.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { NO_MEMORY, PUT_OFF, WRITTEN } from "../../keyspace/block-copy.ts";
import type { Database } from "../../keyspace/database.ts";
import { NO_EXPIRY_MS } from "../../keyspace/database.ts";
import {
  NOT_AN_INTEGER,
  OFFSET_OUT_OF_RANGE,
  OOM,
  STRING_TOO_LONG,
  WRONGTYPE,
} from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { APPEND_META, SETRANGE_META } from "./specs.ts";
import { stretch, stretched } from "./stretch.ts";
import { isString, setString, stringLength } from "./value.ts";

const SHORT_COPY_BYTES = 24;

/** Copies argument `i` into the string that `stretch` made. */
function put(db: Database, args: Args, i: number, offset: number): void {
  const source = args.source(i);
  const start = args.start[i] as number;
  const end = args.end[i] as number;
  const at = stretched.start + offset;
  if (end - start <= SHORT_COPY_BYTES) {
    copyShort(stretched.source, at, source, start, end);
    return;
  }
  db.store.heap.work.copied(end - start);
  copyLong(stretched.source, at, source, start, end - start);
}

export const APPEND: CommandSpec = {
  ...APPEND_META,
  locks: "keys",
  run(db, args, reply) {
    const old = db.findWrite(args, 1);
    const appended = args.length(2);
    let total = appended;
    let outcome: number;
    if (old === 0) {
      // Redis: what makes the key may be stored as a number, and its length is not checked.
      outcome = setString(db, args, 1, 2, old, NO_EXPIRY_MS) ? WRITTEN : NO_MEMORY;
    } else {
      if (!isString(db, old)) {
        reply.error(WRONGTYPE);
        return;
      }
      const length = stringLength(db, old);
      total += length;
      if (total > db.store.bulkMax) {
        reply.error(STRING_TOO_LONG);
        return;
      }
      outcome = stretch(db, args, 1, old, length, length, total);
      if (outcome === PUT_OFF) return;
      if (outcome === WRITTEN) put(db, args, 2, length);
    }
    if (outcome === NO_MEMORY) {
      reply.error(OOM);
      return;
    }
    db.changed("append", args, 1);
    reply.integer(total);
  },
};

export const SETRANGE: CommandSpec = {
  ...SETRANGE_META,
  locks: "keys",
  run(db, args, reply) {
    if (!args.int64(2)) {
      reply.error(NOT_AN_INTEGER);
      return;
    }
    const offset = int64ToNumber(int64.hi, int64.lo);
    if (offset < 0) {
      reply.error(OFFSET_OUT_OF_RANGE);
      return;
    }
    const old = db.findWrite(args, 1);
    if (old !== 0 && !isString(db, old)) {
      reply.error(WRONGTYPE);
      return;
    }
    const length = old === 0 ? 0 : stringLength(db, old);
    if (args.length(3) === 0) reply.integer(length);
    else setRange(db, args, reply, old, length, offset);
  },
};

function setRange(
  db: Database,
  args: Args,
  reply: Reply,
  old: number,
  length: number,
  offset: number,
): void {
  const end = offset + args.length(3);
  if (end > db.store.bulkMax) {
    reply.error(STRING_TOO_LONG);
    return;
  }
  const total = Math.max(length, end);
  const outcome = stretch(db, args, 1, old, length, Math.max(length, offset), total);
  if (outcome === PUT_OFF) return;
  if (outcome === NO_MEMORY) {
    reply.error(OOM);
    return;
  }
  put(db, args, 3, offset);
  db.changed("setrange", args, 1);
  reply.integer(total);
}
