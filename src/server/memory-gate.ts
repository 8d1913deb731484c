/**
 * The gate for memory: what a command needs is admitted, makes room for itself, waits, or is
 * refused with -OOM. One for each thread, over counters that all threads share.
 *
 *   in use     bytes in blocks of the heap without the roots of databases: INFO used_memory
 *   received   bytes of unfinished requests, beside what the heap holds of them
 *   reserved   what requests under way may still allocate, as far as that is much
 *   room       maxmemory - in use - received - reserved
 *
 * A request is admitted if there is room for it. If not, garbage is freed, then keys that have
 * expired, then keys are evicted, for as long as `maxmemory-eviction-tenacity` gives a command.
 * When that time is up, Redis runs the command all the same, over the limit; here it may only come
 * a little over it (BAND), and else its session is parked while the thread goes on evicting between
 * the turns of others. When there is nothing to evict the command is refused.
 *
 * Adding the counters of all shards up costs more than a SET. So a thread that has looked admits
 * small requests unseen until it has allocated so much (`allowance`), of which all threads together
 * have a thousandth of maxmemory; and a thread that evicts makes room for some more requests.
 */
import type { Clock } from "../env/env.ts";
import { Eviction, evictionPolicy, NOT_NOW, NOTHING_LEFT, REMOVED } from "../keyspace/eviction.ts";
import { ExpirySweep } from "../keyspace/eviction-sweep.ts";
import { freeGarbageSlice, type ShardLocks } from "../keyspace/garbage.ts";
import { usedBytes } from "../keyspace/roots.ts";
import { statIndex } from "../keyspace/stats.ts";
import type { Store } from "../keyspace/store.ts";
import { SPAN_BYTES, UNIT_BYTES } from "../limits.ts";
import { H_EXCEEDED_SINCE, H_GARBAGE, H_RESERVED_UNITS, H_SPANS_USED } from "../memory/layout.ts";
import { ADMITTED, LATER, REFUSED } from "../protocol/parser.ts";
import type { Config } from "./config/config.ts";

/** Beside the request itself, what a command may take from the heap's spans. */
const RESERVE_BYTES = 1 << 20;
/** What tables may grow by for a request, beside its bytes. */
const GROWTH_BYTES = 1024;
/** Of maxmemory, how far commands may come over it while keys are evicted: a 200th. */
const BAND = 200;
/** Of maxmemory, what all threads together admit unseen: a 1024th. */
const UNSEEN = 1024;
/** Of the spans in use, what is free within them if it is worth trying: a 16th. */
const HOLES_MIN = 16;
/** Between two rounds over all shards for empty spans, unless much was freed; remote frees. */
const TRIM_PAUSE_MS = 100;
const TRIMMED_FREES = 512;
/** Most bytes that are evicted beyond what is needed, so that the next requests find room. */
const SLACK_BYTES_MAX = 4096;
/** Most keys that are evicted at a stretch, however much time there is. */
export const SLICE_KEYS_MAX = 2048;
/** Slots, segments and records that are looked at in a stretch, but for its last step. */
export const SLICE_VISITS_MAX = 32_768;
/** Redis looks at the clock after so many keys. */
const KEYS_BETWEEN_LOOKS = 16;
/** Records of garbage freed before the room is looked at. */
const GARBAGE_SLICE = 64;
/** Tries without a lock or a key before the rest is left for later. */
const FAILURES_MAX = 4;

/** Outcomes of `makeRoom`. */
const ENOUGH = 0;
const TIME_IS_UP = 1;
const NOTHING_TO_EVICT = 2;

const WAITS = statIndex("memory_waits");
const SLICE_MAX = statIndex("eviction_slice_max_usec");
const SLICE_KEYS = statIndex("eviction_slice_max_keys");
const SLICE_VISITS = statIndex("eviction_slice_max_visits");
const SLICE_BYTES = statIndex("eviction_slice_max_bytes");
const EXCEEDED_MS = statIndex("eviction_exceeded_ms");

