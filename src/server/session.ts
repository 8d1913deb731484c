/**
 * One connection: takes bytes from its link, runs the requests in them in order, and writes all
 * replies of a turn at once.
 *
 * While a session is parked (a lock was not had) or its output is over what it may hold, it runs
 * nothing but goes on reading, up to client-query-buffer-limit, so that it sees its client vanish.
 * What it reads then waits in `backlog`.
 */
import { Args } from "../base/args.ts";
import type { Session } from "../command/session.ts";
import type { Link, LinkHandler } from "../env/env.ts";
import { statIndex } from "../keyspace/stats.ts";
import { BIG_ARGUMENT_BYTES, REPLY_BYTES_MAX } from "../limits.ts";
import { OOM } from "../protocol/errors.ts";
import { COMPLETE, FAILED, Parser } from "../protocol/parser.ts";
import type { Reply } from "../protocol/reply.ts";
import { ODD, scan } from "../protocol/scan.ts";
import {
  FLAG_CLOSING,
  FLAG_NO_EVICT,
  FLAG_NO_TOUCH,
  FLAG_READONLY,
  FLAG_UNIX,
} from "./client-table.ts";
import { DONE } from "./dispatch.ts";
import type { ThreadServer } from "./thread-server.ts";

/** Output of one turn is written in pieces of about this size. */
const WRITE_PIECE_BYTES = 1 << 20;
/** A session with more unsent output than this runs nothing until it has drained. */
const OUTPUT_PAUSE_BYTES = 4 << 20;

const NET_INPUT = statIndex("net_input_bytes");
const NET_OUTPUT = statIndex("net_output_bytes");
const READS = statIndex("reads_processed");
const WRITES = statIndex("writes_processed");
const QUERY_LIMIT = statIndex("query_limit_disconnections");
const OUTPUT_LIMIT = statIndex("output_limit_disconnections");
const PROTOCOL_ERRORS = statIndex("protocol_errors");
const NO_BYTES = new Uint8Array(0);

