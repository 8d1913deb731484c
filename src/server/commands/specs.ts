/**
 * What COMMAND INFO and COMMAND DOCS say about the connection and server commands.
 * Each is spread into the spec that holds the handler. Texts and history are those of Redis 7.4.
 */
import {
  block,
  deprecatedSince,
  display,
  int,
  multiple,
  multipleToken,
  oneOf,
  opt,
  since,
  str,
  token,
} from "../../command/grammar.ts";
import type { CommandMeta } from "../../command/spec.ts";

export const AUTH_META: CommandMeta = {
  name: "AUTH",
  group: "connection",
  since: "1.0.0",
  complexity: "O(N) where N is the number of passwords defined for the user",
  summary: "Authenticates the connection.",
  flags: ["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"],
  args: [opt(since("6.0.0", str("username"))), str("password")],
  history: [["6.0.0", "Added ACL style (username and password)."]],
};

export const CLIENT_META: CommandMeta = {
  name: "CLIENT",
  group: "connection",
  since: "2.4.0",
  complexity: "Depends on subcommand.",
  summary: "A container for client connection commands.",
  flags: [],
};

export const CLIENT_CACHING_META: CommandMeta = {
  name: "CLIENT CACHING",
  group: "connection",
  since: "6.0.0",
  complexity: "O(1)",
  summary: "Instructs the server whether to track the keys in the next request.",
  flags: ["noscript", "loading", "stale"],
  args: [oneOf("mode", token("YES"), token("NO"))],
};

export const CLIENT_GETNAME_META: CommandMeta = {
  name: "CLIENT GETNAME",
  group: "connection",
  since: "2.6.9",
  complexity: "O(1)",
  summary: "Returns the name of the connection.",
  flags: ["noscript", "loading", "stale"],
};

export const CLIENT_GETREDIR_META: CommandMeta = {
  name: "CLIENT GETREDIR",
  group: "connection",
  since: "6.0.0",
  complexity: "O(1)",
  summary: "Returns the client ID to which the connection's tracking notifications are redirected.",
  flags: ["noscript", "loading", "stale"],
};

export const CLIENT_ID_META: CommandMeta = {
  name: "CLIENT ID",
  group: "connection",
  since: "5.0.0",
  complexity: "O(1)",
  summary: "Returns the unique client ID of the connection.",
  flags: ["noscript", "loading", "stale"],
};

export const CLIENT_INFO_META: CommandMeta = {
  name: "CLIENT INFO",
  group: "connection",
  since: "6.2.0",
  complexity: "O(1)",
  summary: "Returns information about the connection.",
  flags: ["noscript", "loading", "stale"],
  tips: ["nondeterministic_output"],
};

export const CLIENT_KILL_META: CommandMeta = {
  name: "CLIENT KILL",
  group: "connection",
  since: "2.4.0",
  complexity: "O(N) where N is the number of client connections",
  summary: "Terminates open connections.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [
    oneOf(
      "filter",
      deprecatedSince("2.8.12", display("ip:port", str("old-format"))),
      multiple(
        oneOf(
          "new-format",
          opt(since("2.8.12", token("ID", int("client-id")))),
          opt(
            since(
              "2.8.12",
              token(
                "TYPE",
                oneOf(
                  "client-type",
                  token("NORMAL"),
                  since("3.2.0", token("MASTER")),
                  token("SLAVE"),
                  since("5.0.0", token("REPLICA")),
                  token("PUBSUB"),
                ),
              ),
            ),
          ),
          opt(token("USER", str("username"))),
          opt(token("ADDR", display("ip:port", str("addr")))),
          opt(since("6.2.0", token("LADDR", display("ip:port", str("laddr"))))),
          opt(token("SKIPME", oneOf("skipme", token("YES"), token("NO")))),
          opt(since("7.4.0", token("MAXAGE", int("maxage")))),
        ),
      ),
    ),
  ],
  arity: -3,
  history: [
    ["2.8.12", "Added new filter format."],
    ["2.8.12", "`ID` option."],
    ["3.2.0", "Added `master` type in for `TYPE` option."],
    [
      "5.0.0",
      "Replaced `slave` `TYPE` with `replica`. `slave` still supported for backward compatibility.",
    ],
    ["6.2.0", "`LADDR` option."],
    ["7.4.0", "`MAXAGE` option."],
  ],
};

export const CLIENT_LIST_META: CommandMeta = {
  name: "CLIENT LIST",
  group: "connection",
  since: "2.4.0",
  complexity: "O(N) where N is the number of client connections",
  summary: "Lists open connections.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [
    opt(
      since(
        "5.0.0",
        token(
          "TYPE",
          oneOf("client-type", token("NORMAL"), token("MASTER"), token("REPLICA"), token("PUBSUB")),
        ),
      ),
    ),
    opt(multiple(since("6.2.0", token("ID", int("client-id"))))),
  ],
  tips: ["nondeterministic_output"],
  history: [
    ["2.8.12", "Added unique client `id` field."],
    ["5.0.0", "Added optional `TYPE` filter."],
    ["6.0.0", "Added `user` field."],
    [
      "6.2.0",
      "Added `argv-mem`, `tot-mem`, `laddr` and `redir` fields and the optional `ID` filter.",
    ],
    ["7.0.0", "Added `resp`, `multi-mem`, `rbs` and `rbp` fields."],
    ["7.0.3", "Added `ssub` field."],
  ],
};

