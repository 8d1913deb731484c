/**
 * Runs one request: look up, gate, lock, run. Only this file and `dispatch-locks` take shard locks,
 * in ascending order, and no lock outlives one command.
 *
 * Waiting for a lock can fail: then everything taken is given back and the caller parks the session
 * behind that shard. So a slow command stops its shards and nobody else.
 *
 * Order of the checks is Redis's: name, arity, protected, topology, memory; then, under the locks,
 * the topology again.
 */

import type { Args } from "../base/args.ts";
import { keySlot } from "../base/crc16.ts";
import {
  type Command,
  LOCKS_ALL,
  LOCKS_CONTAINER,
  LOCKS_CURSOR,
  LOCKS_DYNAMIC,
  LOCKS_EACH,
  LOCKS_KEYS,
  LOCKS_NONE,
} from "../command/command.ts";
import {
  FLAG_ADMIN,
  FLAG_DENYOOM,
  FLAG_MAY_REPLICATE,
  FLAG_PROTECTED,
  FLAG_READONLY,
  FLAG_SKIP_MONITOR,
  FLAG_SLOW_CLOCK,
  FLAG_WRITE,
} from "../command/flags.ts";
import { KeyList } from "../command/key-specs.ts";
import type { Session } from "../command/session.ts";
import type { AfterPart, EachCommand } from "../command/spec.ts";
import type { BlockCopy } from "../keyspace/block-copy.ts";
import type { Database } from "../keyspace/database.ts";
import { errorStatIndex, statIndex } from "../keyspace/stats.ts";
import { SLOTS } from "../limits.ts";
import { shardRow } from "../memory/layout.ts";
import {
  acquireAlone,
  type LockCounters,
  release,
  releaseAlone,
  tryAcquire,
  type Waiting,
} from "../memory/lock.ts";
import type { Work } from "../memory/work.ts";
import { OOM, unknownCommand, unknownSubcommand, wrongArity } from "../protocol/errors.ts";
import { ADMITTED, LATER } from "../protocol/parser.ts";
import type { Reply } from "../protocol/reply.ts";
import { CallTimes } from "./call-times.ts";
import type { Config } from "./config/config.ts";
import { DispatchLocks } from "./dispatch-locks.ts";
import { headsOfBigs, slowLogWords } from "./slow-log.ts";
import type { ThreadServer } from "./thread-server.ts";

/** The clock is read again after so many commands of one batch. */
const CLOCK_EVERY = 64;
const LAST_SLOT = SLOTS - 1;

/** What is to be counted of a call whose answer comes later. */
type BlockedCall = { command: Command; ms: number; words: readonly string[] };

/** How far a command that visits one shard after another has come. */
type EachProgress = { state: unknown; shard: number; spentMs: number };

export const DONE = 0;
/** A lock or memory was not had: run the same request again when the session is resumed. */
export const PARKED = 1;
/** Clients are paused: run the same request again when that is over. */
const POSTPONED = 2;
/**
 * Something was published between the checks and the locks: run the same request again at once. So
 * whoever has published that writes are to stop, and has had every lock since, has seen the last.
 */
export const AGAIN = 3;

/** Commands of the keyspace, which a session that monitors may not use. */
const FLAGS_KEYSPACE: number = FLAG_WRITE | FLAG_READONLY | FLAG_MAY_REPLICATE;
const FLAGS_NOT_SHOWN: number = FLAG_ADMIN | FLAG_SKIP_MONITOR;

const COMMANDS = statIndex("commands_processed");
const KEYED_LOCAL = statIndex("keyed_commands_local");
const ACQUISITIONS = statIndex("lock_acquisitions");
const HOLD_MAX = statIndex("lock_hold_max_usec");
const ERRORS = statIndex("error_replies");
const BYTES_COPIED_MAX = statIndex("work_bytes_copied_max");
const ENTRIES_MOVED_MAX = statIndex("work_entries_moved_max");
const ELEMENTS_VISITED_MAX = statIndex("work_elements_visited_max");

