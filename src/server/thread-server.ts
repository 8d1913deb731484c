/**
 * The server as one thread sees it: its store, its sessions, its share of the housekeeping. Real
 * threads and the inline host make the same objects; only what is behind `ThreadHost` differs.
 */

import type { Command } from "../command/command.ts";
import type { CommandTable } from "../command/lookup.ts";
import type { ListenError, ListenPlace, Server, ServerFacts } from "../command/session.ts";
import type { Link, LoopUse, RandomSource } from "../env/env.ts";
import type { OomScoreFile } from "../env/oom-score.ts";
import type { Usage } from "../env/usage.ts";
import { GAUGES, STAT_NAMES, type Stats, statIndex } from "../keyspace/stats.ts";
import type { Store } from "../keyspace/store.ts";
import { QUERY_BYTES_MAX } from "../limits.ts";
import type { LockCounters, Waiting } from "../memory/lock.ts";
import { MAX_CLIENTS } from "../protocol/errors.ts";
import type { ParserLimits } from "../protocol/parser.ts";
import { Reply } from "../protocol/reply.ts";
import { BlockedSessions } from "./blocked.ts";
import { ClientMemory } from "./client-memory.ts";
import type { ClientTable } from "./client-table.ts";
import type { CommandStats } from "./command-stats.ts";
import type { Change, Config } from "./config/config.ts";
import type { ControlEntry } from "./control-entry.ts";
import { type ControlChannel, ControlLog } from "./control-log.ts";
import { Dispatcher } from "./dispatch.ts";
import { Housekeeping } from "./housekeeping.ts";
import { LoopMeter } from "./info/loop-meter.ts";
import { Rates } from "./info/rates.ts";
import type { LatencyEvents } from "./latency-events.ts";
import type { LatencyHistograms } from "./latency-histogram.ts";
import { Mailboxes } from "./mailbox.ts";
import { MemoryGate, type MemoryHost } from "./memory-gate.ts";
import { Monitors } from "./monitors.ts";
import { applyOomScore } from "./oom-score.ts";
import { Pause } from "./pause.ts";
import { RecentMost } from "./recent-most.ts";
import { ClientSession } from "./session.ts";
import type { SlowLog } from "./slow-log.ts";
import type { Topology } from "./topology.ts";

const RECEIVED = statIndex("connections_received");
const ARRIVED = statIndex("connections_arrived");
const REJECTED = statIndex("connections_rejected");
const CURRENT = statIndex("connections_current");
const PARKED = statIndex("parked_sessions");
const HEAP_USED = statIndex("js_heap_used");
const RECENT_INPUT = statIndex("recent_input_buffer_max");
const RECENT_OUTPUT = statIndex("recent_output_buffer_max");

export type ThreadHost = ControlChannel<ControlEntry> & {
  /** Makes another thread look at its parked sessions and kill words. */
  ring(thread: number): void;
  /** Runs something on this thread once the current turn is over. */
  soon(run: () => void): void;
  /** As `soon`, after so many milliseconds; calling what is returned prevents it. */
  after(ms: number, run: () => void): () => void;
  /** Calls run to their end before the event loop comes again: they wait by trying again. */
  readonly isBlocking?: true;
  /** This thread has so many units of memory reserved now; see `MemoryHost`. */
  reserves?(units: number): void;
  /** Where threads come and go, whether this one is there. */
  isThread?(thread: number): boolean;
  sleep(ms: number): void;
  log(level: string, text: string): void;
  /** Asks the supervisor to move the plain port; see `Server.listenOn`. */
  listenOn(place: ListenPlace, done: (error: ListenError | null) => void): void;
  /** Asks the supervisor to end the process. */
  shutdown(): void;
  heapUsed(): number;
  loopUse(): LoopUse;
  readonly oomScore: OomScoreFile;
  usage(): Usage;
};

export type ThreadParts = {
  host: ThreadHost;
  store: Store;
  commands: CommandTable;
  config: Config;
  stats: Stats[];
  commandStats: CommandStats[];
  latencyHistograms: LatencyHistograms;
  latencyEvents: LatencyEvents;
  slowLog: SlowLog;
  clients: ClientTable;
  clientMemory: SharedArrayBuffer;
  mailboxes: SharedArrayBuffer;
  topology: Topology | null;
  random: RandomSource;
  facts: ServerFacts;
  thread: number;
  threads: number;
  waiting: Waiting;
  counters: LockCounters;
};

