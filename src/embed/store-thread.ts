/**
 * One open handle: what it has of its own (a row, a channel, views of the memory) and the
 * ThreadServer that runs its calls. To the engine a handle is a thread, though handles may share a
 * thread of the system.
 */
import type { Args } from "../base/args.ts";
import { forgetScratchRanges } from "../base/byte-range.ts";
import type { CommandTable } from "../command/lookup.ts";
import type { ListenError, ListenPlace, ServerFacts, Session } from "../command/session.ts";
import { systemConfigHost } from "../env/config-host.ts";
import type { LoopUse } from "../env/env.ts";
import type { OomScoreFile } from "../env/oom-score.ts";
import { openChannel } from "../env/store-channel.ts";
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
} from "../env/system.ts";
import { hasEnded, nodeThread, onWorkerEnd, ownThread } from "../env/thread-life.ts";
import { systemUsage, type Usage } from "../env/usage.ts";
import { freeLooseOf, unpinAllOf } from "../keyspace/big-block.ts";
import { disownGarbage, freeGarbageSlice } from "../keyspace/garbage.ts";
import { statIndex } from "../keyspace/stats.ts";
import { HANDLES_MAX, REPLY_BYTES_MAX, SPAN_BYTES } from "../limits.ts";
import {
  H_ATTENTION,
  H_CHUNK_BYTES,
  H_CONTROL_LOCK,
  H_CONTROL_SERIAL,
  H_GARBAGE,
  H_RESERVED_UNITS,
  H_SPANS_PEAK,
  H_WANTED,
} from "../memory/layout.ts";
import { acquire, release } from "../memory/lock.ts";
import type { ChunkMessage } from "../memory/pool.ts";
import type { Reply } from "../protocol/reply.ts";
import { ringBell } from "../server/bell.ts";
import { Config } from "../server/config/config.ts";
import type { ControlEntry } from "../server/control-entry.ts";
import { DONE } from "../server/dispatch.ts";
import { newLockCounters, type ThreadView, viewShared } from "../server/shared-state.ts";
import { type ThreadHost, ThreadServer } from "../server/thread-server.ts";
import { BROKEN_BY_FAULT, breakStore, buryEnded, type Undertaker } from "./burial.ts";
import { CLOSED, StoreBroken, StoreError } from "./errors.ts";
import { type StoreShared, type StoreState, sharedOf, type WholeHandle } from "./handle.ts";
import { Housekeeper } from "./housekeeper.ts";
import { catchUp } from "./joining.ts";
import { StoreLocks } from "./locks.ts";
import { busyWord, Members } from "./members.ts";
import { enter, leave } from "./membership.ts";
import { StoreBus, type StoreMessage } from "./store-bus.ts";
import { StoreWaiting, throwIfBroken } from "./waiting.ts";

/** Attention word of a handle that must look before its next call. */
const LOOK = -1;
/** Calls after which the statistics are brought up to date. */
const COUNT_EVERY = 1024;
/** Records of flushed databases that a call frees at once when memory is out. */
const RELIEF_RECORDS = 4096;
/** What a store takes beside its data, as far as it may be in memory. */
const TABLE_BYTES = 8 * 1024 * 1024;
/** A buffer up to this long may be resident as a whole, used or not: malloc may zero it. */
const MALLOC_BYTES_MAX = 32 * 1024 * 1024;
/** Memory of closed stores that is worth a collection. */
const COLLECT_FROM_BYTES = 128 * 1024 * 1024;

/** Of stores that this thread closed since the last collection: V8 knows nothing of their size. */
let uncollectedBytes = 0;

function storeClosed(dataBytes: number): void {
  uncollectedBytes += TABLE_BYTES + dataBytes;
  if (uncollectedBytes < COLLECT_FROM_BYTES) return;
  uncollectedBytes = 0;
  soon(collectGarbage);
}

/** Handles that are open in this thread of Node. */
const openHere: Set<StoreThread> = new Set();

/** A handle object as of now, if this thread has its store open: it could not answer meanwhile. */
export function asOfNow(handle: WholeHandle): WholeHandle {
  for (const thread of openHere) {
    if (thread.about.channel === handle.channel) return { ...handle, ...thread.currentState() };
  }
  return handle;
}

/** What a thread counts up and down: of one that is gone there is none left. */
const OF_SESSIONS: readonly number[] = [
  statIndex("connections_current"),
  statIndex("blocked_clients"),
  statIndex("clients_in_timeout_table"),
];

/** What listens for a handle, as its end must know it. */
export type Ending = { halt(): void; close(): Promise<void> };