export class Dispatcher {
  /** Last command that was run or refused; -1 for an unknown one. */
  lastCommand = -1;
  /** Clients are paused, or somebody monitors. */
  isWatching = false;
  private readonly server: ThreadServer;
  private readonly control: Int32Array;
  private readonly waiting: Waiting;
  private readonly counters: LockCounters;
  private readonly work: Work;
  private readonly copy: BlockCopy;
  private readonly keys: KeyList = new KeyList();
  readonly locks: DispatchLocks;
  readonly times: CallTimes;
  private sinceClock = 0;
  /** Calls until the next timed one, by command. */
  private readonly samples: Int32Array;
  private commandsRun = 0;
  private keyedRun = 0;
  /** The request under way was refused before it ran. */
  private wasRefused = false;

  constructor(server: ThreadServer, waiting: Waiting, counters: LockCounters) {
    this.server = server;
    this.control = server.store.control;
    this.waiting = waiting;
    this.work = server.store.heap.work;
    this.copy = server.store.blockCopy;
    this.counters = counters;
    this.locks = new DispatchLocks(server, waiting, counters);
    this.times = new CallTimes(server);
    this.samples = new Int32Array(server.commands.list.length);
  }

  configure(config: Config): void {
    if (this.times.configure(config)) this.restartSamples();
  }

  /** The next call of every command is timed. */
  restartSamples(): void {
    this.samples.fill(0);
  }

  /** Runs the request in `args` and writes its reply. One that is long is timed in any case. */
  execute(session: Session, args: Args, reply: Reply, isLong = false): number {
    const { server } = this;
    if (server.controlIsBehind()) server.takeControl();
    if (++this.sinceClock >= CLOCK_EVERY) this.readClock();
    const named = server.commands.lookup(
      args.source(0),
      args.start[0] as number,
      args.end[0] as number,
    );
    const direct = named?.isDirect === true && named.takes(args.count);
    const command = direct ? named : this.check(session, named, args, reply);
    if (command === null) {
      this.wasRefused = false;
      return DONE;
    }
    this.lastCommand = command.id;
    if (this.isWatching) return this.runWatched(session, command, args, reply, isLong);
    if (isLong || this.isTimed(command)) {
      return this.runTimed(session, command, args, reply, this.weightOf(command, isLong));
    }
    const before = reply.errors;
    const outcome = direct
      ? this.runOneKey(session, command, args, reply)
      : this.run(session, command, args, reply);
    if (outcome === DONE) this.ran(command, reply.errors - before);
    return outcome;
  }

  /** True for what may be slow, and for one of every so many calls of any other command. */
  private isTimed(command: Command): boolean {
    const left = (this.samples[command.id] as number) - 1;
    this.samples[command.id] = left;
    if (left >= 0) return command.isAlwaysTimed;
    this.samples[command.id] = this.times.sampleEvery - 1;
    return true;
  }

  /** How many calls one that is timed stands for. */
  private weightOf(command: Command, isLong: boolean): number {
    return isLong || command.isAlwaysTimed ? 1 : this.times.sampleEvery;
  }

  private runUntimed(session: Session, command: Command, args: Args, reply: Reply): number {
    const before = reply.errors;
    const outcome = this.run(session, command, args, reply);
    if (outcome === DONE) this.ran(command, reply.errors - before);
    return outcome;
  }

  /** The call stands for `weight` calls. */
  private runTimed(
    session: Session,
    command: Command,
    args: Args,
    reply: Reply,
    weight: number,
  ): number {
    const before = reply.errors;
    const bigHeads = headsOfBigs(args);
    const progress = session.progress as EachProgress | null;
    const spentMs = progress === null ? 0 : progress.spentMs;
    const waitedMs = this.counters.waitMs;
    const began = this.waiting.now();
    const outcome = this.run(session, command, args, reply);
    const ms = this.waiting.now() - began - (this.counters.waitMs - waitedMs);
    if (outcome !== DONE) {
      const stopped = session.progress as EachProgress | null;
      if (stopped !== null) stopped.spentMs = spentMs + ms;
      return outcome;
    }
    if (session.isBlocked) {
      const words = shownWords(command, args, bigHeads);
      session.progress = { command, ms, words } satisfies BlockedCall;
      return DONE;
    }
    if (this.ran(command, reply.errors - before)) {
      if (this.times.record(command, spentMs + ms, weight)) {
        this.times.log(session, spentMs + ms, shownWords(command, args, bigHeads));
      }
    }
    if ((command.flagBits & FLAG_SLOW_CLOCK) !== 0) this.readClock();
    return DONE;
  }