export type MemoryHost = {
  /** Whoever is told LATER tries again at once, without any turn of the event loop. */
  readonly isBlocking: boolean;
  /** Bytes of unfinished requests of all threads that are not in the heap. */
  receivedBytes(): number;
  /** Runs something on this thread once the current turn is over. */
  soon(run: () => void): void;
  /** What a tick does first. */
  enter(): void;
  /** Lets parked sessions try again. */
  resume(): void;
  /** A round of eviction took so long. */
  evicted(ms: number): void;
  /** So many units are reserved by this thread now: it may end before it gives them back. */
  reserves(units: number): void;
};

export class MemoryGate {
  /** Nothing is evicted or refused: a pause. */
  isPaused = false;
  private readonly store: Store;
  private readonly control: Int32Array;
  private readonly clock: Clock;
  private readonly locks: ShardLocks;
  private readonly threads: number;
  private readonly host: MemoryHost;
  private readonly eviction: Eviction;
  private readonly sweep: ExpirySweep;
  /** Bytes: maxmemory, or infinite. */
  private limit = Number.POSITIVE_INFINITY;
  private band = 0;
  /** The largest request that is admitted unseen, and that needs no reservation. */
  private smallMax = 0;
  private slack = 0;
  private timeLimitMs = 0;
  /** Bytes that may be allocated unseen, and what this thread had allocated when it last looked. */
  private allowance = Number.POSITIVE_INFINITY;
  private allocatedBefore = 0;
  /** Units reserved for the request under way, and for the largest that waits. */
  private reserved = 0;
  private held = 0;
  private isHeldAgain = false;
  /** The least that a waiting session needs, in bytes. */
  private leastWanted = Number.POSITIVE_INFINITY;
  /** This turn of the event loop has had its time for eviction. */
  private isSpent = false;
  private isScheduled = false;
  /** When shards were last trimmed, and what was in use then. */
  private trimmedMs = Number.NEGATIVE_INFINITY;
  private trimmedUsed = 0;
  /** Keys that the last round evicted, their bytes, and whether it freed anything at all. */
  private removed = 0;
  private removedBytes = 0;
  /** What this thread had visited when the round began. */
  private visitedBefore = 0;
  private hasFreed = false;
  /** Room that the last round left. */
  private roomLeft = 0;

  /** Keys are evicted under `briefLocks`, one or a few under each. */
  constructor(
    store: Store,
    locks: ShardLocks,
    briefLocks: ShardLocks,
    threads: number,
    host: MemoryHost,
  ) {
    this.store = store;
    this.control = store.control;
    this.clock = store.clock;
    this.locks = locks;
    this.threads = threads;
    this.host = host;
    this.eviction = new Eviction(store, briefLocks);
    this.sweep = new ExpirySweep(store, locks);
  }

  configure(config: Config): void {
    const policy = evictionPolicy(config.maxmemoryPolicy);
    const { maxmemory } = config;
    this.eviction.configure(policy, config.number("maxmemory-samples"));
    this.store.setAccessMode(
      policy.by === "lfu",
      config.number("lfu-log-factor"),
      config.number("lfu-decay-time"),
    );
    this.store.sharesIntegers = maxmemory === 0 || (policy.by !== "lru" && policy.by !== "lfu");
    this.timeLimitMs = evictionTimeMs(config.number("maxmemory-eviction-tenacity"));
    this.limit = maxmemory === 0 ? Number.POSITIVE_INFINITY : maxmemory;
    this.band = maxmemory / BAND;
    this.smallMax = maxmemory / UNSEEN / this.threads;
    this.slack = Math.min(SLACK_BYTES_MAX, this.smallMax);
    this.allowance = maxmemory === 0 ? Number.POSITIVE_INFINITY : 0;
    if (this.room() < 0) this.goOnSoon();
  }

  used(): number {
    return usedBytes(this.store.heap);
  }

  private room(): number {
    if (this.limit === Number.POSITIVE_INFINITY) return this.limit;
    const reserved = Atomics.load(this.control, H_RESERVED_UNITS) * UNIT_BYTES;
    return this.limit - this.taken() - reserved;
  }

