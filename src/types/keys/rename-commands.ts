/**
 * Commands that give a value another key or database: RENAME, RENAMENX, MOVE, and COPY.
 *
 * A key lies in its record, so a new record is made and the value copied to it; of a big string
 * only the pointer to its block moves, but COPY copies the block too. The new record is allocated
 * first: when memory is out nothing has changed.
 */

import type { Args } from "../../base/args.ts";
import { copyLong, copyWords, equalBytes } from "../../base/bytes.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { bigStart, makeBigBlock } from "../../keyspace/big-block.ts";
import { NO_MEMORY, PUT_OFF, WRITTEN } from "../../keyspace/block-copy.ts";
import type { Database } from "../../keyspace/database.ts";
import type { Heap } from "../../memory/heap.ts";
import { CHUNK_SHIFT } from "../../memory/layout.ts";
import {
  DB_OUT_OF_RANGE,
  NO_SUCH_KEY,
  OOM,
  SAME_OBJECT,
  SYNTAX_ERROR,
} from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { STRING_BIG } from "../../structures/record.ts";
import { int32OrReply } from "./numbers.ts";
import { COPY_META, MOVE_META, RENAME_META, RENAMENX_META } from "./specs.ts";

const MOVE_IN_CLUSTER = "ERR MOVE is not allowed in cluster mode";
const COPY_IN_CLUSTER = "ERR Copying to another database is not allowed in cluster mode";
const NEEDS_MEMORY = "Makes a record with the new key first, so it can answer -OOM.";
/** Longer values are copied by `set`, which allocates a view. */
const WORD_COPY_BYTES = 192;

function isSameKey(args: Args, i: number, j: number): boolean {
  return equalBytes(
    args.source(i),
    args.start[i] as number,
    args.end[i] as number,
    args.source(j),
    args.start[j] as number,
    args.end[j] as number,
  );
}

/** Copies the value area of a record that is no big string. */
function copyValue(from: Database, p: number, to: Database, q: number): void {
  const length = from.valueLength(p);
  const start = from.valueAt(p);
  if (length <= WORD_COPY_BYTES) {
    copyWords(to.viewOf(q), to.valueAt(q), from.viewOf(p), start, length);
  } else {
    from.store.heap.work.copied(length);
    to.bytesOf(q).set(from.bytesOf(p).subarray(start, start + length), to.valueAt(q));
  }
}

/**
 * Moves the record `p` of the key in argument `i` to the key in argument `j` of another or the same
 * database, where `old` was found last. False when memory is out, with nothing changed.
 */
function moveRecord(
  args: Args,
  from: Database,
  i: number,
  p: number,
  to: Database,
  j: number,
  old: number,
): boolean {
  const kind = from.kindOf(p);
  const q = to.write(args, j, old, kind, from.valueLength(p), from.expiryOf(p));
  if (q === 0) return false;
  if (kind === STRING_BIG) to.adoptBig(args, j, q, from.takeBig(args, i, p));
  else copyValue(from, p, to, q);
  // Redis: under its new name it was never used.
  to.setAccess(q, to.store.newAccess);
  // The place that was found last is the target's now.
  from.remove(args, i, from.find(args, i));
  return true;
}

/**
 * As `moveRecord`, but leaves record `p` where it is. The copy was never used. One of the outcomes
 * of keyspace/block-copy: a big string is copied while no lock is held.
 */
function copyRecord(
  args: Args,
  from: Database,
  p: number,
  to: Database,
  j: number,
  old: number,
): number {
  const { heap, blockCopy } = from.store;
  const kind = from.kindOf(p);
  const length = from.valueLength(p);
  const expiry = from.expiryOf(p);
  if (kind !== STRING_BIG) {
    const q = to.write(args, j, old, kind, length, expiry);
    if (q === 0) return NO_MEMORY;
    copyValue(from, p, to, q);
    to.setAccess(q, to.store.newAccess);
    return WRITTEN;
  }
  const source = from.bigBlockOf(p);
  const isMade = blockCopy.fits(source, length, length);
  if (!isMade && blockCopy.want(source, length, length, length)) return PUT_OFF;
  const block = isMade ? blockCopy.block : copyBlock(heap, source, length);
  if (block === 0) return NO_MEMORY;
  const q = to.write(args, j, old, kind, length, expiry);
  if (q === 0) {
    if (!isMade) heap.freeLarge(block);
    return NO_MEMORY;
  }
  if (isMade) blockCopy.take();
  to.adoptBig(args, j, q, block);
  to.setAccess(q, to.store.newAccess);
  return WRITTEN;
}