  /** A command that has waited has its answer, with so many errors in it. */
  unblocked(session: Session, errors: number): void {
    const { command, ms, words } = session.progress as BlockedCall;
    session.progress = null;
    if (this.ran(command, errors) && this.times.record(command, ms, 1)) {
      this.times.log(session, ms, words);
    }
    this.count();
  }

  /** As the rest of `execute`, while `isWatching`. */
  private runWatched(
    session: Session,
    command: Command,
    args: Args,
    reply: Reply,
    isLong: boolean,
  ): number {
    const { server } = this;
    const { flagBits } = command;
    if (session.isMonitoring && (flagBits & FLAGS_KEYSPACE) !== 0) {
      this.refuse(command, reply, "ERR Replica can't interact with the keyspace");
      this.wasRefused = false;
      return DONE;
    }
    // What visits one shard after another and has begun goes on.
    const mayPause = !session.isMonitoring && session.isPausable && session.progress === null;
    if (mayPause && server.isPaused(command)) {
      if (!this.refusesBeforePause(session, command, args, reply)) return POSTPONED;
      this.wasRefused = false;
      return DONE;
    }
    server.hideExpired((flagBits & FLAG_WRITE) === 0);
    const isShown = server.monitors.isOn && (flagBits & FLAGS_NOT_SHOWN) === 0;
    if (isShown) server.monitors.prepare(command, args);
    const before = this.commandsRun;
    const outcome =
      isLong || this.isTimed(command)
        ? this.runTimed(session, command, args, reply, this.weightOf(command, isLong))
        : this.runUntimed(session, command, args, reply);
    const hasRun = this.commandsRun !== before || session.isBlocked;
    if (isShown && hasRun) server.monitors.ran(session);
    return outcome;
  }

  /**
   * Redis: what would be refused anyway does not wait for the end of a pause, but for lack of
   * memory nothing is refused while it lasts.
   */
  private refusesBeforePause(
    session: Session,
    command: Command,
    args: Args,
    reply: Reply,
  ): boolean {
    if (session.owner < 0 || !command.hasKeys) return false;
    this.findKeys(command, args);
    const redirect = this.redirect(session, args);
    if (redirect === null) return false;
    this.refuse(command, reply, redirect);
    return true;
  }

  /** Counts a call; false if it was refused before it ran. */
  private ran(command: Command, errors: number): boolean {
    if (errors !== 0) {
      if (this.wasRefused) {
        // It was counted as rejected and is no call.
        this.wasRefused = false;
        return false;
      }
      this.countErrors(errors);
      this.server.commandStats.failed(command.id);
    }
    if (this.work.isUsed) this.work.settle(command.isBounded);
    this.commandsRun++;
    this.server.commandStats.called(command.id);
    return true;
  }

  /** Counts error replies under the code of the last one. */
  private countErrors(errors: number): void {
    const { stats, reply } = this.server;
    stats.add(ERRORS, errors);
    stats.add(errorStatIndex(reply.lastErrorCode), errors);
  }

  /** Adds what the turn did to the statistics of the session that it ran for. */
  count(): void {
    const { stats } = this.server;
    stats.add(COMMANDS, this.commandsRun);
    stats.add(KEYED_LOCAL, this.keyedRun);
    stats.add(ACQUISITIONS, this.locks.taken);
    this.countWork();
    this.commandsRun = 0;
    this.keyedRun = 0;
    this.locks.taken = 0;
    this.server.memory.release();
  }