export const CLIENT_NO_EVICT_META: CommandMeta = {
  name: "CLIENT NO-EVICT",
  group: "connection",
  since: "7.0.0",
  complexity: "O(1)",
  summary: "Sets the client eviction mode of the connection.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [oneOf("enabled", token("ON"), token("OFF"))],
};

export const CLIENT_NO_TOUCH_META: CommandMeta = {
  name: "CLIENT NO-TOUCH",
  group: "connection",
  since: "7.2.0",
  complexity: "O(1)",
  summary: "Controls whether commands sent by the client affect the LRU/LFU of accessed keys.",
  flags: ["noscript", "loading", "stale"],
  args: [oneOf("enabled", token("ON"), token("OFF"))],
};

export const CLIENT_PAUSE_META: CommandMeta = {
  name: "CLIENT PAUSE",
  group: "connection",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Suspends commands processing.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [int("timeout"), opt(since("6.2.0", oneOf("mode", token("WRITE"), token("ALL"))))],
  history: [["6.2.0", "`CLIENT PAUSE WRITE` mode added along with the `mode` option."]],
};

export const CLIENT_REPLY_META: CommandMeta = {
  name: "CLIENT REPLY",
  group: "connection",
  since: "3.2.0",
  complexity: "O(1)",
  summary: "Instructs the server whether to reply to commands.",
  flags: ["noscript", "loading", "stale"],
  args: [oneOf("action", token("ON"), token("OFF"), token("SKIP"))],
};

export const CLIENT_SETINFO_META: CommandMeta = {
  name: "CLIENT SETINFO",
  group: "connection",
  since: "7.2.0",
  complexity: "O(1)",
  summary: "Sets information specific to the client or connection.",
  flags: ["noscript", "loading", "stale"],
  args: [oneOf("attr", token("LIB-NAME", str("libname")), token("LIB-VER", str("libver")))],
  tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
};

export const CLIENT_SETNAME_META: CommandMeta = {
  name: "CLIENT SETNAME",
  group: "connection",
  since: "2.6.9",
  complexity: "O(1)",
  summary: "Sets the connection name.",
  flags: ["noscript", "loading", "stale"],
  args: [str("connection-name")],
  tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
};

export const CLIENT_TRACKING_META: CommandMeta = {
  name: "CLIENT TRACKING",
  group: "connection",
  since: "6.0.0",
  complexity: "O(1). Some options may introduce additional complexity.",
  summary: "Controls server-assisted client-side caching for the connection.",
  flags: ["noscript", "loading", "stale"],
  args: [
    oneOf("status", token("ON"), token("OFF")),
    opt(token("REDIRECT", int("client-id"))),
    opt(multipleToken(token("PREFIX", str("prefix")))),
    opt(token("BCAST")),
    opt(token("OPTIN")),
    opt(token("OPTOUT")),
    opt(token("NOLOOP")),
  ],
};

export const CLIENT_TRACKINGINFO_META: CommandMeta = {
  name: "CLIENT TRACKINGINFO",
  group: "connection",
  since: "6.2.0",
  complexity: "O(1)",
  summary: "Returns information about server-assisted client-side caching for the connection.",
  flags: ["noscript", "loading", "stale"],
};

export const CLIENT_UNBLOCK_META: CommandMeta = {
  name: "CLIENT UNBLOCK",
  group: "connection",
  since: "5.0.0",
  complexity: "O(log N) where N is the number of client connections",
  summary: "Unblocks a client blocked by a blocking command from a different connection.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [int("client-id"), opt(oneOf("unblock-type", token("TIMEOUT"), token("ERROR")))],
};

export const CLIENT_UNPAUSE_META: CommandMeta = {
  name: "CLIENT UNPAUSE",
  group: "connection",
  since: "6.2.0",
  complexity: "O(N) Where N is the number of paused clients",
  summary: "Resumes processing commands from paused clients.",
  flags: ["admin", "noscript", "loading", "stale"],
};

export const CONFIG_META: CommandMeta = {
  name: "CONFIG",
  group: "server",
  since: "2.0.0",
  complexity: "Depends on subcommand.",
  summary: "A container for server configuration commands.",
  flags: [],
};

export const CONFIG_GET_META: CommandMeta = {
  name: "CONFIG GET",
  group: "server",
  since: "2.0.0",
  complexity: "O(N) when N is the number of configuration parameters provided",
  summary: "Returns the effective values of configuration parameters.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [multiple(str("parameter"))],
  history: [["7.0.0", "Added the ability to pass multiple pattern parameters in one call"]],
};

