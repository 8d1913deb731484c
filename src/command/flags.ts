/**
 * The words a command spec is written with (flags, groups, ACL categories, tips) and their bits.
 *
 * Flags and categories are bit sets of one 32-bit integer each. The tables are in the order in
 * which COMMAND INFO lists the names. Flags after `FLAGS_SHOWN` are not listed by COMMAND INFO.
 * The bits that have a name here are those that are asked for.
 */

export const FLAG_WRITE: number = 1 << 0;
export const FLAG_READONLY: number = 1 << 1;
export const FLAG_DENYOOM: number = 1 << 2;
export const FLAG_ADMIN: number = 1 << 4;
const FLAG_PUBSUB: number = 1 << 5;
export const FLAG_BLOCKING: number = 1 << 7;
export const FLAG_SKIP_MONITOR: number = 1 << 10;
export const FLAG_SKIP_SLOWLOG: number = 1 << 11;
export const FLAG_FAST: number = 1 << 13;
export const FLAG_NO_MANDATORY_KEYS: number = 1 << 15;
/** Computed: the keys are not at positions that first key, last key and step describe. */
export const FLAG_MOVABLE_KEYS: number = 1 << 18;
/** Replicated although it writes no key, as PUBLISH and EVAL are. */
export const FLAG_MAY_REPLICATE: number = 1 << 20;
/** Needs a permission of its own beyond ACLs, as DEBUG and MODULE do. */
export const FLAG_PROTECTED: number = 1 << 21;
/** May take long enough that the clock is read again after it. */
export const FLAG_SLOW_CLOCK: number = 1 << 23;

/** Every flag name that a spec may use; "movablekeys" is computed. */
export type CommandFlag =
  | "write"
  | "readonly"
  | "denyoom"
  | "admin"
  | "pubsub"
  | "noscript"
  | "blocking"
  | "loading"
  | "stale"
  | "skip_monitor"
  | "skip_slowlog"
  | "asking"
  | "fast"
  | "no_auth"
  | "no_mandatory_keys"
  | "no_async_loading"
  | "no_multi"
  | "allow_busy"
  | "may_replicate"
  | "protected"
  | "touches_arbitrary_keys"
  | "slow_clock";

/** Index in this table = bit number. */
export const FLAG_NAMES: readonly string[] = [
  "write",
  "readonly",
  "denyoom",
  "module",
  "admin",
  "pubsub",
  "noscript",
  "blocking",
  "loading",
  "stale",
  "skip_monitor",
  "skip_slowlog",
  "asking",
  "fast",
  "no_auth",
  "no_mandatory_keys",
  "no_async_loading",
  "no_multi",
  "movablekeys",
  "allow_busy",
  "may_replicate",
  "protected",
  "touches_arbitrary_keys",
  "slow_clock",
];

/** COMMAND INFO lists the first so many flags. */
export const FLAGS_SHOWN = 20;

export type Group =
  | "string"
  | "list"
  | "set"
  | "sorted-set"
  | "hash"
  | "stream"
  | "bitmap"
  | "hyperloglog"
  | "geo"
  | "generic"
  | "pubsub"
  | "transactions"
  | "scripting"
  | "connection"
  | "server"
  | "cluster";

export type Category =
  | "keyspace"
  | "read"
  | "write"
  | "set"
  | "sortedset"
  | "list"
  | "hash"
  | "string"
  | "bitmap"
  | "hyperloglog"
  | "geo"
  | "stream"
  | "pubsub"
  | "admin"
  | "fast"
  | "slow"
  | "blocking"
  | "dangerous"
  | "connection"
  | "transaction"
  | "scripting";

/** Index in this table = bit number. */
export const CATEGORY_NAMES: readonly Category[] = [
  "keyspace",
  "read",
  "write",
  "set",
  "sortedset",
  "list",
  "hash",
  "string",
  "bitmap",
  "hyperloglog",
  "geo",
  "stream",
  "pubsub",
  "admin",
  "fast",
  "slow",
  "blocking",
  "dangerous",
  "connection",
  "transaction",
  "scripting",
];

/** Groups that are not listed here put a command into no category. */
const CATEGORY_OF_GROUP: Partial<Record<Group, Category>> = {
  string: "string",
  list: "list",
  set: "set",
  "sorted-set": "sortedset",
  hash: "hash",
  stream: "stream",
  bitmap: "bitmap",
  hyperloglog: "hyperloglog",
  geo: "geo",
  generic: "keyspace",
  pubsub: "pubsub",
  transactions: "transaction",
  scripting: "scripting",
  connection: "connection",
};

/** Hints for clients and proxies, as COMMAND INFO shows them. */
export type Tip =
  | "nondeterministic_output"
  | "nondeterministic_output_order"
  | "request_policy:all_nodes"
  | "request_policy:all_shards"
  | "request_policy:multi_shard"
  | "request_policy:special"
  | "response_policy:one_succeeded"
  | "response_policy:all_succeeded"
  | "response_policy:agg_logical_and"
  | "response_policy:agg_logical_or"
  | "response_policy:agg_min"
  | "response_policy:agg_max"
  | "response_policy:agg_sum"
  | "response_policy:special";

export function flagBitsOf(flags: readonly CommandFlag[]): number {
  let bits = 0;
  for (const flag of flags) bits |= 1 << FLAG_NAMES.indexOf(flag);
  return bits;
}

/** The bit of a category name, 0 if there is no such category. */
export function categoryBit(name: string): number {
  const index = CATEGORY_NAMES.indexOf(name as Category);
  return index < 0 ? 0 : 1 << index;
}

/**
 * Redis: a script that only reads is not in @read, what is not @fast is @slow, and a generic
 * command that is about the connection (WAIT) is not about keys.
 */
export function categoryBitsOf(
  group: Group | null,
  flagBits: number,
  more: readonly Category[],
): number {
  const isOfKeys = group !== "generic" || !more.includes("connection");
  const ofGroup = group === null || !isOfKeys ? undefined : CATEGORY_OF_GROUP[group];
  let bits = ofGroup === undefined ? 0 : categoryBit(ofGroup);
  for (const name of more) bits |= categoryBit(name);
  if (flagBits & FLAG_WRITE) bits |= categoryBit("write");
  if (flagBits & FLAG_READONLY && !(bits & categoryBit("scripting"))) bits |= categoryBit("read");
  if (flagBits & FLAG_ADMIN) bits |= categoryBit("admin") | categoryBit("dangerous");
  if (flagBits & FLAG_PUBSUB) bits |= categoryBit("pubsub");
  if (flagBits & FLAG_BLOCKING) bits |= categoryBit("blocking");
  return bits | categoryBit(flagBits & FLAG_FAST ? "fast" : "slow");
}

/** The names of the set bits, in table order. */
export function namesOfBits(bits: number, names: readonly string[], count: number): string[] {
  const found: string[] = [];
  for (let bit = 0; bit < count; bit++) {
    if (bits & (1 << bit)) found.push(names[bit] as string);
  }
  return found;
}
