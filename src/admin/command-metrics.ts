/**
 * Use and latency of each command that was called, of the whole process: there are too many
 * commands for a sample of each by thread and owner.
 */

import { valueAtPercentile } from "../server/latency-histogram.ts";
import type { Figures } from "./figures.ts";
import { type Emit, type Metric, many, single } from "./metric.ts";

type Use = ReturnType<Figures["commandUse"]>;

function perCommand(name: string, help: string, value: (use: Use, command: number) => number) {
  return many("counter", `zerohop_${name}`, help, ["cmd"], (figures, emit) => {
    for (const [id, cmd] of figures.source.commands.entries()) {
      const use = figures.commandUse(id);
      if (use.calls + use.rejected + use.failed > 0) emit({ cmd }, value(use, id));
    }
  });
}

/**
 * Only a part of the calls is timed, and what is known is the mean of those times all calls. It can
 * fall by a little when the mean does; a counter may not, so what was shown stays until it is
 * passed, or until the calls themselves began anew.
 */
class SteadySeconds {
  readonly #calls: number[] = [];
  readonly #seconds: number[] = [];

  read({ calls, usec }: Use, command: number): number {
    const before = calls < (this.#calls[command] ?? 0) ? 0 : (this.#seconds[command] ?? 0);
    const seconds = Math.max(before, usec / 1e6);
    this.#calls[command] = calls;
    this.#seconds[command] = seconds;
    return seconds;
  }
}

function readLatencies(figures: Figures, emit: Emit): void {
  const { commands, config } = figures.source;
  for (const [id, cmd] of commands.entries()) {
    const histogram = figures.latencies(id);
    if (histogram === null) continue;
    for (const percentile of config.latencyPercentiles) {
      const quantile = Number((percentile / 100).toPrecision(12));
      emit({ cmd, quantile }, valueAtPercentile(histogram, percentile) / 1000);
    }
  }
}

/** The metrics for one page, which keeps what it showed last. */
export function commandMetrics(): readonly Metric[] {
  const steady = new SteadySeconds();
  return [
    perCommand("commands_total", "Calls of a command.", ({ calls }) => calls),
    perCommand(
      "commands_duration_seconds_total",
      "Seconds that a command took, from the calls that were timed.",
      (use, command) => steady.read(use, command),
    ),
    perCommand(
      "commands_rejected_calls_total",
      "Calls refused before they ran.",
      ({ rejected }) => rejected,
    ),
    perCommand("commands_failed_calls_total", "Calls that failed.", ({ failed }) => failed),
    many(
      "gauge",
      "zerohop_latency_percentiles_usec",
      "Microseconds that so many of the timed calls took at most, since the start or CONFIG " +
        "RESETSTAT; the quantiles are latency-tracking-info-percentiles.",
      ["cmd", "quantile"],
      readLatencies,
    ),
    single("gauge", "zerohop_slowlog_length", "Entries of the slow log.", ({ slowLog }) => {
      return slowLog.length;
    }),
    single(
      "counter",
      "zerohop_slowlog_entries_total",
      "Entries that the slow log ever had.",
      ({ slowLog }) => slowLog.nextId,
    ),
  ];
}
