/**
 * What the event loop of a thread has done, for INFO: looked at many times a second, so that a
 * sample says something about a single turn of the loop too.
 */
import type { LoopUse } from "../../env/env.ts";
import { type Stats, statIndex } from "../../keyspace/stats.ts";

const CYCLES = statIndex("eventloop_cycles");
const USEC = statIndex("eventloop_usec");
const CRON_USEC = statIndex("eventloop_cron_usec");
const USEC_MAX = statIndex("eventloop_usec_max");
const COMMANDS_MAX = statIndex("eventloop_commands_max");

export class LoopMeter {
  readonly #stats: Stats;
  #before: LoopUse;
  #commandsBefore = 0;

  /** `stats` are those of the thread's own row. */
  constructor(stats: Stats, now: LoopUse) {
    this.#stats = stats;
    this.#before = now;
  }

  /** Called by the housekeeping, which took `cronMs`. */
  sample(now: LoopUse, cronMs: number): void {
    const stats = this.#stats;
    const cycles = now.cycles - this.#before.cycles;
    const usec = (now.activeMs - this.#before.activeMs) * 1000;
    const commands = stats.of(stats.row, "commands_processed");
    this.#before = now;
    stats.add(CYCLES, cycles);
    stats.add(USEC, usec);
    stats.add(CRON_USEC, cronMs * 1000);
    if (cycles > 0) {
      stats.max(USEC_MAX, usec / cycles);
      // The total goes back to 0 at CONFIG RESETSTAT.
      stats.max(COMMANDS_MAX, Math.ceil((commands - this.#commandsBefore) / cycles));
    }
    this.#commandsBefore = commands;
  }
}
