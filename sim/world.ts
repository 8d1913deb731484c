/**
 * A whole server and its clients in one thread, with everything that is left to chance decided by
 * one seed: which client acts, where its bytes are cut, which thread's task runs next, how far the
 * clock steps. Every reply is compared with a model that keeps keys in a Map, and goes with each
 * event into a hash, so that two runs of a seed can be told to be the same.
 *
 * A request runs when its last byte has been delivered, unless it parks; nothing parks here, since
 * nobody holds a lock between steps. So the model runs a request when its last byte goes in, and
 * the reply must be there when the call returns.
 */

import { latin1, latin1Bytes } from "../src/base/bytes.ts";
import { Random } from "../src/base/random.ts";
import { serverCommands } from "../src/commands.ts";
import type { Clock } from "../src/env/env.ts";
import { TakingLink } from "../src/env/test-link.ts";
import { requestText } from "../src/protocol/test-request.ts";
import { Config } from "../src/server/config/config.ts";
import { testConfigHost } from "../src/server/config/test-host.ts";
import { checkHeap } from "../src/server/heap-check.ts";
import { InlineHost } from "../src/server/inline-host.ts";
import type { ClientSession } from "../src/server/session.ts";
import type { ThreadServer } from "../src/server/thread-server.ts";
import { Model } from "./model.ts";
import { nextRequest } from "./workload.ts";

const THREADS = 4;
const CLIENTS = 6;
const START_MS = 1_700_000_000_000;
/** Requests a client may have sent only in part, or not at all. */
const QUEUE_MAX = 8;

/** Keeps what the server sends until the world has looked at it. */
class WorldLink extends TakingLink {
  sent = "";
  isClosed = false;

  override write(source: Uint8Array, start: number, end: number): boolean {
    this.sent += latin1(source, start, end);
    return true;
  }

  override destroy(): void {
    this.isClosed = true;
  }
}

type Client = {
  index: number;
  link: WorldLink;
  session: ClientSession;
  /** Bytes that are not delivered yet. */
  outbox: string;
  /** Requests in them, with the bytes of `outbox` that must be delivered before each runs. */
  queue: { words: string[]; end: number }[];
};