export class ThreadServer implements Server {
  readonly store: Store;
  readonly commands: CommandTable;
  readonly config: Config;
  /** Rows that the running session is counted in. */
  stats: Stats;
  commandStats: CommandStats;
  readonly latencyHistograms: LatencyHistograms;
  readonly latencyEvents: LatencyEvents;
  readonly slowLog: SlowLog;
  readonly clients: ClientTable;
  readonly topology: Topology | null;
  readonly random: RandomSource;
  readonly facts: ServerFacts;
  replicationId: string;
  private oomScoreBefore: number | null;
  readonly thread: number;
  readonly threads: number;
  readonly shards: number;
  readonly dispatcher: Dispatcher;
  readonly memory: MemoryGate;
  readonly reply: Reply = new Reply();
  readonly parserLimits: ParserLimits = {
    bulkMax: 0,
    queryMax: 0,
    unauthenticated: false,
    admitLong: (bytes) => this.memory.admitArgument(bytes),
  };
  readonly sessions: Set<ClientSession> = new Set();
  private warnedOfHttpMs = 0;
  readonly clientMemory: ClientMemory;
  readonly mailboxes: Mailboxes;
  readonly monitors: Monitors;
  /** There is something to do before and after each turn: MONITOR, maxmemory-clients. */
  isAttentive = false;
  readonly blocked: BlockedSessions = new BlockedSessions(this);
  private readonly pause: Pause = new Pause();
  private readonly recent: RecentMost = new RecentMost();
  private readonly host: ThreadHost;
  private readonly parkedSessions: ClientSession[] = [];
  private readonly allStats: readonly Stats[];
  private readonly allCommandStats: readonly CommandStats[];
  private readonly controlLog: ControlLog<ControlEntry>;
  private readonly house: Housekeeping;
  private isCronPaused = false;
  /** What `port` was set to at the start; its listener is in the facts. */
  private readonly portAtStart: number;
  private isEnding = false;
  private readonly rates: Rates;
  private readonly loopMeter: LoopMeter;
  private lastChunk: Uint8Array = new Uint8Array(0);
  private lastView: DataView = new DataView(this.lastChunk.buffer);

  constructor(parts: ThreadParts) {
    this.host = parts.host;
    this.store = parts.store;
    this.commands = parts.commands;
    this.config = parts.config;
    this.allStats = parts.stats;
    this.allCommandStats = parts.commandStats;
    this.stats = parts.stats[parts.thread] as Stats;
    this.commandStats = parts.commandStats[parts.thread] as CommandStats;
    this.latencyHistograms = parts.latencyHistograms;
    this.latencyEvents = parts.latencyEvents;
    this.slowLog = parts.slowLog;
    this.clients = parts.clients;
    this.topology = parts.topology;
    this.random = parts.random;
    this.facts = parts.facts;
    this.replicationId = parts.facts.runId;
    this.oomScoreBefore = parts.facts.oomScoreBefore;
    this.portAtStart = parts.config.port;
    this.thread = parts.thread;
    this.threads = parts.threads;
    this.shards = parts.store.shards;
    this.dispatcher = new Dispatcher(this, parts.waiting, parts.counters);
    this.memory = new MemoryGate(
      this.store,
      this.dispatcher.locks,
      this.dispatcher.locks.brief,
      this.threads,
      this.memoryHost(),
    );
    this.house = new Housekeeping(this);
    const own = parts.stats.filter((_, row) => this.threadOfRow(row) === parts.thread);
    this.rates = new Rates(own, parts.store.clock.monotonicMs());
    this.loopMeter = new LoopMeter(this.stats, parts.host.loopUse());
    this.stats.set(HEAP_USED, parts.host.heapUsed());
    this.clientMemory = new ClientMemory(parts.clientMemory, this);
    this.mailboxes = new Mailboxes({
      buffer: parts.mailboxes,
      thread: parts.thread,
      threads: parts.threads,
      waiting: parts.waiting,
      counters: parts.counters,
      ring: (thread) => this.host.ring(thread),
    });
    this.monitors = new Monitors(this);
    this.controlLog = new ControlLog(parts.store.control, parts.host, (entry) =>
      this.applyControl(entry),
    );
    this.configChanged();
  }

