/**
 * CLIENT PAUSE as one thread knows it: until when, what of, and the sessions here that wait for its
 * end. Every thread is told of each change in the same order, by the control log, with the time at
 * which it was made; so all come to the same state whenever they are told. Times are of the
 * monotonic clock: where the system's is set meanwhile, a pause ends neither early nor late.
 *
 * While it lasts no key expires or is evicted: what is past its time is hidden and stays.
 */
import type { Command } from "../command/command.ts";
import { FLAG_MAY_REPLICATE, FLAG_WRITE } from "../command/flags.ts";

/** What a session that waits is told. */
export type Postponed = { endPostponed(): void };

export class Pause {
  isOn = false;
  private isAll = false;
  private endMs = 0;
  private readonly waiting: Set<Postponed> = new Set();

  /**
   * CLIENT PAUSE at `nowMs`. Redis: of two pauses the later end holds, and all is more than writes;
   * one without a time (0) has no end of its own.
   */
  begin(nowMs: number, endMs: number, isAll: boolean): void {
    const before = this.isOn && this.endMs > nowMs ? this.endMs : 0;
    this.isAll = isAll || (before > 0 && this.isAll);
    this.endMs = Math.max(before, endMs);
    this.isOn = this.endMs > nowMs;
  }

  end(): void {
    this.isOn = false;
    this.endMs = 0;
  }

  /** What `begin` brings about elsewhere; an end in the past is none. */
  get state(): { endMs: number; isAll: boolean } {
    return { endMs: this.isOn ? this.endMs : 0, isAll: this.isAll };
  }

  /** True if the time of one that is on has passed. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.endMs;
  }

  holds(command: Command): boolean {
    return (
      this.isOn && (this.isAll || (command.flagBits & (FLAG_WRITE | FLAG_MAY_REPLICATE)) !== 0)
    );
  }

  add(session: Postponed): void {
    this.waiting.add(session);
  }

  /** The session is over. */
  forget(session: Postponed): void {
    this.waiting.delete(session);
  }

  get hasWaiting(): boolean {
    return this.waiting.size > 0;
  }

  /** Lets all that wait go on, in the order in which they came; each may come to wait again. */
  release(): void {
    const sessions = [...this.waiting];
    this.waiting.clear();
    for (const session of sessions) session.endPostponed();
  }
}
