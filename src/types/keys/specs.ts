/**
 * What COMMAND INFO and COMMAND DOCS say about the commands on keys of any type and on databases.
 * Each is spread into the spec that holds the handler. Texts and history are those of Redis 7.4.
 */

import type { Argument } from "../../command/grammar.ts";
import {
  int,
  key,
  multiple,
  oneOf,
  opt,
  pattern,
  since,
  str,
  token,
  unixTime,
} from "../../command/grammar.ts";
import type { CommandMeta } from "../../command/spec.ts";

const EXPIRE_CONDITION: Argument = opt(
  since("7.0.0", oneOf("condition", token("NX"), token("XX"), token("GT"), token("LT"))),
);

const FLUSH_TYPE: Argument = opt(
  oneOf("flush-type", since("4.0.0", token("ASYNC")), since("6.2.0", token("SYNC"))),
);

export const COPY_META: CommandMeta = {
  name: "COPY",
  group: "generic",
  since: "6.2.0",
  complexity:
    "O(N) worst case for collections, where N is the number of nested items. O(1) for string " +
    "values.",
  summary: "Copies the value of a key to a new key.",
  flags: ["write", "denyoom"],
  args: [
    key(["RO", "access"], { name: "source" }),
    key(["OW", "update"], { name: "destination" }),
    opt(token("DB", int("destination-db"))),
    opt(token("REPLACE")),
  ],
};

export const DBSIZE_META: CommandMeta = {
  name: "DBSIZE",
  group: "server",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the number of keys in the database.",
  flags: ["readonly", "fast"],
  categories: ["keyspace"],
  tips: ["request_policy:all_shards", "response_policy:agg_sum"],
};

export const DEL_META: CommandMeta = {
  name: "DEL",
  group: "generic",
  since: "1.0.0",
  complexity:
    "O(N) where N is the number of keys that will be removed. When a key to remove holds a " +
    "value other than a string, the individual complexity for this key is O(M) where M is the " +
    "number of elements in the list, set, sorted set or hash. Removing a single key that holds " +
    "a string value is O(1).",
  summary: "Deletes one or more keys.",
  flags: ["write"],
  args: [multiple(key(["RM", "delete"]))],
  tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
};

export const DUMP_META: CommandMeta = {
  name: "DUMP",
  group: "generic",
  since: "2.6.0",
  complexity:
    "O(1) to access the key and additional O(N*M) to serialize it, where N is the number of " +
    "Redis objects composing the value and M their average size. For small string values the " +
    "time complexity is thus O(1)+O(1*M) where M is small, so simply O(1).",
  summary: "Returns a serialized representation of the value stored at a key.",
  flags: ["readonly"],
  args: [key(["RO", "access"])],
  tips: ["nondeterministic_output"],
};

export const EXISTS_META: CommandMeta = {
  name: "EXISTS",
  group: "generic",
  since: "1.0.0",
  complexity: "O(N) where N is the number of keys to check.",
  summary: "Determines whether one or more keys exist.",
  flags: ["readonly", "fast"],
  args: [multiple(key(["RO"]))],
  tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
  history: [["3.0.3", "Accepts multiple `key` arguments."]],
};

export const EXPIRE_META: CommandMeta = {
  name: "EXPIRE",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Sets the expiration time of a key in seconds.",
  flags: ["write", "fast"],
  args: [key(["RW", "update"]), int("seconds"), EXPIRE_CONDITION],
  history: [["7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`."]],
};

export const EXPIREAT_META: CommandMeta = {
  name: "EXPIREAT",
  group: "generic",
  since: "1.2.0",
  complexity: "O(1)",
  summary: "Sets the expiration time of a key to a Unix timestamp.",
  flags: ["write", "fast"],
  args: [key(["RW", "update"]), unixTime("unix-time-seconds"), EXPIRE_CONDITION],
  history: [["7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`."]],
};

export const EXPIRETIME_META: CommandMeta = {
  name: "EXPIRETIME",
  group: "generic",
  since: "7.0.0",
  complexity: "O(1)",
  summary: "Returns the expiration time of a key as a Unix timestamp.",
  flags: ["readonly", "fast"],
  args: [key(["RO", "access"])],
};