  /** A view of a chunk of input. The static read buffer of the links has one for good. */
  viewOfChunk(chunk: Uint8Array): DataView {
    if (chunk !== this.lastChunk) {
      this.lastChunk = chunk;
      this.lastView = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
    }
    return this.lastView;
  }

  controlIsBehind(): boolean {
    return this.controlLog.isBehind();
  }

  /** Applies what other threads have published. */
  takeControl(): void {
    this.controlLog.take();
  }

  applyControl(entry: ControlEntry): void {
    switch (entry.kind) {
      case "config":
        this.config.apply(entry.changes);
        this.configChanged();
        return;
      case "active-expire":
        this.house.isExpiring = entry.on;
        return;
      case "cron-paused":
        this.isCronPaused = entry.on;
        return;
      case "replication-id":
        this.replicationId = entry.id;
        return;
      case "oom-score":
        this.oomScoreBefore = entry.before;
        return;
      case "stats-reset":
        this.dispatcher.restartSamples();
        return;
      case "pause":
        this.pause.begin(entry.nowMs, entry.endMs, entry.isAll);
        this.watchChanged();
        return;
      case "unpause":
        this.endPause();
        return;
      case "monitors":
        this.monitors.count(entry.thread, entry.sessions);
        this.watchChanged();
        return;
      case "shutdown":
        this.end();
        return;
    }
  }

  /** What the control log came to: entries that bring a thread that comes late to the same state. */
  settings(): ControlEntry[] {
    const { config, monitors, pause, house } = this;
    const nowMs = this.store.clock.monotonicMs();
    return [
      { kind: "config", changes: config.changes() },
      { kind: "active-expire", on: house.isExpiring },
      { kind: "cron-paused", on: this.isCronPaused },
      { kind: "replication-id", id: this.replicationId },
      { kind: "pause", nowMs, ...pause.state },
      ...monitors.all().map((state) => ({ kind: "monitors" as const, ...state })),
    ];
  }

  /** Threads that are gone monitor nothing. */
  forgetMonitors(isGone: (thread: number) => boolean): void {
    for (const { thread } of this.monitors.all()) {
      if (isGone(thread)) this.controlLog.publish({ kind: "monitors", thread, sessions: 0 });
    }
  }

  /** Whether commands and turns are looked at more closely may have changed. */
  private watchChanged(): void {
    this.dispatcher.isWatching = this.pause.isOn || this.monitors.isOn;
    if (!this.pause.isOn) this.store.hidesExpired = false;
    // Calls of an embedded store go on in a pause, so their limit does too.
    this.memory.isPaused = this.pause.isOn && this.host.isBlocking !== true;
    this.isAttentive = this.monitors.isOn || this.clientMemory.isLimited;
  }

  pauseClients(ms: number, isAll: boolean): void {
    const nowMs = this.store.clock.monotonicMs();
    const endMs = ms === 0 ? 0 : nowMs + ms;
    this.controlLog.publish({ kind: "pause", nowMs, endMs, isAll });
  }

  unpauseClients(): void {
    this.controlLog.publish({ kind: "unpause" });
    for (let t = 0; t < this.threads; t++) if (t !== this.thread) this.host.ring(t);
  }

  private endPause(): void {
    this.pause.end();
    this.watchChanged();
    // Not from here: a turn may be under way.
    if (this.pause.hasWaiting) this.host.soon(() => this.pause.release());
  }

  private endPauseIfOver(): void {
    if (this.pause.isOn && this.pause.isOver(this.store.clock.monotonicMs())) this.endPause();
  }

  /** True if a command must wait for the end of a pause. */
  isPaused(command: Command): boolean {
    this.endPauseIfOver();
    return this.pause.holds(command);
  }

