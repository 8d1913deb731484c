/**
 * One connection: takes bytes from its link, runs the requests in them in order, and writes all
 * replies of a turn at once.
 *
 * A session runs nothing while it is parked (a lock was not had), postponed (CLIENT PAUSE), held (a
 * reply was put off), blocked (held until something happens) or has more output than it may hold.
 * It goes on reading, so that it sees its client vanish, and what it reads then waits in `backlog`:
 * up to client-query-buffer-limit if it is postponed or blocked, as in Redis; else it soon stops
 * reading, which slows the client down.
 */
import { Args } from "../base/args.ts";
import { latin1 } from "../base/bytes.ts";
import type { Block, Session } from "../command/session.ts";
import type { Link, LinkHandler } from "../env/env.ts";
import { statIndex } from "../keyspace/stats.ts";
import { BIG_ARGUMENT_BYTES, QUERY_BYTES_MAX } from "../limits.ts";
import { OOM } from "../protocol/errors.ts";
import { COMPLETE, FAILED, NO_ROOM, OVER_LIMIT, Parser } from "../protocol/parser.ts";
import type { Reply } from "../protocol/reply.ts";
import { ODD, scan } from "../protocol/scan.ts";
import { Backlog } from "./backlog.ts";
import type { MemoryClient } from "./client-memory.ts";
import { CLASS_NORMAL } from "./client-table.ts";
import { clientLine } from "./commands/client-line.ts";
import { quote } from "./config/quoting.ts";
import { AGAIN, DONE, PARKED } from "./dispatch.ts";
import { ReplyMode, type ReplySetting } from "./reply-mode.ts";
import { type OutputOwner, SessionOutput } from "./session-output.ts";
import { SessionRow } from "./session-row.ts";
import type { ThreadServer } from "./thread-server.ts";

/** Output of one turn is written in pieces of about this size. */
const WRITE_PIECE_BYTES = 1 << 20;

const NET_INPUT = statIndex("net_input_bytes");
const READS = statIndex("reads_processed");
const QUERY_LIMIT = statIndex("query_limit_disconnections");
const PROTOCOL_ERRORS = statIndex("protocol_errors");
const BLOCKED = statIndex("blocked_clients");
const EVICTED = statIndex("evicted_clients");
/** How long a silent client keeps room for a request, as in Redis. */
const KEEP_BUFFER_MS = 2000;
/** Bytes of a request that is too long which the log shows. */
const SHOWN_BYTES = 64;
/** Input that is kept while nothing can be run, before reading stops: many may wait at once. */
const INPUT_KEPT_BYTES = 128 << 10;

export class ClientSession implements Session, LinkHandler, MemoryClient, OutputOwner {
  readonly id: number;
  readonly server: ThreadServer;
  readonly row: number;
  readonly owner: number;
  readonly createdMs: number;
  readonly remote: string;
  readonly local: string;
  readonly isUnix: boolean;
  readonly isLocal: boolean;
  db = 0;
  proto = 2;
  name = "";
  libName = "";
  libVersion = "";
  readonlyMode = false;
  noTouch = false;
  noEvict = false;
  /** One of the CLASS constants. */
  kind: number = CLASS_NORMAL;
  isMonitoring = false;
  readonly isPausable: boolean = true;
  memoryBytes = 0;
  requestBytes = 0;
  lastUseMs: number;
  isClosed = false;
  isParked = false;
  /** Its request waits for CLIENT PAUSE to end. */
  isPostponed = false;
  /** A reply was put off; nothing is run before it. */
  private isHeld = false;
  readonly mayBlock: boolean = true;
  isBlocked = false;
  progress: unknown = null;
  /** The client sends nothing more. What it sent is run, then the session ends. */
  private hasEnded = false;
  /** As `hasEnded`, but it is the server that ends: replies to what was run are sent. */
  private isLeaving = false;
  /** The link is gone: what was received before is still run, and its replies are thrown away. */
  isLinkGone = false;
  private readonly link: Link;
  private readonly parser: Parser;
  private readonly args: Args = new Args();
  /** Read while nothing could be run. */
  private readonly backlog: Backlog = new Backlog();
  /** The parser holds a request that could not be run. */
  private hasRequest = false;
  /** Nothing more is run. */
  isClosing = false;
  /** It is not read from: it has sent much that could not be run yet. */
  isDeaf = false;
  private isRunning = false;
  private readonly replies: ReplyMode = new ReplyMode();
  /** Something is to be looked at behind each command: it is held, muted, or sees what is run. */
  private isUnusual = false;
  private readonly output: SessionOutput;
  /** Id of the last command, -1 for none or an unknown one. */
  lastCommand = -1;
  private readonly shown: SessionRow;

