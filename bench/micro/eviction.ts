/**
 * What a SET costs at `maxmemory`, in JavaScript alone: every SET has a new key, so that about one
 * key is evicted for each. Beside it the same SETs without a limit, in keys that are there.
 *
 *   node build/bench/micro/eviction.js [--keys 100000] [--rounds 7] [--value 64] [POLICY ...]
 */
import { requestText } from "../../src/protocol/test-request.ts";
import type { ClientSession } from "../../src/server/session.ts";
import { connect, option, PIPELINE, paddedName } from "./session.ts";

const BATCHES = 2000;

function send(session: ClientSession, bytes: Buffer): void {
  session.onData(bytes, bytes.length);
}

function batches(first: number, count: number, keys: number, value: string): Buffer[] {
  return Array.from({ length: count }, (_, b) =>
    Buffer.from(
      Array.from({ length: PIPELINE }, (_, i) => {
        const n = (first + b * PIPELINE + i) % keys;
        return requestText(["SET", paddedName(n), value]);
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
    send(session, Buffer.from(requestText(["CONFIG", "SET", "maxmemory-policy", policy])));
    send(session, Buffer.from(requestText(["CONFIG", "SET", "maxmemory", String(used)])));
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
      `last reply ${JSON.stringify(link.tail())}`,
  );
}

function main(): void {
  const keys = option("keys", 100_000);
  const rounds = option("rounds", 7);
  const value = "x".repeat(option("value", 64));
  const named = process.argv
    .slice(2)
    .filter((word) => word === "none" || (word.includes("-") && !word.startsWith("--")));
  const policies =
    named.length > 0 ? named : ["none", "allkeys-lru", "allkeys-lfu", "allkeys-random"];
  for (const policy of policies) measure(policy, keys, rounds, value);
}

main();
