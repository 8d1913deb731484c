/** Sections with a line for each of many things: commands, errors, threads. */
import { ERROR_CODES, errorStat } from "../../keyspace/stats.ts";
import { SPAN_BYTES } from "../../limits.ts";
import { H_FREE_SPANS, H_SPANS_USED } from "../../memory/layout.ts";
import { valueAtPercentile } from "../latency-histogram.ts";
import { type Field, family, field, type Section } from "./section.ts";
import type { InfoView } from "./view.ts";

function commandLines(view: InfoView): string[] {
  const lines: string[] = [];
  for (const command of view.server.commands.list) {
    const { calls, usec, rejected, failed } = view.commandUse(command.id);
    if (calls === 0 && rejected === 0 && failed === 0) continue;
    const perCall = calls === 0 ? 0 : usec / calls;
    lines.push(
      `cmdstat_${command.name}:calls=${calls},usec=${Math.round(usec)},` +
        `usec_per_call=${perCall.toFixed(2)},rejected_calls=${rejected},failed_calls=${failed}`,
    );
  }
  return lines;
}

export const COMMANDSTATS: Section = {
  title: "Commandstats",
  names: ["commandstats"],
  inDefault: false,
  about: "Use of each command that was called.",
  entries: [
    family(
      "cmdstat_<command>",
      "Calls, microseconds (of the calls that were timed, a 64th of the fast ones, carried over to " +
        "all), calls refused before they ran, calls that failed.",
      commandLines,
    ),
  ],
};

function errorLines(view: InfoView): string[] {
  const lines: string[] = [];
  for (const code of ERROR_CODES) {
    const count = view.stat(errorStat(code));
    if (count > 0) lines.push(`errorstat_${code}:count=${count}`);
  }
  return lines;
}

export const ERRORSTATS: Section = {
  title: "Errorstats",
  names: ["errorstats"],
  inDefault: true,
  about: "Error replies by their first word.",
  entries: [family("errorstat_<code>", "How many; OTHER are all that are rare.", errorLines)],
};

function latencyLines({ server }: InfoView): string[] {
  const { commands, commandStats, config, latencyHistograms } = server;
  const { latencyPercentiles } = config;
  if (!config.latencyTracking) return [];
  const lines: string[] = [];
  for (const { id, name } of commands.list) {
    if (commandStats.trackedCalls(id) === 0) continue;
    const histogram = latencyHistograms.of(id);
    if (histogram.total === 0) continue;
    const values = latencyPercentiles.map((percentile) => {
      const usec = valueAtPercentile(histogram, percentile) / 1000;
      return `p${percentile}=${usec.toFixed(3)}`;
    });
    lines.push(`latency_percentiles_usec_${name}:${values.join(",")}`);
  }
  return lines;
}

export const LATENCYSTATS: Section = {
  title: "Latencystats",
  names: ["latencystats"],
  inDefault: false,
  about: "How long calls of each command took, on all ports; empty if `latency-tracking` is off.",
  entries: [
    family(
      "latency_percentiles_usec_<command>",
      "Microseconds, for each of `latency-tracking-info-percentiles`, of the calls that were timed.",
      latencyLines,
    ),
  ],
};

/** A counter of all threads, whichever port was asked. */
function total(name: Parameters<InfoView["stat"]>[0], about: string): Field {
  return field(name, about, ({ server }) => server.stats.sum(name));
}

function most(name: Parameters<InfoView["stat"]>[0], about: string): Field {
  return field(name, about, ({ server }) => Math.round(server.stats.most(name)));
}

function spans(view: InfoView, ...words: number[]): number {
  let sum = 0;
  for (const word of words) sum += view.server.store.control[word] as number;
  return sum * SPAN_BYTES;
}

const BOUNDED = ", but for commands that are not documented as O(1)";

/** Numbers of the threads that there are: handles of an embedded store come and go. */
function threadsOf({ server }: InfoView): number[] {
  const all = Array.from({ length: server.threads }, (_, thread) => thread);
  return all.filter((thread) => server.isThread(thread));
}

function threadLines(view: InfoView): string[] {
  return threadsOf(view).map((thread) => {
    const of = (name: Parameters<InfoView["stat"]>[0]): number => view.threadStat(thread, name);
    return (
      `thread${thread}:accepted_connections=${of("connections_received")},` +
      `connections=${of("connections_current")},commands=${of("commands_processed")},` +
      `lock_acquisitions=${of("lock_acquisitions")},js_heap_used=${of("js_heap_used")}`
    );
  });
}

export const THREADS: Section = {
  title: "Threads",
  names: ["threads"],
  inDefault: true,
  about: "What proves that no command takes a second hop and no lock is held for long. Ours.",
  entries: [
    field("threads", "Threads that run commands.", (view) => threadsOf(view).length),
    field("shards", "Locks over ranges of slots.", ({ server }) => server.shards),
    field(
      "accept_mode",
      "How connections reach threads: `single`, `reuseport`, `acceptor`.",
      ({ server }) => server.facts.acceptMode,
    ),
    total("keyed_commands_local", "Commands with keys run by the thread that received them."),
    total("keyed_commands_forwarded", "Commands handed to another thread: 0."),
    total("lock_acquisitions", "Locks of shards taken."),
    total("lock_contended", "Of those, not had at once."),
    total("lock_wait_usec", "Microseconds of waiting for locks."),
    most(
      "lock_hold_max_usec",
      "Longest that all locks, one of a walk over all, or one of background work was held; eviction " +
        "has figures of its own.",
    ),
    total("parked_sessions", "Times that a session was set aside because of a lock or of memory."),
    total("memory_waits", "Of those, until keys were evicted."),
    most("eviction_slice_max_usec", "Longest that a thread evicted at a stretch."),
    most("eviction_slice_max_keys", "Most keys that it removed then."),
    most("eviction_slice_max_visits", "Most slots, segments and records that it looked at then."),
    most("eviction_slice_max_bytes", "Most bytes of keys that it removed then."),
    total("mailbox_messages", "Messages between threads: 0."),
    field("arena_bytes_used", "Bytes in blocks of the heap.", (view) => view.memory().allocated),
    field("arena_bytes_reserved", "Bytes of the heap's chunks.", (view) =>
      spans(view, H_SPANS_USED, H_FREE_SPANS),
    ),
    total("js_heap_used", "Bytes of JavaScript heap of all threads, a second old at most."),
    most("work_bytes_copied_max", `Most bytes copied under one lock${BOUNDED}.`),
    most("work_entries_moved_max", `Most table entries moved under one lock${BOUNDED}.`),
    most("work_elements_visited_max", `Most elements visited under one lock${BOUNDED}.`),
    family(
      "thread<i>",
      "Connections accepted and open, commands run, locks taken, bytes of JavaScript heap.",
      threadLines,
    ),
  ],
};