  private look(): number {
    this.roomLeft = this.room();
    return this.roomLeft;
  }

  /** What is in use and received. */
  private taken(): number {
    return this.used() + this.host.receivedBytes();
  }

  /** Admits a command whose arguments have so many bytes that have no block of the heap yet. */
  admit(bytes: number): number {
    this.release();
    const most = mostOf(bytes);
    const { pool } = this.store.heap;
    if (!pool.reserve(most) && !pool.isSealed) {
      const verdict = this.reserveOfGarbage(most, () => pool.reserve(most));
      if (verdict !== ADMITTED) return verdict;
    }
    const need = bytes * 2 + GROWTH_BYTES;
    const taken = (this.store.heap.allocatedUnits - this.allocatedBefore) | 0;
    return need + taken * UNIT_BYTES <= this.allowance ? ADMITTED : this.admitSlowly(need);
  }

  /**
   * Admits a block for a long argument, before anybody knows what command it is of: if there is
   * nothing to evict the command may still be one that needs no memory.
   */
  admitArgument(bytes: number): number {
    if (bytes > this.limit) return REFUSED;
    this.release();
    // Chunks for it are made with it, since its spans must be neighbours.
    const { pool } = this.store.heap;
    const most = bytes + SPAN_BYTES;
    if (!pool.allows(most) && this.reserveOfGarbage(most, () => pool.allows(most)) === LATER) {
      return LATER;
    }
    if (this.limit === Number.POSITIVE_INFINITY) return ADMITTED;
    const verdict = this.admitSlowly(Math.ceil(bytes / SPAN_BYTES + 1) * SPAN_BYTES);
    return verdict === REFUSED ? ADMITTED : verdict;
  }

  /** What was reserved has been allocated, or never will be. */
  release(): void {
    if (this.reserved === 0) return;
    const units = this.reserved;
    this.reserved = 0;
    this.giveBack(units);
  }

  /** Takes units off what is reserved, once this thread does not count them any more. */
  private giveBack(units: number): void {
    this.host.reserves(this.reserved + this.held);
    Atomics.sub(this.control, H_RESERVED_UNITS, units);
  }

  /** True if it was for want of spans that a command was refused, and much is free within them. */
  hasHoles(bytes: number): boolean {
    if (this.store.heap.pool.reserve(mostOf(bytes))) return false;
    const taken = (this.control[H_SPANS_USED] as number) * SPAN_BYTES;
    return this.used() < taken - taken / HOLES_MIN;
  }

  /**
   * Makes room for bytes that the heap has no spans for, whatever maxmemory says, by freeing what
   * was flushed. There is as much time for it as for eviction; then the session waits.
   */
  private reserveOfGarbage(bytes: number, isThere: () => boolean): number {
    const began = this.clock.monotonicMs();
    while (this.control[H_GARBAGE] !== 0) {
      const isLate = this.isSpent || this.clock.monotonicMs() - began > this.timeLimitMs;
      if (isLate || !this.freesGarbage()) {
        this.wait(bytes);
        return LATER;
      }
      if (isThere()) return ADMITTED;
    }
    if (isThere()) return ADMITTED;
    this.trimShards();
    return isThere() ? ADMITTED : REFUSED;
  }

  /** Gives back the spans that shards keep for what comes next, if there may be some. */
  private trimShards(): void {
    const { heap, shards } = this.store;
    const now = this.clock.monotonicMs();
    const used = this.used();
    const isRecent = now - this.trimmedMs < TRIM_PAUSE_MS;
    if (isRecent && used > this.trimmedUsed - RESERVE_BYTES) return;
    this.trimmedMs = now;
    this.trimmedUsed = used;
    for (let shard = 0; shard < shards; shard++) {
      this.locks.tryShard(shard, () => void heap.trim(shard, TRIMMED_FREES));
    }
  }