export class StoreThread implements ThreadHost {
  readonly about: StoreShared;
  readonly members: Members;
  readonly row: number;
  readonly control: Int32Array;
  private readonly locks: StoreLocks;
  readonly bells: Int32Array;
  readonly isBlocking: true = true;
  readonly server: ThreadServer;
  readonly reply: Reply;
  readonly clientId: number;
  readonly clientRow: number;
  isOpen = true;
  /** Port that `listen` has bound last. */
  listenPort = 0;
  /** Listeners, which end with the handle. */
  readonly endings: Set<Ending> = new Set();
  private readonly bus: StoreBus;
  private readonly waiting: StoreWaiting;
  private readonly counters = newLockCounters();
  private readonly undertaker: Undertaker;
  private readonly housekeeper: Housekeeper;
  private readonly forgetWorkers: () => void;
  private readonly busyAt: number;
  private attention = LOOK;
  private wantedSeen = 0;
  private calls = 0;
  private isCollecting = false;
  /** What broke the store, if it happened here. */
  private fault: unknown;

  /** Joins the store, or throws with nothing left behind. */
  constructor(handle: WholeHandle, commands: CommandTable) {
    const { shared } = handle;
    this.about = sharedOf(handle);
    this.control = new Int32Array(shared.control);
    this.bells = new Int32Array(shared.bells);
    this.members = new Members(handle.members);
    this.locks = new StoreLocks(shared);
    this.undertaker = this.makeUndertaker();
    const bury = (): number => buryEnded(this.undertaker);
    this.row = enter(this.control, this.members, bury);
    this.busyAt = busyWord(this.row);
    this.waiting = new StoreWaiting(this.control, this.locks, this.members, this.row, bury);
    this.bus = new StoreBus(
      openChannel<StoreMessage>(handle.channel, (message) => this.arrived(message)),
    );
    try {
      this.server = this.makeServer(handle, commands);
    } catch (error) {
      this.bus.close();
      leave(this.control, this.members, this.row);
      throw error;
    }
    const { clients, reply } = this.server;
    this.reply = reply;
    // There are rows for all handles beyond those of the most connections.
    this.clientRow = clients.claim(this.row);
    this.clientId = clients.nextId();
    clients.enter(Number.POSITIVE_INFINITY);
    this.wantedSeen = Atomics.load(this.control, H_WANTED);
    this.forgetWorkers = onWorkerEnd((worker) => this.workerEnded(worker));
    this.housekeeper = new Housekeeper(this);
    openHere.add(this);
  }

  private makeUndertaker(): Undertaker {
    return {
      control: this.control,
      locks: this.locks,
      members: this.members,
      thread: ownThread(),
      nodeThread,
      hasEnded,
      monotonicMs: () => systemWaiting.now(),
      sleep: block,
      giveBack: (row) => this.giveBack(row),
    };
  }

  private makeServer(handle: WholeHandle, commands: CommandTable): ThreadServer {
    const { row, waiting, counters, bus } = this;
    const config = new Config(systemConfigHost());
    for (const entry of handle.settings) if (entry.kind === "config") config.apply(entry.changes);
    const random = systemRandom();
    const pool = {
      thread: row,
      waiting,
      counters,
      publish: (message: ChunkMessage) => bus.common.postChunk(message),
      receive: () => bus.common.nextChunk(),
      makeBuffer: makeSharedBuffer,
      dropped: () => this.chunkDropped(),
    };
    const world = { clock: new SystemClock(), random, pool };
    const view = viewShared(handle.shared, row, config.databases, world, handle.chunks);
    const state = catchUp(this.control, view.store.heap.pool, bus, handle);
    config.clientsMax = view.clients.rows - HANDLES_MAX;
    const server = this.serverOn(view, config, commands, random);
    for (const entry of state.settings) server.applyControl(entry);
    server.takeControl();
    server.keepAll(false);
    server.store.heap.pinned = this.members.pinned(row);
    return server;
  }

  private serverOn(
    view: ThreadView,
    config: Config,
    commands: CommandTable,
    random: ReturnType<typeof systemRandom>,
  ): ThreadServer {
    const { facts, shared } = this.about;
    return new ThreadServer({
      ...view,
      host: this,
      commands,
      config,
      topology: null,
      random,
      facts: factsWithPort(facts, () => this.listenPort),
      thread: this.row,
      threads: shared.threads,
      waiting: this.waiting,
      counters: this.counters,
    });
  }

  /** Runs the request in `args`; its reply is in `reply` then. */
  run(session: Session, args: Args): void {
    if (this.control[H_ATTENTION] !== this.attention) this.attend();
    this.server.dispatcher.readClock();
    this.runNow(session, args);
  }