  constructor(
    server: ThreadServer,
    link: Link,
    about: { id: number; row: number; owner: number; isUnix: boolean },
  ) {
    this.server = server;
    this.link = link;
    this.id = about.id;
    this.row = about.row;
    this.owner = about.owner;
    this.isUnix = about.isUnix;
    this.remote = link.remote;
    this.local = link.local;
    this.isLocal = about.isUnix || isLoopback(link.remote);
    this.createdMs = server.store.clock.unixMs;
    this.lastUseMs = this.createdMs;
    this.parser = new Parser(server.store.heap, new Args());
    this.output = new SessionOutput(this, link);
    this.shown = new SessionRow(this, link, this.parser, this.backlog);
    this.shown.publishAll();
    this.shown.publishUse();
  }

  onData(chunk: Uint8Array, length: number): void {
    const { server } = this;
    server.countFor(this.owner);
    server.stats.add(NET_INPUT, length);
    server.stats.add(READS, 1);
    server.dispatcher.readClock();
    this.lastUseMs = server.store.clock.unixMs;
    if (this.isClosing || this.isLeaving) return;
    if (server.clients.isKilled(this.row, this.id)) {
      // Killed by another thread, whose bell may ring after this.
      this.closeKilled();
      return;
    }
    if (this.isStopped || this.isRunning || this.backlog.length > 0) {
      this.keep(chunk, 0, length);
      return;
    }
    this.turn(chunk, 0, length);
  }

  /** Runs what can be run of bytes `start..end` and writes the replies. */
  private turn(chunk: Uint8Array, start: number, end: number): void {
    const { server } = this;
    const { reply } = server;
    if (server.isAttentive) server.beforeTurn(this);
    if (this.isClosed) return;
    this.isRunning = true;
    this.output.limitReply();
    reply.proto = this.proto;
    server.store.touches = !this.noTouch;
    server.dispatcher.lastCommand = this.lastCommand;
    const at = this.runRequests(chunk, start, end, reply);
    this.lastCommand = server.dispatcher.lastCommand;
    server.dispatcher.count();
    if (at < end && !this.isClosing) this.keep(chunk, at, end);
    // Before the reply: who has it may ask another thread what this client did.
    this.shown.publishUse();
    this.output.flush();
    this.isRunning = false;
    this.turnDone();
    if (server.isAttentive) server.afterTurn();
  }

  /** Ends the session if this was its last turn. */
  private turnDone(): void {
    if (this.isClosed) return;
    if (this.isLinkGone) {
      if (this.isClosing || this.isBlocked || !this.hasWork) this.finish();
      return;
    }
    if (this.hasEnded) {
      if (this.isBlocked) this.giveUp();
      else if (!this.hasWork) this.isClosing = true;
    }
    if (this.isClosing) this.link.end();
    else if (this.link.pending() > 0) this.shown.publishUse();
  }

  /** Something that was received has not been run. */
  private get hasWork(): boolean {
    return this.isHeld || this.isParked || this.hasRequest || this.backlog.length > 0;
  }

  /** Returns the index of the first byte that was not taken. */
  private runRequests(chunk: Uint8Array, start: number, end: number, reply: Reply): number {
    const { args, parser } = this;
    const { dispatcher } = this.server;
    const view = this.server.viewOfChunk(chunk);
    let at = start;
    if (this.hasRequest) {
      if (!this.runParsed(reply)) return at;
    }
    while (at < end && !this.isClosing) {
      if (parser.idle) {
        const after = scan(chunk, at, end, args);
        if (after !== ODD) {
          args.buffer = chunk;
          args.view = view;
          const mark = reply.length;
          const outcome = dispatcher.execute(this, args, reply);
          if (outcome !== DONE) {
            if (outcome === AGAIN) continue;
            this.stopHere(outcome);
            return at;
          }
          at = after;
          if (this.isUnusual && !this.requestDone(reply, mark)) return at;
          if (isLong(reply) && this.output.flush()) return at;
          continue;
        }
      }
      const result = parser.feed(chunk, at, end, this.server.parserLimits);
      at = parser.consumed;
      if (result === FAILED) {
        this.protocolError(reply);
        return end;
      }
      if (result === NO_ROOM) {
        this.stopHere(PARKED);
        return at;
      }
      if (result === COMPLETE && !this.runParsed(reply)) return at;
      if (result === OVER_LIMIT || parser.buffered > QUERY_BYTES_MAX) {
        this.overQueryLimit(chunk, start, end);
        return end;
      }
    }
    return at;
  }