  /** Shows the most that was done under one lock. */
  countWork(): void {
    const { work, server } = this;
    const { stats } = server;
    stats.max(BYTES_COPIED_MAX, work.bytesCopiedMax);
    stats.max(ENTRIES_MOVED_MAX, work.entriesMovedMax);
    stats.max(ELEMENTS_VISITED_MAX, work.elementsVisitedMax);
    work.clear();
  }

  readClock(): void {
    this.sinceClock = 0;
    this.server.store.clock.refresh();
  }

  /** The command that is meant, or null with the error written. */
  private check(session: Session, named: Command | null, args: Args, reply: Reply): Command | null {
    const { commands } = this.server;
    let command = named;
    if (command !== null && command.subcommands.size > 0 && args.count > 1) {
      const sub = commands.lookupSub(
        command,
        args.source(1),
        args.start[1] as number,
        args.end[1] as number,
      );
      if (sub === null) {
        this.lastCommand = -1;
        return this.refuse(null, reply, unknownSubcommand(args.text(0), args.head(1, 128)));
      }
      command = sub;
    }
    if (command === null) {
      this.lastCommand = -1;
      if (isHttp(args)) session.closeSilently();
      else this.refuse(null, reply, unknownCommand(args));
      return null;
    }
    this.lastCommand = command.id;
    if (!command.takes(args.count) || command.locks === LOCKS_CONTAINER) {
      return this.refuse(command, reply, wrongArity(command.name));
    }
    if ((command.flagBits & FLAG_PROTECTED) !== 0 && !this.mayUseProtected(session)) {
      const name = (command.container ?? command).name.toUpperCase();
      return this.refuse(
        command,
        reply,
        `ERR ${name} command not allowed. If the enable-${name.toLowerCase()}-command option is ` +
          `set to "local", you can run it from a local connection, otherwise you need to set this ` +
          "option in the configuration file, and then restart the server.",
      );
    }
    return command;
  }

  private mayUseProtected(session: Session): boolean {
    const allowed = this.server.config.debugCommand;
    return allowed === "yes" || (allowed === "local" && session.isLocal);
  }

  private refuse(command: Command | null, reply: Reply, text: string): null {
    reply.error(text);
    this.countErrors(1);
    this.wasRefused = true;
    if (command !== null) this.server.commandStats.rejected(command.id);
    return null;
  }

  private run(session: Session, command: Command, args: Args, reply: Reply): number {
    const locks = command.locks;
    if (locks === LOCKS_NONE) {
      command.runSession(session, args, reply);
      return DONE;
    }
    if (command.isDirect) return this.runOneKey(session, command, args, reply);
    const db = this.server.store.databases[session.db] as Database;
    const set = locks === LOCKS_DYNAMIC ? command.locksFor(args) : locks;
    return this.runOther(session, command, db, args, reply, set);
  }

  /**
   * A command with one key for which there is no memory to reserve. Where keys were deleted it may
   * use what these left in spans that others are in: it changes nothing if that is not enough.
   */
  private runInHoles(session: Session, command: Command, args: Args, reply: Reply): number {
    const { memory, store } = this.server;
    const { pool } = store.heap;
    if (pool.isSealed || !memory.hasHoles(args.plainBytes())) {
      this.refuse(command, reply, OOM);
      return DONE;
    }
    pool.isSealed = true;
    const outcome = this.runOneKey(session, command, args, reply);
    pool.isSealed = false;
    return outcome;
  }

