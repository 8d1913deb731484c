/** The section Server: which process this is, and how it was started. */

import { family, field, idle, type Section } from "./section.ts";
import type { InfoView } from "./view.ts";

function seconds(view: InfoView): number {
  const { facts, store } = view.server;
  return Math.max(0, Math.floor((store.clock.unixMs - facts.startedMs) / 1000));
}

function port(view: InfoView): number {
  const { facts, tcpPort } = view.server;
  return view.isOwner ? (facts.ownerPorts[view.owner] ?? 0) : tcpPort;
}

function listeners(view: InfoView): string[] {
  const { config, facts, tcpPort } = view.server;
  const lines: string[] = [];
  const bind = config.bind.map((address) => `,bind=${address}`).join("");
  if (tcpPort !== 0) lines.push(`name=tcp${bind},port=${tcpPort}`);
  if (config.unixsocket !== "") lines.push(`name=unix,bind=${config.unixsocket}`);
  for (const ownerPort of facts.ownerPorts) lines.push(`name=owner${bind},port=${ownerPort}`);
  return lines.map((line, i) => `listener${i}:${line}`);
}

/** As written by CONFIG: what only the owner of a port has. */
function ownerLines(view: InfoView): string[] {
  const { topology } = view.server;
  if (topology === null) return [];
  const lines = [`shard_owners:${topology.nodes.length}`];
  if (view.isOwner) {
    lines.push(`owner:${view.owner}`, `owner_slots:${view.firstSlot}-${view.lastSlot}`);
  }
  return lines;
}

export const SERVER: Section = {
  title: "Server",
  names: ["server"],
  inDefault: true,
  about: "The process, its version and its ports.",
  entries: [
    field(
      "redis_version",
      "The Redis that this server answers as.",
      ({ server }) => server.facts.redisVersion,
    ),
    field("zerohop_version", "The version of ZeroHop.", ({ server }) => server.facts.version),
    ...idle("Of Redis's build; there is none.", {
      redis_git_sha1: "00000000",
      redis_git_dirty: 0,
      redis_build_id: 0,
    }),
    field("redis_mode", "`cluster` on the port of a shard owner, else `standalone`.", (view) =>
      view.isOwner ? "cluster" : "standalone",
    ),
    field("os", "System, release and processor.", ({ server }) => server.facts.os),
    field("arch_bits", "64.", ({ server }) => server.facts.archBits),
    ...idle("What the runtime is built on.", {
      monotonic_clock: "performance.now",
      multiplexing_api: "libuv",
      atomicvar_api: "Atomics",
    }),
    ...idle("No C compiler was at work.", { gcc_version: "0.0.0" }),
    field("node_version", "The version of Node.js.", ({ server }) => server.facts.nodeVersion),
    field(
      "process_id",
      "The process, one for all threads.",
      ({ server }) => server.facts.processId,
    ),
    ...idle("No supervisor is told of anything.", { process_supervised: "no" }),
    field(
      "run_id",
      "40 random hexadecimal digits, new at each start.",
      ({ server }) => server.facts.runId,
    ),
    field("tcp_port", "The port that was asked: the plain one, or an owner's.", port),
    field("server_time_usec", "Unix time in microseconds.", ({ server }) =>
      server.store.clock.unixUsec(),
    ),
    field("uptime_in_seconds", "Since the start.", seconds),
    field("uptime_in_days", "Since the start, in whole days.", (view) =>
      Math.floor(seconds(view) / 86400),
    ),
    field("hz", "The directive `hz`.", ({ server }) => server.config.hz),
    field("configured_hz", "The directive `hz`.", ({ server }) => server.config.hz),
    field(
      "lru_clock",
      "Unix seconds in 24 bits, as keys remember them.",
      ({ server }) => server.store.lruClock,
    ),
    field("executable", "The program.", ({ server }) => server.facts.executable),
    field(
      "config_file",
      "The file it was configured by, or empty.",
      ({ server }) => server.config.file,
    ),
    ...idle("Every thread reads, runs and writes by itself.", { io_threads_active: 0 }),
    family("listener<i>", "One for each port and socket: its kind, addresses, port.", listeners),
    family(
      "shard_owners, owner, owner_slots",
      "Only with shard owners: how many, and on an owner's port which one and its slots.",
      ownerLines,
    ),
  ],
};