  /**
   * As `run`, for GET and SET without a time: the clock, which costs a tenth of either, is only read
   * if the key has an expiry.
   */
  runTimeless(session: Session, args: Args): void {
    if (this.control[H_ATTENTION] !== this.attention) this.attend();
    const { store } = this.server;
    store.isTimeless = true;
    this.runNow(session, args);
    store.isTimeless = false;
  }

  private runNow(session: Session, args: Args): void {
    const { server, reply } = this;
    if ((++this.calls & (COUNT_EVERY - 1)) === 0) server.dispatcher.count();
    server.store.touches = !session.noTouch;
    reply.proto = 3;
    reply.limit = REPLY_BYTES_MAX;
    reply.errors = 0;
    this.execute(session, args);
    if (reply.errors !== 0) this.relieve(session, args);
    server.memory.release();
    if (server.isAttentive) this.work(() => server.afterTurn());
    if (reply.isOverflown) this.overflown();
  }

  private execute(session: Session, args: Args): void {
    const { dispatcher } = this.server;
    const { words } = this.members;
    this.waiting.begin();
    words[this.busyAt] = 1;
    try {
      if (dispatcher.execute(session, args, this.reply) !== DONE) {
        // A lock that was not had in time: the waiting has seen to it that its owner lives.
        while (dispatcher.execute(session, args, this.reply) !== DONE);
        this.server.store.blockCopy.finish();
      }
    } catch (error) {
      this.server.store.isTimeless = false;
      throw this.failed(error);
    }
    words[this.busyAt] = 0;
  }

  /** Memory was out while that of flushed databases was not freed yet: frees it and tries again. */
  private relieve(session: Session, args: Args): void {
    const { reply, control, server } = this;
    if (reply.lastErrorCode !== "OOM" || control[H_GARBAGE] === 0) return;
    this.guarded(() => {
      while (freeGarbageSlice(server.store, server.dispatcher.locks, RELIEF_RECORDS) > 0);
    });
    throwIfBroken(control, this.fault);
    reply.truncate(0);
    reply.errors = 0;
    this.execute(session, args);
  }

  private overflown(): never {
    this.reply.truncate(0);
    this.reply.isOverflown = false;
    throw new StoreError(`ERR The reply would have more than ${REPLY_BYTES_MAX} bytes`);
  }

  /** Looks at what has changed for all handles. Throws if this one cannot go on. */
  attend(): void {
    if (!this.isOpen) throw new StoreError(CLOSED);
    const { control } = this;
    throwIfBroken(control, this.fault);
    this.attention = Atomics.load(control, H_ATTENTION);
    const wanted = Atomics.load(control, H_WANTED);
    if (wanted === this.wantedSeen) return;
    this.wantedSeen = wanted;
    this.bus.post({ to: "state", state: this.state() });
  }

  /** As `state`, for the application. */
  currentState(): StoreState {
    return this.work(() => this.state());
  }

  /** Runs something on the heap that belongs to a call, beside the command itself. */
  work<T>(run: () => T): T {
    if (this.control[H_ATTENTION] !== this.attention) this.attend();
    const { words } = this.members;
    this.waiting.begin();
    words[this.busyAt] = 1;
    try {
      const result = run();
      words[this.busyAt] = 0;
      return result;
    } catch (error) {
      throw this.failed(error);
    }
  }

  /** What a handle that opens the store now needs to know. */
  private state(): StoreState {
    const { control, server } = this;
    const controlSerial = Atomics.load(control, H_CONTROL_SERIAL);
    if (server.controlIsBehind()) server.takeControl();
    const chunks = server.store.heap.pool.snapshot();
    return { chunks, settings: server.settings(), controlSerial };
  }

  /** Makes an error of what was thrown inside a call. */
  private failed(error: unknown): unknown {
    this.reply.truncate(0);
    const { control, members, locks, row } = this;
    if (error instanceof StoreBroken) {
      this.attention = LOOK;
      return error;
    }
    if (!locks.isHeldBy(row)) {
      members.words[this.busyAt] = 0;
      return error;
    }
    this.fault = error;
    breakStore(control, BROKEN_BY_FAULT);
    this.attention = LOOK;
    return new StoreBroken("Something failed inside a call; the data may be half changed", {
      cause: error,
    });
  }

  /**
   * Runs what the event loop asks for. Nobody is there to catch what goes wrong, so it breaks the
   * store, and the next call tells. False if it could not be run.
   */
  guarded(run: () => void): boolean {
    if (!this.isOpen) return false;
    const { words } = this.members;
    const wasBusy = words[this.busyAt] as number;
    try {
      if (this.control[H_ATTENTION] !== this.attention) this.attend();
      if (wasBusy === 0) this.waiting.begin();
      words[this.busyAt] = 1;
      run();
      words[this.busyAt] = wasBusy;
      return true;
    } catch (error) {
      if (!(error instanceof StoreBroken)) {
        this.fault = error;
        breakStore(this.control, BROKEN_BY_FAULT);
      }
      this.attention = LOOK;
      this.halt();
      return false;
    }
  }

