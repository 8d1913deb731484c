/**
 * What the tests of server commands run on: a whole server in this process, its threads stepped by
 * hand, with links that keep what is sent. No sockets, a clock that moves when told to.
 */

import { assert } from "../base/assert.ts";
import { latin1, latin1Bytes } from "../base/bytes.ts";
import { keySlot } from "../base/crc16.ts";
import { Random } from "../base/random.ts";
import { serverCommands } from "../commands.ts";
import type { Clock } from "../env/env.ts";
import { TakingLink } from "../env/test-link.ts";
import { SLOTS } from "../limits.ts";
import { shardRow } from "../memory/layout.ts";
import { release, tryAcquire } from "../memory/lock.ts";
import { requestText } from "../protocol/test-request.ts";
import { Config } from "./config/config.ts";
import { testConfigHost } from "./config/test-host.ts";
import { InlineHost } from "./inline-host.ts";
import type { ClientSession } from "./session.ts";
import type { ThreadServer } from "./thread-server.ts";
import { SLOT_STABLE, slotRow, type TopologyNode } from "./topology.ts";

const NODE_ID = "07c37dfeb235213a872192d90877d0cd55635b91";
const PORT = 6379;
const COMMANDS = serverCommands();

/** Keeps what the server sends. */
export class TestLink extends TakingLink {
  override readonly descriptor = 7;
  sent = "";
  isClosed = false;
  /** What `pending` says is on its way. */
  unfinished = 0;
  /** Of that, what `unsent` says. */
  untaken = 0;
  /** The peer takes nothing: all that is written stays on its way. */
  isStuck = false;
  isPaused = false;
  session: ClientSession | null = null;

  override write(source: Uint8Array, start: number, end: number): boolean {
    this.sent += latin1(source, start, end);
    if (!this.isStuck) return true;
    this.unfinished += end - start;
    this.untaken += end - start;
    return false;
  }

  override unsent(): number {
    return this.untaken;
  }

  override pending(): number {
    return this.unfinished;
  }

  override pause(): void {
    this.isPaused = true;
  }

  override resume(): void {
    this.isPaused = false;
  }

  /** The peer takes all that is on its way. */
  drain(): void {
    this.unfinished = 0;
    this.untaken = 0;
    this.isStuck = false;
    this.session?.onDrain();
  }

  override destroy(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.session?.onClose();
  }
}

export class TestClient {
  readonly link: TestLink;
  readonly session: ClientSession;

  constructor(link: TestLink, session: ClientSession) {
    this.link = link;
    this.session = session;
    link.session = session;
  }

  get isClosed(): boolean {
    return this.link.isClosed;
  }

  /** Sends one request and returns what came back, with one character per byte. */
  call(...words: string[]): string {
    return this.send(requestText(words));
  }

  /** Sends bytes as they are. */
  send(text: string): string {
    const bytes = latin1Bytes(text);
    this.link.sent = "";
    if (!this.link.isClosed) this.session.onData(bytes, bytes.length);
    return this.link.sent;
  }

  /** A request of words without blanks in them. */
  say(line: string): string {
    return this.call(...line.split(" "));
  }

  /** The text of a bulk or verbatim reply. */
  text(line: string): string {
    const reply = this.say(line);
    const found = /^[$=]\d+\r\n(?:txt:)?([\s\S]*)\r\n$/.exec(reply);
    assert(found !== null, `no text: ${reply}`);
    return found?.[1] ?? "";
  }

  /** The `name:value` lines of INFO. */
  info(...sections: string[]): Map<string, string> {
    const lines = this.text(["INFO", ...sections].join(" ")).split("\r\n");
    const fields = new Map<string, string>();
    for (const line of lines) {
      const colon = line.indexOf(":");
      if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
    }
    return fields;
  }
}

/** Owners with equal shares of the slots, on the ports behind the plain one. */
function ownerNodes(owners: number): TopologyNode[] {
  return Array.from({ length: owners }, (_, index) => ({
    index,
    id: NODE_ID,
    port: PORT + 1 + index,
    firstSlot: Math.ceil((index * SLOTS) / owners),
    lastSlot: Math.ceil(((index + 1) * SLOTS) / owners) - 1,
    configEpoch: index + 1,
  }));
}

