/**
 * What COMMAND INFO and COMMAND DOCS say about the string commands.
 * Each is spread into the spec that holds the handler. Texts and history are those of Redis 7.4.
 */

import type { Args } from "../../base/args.ts";
import {
  block,
  double,
  int,
  key,
  multiple,
  oneOf,
  opt,
  since,
  str,
  token,
  unixTime,
} from "../../command/grammar.ts";
import type { KeyList } from "../../command/key-specs.ts";
import { KEY_ACCESS, KEY_OW, KEY_RW, KEY_UPDATE } from "../../command/key-specs.ts";
import type { CommandMeta } from "../../command/spec.ts";

export const APPEND_META: CommandMeta = {
  name: "APPEND",
  group: "string",
  since: "2.0.0",
  complexity:
    "O(1). The amortized time complexity is O(1) assuming the appended value is small and the " +
    "already present value is of any size, since the dynamic string library used by Redis will " +
    "double the free space available on every reallocation.",
  summary: "Appends a string to the value of a key. Creates the key if it doesn't exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "insert"]), str("value")],
};

export const DECR_META: CommandMeta = {
  name: "DECR",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary:
    "Decrements the integer value of a key by one. Uses 0 as initial value if the key doesn't " +
    "exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "access", "update"])],
};

export const DECRBY_META: CommandMeta = {
  name: "DECRBY",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary:
    "Decrements a number from the integer value of a key. Uses 0 as initial value if the key " +
    "doesn't exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "access", "update"]), int("decrement")],
};

export const GET_META: CommandMeta = {
  name: "GET",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the string value of a key.",
  flags: ["readonly", "fast"],
  args: [key(["RO", "access"])],
};

export const GETDEL_META: CommandMeta = {
  name: "GETDEL",
  group: "string",
  since: "6.2.0",
  complexity: "O(1)",
  summary: "Returns the string value of a key after deleting the key.",
  flags: ["write", "fast"],
  args: [key(["RW", "access", "delete"])],
};

export const GETEX_META: CommandMeta = {
  name: "GETEX",
  group: "string",
  since: "6.2.0",
  complexity: "O(1)",
  summary: "Returns the string value of a key after setting its expiration time.",
  flags: ["write", "fast"],
  args: [
    key(["RW", "access", "update"], { notes: "RW and UPDATE because it changes the TTL" }),
    opt(
      oneOf(
        "expiration",
        token("EX", int("seconds")),
        token("PX", int("milliseconds")),
        token("EXAT", unixTime("unix-time-seconds")),
        token("PXAT", unixTime("unix-time-milliseconds")),
        token("PERSIST"),
      ),
    ),
  ],
};

export const GETRANGE_META: CommandMeta = {
  name: "GETRANGE",
  group: "string",
  since: "2.4.0",
  complexity:
    "O(N) where N is the length of the returned string. The complexity is ultimately " +
    "determined by the returned length, but because creating a substring from an existing " +
    "string is very cheap, it can be considered O(1) for small strings.",
  summary: "Returns a substring of the string stored at a key.",
  flags: ["readonly"],
  args: [key(["RO", "access"]), int("start"), int("end")],
};

export const GETSET_META: CommandMeta = {
  name: "GETSET",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the previous string value of a key after setting it to a new value.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "access", "update"]), str("value")],
  deprecated: { since: "6.2.0", replacedBy: "`SET` with the `!GET` argument" },
};

export const INCR_META: CommandMeta = {
  name: "INCR",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary:
    "Increments the integer value of a key by one. Uses 0 as initial value if the key doesn't " +
    "exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "access", "update"])],
};

export const INCRBY_META: CommandMeta = {
  name: "INCRBY",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary:
    "Increments the integer value of a key by a number. Uses 0 as initial value if the key " +
    "doesn't exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "access", "update"]), int("increment")],
};

export const INCRBYFLOAT_META: CommandMeta = {
  name: "INCRBYFLOAT",
  group: "string",
  since: "2.6.0",
  complexity: "O(1)",
  summary:
    "Increment the floating point value of a key by a number. Uses 0 as initial value if the " +
    "key doesn't exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["RW", "access", "update"]), double("increment")],
};

export const LCS_META: CommandMeta = {
  name: "LCS",
  group: "string",
  since: "7.0.0",
  complexity: "O(N*M) where N and M are the lengths of s1 and s2, respectively",
  summary: "Finds the longest common substring.",
  flags: ["readonly"],
  args: [
    key(["RO", "access"], { name: "key1", keySpec: 0 }),
    key(["RO", "access"], { name: "key2", keySpec: 0 }),
    opt(token("LEN")),
    opt(token("IDX")),
    opt(token("MINMATCHLEN", int("min-match-len"))),
    opt(token("WITHMATCHLEN")),
  ],
  keys: [
    {
      flags: ["RO", "access"],
      begin: { type: "index", index: 1 },
      find: { type: "range", last: 1, step: 1, limit: 0 },
    },
  ],
};

export const MGET_META: CommandMeta = {
  name: "MGET",
  group: "string",
  since: "1.0.0",
  complexity: "O(N) where N is the number of keys to retrieve.",
  summary: "Atomically returns the string values of one or more keys.",
  flags: ["readonly", "fast"],
  args: [multiple(key(["RO", "access"]))],
  tips: ["request_policy:multi_shard"],
};