  private runOneKey(session: Session, command: Command, args: Args, reply: Reply): number {
    const { server, control, locks } = this;
    const source = args.source(1);
    const start = args.start[1] as number;
    const end = args.end[1] as number;
    const slot = keySlot(source, start, end);
    args.slot[1] = slot;
    args.hash[1] = server.store.table.hash(args.viewOf(1), start, end);
    const topology = session.owner < 0 ? null : server.topology;
    if (topology !== null) {
      const redirect = topology.decideSlot(session, slot);
      if (redirect !== null) {
        this.refuse(command, reply, redirect);
        return DONE;
      }
    }
    if ((command.flagBits & FLAG_DENYOOM) !== 0) {
      const verdict = this.server.memory.admit(args.plainBytes());
      if (verdict === LATER) return PARKED;
      if (verdict !== ADMITTED) return this.runInHoles(session, command, args, reply);
    }
    const shard = server.store.shardOf(slot);
    const line = shardRow(shard);
    const alone = server.threads === 1;
    if (alone) {
      acquireAlone(control, line);
    } else if (!tryAcquire(control, line, server.thread)) {
      if (!locks.acquireSlowly(shard)) return this.park(shard);
    }
    if (!alone && (command.flagBits & FLAG_WRITE) !== 0 && server.controlIsBehind()) {
      locks.releaseOne(shard);
      return AGAIN;
    }
    server.store.enterShard(shard);
    server.store.heap.pool.sync();
    if (topology !== null) {
      const redirect = topology.decideSlot(session, slot);
      if (redirect !== null) {
        this.refuse(command, reply, redirect);
        locks.releaseOne(shard);
        return DONE;
      }
    }
    locks.record(line, command.id, slot);
    const db = server.store.databases[session.db] as Database;
    command.runData(db, args, reply);
    if (alone) {
      releaseAlone(control, line);
    } else {
      const parked = release(control, line);
      if (parked !== 0) server.ringParked(parked);
    }
    this.keyedRun++;
    locks.taken++;
    return this.copy.isDue ? this.runWithCopy(session, command, args, reply) : DONE;
  }

  /**
   * A command with keys was put off for a copy of a big string, which is made now that no lock is
   * held, or has used one. It was admitted, and it has counted its time; else it begins anew.
   */
  private runWithCopy(session: Session, command: Command, args: Args, reply: Reply): number {
    const { copy, locks, server } = this;
    const db = server.store.databases[session.db] as Database;
    let outcome = DONE;
    while (copy.isWanted) {
      this.keyedRun--;
      this.work.settle(command.isBounded);
      copy.make();
      this.setScope(session, db);
      this.findKeys(command, args);
      locks.wantNone();
      locks.wantKeys(this.keys, args);
      outcome = this.runLocked(session, command, db, args, reply, LOCKS_KEYS);
    }
    // What was made before a wait for a lock is used after it.
    if (outcome === DONE || copy.block === 0) copy.finish();
    return outcome;
  }

  private park(shard: number): number {
    this.locks.park(shard);
    return PARKED;
  }

  private runOther(
    session: Session,
    command: Command,
    db: Database,
    args: Args,
    reply: Reply,
    lockSet: number,
  ): number {
    const { server, locks } = this;
    if (lockSet === LOCKS_NONE) {
      command.runSession(session, args, reply);
      return DONE;
    }
    this.setScope(session, db);
    if (lockSet === LOCKS_EACH) return this.runEach(session, command, db, args, reply);
    locks.wantNone();
    if (lockSet === LOCKS_KEYS) {
      this.findKeys(command, args);
      const redirect = this.redirect(session, args);
      if (redirect !== null) {
        this.refuse(command, reply, redirect);
        return DONE;
      }
      locks.wantKeys(this.keys, args);
    } else if (lockSet === LOCKS_CURSOR) {
      const slot = Math.max(command.slotOf(args), db.scopeFirst);
      locks.wantOne(server.store.shardOf(Math.min(slot, db.scopeLast)));
    } else if (lockSet === LOCKS_ALL) {
      locks.wantAll();
    }
    if ((command.flagBits & FLAG_DENYOOM) !== 0) {
      const verdict = this.server.memory.admit(args.plainBytes());
      if (verdict === LATER) return PARKED;
      if (verdict !== ADMITTED) {
        this.refuse(command, reply, OOM);
        return DONE;
      }
    }
    const outcome = this.runLocked(session, command, db, args, reply, lockSet);
    return this.copy.isDue ? this.runWithCopy(session, command, args, reply) : outcome;
  }