  /** Runs the request that the parser holds. False if the session cannot go on now. */
  private runParsed(reply: Reply): boolean {
    const { parser } = this;
    const { args } = parser;
    const mark = reply.length;
    this.hasRequest = false;
    if (args.count > 0) {
      if (parser.outOfMemory) {
        reply.error(OOM);
      } else {
        const outcome = this.server.dispatcher.execute(this, args, reply, isLongRequest(args));
        if (outcome === AGAIN) return this.runParsed(reply);
        if (outcome !== DONE) {
          this.hasRequest = !this.isClosed;
          this.stopHere(outcome);
          return false;
        }
      }
    }
    parser.finish();
    if (this.isUnusual && !this.requestDone(reply, mark)) return false;
    return !(isLong(reply) && this.output.flush());
  }

  /**
   * What is to be done behind a request that most clients never need. False if nothing may be run
   * now. `mark` is where its reply begins.
   */
  private requestDone(reply: Reply, mark: number): boolean {
    if (this.isHeld) return false;
    const { replies, server } = this;
    if (replies.isMuted) reply.truncate(mark);
    if (this.isMonitoring) {
      server.monitors.deliver(this, replies.isMuted || this.isClosing ? null : reply);
    }
    replies.requestDone();
    this.output.limitReply();
    this.findUnusual();
    return true;
  }

  get isMuted(): boolean {
    return this.replies.isMuted;
  }

  private findUnusual(): void {
    this.isUnusual = this.isHeld || this.isMonitoring || this.replies.isUnusual;
  }

  private get isStopped(): boolean {
    return this.isParked || this.output.isPaused || this.isHeld || this.isPostponed;
  }

  hold(): (write: (reply: Reply) => void) => void {
    this.isHeld = true;
    this.isUnusual = true;
    return (write) => this.answerHeld(write);
  }

  private answerHeld(write: (reply: Reply) => void): void {
    const { reply } = this.server;
    this.isHeld = false;
    this.server.countFor(this.owner);
    this.output.limitReply();
    reply.proto = this.proto;
    write(reply);
    this.requestDone(reply, 0);
    this.output.flush();
    this.turnDone();
    this.resume();
  }

  block(block: Block): void {
    this.isHeld = true;
    this.isUnusual = true;
    this.isBlocked = true;
    this.showHeldUp();
    this.server.blocked.add(this, block);
  }

  /** Before it is counted as blocked: who sees the count sees in which command, too. */
  private showHeldUp(): void {
    this.lastCommand = this.server.dispatcher.lastCommand;
    this.shown.publishUse();
    this.shown.publishFlags();
  }

  /** Ends a block; `write` writes the answer. Not within a turn, whose replies are written then. */
  unblock(write: (reply: Reply) => void): void {
    if (!this.isBlocked || this.isClosing) return;
    this.server.countFor(this.owner);
    this.leaveBlock();
    this.answerHeld((reply) => {
      const before = reply.errors;
      write(reply);
      this.server.dispatcher.unblocked(this, reply.errors - before);
    });
  }

  private leaveBlock(): void {
    if (!this.isBlocked) return;
    this.isBlocked = false;
    this.shown.publishFlags();
    this.server.blocked.remove(this);
  }

  /** Its client is not waited for, should it leave. */
  private get isHeldUp(): boolean {
    return this.isPostponed || this.isBlocked;
  }

  /** The request under way cannot be run now. */
  private stopHere(outcome: number): void {
    if (outcome === PARKED) {
      this.isParked = true;
      this.server.parked(this);
    } else if (this.hasEnded || this.isLinkGone) {
      // Redis: what a client wants that does not wait for the end of a pause is not done.
      this.giveUp();
    } else {
      this.isPostponed = true;
      this.showHeldUp();
      this.server.stats.add(BLOCKED, 1);
      this.server.postponed(this);
    }
  }

