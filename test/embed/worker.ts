/** The workers of the embedded store's tests: each runs one task by name on a store it opens. */
import assert from "node:assert/strict";
import { parentPort, workerData } from "node:worker_threads";
import type { WholeHandle } from "../../src/embed/handle.ts";
import { busyWord, Members } from "../../src/embed/members.ts";
import { open, type Store } from "../../src/index.ts";
import { H_SHARDS, shardRow } from "../../src/memory/layout.ts";
import { release, tryAcquire } from "../../src/memory/lock.ts";
import { ringBell } from "../../src/server/bell.ts";
import { checkPieces, piece } from "../support/pieces.ts";
import { Random } from "../support/random.ts";
import { Checker } from "./calls.ts";
import { APPENDED, resultOf, startWorker, type Task } from "./support.ts";

const task = workerData as Task;
const { count = 0, seed = 0 } = task;
const words = task.words ?? new Int32Array(2);

function post(value: unknown): void {
  parentPort?.postMessage(value);
}

/** The first word counts those that are ready; the second lets them go. */
function meet(): void {
  Atomics.add(words, 0, 1);
  Atomics.notify(words, 0);
  while (Atomics.load(words, 1) === 0) Atomics.wait(words, 1, 0);
}

/** Endless calls of all kinds; the first word counts them. */
function hammer(store: Store): void {
  const random = new Random(seed);
  for (let i = 0; ; i++) {
    const key = `key:${random.below(200)}`;
    const draw = random.below(10);
    if (draw < 4) store.set(key, "v".repeat(random.below(300)));
    else if (draw < 6) store.mset({ [key]: String(i), other: key, third: "x" });
    else if (draw < 7) store.set(key, "L".repeat(70_000));
    else if (draw < 8) store.mget("key:1", "key:2", "key:3");
    else if (draw < 9) store.del(key, "key:7");
    else if (random.chance(0.02)) store.flushall();
    else store.incr(`count:${random.below(20)}`);
    Atomics.add(words, 0, 1);
    if ((i & 15) === 0) Atomics.notify(words, 0);
  }
}

/** Takes the lock of every shard as a command would, and stays. */
function holdLocks(): void {
  const { shared, members } = task.handle as WholeHandle;
  const store = open({ handle: task.handle });
  const row = Number(/addr=handle:(\d+)/.exec(String(store.call("CLIENT", "INFO")))?.[1]);
  new Members(members).words[busyWord(row)] = 1;
  const lines = new Int32Array(shared.control);
  for (let shard = 0; shard < count; shard++) assert.ok(tryAcquire(lines, shardRow(shard), row));
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  Atomics.wait(words, 1, 0);
}

function fill(store: Store): void {
  meet();
  for (let i = 0; i < count; i++) store.set(`${seed}:${i}`, `${seed}:${i}:`.padEnd(500, "x"));
  post("filled");
}

function verify(store: Store): void {
  for (let thread = 0; thread < seed; thread++) {
    for (let i = 0; i < count; i++) {
      const expected = `${thread}:${i}:`.padEnd(500, "x");
      assert.equal(store.get(`${thread}:${i}`), expected, `${thread}:${i}`);
    }
  }
  post("verified");
}

async function nest(): Promise<void> {
  // Without a look at the store itself: the handle object is all that goes on.
  const worker = startWorker({ ...task, name: "verify" });
  post(await resultOf(worker));
}

function check(store: Store): void {
  const checker = new Checker(store, new Random(seed), `worker${seed}`);
  meet();
  checker.run(count);
  post(checker.counted);
}

function idle(): void {
  for (let i = 0; i < Math.max(count, 1); i++) open({ handle: task.handle }).set("idle", "here");
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  Atomics.wait(words, 1, 0);
}

