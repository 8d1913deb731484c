/**
 * What is done with the time that a call took: statistics, histogram, and, if it was long enough,
 * an entry of the slow log and a sample for LATENCY. Also how often calls are timed at all.
 *
 * The time is that of running: waiting for locks, and the time that a session was parked, are not
 * in it.
 */
import type { Command } from "../command/command.ts";
import { FLAG_FAST, FLAG_SKIP_SLOWLOG } from "../command/flags.ts";
import type { Session } from "../command/session.ts";
import { cString } from "../protocol/errors.ts";
import { SAMPLE_EVERY } from "./command-stats.ts";
import type { Config } from "./config/config.ts";
import type { LatencyEvent } from "./latency-events.ts";
import type { ThreadServer } from "./thread-server.ts";

/** Whoever wants to see calls as short as this wants all of them timed. */
const SAMPLED_USEC = 1000;

export class CallTimes {
  /** Of so many calls of a fast command one is timed. */
  sampleEvery: number = SAMPLE_EVERY;
  /** Shortest calls that are looked at twice. */
  private noticedUsec = Number.POSITIVE_INFINITY;
  private slowUsec = Number.POSITIVE_INFINITY;
  private latencyMs = Number.POSITIVE_INFINITY;
  private tracks = true;
  private readonly server: ThreadServer;

  constructor(server: ThreadServer) {
    this.server = server;
  }

  /** True if it is not as before who is timed, or what for. */
  configure(config: Config): boolean {
    const before = [this.sampleEvery, this.tracks];
    const { slowlogUsec, slowlogLength, latencyThresholdMs } = config;
    const isLogging = slowlogUsec >= 0 && slowlogLength > 0;
    this.slowUsec = isLogging ? slowlogUsec : Number.POSITIVE_INFINITY;
    this.latencyMs = latencyThresholdMs > 0 ? latencyThresholdMs : Number.POSITIVE_INFINITY;
    this.noticedUsec = Math.min(this.slowUsec, this.latencyMs * 1000);
    const timesAll = this.slowUsec < SAMPLED_USEC || latencyThresholdMs > 0;
    this.sampleEvery = timesAll ? 1 : SAMPLE_EVERY;
    this.tracks = config.latencyTracking;
    return this.sampleEvery !== before[0] || this.tracks !== before[1];
  }

  /**
   * Lets go of what is beyond `slowlog-max-len`, on the thread that has set it: others may come to
   * it late, after more was logged under a newer setting. As in Redis, which does so when it logs
   * CONFIG SET, a log that is off keeps what it has.
   */
  trimSlowLog(): void {
    if (this.slowUsec === Number.POSITIVE_INFINITY) return;
    this.server.slowLog.trim(this.server.config.slowlogLength);
  }

  /**
   * A call took `ms` milliseconds and stands for `weight` calls. True if that is to be logged as
   * slow.
   */
  record(command: Command, ms: number, weight: number): boolean {
    const { server } = this;
    const usec = Math.max(0, ms * 1000);
    server.commandStats.timed(command.id, usec, weight);
    if (this.tracks) server.latencyHistograms.record(command.id, usec, weight);
    if (usec < this.noticedUsec) return false;
    server.store.clock.refresh();
    if (usec >= this.latencyMs * 1000) {
      const isFast = (command.flagBits & FLAG_FAST) !== 0;
      this.sample(isFast ? "fast-command" : "command", usec / 1000);
    }
    return usec >= this.slowUsec && (command.flagBits & FLAG_SKIP_SLOWLOG) === 0;
  }

  /** Logs a slow call. */
  log(session: Session, ms: number, words: readonly string[]): void {
    const { server } = this;
    const entry = {
      unixSeconds: Math.floor(server.store.clock.unixMs / 1000),
      usec: Math.floor(Math.max(0, ms * 1000)),
      words,
      address: session.remote,
      clientName: cString(session.name),
    };
    server.slowLog.add(entry, server.config.slowlogLength);
  }

  /** Something else than a command took so long. */
  event(event: LatencyEvent, ms: number): void {
    if (ms >= this.latencyMs) this.sample(event, ms);
  }

  private sample(event: LatencyEvent, ms: number): void {
    const { latencyEvents, store } = this.server;
    latencyEvents.add(event, ms, Math.floor(store.clock.unixMs / 1000));
  }
}