  /** What is not run by now never will be. */
  private giveUp(): void {
    if (this.isLeaving && !this.isLinkGone) this.isClosing = true;
    else this.destroy();
  }

  /** The pause is over, or another one. */
  endPostponed(): void {
    if (this.isClosed || !this.isPostponed) return;
    this.server.countFor(this.owner);
    this.leavePostponed();
    this.resume();
  }

  private leavePostponed(): void {
    if (!this.isPostponed) return;
    this.isPostponed = false;
    this.shown.publishFlags();
    this.server.stats.add(BLOCKED, -1);
  }

  private protocolError(reply: Reply): void {
    const mark = reply.length;
    this.server.stats.add(PROTOCOL_ERRORS, 1);
    reply.error(`ERR Protocol error: ${this.parser.error}`);
    this.tell((client) => `Protocol error (${this.parser.error}) from client: ${client}`);
    if (this.isMuted) reply.truncate(mark);
    this.isClosing = true;
  }

  /**
   * Keeps bytes for later, and stops reading before they are too many: a client that sends faster
   * than it reads is slowed down, as if its commands took long.
   */
  private keep(chunk: Uint8Array, start: number, end: number): void {
    const { backlog } = this;
    backlog.keep(chunk, start, end);
    if (this.isHeldUp) {
      const most = this.server.parserLimits.queryMax;
      if (backlog.length > most) this.overQueryLimit(backlog.bytes, 0, backlog.length);
      return;
    }
    if (backlog.length <= INPUT_KEPT_BYTES || this.isLinkGone) return;
    this.isDeaf = true;
    this.link.pause();
    this.shown.publishFlags();
  }

  private hearAgain(): void {
    if (!this.isDeaf) return;
    this.isDeaf = false;
    this.link.resume();
    this.shown.publishFlags();
  }

  private overQueryLimit(source: Uint8Array, start: number, end: number): void {
    const { server } = this;
    server.stats.add(QUERY_LIMIT, 1);
    const shown = quote(latin1(source, start, Math.min(end, start + SHOWN_BYTES)));
    server.log(
      "warning",
      `Closing client that reached max query buffer length: ${this.describe()} ` +
        `(qbuf initial bytes: ${shown})`,
    );
    this.destroy();
  }

  /** Goes on with what waits, once nothing holds the session up. */
  resume(): void {
    if (this.isClosed) return;
    this.isParked = false;
    if (this.isStopped || this.isRunning) return;
    const { length } = this.backlog;
    if (length === 0 && !this.hasRequest) {
      this.turnDone();
      return;
    }
    this.server.countFor(this.owner);
    this.server.dispatcher.readClock();
    this.turn(this.backlog.take(), 0, length);
    const isWaiting = this.backlog.length > 0 && !this.isHeldUp;
    if (!isWaiting && !this.isClosing && !this.isLinkGone) this.hearAgain();
  }

  /** Bytes taken for what was received and is not run. */
  get inputBytes(): number {
    return this.parser.capacity + this.backlog.capacity;
  }

  get outputBytes(): number {
    return this.link.pending();
  }

  /** The line of CLIENT LIST, for the log, with bytes of replies that are on no link yet. */
  describe(unwritten = 0): string {
    const own = this.server.clients.read(this.row);
    if (own === null) return `id=${this.id}`;
    // The row says what was so before the turn under way.
    own.command = this.isRunning ? this.server.dispatcher.lastCommand : this.lastCommand;
    own.outputBytes = this.link.pending() + unwritten;
    own.queryBytes = this.backlog.length + this.parser.unparsed;
    return clientLine(this.server, own);
  }

  /** Logs what befell this client, if lines about single clients are asked for. */
  private tell(line: (client: string) => string): void {
    if (this.server.isTalkative) this.server.log("verbose", line(this.describe()));
  }

