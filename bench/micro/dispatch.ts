/**
 * What a command costs in JavaScript alone: requests go into a session over a link that throws
 * everything away, so neither sockets nor a generator are in the figure. Fixed work, best of
 * several rounds, and a hash of the replies so that nothing can be left out.
 *
 *   node build/bench/micro/dispatch.js [--keys 100000] [--rounds 7] [get|set|incr|mset ...]
 */

import { Random } from "../../src/base/random.ts";
import { requestText } from "../../src/protocol/test-request.ts";
import { connect, option, PIPELINE, paddedName } from "./session.ts";

const BATCHES = 4000;

function key(random: Random, keys: number): string {
  return paddedName(random.below(keys));
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
      Array.from({ length: PIPELINE }, () => requestText(make(random, keys))).join(""),
      "latin1",
    ),
  );
}

function main(): void {
  const keys = option("keys", 100_000);
  const rounds = option("rounds", 7);
  const names = process.argv.slice(2).filter((word) => word in COMMANDS);
  const { session, link } = connect();
  for (let i = 0; i < keys; i += PIPELINE) {
    let text = "";
    for (let k = i; k < i + PIPELINE; k++) {
      text += requestText(["SET", paddedName(k), "xxx"]);
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