export const FLUSHALL_META: CommandMeta = {
  name: "FLUSHALL",
  group: "server",
  since: "1.0.0",
  complexity: "O(N) where N is the total number of keys in all databases",
  summary: "Removes all keys from all databases.",
  flags: ["write", "slow_clock"],
  categories: ["keyspace", "dangerous"],
  args: [FLUSH_TYPE],
  tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
  history: [
    ["4.0.0", "Added the `ASYNC` flushing mode modifier."],
    ["6.2.0", "Added the `SYNC` flushing mode modifier."],
  ],
};

export const FLUSHDB_META: CommandMeta = {
  name: "FLUSHDB",
  group: "server",
  since: "1.0.0",
  complexity: "O(N) where N is the number of keys in the selected database",
  summary: "Remove all keys from the current database.",
  flags: ["write", "slow_clock"],
  categories: ["keyspace", "dangerous"],
  args: [FLUSH_TYPE],
  tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
  history: [
    ["4.0.0", "Added the `ASYNC` flushing mode modifier."],
    ["6.2.0", "Added the `SYNC` flushing mode modifier."],
  ],
};

export const KEYS_META: CommandMeta = {
  name: "KEYS",
  group: "generic",
  since: "1.0.0",
  complexity:
    "O(N) with N being the number of keys in the database, under the assumption that the key " +
    "names in the database and the given pattern have limited length.",
  summary: "Returns all key names that match a pattern.",
  flags: ["readonly", "slow_clock"],
  categories: ["dangerous"],
  args: [pattern("pattern")],
  tips: ["request_policy:all_shards", "nondeterministic_output_order"],
};

export const MEMORY_META: CommandMeta = {
  name: "MEMORY",
  group: "server",
  since: "4.0.0",
  complexity: "Depends on subcommand.",
  summary: "A container for memory diagnostics commands.",
  flags: [],
};

export const MEMORY_USAGE_META: CommandMeta = {
  name: "MEMORY USAGE",
  group: "server",
  since: "4.0.0",
  complexity: "O(N) where N is the number of samples.",
  summary: "Estimates the memory usage of a key.",
  flags: ["readonly"],
  args: [key(["RO"]), opt(token("SAMPLES", int("count")))],
};

export const MOVE_META: CommandMeta = {
  name: "MOVE",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Moves a key to another database.",
  flags: ["write", "fast"],
  args: [key(["RW", "access", "update"]), int("db")],
};

export const OBJECT_META: CommandMeta = {
  name: "OBJECT",
  group: "generic",
  since: "2.2.3",
  complexity: "Depends on subcommand.",
  summary: "A container for object introspection commands.",
  flags: [],
};

export const OBJECT_ENCODING_META: CommandMeta = {
  name: "OBJECT ENCODING",
  group: "generic",
  since: "2.2.3",
  complexity: "O(1)",
  summary: "Returns the internal encoding of a Redis object.",
  flags: ["readonly"],
  args: [key(["RO"])],
  tips: ["nondeterministic_output"],
};

export const OBJECT_FREQ_META: CommandMeta = {
  name: "OBJECT FREQ",
  group: "generic",
  since: "4.0.0",
  complexity: "O(1)",
  summary: "Returns the logarithmic access frequency counter of a Redis object.",
  flags: ["readonly"],
  args: [key(["RO"])],
  tips: ["nondeterministic_output"],
};

export const OBJECT_IDLETIME_META: CommandMeta = {
  name: "OBJECT IDLETIME",
  group: "generic",
  since: "2.2.3",
  complexity: "O(1)",
  summary: "Returns the time since the last access to a Redis object.",
  flags: ["readonly"],
  args: [key(["RO"])],
  tips: ["nondeterministic_output"],
};

export const OBJECT_REFCOUNT_META: CommandMeta = {
  name: "OBJECT REFCOUNT",
  group: "generic",
  since: "2.2.3",
  complexity: "O(1)",
  summary: "Returns the reference count of a value of a key.",
  flags: ["readonly"],
  args: [key(["RO"])],
  tips: ["nondeterministic_output"],
};