export class ClientSession implements Session, LinkHandler {
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
  lastUseMs: number;
  isClosed = false;
  isParked = false;
  /** A reply was put off; nothing is run before it. */
  private isHeld = false;
  /** How far a command that goes from shard to shard had come when a lock stopped it. */
  progress: unknown = null;
  /** The client sends nothing more. What it sent is run, then the session ends. */
  private hasEnded = false;
  /** The link is gone: what was received before is still run, and its replies are thrown away. */
  private isLinkGone = false;
  private lastUnsent = 0;
  private readonly link: Link;
  private readonly parser: Parser;
  private readonly args: Args = new Args();
  /** Read while nothing could be run. */
  private backlog: Uint8Array = NO_BYTES;
  private backlogLength = 0;
  /** The parser holds a request that was parked. */
  private hasRequest = false;
  private isClosing = false;
  private isPaused = false;
  private isRunning = false;
  private softSinceMs = 0;
  /** Id of the last command, -1 for none or an unknown one. */
  private lastCommand = -1;

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
    this.publishAll();
  }

  onData(chunk: Uint8Array, length: number): void {
    const { server } = this;
    server.countFor(this.owner);
    server.stats.add(NET_INPUT, length);
    server.stats.add(READS, 1);
    server.dispatcher.readClock();
    this.lastUseMs = server.store.clock.unixMs;
    if (this.isClosing) return;
    if (server.clients.isKilled(this.row, this.id)) {
      // Killed by another thread, whose bell may ring after this.
      this.destroy();
      return;
    }
    if (this.isStopped || this.isRunning || this.backlogLength > 0) {
      this.keep(chunk, 0, length);
      return;
    }
    this.turn(chunk, 0, length);
  }

  /** Runs what can be run of bytes `start..end` and writes the replies. */
  private turn(chunk: Uint8Array, start: number, end: number): void {
    const { server } = this;
    const { reply } = server;
    this.isRunning = true;
    this.limitReply();
    reply.proto = this.proto;
    server.store.touches = !this.noTouch;
    server.dispatcher.lastCommand = this.lastCommand;
    const at = this.runRequests(chunk, start, end, reply);
    this.lastCommand = server.dispatcher.lastCommand;
    server.dispatcher.count();
    if (at < end && !this.isClosing) this.keep(chunk, at, end);
    // Before the reply: who has it may ask another thread what this client did.
    this.publishUse();
    this.flush();
    this.isRunning = false;
    this.turnDone();
  }

  /** Ends the session if this was its last turn. */
  private turnDone(): void {
    if (this.isClosed) return;
    if (this.isLinkGone) {
      if (this.isClosing || !this.hasWork) this.finish();
      return;
    }
    if (this.hasEnded && !this.hasWork) this.isClosing = true;
    if (this.isClosing) this.link.end();
    else if (this.link.pending() > 0) this.publishUse();
  }

  /** Something that was received has not been run. */
  private get hasWork(): boolean {
    return this.isHeld || this.isParked || this.hasRequest || this.backlogLength > 0;
  }

  /** What is not sent yet counts against the limit of the client's class. */
  private limitReply(): void {
    const { hardBytes } = this.server.config.normalLimit;
    const rest = hardBytes === 0 ? REPLY_BYTES_MAX : Math.max(0, hardBytes - this.link.pending());
    this.server.reply.limit = Math.min(rest, REPLY_BYTES_MAX);
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
          if (dispatcher.execute(this, args, reply) !== DONE) {
            this.parkHere();
            return at;
          }
          at = after;
          if (this.isHeld) return at;
          if (isLong(reply) && this.flush()) return at;
          continue;
        }
      }
      const result = parser.feed(chunk, at, end, this.server.parserLimits);
      at = parser.consumed;
      if (result === FAILED) {
        this.protocolError(reply);
        return end;
      }
      if (result === COMPLETE && !this.runParsed(reply)) return at;
      if (parser.held > this.server.config.queryBufferMax) {
        this.overQueryLimit();
        return end;
      }
    }
    return at;
  }

  /** Runs the request that the parser holds. False if the session cannot go on now. */
  private runParsed(reply: Reply): boolean {
    const { parser } = this;
    const { args } = parser;
    this.hasRequest = false;
    if (args.count > 0) {
      if (parser.outOfMemory) {
        reply.error(OOM);
      } else if (this.server.dispatcher.execute(this, args, reply, isLongRequest(args)) !== DONE) {
        this.hasRequest = true;
        this.parkHere();
        return false;
      }
    }
    parser.finish();
    if (this.isHeld) return false;
    return !(isLong(reply) && this.flush());
  }

  private get isStopped(): boolean {
    return this.isParked || this.isPaused || this.isHeld;
  }

  hold(): (write: (reply: Reply) => void) => void {
    this.isHeld = true;
    return (write) => {
      const { reply } = this.server;
      this.isHeld = false;
      this.server.countFor(this.owner);
      this.limitReply();
      reply.proto = this.proto;
      write(reply);
      this.flush();
      this.turnDone();
      this.resume();
    };
  }

  private parkHere(): void {
    this.isParked = true;
    this.server.parked(this);
  }

  private protocolError(reply: Reply): void {
    this.server.stats.add(PROTOCOL_ERRORS, 1);
    reply.error(`ERR Protocol error: ${this.parser.error}`);
    this.isClosing = true;
  }

  /**
   * Keeps bytes for later, and stops reading before they are too many: a client that sends faster
   * than it reads is slowed down, as if its commands took long.
   */
  private keep(chunk: Uint8Array, start: number, end: number): void {
    const needed = this.backlogLength + end - start;
    if (needed > this.backlog.length) {
      const bigger = new Uint8Array(Math.max(needed, this.backlog.length * 2, BIG_ARGUMENT_BYTES));
      bigger.set(this.backlog.subarray(0, this.backlogLength));
      this.backlog = bigger;
    }
    // The chunk may be the backlog itself, of which a part was run.
    this.backlog.set(chunk.subarray(start, end), this.backlogLength);
    this.backlogLength = needed;
    const most = Math.min(OUTPUT_PAUSE_BYTES, this.server.config.queryBufferMax / 2);
    if (needed > most && !this.isLinkGone) this.link.pause();
  }

  private overQueryLimit(): void {
    this.server.stats.add(QUERY_LIMIT, 1);
    this.server.log("warning", `Closing client that reached max query buffer length: ${this.id}`);
    this.destroy();
  }

  /** Goes on with what waits, once nothing holds the session up. */
  resume(): void {
    if (this.isClosed) return;
    this.isParked = false;
    if (this.isStopped || this.isRunning) return;
    const { backlog, backlogLength } = this;
    if (backlogLength === 0 && !this.hasRequest) {
      this.turnDone();
      return;
    }
    this.backlog = NO_BYTES;
    this.backlogLength = 0;
    this.server.countFor(this.owner);
    this.server.dispatcher.readClock();
    this.turn(backlog, 0, backlogLength);
    if (this.backlogLength === 0 && !this.isClosing && !this.isLinkGone) this.link.resume();
  }

  /** Writes what the turn has produced. True if the session must stop until it has drained. */
  private flush(): boolean {
    const { link, server } = this;
    const { reply } = server;
    if (this.isClosed || this.isLinkGone) {
      reply.discard();
      return this.isClosed;
    }
    if (reply.isOverflown) {
      reply.discard();
      this.overOutputLimit();
      return true;
    }
    if (reply.length === 0) return this.isPaused;
    server.stats.add(NET_OUTPUT, reply.length + reply.sharedBytes);
    server.stats.add(WRITES, 1);
    if (reply.shared.length > 0) {
      this.flushPieces(reply);
    } else if (link.write(reply.buffer, 0, reply.length)) {
      reply.length = 0;
    } else {
      reply.renew();
    }
    const pending = link.pending();
    if (pending > 0) this.checkOutput(pending);
    if (!this.isClosed) this.limitReply();
    return this.isPaused || this.isClosed;
  }

  private flushPieces(reply: Reply): void {
    const { link } = this;
    const { buffer, length } = reply;
    let from = 0;
    for (const piece of reply.shared) {
      link.write(buffer, from, piece.before);
      link.writeShared(piece.source.subarray(piece.start, piece.end), piece.done);
      from = piece.before;
    }
    link.write(buffer, from, length);
    reply.renew();
    reply.shared.length = 0;
    reply.sharedBytes = 0;
  }

  private checkOutput(pending: number): void {
    const { config } = this.server;
    const { hardBytes, softBytes, softSeconds } = config.normalLimit;
    const now = this.server.store.clock.unixMs;
    if (softBytes === 0 || pending <= softBytes) this.softSinceMs = 0;
    else if (this.softSinceMs === 0) this.softSinceMs = now;
    const soft = this.softSinceMs !== 0 && now - this.softSinceMs >= softSeconds * 1000;
    if ((hardBytes !== 0 && pending > hardBytes) || soft) {
      this.overOutputLimit();
      return;
    }
    if (pending > OUTPUT_PAUSE_BYTES) this.isPaused = true;
  }

  private overOutputLimit(): void {
    this.server.stats.add(OUTPUT_LIMIT, 1);
    this.server.log(
      "warning",
      `Client ${this.id} scheduled to be closed ASAP for overcoming of output buffer limits.`,
    );
    this.destroy();
  }

  /** Idle time and output limits, which must hold for a client that does nothing as well. */
  everySecond(unixMs: number, timeoutSeconds: number): void {
    const pending = this.link.pending();
    if (pending > 0) {
      const unsent = this.link.unsent();
      if (unsent < this.lastUnsent) this.lastUseMs = unixMs;
      this.lastUnsent = unsent;
      this.checkOutput(pending);
    }
    const idle = unixMs - this.lastUseMs > timeoutSeconds * 1000;
    if (timeoutSeconds > 0 && idle && !this.hasWork) this.destroy();
  }

  onDrain(): void {
    if (this.isClosed) return;
    this.lastUseMs = this.server.store.clock.unixMs;
    this.publishUse();
    if (!this.isPaused) return;
    this.isPaused = false;
    this.resume();
  }

  onEnd(): void {
    if (this.isClosed || this.hasEnded) return;
    this.hasEnded = true;
    if (!this.isRunning) this.turnDone();
  }

  onClose(): void {
    if (this.isClosed || this.isLinkGone) return;
    this.isLinkGone = true;
    this.isPaused = false;
    if (this.isClosing || !this.hasWork) this.finish();
    else if (!this.isStopped) this.resume();
  }

  /** Gives everything back; the session is over. */
  private finish(): void {
    this.isClosed = true;
    this.parser.release();
    this.backlog = NO_BYTES;
    this.backlogLength = 0;
    this.server.sessionClosed(this);
  }

  closeAfterReply(): void {
    this.isClosing = true;
    this.publish();
  }

  closeSilently(): void {
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

  /** Sends what is pending and closes: the server ends. */
  end(): void {
    if (this.isClosed) return;
    this.isClosing = true;
    this.link.end();
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
    this.publish();
  }

  private get flags(): number {
    return (
      (this.isUnix ? FLAG_UNIX : 0) |
      (this.noEvict ? FLAG_NO_EVICT : 0) |
      (this.noTouch ? FLAG_NO_TOUCH : 0) |
      (this.readonlyMode ? FLAG_READONLY : 0) |
      (this.isClosing ? FLAG_CLOSING : 0)
    );
  }

  publish(): void {
    const { row, db, flags, proto, name, libName, libVersion } = this;
    this.server.clients.setState({ row, db, flags, proto, name, libName, libVersion });
  }

  private publishAll(): void {
    const { row, id, createdMs, db, flags, proto, name, libName, libVersion, owner } = this;
    this.server.clients.fill({
      row,
      thread: this.server.thread,
      id,
      createdMs,
      lastMs: createdMs,
      db,
      flags,
      proto,
      command: -1,
      queryBytes: 0,
      outputBytes: 0,
      argumentBytes: 0,
      owner,
      remote: this.remote,
      local: this.local,
      name,
      libName,
      libVersion,
    });
  }

  private publishUse(): void {
    if (this.isClosed) return;
    this.server.clients.setUse(
      this.row,
      this.lastUseMs,
      this.lastCommand,
      this.backlogLength + this.parser.held,
      this.link.pending(),
      0,
    );
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