  private admitSlowly(need: number): number {
    if (this.isPaused) return ADMITTED;
    const units = Math.ceil(need / UNIT_BYTES);
    // It may be the one for which so much is held.
    if (units >= this.held) this.unhold();
    const isSmall = need <= this.smallMax;
    if (!isSmall) {
      this.reserved = units;
      Atomics.add(this.control, H_RESERVED_UNITS, units);
      this.host.reserves(units + this.held);
    }
    const wanted = isSmall ? need : 0;
    const outcome = this.isSpent ? TIME_IS_UP : this.makeRoom(wanted);
    const room = (this.isSpent ? this.room() : this.roomLeft) - wanted;
    if (room >= 0) {
      const share = Math.max(this.slack, room / this.threads);
      this.allowance = isSmall ? Math.min(this.smallMax, share) : 0;
      this.allocatedBefore = this.store.heap.allocatedUnits;
      return ADMITTED;
    }
    this.allowance = 0;
    const isNear = room + this.band >= 0;
    if (outcome === NOTHING_TO_EVICT) {
      if (isNear && this.taken() <= this.limit) return ADMITTED;
      this.release();
      return REFUSED;
    }
    if (isNear) {
      this.goOnSoon();
      return ADMITTED;
    }
    this.wait(need);
    return LATER;
  }

  /** Keeps what a request needs reserved while its session waits, so that small ones let it by. */
  private wait(need: number): void {
    if (this.reserved !== 0 && this.held === 0) {
      this.held = this.reserved;
      this.reserved = 0;
    } else {
      this.release();
    }
    this.isHeldAgain = true;
    this.leastWanted = Math.min(this.leastWanted, need);
    this.isSpent = !this.host.isBlocking;
    this.store.stats.add(WAITS, 1);
    this.goOnSoon();
  }

  private unhold(): void {
    if (this.held === 0) return;
    const units = this.held;
    this.held = 0;
    this.giveBack(units);
  }

  /** Makes room for `wanted` bytes beside what is reserved, within the time of a command. */
  private makeRoom(wanted: number): number {
    this.roomLeft = this.room();
    if (this.roomLeft >= wanted) {
      this.noteExceeded(false);
      return ENOUGH;
    }
    const began = this.clock.monotonicMs();
    this.removed = 0;
    this.removedBytes = 0;
    this.visitedBefore = this.store.heap.work.visitedTotal;
    const outcome = this.freeSome(wanted, began);
    const ms = this.clock.monotonicMs() - began;
    const { stats } = this.store;
    stats.max(SLICE_KEYS, this.removed);
    stats.max(SLICE_BYTES, this.removedBytes);
    stats.max(SLICE_VISITS, this.visited());
    stats.max(SLICE_MAX, ms * 1000);
    this.host.evicted(ms);
    this.noteExceeded(outcome !== ENOUGH && this.taken() > this.limit);
    return outcome;
  }

  private freeSome(wanted: number, began: number): number {
    this.hasFreed = false;
    const goal = wanted + this.slack;
    let missing = goal - this.roomLeft;
    let failures = 0;
    let unlooked = 0;
    for (;;) {
      let looks = true;
      if (this.freesGarbage() || this.sweeps()) {
        this.hasFreed = true;
      } else {
        const { eviction } = this;
        const result = eviction.removeSome(missing);
        if (result === NOTHING_LEFT) return this.outcomeOfNothing(wanted);
        if (result === NOT_NOW && ++failures === FAILURES_MAX) {
          this.look();
          return TIME_IS_UP;
        }
        if (result === REMOVED) {
          this.hasFreed = true;
          this.removed += eviction.removed;
          this.removedBytes += eviction.freedBytes;
        }
        missing -= eviction.freedBytes;
        unlooked += eviction.removed;
        looks = unlooked >= KEYS_BETWEEN_LOOKS || this.removed >= SLICE_KEYS_MAX;
      }
      if (missing > 0 && !looks) continue;
      // Others may have freed some as well.
      missing = goal - this.look();
      if (missing <= 0) return ENOUGH;
      unlooked = 0;
      if (this.isRoundOver(began)) return this.roomLeft >= wanted ? ENOUGH : TIME_IS_UP;
    }
  }

