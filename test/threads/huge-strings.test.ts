/**
 * Connections on all threads append to the same strings of some megabytes, which so move from block
 * to block while others read, copy, rename, overwrite and delete them, or let them expire. No byte
 * is lost or torn, every length is answered once, and in the end no memory is left over.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isLong, needsOurs } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { BASE, BASE_BYTES, checkPieces, PIECE_BYTES, piece } from "../support/pieces.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { integerOf, type Reply, show, textOf } from "../support/resp-parser.ts";
import { startZeroHop } from "../support/servers.ts";

const THREADS = 4;
const CONNECTIONS = 8;
const ROUNDS = isLong ? 600 : 40;
const PIPELINE = 4;
/** Nothing but APPEND and reading happens to these. */
const KEPT: readonly string[] = ["kept:0", "{lost:0}kept"];
const LOST: readonly string[] = ["lost:0", "lost:1"];
/** Of what is left when all keys are gone: tables of a few keys. */
const REST_BYTES = 200_000;

type Call = { words: Argument[]; check(reply: Reply): void };

function expectShown(words: Argument[], expected: RegExp): Call {
  return {
    words,
    check: (reply) => assert.match(show(reply).slice(0, 100), expected, `${words[0]}`),
  };
}

class Writer {
  readonly sent: Map<string, number> = new Map();
  readonly #number: number;
  readonly #random: Random;
  readonly #lengths: Map<string, Set<number>>;

  constructor(number: number, random: Random, lengths: Map<string, Set<number>>) {
    this.#number = number;
    this.#random = random;
    this.#lengths = lengths;
  }

  append(key: string): Call {
    const n = this.sent.get(key) ?? 0;
    this.sent.set(key, n + 1);
    const lengths = this.#lengths.get(key);
    const check = (reply: Reply): void => {
      const length = integerOf(reply);
      if (lengths === undefined) return;
      assert.ok(!lengths.has(length), `${key} was ${length} bytes long twice`);
      lengths.add(length);
    };
    return { words: ["APPEND", key, piece(key, this.#number, n)], check };
  }

  read(key: string, stored: string): Call {
    const check = (reply: Reply): void => {
      if (reply.mark !== "_" && show(reply) !== "$nil") checkPieces(textOf(reply), key);
    };
    return { words: ["GET", stored], check };
  }

  next(): Call {
    const random = this.#random;
    const draw = random.below(100);
    if (draw < 45) return this.append(random.pick(KEPT));
    if (draw < 48) {
      const key = random.pick(KEPT);
      return this.read(key, key);
    }
    const key = random.pick(LOST);
    if (draw < 75) return this.append(key);
    if (draw < 80) return expectShown(["SET", key, BASE], /^\+OK$/);
    if (draw < 83) return expectShown(["DEL", key], /^:[01]$/);
    if (draw < 87) return expectShown(["RENAME", key, `old:${key}`], /^(\+OK|-ERR no such key)$/);
    if (draw < 91) return expectShown(["COPY", key, `copy:${key}`, "REPLACE"], /^:[01]$/);
    if (draw < 93) return expectShown(["PEXPIRE", key, random.between(1, 20)], /^:[01]$/);
    if (draw < 95) return this.read(key, key);
    if (draw < 97) return this.read(key, `old:${key}`);
    return this.read(key, `copy:${key}`);
  }
}

async function work(client: RespClient, writer: Writer): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const calls = Array.from({ length: PIPELINE }, () => writer.next());
    const frames = await client.pipeline(calls.map(({ words }) => words));
    for (const [i, { reply }] of frames.entries()) (calls[i] as Call).check(reply);
  }
}

async function info(client: RespClient, section: string, name: string): Promise<number> {
  const text = textOf((await client.call("INFO", section)).reply);
  return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1]);
}

async function overlap(seed: number): Promise<string> {
  const server = await startZeroHop({ threads: THREADS, "enable-debug-command": "yes" });
  const watcher = await server.connect();
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => server.connect()));
  for (const client of [watcher, ...clients]) client.timeoutMs = 60_000;
  for (const key of KEPT) await watcher.call("SET", key, BASE);
  const lengths = new Map(KEPT.map((key) => [key, new Set<number>()]));
  const writers = clients.map((_, i) => new Writer(i, new Random(seed * 100 + i), lengths));
  await Promise.all(clients.map((client, i) => work(client, writers[i] as Writer)));
  let appended = 0;
  for (const key of KEPT) {
    const value = textOf((await watcher.call("GET", key)).reply);
    const found = checkPieces(value, key);
    for (const [i, { sent }] of writers.entries()) {
      assert.equal(found.get(i)?.count ?? 0, sent.get(key) ?? 0, `${key}: pieces of ${i}`);
    }
    const pieces = lengths.get(key)?.size ?? 0;
    assert.equal(value.length, BASE_BYTES + pieces * PIECE_BYTES, `${key}: pieces answered for`);
    appended += pieces;
  }
  assert.ok(appended > CONNECTIONS * ROUNDS, `only ${appended} pieces`);
  for (const key of LOST) {
    for (const stored of [key, `old:${key}`, `copy:${key}`]) {
      const { reply } = await watcher.call("GET", stored);
      if (show(reply) !== "$nil") checkPieces(textOf(reply), key);
    }
  }
  assert.equal(show((await watcher.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
  assert.equal(show((await watcher.call("FLUSHALL")).reply), "+OK");
  await until("all blocks are given back", async () => {
    return (await info(watcher, "memory", "used_memory")) < REST_BYTES;
  });
  assert.equal(show((await watcher.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
  await server.stop();
  return `${appended} pieces`;
}

test("huge strings that all threads append to at once", needsOurs(), async (t) => {
  const seed = testSeed(77);
  try {
    t.diagnostic(await overlap(seed));
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${seedText(seed)}`, { cause: error });
  }
});
