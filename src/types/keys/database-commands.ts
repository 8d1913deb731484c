/** Commands on whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB, RANDOMKEY. */
import type { Args } from "../../base/args.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { emptyDatabase, FREED_AT_ONCE_MAX } from "../../keyspace/garbage.ts";
import {
  firstSlotOf,
  isExpired,
  keysOfShard,
  keysOfSlot,
  lastSlotOf,
} from "../../keyspace/walk.ts";
import { DB_OUT_OF_RANGE, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { randomRecord } from "../../structures/table-samples.ts";
import { int32OrReply } from "./numbers.ts";
import { DBSIZE_META, FLUSHALL_META, FLUSHDB_META, RANDOMKEY_META, SWAPDB_META } from "./specs.ts";

const SWAPDB_IN_CLUSTER = "ERR SWAPDB is not allowed in cluster mode";
const FLUSH_DIFFERS =
  "Of many keys memory is given back to the heap a little at a time afterwards, be it ASYNC or SYNC.";

type Sum = { keys: number };

export const DBSIZE: CommandSpec = {
  ...DBSIZE_META,
  differs: "A sum over shards that are looked at one after another, while others are written to.",
  locks: "each",
  begin: (): Sum => ({ keys: 0 }),
  part(db, shard, state) {
    (state as Sum).keys += keysOfShard(db, shard);
    return "next";
  },
  finish(_db, state, _args, reply) {
    reply.integer((state as Sum).keys);
  },
};

function isFlushOrReply(args: Args, reply: Reply): boolean {
  const isValid =
    args.count === 1 || (args.count === 2 && (args.is(1, "ASYNC") || args.is(1, "SYNC")));
  if (!isValid) reply.error(SYNTAX_ERROR);
  return isValid;
}

export const FLUSHDB: CommandSpec = {
  ...FLUSHDB_META,
  differs: FLUSH_DIFFERS,
  locks: "all",
  run(db, args, reply) {
    if (!isFlushOrReply(args, reply)) return;
    db.changedAll(emptyDatabase(db));
    reply.ok();
  },
};

export const FLUSHALL: CommandSpec = {
  ...FLUSHALL_META,
  differs: FLUSH_DIFFERS,
  locks: "all",
  run(db, args, reply) {
    if (!isFlushOrReply(args, reply)) return;
    let atOnceMax = FREED_AT_ONCE_MAX;
    for (const each of db.store.databases) {
      each.scopeFirst = db.scopeFirst;
      each.scopeLast = db.scopeLast;
      const keys = emptyDatabase(each, atOnceMax);
      atOnceMax -= Math.min(keys, atOnceMax);
      each.changedAll(keys);
    }
    reply.ok();
  },
};

export const SWAPDB: CommandSpec = {
  ...SWAPDB_META,
  locks: "all",
  run(db, args, reply) {
    const { store } = db;
    if (store.isOwnerPort) {
      reply.error(SWAPDB_IN_CLUSTER);
      return;
    }
    const a = int32OrReply(args, 1, reply, "ERR invalid first DB index");
    if (Number.isNaN(a)) return;
    const b = int32OrReply(args, 2, reply, "ERR invalid second DB index");
    if (Number.isNaN(b)) return;
    if (store.databases[a] === undefined || store.databases[b] === undefined) {
      reply.error(DB_OUT_OF_RANGE);
      return;
    }
    store.swap(a, b);
    db.changedAll(1);
    reply.ok();
  },
};

/** Slot of a key drawn with equal chances, -1 if there are none. All shards are locked. */
function randomSlot(db: Database): number {
  const { store } = db;
  const firstShard = store.shardOf(db.scopeFirst);
  const lastShard = store.shardOf(db.scopeLast);
  let keys = 0;
  for (let shard = firstShard; shard <= lastShard; shard++) keys += keysOfShard(db, shard);
  if (keys === 0) return -1;
  let n = store.random.below(keys);
  let shard = firstShard;
  for (; n >= keysOfShard(db, shard); shard++) n -= keysOfShard(db, shard);
  let slot = firstSlotOf(db, shard);
  for (; slot < lastSlotOf(db, shard) && n >= keysOfSlot(db, slot); slot++) {
    n -= keysOfSlot(db, slot);
  }
  return slot;
}

/** Keys past their time that RANDOMKEY draws, while they are hidden, before it takes one. */
const HIDDEN_DRAWS_MAX = 100;

export const RANDOMKEY: CommandSpec = {
  ...RANDOMKEY_META,
  locks: "all",
  run(db, _args, reply) {
    const { random, table } = db.store;
    let hidden = 0;
    // Redis: a key drawn whose time has passed is removed, and another drawn.
    for (let slot = randomSlot(db); slot >= 0; slot = randomSlot(db)) {
      const p = randomRecord(table, db.rootOf(slot), (n) => random.below(n));
      if (db.expireIfDue(p, slot)) continue;
      // While none is removed, there may be no other.
      if (isExpired(db, p) && ++hidden < HIDDEN_DRAWS_MAX) continue;
      const at = db.keyAt(p);
      reply.bulk(db.bytesOf(p), at, at + db.keyLength(p));
      return;
    }
    reply.nil();
  },
};