  /** Before a command: one that reads hides keys past their time, during a pause, and keeps them. */
  hideExpired(isReading: boolean): void {
    this.store.hidesExpired = isReading && this.pause.isOn;
  }

  /** Clients of a thread have been condemned for their memory. */
  closeCondemned(thread: number): void {
    if (thread === this.thread) this.closeKilled();
    else this.host.ring(thread);
  }

  postponed(session: ClientSession): void {
    this.pause.add(session);
  }

  publishMonitors(sessions: number): void {
    this.controlLog.publish({ kind: "monitors", thread: this.thread, sessions });
  }

  clientBytes(): number {
    return this.clientMemory.total();
  }

  /** A session is about to run what it has received; it may be closed instead. */
  beforeTurn(session: ClientSession): void {
    this.clientMemory.evict();
    this.countFor(session.owner);
  }

  afterTurn(): void {
    this.monitors.deliver(null, null);
    this.clientMemory.evict();
  }

  publishConfig(changes: Change[]): void {
    this.controlLog.publish({ kind: "config", changes });
    this.dispatcher.times.trimSlowLog();
  }

  setActiveExpire(on: boolean): void {
    this.controlLog.publish({ kind: "active-expire", on });
  }

  setCronPaused(on: boolean): void {
    this.controlLog.publish({ kind: "cron-paused", on });
  }

  changeReplicationId(): void {
    let id = "";
    while (id.length < 40) id += this.random.below(16).toString(16);
    this.controlLog.publish({ kind: "replication-id", id });
  }

  private configChanged(): void {
    this.parserLimits.bulkMax = this.config.bulkMax;
    this.parserLimits.queryMax = Math.min(this.config.queryBufferMax, QUERY_BYTES_MAX);
    this.store.bulkMax = this.config.bulkMax;
    this.store.rdbCompression = this.config.rdbCompression;
    this.store.rdbWriteVersion = this.config.rdbWriteVersion;
    this.dispatcher.configure(this.config);
    this.memory.configure(this.config);
    for (const [row, stats] of this.allCommandStats.entries()) {
      if (this.threadOfRow(row) === this.thread) stats.track(this.config.latencyTracking);
    }
    this.clientMemory.setLimit(this.config.clientMemoryMax);
    this.watchChanged();
    if (this.clientMemory.isLimited) this.host.soon(() => this.clientMemory.evict());
  }

  /** Bytes in blocks of the heap, at class size, without the roots of databases. */
  usedMemory(): number {
    return this.memory.used();
  }

  memoryExceededMs(): number {
    return this.memory.exceededForMs();
  }

  private memoryHost(): MemoryHost {
    return {
      isBlocking: this.host.isBlocking === true,
      receivedBytes: () => this.clientMemory.requests(),
      soon: (run) => this.host.soon(run),
      enter: () => this.enterTick(),
      resume: () => this.resumeParked(),
      evicted: (ms) => this.dispatcher.times.event("eviction-cycle", ms),
      reserves: (units) => this.host.reserves?.(units),
    };
  }

  /** Rows are one per thread, then one per owner port; a port belongs to one thread. */
  private threadOfRow(row: number): number {
    return row < this.threads ? row : (row - this.threads) % this.threads;
  }

  /** Counts what follows for an owner's port, or for this thread's share of the others (-1). */
  countFor(owner: number): void {
    const row = owner < 0 ? this.thread : this.threads + owner;
    this.stats = this.allStats[row] as Stats;
    this.store.stats = this.stats;
    this.store.isOwnerPort = owner >= 0;
    this.commandStats = this.allCommandStats[row] as CommandStats;
  }

  /** Takes a new connection; its handler, or null when it was refused. */
  connect(link: Link, owner: number, isUnix: boolean): ClientSession | null {
    this.countFor(owner);
    this.stats.add(RECEIVED, 1);
    if (this.controlIsBehind()) this.takeControl();
    if (!this.clients.enter(this.config.maxclients)) {
      this.refuseLink(link, MAX_CLIENTS);
      return null;
    }
    const row = this.clients.claim(this.thread);
    if (row < 0) {
      this.clients.leave();
      this.refuseLink(link, MAX_CLIENTS);
      return null;
    }
    this.store.clock.refresh();
    const id = this.clients.nextId();
    const session = new ClientSession(this, link, { id, row, owner, isUnix });
    this.sessions.add(session);
    // One right after the other: whoever passes connections adds up what is here and on its way.
    this.stats.add(CURRENT, 1);
    this.stats.add(ARRIVED, 1);
    if (this.isTalkative) this.log("verbose", acceptedLine(link, isUnix));
    return session;
  }