/** Holds all shards for so many milliseconds, then gives them back as a command does. */
function holdFor(): void {
  const store = open({ handle: task.handle });
  const row = Number(/addr=handle:(\d+)/.exec(String(store.call("CLIENT", "INFO")))?.[1]);
  const { shared } = task.handle as WholeHandle;
  const lines = new Int32Array(shared.control);
  const bells = new Int32Array(shared.bells);
  const shards = lines[H_SHARDS] as number;
  for (let shard = 0; shard < shards; shard++) assert.ok(tryAcquire(lines, shardRow(shard), row));
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  Atomics.wait(words, 1, 0, count);
  Atomics.store(words, 1, 1);
  for (let shard = 0; shard < shards; shard++) {
    const parked = release(lines, shardRow(shard));
    for (let t = 0; t < 64; t++) if ((parked & (1 << (t & 31))) !== 0) ringBell(bells, t);
  }
  store[Symbol.dispose]();
}

async function listen(): Promise<void> {
  const store = open({ handle: task.handle });
  const { port } = await store.listen();
  Atomics.store(words, 1, port);
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
}

/** Appends so many pieces of its own to each of two strings that others append to. */
function appendPieces(store: Store): void {
  const random = new Random(seed);
  meet();
  for (let n = 0; n < count; n++) {
    for (const key of APPENDED) {
      store.append(key, piece(key, seed, n));
      if (!random.chance(0.05)) continue;
      checkPieces(store.get(key) ?? "", key);
      // Pinned by nobody, moved by everybody.
      store.call("COPY", key, `{${key}}copy:${seed}`, "REPLACE");
    }
  }
  post("appended");
}

/** Copies a long string for as long as it lives, which is most of what it does. */
function copyForEver(store: Store): void {
  const length = Number(store.call("STRLEN", "long"));
  for (;;) {
    store.call("COPY", "long", "copy", "REPLACE");
    store.call("SETRANGE", "copy", length + 100_000, "behind a gap");
    Atomics.add(words, 0, 1);
    Atomics.notify(words, 0);
  }
}

/** Reads a long string for as long as it lives: it is pinned for most of the time. */
function readForEver(store: Store): void {
  for (;;) {
    store.getBuffer("long");
    store.call("MGET", "long", "none", "long");
    Atomics.add(words, 0, 1);
    Atomics.notify(words, 0);
  }
}

/** Waits, by its event loop, until the database is empty. */
function watchSize(store: Store): void {
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
  const timer = setInterval(() => {
    if (store.dbsize() > 0) return;
    clearInterval(timer);
    Atomics.store(words, 1, 1);
    Atomics.notify(words, 1);
  }, 20);
}

/** Opens and closes handles as long as it lives. */
function openAndClose(): void {
  for (;;) {
    const store = open({ handle: task.handle });
    store.incr("opened");
    void store.close();
    Atomics.add(words, 0, 1);
    Atomics.notify(words, 0);
  }
}

/** Calls until one throws, and posts what it was. */
function untilError(store: Store): void {
  meet();
  try {
    for (let i = 0; ; i++) store.set(`key:${i % 100}`, "v");
  } catch (error) {
    const { name, code } = error as { name: string; code: string };
    post({ name, code });
  }
}

async function main(): Promise<void> {
  switch (task.name) {
    case "hammer":
      return hammer(open({ handle: task.handle }));
    case "hold-locks":
      return holdLocks();
    case "fill":
      return fill(open({ handle: task.handle }));
    case "verify":
      return verify(open({ handle: task.handle }));
    case "nest":
      return nest();
    case "check":
      return check(open({ handle: task.handle }));
    case "idle":
      return idle();
    case "append-pieces":
      return appendPieces(open({ handle: task.handle }));
    case "copy-for-ever":
      return copyForEver(open({ handle: task.handle }));
    case "read-for-ever":
      return readForEver(open({ handle: task.handle }));
    case "open-and-close":
      return openAndClose();
    case "watch-size":
      return watchSize(open({ handle: task.handle }));
    case "hold-for":
      return holdFor();
    case "listen":
      return listen();
    case "until-error":
      return untilError(open({ handle: task.handle }));
    default:
      throw new Error(`no task ${task.name}`);
  }
}

await main();