  /** Takes the locks that are wanted, and runs a command that was admitted. */
  private runLocked(
    session: Session,
    command: Command,
    db: Database,
    args: Args,
    reply: Reply,
    lockSet: number,
  ): number {
    const { server, locks } = this;
    const failed = locks.acquire();
    if (failed >= 0) return this.park(failed);
    if ((command.flagBits & FLAG_WRITE) !== 0 && server.controlIsBehind()) {
      locks.release();
      return AGAIN;
    }
    server.store.heap.pool.sync();
    locks.recordAll(command.id);
    const redirect = lockSet === LOCKS_KEYS ? this.redirect(session, args) : null;
    if (redirect === null) {
      const began = lockSet === LOCKS_ALL ? this.waiting.now() : 0;
      command.runData(db, args, reply);
      if (began !== 0) server.stats.max(HOLD_MAX, (this.waiting.now() - began) * 1000);
      if (lockSet === LOCKS_KEYS) this.keyedRun++;
    } else {
      this.refuse(command, reply, redirect);
    }
    locks.release();
    return DONE;
  }

  private setScope(session: Session, db: Database): void {
    const { topology, config } = this.server;
    const node = session.owner < 0 ? undefined : topology?.nodes[session.owner];
    const isScoped = node !== undefined && !config.ownersSeeAll;
    db.ownFirst = node === undefined ? 0 : node.firstSlot;
    db.ownLast = node === undefined ? (topology === null ? -1 : LAST_SLOT) : node.lastSlot;
    db.scopeFirst = isScoped ? node.firstSlot : 0;
    db.scopeLast = isScoped ? node.lastSlot : LAST_SLOT;
  }

  private redirect(session: Session, args: Args): string | null {
    const { topology } = this.server;
    return topology === null ? null : topology.decide(session, args, this.keys);
  }

  /** Finds the keys, and the slot and hash of each. */
  private findKeys(command: Command, args: Args): void {
    const { keys } = this;
    const { table } = this.server.store;
    keys.clear();
    command.keyPositions(args, keys);
    for (let k = 0; k < keys.count; k++) {
      const i = keys.at[k] as number;
      const source = args.source(i);
      args.slot[i] = keySlot(source, args.start[i] as number, args.end[i] as number);
      args.hash[i] = table.hash(args.viewOf(i), args.start[i] as number, args.end[i] as number);
    }
  }

  private runEach(
    session: Session,
    command: Command,
    db: Database,
    args: Args,
    reply: Reply,
  ): number {
    const { each } = command;
    const { server } = this;
    if (each === null) return DONE;
    const progress =
      (session.progress as EachProgress | null) ?? this.beginEach(session, each, db, args);
    const last = each.everywhere ? server.shards - 1 : server.store.shardOf(db.scopeLast);
    const { state } = progress;
    while (progress.shard <= last) {
      const { shard } = progress;
      each.prepare?.(state);
      let after = "stop" as AfterPart;
      const got = this.locks.withShard(shard, command.id, () => {
        this.setScope(session, db);
        after = each.part(db, shard, state);
      });
      if (!got) {
        session.progress = progress;
        return this.park(shard);
      }
      if (after !== "again") progress.shard = after === "stop" ? last + 1 : shard + 1;
    }
    session.progress = null;
    each.finish(db, state, args, reply);
    return DONE;
  }

  private beginEach(session: Session, each: EachCommand, db: Database, args: Args): EachProgress {
    const state = each.begin(db, args, session);
    const first = each.everywhere ? 0 : this.server.store.shardOf(db.scopeFirst);
    return { state, shard: each.firstShard?.(db, state) ?? first, spentMs: 0 };
  }
}

/** The words of a request as the slow log shows them. */
function shownWords(
  command: Command,
  args: Args,
  bigHeads: readonly string[] | null,
): readonly string[] {
  return slowLogWords(args, bigHeads, command.spec.hidden?.(args) ?? []);
}

/** A browser that was led to the port: Redis closes without a reply. */
function isHttp(args: Args): boolean {
  return args.is(0, "POST") || args.is(0, "HOST:");
}