  /** Bounded by what was done too: a clock says nothing of a thread that did not run. */
  private isRoundOver(began: number): boolean {
    return (
      this.removed >= SLICE_KEYS_MAX ||
      this.visited() >= SLICE_VISITS_MAX ||
      this.clock.monotonicMs() - began > this.timeLimitMs
    );
  }

  private visited(): number {
    return (this.store.heap.work.visitedTotal - this.visitedBefore) | 0;
  }

  /** True if some garbage was freed, and the rest is to be looked at again. */
  private freesGarbage(): boolean {
    if (this.control[H_GARBAGE] === 0) return false;
    return freeGarbageSlice(this.store, this.locks, GARBAGE_SLICE) > 0;
  }

  private sweeps(): boolean {
    if (this.sweep.isDone) return false;
    this.sweep.step();
    return true;
  }

  private outcomeOfNothing(wanted: number): number {
    if (this.look() >= wanted) return ENOUGH;
    // What others are freeing, or is behind a lock, is room soon.
    return this.control[H_GARBAGE] === 0 ? NOTHING_TO_EVICT : TIME_IS_UP;
  }

  /** Goes on evicting between the turns of sessions, until there is room or nothing to evict. */
  private goOnSoon(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.host.soon(() => this.goOn());
  }

  private goOn(): void {
    this.isScheduled = false;
    this.isSpent = false;
    this.host.enter();
    if (this.isPaused) return;
    const outcome = this.makeRoom(0);
    // Where nothing could be freed the next tick tries again.
    if (outcome === TIME_IS_UP && this.hasFreed) this.goOnSoon();
    if (this.leastWanted === Number.POSITIVE_INFINITY) return;
    const room = this.room() + this.held * UNIT_BYTES + this.band;
    if (outcome === TIME_IS_UP && room < this.leastWanted) return;
    this.leastWanted = Number.POSITIVE_INFINITY;
    this.host.resume();
  }

  /** Many times a second: what no command came by to do. */
  tick(): void {
    if (this.held !== 0 && !this.isHeldAgain) this.unhold();
    this.isHeldAgain = false;
    this.isSpent = false;
    if (this.limit === Number.POSITIVE_INFINITY || this.room() >= 0) this.noteExceeded(false);
    else this.goOnSoon();
  }

  /** Milliseconds for which more than maxmemory has been in use, 0 if it is not. */
  exceededForMs(): number {
    const since = Atomics.load(this.control, H_EXCEEDED_SINCE);
    return since === 0 ? 0 : Math.max(0, (this.milliseconds() - since) | 0);
  }

  /** Forgets since when; for CONFIG RESETSTAT. */
  resetExceeded(): void {
    Atomics.store(this.control, H_EXCEEDED_SINCE, 0);
  }

  private noteExceeded(isExceeded: boolean): void {
    const { control } = this;
    if (isExceeded) {
      Atomics.compareExchange(control, H_EXCEEDED_SINCE, 0, this.milliseconds());
    } else if (control[H_EXCEEDED_SINCE] !== 0) {
      const ms = this.exceededForMs();
      if (Atomics.exchange(control, H_EXCEEDED_SINCE, 0) !== 0) {
        this.store.stats.add(EXCEEDED_MS, ms);
      }
    }
  }

  /** The unix time in 32 bits, never 0. */
  private milliseconds(): number {
    return (this.clock.unixMs % 2 ** 32) | 0 || 1;
  }
}

/** What a command whose arguments have so many bytes may allocate in spans. */
function mostOf(bytes: number): number {
  return bytes * 2 + RESERVE_BYTES;
}

/** Redis's time for eviction in a command, by tenacity: 0.5 ms for 10, endless for 100. */
export function evictionTimeMs(tenacity: number): number {
  if (tenacity <= 10) return tenacity * 0.05;
  return tenacity < 100 ? 0.5 * 1.15 ** (tenacity - 10) : Number.POSITIVE_INFINITY;
}
