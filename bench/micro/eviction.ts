/**
 * What a SET costs at `maxmemory`, in JavaScript alone: every SET has a new key, so that about one
 * key is evicted for each. Beside it the same SETs without a limit, in keys that are there.
 *
 *   node build/bench/micro/eviction.js [--keys 100000] [--rounds 7] [--value 64] [POLICY ...]
 */
import { Random } from "../../src/base/random.ts";
import { serverCommands } from "../../src/commands.ts";
import { systemConfigHost } from "../../src/env/config-host.ts";
import type { Link } from "../../src/env/env.ts";
import { SystemClock } from "../../src/env/system.ts";
import { Config } from "../../src/server/config/config.ts";
import { InlineHost } from "../../src/server/inline-host.ts";
import type { ClientSession } from "../../src/server/session.ts";

const PIPELINE = 64;
const BATCHES = 2000;

class NullLink implements Link {
  readonly remote = "127.0.0.1:1";
  readonly local = "127.0.0.1:2";
  readonly descriptor = -1;
  bytes = 0;
  last = "";
  write(source: Uint8Array, start: number, end: number): boolean {
    this.bytes += end - start;
    this.last = Buffer.from(source.subarray(start, end)).toString("latin1");
    return true;
  }
  writeShared(_chunk: Uint8Array, done: () => void): void {
    done();
  }
  unsent(): number {
    return 0;
  }

  pending(): number {
    return 0;
  }
  pause(): void {}
  resume(): void {}
  end(): void {}
  destroy(): void {}
}

function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

function request(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
}

function connect(): { host: InlineHost; session: ClientSession; link: NullLink } {
  const config = new Config(systemConfigHost());
  config.apply([
    { name: "threads", text: "1" },
    { name: "shards", text: "64" },
  ]);
  const host = new InlineHost({
    commands: serverCommands(),
    config,
    clock: new SystemClock(),
    random: new Random(1),
    facts: {} as never,
    nodes: null,
    checked: false,
    clientRows: 16,
    pick: () => 0,
    log: () => {},
  });
  const link = new NullLink();
  const session = host.connect(0, link);
  if (session === null) throw new Error("the session was refused");
  return { host, session, link };
}

function send(session: ClientSession, bytes: Buffer): void {
  session.onData(bytes, bytes.length);
}

function batches(first: number, count: number, keys: number, value: string): Buffer[] {
  return Array.from({ length: count }, (_, b) =>
    Buffer.from(
      Array.from({ length: PIPELINE }, (_, i) => {
        const n = (first + b * PIPELINE + i) % keys;
        return request(["SET", `key:${String(n).padStart(12, "0")}`, value]);
      }).join(""),
      "latin1",
    ),
  );
}

function measure(policy: string, keys: number, rounds: number, value: string): void {
  const { host, session, link } = connect();
  for (const bytes of batches(0, Math.ceil(keys / PIPELINE), keys, value)) send(session, bytes);
  if (policy !== "none") {
    const used = host.servers[0]?.memory.used() ?? 0;
    send(session, Buffer.from(request(["CONFIG", "SET", "maxmemory-policy", policy])));
    send(session, Buffer.from(request(["CONFIG", "SET", "maxmemory", String(used)])));
  }
  let best = Number.POSITIVE_INFINITY;
  const all = policy === "none" ? keys : Number.MAX_SAFE_INTEGER;
  for (let round = 0; round < rounds; round++) {
    const chunks = batches(keys + round * BATCHES * PIPELINE, BATCHES, all, value);
    const began = process.hrtime.bigint();
    for (const chunk of chunks) {
      send(session, chunk);
      host.settle();
    }
    const ns = Number(process.hrtime.bigint() - began);
    best = Math.min(best, ns / (BATCHES * PIPELINE));
  }
  const evicted = host.servers[0]?.stats.sum("evicted_keys") ?? 0;
  const part = evicted / (rounds * BATCHES * PIPELINE);
  console.log(
    `${policy.padEnd(16)} ${best.toFixed(1)} ns per SET, ${part.toFixed(3)} keys evicted for each, ` +
      `last reply ${JSON.stringify(link.last.slice(-5))}`,
  );
}

function main(): void {
  const keys = option("keys", 100_000);
  const rounds = option("rounds", 7);
  const value = "x".repeat(option("value", 64));
  const named = process.argv
    .slice(2)
    .filter((word) => word.includes("-") && !word.startsWith("--"));
  const policies =
    named.length > 0 ? named : ["none", "allkeys-lru", "allkeys-lfu", "allkeys-random"];
  for (const policy of policies) measure(policy, keys, rounds, value);
}

main();
