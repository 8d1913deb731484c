/** Handles of ended threads: which end breaks the store, and what is given back. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  controlWords,
  H_ATTENTION,
  H_BROKEN,
  H_LEASE,
  H_SHARDS,
  LOCK_OWNER,
  LOCK_STARVING,
  LOCK_WORD,
  shardRow,
} from "../memory/layout.ts";
import { FREE, GRANTED, HELD, STARVING, STARVING_CHANGES, tryAcquire } from "../memory/lock.ts";
import { mailboxBytes } from "../server/mailbox.ts";
import { BROKEN_BY_END, breakStore, buryEnded, type Undertaker } from "./burial.ts";
import { type LockPlace, StoreLocks } from "./locks.ts";
import { busyWord, Members, membersBytes } from "./members.ts";

const OWN = 100;
const DEAD = 200;
const ALIVE = 300;

const THREADS = 3;

function buffers(): ConstructorParameters<typeof StoreLocks>[0] {
  const control = new SharedArrayBuffer(controlWords(4) * 4);
  new Int32Array(control)[H_SHARDS] = 4;
  const slowLog = new SharedArrayBuffer(1024);
  const latencyEvents = new SharedArrayBuffer(1024);
  const mailboxes = new SharedArrayBuffer(mailboxBytes(THREADS, 64));
  return { control, slowLog, latencyEvents, mailboxes, threads: THREADS };
}

class World implements Undertaker {
  readonly buffers: ReturnType<typeof buffers> = buffers();
  readonly control: Int32Array = new Int32Array(this.buffers.control);
  readonly locks: StoreLocks = new StoreLocks(this.buffers);
  readonly members: Members = new Members(new SharedArrayBuffer(membersBytes()));
  readonly thread = OWN;
  readonly nodeThread = 1;
  readonly own: number;
  readonly dead: number;
  readonly givenBack: number[] = [];
  refusals = 0;
  nowMs = 0;
  /** What happens while the burier sleeps. */
  onSleep: () => void = () => {};

  constructor() {
    this.own = this.members.claim(OWN, 1);
    this.dead = this.members.claim(DEAD, 2);
  }

  hasEnded(thread: number): boolean {
    return thread === DEAD;
  }

  monotonicMs(): number {
    return this.nowMs;
  }

  sleep(ms: number): void {
    this.nowMs += ms;
    this.onSleep();
  }

  giveBack(row: number): boolean {
    if (this.refusals-- > 0) return false;
    this.givenBack.push(row);
    return true;
  }

  kill(): void {
    this.members.words[busyWord(this.dead)] = 1;
  }

  bury(): number {
    return buryEnded(this);
  }

  isBuried(): boolean {
    return this.members.threadOf(this.dead) === 0 && this.control[H_BROKEN] === 0;
  }

  isBroken(): boolean {
    return this.control[H_BROKEN] === BROKEN_BY_END;
  }
}

describe("a thread that ended between two calls", () => {
  test("is buried by one of those who find it", () => {
    const world = new World();
    world.hasEnded = (thread) => {
      // Somebody else comes between the look and the taking over.
      assert.ok(world.members.takeOver(world.dead, thread, ALIVE, 3));
      return true;
    };
    assert.equal(world.bury(), 0);
    assert.deepEqual(world.givenBack, []);
    assert.equal(world.members.threadOf(world.dead), ALIVE);
  });

  test("gives its row back, and the lease if it had it", () => {
    const world = new World();
    world.control[H_LEASE] = world.dead + 1;
    assert.equal(world.bury(), 1);
    assert.ok(world.isBuried());
    assert.deepEqual(world.givenBack, [world.dead]);
    assert.equal(world.control[H_LEASE], 0);
    assert.equal(world.members.threadOf(world.own), OWN);
    assert.equal(world.bury(), 0);
  });

  test("is known by the mark of the thread that started it as well", () => {
    const world = new World();
    const row = world.members.claim(ALIVE, 5);
    world.members.markEnded(5);
    world.members.markEnded(77);
    assert.equal(world.bury(), 2);
    assert.equal(world.members.threadOf(row), 0);
    // The next one in the same row is another thread.
    assert.equal(world.members.claim(ALIVE, 6), world.dead);
    assert.equal(world.bury(), 0);
  });

  test("whose number this thread has got is known by the number that Node gave it", () => {
    const world = new World();
    const row = world.members.claim(OWN, 9);
    assert.equal(world.bury(), 2);
    assert.equal(world.members.threadOf(row), 0);
    assert.equal(world.members.threadOf(world.own), OWN);
  });

  test("keeps its row until all is given back, but not for ever", () => {
    const world = new World();
    world.refusals = 3;
    assert.equal(world.bury(), 1);
    assert.deepEqual(world.givenBack, [world.dead]);
    const endless = new World();
    endless.refusals = Number.POSITIVE_INFINITY;
    assert.equal(endless.bury(), 1);
    assert.ok(endless.isBuried());
  });
});

