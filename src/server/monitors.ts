/**
 * MONITOR: every session that asked for it is sent each command that any thread runs, in the order
 * in which each connection ran its own.
 *
 * A thread collects the lines of a turn, sends them to its own sessions when the turn is over, and
 * posts them to the threads that have such sessions. How many each has, all are told by the control
 * log; so what is sent after MONITOR was answered is shown, on whatever connection it comes. A
 * session that is one itself sees its own commands behind their replies.
 */
import type { Args } from "../base/args.ts";
import type { Command } from "../command/command.ts";
import type { Session } from "../command/session.ts";
import { statIndex } from "../keyspace/stats.ts";
import type { Reply } from "../protocol/reply.ts";
import { MonitorLine } from "./monitor-line.ts";
import type { ClientSession } from "./session.ts";
import type { ThreadServer } from "./thread-server.ts";

/** What is collected is sent in the middle of a turn when it is this much. */
const SEND_BYTES = 65536;
/** The one kind of message in the mailboxes. */
const MONITOR_LINES = 1;

const NONE: readonly number[] = [];
const MESSAGES = statIndex("mailbox_messages");

export class Monitors {
  /** Somebody monitors, on whatever thread. */
  isOn = false;
  private readonly server: ThreadServer;
  /** Sessions of this thread. */
  private readonly sessions: Set<ClientSession> = new Set();
  /** Sessions of each thread. */
  private readonly counts: Int32Array;
  private readonly line: MonitorLine = new MonitorLine();
  private buffer: Uint8Array = new Uint8Array(SEND_BYTES);
  private length = 0;
  /** The line of the command that runs is too long. */
  private isTooLong = false;

  constructor(server: ThreadServer) {
    this.server = server;
    this.counts = new Int32Array(server.threads);
  }

  /** A command is about to run. */
  prepare(command: Command, args: Args): void {
    this.isTooLong = !this.line.words(args, command.spec.hidden?.(args) ?? NONE);
  }

  /** The command that was prepared has run. */
  ran(session: Session): void {
    const { line } = this;
    // RESET may have ended the last one.
    if (!this.isOn) return;
    if (this.isTooLong) {
      this.deliver(null, null);
      this.lose();
    } else {
      const address = session.isUnix ? `unix:${session.server.config.unixsocket}` : session.remote;
      line.prefix(this.server.store.clock.unixUsec(), session.db, address);
      this.append(line.bytes.subarray(line.start, line.end));
      line.shrink();
      if (this.length >= SEND_BYTES && !session.isMonitoring) this.deliver(null, null);
    }
    this.server.countFor(session.owner);
  }

  private append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.buffer.length) {
      const bigger = new Uint8Array(Math.max(needed, SEND_BYTES));
      bigger.set(this.buffer.subarray(0, this.length));
      this.buffer = bigger;
    }
    this.buffer.set(bytes, this.length);
    this.length = needed;
  }

  /**
   * Sends what was collected. A session whose turn it is sees it behind its reply, or not at all if
   * it is to see no replies.
   */
  deliver(runner: ClientSession | null, reply: Reply | null): void {
    const { server, buffer, length } = this;
    if (length === 0) return;
    this.length = 0;
    for (let thread = 0; thread < this.counts.length; thread++) {
      if (thread === server.thread || this.counts[thread] === 0) continue;
      server.stats.add(MESSAGES, 1);
      server.mailboxes.post(thread, MONITOR_LINES, buffer, length);
    }
    if (reply !== null) reply.raw(buffer.subarray(0, length));
    if (!this.show(runner, buffer, length)) this.buffer = new Uint8Array(SEND_BYTES);
    if (this.buffer.length > SEND_BYTES) this.buffer = new Uint8Array(SEND_BYTES);
    if (runner !== null) server.countFor(runner.owner);
  }

  /** Shows lines to the sessions here. True if the buffer may be used again. */
  private show(runner: ClientSession | null, bytes: Uint8Array, length: number): boolean {
    let isFree = true;
    for (const session of this.sessions) {
      if (session !== runner && !session.push(bytes, 0, length)) isFree = false;
    }
    return isFree;
  }

  /** Lines of another thread. */
  receive(bytes: Uint8Array): void {
    this.show(null, bytes, bytes.length);
  }

  /** Lines are missing: nobody here may go on as if they were not. */
  receiveLoss(): void {
    for (const session of [...this.sessions]) session.closeForLoss();
  }

  private lose(): void {
    for (let thread = 0; thread < this.counts.length; thread++) {
      if (thread === this.server.thread || this.counts[thread] === 0) continue;
      this.server.mailboxes.postLoss(thread);
    }
    this.receiveLoss();
  }

  join(session: ClientSession): void {
    // What ran before is not for it.
    this.deliver(null, null);
    this.sessions.add(session);
    this.server.publishMonitors(this.sessions.size);
    this.server.countFor(session.owner);
  }

  leave(session: ClientSession): void {
    if (!this.sessions.delete(session)) return;
    this.server.publishMonitors(this.sessions.size);
  }

  /** The threads that have sessions that monitor. */
  all(): { thread: number; sessions: number }[] {
    const found: { thread: number; sessions: number }[] = [];
    for (const [thread, sessions] of this.counts.entries()) {
      if (sessions > 0) found.push({ thread, sessions });
    }
    return found;
  }

  /** The control log: so many sessions of a thread monitor. */
  count(thread: number, sessions: number): void {
    this.counts[thread] = sessions;
    this.isOn = this.counts.some((count) => count > 0);
    if (!this.isOn) this.length = 0;
  }
}