  /** A connection was passed to this thread and did not survive it; it counts as arrived. */
  connectionLost(owner: number): void {
    this.countFor(owner);
    this.stats.add(ARRIVED, 1);
  }

  private refuseLink(link: Link, text: string): void {
    this.stats.add(ARRIVED, 1);
    this.stats.add(REJECTED, 1);
    const bytes = new Uint8Array(text.length + 3);
    const line = `-${text}\r\n`;
    for (let i = 0; i < line.length; i++) bytes[i] = line.charCodeAt(i);
    link.write(bytes, 0, bytes.length);
    link.end();
  }

  sessionClosed(session: ClientSession): void {
    this.countFor(session.owner);
    this.sessions.delete(session);
    this.pause.forget(session);
    this.clientMemory.forget(session);
    this.clients.free(session.row);
    this.stats.add(CURRENT, -1);
  }

  /** A session found a lock taken; its shard's release rings this thread. */
  parked(session: ClientSession): void {
    this.stats.add(PARKED, 1);
    this.parkedSessions.push(session);
  }

  /** A lock was released that threads of this mask have sessions parked behind. */
  ringParked(mask: number): void {
    for (let t = 0; t < this.threads; t++) {
      if ((mask & (1 << (t & 31))) === 0) continue;
      if (t === this.thread) this.host.soon(() => this.resumeParked());
      else this.host.ring(t);
    }
  }

  after(ms: number, run: () => void): () => void {
    return this.host.after(ms, run);
  }

  ring(thread: number): void {
    if (thread === this.thread) this.host.soon(() => this.rung());
    else this.host.ring(thread);
  }

  /** The doorbell rang: parked sessions, kill and block words, the control log. */
  rung(): void {
    if (this.controlIsBehind()) this.takeControl();
    this.resumeParked();
    this.closeKilled();
    this.blocked.look();
    this.takeMail();
    this.clientMemory.evict();
  }

  private takeMail(): void {
    this.mailboxes.take({
      message: (_sender, _kind, bytes) => this.monitors.receive(bytes),
      lost: () => this.monitors.receiveLoss(),
    });
    this.mailboxes.flush();
  }

  private resumeParked(): void {
    const waiting = this.parkedSessions.splice(0);
    for (const session of waiting) session.resume();
  }

  private closeKilled(): void {
    for (const session of this.sessions) {
      if (this.clients.isKilled(session.row, session.id)) session.closeKilled();
    }
  }

  /**
   * Housekeeping, many times a second: expiry, lazy freeing, timeouts. True if more is due than was
   * done: `catchUp` is to be called soon.
   */
  tick(): boolean {
    if (this.isEnding) {
      if (this.parkedSessions.length > 0) this.resumeParked();
      return false;
    }
    const { clock } = this.store;
    const began = clock.monotonicMs();
    this.enterTick();
    if (this.controlIsBehind()) this.takeControl();
    // A release may have missed a mark that was set in the same moment.
    if (this.parkedSessions.length > 0) this.resumeParked();
    this.endPauseIfOver();
    this.closeKilled();
    this.blocked.look();
    this.takeMail();
    this.clientMemory.evict();
    this.store.blockCopy.tick();
    if (this.isCronPaused) return false;
    this.memory.tick();
    const hasGarbage = this.house.freeGarbage(true);
    const isBehind = this.expireDue();
    this.loopMeter.sample(this.host.loopUse(), clock.monotonicMs() - began);
    return isBehind || hasGarbage;
  }

  /** The part of a tick that may be behind. True if it still is. */
  catchUp(): boolean {
    if (this.isEnding || this.isCronPaused) return false;
    this.enterTick();
    const hasGarbage = this.house.freeGarbage(false);
    return this.expireDue() || hasGarbage;
  }