export const CONFIG_RESETSTAT_META: CommandMeta = {
  name: "CONFIG RESETSTAT",
  group: "server",
  since: "2.0.0",
  complexity: "O(1)",
  summary: "Resets the server's statistics.",
  flags: ["admin", "noscript", "loading", "stale"],
  tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
};

export const CONFIG_REWRITE_META: CommandMeta = {
  name: "CONFIG REWRITE",
  group: "server",
  since: "2.8.0",
  complexity: "O(1)",
  summary: "Persists the effective configuration to file.",
  flags: ["admin", "noscript", "loading", "stale"],
  tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
};

export const CONFIG_SET_META: CommandMeta = {
  name: "CONFIG SET",
  group: "server",
  since: "2.0.0",
  complexity: "O(N) when N is the number of configuration parameters provided",
  summary: "Sets configuration parameters in-flight.",
  flags: ["admin", "noscript", "loading", "stale"],
  args: [multiple(block("data", str("parameter"), str("value")))],
  tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
  history: [["7.0.0", "Added the ability to set multiple parameters in one call."]],
};

export const DEBUG_META: CommandMeta = {
  name: "DEBUG",
  group: "server",
  since: "1.0.0",
  complexity: "Depends on subcommand.",
  summary: "A container for debugging commands.",
  flags: ["admin", "noscript", "loading", "stale", "protected", "slow_clock"],
  arity: -2,
  system: true,
};

export const ECHO_META: CommandMeta = {
  name: "ECHO",
  group: "connection",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the given string.",
  flags: ["loading", "stale", "fast"],
  args: [str("message")],
};

export const HELLO_META: CommandMeta = {
  name: "HELLO",
  group: "connection",
  since: "6.0.0",
  complexity: "O(1)",
  summary: "Handshakes with the Redis server.",
  flags: ["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"],
  args: [
    opt(
      block(
        "arguments",
        int("protover"),
        opt(token("AUTH", block("auth", str("username"), str("password")))),
        opt(token("SETNAME", str("clientname"))),
      ),
    ),
  ],
  history: [
    [
      "6.2.0",
      "`protover` made optional; when called without arguments the command reports the current " +
        "connection's context.",
    ],
  ],
};

export const INFO_META: CommandMeta = {
  name: "INFO",
  group: "server",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns information and statistics about the server.",
  flags: ["loading", "stale"],
  categories: ["dangerous"],
  args: [opt(multiple(str("section")))],
  tips: ["nondeterministic_output", "request_policy:all_shards", "response_policy:special"],
  history: [["7.0.0", "Added support for taking multiple section arguments."]],
};

export const MONITOR_META: CommandMeta = {
  name: "MONITOR",
  group: "server",
  since: "1.0.0",
  complexity: "",
  summary: "Listens for all requests received by the server in real-time.",
  flags: ["admin", "noscript", "loading", "stale"],
};

export const PING_META: CommandMeta = {
  name: "PING",
  group: "connection",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the server's liveliness response.",
  flags: ["fast"],
  args: [opt(str("message"))],
  tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
};

export const QUIT_META: CommandMeta = {
  name: "QUIT",
  group: "connection",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Closes the connection.",
  flags: ["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"],
  arity: -1,
  deprecated: { since: "7.2.0", replacedBy: "just closing the connection" },
};

export const RESET_META: CommandMeta = {
  name: "RESET",
  group: "connection",
  since: "6.2.0",
  complexity: "O(1)",
  summary: "Resets the connection.",
  flags: ["noscript", "loading", "stale", "fast", "no_auth", "allow_busy"],
};

export const SELECT_META: CommandMeta = {
  name: "SELECT",
  group: "connection",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Changes the selected database.",
  flags: ["loading", "stale", "fast"],
  args: [int("index")],
};

export const SHUTDOWN_META: CommandMeta = {
  name: "SHUTDOWN",
  group: "server",
  since: "1.0.0",
  complexity:
    "O(N) when saving, where N is the total number of keys in all databases when saving data, " +
    "otherwise O(1)",
  summary: "Synchronously saves the database(s) to disk and shuts down the Redis server.",
  flags: ["admin", "noscript", "loading", "stale", "no_multi", "allow_busy"],
  args: [
    opt(oneOf("save-selector", token("NOSAVE"), token("SAVE"))),
    opt(since("7.0.0", token("NOW"))),
    opt(since("7.0.0", token("FORCE"))),
    opt(since("7.0.0", token("ABORT"))),
  ],
  history: [["7.0.0", "Added the `NOW`, `FORCE` and `ABORT` modifiers."]],
};

export const TIME_META: CommandMeta = {
  name: "TIME",
  group: "server",
  since: "2.6.0",
  complexity: "O(1)",
  summary: "Returns the server time.",
  flags: ["loading", "stale", "fast"],
  tips: ["nondeterministic_output"],
};
