/**
 * What COMMAND INFO and COMMAND DOCS say about CLUSTER and the per-connection cluster modes.
 * Each is spread into the spec that holds the handler. Texts and history are those of Redis 7.4.
 */
import {
  block,
  display,
  int,
  multiple,
  oneOf,
  opt,
  since,
  str,
  token,
} from "../command/grammar.ts";
import { helpMeta } from "../command/help.ts";
import type { CommandMeta } from "../command/spec.ts";

export const ASKING_META: CommandMeta = {
  name: "ASKING",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Signals that a cluster client is following an -ASK redirect.",
  flags: ["fast"],
  categories: ["connection"],
};

export const CLUSTER_META: CommandMeta = {
  name: "CLUSTER",
  group: "cluster",
  since: "3.0.0",
  complexity: "Depends on subcommand.",
  summary: "A container for Redis Cluster commands.",
  flags: [],
};

export const CLUSTER_ADDSLOTS_META: CommandMeta = {
  name: "CLUSTER ADDSLOTS",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the total number of hash slot arguments",
  summary: "Assigns new hash slots to a node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [multiple(int("slot"))],
};

export const CLUSTER_ADDSLOTSRANGE_META: CommandMeta = {
  name: "CLUSTER ADDSLOTSRANGE",
  group: "cluster",
  since: "7.0.0",
  complexity:
    "O(N) where N is the total number of the slots between the start slot and end slot " +
    "arguments.",
  summary: "Assigns new hash slot ranges to a node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [multiple(block("range", int("start-slot"), int("end-slot")))],
};