export type TestServerOptions = {
  threads?: number;
  owners?: number;
  settings?: Readonly<Record<string, string>>;
};

export const START_MS = 1_700_000_000_000;

export class TestServer {
  readonly host: InlineHost;
  readonly clock: Clock;
  readonly config: Config;
  readonly logged: string[] = [];
  /** Called whenever a thread waits for a lock. */
  onWait: () => void = () => {};
  #connections = 0;
  #monotonicMs = 1000;
  #waitedMs = 0;

  constructor(options: TestServerOptions = {}) {
    const { threads = 2, owners = 0 } = options;
    this.clock = {
      unixMs: START_MS,
      refresh: () => {},
      monotonicMs: () => this.#monotonicMs,
      unixUsec: () => this.clock.unixMs * 1000,
    };
    this.config = new Config(testConfigHost(2));
    const settings = {
      threads: String(threads),
      shards: "16",
      "memory-chunk": "16777216",
      "enable-debug-command": "yes",
      ...options.settings,
    };
    this.config.apply(Object.entries(settings).map(([name, text]) => ({ name, text })));
    const nodes = owners === 0 ? null : ownerNodes(owners);
    this.host = new InlineHost({
      commands: COMMANDS,
      config: this.config,
      clock: this.clock,
      random: new Random(1),
      facts: {
        version: "1.2.3",
        redisVersion: "7.4.2",
        runId: "a".repeat(40),
        nodeId: NODE_ID,
        startedMs: START_MS,
        processId: 4711,
        nodeVersion: "20.0.0",
        os: "Linux",
        archBits: 64,
        executable: "/zerohop",
        tcpPort: PORT,
        ownerPorts: (nodes ?? []).map(({ port }) => port),
        acceptMode: "single",
        oomScoreBefore: null,
      },
      nodes,
      checked: true,
      clientRows: 64,
      pick: () => 0,
      waiting: {
        spins: 1,
        wait: (_words, _index, _value, timeoutMs) => {
          this.#waitedMs += timeoutMs;
          this.onWait();
        },
        now: () => this.clock.monotonicMs() + this.#waitedMs,
      },
      log: (level, text) => this.logged.push(`${level}: ${text}`),
    });
    const slots = new Int32Array(this.host.shared.slots);
    for (const { index, firstSlot, lastSlot } of nodes ?? []) {
      slots.fill(slotRow(SLOT_STABLE, index, 0), firstSlot, lastSlot + 1);
    }
  }

  /** A client of a thread; one of an owner's port goes to the owner's thread. */
  connect(where: { thread?: number; owner?: number } = {}): TestClient {
    const { owner = -1 } = where;
    const thread = owner < 0 ? (where.thread ?? 0) : owner % this.host.servers.length;
    const port = owner < 0 ? PORT : PORT + 1 + owner;
    const link = new TestLink(`127.0.0.1:${50000 + this.#connections++}`, `127.0.0.1:${port}`);
    const session = this.host.connect(thread, link, owner);
    assert(session !== null, "the server refused the connection");
    return new TestClient(link, session as ClientSession);
  }

  /**
   * Takes the lock of a shard as some other thread would. Returns what gives it up, which makes the
   * sessions go on that were parked behind it.
   */
  holdShard(shard: number): () => void {
    const control = new Int32Array(this.host.shared.control);
    const row = shardRow(shard);
    assert(tryAcquire(control, row, this.host.servers.length), "the shard is locked");
    return () => {
      const parked = release(control, row);
      if (parked !== 0) this.host.servers[0]?.ringParked(parked);
      this.host.settle();
    };
  }

  /** The shard of a key. */
  shardOf(key: string): number {
    const bytes = latin1Bytes(key);
    const { store } = this.host.servers[0] as ThreadServer;
    return store.shardOf(keySlot(bytes, 0, bytes.length));
  }

  advance(ms: number): void {
    this.clock.unixMs += ms;
    this.#monotonicMs += ms;
  }

  /** Somebody sets the system's clock. */
  setClock(unixMs: number): void {
    this.clock.unixMs = unixMs;
  }

  /** What threads do once a second. */
  slowTick(): void {
    for (const server of this.host.servers) server.slowTick();
  }
}
