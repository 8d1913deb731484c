/**
 * The main thread: binds everything, starts the threads, hands connections to them, and ends the
 * process. It runs no command and never waits for a lock.
 *
 * A listener that belongs to one thread (an owner's port, or the only thread's) is passed to it as
 * a descriptor of its own. The plain port of several threads is bound once per thread where the
 * system can share a port; elsewhere it stays here, and each connection is passed to the thread
 * that has the fewest.
 */
import type { Server } from "node:net";
import {
  BroadcastChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import type { Renames } from "../command/renames.ts";
import type { ListenError, ListenPlace, ServerFacts } from "../command/session.ts";
import { errorText } from "../env/config-host.ts";
import {
  HandleHub,
  type HandleSender,
  PASS_CONNECTION,
  PASS_LISTENER,
  PASS_UNIX_CONNECTION,
} from "../env/handle-pipe.ts";
import { writeLog } from "../env/log.ts";
import type { AcceptedHandle } from "../env/socket-link.ts";
import { collectGarbage, setProcessTitle, soon, systemTimers } from "../env/system.ts";
import { Stats } from "../keyspace/stats.ts";
import { THREAD_CODE_MB, THREAD_YOUNG_MB } from "../limits.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import type { BusMessage } from "./bus.ts";
import type { Change, Config } from "./config/config.ts";
import { processTitle } from "./process-title.ts";
import type { SharedState } from "./shared-state.ts";
import type { ThreadOrder, ThreadServe, ThreadStart, ToSupervisor } from "./thread-host.ts";
import {
  BindError,
  type Bound,
  bindAll,
  bindPlain,
  type Connected,
  closeAll,
  type Purpose,
} from "./thread-listeners.ts";
import type { TopologyNode } from "./topology.ts";
import { Watchdog } from "./watchdog.ts";

/** How long a shutdown waits for replies under way. */
const DRAIN_MS = 5000;
const WATCH_MS = 100;

type Thread = {
  worker: Worker;
  sender: HandleSender | null;
  /** Connections passed to it whose arrival its own count does not show yet. */
  passed: number;
};

/** What answers on the admin port. */
export type AdminPort = {
  /** A server that does not listen yet; one for each address. */
  makeServer(): Server;
  /** Chunks were made or dropped; those that were made wait in `nextChunk`. */
  chunksChanged(): void;
};

/** What the admin port is told of the process. */
export type AdminView = {
  notReady(): string | null;
  nodes(): readonly TopologyNode[] | null;
  nextChunk(): ChunkMessage | null;
};

export type Plan = {
  config: Config;
  shared: SharedState;
  chunks: { version: number; chunks: ChunkMessage[] };
  threadUrl: URL;
  renames: Renames;
  /** Node's own sharing of a port among threads. */
  reusePort: boolean;
  facts(tcpPort: number, ownerPorts: number[], acceptMode: string): ServerFacts;
  /** Owner nodes by their ports, null without owners. Fills the slots. */
  nodes(ownerPorts: number[]): TopologyNode[] | null;
  /** Everything is bound, and nobody is served yet. */
  bound(): void;
  /** Null without an admin port. */
  openAdmin: ((view: AdminView) => Promise<AdminPort>) | null;
};

const PORT_ERROR: ListenError = {
  directive: "port",
  reason: "Unable to listen on this port. Check server logs.",
};
const BIND_ERROR: ListenError = {
  directive: "bind",
  reason: "Failed to bind to specified addresses.",
};

export class Supervisor {
  private readonly plan: Plan;
  private readonly config: Config;
  private readonly threads: Thread[] = [];
  private readonly stats: Stats;
  private readonly channelName: string;
  private readonly channel: BroadcastChannel;
  private readonly watchdog: Watchdog;
  private bound: Bound[] = [];
  /** Where it listens for the plain port now; what threads have set is known here later. */
  private plain: { port: number; bind: readonly string[] } = { port: 0, bind: [] };
  private isEnding = false;
  private isCollecting = false;
  private ended = 0;
  private serving = 0;
  private allServe: () => void = () => {};
  /** Connections that came before the threads could take them. */
  private readonly early: { purpose: Purpose; handle: AcceptedHandle }[] = [];
  /** Until a listener is handed over, its connections are passed one by one. */
  private readonly connected: Connected = (purpose, handle) => this.pass(purpose, handle);
  private readonly hubs: HandleHub[] = [];
  /** Moves of the plain port, one after another. */
  private moves: Promise<void> = Promise.resolve();
  private closed = 0;
  private allClosed: () => void = () => {};
  private admin: AdminPort | null = null;
  private adminPort = 0;
  /** For the admin port: chunks that threads made or dropped. */
  private readonly chunkMessages: ChunkMessage[] = [];
  private nodes: TopologyNode[] | null = null;
  private isReady = false;

  constructor(plan: Plan) {
    this.plan = plan;
    this.config = plan.config;
    this.stats = new Stats(plan.shared.stats, plan.shared.threads + plan.shared.owners, 0);
    this.channelName = `zerohop ${process.pid} ${plan.facts(0, [], "").runId}`;
    this.channel = new BroadcastChannel(this.channelName);
    this.channel.onmessage = (event) => this.busMessage((event as { data: BusMessage }).data);
    this.watchdog = new Watchdog(new Int32Array(plan.shared.control), (text) =>
      this.log("warning", text),
    );
  }

  /** Binds and starts. Rejects with a BindError when something cannot be bound. */
  async start(): Promise<void> {
    const connected = this.startWorkers();
    try {
      await this.bindAll();
    } catch (error) {
      this.isEnding = true;
      for (const hub of this.hubs) hub.close();
      throw error;
    }
    this.plan.bound();
    const serving = this.orderServing();
    await connected;
    for (const { purpose, handle } of this.early.splice(0)) this.pass(purpose, handle);
    await serving;
    const addresses = this.addresses(this.ownerPorts());
    this.handOver();
    this.isReady = true;
    this.showTitle();
    this.log("notice", `Ready to accept connections ${addresses}`);
    systemTimers.every(WATCH_MS, () => this.watchdog.look());
  }

  private async bindAll(): Promise<void> {
    const { plan, config, connected } = this;
    if (plan.openAdmin !== null) this.admin = await plan.openAdmin(this.adminView());
    const bound = await bindAll({
      config,
      threads: plan.shared.threads,
      reusePort: plan.reusePort,
      connected,
      makeAdmin: this.admin?.makeServer ?? null,
    });
    this.bound = bound.clients;
    this.plain = { port: bound.clients.find(isPlain)?.listener.port ?? 0, bind: config.bind };
    this.adminPort = bound.adminPort;
  }

  private startWorkers(): Promise<unknown> {
    const { shared, chunks, threadUrl, config } = this.plan;
    const connections: Promise<void>[] = [];
    for (let thread = 0; thread < shared.threads; thread++) {
      const entry: Thread = { worker: null as unknown as Worker, sender: null, passed: 0 };
      this.threads.push(entry);
      let connected = (): void => {};
      connections.push(
        new Promise<void>((resolve) => {
          connected = resolve;
        }),
      );
      const hub = this.openHub(thread, (sender) => {
        entry.sender = sender;
        connected();
      });
      const start: ThreadStart = {
        shared,
        chunks,
        channel: this.channelName,
        thread,
        config: config.changes(),
        configFile: config.file,
        handlePath: hub.path,
        renames: this.plan.renames,
      };
      const resourceLimits = {
        codeRangeSizeMb: THREAD_CODE_MB,
        maxYoungGenerationSizeMb: THREAD_YOUNG_MB,
      };
      entry.worker = new Worker(threadUrl, { workerData: start, resourceLimits });
      this.watchWorker(entry.worker, thread);
    }
    return Promise.all(connections);
  }

  private openHub(thread: number, connected: (sender: HandleSender) => void): HandleHub {
    try {
      const hub = new HandleHub(connected);
      this.hubs.push(hub);
      return hub;
    } catch (error) {
      this.logFailure(`pipe to thread ${thread}: ${errorText(error)}`);
      process.exit(1);
    }
  }

  private watchWorker(worker: Worker, thread: number): void {
    worker.on("message", (message: ToSupervisor) => {
      if (message.kind === "serving" && ++this.serving === this.threads.length) this.allServe();
      if (message.kind === "failed" && !this.isEnding) this.threadFailed(thread, message.reason);
      if (message.kind === "shutdown") this.end("User requested shutdown...");
      if (message.kind === "closed" && ++this.closed === this.threads.length) this.allClosed();
      if (message.kind === "listen") this.move(worker, message.request, message.place);
    });
    worker.on("error", (error) => this.threadFailed(thread, errorText(error)));
    worker.on("exit", () => {
      if (!this.isEnding) this.threadFailed(thread, "it ended unexpectedly");
      else if (++this.ended === this.threads.length) this.exit();
    });
  }

  /** Resolves when all threads serve. */
  private orderServing(): Promise<void> {
    const { plan, bound } = this;
    const ownerPorts = this.ownerPorts();
    const plain = bound.find(isPlain)?.listener.port;
    const several = this.threads.length > 1;
    const acceptMode = several ? (plan.reusePort ? "reuseport" : "acceptor") : "single";
    const changes: Change[] = plain === undefined ? [] : shownPort("port", plain);
    if (ownerPorts.length > 0) changes.push(...shownPort("shard-owners-port", ownerPorts[0] ?? 0));
    if (this.adminPort > 0) changes.push(...shownPort("admin-port", this.adminPort));
    this.nodes = plan.nodes(ownerPorts);
    const message: ThreadServe = {
      kind: "serve",
      config: changes,
      facts: plan.facts(plain ?? 0, ownerPorts, acceptMode),
      nodes: this.nodes,
      boundAddress: oneAddress(this.config),
      unixPath: this.config.unixsocket,
    };
    this.config.apply(changes);
    const done = new Promise<void>((resolve) => {
      this.allServe = resolve;
    });
    for (const { worker } of this.threads) worker.postMessage(message);
    return done;
  }

  private ownerPorts(): number[] {
    const ports: number[] = [];
    for (const { owner, listener } of this.bound) if (owner >= 0) ports[owner] = listener.port;
    return ports;
  }

  private showTitle(): void {
    const { config } = this;
    if (!config.flag("set-proc-title")) return;
    setProcessTitle(processTitle(config, Number(config.get(["port"])[1])));
  }

  private addresses(ownerPorts: readonly number[]): string {
    const host = oneAddress(this.config) || "127.0.0.1";
    const shown = host.includes(":") ? `[${host}]` : host;
    const parts: string[] = [];
    if (this.plain.port !== 0) parts.push(`tcp=${shown}:${this.plain.port}`);
    if (ownerPorts.length > 0) parts.push(`owners=${shown}:${ownerPorts[0]}-${ownerPorts.at(-1)}`);
    if (this.config.unixsocket !== "") parts.push(`unix=${this.config.unixsocket}`);
    if (this.adminPort > 0) parts.push(`admin=127.0.0.1:${this.adminPort}`);
    return parts.join(" ");
  }

  /**
   * Gives listeners that have one thread of their own to it. A unix socket stays: the system takes
   * its path away with the handle that made it.
   */
  private handOver(): void {
    const { threads, plan } = this;
    const perAddress = new Map<string, number>();
    const stay: Bound[] = [];
    for (const bound of this.bound) {
      let thread = -1;
      if (bound.isUnix) thread = -1;
      else if (bound.owner >= 0) thread = bound.owner % threads.length;
      else if (threads.length === 1) thread = 0;
      else if (plan.reusePort) {
        const { address } = bound.listener;
        thread = perAddress.get(address) ?? 0;
        perAddress.set(address, thread + 1);
      }
      const sender = thread < 0 ? null : threads[thread]?.sender;
      if (!sender) {
        stay.push(bound);
        continue;
      }
      sender.send(PASS_LISTENER, bound.owner, bound.listener.handle, () => bound.listener.close());
    }
    this.bound = stay;
  }

  private order(worker: Worker, order: ThreadOrder): void {
    worker.postMessage(order);
  }

  /** Moves the plain port and tells the thread that asked. */
  private move(worker: Worker, request: number, place: ListenPlace): void {
    this.moves = this.moves
      .then(() => this.movePlain(place))
      .then((error) => this.order(worker, { kind: "listening", request, error }));
  }

  /**
   * A port that is new is bound before the old one is closed, so that one that cannot be had
   * changes nothing. Addresses may be those of now in part, so that these are given up first, and
   * taken back if the new ones cannot be had.
   */
  private async movePlain({ port, bind }: ListenPlace): Promise<ListenError | null> {
    const { plain } = this;
    if (bind === null || port !== plain.port) {
      const error = await this.listenPlain(port, bind ?? plain.bind);
      if (error === null) return null;
      return bind !== null && error.startsWith("bind") ? BIND_ERROR : PORT_ERROR;
    }
    await this.closePlain(this.bound.filter(isPlain));
    if ((await this.listenPlain(port, bind)) === null) return null;
    await this.listenPlain(port, plain.bind);
    return BIND_ERROR;
  }

  /** Listens on a port instead of the plain one of now; null, or what the log was told. */
  private async listenPlain(port: number, bind: readonly string[]): Promise<string | null> {
    const { config, threads, plan, connected } = this;
    const before = this.bound.filter(isPlain);
    let fresh: Bound[] = [];
    try {
      const { reusePort } = plan;
      const wanted = { config, bind, port, threads: threads.length, reusePort, connected };
      if (port !== 0 && bind.length > 0) fresh = await bindPlain(wanted);
    } catch (error) {
      if (!(error instanceof BindError)) throw error;
      this.log("warning", error.message);
      return error.message;
    }
    await this.closePlain(before);
    this.bound.push(...fresh);
    this.handOver();
    this.plain = { port, bind };
    return null;
  }

  /** Closes listeners of the plain port, those that threads have included. */
  private async closePlain(before: readonly Bound[]): Promise<void> {
    closeAll(before);
    await this.closePlainOfThreads();
    this.bound = this.bound.filter((bound) => !before.includes(bound));
  }

  private closePlainOfThreads(): Promise<void> {
    const done = new Promise<void>((resolve) => {
      this.allClosed = resolve;
    });
    this.closed = 0;
    for (const { worker } of this.threads) this.order(worker, { kind: "close-plain" });
    return done;
  }

  /** Passes a connection to its owner's thread, or to the one with the fewest. */
  private pass(purpose: Purpose, handle: AcceptedHandle): void {
    const { threads } = this;
    const { owner, isUnix } = purpose;
    let thread = owner % threads.length;
    if (owner < 0) {
      thread = 0;
      let fewest = Number.POSITIVE_INFINITY;
      for (let t = 0; t < threads.length; t++) {
        const load = this.loadOf(t);
        if (load < fewest) {
          fewest = load;
          thread = t;
        }
      }
    }
    const entry = threads[thread];
    if (entry?.sender == null) {
      this.early.push({ purpose, handle });
      return;
    }
    // Those of owners arrive in rows of their own, and nobody chooses where they go.
    if (owner < 0) entry.passed++;
    const kind = isUnix ? PASS_UNIX_CONNECTION : PASS_CONNECTION;
    entry.sender.send(kind, owner, handle, () => handle.close());
  }

  /** Connections of a thread, those on their way to it included. */
  private loadOf(thread: number): number {
    const passed = this.threads[thread]?.passed ?? 0;
    for (;;) {
      const arrived = this.stats.of(thread, "connections_arrived");
      const current = this.stats.of(thread, "connections_current");
      // One that arrived meanwhile would be in both or in neither.
      if (this.stats.of(thread, "connections_arrived") !== arrived) continue;
      return current + Math.max(0, passed - arrived);
    }
  }

  private adminView(): AdminView {
    return {
      notReady: () => (this.isEnding ? "ending" : this.isReady ? null : "starting"),
      nodes: () => this.nodes,
      nextChunk: () => this.nextChunk(),
    };
  }

  /** Looks into the channel too: a chunk may be there before its event. */
  private nextChunk(): ChunkMessage | null {
    const port = this.channel as unknown as MessagePort;
    for (;;) {
      const received = receiveMessageOnPort(port);
      if (received === undefined) return this.chunkMessages.shift() ?? null;
      this.take(received.message as BusMessage);
    }
  }

  private busMessage(message: BusMessage): void {
    this.take(message);
    if (message.to === "chunks") this.admin?.chunksChanged();
  }

  private take(message: BusMessage): void {
    if (message.to === "control") {
      if (message.entry.kind === "config") {
        this.config.apply(message.entry.changes);
        this.showTitle();
      }
      return;
    }
    if (this.plan.openAdmin !== null) this.chunkMessages.push(message.message);
    // The message itself holds on to a chunk that the threads let go of.
    if (message.message.buffer === null) this.collectSoon();
  }

  private collectSoon(): void {
    if (this.isCollecting) return;
    this.isCollecting = true;
    soon(() => {
      this.isCollecting = false;
      collectGarbage();
    });
  }

  /** Ends the process once what is under way has been answered. */
  end(reason: string): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.log("warning", reason);
    closeAll(this.bound);
    for (const { worker } of this.threads) this.order(worker, { kind: "end" });
    systemTimers.after(DRAIN_MS, () => this.exit());
  }

  private exit(): void {
    this.log("warning", "ZeroHop is now ready to exit, bye bye...");
    process.exit(0);
  }

  private threadFailed(thread: number, text: string): void {
    this.logFailure(`thread ${thread} failed: ${text}`);
    process.kill(process.pid, "SIGABRT");
  }

  /** On standard error, and in the log where that is a file. */
  private logFailure(text: string): void {
    if (this.config.logfile !== "") this.log("warning", text);
    process.stderr.write(`zerohop: ${text}\n`);
  }

  log(level: "debug" | "verbose" | "notice" | "warning", text: string): void {
    writeLog(this.config, level, text);
  }
}

function isPlain({ owner, isUnix }: Bound): boolean {
  return owner < 0 && !isUnix;
}

function shownPort(name: string, port: number): Change[] {
  return [{ name, text: String(port), shownOnly: true }];
}

/** The one concrete address that `bind` names, or empty. */
function oneAddress(config: Config): string {
  const concrete = config.bind.filter(
    (word) => !word.includes("*") && word !== "0.0.0.0" && word !== "::",
  );
  return config.bind.length === 1 || concrete.length === 1
    ? (concrete[0] ?? "").replace(/^-/, "")
    : "";
}