describe("a thread that ended in the middle of a call", () => {
  test("breaks the store if it has a lock, whichever", () => {
    const { places } = new World().locks;
    assert.equal(places.length, 3 + 4 + 2 + THREADS);
    for (const number of places.keys()) {
      const world = new World();
      const { words, line } = world.locks.places[number] as LockPlace;
      assert.ok(tryAcquire(words, line, world.dead));
      assert.ok(world.locks.isHeldBy(world.dead));
      assert.equal(world.locks.numberOf(words, line), number);
      world.bury();
      assert.ok(world.isBroken(), String(number));
      assert.equal(world.control[H_ATTENTION], 1);
    }
  });

  test("does no harm if it has none, though others have", () => {
    const world = new World();
    world.kill();
    tryAcquire(world.control, shardRow(1), world.own);
    world.bury();
    assert.ok(world.isBuried());
  });

  test("breaks the store if a lock stays taken with nobody's name on it", () => {
    const world = new World();
    world.kill();
    world.control[shardRow(2) + LOCK_WORD] = HELD;
    world.bury();
    assert.ok(world.isBroken());
    assert.ok(world.nowMs >= 100);
  });

  test("and not if somebody puts a name on it, or releases it", () => {
    for (const word of [LOCK_OWNER, LOCK_WORD]) {
      const world = new World();
      world.kill();
      world.control[shardRow(2) + LOCK_WORD] = HELD;
      world.onSleep = () => {
        world.control[shardRow(2) + word] = word === LOCK_OWNER ? world.own + 1 : FREE;
      };
      world.bury();
      assert.ok(world.isBuried());
    }
  });

  test("is taken out of the count of those that starve", () => {
    const world = new World();
    world.kill();
    const line = shardRow(1);
    world.control[line + LOCK_STARVING] = 1;
    world.control[line + LOCK_WORD] = GRANTED;
    world.members.setStarving(world.dead, world.locks.numberOf(world.control, line), STARVING);
    world.bury();
    assert.ok(world.isBuried());
    assert.equal(world.control[line + LOCK_STARVING], 0);
    assert.equal(world.control[line + LOCK_WORD], FREE);
    assert.equal(world.members.starvingState(world.dead), 0);
  });

  test("breaks the store if nobody knows whether it was in that count", () => {
    const world = new World();
    world.kill();
    world.members.setStarving(world.dead, 3, STARVING_CHANGES);
    world.bury();
    assert.ok(world.isBroken());
  });
});

test("a thread that ends while it buries is buried with the one it was burying", () => {
  const world = new World();
  const burier = world.members.claim(ALIVE, 4);
  assert.ok(world.members.takeOver(world.dead, DEAD, ALIVE, 4));
  assert.ok(!world.members.takeOver(world.dead, DEAD, OWN, 1), "it has another owner now");
  world.members.markEnded(2);
  assert.equal(world.bury(), 0, "the mark of its first owner is not for its second");
  world.members.markEnded(4);
  assert.equal(world.bury(), 2);
  assert.equal(world.members.threadOf(world.dead), 0);
  assert.equal(world.members.threadOf(burier), 0);
});

test("the first reason why a store is broken stays", () => {
  const { control } = new World();
  breakStore(control, 2);
  breakStore(control, 1);
  assert.equal(control[H_BROKEN], 2);
  assert.equal(control[H_ATTENTION], 1);
});
