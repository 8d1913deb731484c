/**
 * CLUSTER subcommands that look at the keys of slots. A slot that is not the port's own has no keys
 * here, whatever the process holds: that is how the node of a cluster answers.
 */

import type { Args } from "../base/args.ts";
import type { CursorCommand, EachCommand } from "../command/spec.ts";
import type { Database } from "../keyspace/database.ts";
import { SLOTS } from "../limits.ts";
import {
  CLUSTER_DISABLED,
  INVALID_SLOT,
  NOT_AN_INTEGER,
  SYNTAX_ERROR,
  unknownSubcommandOrArity,
} from "../protocol/errors.ts";
import type { Reply } from "../protocol/reply.ts";
import { scanTable } from "../structures/table-walks.ts";
import {
  CLUSTER_COUNTKEYSINSLOT_META,
  CLUSTER_GETKEYSINSLOT_META,
  CLUSTER_SLOT_STATS_META,
} from "./specs.ts";

const METRICS = ["key-count", "memory-bytes"] as const;
const LIMIT_ERROR = "ERR Limit has to lie in between 1 and 16384 (maximum number of slots).";

function isSlot(n: number | null): n is number {
  return n !== null && n >= 0 && n < SLOTS;
}

function slotAtTwo(args: Args): number {
  const slot = args.integer(2);
  return isSlot(slot) ? slot : 0;
}

/** Root of a slot's table, 0 unless the slot is the port's own. */
function ownRoot(db: Database, slot: number): number {
  return slot >= db.ownFirst && slot <= db.ownLast ? db.rootOf(slot) : 0;
}

/** Without shard owners a port stands for no slot at all. */
function isDisabled(db: Database): boolean {
  return db.ownLast < db.ownFirst;
}

function runCountKeys(db: Database, args: Args, reply: Reply): void {
  const slot = args.integer(2);
  if (isDisabled(db)) reply.error(CLUSTER_DISABLED);
  else if (slot === null) reply.error(NOT_AN_INTEGER);
  else if (!isSlot(slot)) reply.error("ERR Invalid slot");
  else reply.integer(db.store.table.count(ownRoot(db, slot)));
}

function runGetKeys(db: Database, args: Args, reply: Reply): void {
  const slot = args.integer(2);
  const most = args.integer(3);
  if (isDisabled(db)) reply.error(CLUSTER_DISABLED);
  else if (slot === null || most === null) reply.error(NOT_AN_INTEGER);
  else if (!isSlot(slot) || most < 0) reply.error("ERR Invalid slot or number of keys");
  else writeKeys(db, ownRoot(db, slot), most, reply);
}

function writeKeys(db: Database, root: number, most: number, reply: Reply): void {
  const { table } = db.store;
  const count = Math.min(most, table.count(root));
  let left = count;
  reply.array(count);
  scanTable(table, root, 0, count, (p) => {
    if (--left < 0) return;
    const at = db.keyAt(p);
    reply.bulk(db.bytesOf(p), at, at + db.keyLength(p));
  });
}

/** What SLOT-STATS was asked for, and what it has found: by slot, indices as in METRICS. */
type SlotStats = {
  /** The call is wrong: nothing is looked at. */
  error: string | null;
  first: number;
  last: number;
  /** Metric to sort by; -1: by slot. */
  metric: number;
  isDescending: boolean;
  limit: number;
  figures: readonly Float64Array[];
};

function beginStats(db: Database, args: Args): SlotStats {
  const stats: SlotStats = {
    error: null,
    first: 0,
    last: SLOTS - 1,
    metric: -1,
    isDescending: true,
    limit: SLOTS,
    figures: METRICS.map(() => new Float64Array(SLOTS)),
  };
  if (isDisabled(db)) stats.error = CLUSTER_DISABLED;
  else if (args.count === 5 && args.is(2, "SLOTSRANGE")) readRange(args, stats);
  else if (args.is(2, "ORDERBY")) readOrder(args, stats);
  else stats.error = unknownSubcommandOrArity(args);
  return stats;
}