export const MSET_META: CommandMeta = {
  name: "MSET",
  group: "string",
  since: "1.0.1",
  complexity: "O(N) where N is the number of keys to set.",
  summary: "Atomically creates or modifies the string values of one or more keys.",
  flags: ["write", "denyoom"],
  args: [multiple(block("data", key(["OW", "update"]), str("value")))],
  tips: ["request_policy:multi_shard", "response_policy:all_succeeded"],
};

export const MSETNX_META: CommandMeta = {
  name: "MSETNX",
  group: "string",
  since: "1.0.1",
  complexity: "O(N) where N is the number of keys to set.",
  summary:
    "Atomically modifies the string values of one or more keys only when all keys don't exist.",
  flags: ["write", "denyoom"],
  args: [multiple(block("data", key(["OW", "insert"]), str("value")))],
};

export const PSETEX_META: CommandMeta = {
  name: "PSETEX",
  group: "string",
  since: "2.6.0",
  complexity: "O(1)",
  summary:
    "Sets both string value and expiration time in milliseconds of a key. The key is created " +
    "if it doesn't exist.",
  flags: ["write", "denyoom"],
  args: [key(["OW", "update"]), int("milliseconds"), str("value")],
  deprecated: { since: "2.6.12", replacedBy: "`SET` with the `PX` argument" },
};

/** Only with GET is the key read as well. */
function findKeyOfSet(args: Args, base: number, out: KeyList): void {
  let flags = KEY_OW | KEY_UPDATE;
  for (let i = base + 3; i < args.count; i++) {
    if (args.is(i, "GET")) flags = KEY_RW | KEY_ACCESS | KEY_UPDATE;
  }
  out.push(base + 1, flags);
}

export const SET_META: CommandMeta = {
  name: "SET",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary:
    "Sets the string value of a key, ignoring its type. The key is created if it doesn't exist.",
  flags: ["write", "denyoom"],
  args: [
    key(["RW", "access", "update", "variable_flags"], {
      notes: "RW and ACCESS due to the optional `GET` argument",
    }),
    str("value"),
    opt(since("2.6.12", oneOf("condition", token("NX"), token("XX")))),
    opt(since("6.2.0", token("GET"))),
    opt(
      oneOf(
        "expiration",
        since("2.6.12", token("EX", int("seconds"))),
        since("2.6.12", token("PX", int("milliseconds"))),
        since("6.2.0", token("EXAT", unixTime("unix-time-seconds"))),
        since("6.2.0", token("PXAT", unixTime("unix-time-milliseconds"))),
        since("6.0.0", token("KEEPTTL")),
      ),
    ),
  ],
  history: [
    ["2.6.12", "Added the `EX`, `PX`, `NX` and `XX` options."],
    ["6.0.0", "Added the `KEEPTTL` option."],
    ["6.2.0", "Added the `GET`, `EXAT` and `PXAT` option."],
    ["7.0.0", "Allowed the `NX` and `GET` options to be used together."],
  ],
  findKeys: findKeyOfSet,
};

export const SETEX_META: CommandMeta = {
  name: "SETEX",
  group: "string",
  since: "2.0.0",
  complexity: "O(1)",
  summary:
    "Sets the string value and expiration time of a key. Creates the key if it doesn't exist.",
  flags: ["write", "denyoom"],
  args: [key(["OW", "update"]), int("seconds"), str("value")],
  deprecated: { since: "2.6.12", replacedBy: "`SET` with the `EX` argument" },
};

export const SETNX_META: CommandMeta = {
  name: "SETNX",
  group: "string",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Set the string value of a key only when the key doesn't exist.",
  flags: ["write", "denyoom", "fast"],
  args: [key(["OW", "insert"]), str("value")],
  deprecated: { since: "2.6.12", replacedBy: "`SET` with the `NX` argument" },
};

export const SETRANGE_META: CommandMeta = {
  name: "SETRANGE",
  group: "string",
  since: "2.2.0",
  complexity:
    "O(1), not counting the time taken to copy the new string in place. Usually, this string " +
    "is very small so the amortized complexity is O(1). Otherwise, complexity is O(M) with M " +
    "being the length of the value argument.",
  summary:
    "Overwrites a part of a string value with another by an offset. Creates the key if it " +
    "doesn't exist.",
  flags: ["write", "denyoom"],
  args: [key(["RW", "update"]), int("offset"), str("value")],
};

export const STRLEN_META: CommandMeta = {
  name: "STRLEN",
  group: "string",
  since: "2.2.0",
  complexity: "O(1)",
  summary: "Returns the length of a string value.",
  flags: ["readonly", "fast"],
  args: [key(["RO"])],
};

export const SUBSTR_META: CommandMeta = {
  name: "SUBSTR",
  group: "string",
  since: "1.0.0",
  complexity:
    "O(N) where N is the length of the returned string. The complexity is ultimately " +
    "determined by the returned length, but because creating a substring from an existing " +
    "string is very cheap, it can be considered O(1) for small strings.",
  summary: "Returns a substring from a string value.",
  flags: ["readonly"],
  args: [key(["RO", "access"]), int("start"), int("end")],
  deprecated: { since: "2.0.0", replacedBy: "`GETRANGE`" },
};
