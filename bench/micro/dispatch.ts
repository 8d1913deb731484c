/**
 * What a command costs in JavaScript alone: requests go into a session over a link that throws
 * everything away, so neither sockets nor a generator are in the figure. Fixed work, best of
 * several rounds, and a hash of the replies so that nothing can be left out.
 *
 *   node build/bench/micro/dispatch.js [--keys 100000] [--rounds 7] [get|set|incr|mset ...]
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
const BATCHES = 4000;

class NullLink implements Link {
  readonly remote = "127.0.0.1:1";
  readonly local = "127.0.0.1:2";
  readonly descriptor = -1;
  hash = 0;
  write(source: Uint8Array, start: number, end: number): boolean {
    for (let i = start; i < end; i += 7) this.hash = (this.hash * 31 + (source[i] ?? 0)) | 0;
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

function key(random: Random, keys: number): string {
  return `key:${String(random.below(keys)).padStart(12, "0")}`;
}

const COMMANDS: Record<string, (random: Random, keys: number) => string[]> = {
  get: (random, keys) => ["GET", key(random, keys)],
  set: (random, keys) => ["SET", key(random, keys), "xxx"],
  incr: (random, keys) => ["INCR", `counter:${random.below(keys)}`],
  mset: (random, keys) => [
    "MSET",
    ...Array.from({ length: 10 }, () => [key(random, keys), "xxx"]).flat(),
  ],
  ping: () => ["PING"],
};

function batches(name: string, keys: number, seed: number): Uint8Array[] {
  const random = new Random(seed);
  const make = COMMANDS[name] as (random: Random, keys: number) => string[];
  return Array.from({ length: BATCHES }, () =>
    Buffer.from(
      Array.from({ length: PIPELINE }, () => request(make(random, keys))).join(""),
      "latin1",
    ),
  );
}

function connect(): { session: ClientSession; link: NullLink } {
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
  return { session, link };
}

function main(): void {
  const keys = option("keys", 100_000);
  const rounds = option("rounds", 7);
  const names = process.argv.slice(2).filter((word) => word in COMMANDS);
  const { session, link } = connect();
  for (let i = 0; i < keys; i += PIPELINE) {
    let text = "";
    for (let k = i; k < i + PIPELINE; k++) {
      text += request(["SET", `key:${String(k).padStart(12, "0")}`, "xxx"]);
    }
    const bytes = Buffer.from(text, "latin1");
    session.onData(bytes, bytes.length);
  }
  for (const name of names.length > 0 ? names : ["ping", "get", "set", "incr", "mset"]) {
    const chunks = batches(name, keys, 7);
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      const began = process.hrtime.bigint();
      for (const chunk of chunks) session.onData(chunk, chunk.length);
      const ns = Number(process.hrtime.bigint() - began);
      best = Math.min(best, ns / (BATCHES * PIPELINE));
    }
    console.log(`${name.padEnd(5)} ${best.toFixed(1)} ns per command, replies ${link.hash}`);
  }
}

main();
