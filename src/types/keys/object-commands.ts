/** OBJECT and its subcommands, and MEMORY USAGE: what is known of a single key's value. */
import { int64 } from "../../base/int64.ts";
import { helpCommand } from "../../command/help.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { SYNTAX_ERROR } from "../../protocol/errors.ts";
import { STRING_INT32 } from "../../structures/record.ts";
import { int64OrReply } from "./numbers.ts";
import {
  MEMORY_META,
  MEMORY_USAGE_META,
  OBJECT_ENCODING_META,
  OBJECT_FREQ_META,
  OBJECT_IDLETIME_META,
  OBJECT_META,
  OBJECT_REFCOUNT_META,
} from "./specs.ts";
import { encodingName } from "./type-name.ts";

const KEY = 2;
const SWITCHING =
  "Please note that when switching between policies at runtime LRU and LFU data will take some " +
  "time to adjust.";
const NOT_LFU =
  "ERR An LFU maxmemory policy is not selected, access frequency not tracked. " + SWITCHING;
const NOT_LRU = "ERR An LFU maxmemory policy is selected, idle time not tracked. " + SWITCHING;
/** Redis shares the objects of the integers below this, and says so by the largest count. */
const SHARED_INTEGERS = 10000;
const SHARED_COUNT = 2147483647;
/** What the table of keys keeps of each: a pointer and a byte of its hash. */
const TABLE_BYTES = 5;

export function referenceCount(db: Database, p: number): number {
  if (db.kindOf(p) !== STRING_INT32 || !db.store.sharesIntegers) return 1;
  const value = db.viewOf(p).getInt32(db.valueAt(p), true);
  return value >= 0 && value < SHARED_INTEGERS ? SHARED_COUNT : 1;
}

export const OBJECT: CommandSpec = { ...OBJECT_META, locks: "container" };

export const OBJECT_ENCODING: CommandSpec = {
  ...OBJECT_ENCODING_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.peek(args, KEY);
    if (p === 0) reply.nil();
    else reply.text(encodingName(db, p));
  },
};

export const OBJECT_REFCOUNT: CommandSpec = {
  ...OBJECT_REFCOUNT_META,
  differs:
    "A copy of a small integer counts as shared too, and a change of `maxmemory-policy` holds for " +
    "integers that are there already.",
  locks: "keys",
  run(db, args, reply) {
    const p = db.peek(args, KEY);
    if (p === 0) reply.nil();
    else reply.integer(referenceCount(db, p));
  },
};

export const OBJECT_IDLETIME: CommandSpec = {
  ...OBJECT_IDLETIME_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.peek(args, KEY);
    if (p === 0) reply.nil();
    else if (db.store.isLfu) reply.error(NOT_LRU);
    else reply.integer(db.idleSeconds(p));
  },
};

export const OBJECT_FREQ: CommandSpec = {
  ...OBJECT_FREQ_META,
  locks: "keys",
  run(db, args, reply) {
    const p = db.peek(args, KEY);
    if (p === 0) reply.nil();
    else if (db.store.isLfu) reply.integer(db.frequency(p));
    else reply.error(NOT_LFU);
  },
};

export const OBJECT_HELP: CommandSpec = helpCommand(
  "OBJECT",
  { group: "generic", since: "6.2.0" },
  [
    "ENCODING <key>",
    "    Return the kind of internal representation used in order to store the value",
    "    associated with a <key>.",
    "FREQ <key>",
    "    Return the access frequency index of the <key>. The returned integer is",
    "    proportional to the logarithm of the recent access frequency of the key.",
    "IDLETIME <key>",
    "    Return the idle time of the <key>, that is the approximated number of",
    "    seconds elapsed since the last access to the key.",
    "REFCOUNT <key>",
    "    Return the number of references of the value associated with the specified",
    "    <key>.",
  ],
);

export const MEMORY: CommandSpec = { ...MEMORY_META, locks: "container" };

export const MEMORY_USAGE: CommandSpec = {
  ...MEMORY_USAGE_META,
  differs:
    "Says what the key really takes here: the blocks of its record and value at the size they " +
    "were cut, and 5 bytes in the table of keys.",
  locks: "keys",
  run(db, args, reply) {
    for (let i = KEY + 1; i < args.count; i += 2) {
      if (!args.is(i, "SAMPLES") || i + 1 === args.count) {
        reply.error(SYNTAX_ERROR);
        return;
      }
      if (!int64OrReply(args, i + 1, reply)) return;
      if (int64.hi < 0) {
        reply.error(SYNTAX_ERROR);
        return;
      }
    }
    const p = db.find(args, KEY);
    if (p === 0) reply.nil();
    else reply.integer(db.bytesUsed(p) + TABLE_BYTES);
  },
};

export const MEMORY_HELP: CommandSpec = helpCommand("MEMORY", { group: "server", since: "4.0.0" }, [
  "DOCTOR",
  "    Return memory problems reports.",
  "MALLOC-STATS",
  "    Return internal statistics report from the memory allocator.",
  "PURGE",
  "    Attempt to purge dirty pages for reclamation by the allocator.",
  "STATS",
  "    Return information about the memory usage of the server.",
  "USAGE <key> [SAMPLES <count>]",
  "    Return memory in bytes used by <key> and its value. Nested values are",
  "    sampled up to <count> times (default: 5, 0 means sample all).",
]);
