/**
 * The row of the client table that shows a session to all threads: what it is, what it last did,
 * and how much memory it holds. The session says when that has changed.
 */
import type { Link } from "../env/env.ts";
import type { Parser } from "../protocol/parser.ts";
import type { Backlog } from "./backlog.ts";
import {
  FLAG_BLOCKED,
  FLAG_CLOSING,
  FLAG_DEAF,
  FLAG_MONITOR,
  FLAG_NO_EVICT,
  FLAG_NO_TOUCH,
  FLAG_READONLY,
  FLAG_UNIX,
} from "./client-table.ts";
import type { ClientSession } from "./session.ts";

export class SessionRow {
  private readonly session: ClientSession;
  private readonly link: Link;
  private readonly parser: Parser;
  private readonly backlog: Backlog;
  /** The row says that the session holds no memory. */
  private isBare = false;

  constructor(session: ClientSession, link: Link, parser: Parser, backlog: Backlog) {
    this.session = session;
    this.link = link;
    this.parser = parser;
    this.backlog = backlog;
  }

  private get flags(): number {
    const { session } = this;
    return (
      (session.isUnix ? FLAG_UNIX : 0) |
      (session.noEvict ? FLAG_NO_EVICT : 0) |
      (session.noTouch ? FLAG_NO_TOUCH : 0) |
      (session.readonlyMode ? FLAG_READONLY : 0) |
      (session.isClosing ? FLAG_CLOSING : 0) |
      (session.isMonitoring ? FLAG_MONITOR : 0) |
      (session.isPostponed || session.isBlocked ? FLAG_BLOCKED : 0) |
      (session.isDeaf ? FLAG_DEAF : 0)
    );
  }

  publish(): void {
    const { flags } = this;
    const { server, row, db, kind, proto, name, libName, libVersion } = this.session;
    server.clients.setState({ row, db, flags, kind, proto, name, libName, libVersion });
  }

  publishFlags(): void {
    const { session } = this;
    if (!session.isClosed) session.server.clients.setFlags(session.row, this.flags);
  }

  /** Everything about a new session. */
  publishAll(): void {
    const { flags, session } = this;
    const { server, row, id, createdMs, db, kind, proto, name, libName, libVersion } = session;
    server.clients.fill({
      row,
      kind,
      descriptor: this.link.descriptor,
      thread: server.thread,
      id,
      createdMs,
      lastMs: createdMs,
      db,
      flags,
      proto,
      command: -1,
      queryBytes: 0,
      queryFreeBytes: 0,
      outputBytes: 0,
      argumentBytes: 0,
      owner: session.owner,
      remote: session.remote,
      local: session.local,
      name,
      libName,
      libVersion,
    });
  }

  /** What every turn changes. */
  publishUse(): void {
    const { session, parser, backlog, link } = this;
    if (session.isClosed) return;
    const { server, row, lastUseMs, lastCommand } = session;
    const outputBytes = link.pending();
    const isBare = parser.capacity === 0 && backlog.capacity === 0 && outputBytes === 0;
    if (isBare && this.isBare) {
      server.clients.setLast(row, lastUseMs, lastCommand);
      return;
    }
    this.isBare = isBare;
    const argumentBytes = parser.argumentBytes;
    const queryBytes = backlog.length + parser.unparsed;
    const rest = parser.capacity + backlog.capacity - queryBytes - argumentBytes;
    const free = Math.max(0, rest);
    const { clients, clientMemory } = server;
    clients.setUse(row, lastUseMs, lastCommand, queryBytes, free, outputBytes, argumentBytes);
    clientMemory.update(session, queryBytes + free + argumentBytes + outputBytes, parser.buffered);
  }
}