  /** Sends lines that answer no request. True if the bytes may be used again at once. */
  push(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.isClosing || this.isLinkGone || this.isMuted) return true;
    this.server.countFor(this.owner);
    const isFree = this.output.push(bytes, start, end);
    this.lastUseMs = this.server.store.clock.unixMs;
    this.shown.publishUse();
    return isFree;
  }

  /** Somebody has asked for it, or clients take too much memory. */
  closeKilled(): void {
    if (this.isClosed) return;
    if (this.server.clients.isEvicted(this.row)) {
      this.server.countFor(this.owner);
      this.server.stats.add(EVICTED, 1);
      this.server.log("notice", `Evicting client: ${this.describe()}`);
    }
    this.destroy();
  }

  /** It was not told of all that it should see. */
  closeForLoss(): void {
    if (this.isClosed) return;
    this.server.countFor(this.owner);
    this.output.closeOverLimit();
  }

  /** Idle time and output limits, which must hold for a client that does nothing as well. */
  everySecond(unixMs: number, timeoutSeconds: number): void {
    if (this.output.everySecond()) this.lastUseMs = unixMs;
    if (this.hasWork) return;
    const idleMs = unixMs - this.lastUseMs;
    if (timeoutSeconds > 0 && idleMs > timeoutSeconds * 1000 && !this.isMonitoring) {
      this.tell((client) => `Closing idle client ${client}`);
      this.destroy();
    } else if (idleMs > KEEP_BUFFER_MS && this.parser.capacity > 0) {
      this.parser.trim();
      this.shown.publishUse();
    }
  }

  onDrain(): void {
    if (this.isClosed) return;
    this.lastUseMs = this.server.store.clock.unixMs;
    this.shown.publishUse();
    if (!this.output.isPaused) return;
    this.output.isPaused = false;
    this.resume();
  }

  onEnd(): void {
    if (this.isClosed || this.hasEnded) return;
    this.hasEnded = true;
    if (!this.isClosing) this.tell((client) => `Client closed connection ${client}`);
    if (this.isHeldUp) this.destroy();
    else if (!this.isRunning) this.turnDone();
  }

  onClose(): void {
    if (this.isClosed || this.isLinkGone) return;
    this.isLinkGone = true;
    this.output.isPaused = false;
    const isLost = !this.isClosing && !this.hasEnded;
    if (isLost) this.tell((client) => `Client lost its connection ${client}`);
    if (this.isClosing || this.isHeldUp || !this.hasWork) this.finish();
    else if (!this.isStopped) this.resume();
  }

  /** Gives everything back; the session is over. */
  private finish(): void {
    this.isClosed = true;
    this.hasRequest = false;
    this.parser.release();
    this.backlog.take();
    this.server.countFor(this.owner);
    this.leavePostponed();
    this.leaveBlock();
    if (this.isMonitoring) this.server.monitors.leave(this);
    this.server.sessionClosed(this);
  }

  closeAfterReply(): void {
    this.isClosing = true;
    this.publish();
  }

  closeSilently(): void {
    this.server.warnOfHttp(this.remote);
    this.server.reply.truncate(0);
    this.isClosing = true;
    this.destroy();
  }

  /** Closes at once. */
  destroy(): void {
    if (this.isClosed) return;
    this.isClosing = true;
    this.isLinkGone = true;
    this.link.destroy();
    this.finish();
  }

  /** Runs what was received unless it waits for an event, sends its replies, and closes. */
  end(): void {
    if (this.isClosed) return;
    this.isLeaving = true;
    this.hasEnded = true;
    if (this.isHeldUp) this.isClosing = true;
    if (!this.isRunning) this.turnDone();
  }

  reset(): void {
    this.db = 0;
    this.proto = 2;
    this.server.reply.proto = 2;
    this.name = "";
    this.readonlyMode = false;
    this.noTouch = false;
    this.server.store.touches = true;
    this.noEvict = false;
    if (this.isMonitoring) {
      this.isMonitoring = false;
      this.server.monitors.leave(this);
    }
    this.replies.reset();
    this.findUnusual();
    this.publish();
  }

  setReply(setting: ReplySetting): void {
    this.replies.set(setting);
    this.findUnusual();
  }

  monitor(): boolean {
    if (this.isMonitoring) return false;
    this.isMonitoring = true;
    this.findUnusual();
    this.server.monitors.join(this);
    this.shown.publishFlags();
    return true;
  }

  publish(): void {
    this.shown.publish();
  }
}

function isLoopback(remote: string): boolean {
  return remote.startsWith("127.") || remote.startsWith("[::1]");
}

function isLong(reply: Reply): boolean {
  return reply.length + reply.sharedBytes > WRITE_PIECE_BYTES;
}

/** Of a request that the parser holds. */
function isLongRequest(args: Args): boolean {
  if (args.bigs !== null) return true;
  return (args.end[args.count - 1] as number) - (args.start[0] as number) > BIG_ARGUMENT_BYTES;
}