export class World {
  readonly seed: number;
  readonly host: InlineHost;
  readonly model: Model = new Model();
  replies = 0;
  private readonly random: Random;
  private readonly clock: Clock;
  private readonly clients: Client[] = [];
  private nowMs = START_MS;
  private steps = 0;
  /** FNV-1a over all events, in two halves of different bases. */
  private hashLow = 0x811c9dc5;
  private hashHigh = 0x01000193;

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
    this.clock = {
      unixMs: START_MS,
      refresh: () => {
        this.clock.unixMs = this.nowMs;
      },
      monotonicMs: () => this.nowMs - START_MS,
      unixUsec: () => this.nowMs * 1000,
    };
    this.host = this.boot();
    for (let index = 0; index < CLIENTS; index++) this.clients.push(this.connect(index));
  }

  private boot(): InlineHost {
    const config = new Config(testConfigHost(THREADS));
    config.apply([
      { name: "threads", text: String(THREADS) },
      { name: "shards", text: "16" },
      { name: "memory-chunk", text: "16777216" },
      { name: "enable-debug-command", text: "yes" },
    ]);
    return new InlineHost({
      commands: serverCommands(),
      config,
      clock: this.clock,
      random: new Random(`${this.seed} server`),
      facts: {
        version: "0.0.0",
        redisVersion: "7.4.0",
        runId: "0".repeat(40),
        nodeId: "0".repeat(40),
        startedMs: START_MS,
        processId: 1,
        nodeVersion: "20.0.0",
        os: "simulated",
        archBits: 64,
        executable: "/zerohop",
        tcpPort: 6379,
        ownerPorts: [],
        acceptMode: "single",
        oomScoreBefore: null,
      },
      nodes: null,
      checked: true,
      clientRows: 64,
      pick: (n) => this.random.below(n),
      log: (level, text) => this.note(`log ${level} ${text}`),
    });
  }

  private connect(index: number): Client {
    const thread = this.random.below(THREADS);
    const link = new WorldLink(`127.0.0.1:${50_000 + index}`);
    const session = this.host.connect(thread, link);
    if (session === null) throw this.fault("a connection was refused");
    this.note(`connect ${index} ${thread}`);
    return { index, link, session, outbox: "", queue: [] };
  }

  /** 16 hexadecimal digits that stand for all that has happened. */
  hash(): string {
    const hex = (half: number): string => (half >>> 0).toString(16).padStart(8, "0");
    return hex(this.hashHigh) + hex(this.hashLow);
  }

  run(steps: number): void {
    for (let i = 0; i < steps; i++) this.step();
  }

  private step(): void {
    this.steps++;
    const draw = this.random.below(100);
    if (draw < 35) this.request();
    else if (draw < 75) this.deliver(this.random.pick(this.clients), false);
    else if (draw < 85) this.note(`task ${this.host.step()}`);
    else if (draw < 93) this.moveClock();
    else if (draw < 98) this.tick();
    else this.reconnect();
  }

  private request(): void {
    const client = this.random.pick(this.clients);
    if (client.queue.length >= QUEUE_MAX) return;
    const words = nextRequest(this.random);
    client.outbox += requestText(words);
    client.queue.push({ words, end: client.outbox.length });
  }

  /** Delivers the next bytes of a client, cut anywhere, and looks at what comes back. */
  private deliver(client: Client, all: boolean): void {
    const { outbox } = client;
    if (outbox.length === 0) return;
    const count = all || this.random.chance(0.3) ? outbox.length : this.cut(outbox.length);
    client.outbox = outbox.slice(count);
    const run: string[][] = [];
    for (const request of client.queue) if (request.end <= count) run.push(request.words);
    client.queue = client.queue.slice(run.length);
    for (const request of client.queue) request.end -= count;
    this.note(`deliver ${client.index} ${count}`);
    const bytes = latin1Bytes(outbox.slice(0, count));
    client.session.onData(bytes, bytes.length);
    // The commands ran at the time that the server read, which is the time of the world.
    this.compare(client, run);
  }

  private cut(length: number): number {
    return 1 + this.random.below(Math.min(length, 200));
  }

  private compare(client: Client, run: readonly string[][]): void {
    const { sent } = client.link;
    client.link.sent = "";
    let at = 0;
    for (const words of run) {
      const expected = this.model.run(words, this.nowMs);
      const got = sent.slice(at, at + expected.length);
      if (got !== expected) {
        const shown = sent.slice(at, at + Math.max(expected.length, 100));
        const what = `${JSON.stringify(shown)} instead of ${JSON.stringify(expected)}`;
        throw this.fault(`client ${client.index}: ${words.join(" ").slice(0, 200)}: ${what}`);
      }
      at += expected.length;
      this.replies++;
    }
    if (at !== sent.length || client.link.isClosed) {
      throw this.fault(`client ${client.index}: unasked ${JSON.stringify(sent.slice(at))}`);
    }
    this.note(sent);
  }

  private moveClock(): void {
    this.nowMs += this.random.chance(0.1) ? this.random.below(20_000) : this.random.below(200);
    this.note(`time ${this.nowMs}`);
  }

  private tick(): void {
    const thread = this.random.below(THREADS);
    const isSlow = this.random.chance(0.2);
    const server = this.host.servers[thread] as ThreadServer;
    this.note(`tick ${thread} ${isSlow}`);
    if (isSlow) server.slowTick();
    else server.tick();
  }

  /** A client vanishes, perhaps in the middle of a request, and another takes its place. */
  private reconnect(): void {
    const index = this.random.below(CLIENTS);
    const client = this.clients[index] as Client;
    client.session.onClose();
    if (client.link.sent !== "") throw this.fault(`client ${index}: sent on close`);
    this.clients[index] = this.connect(index);
  }

  /** Lets everything arrive, then compares every key and looks at the heap. */
  finish(): void {
    for (const client of this.clients) this.deliver(client, true);
    this.host.settle();
    for (const server of this.host.servers) server.tick();
    this.host.settle();
    const first = this.clients[0] as Client;
    for (const words of this.model.probes()) {
      first.outbox = requestText(words);
      first.queue = [{ words, end: first.outbox.length }];
      this.deliver(first, true);
    }
    for (const { store, thread } of this.host.servers) {
      const lines = checkHeap(store);
      if (lines.length > 0) throw this.fault(`thread ${thread}'s heap: ${lines.join("; ")}`);
    }
  }

  private note(event: string): void {
    for (let i = 0; i < event.length; i++) {
      const code = event.charCodeAt(i);
      this.hashLow = Math.imul(this.hashLow ^ code, 0x01000193);
      this.hashHigh = Math.imul(this.hashHigh ^ code, 0x85ebca6b) + 1;
    }
    // Events are told apart by a code that no byte has.
    this.hashLow = Math.imul(this.hashLow ^ 256, 0x01000193);
  }

  private fault(what: string): Error {
    return new Error(`seed ${this.seed}, step ${this.steps}: ${what}`);
  }
}
