/**
 * A port or a unix socket on which a handle serves RESP from its own thread, with the sessions that
 * the server has. Nobody is there to catch what goes wrong in a callback of the system's: all of
 * them go through `guarded`, which breaks the store and not the application.
 */
import { errorText } from "../env/config-host.ts";
import type { Link, LinkHandler } from "../env/env.ts";
import { type Listener as Listening, listenTcp, listenUnix } from "../env/listen.ts";
import { type AcceptedHandle, SocketLink } from "../env/socket-link.ts";
import { systemTimers, whenRung } from "../env/system.ts";
import { UNIX_PATH_BYTES_MAX } from "../limits.ts";
import { BELL_WORDS, takeBellBack } from "../server/bell.ts";
import { acceptsPeer, PROTECTED_MODE_ERROR } from "../server/protected-mode.ts";
import type { ClientSession } from "../server/session.ts";
import { StoreError } from "./errors.ts";
import type { Ending, StoreThread } from "./store-thread.ts";

/** How long closing waits for replies that are on their way. */
const DRAIN_MS = 1000;

/** Threads that wait for their bell already. */
const hearing = new WeakSet<StoreThread>();

/** What a session writes to: a socket whose callbacks go through `guarded`. */
class GuardedLink implements Link {
  readonly socket: SocketLink;
  readonly remote: string;
  readonly local: string;
  readonly descriptor: number;
  session: ClientSession | null = null;
  private readonly thread: StoreThread;
  private readonly gone: (link: GuardedLink) => void;
  /** What is to be called for each write of bytes that stay where they are and are not sent yet. */
  private readonly lent: Map<number, () => void> = new Map();
  private lentLast = 0;

  constructor(thread: StoreThread, socket: SocketLink, gone: (link: GuardedLink) => void) {
    this.thread = thread;
    this.socket = socket;
    this.remote = socket.remote;
    this.local = socket.local;
    this.descriptor = socket.descriptor;
    this.gone = gone;
  }

  /** Starts reading for a session. */
  start(session: ClientSession): void {
    const { thread } = this;
    this.session = session;
    const handler: LinkHandler = {
      onData: (chunk, length) => thread.guarded(() => session.onData(chunk, length)),
      onDrain: () => thread.guarded(() => session.onDrain()),
      onEnd: () => thread.guarded(() => session.onEnd()),
      onClose: () => {
        thread.guarded(() => session.onClose());
        this.gone(this);
      },
    };
    this.socket.handler = handler;
    this.socket.start();
  }

  write(source: Uint8Array, start: number, end: number): boolean {
    return this.socket.write(source, start, end);
  }

  writeShared(chunk: Uint8Array, done: () => void): void {
    const number = ++this.lentLast;
    this.lent.set(number, done);
    this.socket.writeShared(chunk, () => {
      if (this.lent.delete(number)) this.thread.guarded(done);
    });
  }

  /**
   * Closes at once, and gives back what writes of long replies hold: the system tells later that
   * they failed, when the handle may be closed already.
   */
  cut(): void {
    this.socket.destroy();
    const lent = [...this.lent.values()];
    this.lent.clear();
    this.thread.guarded(() => {
      for (const done of lent) done();
    });
  }

  pending(): number {
    return this.socket.pending();
  }

  unsent(): number {
    return this.socket.unsent();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }
}

export type Place = {
  /** A unix socket; empty for TCP. */
  readonly path: string;
  readonly permissions: number;
  readonly host: string;
  readonly port: number;
  readonly backlog: number;
};

export class Listener implements Ending {
  listening: Listening | null = null;
  private readonly thread: StoreThread;
  private readonly place: Place;
  private readonly links: Set<GuardedLink> = new Set();
  private allGone: () => void = () => {};
  private closing: Promise<void> | null = null;

  constructor(thread: StoreThread, place: Place) {
    this.thread = thread;
    this.place = place;
  }

  /** Throws a StoreError when the place cannot be had. */
  async open(): Promise<Listening> {
    const { thread, place } = this;
    const name = place.path === "" ? `${place.host}:${place.port}` : place.path;
    if (Buffer.byteLength(place.path) > UNIX_PATH_BYTES_MAX) {
      throw new StoreError(`LISTEN ${name}: longer than ${UNIX_PATH_BYTES_MAX} bytes`);
    }
    let listening: Listening;
    try {
      const accepted = (handle: AcceptedHandle): void => this.connected(handle);
      listening =
        place.path === ""
          ? await listenTcp({ ...place, ipv6Only: false, reusePort: false }, accepted)
          : await listenUnix(place, accepted);
    } catch (error) {
      const isTaken = place.path === "" && (error as { code?: string }).code === "EADDRINUSE";
      const hint = isTaken ? "; without port the system chooses one" : "";
      throw new StoreError(`LISTEN ${name}: ${errorText(error)}${hint}`, { cause: error });
    }
    this.listening = listening;
    if (!thread.isOpen) {
      this.halt();
      thread.attend();
    }
    thread.endings.add(this);
    if (listening.port !== 0) thread.listenPort = listening.port;
    hear(thread);
    return listening;
  }

  private connected(handle: AcceptedHandle): void {
    const { thread, place } = this;
    const { server } = thread;
    const { config } = server;
    const isUnix = place.path !== "";
    const socket = new SocketLink(handle, isUnix ? place.path : null, config.tcpKeepalive);
    if (!acceptsPeer(config, socket.remote, isUnix)) {
      socket.write(PROTECTED_MODE_ERROR, 0, PROTECTED_MODE_ERROR.length);
      socket.end();
      return;
    }
    const link = new GuardedLink(thread, socket, (gone) => this.gone(gone));
    let session: ClientSession | null = null;
    const isSound = thread.guarded(() => {
      session = server.connect(link, -1, isUnix);
    });
    if (!isSound) socket.destroy();
    if (session === null) return;
    this.links.add(link);
    link.start(session);
  }

  private gone(link: GuardedLink): void {
    this.links.delete(link);
    if (this.links.size === 0) this.allGone();
  }

  /** Takes no more connections, answers what was received and closes those there are. */
  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async drain(): Promise<void> {
    const { thread } = this;
    this.stopListening();
    const drained = new Promise<void>((resolve) => {
      this.allGone = resolve;
    });
    thread.guarded(() => {
      for (const { session } of this.links) session?.end();
    });
    if (this.links.size > 0) {
      const cancel = systemTimers.after(DRAIN_MS, () => this.halt());
      await drained;
      cancel();
    }
    thread.endings.delete(this);
  }

  private stopListening(): void {
    this.listening?.close();
    this.listening = null;
  }

  /** Closes all at once. Where the store is broken, sessions are left as they are. */
  halt(): void {
    this.stopListening();
    const links = [...this.links];
    this.thread.guarded(() => {
      for (const { session } of links) session?.destroy();
    });
    for (const link of links) link.cut();
    this.links.clear();
    this.allGone();
  }
}

/** Waits for the thread's doorbell as long as it listens: sessions may be parked behind a lock. */
function hear(thread: StoreThread): void {
  if (hearing.has(thread)) return;
  hearing.add(thread);
  const listen = (): void => {
    const { bells, row, endings } = thread;
    if (!thread.isOpen || endings.size === 0) {
      hearing.delete(thread);
      return;
    }
    takeBellBack(bells, row);
    thread.guarded(() => thread.server.rung());
    whenRung(bells, row * BELL_WORDS, listen);
  };
  listen();
}
