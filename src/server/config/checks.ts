/**
 * What directives demand of each other. Each rule is one function that gives one line, naming the
 * directives, or null. They run once, before the first port is bound.
 */
import { CLUSTER_PORT_OFFSET, PORT_MAX, QUORUM_PORT_OFFSET } from "../../limits.ts";
import { AUTO_PORT, type Config } from "./config.ts";

/** A block of TCP ports that the process will listen on, and the directive that says so. */
export type Listener = { directive: string; first: number; count: number };

/** The first rule that is broken, or null. */
export function checkConfig(config: Config): string | null {
  for (const rule of [exclusions, needs, ownerPorts, otherPorts, collisions, reachable]) {
    const broken = rule(config);
    if (broken !== null) return broken;
  }
  return null;
}

/** Every TCP listener whose port is known; those that the system chooses are left out. */
export function listeners(config: Config): Listener[] {
  const list: Listener[] = [];
  const add = (directive: string, first: number, count = 1): void => {
    if (first > 0) list.push({ directive, first, count });
  };
  // An owner on the plain port takes its place.
  if (config.owners === 0 || config.port !== config.ownersPort) add("port", config.port);
  if (config.owners > 0) add("shard-owners-port", config.ownersPort, config.owners);
  if (config.text("quorum-peers") !== "") add("quorum-port", quorumPort(config));
  if (config.flag("cluster-enabled")) add("cluster-port", clusterPort(config));
  add("tls-port", config.number("tls-port"));
  add("shard-owners-tls-port", config.number("shard-owners-tls-port"), config.owners);
  add("admin-port", config.adminPort);
  return list;
}

function quorumPort(config: Config): number {
  const port = config.number("quorum-port");
  return port === 0 && config.port > 0 ? config.port + QUORUM_PORT_OFFSET : port;
}

function clusterPort(config: Config): number {
  const port = config.number("cluster-port");
  return port === 0 && config.port > 0 ? config.port + CLUSTER_PORT_OFFSET : port;
}

/** Pairs of modes that are never on together. */
function exclusions(config: Config): string | null {
  const owners = config.owners > 0;
  const cluster = config.flag("cluster-enabled");
  const quorum = config.text("quorum-peers") !== "";
  const scopes = config.text("scopes") !== "";
  const replica = config.text("replicaof") !== "";
  const both = (a: string, b: string): string => `${a} and ${b} exclude each other`;
  if (owners && cluster) return both("shard-owners", "cluster-enabled");
  if (cluster && replica) return "replicaof directive not allowed in cluster mode";
  if (quorum && cluster) return both("quorum-peers", "cluster-enabled");
  if (scopes && cluster) return both("scopes", "cluster-enabled");
  if (quorum && replica) return both("quorum-peers", "replicaof");
  if (scopes && replica) return both("scopes", "replicaof");
  return null;
}

function needs(config: Config): string | null {
  const peers = config.text("quorum-peers") !== "";
  if (peers !== (config.text("quorum-node-id") !== "")) {
    return "quorum-node-id and quorum-peers need each other";
  }
  if (config.text("scopes") !== "" && !peers) return "scopes needs quorum-peers";
  return null;
}

function ownerPorts(config: Config): string | null {
  const { owners, ownersPort, ownersAnnouncePort } = config;
  if (owners === 0) return null;
  if (ownersPort === 0) return "shard-owners-port is needed when port is 0";
  for (const [directive, first] of [
    ["shard-owners-port", ownersPort],
    ["shard-owners-announce-port", ownersAnnouncePort],
  ] as const) {
    const last = first + owners - 1;
    if (first > 0 && last > PORT_MAX) {
      const block = `${directive} ${first}, ${owners} owners`;
      return `shard-owners: ports ${first}-${last} pass ${PORT_MAX} (${block})`;
    }
  }
  return null;
}

/** Ports that follow from another one. */
function otherPorts(config: Config): string | null {
  for (const { directive, first, count } of listeners(config)) {
    const last = first + count - 1;
    if (last > PORT_MAX) return `${directive}: port ${last} passes ${PORT_MAX}`;
  }
  return null;
}

function collisions(config: Config): string | null {
  const list = listeners(config);
  for (const [i, a] of list.entries()) {
    for (const b of list.slice(i + 1)) {
      const port = Math.max(a.first, b.first);
      if (port < a.first + a.count && port < b.first + b.count) {
        return `port ${port} is needed by both ${a.directive} and ${b.directive}`;
      }
    }
  }
  return null;
}

function reachable(config: Config): string | null {
  if (config.unixsocket !== "") return null;
  if (config.bind.length === 0) {
    return "configured to not listen anywhere: bind is empty and there is no unixsocket";
  }
  const chosen = config.port === AUTO_PORT || (config.owners > 0 && config.ownersPort !== 0);
  const forClients = listeners(config).some(({ directive }) => directive !== "admin-port");
  if (chosen || forClients) return null;
  return "configured to not listen anywhere: port is 0 and there is no unixsocket";
}