function readRange(args: Args, stats: SlotStats): void {
  const first = args.integer(3);
  const last = args.integer(4);
  if (!isSlot(first) || !isSlot(last)) {
    stats.error = INVALID_SLOT;
  } else if (first > last) {
    stats.error = `ERR Start slot number ${first} is greater than end slot number ${last}`;
  } else {
    stats.first = first;
    stats.last = last;
  }
}

function readOrder(args: Args, stats: SlotStats): void {
  stats.metric = METRICS.findIndex((name) => args.is(3, name.toUpperCase()));
  if (stats.metric < 0) {
    stats.error = "ERR Unrecognized sort metric for ORDERBY.";
    return;
  }
  let limits = 0;
  let orders = 0;
  for (let i = 4; i < args.count; i++) {
    if (args.is(i, "LIMIT") && i + 1 < args.count) {
      const limit = args.integer(++i) ?? 0;
      if (limit < 1 || limit > SLOTS) {
        stats.error = LIMIT_ERROR;
        return;
      }
      stats.limit = limit;
      limits++;
    } else if (args.is(i, "ASC") || args.is(i, "DESC")) {
      stats.isDescending = args.is(i, "DESC");
      orders++;
    } else {
      stats.error = SYNTAX_ERROR;
      return;
    }
    if (limits > 1 || orders > 1) {
      stats.error = "ERR Multiple filters of the same type are disallowed.";
      return;
    }
  }
}

function partOfStats(db: Database, shard: number, stats: SlotStats): void {
  if (stats.error !== null) return;
  const { store } = db;
  const [keys, bytes] = stats.figures as [Float64Array, Float64Array];
  const first = Math.max(stats.first, db.ownFirst, store.firstSlot(shard));
  const last = Math.min(stats.last, db.ownLast, store.firstSlot(shard + 1) - 1);
  for (let slot = first; slot <= last; slot++) {
    keys[slot] = store.table.count(db.rootOf(slot));
    bytes[slot] = db.slotBytes(slot);
  }
}

function finishStats(db: Database, stats: SlotStats, reply: Reply): void {
  if (stats.error !== null) {
    reply.error(stats.error);
    return;
  }
  const { figures, metric, isDescending, limit } = stats;
  const slots: number[] = [];
  const last = Math.min(stats.last, db.ownLast);
  for (let slot = Math.max(stats.first, db.ownFirst); slot <= last; slot++) slots.push(slot);
  const by = figures[metric];
  if (by !== undefined) {
    // The sort is stable: slots of the same figure stay in ascending order either way.
    const sign = isDescending ? -1 : 1;
    slots.sort((a, b) => sign * ((by[a] as number) - (by[b] as number)));
    slots.length = Math.min(slots.length, limit);
  }
  reply.array(slots.length);
  for (const slot of slots) {
    reply.array(2);
    reply.integer(slot);
    reply.map(METRICS.length);
    for (const [i, name] of METRICS.entries()) {
      reply.text(name);
      reply.integer(figures[i]?.[slot] as number);
    }
  }
}

export const CLUSTER_COUNTKEYSINSLOT: CursorCommand = {
  ...CLUSTER_COUNTKEYSINSLOT_META,
  locks: "cursor",
  slotOf: slotAtTwo,
  run: runCountKeys,
};

export const CLUSTER_GETKEYSINSLOT: CursorCommand = {
  ...CLUSTER_GETKEYSINSLOT_META,
  locks: "cursor",
  slotOf: slotAtTwo,
  run: runGetKeys,
};

export const CLUSTER_SLOT_STATS: EachCommand = {
  ...CLUSTER_SLOT_STATS_META,
  differs:
    "Counts key-count and memory-bytes, always and at no cost; cpu-usec and network-bytes are not " +
    "counted.",
  locks: "each",
  begin: beginStats,
  part(db, shard, state) {
    partOfStats(db, shard, state as SlotStats);
    return "next";
  },
  finish: (db, state, _args, reply) => finishStats(db, state as SlotStats, reply),
};
