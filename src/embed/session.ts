/**
 * The session of one view of a handle: what handlers see where a connection would be. It always
 * speaks RESP3, has no address, and cannot be put off, since a call returns its reply.
 */
import { assert } from "../base/assert.ts";
import type { Block, Session } from "../command/session.ts";
import type { Reply } from "../protocol/reply.ts";
import { CLASS_NORMAL } from "../server/client-table.ts";
import type { ThreadServer } from "../server/thread-server.ts";
import { VERSION } from "../version.ts";
import { StoreError } from "./errors.ts";

export class StoreSession implements Session {
  readonly id: number;
  readonly server: ThreadServer;
  readonly row: number;
  readonly owner: number = -1;
  readonly createdMs: number;
  readonly remote: string;
  readonly local: string = "";
  readonly isUnix: boolean = false;
  readonly isLocal: boolean = true;
  db: number;
  proto = 3;
  name = "";
  libName = "zerohop";
  libVersion: string = VERSION;
  readonlyMode = false;
  noTouch = false;
  noEvict = false;
  readonly isMonitoring: boolean = false;
  /** CLIENT PAUSE is for connections: a call would keep its thread from ever ending it. */
  readonly isPausable: boolean = false;
  readonly mayBlock: boolean = false;
  readonly isBlocked: boolean = false;
  progress: unknown = null;

  constructor(server: ThreadServer, about: { id: number; row: number; db: number }) {
    this.server = server;
    this.id = about.id;
    this.row = about.row;
    this.db = about.db;
    this.remote = `handle:${server.thread}`;
    this.createdMs = server.store.clock.unixMs;
  }

  hold(): (write: (reply: Reply) => void) => void {
    throw new StoreError("ERR This changes where a server listens; use listen() and close()");
  }

  block(_block: Block): void {
    assert(false, "a call was blocked");
  }

  /** A handle is closed by its owner alone. */
  closeAfterReply(): void {}

  closeSilently(): void {}

  setReply(): void {}

  /** MONITOR is refused before it gets here. */
  monitor(): boolean {
    return false;
  }

  reset(): void {}

  publish(): void {
    const { row, db, proto, name, libName, libVersion } = this;
    const state = { row, db, flags: 0, kind: CLASS_NORMAL, proto, name, libName, libVersion };
    this.server.clients.setState(state);
  }

  /** Shows the handle among the clients. */
  publishAll(): void {
    const { row, id, createdMs, db, proto, remote, local, name, libName, libVersion } = this;
    const { thread } = this.server;
    const text = { remote, local, name, libName, libVersion };
    const idle = {
      command: -1,
      queryBytes: 0,
      queryFreeBytes: 0,
      outputBytes: 0,
      argumentBytes: 0,
    };
    const none = { owner: -1, flags: 0, kind: CLASS_NORMAL, descriptor: -1 };
    const times = { createdMs, lastMs: createdMs };
    const client = { row, thread, id, db, proto, ...none, ...times, ...idle, ...text };
    this.server.clients.fill(client);
  }
}
