/** DEBUG's subcommands about keys and the heap they are in. */

import { Args } from "../../base/args.ts";
import { latin1Bytes, toHex } from "../../base/bytes.ts";
import { keySlot } from "../../base/crc16.ts";
import { int64, int64ToNumber, isInt32 } from "../../base/int64.ts";
import { sha1 } from "../../base/sha1.ts";
import { type Database, NO_EXPIRY_MS } from "../../keyspace/database.ts";
import { CHUNK_BYTES_MAX, SLOTS, UNIT_BYTES } from "../../limits.ts";
import { NO_SUCH_KEY, OOM, unknownSubcommandOrArity } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { eachRecord, eachSegment, segmentFacts } from "../../structures/table-walks.ts";
import { int64OrReply } from "../../types/keys/numbers.ts";
import { referenceCount } from "../../types/keys/object-commands.ts";
import { encodingName } from "../../types/keys/type-name.ts";
import {
  found,
  isNumber,
  isString,
  readInteger,
  readString,
  setString,
  stringLength,
} from "../../types/string/value.ts";
import { checkHeap } from "../heap-check.ts";
import type { DebugSubcommand } from "./debug-subcommand.ts";

const KEY = 2;
/** Lines of the heap check that its error shows. */
const HEAP_LINES_SHOWN = 5;
/** Strings up to this long are dumped as numbers if they are some. */
const DUMPED_NUMBER_MAX = 11;
const NOT_POSITIVE = "ERR value is out of range, must be positive";
const PREFIX = "key";

const HEAP_CHECK_HELP: readonly string[] = [
  "    Walk the whole heap with all shards locked and report what is not sound.",
];

function replyHeapCheck(db: Database, _args: Args, reply: Reply): void {
  const lines = checkHeap(db.store);
  if (lines.length === 0) {
    reply.ok();
    return;
  }
  const more = lines.length > HEAP_LINES_SHOWN ? ` (${lines.length} in all)` : "";
  reply.error(`ERR ${lines.slice(0, HEAP_LINES_SHOWN).join("; ")}${more}`);
}

function replyObject(db: Database, args: Args, reply: Reply): void {
  const p = db.find(args, KEY);
  if (p === 0) {
    reply.error(NO_SUCH_KEY);
    return;
  }
  reply.simple(
    `Value at:0x${((p >>> 0) * UNIT_BYTES).toString(16)} refcount:${referenceCount(db, p)} ` +
      `encoding:${encodingName(db, p)} serializedlength:${serializedLength(db, p)} ` +
      `lru:${db.accessOf(p)} lru_seconds_idle:${db.idleSeconds(p)}`,
  );
}

/** Bytes of the value as a dump has it, uncompressed: numbers in 1, 2 or 4 bytes and a mark. */
function serializedLength(db: Database, p: number): number {
  if (!isString(db, p)) return 0;
  const length = stringLength(db, p);
  if (length <= DUMPED_NUMBER_MAX && readInteger(db, p) && isInt32(int64.hi, int64.lo)) {
    const value = int64.lo | 0;
    if (value >= -128 && value < 128) return 2;
    return value >= -32768 && value < 32768 ? 3 : 5;
  }
  return length + (length < 64 ? 1 : length < 16384 ? 2 : 5);
}

/** Nothing is kept in advance, so that nothing is available; sizes are those of blocks. */
function replyStringLengths(db: Database, args: Args, reply: Reply): void {
  const p = db.find(args, KEY);
  if (p === 0) {
    reply.error(NO_SUCH_KEY);
    return;
  }
  if (!isString(db, p) || isNumber(db, p)) {
    reply.error("ERR Not an sds encoded string.");
    return;
  }
  const key = args.length(KEY);
  const value = stringLength(db, p);
  reply.simple(
    `key_sds_len:${key}, key_sds_avail:0, key_zmalloc: ${key}, ` +
      `val_sds_len:${value}, val_sds_avail:0, val_zmalloc: ${db.bytesUsed(p) - key}`,
  );
}

/**
 * Redis's digest of a dataset, 20 bytes: sums of parts are joined by exclusive or, so that the
 * order of keys does not matter. What is mixed in, unlike what is added, must come in its place.
 */