  /** Ends what the event loop does for this handle. */
  private halt(): void {
    this.housekeeper.stop();
    this.endListening();
  }

  private endListening(): void {
    const endings = [...this.endings];
    // First, since a broken store comes here again from within.
    this.endings.clear();
    for (const ending of endings) ending.halt();
  }

  private arrived(message: StoreMessage): void {
    if (message.to !== "wanted") this.bus.accept(message);
    else this.guarded(() => {});
  }

  private workerEnded(worker: number): void {
    this.members.markEnded(worker);
    this.guarded(() => this.bury());
  }

  /** Gives back what ended threads had. */
  bury(): void {
    buryEnded(this.undertaker);
    throwIfBroken(this.control);
  }

  private giveBack(row: number): boolean {
    const { server } = this;
    server.clients.freeAllOf(row);
    for (const gauge of OF_SESSIONS) server.stats.clear(row, gauge);
    Atomics.sub(this.control, H_RESERVED_UNITS, this.members.takeReserved(row));
    const { heap } = server.store;
    freeLooseOf(heap, row);
    unpinAllOf(heap, this.members.pinned(row));
    return disownGarbage(server.store, row);
  }

  private chunkDropped(): void {
    if (this.isCollecting) return;
    this.isCollecting = true;
    soon(() => {
      this.isCollecting = false;
      if (!this.isOpen) return;
      this.forgetViews();
      collectGarbage();
    });
  }

  private forgetViews(): void {
    this.server.store.forgetViews();
    forgetScratchRanges();
  }

  /** Closes the handle. True if it was the last one. */
  close(): boolean {
    if (!this.isOpen) return false;
    const { control, members, server } = this;
    this.halt();
    this.housekeeper.giveUpLease();
    server.dispatcher.count();
    server.clients.free(this.clientRow);
    this.isOpen = false;
    openHere.delete(this);
    this.attention = LOOK;
    this.forgetWorkers();
    // Ends the wait for it.
    ringBell(this.bells, this.row);
    this.bus.close();
    server.store.blockCopy.drop();
    // The row will be another handle's.
    server.store.heap.pinned = null;
    server.store.heap.pool.forget();
    this.forgetViews();
    const isLast = leave(control, members, this.row);
    const chunkBytes = control[H_CHUNK_BYTES] as number;
    const peakBytes = (control[H_SPANS_PEAK] as number) * SPAN_BYTES;
    if (isLast) storeClosed(chunkBytes > MALLOC_BYTES_MAX ? peakBytes : peakBytes + chunkBytes);
    return isLast;
  }

  ring(thread: number): void {
    ringBell(this.bells, thread);
  }

  soon(run: () => void): void {
    soon(() => this.guarded(run));
  }

  after(ms: number, run: () => void): () => void {
    return systemTimers.after(ms, () => this.guarded(run));
  }

  sleep(ms: number): void {
    block(ms);
  }

  isThread(thread: number): boolean {
    return this.members.threadOf(thread) !== 0;
  }

  reserves(units: number): void {
    this.members.setReserved(this.row, units);
  }

  /** The host's application has the standard output. */
  log(): void {}

  ordered(run: () => void): void {
    while (!acquire(this.control, H_CONTROL_LOCK, this.row, this.waiting, 1000, this.counters)) {
      // Held for microseconds only; the waiting sees whether its owner lives.
    }
    run();
    release(this.control, H_CONTROL_LOCK);
  }

  postControl(entry: ControlEntry): void {
    this.bus.common.postControl(entry);
  }

  takeControl(): ControlEntry[] {
    return this.bus.common.takeControl();
  }

  /** The score is the application's. */
  readonly oomScore: OomScoreFile = {
    read: () => null,
    write: () => "the process is the application's",
  };

  listenOn({ bind }: ListenPlace, done: (error: ListenError | null) => void): void {
    done({
      directive: bind === null ? "port" : "bind",
      reason: "The port of an embedded store belongs to its application.",
    });
  }

  /** A client may not end the application; it ends what it can reach. */
  shutdown(): void {
    soon(() => {
      for (const ending of this.endings) void ending.close();
    });
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
}

/** The port is known once something listens. */
function factsWithPort(facts: ServerFacts, port: () => number): ServerFacts {
  return {
    ...facts,
    get tcpPort(): number {
      return port();
    },
  };
}
