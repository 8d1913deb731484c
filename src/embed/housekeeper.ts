/**
 * What a handle does from its event loop. All handles look after their own connections and for
 * threads that have ended; expiring, freeing and giving pages back is the work of one of them, the
 * one that has the lease. The lease is a word of shared memory and the time at which its holder
 * last kept house; who finds that too long ago takes it. A handle whose thread never comes to its
 * event loop does nothing of this: its calls expire what they meet.
 */
import { systemTimers } from "../env/system.ts";
import { H_LEASE, H_LEASE_TIME } from "../memory/layout.ts";
import type { StoreThread } from "./store-thread.ts";

const KEEPER_BEAT_MS = 100;
const OTHER_BEAT_MS = 1000;
const SLOW_BEAT_MS = 1000;
/** Pause of a keeper that is behind: it gives housekeeping a fourth of its time. */
const CATCH_UP_MS = 3;
/** A holder that has not kept house for so long has lost the lease. */
const LEASE_MS = 1000;

export class Housekeeper {
  private readonly thread: StoreThread;
  private isKeeper = false;
  private isBehind = false;
  private cancelBeat: () => void = () => {};
  private cancelCatchUp: () => void = () => {};
  private slowAt = 0;

  constructor(thread: StoreThread) {
    this.thread = thread;
    this.cancelBeat = systemTimers.after(KEEPER_BEAT_MS, () => this.beat());
  }

  stop(): void {
    this.cancelBeat();
    this.cancelCatchUp();
  }

  private next(): void {
    const isNeeded = this.isKeeper || this.thread.endings.size > 0;
    const ms = isNeeded ? KEEPER_BEAT_MS : OTHER_BEAT_MS;
    this.cancelBeat = systemTimers.after(ms, () => this.beat());
  }

  private beat(): void {
    const { thread } = this;
    const { server } = thread;
    const isAlive = thread.guarded(() => {
      thread.bury();
      this.takeLease();
      if (server.tick() && !this.isBehind) this.catchUpSoon();
      const now = server.store.clock.monotonicMs();
      if (now >= this.slowAt) {
        this.slowAt = now + SLOW_BEAT_MS;
        server.slowTick();
        if (this.isKeeper) server.forgetMonitors((row) => thread.members.threadOf(row) === 0);
      }
      server.dispatcher.count();
    });
    if (isAlive) this.next();
  }

  private catchUpSoon(): void {
    this.isBehind = true;
    this.cancelCatchUp = systemTimers.after(CATCH_UP_MS, () => {
      this.isBehind = false;
      this.thread.guarded(() => {
        if (this.isKeeper && this.thread.server.catchUp()) this.catchUpSoon();
      });
    });
  }

  /** Takes the lease if nobody has it or its holder is late, and renews an own one. */
  private takeLease(): void {
    const { control, row, server } = this.thread;
    const now = server.store.clock;
    now.refresh();
    const holder = Atomics.load(control, H_LEASE);
    let isKeeper = holder === row + 1;
    if (!isKeeper && (holder === 0 || this.isLate(now.unixMs))) {
      isKeeper = Atomics.compareExchange(control, H_LEASE, holder, row + 1) === holder;
    }
    if (isKeeper) Atomics.store(control, H_LEASE_TIME, now.unixMs | 0);
    if (isKeeper !== this.isKeeper) server.keepAll(isKeeper);
    this.isKeeper = isKeeper;
  }

  private isLate(unixMs: number): boolean {
    // As int32, so that it does not matter when the 32 bits turn over; a clock set back counts too.
    return Math.abs((unixMs - Atomics.load(this.thread.control, H_LEASE_TIME)) | 0) > LEASE_MS;
  }

  giveUpLease(): void {
    const { control, row } = this.thread;
    Atomics.compareExchange(control, H_LEASE, row + 1, 0);
    this.isKeeper = false;
  }
}
