/** LATENCY: long events by kind, and how long calls of each command took. */

import type { Args } from "../../base/args.ts";
import type { Command } from "../../command/command.ts";
import { multiple, opt, str } from "../../command/grammar.ts";
import { helpCommand } from "../../command/help.ts";
import type { Server, Session } from "../../command/session.ts";
import type { CommandMeta, CommandSpec } from "../../command/spec.ts";
import { ARGUMENT_SHOWN_BYTES_MAX } from "../../limits.ts";
import { cString } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import type { LatencySeries } from "../latency-events.ts";
import { cumulativeCalls } from "../latency-histogram.ts";
import { latencyGraph, latencyReport } from "../latency-reports.ts";

const FIRST = 2;

const HELP: readonly string[] = [
  "DOCTOR",
  "    Return a human readable latency analysis report.",
  "GRAPH <event>",
  "    Return an ASCII latency graph for the <event> class.",
  "HISTORY <event>",
  "    Return time-latency samples for the <event> class.",
  "LATEST",
  "    Return the latest latency samples for all events.",
  "RESET [<event> ...]",
  "    Reset latency data of one or more <event> classes.",
  "    (default: reset all data for all event classes)",
  "HISTOGRAM [COMMAND ...]",
  "    Return a cumulative distribution of latencies in the format of a histogram for the specified command names.",
  "    If no commands are specified then all histograms are replied.",
];

const META = {
  group: "server",
  since: "2.8.13",
  complexity: "O(1)",
  flags: ["admin", "noscript", "loading", "stale"],
} as const satisfies Partial<CommandMeta>;

const TIPS: CommandMeta["tips"] = [
  "nondeterministic_output",
  "request_policy:all_nodes",
  "response_policy:special",
];

const EVENT = str("event");

function nowSeconds({ store }: Server): number {
  return Math.floor(store.clock.unixMs / 1000);
}

function seriesNamed(session: Session, args: Args): LatencySeries | undefined {
  const name = args.text(FIRST);
  return session.server.latencyEvents.all().find(({ event }) => event === name);
}

const LATENCY: CommandSpec = {
  ...META,
  name: "LATENCY",
  complexity: "Depends on subcommand.",
  summary: "A container for latency diagnostics commands.",
  flags: [],
  locks: "container",
};

const LATENCY_DOCTOR: CommandSpec = {
  ...META,
  name: "LATENCY DOCTOR",
  summary: "Returns a human-readable latency analysis report.",
  tips: TIPS,
  differs: "Only advice that can help here is given.",
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const { server } = session;
    const { latencyThresholdMs: thresholdMs, slowlogUsec, slowlogLength } = server.config;
    const settings = { thresholdMs, slowlogUsec, slowlogLength };
    const all = server.latencyEvents.all();
    reply.verbatim(latencyReport(all, settings, nowSeconds(server)), "txt");
  },
};

const LATENCY_GRAPH: CommandSpec = {
  ...META,
  name: "LATENCY GRAPH",
  summary: "Returns a latency graph for an event.",
  args: [EVENT],
  tips: TIPS,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const series = seriesNamed(session, args);
    if (series === undefined) {
      const name = cString(args.head(FIRST, ARGUMENT_SHOWN_BYTES_MAX));
      reply.error(`ERR No samples available for event '${name}'`);
      return;
    }
    reply.verbatim(latencyGraph(series, nowSeconds(session.server)), "txt");
  },
};

const LATENCY_HELP: CommandSpec = helpCommand(
  "LATENCY",
  { group: "server", since: "2.8.13" },
  HELP,
);

type Times = { command: Command; calls: number; levels: [usec: number, calls: number][] };

function timesOf(server: Server, command: Command): Times[] {
  const calls = server.commandStats.trackedCalls(command.id);
  if (calls === 0) return [];
  const histogram = server.latencyHistograms.of(command.id);
  // Its call is counted, its time is not yet: the call under way elsewhere.
  if (histogram.total === 0) return [];
  return [{ command, calls, levels: cumulativeCalls(histogram, calls) }];
}

/** The commands that the arguments name, containers with what they contain, in order. */
function commandsNamed(server: Server, args: Args): readonly Command[] {
  if (args.count === FIRST) return server.commands.callable;
  const named: Command[] = [];
  for (let i = FIRST; i < args.count; i++) {
    const command = server.commands.named(args.text(i));
    if (command !== null) named.push(command, ...command.subcommands.values());
  }
  return named;
}

const LATENCY_HISTOGRAM: CommandSpec = {
  ...META,
  name: "LATENCY HISTOGRAM",
  since: "7.0.0",
  complexity: "O(N) where N is the number of commands with latency information being retrieved.",
  summary: "Returns the cumulative distribution of latencies of a subset or all commands.",
  args: [opt(multiple(str("command")))],
  tips: TIPS,
  differs:
    "Of a fast command on single keys every 64th call is timed and stands for the others; calls " +
    "are counted exactly.",
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const { server } = session;
    const all = commandsNamed(server, args).flatMap((command) => timesOf(server, command));
    reply.map(all.length);
    for (const { command, calls, levels } of all) {
      reply.text(command.name);
      reply.map(2);
      reply.text("calls");
      reply.integer(calls);
      reply.text("histogram_usec");
      reply.map(levels.length);
      for (const [usec, count] of levels) {
        reply.integer(usec);
        reply.integer(count);
      }
    }
  },
};

const LATENCY_HISTORY: CommandSpec = {
  ...META,
  name: "LATENCY HISTORY",
  summary: "Returns timestamp-latency samples for an event.",
  args: [EVENT],
  tips: TIPS,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const samples = seriesNamed(session, args)?.samples ?? [];
    reply.array(samples.length);
    for (const { unixSeconds, ms } of samples) {
      reply.array(2);
      reply.integer(unixSeconds);
      reply.integer(ms);
    }
  },
};

const LATENCY_LATEST: CommandSpec = {
  ...META,
  name: "LATENCY LATEST",
  summary: "Returns the latest latency samples for all events.",
  tips: TIPS,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const all = session.server.latencyEvents.all();
    reply.array(all.length);
    for (const { event, maxMs, samples } of all) {
      const last = samples.at(-1);
      reply.array(4);
      reply.text(event);
      reply.integer(last?.unixSeconds ?? 0);
      reply.integer(last?.ms ?? 0);
      reply.integer(maxMs);
    }
  },
};

const LATENCY_RESET: CommandSpec = {
  ...META,
  name: "LATENCY RESET",
  summary: "Resets the latency data for one or more events.",
  args: [opt(multiple(EVENT))],
  tips: ["request_policy:all_nodes", "response_policy:agg_sum"],
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const names: string[] = [];
    for (let i = FIRST; i < args.count; i++) names.push(args.text(i));
    reply.integer(session.server.latencyEvents.reset(names));
  },
};

export const LATENCY_COMMANDS: readonly CommandSpec[] = [
  LATENCY,
  LATENCY_DOCTOR,
  LATENCY_GRAPH,
  LATENCY_HELP,
  LATENCY_HISTOGRAM,
  LATENCY_HISTORY,
  LATENCY_LATEST,
  LATENCY_RESET,
];