/** A copy of a big string, made under the locks; 0 when memory is out. */
function copyBlock(heap: Heap, source: number, length: number): number {
  const block = makeBigBlock(heap, length);
  if (block === 0) return 0;
  const from = heap.u8[source >>> CHUNK_SHIFT] as Uint8Array;
  heap.work.copied(length);
  const to = heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
  copyLong(to, bigStart(block), from, bigStart(source), length);
  return block;
}

/** True if the key was renamed or keeps its name. False if it was not, which has been answered. */
function renameOrReply(db: Database, args: Args, isOnlyNew: boolean, reply: Reply): boolean {
  const p = db.findWrite(args, 1);
  if (p === 0) {
    reply.error(NO_SUCH_KEY);
    return false;
  }
  if (isSameKey(args, 1, 2)) {
    if (isOnlyNew) reply.integer(0);
    return !isOnlyNew;
  }
  const old = db.findWrite(args, 2);
  if (old !== 0 && isOnlyNew) {
    reply.integer(0);
    return false;
  }
  if (!moveRecord(args, db, 1, p, db, 2, old)) {
    reply.error(OOM);
    return false;
  }
  db.changed("rename_from", args, 1);
  db.changedToo("rename_to", args, 2);
  return true;
}

export const RENAME: CommandSpec = {
  ...RENAME_META,
  differs: NEEDS_MEMORY,
  locks: "keys",
  run(db, args, reply) {
    if (renameOrReply(db, args, false, reply)) reply.ok();
  },
};

export const RENAMENX: CommandSpec = {
  ...RENAMENX_META,
  differs: NEEDS_MEMORY,
  locks: "keys",
  run(db, args, reply) {
    if (renameOrReply(db, args, true, reply)) reply.integer(1);
  },
};

/** The database that argument `i` names; null if it names none, which has been answered. */
function databaseOrReply(db: Database, args: Args, i: number, reply: Reply): Database | null {
  const index = int32OrReply(args, i, reply);
  if (Number.isNaN(index)) return null;
  const other = db.store.databases[index];
  if (other !== undefined) return other;
  reply.error(DB_OUT_OF_RANGE);
  return null;
}

export const MOVE: CommandSpec = {
  ...MOVE_META,
  differs: NEEDS_MEMORY,
  locks: "keys",
  run(db, args, reply) {
    if (db.store.isOwnerPort) {
      reply.error(MOVE_IN_CLUSTER);
      return;
    }
    const to = databaseOrReply(db, args, 2, reply);
    if (to === null) return;
    if (to === db) {
      reply.error(SAME_OBJECT);
      return;
    }
    const p = db.findWrite(args, 1);
    if (p === 0 || to.findWrite(args, 1) !== 0) {
      reply.integer(0);
      return;
    }
    if (!moveRecord(args, db, 1, p, to, 1, 0)) {
      reply.error(OOM);
      return;
    }
    db.changed("move_from", args, 1);
    to.changedToo("move_to", args, 1);
    reply.integer(1);
  },
};

type CopyOptions = { to: Database; isReplacing: boolean };

function copyOptionsOrReply(db: Database, args: Args, reply: Reply): CopyOptions | null {
  const options: CopyOptions = { to: db, isReplacing: false };
  for (let i = 3; i < args.count; i++) {
    if (args.is(i, "REPLACE")) {
      options.isReplacing = true;
    } else if (args.is(i, "DB") && i + 1 < args.count) {
      const to = databaseOrReply(db, args, ++i, reply);
      if (to === null) return null;
      options.to = to;
    } else {
      reply.error(SYNTAX_ERROR);
      return null;
    }
  }
  return options;
}

export const COPY: CommandSpec = {
  ...COPY_META,
  locks: "keys",
  run(db, args, reply) {
    const options = copyOptionsOrReply(db, args, reply);
    if (options === null) return;
    const { to, isReplacing } = options;
    if (db.store.isOwnerPort && (db.index !== 0 || to.index !== 0)) {
      reply.error(COPY_IN_CLUSTER);
      return;
    }
    if (to === db && isSameKey(args, 1, 2)) {
      reply.error(SAME_OBJECT);
      return;
    }
    const p = db.find(args, 1);
    const old = p === 0 ? 0 : to.findWrite(args, 2);
    const isCopied = p !== 0 && (old === 0 || isReplacing);
    const outcome = isCopied ? copyRecord(args, db, p, to, 2, old) : WRITTEN;
    if (outcome === PUT_OFF) return;
    db.noteRead(p);
    if (!isCopied) {
      reply.integer(0);
      return;
    }
    if (outcome === NO_MEMORY) {
      reply.error(OOM);
      return;
    }
    to.changed("copy_to", args, 2);
    reply.integer(1);
  },
};
