/**
 * A real thread of the server: a worker with an event loop, its end of the bus, its doorbell, and
 * the connections that the supervisor hands to it.
 *
 * An exception here is a fault of ours: if it left a lock held the others would wait for ever, so
 * the flight recorder goes to standard error and the process ends with SIGABRT.
 */
import { writeSync } from "node:fs";
import {
  BroadcastChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import { forgetScratchRanges } from "../base/byte-range.ts";
import type { CommandTable } from "../command/lookup.ts";
import type { Renames } from "../command/renames.ts";
import type { ListenError, ListenPlace, ServerFacts } from "../command/session.ts";
import { systemConfigHost } from "../env/config-host.ts";
import type { LoopUse } from "../env/env.ts";
import { PASS_LISTENER, PASS_UNIX_CONNECTION, receiveHandles } from "../env/handle-pipe.ts";
import { type ListeningHandle, takeConnections } from "../env/listen.ts";
import { writeLog } from "../env/log.ts";
import { type OomScoreFile, systemOomScore } from "../env/oom-score.ts";
import { type AcceptedHandle, SocketLink } from "../env/socket-link.ts";
import {
  block,
  collectGarbage,
  heapUsed,
  loopUse,
  makeSharedBuffer,
  SystemClock,
  soon,
  systemRandom,
  systemTimers,
  systemWaiting,
  whenRung,
} from "../env/system.ts";
import { systemUsage, type Usage } from "../env/usage.ts";
import { H_CONTROL_LOCK } from "../memory/layout.ts";
import { acquire, release } from "../memory/lock.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import { BELL_WORDS, ringBell, takeBellBack } from "./bell.ts";
import { Bus, type BusMessage } from "./bus.ts";
import { type Change, Config } from "./config/config.ts";
import { flightRecord } from "./flight-record.ts";
import { acceptsPeer, PROTECTED_MODE_ERROR } from "./protected-mode.ts";
import { newLockCounters, type SharedState, viewShared } from "./shared-state.ts";
import { type ThreadHost, ThreadServer } from "./thread-server.ts";
import { Topology, type TopologyNode } from "./topology.ts";

const SECOND_MS = 1000;
const SLOW_TICK_MS = 1000;
/** Pause of a thread that is behind with expiry or freeing: it gives them a fourth of its time. */
const CATCH_UP_MS = 3;
const LEAVE_MS = 5;

export type ThreadStart = {
  shared: SharedState;
  chunks: { version: number; chunks: ChunkMessage[] };
  channel: string;
  thread: number;
  config: Change[];
  configFile: string;
  handlePath: string;
  renames: Renames;
};

/** Second message to a thread: what is only known once everything is bound. */
export type ThreadServe = {
  kind: "serve";
  config: Change[];
  facts: ServerFacts;
  nodes: TopologyNode[] | null;
  boundAddress: string;
  unixPath: string;
};

/** Messages to a thread once it serves. */
export type ThreadOrder =
  | { kind: "end" }
  /** Closes its listeners of the plain port and answers "closed". */
  | { kind: "close-plain" }
  /** Answer to "listen". */
  | { kind: "listening"; request: number; error: ListenError | null };

export type ToSupervisor =
  /** It cannot serve; nothing of what threads share was touched. */
  | { kind: "failed"; reason: string }
  | { kind: "serving" }
  | { kind: "shutdown" }
  | { kind: "listen"; request: number; place: ListenPlace }
  | { kind: "closed" };

type OwnListener = { listener: ListeningHandle; isPlain: boolean };

type Early = { kind: number; owner: number; handle: AcceptedHandle | null };

/** Runs the thread that this worker was started for. */
export function runThread(commandsOf: (renames: Renames) => CommandTable): void {
  const start = workerData as ThreadStart;
  const port = parentPort as MessagePort;
  const worker = new WorkerThread(start, port, commandsOf(start.renames));
  process.on("uncaughtException", (error) => worker.die(error));
  port.on("message", (message: ThreadServe | ThreadOrder) => {
    if (message.kind === "serve") worker.serve(message);
    else worker.obey(message);
  });
}

class WorkerThread implements ThreadHost {
  readonly oomScore: OomScoreFile = systemOomScore;
  private readonly start: ThreadStart;
  private readonly port: MessagePort;
  private readonly commands: CommandTable;
  private readonly channel: BroadcastChannel;
  private readonly bus: Bus;
  private readonly bells: Int32Array;
  private readonly control: Int32Array;
  private readonly config: Config;
  private readonly counters = newLockCounters();
  private readonly early: Early[] = [];
  private listeners: OwnListener[] = [];
  /** Waiting for the supervisor's answer to "listen", by request. */
  private readonly moves: Map<number, (error: ListenError | null) => void> = new Map();
  private requests = 0;
  private isCollecting = false;
  private server: ThreadServer | null = null;
  private unixPath = "";

  constructor(start: ThreadStart, port: MessagePort, commands: CommandTable) {
    this.commands = commands;
    this.start = start;
    this.port = port;
    this.bells = new Int32Array(start.shared.bells);
    this.control = new Int32Array(start.shared.control);
    this.config = new Config(systemConfigHost());
    this.config.apply(start.config);
    this.config.file = start.configFile;
    const channel = new BroadcastChannel(start.channel);
    (channel as unknown as { unref(): void }).unref();
    this.channel = channel;
    this.bus = new Bus({
      post: (message) => channel.postMessage(message),
      take: () => {
        const received = receiveMessageOnPort(channel as unknown as MessagePort);
        return received === undefined ? null : (received.message as BusMessage);
      },
    });
    // While the thread is idle its event loop takes messages off the channel before anybody asks.
    channel.onmessage = (event) => this.bus.accept((event as { data: BusMessage }).data);
    receiveHandles(
      start.handlePath,
      (kind, owner, handle) => this.received(kind, owner, handle),
      (reason) => this.post({ kind: "failed", reason }),
    );
  }

  serve(message: ThreadServe): void {
    const { start } = this;
    const random = systemRandom();
    const pool = {
      thread: start.thread,
      waiting: systemWaiting,
      counters: this.counters,
      publish: (chunk: ChunkMessage) => this.bus.postChunk(chunk),
      receive: () => this.bus.nextChunk(),
      makeBuffer: makeSharedBuffer,
      dropped: () => this.chunkDropped(),
    };
    this.config.apply(message.config);
    this.unixPath = message.unixPath;
    const world = { clock: new SystemClock(), random, pool };
    const { shared, thread } = start;
    const view = viewShared(shared, thread, this.config.databases, world, start.chunks);
    this.config.clientsMax = view.clients.rows;
    const topology =
      message.nodes === null
        ? null
        : new Topology(view.slots, message.nodes, this.config, message.boundAddress);
    this.server = new ThreadServer({
      ...view,
      host: this,
      commands: this.commands,
      config: this.config,
      topology,
      random,
      facts: message.facts,
      thread: start.thread,
      threads: shared.threads,
      waiting: systemWaiting,
      counters: this.counters,
    });
    const { server } = this;
    this.keepHouse(server);
    systemTimers.every(SLOW_TICK_MS, () => server.slowTick());
    this.listenForBell();
    for (const { kind, owner, handle } of this.early.splice(0)) this.received(kind, owner, handle);
    this.post({ kind: "serving" });
  }

  private chunkDropped(): void {
    if (this.isCollecting) return;
    this.isCollecting = true;
    soon(() => {
      this.isCollecting = false;
      this.server?.store.forgetViews();
      forgetScratchRanges();
      collectGarbage();
    });
  }

  private keepHouse(server: ThreadServer): void {
    let isBehind = false;
    const catchUp = (): void => {
      isBehind = server.catchUp();
      if (isBehind) systemTimers.after(CATCH_UP_MS, catchUp);
    };
    const tick = (): void => {
      systemTimers.after(SECOND_MS / server.config.hz, tick);
      if (!server.tick() || isBehind) return;
      isBehind = true;
      systemTimers.after(CATCH_UP_MS, catchUp);
    };
    systemTimers.after(SECOND_MS / server.config.hz, tick);
  }

  private post(message: ToSupervisor): void {
    this.port.postMessage(message);
  }

  private received(kind: number, owner: number, handle: AcceptedHandle | null): void {
    const { server } = this;
    if (server === null) {
      this.early.push({ kind, owner, handle });
      return;
    }
    if (handle === null) {
      this.lost(server, kind, owner);
      return;
    }
    if (kind === PASS_LISTENER) {
      const listener = handle as ListeningHandle;
      takeConnections(listener, (accepted) => this.connected(accepted, owner, false));
      listener.listen(this.config.tcpBacklog);
      this.listeners.push({ listener, isPlain: owner < 0 });
      return;
    }
    this.connected(handle, owner, kind === PASS_UNIX_CONNECTION);
  }

  /** What was passed did not arrive: there was no descriptor for it. */
  private lost(server: ThreadServer, kind: number, owner: number): void {
    if (kind === PASS_LISTENER) {
      server.log("warning", "A listener was lost: too many open files");
    } else {
      server.connectionLost(owner);
    }
  }

  private connected(handle: AcceptedHandle, owner: number, isUnix: boolean): void {
    const { server } = this;
    if (server === null) return;
    const link = new SocketLink(handle, isUnix ? this.unixPath : null, this.config.tcpKeepalive);
    if (!acceptsPeer(this.config, link.remote, isUnix)) {
      link.write(PROTECTED_MODE_ERROR, 0, PROTECTED_MODE_ERROR.length);
      link.end();
      return;
    }
    link.handler = server.connect(link, owner, isUnix);
    if (link.handler !== null) link.start();
  }

  /** Waits for the doorbell without keeping the event loop busy. */
  private listenForBell(): void {
    const { thread } = this.start;
    takeBellBack(this.bells, thread);
    this.server?.rung();
    whenRung(this.bells, thread * BELL_WORDS, () => this.listenForBell());
  }

  ring(thread: number): void {
    ringBell(this.bells, thread);
  }

  soon(run: () => void): void {
    soon(run);
  }

  after(ms: number, run: () => void): () => void {
    return systemTimers.after(ms, run);
  }

  sleep(ms: number): void {
    block(ms);
  }

  ordered(run: () => void): void {
    const { thread } = this.start;
    while (!acquire(this.control, H_CONTROL_LOCK, thread, systemWaiting, 1000, this.counters)) {
      // Held for microseconds only; its owner waits for a core.
    }
    run();
    release(this.control, H_CONTROL_LOCK);
  }

  postControl(entry: Parameters<ThreadHost["postControl"]>[0]): void {
    this.bus.postControl(entry);
  }

  takeControl(): ReturnType<ThreadHost["takeControl"]> {
    return this.bus.takeControl();
  }

  log(level: string, text: string): void {
    writeLog(this.config, level, text);
  }

  obey(order: ThreadOrder): void {
    switch (order.kind) {
      case "end":
        this.end();
        return;
      case "close-plain":
        for (const { listener, isPlain } of this.listeners) if (isPlain) listener.close();
        this.listeners = this.listeners.filter(({ isPlain }) => !isPlain);
        this.post({ kind: "closed" });
        return;
      case "listening":
        this.moves.get(order.request)?.(order.error);
        this.moves.delete(order.request);
        return;
    }
  }

  listenOn(place: ListenPlace, done: (error: ListenError | null) => void): void {
    const request = ++this.requests;
    this.moves.set(request, done);
    this.post({ kind: "listen", request, place });
  }

  shutdown(): void {
    this.post({ kind: "shutdown" });
  }

  heapUsed(): number {
    return heapUsed();
  }

  loopUse(): LoopUse {
    return loopUse();
  }

  usage(): Usage {
    return systemUsage();
  }

  /** Closes everything; the worker ends by itself when the last reply is out. */
  private end(): void {
    for (const { listener } of this.listeners) listener.close();
    const { server } = this;
    if (server === null) process.exit(0);
    server.end();
    const leave = (): void => {
      if (server.sessions.size > 0) return;
      this.channel.close();
      process.exit(0);
    };
    systemTimers.every(LEAVE_MS, leave);
    leave();
  }

  die(error: unknown): void {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const lines = [
      `=== ZEROHOP BUG REPORT: thread ${this.start.thread} failed ===`,
      stack,
      ...flightRecord(this.control, this.start.thread, this.commands),
      "=== end of report ===",
    ];
    if (this.config.flag("crash-log-enabled")) writeSync(2, `${lines.join("\n")}\n`);
    process.kill(process.pid, "SIGABRT");
  }
}