export const PERSIST_META: CommandMeta = {
  name: "PERSIST",
  group: "generic",
  since: "2.2.0",
  complexity: "O(1)",
  summary: "Removes the expiration time of a key.",
  flags: ["write", "fast"],
  args: [key(["RW", "update"])],
};

export const PEXPIRE_META: CommandMeta = {
  name: "PEXPIRE",
  group: "generic",
  since: "2.6.0",
  complexity: "O(1)",
  summary: "Sets the expiration time of a key in milliseconds.",
  flags: ["write", "fast"],
  args: [key(["RW", "update"]), int("milliseconds"), EXPIRE_CONDITION],
  history: [["7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`."]],
};

export const PEXPIREAT_META: CommandMeta = {
  name: "PEXPIREAT",
  group: "generic",
  since: "2.6.0",
  complexity: "O(1)",
  summary: "Sets the expiration time of a key to a Unix milliseconds timestamp.",
  flags: ["write", "fast"],
  args: [key(["RW", "update"]), unixTime("unix-time-milliseconds"), EXPIRE_CONDITION],
  history: [["7.0.0", "Added options: `NX`, `XX`, `GT` and `LT`."]],
};

export const PEXPIRETIME_META: CommandMeta = {
  name: "PEXPIRETIME",
  group: "generic",
  since: "7.0.0",
  complexity: "O(1)",
  summary: "Returns the expiration time of a key as a Unix milliseconds timestamp.",
  flags: ["readonly", "fast"],
  args: [key(["RO", "access"])],
};

export const PTTL_META: CommandMeta = {
  name: "PTTL",
  group: "generic",
  since: "2.6.0",
  complexity: "O(1)",
  summary: "Returns the expiration time in milliseconds of a key.",
  flags: ["readonly", "fast"],
  args: [key(["RO", "access"])],
  tips: ["nondeterministic_output"],
  history: [["2.8.0", "Added the -2 reply."]],
};

export const RANDOMKEY_META: CommandMeta = {
  name: "RANDOMKEY",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns a random key name from the database.",
  flags: ["readonly", "touches_arbitrary_keys"],
  tips: ["request_policy:all_shards", "response_policy:special", "nondeterministic_output"],
};

export const RENAME_META: CommandMeta = {
  name: "RENAME",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Renames a key and overwrites the destination.",
  flags: ["write"],
  args: [key(["RW", "access", "delete"]), key(["OW", "update"], { name: "newkey" })],
};

export const RENAMENX_META: CommandMeta = {
  name: "RENAMENX",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Renames a key only when the target key name doesn't exist.",
  flags: ["write", "fast"],
  args: [key(["RW", "access", "delete"]), key(["OW", "insert"], { name: "newkey" })],
  history: [
    [
      "3.2.0",
      "The command no longer returns an error when source and destination names are the same.",
    ],
  ],
};

export const RESTORE_META: CommandMeta = {
  name: "RESTORE",
  group: "generic",
  since: "2.6.0",
  complexity:
    "O(1) to create the new key and additional O(N*M) to reconstruct the serialized value, where " +
    "N is the number of Redis objects composing the value and M their average size. For small " +
    "string values the time complexity is thus O(1)+O(1*M) where M is small, so simply O(1). " +
    "However for sorted set values the complexity is O(N*M*log(N)) because inserting values into " +
    "sorted sets is O(log(N)).",
  summary: "Creates a key from the serialized representation of a value.",
  flags: ["write", "denyoom"],
  categories: ["dangerous"],
  args: [
    key(["OW", "update"]),
    int("ttl"),
    str("serialized-value"),
    opt(since("3.0.0", token("REPLACE"))),
    opt(since("5.0.0", token("ABSTTL"))),
    opt(since("5.0.0", token("IDLETIME", int("seconds")))),
    opt(since("5.0.0", token("FREQ", int("frequency")))),
  ],
  history: [
    ["3.0.0", "Added the `REPLACE` modifier."],
    ["5.0.0", "Added the `ABSTTL` modifier."],
    ["5.0.0", "Added the `IDLETIME` and `FREQ` options."],
  ],
};

