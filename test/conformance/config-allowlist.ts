/**
 * Where our configuration and that of redis-server 7.0.15 differ, and why. A line that no
 * difference needs fails the test.
 */

/** Names of Redis 7.2 and 7.4. */
export const NEWER_NAMES: readonly string[] = [
  // 7.2
  "cluster-announce-human-nodename",
  "locale-collate",
  "set-max-listpack-entries",
  "set-max-listpack-value",
  // 7.4
  "aof-rewrite-cpulist",
  "bgsave-cpulist",
  "bio-cpulist",
  "hide-user-data-from-log",
  "max-new-connections-per-cycle",
  "max-new-tls-connections-per-cycle",
  "server-cpulist",
];

/** Names of our own. */
export const OURS: readonly string[] = [
  ...["threads", "shards", "memory-chunk", "admin-port", "rdb-write-version"],
  ...["shard-owners", "shard-owners-port", "shard-owners-announce-port"],
  ...["shard-owners-cross-slot", "shard-owners-keyspace", "shard-owners-tls-port"],
  ...["replica-max-staleness-ms", "replica-name"],
  ...["repl-reconnect-min-ms", "repl-reconnect-max-ms"],
  ...["quorum-node-id", "quorum-peers", "quorum-port", "quorum-bind", "quorum-secret"],
  ...["quorum-heartbeat-ms", "quorum-down-after-ms", "quorum-election-timeout-ms", "tls-quorum"],
  ...["scopes", "scope-quiesce-ms", "scope-follow"],
];

/** Names that 7.0.15 shows for a pattern and 7.2 shows only when they are named. */
export const SHOWN_BY_OLDER: readonly string[] = ["aof-disable-auto-gc"];

/** Directives whose value is another one without anything said, with the reason. */
export const DEFAULTS: { readonly [name: string]: string } = {
  bind: "the test's redis-server is told to listen on loopback only",
  dir: "each is started in a folder of its own",
  port: "the test's redis-server is told a free port",
};

/** Values of every kind. */
export const PROBES: readonly string[] = [
  ...["", "0", "1", "-1", "7", "07", " 7", "300", "1.5", "x", "a b", "a/b"],
  ...["yes", "NO", "no", "local", "default", "nosave now", "save nosave", "Save"],
  ...["1k", "1MB", "3gb", "1tb", "2mb", "kb", "-1mb"],
  ...["2147483647", "2147483648", "-2147483648", "4294967295", "4294967296"],
  ...["9223372036854775807", "9223372036854775808", "18446744073709551615"],
  ...["99999999999999999999", "20000000000gb", "-9223372036854775809"],
  ...["5%", "60 1", "60 1 30 2", "60 1  30 2", "0 1", "1 2 3", "1 2 3000"],
  ...["normal 1mb 2k 3", "Replica 1gb 1 +7 pubsub 0 0 0", "normal 0 0", "normal 0 0 x", "x 0 0 0"],
  ...["KEA", "gxE$lshzetdmn", "{title} {port}", "{x}", "{{x}", "{title}", "host.name-1"],
  ...["50 99.900 0.1000001", "101", "always", "EVERYSEC", "allkeys-lru", "notice", "warning"],
];

/** Directives that are not tried out on a redis-server, with the reason. */
export const UNPROBED: { readonly [name: string]: string } = {
  activedefrag: "depends on how redis-server was built",
  appendonly: "starts the log",
  bind: "closes the connection",
  maxclients: "depends on the system's limit of open files",
  "maxmemory-clients": "disconnects the client that sets it",
  "oom-score-adj": "needs rights",
  "oom-score-adj-values": "needs rights",
  port: "listens elsewhere; fixed here",
  "tls-port": "needs certificates",
  "tls-cluster": "needs certificates",
  "tls-replication": "needs certificates",
};

/** Endings of our errors that 7.0.15 does not have, with the version they are from. */
export const LATER_ERRORS: { readonly [name: string]: string } = {
  // 7.2: a level more.
  loglevel: "debug, verbose, notice, warning, nothing",
  // 7.4: a bound, since more overflowed the stack.
  "maxmemory-samples": "argument must be between 1 and 64 inclusive",
};