  private enterTick(): void {
    this.countFor(-1);
    this.store.clock.refresh();
    this.store.heap.pool.sync();
  }

  /** From now on this thread looks after all shards, or after none. */
  keepAll(isKeeper: boolean): void {
    this.house.keepAll(isKeeper);
  }

  /** True if there are more keys to expire now; none expires while clients are paused. */
  private expireDue(): boolean {
    return !this.pause.isOn && this.house.expireDue();
  }

  /** Once a second: idle clients, empty pages, figures that cost something. */
  slowTick(): void {
    if (this.isCronPaused) return;
    const { timeout } = this.config;
    const now = this.store.clock.unixMs;
    for (const session of this.sessions) {
      this.countFor(session.owner);
      session.everySecond(now, timeout);
    }
    this.countFor(-1);
    this.house.trim();
    // Closing idle clients may have counted for another row.
    this.countFor(-1);
    this.dispatcher.countWork();
    this.stats.set(HEAP_USED, this.host.heapUsed());
    this.recent.look(this.sessions);
    this.stats.set(RECENT_INPUT, this.recent.inputBytes);
    this.stats.set(RECENT_OUTPUT, this.recent.outputBytes);
    this.rates.sample(this.store.clock.monotonicMs());
  }

  isThread(thread: number): boolean {
    return this.host.isThread?.(thread) ?? true;
  }

  resetStats(): void {
    for (const name of STAT_NAMES) {
      if (!GAUGES.has(name)) this.stats.reset(name);
    }
    for (const { id } of this.commands.list) {
      if (this.commandStats.use(id).calls > 0) this.latencyHistograms.reset(id);
    }
    this.commandStats.reset();
    this.memory.resetExceeded();
    this.controlLog.publish({ kind: "stats-reset" });
  }

  withShard(shard: number, run: () => void): boolean {
    return this.dispatcher.locks.withShard(shard, this.dispatcher.lastCommand, run);
  }

  usage(): Usage {
    return this.host.usage();
  }

  sleep(ms: number): void {
    this.host.sleep(ms);
  }

  get tcpPort(): number {
    const { port } = this.config;
    return port === this.portAtStart ? this.facts.tcpPort : port;
  }

  listenOn(place: ListenPlace, done: (error: ListenError | null) => void): void {
    this.host.listenOn(place, done);
  }

  setOomScore(changes: readonly Change[]): string | null {
    const result = applyOomScore(this.host.oomScore, this.config, changes, this.oomScoreBefore);
    if ("error" in result) return result.error;
    const { before } = result;
    if (before !== this.oomScoreBefore) this.controlLog.publish({ kind: "oom-score", before });
    return null;
  }

  shutdown(): void {
    this.host.shutdown();
  }

  /** Answers what was received, closes all sessions and takes no more. */
  end(): void {
    this.isEnding = true;
    for (const session of this.sessions) session.end();
  }

  log(level: "debug" | "verbose" | "notice" | "warning", text: string): void {
    this.host.log(level, text);
  }

  /** A browser that was led to the port. Logged once a minute, so that it fills no log. */
  warnOfHttp(remote: string): void {
    const now = this.store.clock.unixMs;
    if (now - this.warnedOfHttpMs < 60_000) return;
    this.warnedOfHttpMs = now;
    this.log("warning", `${HTTP_WARNING} Connection from ${remote} aborted.`);
  }

  /** Whether lines about single connections are asked for. */
  get isTalkative(): boolean {
    const { logLevel } = this.config;
    return logLevel === "verbose" || logLevel === "debug";
  }
}

const HTTP_WARNING =
  "Possible SECURITY ATTACK detected. It looks like somebody is sending POST or Host: commands to " +
  "Redis. This is likely due to an attacker attempting to use Cross Protocol Scripting to " +
  "compromise your Redis instance.";

function acceptedLine(link: Link, isUnix: boolean): string {
  // A unix socket's address is its path and the port 0.
  return isUnix
    ? `Accepted connection to ${link.local.replace(/:0$/, "")}`
    : `Accepted ${link.remote}`;
}
