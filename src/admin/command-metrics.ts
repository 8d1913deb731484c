/**
 * Use of each command that was called, of the whole process: there are too many commands for a
 * sample of each by thread and owner.
 */
import type { Figures } from "./figures.ts";
import { type Metric, many } from "./metric.ts";

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
  ];
}