export const RESTORE_ASKING_META: CommandMeta = {
  ...RESTORE_META,
  name: "RESTORE-ASKING",
  group: "server",
  since: "3.0.0",
  summary: "An internal command for migrating keys in a cluster.",
  flags: ["write", "denyoom", "asking"],
  categories: ["keyspace", "dangerous"],
  system: true,
};

export const SCAN_META: CommandMeta = {
  name: "SCAN",
  group: "generic",
  since: "2.8.0",
  complexity:
    "O(1) for every call. O(N) for a complete iteration, including enough command calls for " +
    "the cursor to return back to 0. N is the number of elements inside the collection.",
  summary: "Iterates over the key names in the database.",
  flags: ["readonly", "touches_arbitrary_keys"],
  args: [
    int("cursor"),
    opt(token("MATCH", pattern("pattern"))),
    opt(token("COUNT", int("count"))),
    opt(since("6.0.0", token("TYPE", str("type")))),
  ],
  tips: ["nondeterministic_output", "request_policy:special", "response_policy:special"],
  history: [["6.0.0", "Added the `TYPE` subcommand."]],
};

export const SWAPDB_META: CommandMeta = {
  name: "SWAPDB",
  group: "server",
  since: "4.0.0",
  complexity:
    "O(N) where N is the count of clients watching or blocking on keys from both databases.",
  summary: "Swaps two Redis databases.",
  flags: ["write", "fast"],
  categories: ["keyspace", "dangerous"],
  args: [int("index1"), int("index2")],
};

export const TOUCH_META: CommandMeta = {
  name: "TOUCH",
  group: "generic",
  since: "3.2.1",
  complexity: "O(N) where N is the number of keys that will be touched.",
  summary:
    "Returns the number of existing keys out of those specified after updating the time they " +
    "were last accessed.",
  flags: ["readonly", "fast"],
  args: [multiple(key(["RO"]))],
  tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
};

export const TTL_META: CommandMeta = {
  name: "TTL",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the expiration time in seconds of a key.",
  flags: ["readonly", "fast"],
  args: [key(["RO", "access"])],
  tips: ["nondeterministic_output"],
  history: [["2.8.0", "Added the -2 reply."]],
};

export const TYPE_META: CommandMeta = {
  name: "TYPE",
  group: "generic",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Determines the type of value stored at a key.",
  flags: ["readonly", "fast"],
  args: [key(["RO"])],
};

export const UNLINK_META: CommandMeta = {
  name: "UNLINK",
  group: "generic",
  since: "4.0.0",
  complexity:
    "O(1) for each key removed regardless of its size. Then the command does O(N) work in a " +
    "different thread in order to reclaim memory, where N is the number of allocations the " +
    "deleted objects where composed of.",
  summary: "Asynchronously deletes one or more keys.",
  flags: ["write", "fast"],
  args: [multiple(key(["RM", "delete"]))],
  tips: ["request_policy:multi_shard", "response_policy:agg_sum"],
};

export const WAIT_META: CommandMeta = {
  name: "WAIT",
  group: "generic",
  since: "3.0.0",
  complexity: "O(1)",
  summary:
    "Blocks until the asynchronous replication of all preceding write commands sent by the " +
    "connection is completed.",
  flags: ["blocking"],
  categories: ["connection"],
  args: [int("numreplicas"), int("timeout")],
  tips: ["request_policy:all_shards", "response_policy:agg_min"],
};

export const WAITAOF_META: CommandMeta = {
  name: "WAITAOF",
  group: "generic",
  since: "7.2.0",
  complexity: "O(1)",
  summary:
    "Blocks until all of the preceding write commands sent by the connection are written to the " +
    "append-only file of the master and/or replicas.",
  flags: ["blocking"],
  categories: ["connection"],
  args: [int("numlocal"), int("numreplicas"), int("timeout")],
  tips: ["request_policy:all_shards", "response_policy:agg_min"],
};