class Digest {
  bytes: Uint8Array = new Uint8Array(20);

  add(bytes: Uint8Array): void {
    for (const [i, byte] of sha1(bytes).entries()) this.bytes[i] = (this.bytes[i] as number) ^ byte;
  }

  mix(bytes: Uint8Array): void {
    this.add(bytes);
    this.bytes = sha1(this.bytes);
  }

  get text(): string {
    return toHex(this.bytes, 0, this.bytes.length);
  }
}

const TYPE_STRING = Uint8Array.of(0, 0, 0, 0);
const EXPIRES = latin1Bytes("!!expire!!");

function mixValue(db: Database, p: number, digest: Digest): void {
  readString(db, p);
  const value = found.source.slice(found.start, found.end);
  digest.mix(TYPE_STRING);
  digest.mix(value);
  if (db.expiryOf(p) !== 0) digest.add(EXPIRES);
}

function addDatabase(db: Database, all: Digest): void {
  const index = new Uint8Array(4);
  new DataView(index.buffer).setUint32(0, db.index);
  all.mix(index);
  for (let slot = 0; slot < SLOTS; slot++) {
    eachRecord(db.store.table, db.rootOf(slot), (p) => {
      const digest = new Digest();
      const at = db.keyAt(p);
      digest.mix(db.bytesOf(p).slice(at, at + db.keyLength(p)));
      mixValue(db, p, digest);
      all.add(digest.bytes);
    });
  }
}

function replyDigest(db: Database, _args: Args, reply: Reply): void {
  const all = new Digest();
  for (const each of db.store.databases) if (hasKeys(each)) addDatabase(each, all);
  reply.simple(all.text);
}

function hasKeys(db: Database): boolean {
  for (let shard = 0; shard < db.store.shards; shard++) if (db.shardKeys(shard) > 0) return true;
  return false;
}

function replyValueDigests(db: Database, args: Args, reply: Reply): void {
  reply.array(args.count - KEY);
  for (let i = KEY; i < args.count; i++) {
    const digest = new Digest();
    const p = db.find(args, i);
    if (p !== 0) mixValue(db, p, digest);
    reply.simple(digest.text);
  }
}

/** The figures of Redis's hash tables, as far as tables of segments have them. */
function replyTables(db: Database, args: Args, reply: Reply): void {
  if (!int64OrReply(args, 2, reply)) return;
  const index = int64ToNumber(int64.hi, int64.lo);
  const wanted = db.store.databases[index];
  if (wanted === undefined) {
    reply.error("ERR Out of range database");
    return;
  }
  const { table } = db.store;
  const sum = { places: 0, keys: 0, expires: 0, segments: 0, slots: 0 };
  for (let slot = 0; slot < SLOTS; slot++) {
    const root = wanted.rootOf(slot);
    if (root === 0) continue;
    sum.slots++;
    eachSegment(table, root, (segment) => {
      const { capacity, count, expires } = segmentFacts(table, segment);
      sum.segments++;
      sum.places += capacity;
      sum.keys += count;
      sum.expires += expires;
    });
  }
  const isFull = args.count > 3 && args.is(3, "FULL");
  const more = isFull ? ` segments: ${sum.segments}\n slots: ${sum.slots}\n` : "";
  const shown = (name: string, size: number, elements: number): string =>
    `Hash table 0 stats (${name}):\n table size: ${size}\n number of elements: ${elements}\n`;
  reply.verbatim(
    `[Dictionary HT]\n${sum.keys > 0 ? shown("main hash table", sum.places, sum.keys) + more : ""}` +
      `[Expires HT]\n${sum.expires > 0 ? shown("main hash table", sum.places, sum.expires) : ""}`,
    "txt",
  );
}

/** A whole number of 0 or more in argument `i`; NaN once its error is written. */
function sizeOrReply(args: Args, i: number, reply: Reply): number {
  if (!int64OrReply(args, i, reply, NOT_POSITIVE)) return Number.NaN;
  if (int64.hi >= 0) return int64ToNumber(int64.hi, int64.lo);
  reply.error(NOT_POSITIVE);
  return Number.NaN;
}

