/**
 * Any number of "threads" in one: the same ThreadServer objects as real threads have, stepped by
 * whoever owns the host. Nothing here waits: between steps nobody holds a lock, so a lock that is
 * found taken is a fault, and waiting for one is an assertion.
 *
 * A doorbell, whatever is to happen "soon", and a timer whose time has come is a task; tasks run in
 * `step`, in the order that `pick` chooses, so that a seed decides how threads interleave.
 */
import { assert } from "../base/assert.ts";
import type { CommandTable } from "../command/lookup.ts";
import type { ServerFacts } from "../command/session.ts";
import type { Clock, Link, RandomSource } from "../env/env.ts";
import type { Usage } from "../env/usage.ts";
import type { Waiting } from "../memory/lock.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import { Bus, type BusMessage } from "./bus.ts";
import { Config } from "./config/config.ts";
import type { ClientSession } from "./session.ts";
import { makeSharedState, newLockCounters, type SharedState, viewShared } from "./shared-state.ts";
import { type ThreadHost, ThreadServer } from "./thread-server.ts";
import { Topology, type TopologyNode } from "./topology.ts";

export type InlineOptions = {
  commands: CommandTable;
  /** Settings as CONFIG SET takes them: names and values in turn; threads and shards count. */
  config: Config;
  clock: Clock;
  random: RandomSource;
  facts: ServerFacts;
  /** Owner nodes; null without shard owners. */
  nodes: readonly TopologyNode[] | null;
  checked: boolean;
  clientRows: number;
  /** Which of `n` waiting tasks runs next. */
  pick(n: number): number;
  /** How to wait for locks that whoever owns the host has taken itself. */
  waiting?: Waiting;
  log(level: string, text: string): void;
};

const NO_USAGE: Usage = {
  userSeconds: 0,
  systemSeconds: 0,
  residentBytes: 0,
  systemMemoryBytes: 0,
  mainThread: null,
};

type Task = { thread: number; run: () => void };
type Timer = { dueMs: number; task: Task };

export class InlineHost {
  readonly servers: ThreadServer[] = [];
  readonly shared: SharedState;
  isShutDown = false;
  private readonly options: InlineOptions;
  private readonly tasks: Task[] = [];
  /** By ascending time. */
  private timers: Timer[] = [];
  private readonly inboxes: BusMessage[][] = [];

  constructor(options: InlineOptions) {
    this.options = options;
    const { config } = options;
    this.shared = makeSharedState({
      threads: config.threads,
      shards: config.shards,
      commands: options.commands.list.length,
      clientRows: options.clientRows,
      owners: options.nodes?.length ?? 0,
      chunkBytes: config.memoryChunk,
      memoryLimit: 0,
      unixMs: options.clock.unixMs,
      random: options.random,
      checked: options.checked,
    });
    for (let thread = 0; thread < config.threads; thread++) this.inboxes.push([]);
    for (let thread = 0; thread < config.threads; thread++)
      this.servers.push(this.makeServer(thread));
  }

  private makeServer(thread: number): ThreadServer {
    const { options, shared } = this;
    const { clock, random } = options;
    const inbox = this.inboxes[thread] as BusMessage[];
    const bus = new Bus({
      post: (message) => {
        for (const other of this.inboxes) if (other !== inbox) other.push(message);
      },
      take: () => inbox.shift() ?? null,
    });
    const counters = newLockCounters();
    const waiting: Waiting = options.waiting ?? {
      wait: () => assert(false, "a lock was waited for in the inline host"),
      now: () => clock.monotonicMs(),
    };
    const pool = {
      thread,
      waiting,
      counters,
      publish: (message: ChunkMessage) => bus.postChunk(message),
      receive: () => bus.nextChunk(),
      makeBuffer: (bytes: number) => new SharedArrayBuffer(bytes),
    };
    const config = new Config(options.config.host);
    config.apply(options.config.changes());
    const view = viewShared(shared, thread, config.databases, { clock, random, pool }, null);
    return new ThreadServer({
      ...view,
      host: this.threadHost(thread, bus),
      commands: options.commands,
      config,
      topology: options.nodes === null ? null : new Topology(view.slots, options.nodes, config, ""),
      random,
      facts: options.facts,
      thread,
      threads: config.threads,
      waiting,
      counters,
    });
  }

  private threadHost(thread: number, bus: Bus): ThreadHost {
    return {
      ordered: (run) => run(),
      postControl: (entry) => bus.postControl(entry),
      takeControl: () => bus.takeControl(),
      ring: (other) => this.soon(other, () => this.servers[other]?.rung()),
      soon: (run) => this.soon(thread, run),
      after: (ms, run) => this.after(ms, { thread, run }),
      sleep: () => {},
      log: this.options.log,
      listenOn: (_place, done) => this.soon(thread, () => done(null)),
      shutdown: () => {
        this.isShutDown = true;
      },
      heapUsed: () => 0,
      loopUse: () => ({ cycles: 0, activeMs: 0 }),
      oomScore: { read: () => null, write: () => "there is no process" },
      usage: () => NO_USAGE,
    };
  }

  private soon(thread: number, run: () => void): void {
    this.tasks.push({ thread, run });
  }

  private after(ms: number, task: Task): () => void {
    const timer = { dueMs: this.options.clock.monotonicMs() + ms, task };
    this.timers.push(timer);
    this.timers.sort((a, b) => a.dueMs - b.dueMs);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
      const at = this.tasks.indexOf(task);
      if (at >= 0) this.tasks.splice(at, 1);
    };
  }

  /** Runs one waiting task. False if there is none. */
  step(): boolean {
    const nowMs = this.options.clock.monotonicMs();
    while (this.timers[0] !== undefined && this.timers[0].dueMs <= nowMs) {
      this.tasks.push((this.timers.shift() as Timer).task);
    }
    if (this.tasks.length === 0) return false;
    const [task] = this.tasks.splice(this.options.pick(this.tasks.length), 1);
    task?.run();
    return true;
  }

  /** Runs tasks until none is left. */
  settle(): void {
    while (this.step());
  }

  /** Connects a link to one thread; null if the server refused it. */
  connect(thread: number, link: Link, owner = -1): ClientSession | null {
    return (this.servers[thread] as ThreadServer).connect(link, owner, false);
  }
}
