/**
 * One thread of workers.test.ts: a server over shared memory, its sessions and their clients,
 * without sockets and without an event loop. A change holds its locks for a random while, so that
 * commands of other threads meet it, wait and park.
 */
import assert from "node:assert/strict";
import {
  BroadcastChannel,
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import { serverCommands } from "../../src/commands.ts";
import { makeSharedBuffer, SystemClock, systemWaiting } from "../../src/env/system.ts";
import { TakingLink } from "../../src/env/test-link.ts";
import { H_GARBAGE, LOCK_WORD, SHARD_ROW_WORDS, SHARDS_AT } from "../../src/memory/layout.ts";
import { FREE, HELD } from "../../src/memory/lock.ts";
import type { ChunkMessage } from "../../src/memory/pool.ts";
import { BELL_WORDS, ringBell, takeBellBack } from "../../src/server/bell.ts";
import { Bus, type BusMessage } from "../../src/server/bus.ts";
import { Config } from "../../src/server/config/config.ts";
import { testConfigHost } from "../../src/server/config/test-host.ts";
import { checkHeap } from "../../src/server/heap-check.ts";
import type { ClientSession } from "../../src/server/session.ts";
import { newLockCounters, type SharedState, viewShared } from "../../src/server/shared-state.ts";
import { type ThreadHost, ThreadServer } from "../../src/server/thread-server.ts";
import { Random } from "../support/random.ts";
import { encodeCommand } from "../support/resp.ts";
import { FrameReader, show, textOf } from "../support/resp-parser.ts";
import { type Call, COUNTERS, checkCall, firstCall, newRun, nextCalls, type Run } from "./calls.ts";

/** Words that the threads wait for each other with. */
const READY = 0;
const STARTED = 1;
const DONE = 2;
const STOPPED = 3;
export const FAILED = 4;
export const STAGE_WORDS = 5;

const SETTINGS: readonly { name: string; text: string }[] = [
  { name: "shards", text: "64" },
  { name: "memory-chunk", text: "16777216" },
  { name: "enable-debug-command", text: "yes" },
];

export type WorkerStart = {
  shared: SharedState;
  channel: string;
  stages: Int32Array;
  thread: number;
  seed: number;
  calls: number;
  /** Takes shard locks without a look at whether they are held; then there are only INCR. */
  isBroken: boolean;
};

export type WorkerEnd = {
  counted: number[][];
  parked: number;
  /** Times that a parked session was not rung within RING_MS. */
  missed: number;
  /** Of the last thread to stop: what is wrong with the heap, and the counters. */
  findings: string[];
  counters: string[];
};

/** What a thread fails with only because another did. */
export const ANOTHER_FAILED = "another thread failed";

const SESSIONS = 3;
const PIPELINE = 6;
/** So long that the machine cannot have kept the others from ringing. */
const RING_MS = 20_000;

/** Keeps what the server sends, and for a while what it has pinned. */
class WorkerLink extends TakingLink {
  readonly reader = new FrameReader();
  readonly #pinned: { chunk: Uint8Array; copy: Buffer; done: () => void }[] = [];

  override write(source: Uint8Array, start: number, end: number): boolean {
    this.reader.push(Buffer.from(source.subarray(start, end)));
    return true;
  }

  override writeShared(chunk: Uint8Array, done: () => void): void {
    const copy = Buffer.from(chunk);
    this.reader.push(copy);
    this.#pinned.push({ chunk, copy, done });
  }

  /** Lets go of pinned bytes, which must be what they were. */
  unpin(): void {
    for (const { chunk, copy, done } of this.#pinned.splice(0)) {
      assert.ok(copy.equals(Buffer.from(chunk)), "pinned bytes have changed");
      done();
    }
  }
}

class Client {
  readonly link: WorkerLink;
  readonly session: ClientSession;
  readonly waiting: Call[] = [];

  constructor(server: ThreadServer) {
    this.link = new WorkerLink();
    const session = server.connect(this.link, -1, false);
    assert.ok(session !== null);
    this.session = session;
  }

  send(calls: readonly Call[]): void {
    this.waiting.push(...calls);
    const bytes = Buffer.concat(calls.map(({ words }) => encodeCommand(words)));
    this.session.onData(bytes, bytes.length);
  }

  /** Checks the replies that are there. */
  read(): void {
    for (let frame = this.link.reader.next(); frame; frame = this.link.reader.next()) {
      const call = this.waiting.shift();
      assert.ok(call !== undefined, "a reply that nobody waits for");
      checkCall(call, frame.reply);
    }
  }

  /** Runs one command that nothing holds up. */
  call(...words: (string | number)[]): string {
    let text = "";
    const check: Call["check"] = (reply) => {
      text = reply.mark === "$" ? textOf(reply) : show(reply);
    };
    this.send([{ words, check }]);
    this.read();
    return text;
  }
}

let sink = 0;

function spin(turns: number): void {
  for (let i = 0; i < turns; i++) sink = (Math.imul(sink, 31) + i) | 0;
}

class Worker {
  readonly #start: WorkerStart;
  readonly #random: Random;
  readonly #bells: Int32Array;
  readonly #soon: (() => void)[] = [];
  readonly #server: ThreadServer;
  readonly #clients: Client[];
  readonly #channel: BroadcastChannel;
  #missed = 0;

  constructor(start: WorkerStart) {
    this.#start = start;
    this.#random = new Random(start.seed * 100 + start.thread);
    this.#bells = new Int32Array(start.shared.bells);
    this.#channel = new BroadcastChannel(start.channel);
    this.#server = this.#makeServer();
    this.#server.store.listener = { changed: () => this.#hold() };
    this.#clients = Array.from({ length: SESSIONS }, () => new Client(this.#server));
  }

  #makeServer(): ThreadServer {
    const { shared, thread } = this.#start;
    const port = this.#channel as unknown as MessagePort;
    const bus = new Bus({
      post: (message) => this.#channel.postMessage(message),
      take: () => (receiveMessageOnPort(port)?.message as BusMessage | undefined) ?? null,
    });
    const counters = newLockCounters();
    const pool = {
      thread,
      waiting: systemWaiting,
      counters,
      publish: (chunk: ChunkMessage) => bus.postChunk(chunk),
      receive: () => bus.nextChunk(),
      makeBuffer: makeSharedBuffer,
    };
    const config = new Config(testConfigHost(1));
    config.apply([{ name: "threads", text: String(shared.threads) }, ...SETTINGS]);
    const random = new Random(thread);
    const view = viewShared(shared, thread, 2, { clock: new SystemClock(), random, pool }, null);
    return new ThreadServer({
      ...view,
      host: this.#makeHost(bus),
      commands: serverCommands(),
      config,
      topology: null,
      random,
      facts: {} as never,
      thread,
      threads: shared.threads,
      waiting: systemWaiting,
      counters,
    });
  }

  #makeHost(bus: Bus): ThreadHost {
    return {
      listenOn: () => assert.fail("there is no port"),
      ordered: () => assert.fail("the control log is not used here"),
      postControl: (entry) => bus.postControl(entry),
      takeControl: () => bus.takeControl(),
      ring: (thread) => ringBell(this.#bells, thread),
      soon: (run) => this.#soon.push(run),
      after: () => assert.fail("no command waits here"),
      sleep: () => {},
      log: () => {},
      shutdown: () => {},
      heapUsed: () => 0,
      loopUse: () => ({ cycles: 0, activeMs: 0 }),
      oomScore: { read: () => null, write: () => "" },
      usage: () => ({
        userSeconds: 0,
        systemSeconds: 0,
        residentBytes: 0,
        systemMemoryBytes: 0,
        mainThread: null,
      }),
    };
  }

  /** Inside a critical section: short mostly, now and then longer than others are patient. */
  #hold(): void {
    const draw = this.#random.below(1000);
    if (draw < 300) spin(this.#random.below(300));
    else if (draw < 320) spin(20_000);
    else if (draw === 999) spin(2_000_000);
  }

  run(): WorkerEnd {
    const { stages, thread, shared, calls } = this.#start;
    const first = this.#clients[0] as Client;
    // All must listen to the channel before the first chunk is made.
    this.#meet(READY);
    if (thread === 0) {
      assert.equal(first.call(...(firstCall() as string[])), "+OK");
      for (let i = 0; i < COUNTERS; i++) first.call("SET", `{count:${i}}`, 0);
    }
    this.#meet(STARTED);
    if (this.#start.isBroken) ignoreLocks();
    const run = newRun();
    for (let done = 0; done < calls; ) done += this.#turn(run);
    while (this.#clients.some(({ waiting }) => waiting.length > 0)) this.#listen();
    Atomics.add(stages, DONE, 1);
    while (Atomics.load(stages, DONE) < shared.threads) this.#listen();
    for (const { link } of this.#clients) link.unpin();
    return this.#stop(run);
  }

  /** Returns once all threads have come here. */
  #meet(stage: number): void {
    const { stages, shared } = this.#start;
    let there = Atomics.add(stages, stage, 1) + 1;
    for (; there < shared.threads; there = Atomics.load(stages, stage)) {
      assert.equal(Atomics.load(stages, FAILED), 0, ANOTHER_FAILED);
      Atomics.wait(stages, stage, there, 10);
    }
  }

  /** One client sends something, if one can. Returns how many calls. */
  #turn(run: Run): number {
    const random = this.#random;
    if (random.chance(0.02)) this.#server.tick();
    this.#hear();
    const idle = this.#clients.filter(({ waiting }) => waiting.length === 0);
    if (idle.length === 0) {
      this.#listen();
      return 0;
    }
    const client = random.pick(idle);
    const calls: Call[] = [];
    while (calls.length < PIPELINE) calls.push(...this.#next(run));
    client.send(calls);
    client.read();
    if (random.chance(0.3)) client.link.unpin();
    assert.equal(Atomics.load(this.#start.stages, FAILED), 0, ANOTHER_FAILED);
    return calls.length;
  }

  #next(run: Run): Call[] {
    for (;;) {
      const calls = nextCalls(this.#random, run);
      if (!this.#start.isBroken || calls[0]?.words[0] === "INCR") return calls;
    }
  }

  /** As the event loop of a real thread when its bell rang. */
  #hear(): void {
    const at = this.#start.thread * BELL_WORDS;
    if (Atomics.load(this.#bells, at) !== 0) {
      takeBellBack(this.#bells, this.#start.thread);
      this.#server.rung();
    }
    for (const run of this.#soon.splice(0)) run();
    for (const client of this.#clients) client.read();
  }

  /** Waits for the bell while there is nothing else to do. */
  #listen(): void {
    const { thread, stages } = this.#start;
    this.#hear();
    assert.equal(Atomics.load(stages, FAILED), 0, ANOTHER_FAILED);
    const isWaiting = this.#clients.some(({ waiting }) => waiting.length > 0);
    if (this.#soon.length > 0) return;
    const end = Atomics.wait(this.#bells, thread * BELL_WORDS, 0, isWaiting ? RING_MS : 5);
    if (end !== "timed-out") return;
    if (isWaiting) this.#missed++;
    this.#server.tick();
  }

  #stop(run: Run): WorkerEnd {
    const { stages, thread, shared } = this.#start;
    const end: WorkerEnd = {
      counted: run.counted.map((seen) => [...seen]),
      parked: this.#server.stats.of(thread, "parked_sessions"),
      missed: this.#missed,
      findings: [],
      counters: [],
    };
    const isLast = Atomics.add(stages, STOPPED, 1) === shared.threads - 1;
    if (isLast) {
      const client = this.#clients[0] as Client;
      for (let i = 0; i < COUNTERS; i++) end.counters.push(client.call("GET", `{count:${i}}`));
      end.findings.push(...checkHeap(this.#server.store));
      assert.equal(client.call("FLUSHALL"), "+OK");
      for (let n = 0; n < 1000 && this.#server.store.control[H_GARBAGE] !== 0; n++) {
        this.#server.tick();
      }
      end.findings.push(...checkHeap(this.#server.store));
    }
    this.#channel.close();
    return end;
  }
}

/** The fault of the canary: the word of a shard's lock is written, whatever it says. */
function ignoreLocks(): void {
  const original = Atomics.compareExchange;
  const broken = (words: Int32Array, index: number, expected: number, value: number): number => {
    const isLock = index >= SHARDS_AT && (index - SHARDS_AT) % SHARD_ROW_WORDS === LOCK_WORD;
    if (!isLock || expected !== FREE || value !== HELD) {
      return original(words, index, expected, value);
    }
    words[index] = HELD;
    return FREE;
  };
  (Atomics as { compareExchange: unknown }).compareExchange = broken;
}

// The test reads the constants above on its own thread, which has no start.
if (workerData !== null && "stages" in (workerData as object)) {
  const start = workerData as WorkerStart;
  try {
    parentPort?.postMessage(new Worker(start).run());
  } catch (error) {
    Atomics.add(start.stages, FAILED, 1);
    throw error;
  }
}