/** `head`, filled with zeros to a size; null if there is no array as large as that. */
function padded(head: Uint8Array, size: number): Uint8Array | null {
  if (size >= CHUNK_BYTES_MAX) return null;
  try {
    const bytes = new Uint8Array(size);
    bytes.set(head);
    return bytes;
  } catch {
    // A RangeError: the system has not the memory.
    return null;
  }
}

/**
 * Sets a key that is not there yet to "value:<n>", cut or filled with zeros to a size. False if
 * there is no memory for it.
 */
function addSample(db: Database, request: Args, prefix: string, n: number, size: number): boolean {
  const key = latin1Bytes(`${prefix}:${n}`);
  const text = `value:${n}`;
  const length = size === 0 ? text.length : size;
  const head = latin1Bytes(`${prefix}:${n}${text.slice(0, length)}`);
  const bytes = padded(head, key.length + length);
  if (bytes === null) return false;
  request.buffer = bytes;
  request.view = new DataView(bytes.buffer);
  request.start.set([0, 0, key.length]);
  request.end.set([0, key.length, bytes.length]);
  request.slot[1] = keySlot(bytes, 0, key.length);
  request.hash[1] = db.store.table.hash(request.view, 0, key.length);
  if (db.find(request, 1) !== 0) return true;
  if (!setString(db, request, 1, 2, 0, NO_EXPIRY_MS)) return false;
  db.changed("set", request, 1);
  return true;
}

function populate(db: Database, args: Args, reply: Reply): void {
  const count = sizeOrReply(args, 2, reply);
  if (Number.isNaN(count)) return;
  const size = args.count < 5 ? 0 : sizeOrReply(args, 4, reply);
  if (Number.isNaN(size)) return;
  const prefix = args.count < 4 ? PREFIX : args.text(3);
  const request = new Args();
  request.count = 3;
  for (let n = 0; n < count; n++) {
    if (addSample(db, request, prefix, n, size)) continue;
    reply.error(OOM);
    return;
  }
  reply.ok();
}

export const DEBUG_KEYS: readonly DebugSubcommand[] = [
  {
    name: "ARENA",
    words: 3,
    help: ["ARENA CHECK", ...HEAP_CHECK_HELP],
    locks: "all",
    run(db, args, reply): void {
      if (args.is(2, "CHECK")) replyHeapCheck(db, args, reply);
      else reply.error(unknownSubcommandOrArity(args));
    },
  },
  {
    name: "DIGEST",
    words: 2,
    help: ["DIGEST", "    Output a hex signature representing the current DB content."],
    locks: "all",
    run: replyDigest,
  },
  {
    name: "DIGEST-VALUE",
    words: 2,
    most: Number.POSITIVE_INFINITY,
    help: [
      "DIGEST-VALUE <key> [<key> ...]",
      "    Output a hex signature of the values of all the specified keys.",
    ],
    locks: "keys",
    run: replyValueDigests,
  },
  {
    name: "HEAP-CHECK",
    words: 2,
    help: ["HEAP-CHECK", ...HEAP_CHECK_HELP],
    locks: "all",
    run: replyHeapCheck,
  },
  {
    name: "HTSTATS",
    words: 3,
    most: 4,
    help: [
      "HTSTATS <dbid> [full]",
      "    Return hash table statistics of the specified Redis database.",
    ],
    locks: "all",
    run: replyTables,
  },
  {
    name: "OBJECT",
    words: 3,
    help: ["OBJECT <key>", "    Show low level info about `key` and associated value."],
    locks: "keys",
    run: replyObject,
  },
  {
    name: "POPULATE",
    words: 3,
    most: 5,
    help: [
      "POPULATE <count> [<prefix>] [<size>]",
      "    Create <count> string keys named key:<num>. If <prefix> is specified then",
      "    it is used instead of the 'key' prefix. These are not propagated to",
      "    replicas. Cluster slots are not respected so keys not belonging to the",
      "    current node can be created in cluster mode.",
    ],
    locks: "all",
    run: populate,
  },
  {
    name: "SDSLEN",
    words: 3,
    help: ["SDSLEN <key>", "    Show low level SDS string info representing `key` and value."],
    locks: "keys",
    run: replyStringLengths,
  },
];