export const CLUSTER_BUMPEPOCH_META: CommandMeta = {
  name: "CLUSTER BUMPEPOCH",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Advances the cluster config epoch.",
  flags: ["admin", "stale", "no_async_loading"],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_COUNT_FAILURE_REPORTS_META: CommandMeta = {
  name: "CLUSTER COUNT-FAILURE-REPORTS",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the number of failure reports",
  summary: "Returns the number of active failure reports active for a node.",
  flags: ["admin", "stale"],
  args: [str("node-id")],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_COUNTKEYSINSLOT_META: CommandMeta = {
  name: "CLUSTER COUNTKEYSINSLOT",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Returns the number of keys in a hash slot.",
  flags: ["stale"],
  args: [int("slot")],
};

export const CLUSTER_DELSLOTS_META: CommandMeta = {
  name: "CLUSTER DELSLOTS",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the total number of hash slot arguments",
  summary: "Sets hash slots as unbound for a node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [multiple(int("slot"))],
};

export const CLUSTER_DELSLOTSRANGE_META: CommandMeta = {
  name: "CLUSTER DELSLOTSRANGE",
  group: "cluster",
  since: "7.0.0",
  complexity:
    "O(N) where N is the total number of the slots between the start slot and end slot " +
    "arguments.",
  summary: "Sets hash slot ranges as unbound for a node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [multiple(block("range", int("start-slot"), int("end-slot")))],
};

export const CLUSTER_FAILOVER_META: CommandMeta = {
  name: "CLUSTER FAILOVER",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Forces a replica to perform a manual failover of its master.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [opt(oneOf("options", token("FORCE"), token("TAKEOVER")))],
};

export const CLUSTER_FLUSHSLOTS_META: CommandMeta = {
  name: "CLUSTER FLUSHSLOTS",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Deletes all slots information from a node.",
  flags: ["admin", "stale", "no_async_loading"],
};

export const CLUSTER_FORGET_META: CommandMeta = {
  name: "CLUSTER FORGET",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Removes a node from the nodes table.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [str("node-id")],
};

export const CLUSTER_GETKEYSINSLOT_META: CommandMeta = {
  name: "CLUSTER GETKEYSINSLOT",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the number of requested keys",
  summary: "Returns the key names in a hash slot.",
  flags: ["stale"],
  args: [int("slot"), int("count")],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_HELP_META: CommandMeta = helpMeta("CLUSTER", {
  group: "cluster",
  since: "5.0.0",
});

export const CLUSTER_INFO_META: CommandMeta = {
  name: "CLUSTER INFO",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Returns information about the state of a node.",
  flags: ["stale"],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_KEYSLOT_META: CommandMeta = {
  name: "CLUSTER KEYSLOT",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the number of bytes in the key",
  summary: "Returns the hash slot for a key.",
  flags: ["stale"],
  args: [str("key")],
};

export const CLUSTER_LINKS_META: CommandMeta = {
  name: "CLUSTER LINKS",
  group: "cluster",
  since: "7.0.0",
  complexity: "O(N) where N is the total number of Cluster nodes",
  summary: "Returns a list of all TCP links to and from peer nodes.",
  flags: ["stale"],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_MEET_META: CommandMeta = {
  name: "CLUSTER MEET",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Forces a node to handshake with another node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [str("ip"), int("port"), opt(since("4.0.0", int("cluster-bus-port")))],
  history: [["4.0.0", "Added the optional `cluster_bus_port` argument."]],
};

export const CLUSTER_MYID_META: CommandMeta = {
  name: "CLUSTER MYID",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Returns the ID of a node.",
  flags: ["stale"],
};

export const CLUSTER_MYSHARDID_META: CommandMeta = {
  name: "CLUSTER MYSHARDID",
  group: "cluster",
  since: "7.2.0",
  complexity: "O(1)",
  summary: "Returns the shard ID of a node.",
  flags: ["stale"],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_NODES_META: CommandMeta = {
  name: "CLUSTER NODES",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the total number of Cluster nodes",
  summary: "Returns the cluster configuration for a node.",
  flags: ["stale"],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_REPLICAS_META: CommandMeta = {
  name: "CLUSTER REPLICAS",
  group: "cluster",
  since: "5.0.0",
  complexity: "O(N) where N is the number of replicas.",
  summary: "Lists the replica nodes of a master node.",
  flags: ["admin", "stale"],
  args: [str("node-id")],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_REPLICATE_META: CommandMeta = {
  name: "CLUSTER REPLICATE",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Configure a node as replica of a master node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [str("node-id")],
};

export const CLUSTER_RESET_META: CommandMeta = {
  name: "CLUSTER RESET",
  group: "cluster",
  since: "3.0.0",
  complexity:
    "O(N) where N is the number of known nodes. The command may execute a FLUSHALL as a side " +
    "effect.",
  summary: "Resets a node.",
  flags: ["admin", "noscript", "stale"],
  args: [opt(oneOf("reset-type", token("HARD"), token("SOFT")))],
};

export const CLUSTER_SAVECONFIG_META: CommandMeta = {
  name: "CLUSTER SAVECONFIG",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Forces a node to save the cluster configuration to disk.",
  flags: ["admin", "stale", "no_async_loading"],
};

export const CLUSTER_SET_CONFIG_EPOCH_META: CommandMeta = {
  name: "CLUSTER SET-CONFIG-EPOCH",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Sets the configuration epoch for a new node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [int("config-epoch")],
};

export const CLUSTER_SETSLOT_META: CommandMeta = {
  name: "CLUSTER SETSLOT",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Binds a hash slot to a node.",
  flags: ["admin", "stale", "no_async_loading"],
  args: [
    int("slot"),
    oneOf(
      "subcommand",
      token("IMPORTING", display("node-id", str("importing"))),
      token("MIGRATING", display("node-id", str("migrating"))),
      token("NODE", display("node-id", str("node"))),
      token("STABLE"),
    ),
  ],
};

export const CLUSTER_SHARDS_META: CommandMeta = {
  name: "CLUSTER SHARDS",
  group: "cluster",
  since: "7.0.0",
  complexity: "O(N) where N is the total number of cluster nodes",
  summary: "Returns the mapping of cluster slots to shards.",
  flags: ["loading", "stale"],
  tips: ["nondeterministic_output"],
};

export const CLUSTER_SLAVES_META: CommandMeta = {
  name: "CLUSTER SLAVES",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the number of replicas.",
  summary: "Lists the replica nodes of a master node.",
  flags: ["admin", "stale"],
  args: [str("node-id")],
  tips: ["nondeterministic_output"],
  deprecated: { since: "5.0.0", replacedBy: "`CLUSTER REPLICAS`" },
};

export const CLUSTER_SLOT_STATS_META: CommandMeta = {
  name: "CLUSTER SLOT-STATS",
  group: "cluster",
  since: "8.2.0",
  complexity:
    "O(N) where N is the total number of slots based on arguments. O(N*log(N)) with ORDERBY " +
    "subcommand.",
  summary: "Return an array of slot usage statistics for slots assigned to the current node.",
  flags: ["loading", "stale"],
  args: [
    oneOf(
      "filter",
      token("SLOTSRANGE", block("slotsrange", int("start-slot"), int("end-slot"))),
      token(
        "ORDERBY",
        block(
          "orderby",
          str("metric"),
          opt(token("LIMIT", int("limit"))),
          opt(oneOf("order", token("ASC"), token("DESC"))),
        ),
      ),
    ),
  ],
  tips: ["nondeterministic_output", "request_policy:all_shards"],
};

export const CLUSTER_SLOTS_META: CommandMeta = {
  name: "CLUSTER SLOTS",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(N) where N is the total number of Cluster nodes",
  summary: "Returns the mapping of cluster slots to nodes.",
  flags: ["loading", "stale"],
  tips: ["nondeterministic_output"],
  history: [
    ["4.0.0", "Added node IDs."],
    ["7.0.0", "Added additional networking metadata field."],
  ],
  deprecated: { since: "7.0.0", replacedBy: "`CLUSTER SHARDS`" },
};

export const READONLY_META: CommandMeta = {
  name: "READONLY",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Enables read-only queries for a connection to a Redis Cluster replica node.",
  flags: ["loading", "stale", "fast"],
  categories: ["connection"],
};

/** "Reids" is Redis's own spelling. */
export const READWRITE_META: CommandMeta = {
  name: "READWRITE",
  group: "cluster",
  since: "3.0.0",
  complexity: "O(1)",
  summary: "Enables read-write queries for a connection to a Reids Cluster replica node.",
  flags: ["loading", "stale", "fast"],
  categories: ["connection"],
};
