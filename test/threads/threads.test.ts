/**
 * Many connections over eight threads work on the same few keys at once, with and without the
 * checked heap. What one command did must be seen whole by every other: a counter loses nothing, a
 * pair set together is read together, a key that is renamed is always in one place. At the end the
 * heap must be sound.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { integerOf, itemsOf, type Reply, show, textOf, textsOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";

const THREADS = 8;
const CONNECTIONS = 16;
const PIPELINE = 24;
const COUNTERS = 4;
const PAIRS = 4;
const COPIES = 3;
const TEXTS = 3;
const SHORT_LIVED = 6;
const TEXT_MAX = 100_000;
/** Lengths on both sides of where a string moves into large blocks. */
const COPY_LENGTHS: readonly number[] = [1, 40, 900, 5000, 65_536, 65_537, 90_000];

type Call = { words: Argument[]; check(reply: Reply): void };

/** What all connections of a run share. */
type Run = {
  /** Replies of INCR, for each counter: no two may be equal. */
  counted: Set<number>[];
  calls: number;
};

function expectShown(words: Argument[], expected: RegExp): Call {
  const check = (reply: Reply): void => assert.match(show(reply), expected);
  return { words, check };
}

function incr(random: Random, run: Run): Call {
  const i = random.below(COUNTERS);
  const check = (reply: Reply): void => {
    const value = integerOf(reply);
    const seen = run.counted[i] as Set<number>;
    assert.ok(!seen.has(value), `counter ${i} was ${value} twice`);
    seen.add(value);
  };
  return { words: ["INCR", `{count:${i}}`], check };
}

function pair(random: Random): Call {
  const i = random.below(PAIRS);
  if (random.chance(0.5)) {
    const value = random.chance(0.1) ? "v".repeat(random.below(3000)) : random.u32();
    return expectShown(["MSET", `{a:${i}}`, value, `{b:${i}}`, value], /^\+OK$/);
  }
  const check = (reply: Reply): void => {
    const [a, b] = textsOf(reply);
    assert.equal(a, b, `half of the MSET of pair ${i}`);
  };
  return { words: ["MGET", `{a:${i}}`, `{b:${i}}`], check };
}

function rename(random: Random): Call {
  const way = random.below(4);
  if (way < 2) {
    const check = (reply: Reply): void => assert.equal(integerOf(reply), 1, "the renamed key");
    return { words: ["EXISTS", "{x}", "{y}"], check };
  }
  const words = way === 2 ? ["RENAME", "{x}", "{y}"] : ["RENAME", "{y}", "{x}"];
  return expectShown(words, /^(\+OK|-ERR no such key)$/);
}

/** Values of one letter throughout: a mixture of two would show. */
function copy(random: Random): Call {
  const i = random.below(COPIES);
  const key = `{copy:${i}}`;
  const way = random.below(4);
  if (way === 0) {
    const letter = String.fromCharCode(97 + random.below(26));
    return expectShown(["SET", key, letter.repeat(random.pick(COPY_LENGTHS))], /^\+OK$/);
  }
  if (way === 1) {
    const other = `{copy:${(i + 1) % COPIES}}`;
    return expectShown(["COPY", key, other, "REPLACE"], /^:[01]$/);
  }
  const check = (reply: Reply): void => {
    const text = textOf(reply);
    assert.ok(COPY_LENGTHS.includes(text.length), `${text.length} bytes`);
    assert.ok(text === text.charAt(0).repeat(text.length), `a mixture in ${key}`);
  };
  return { words: ["GET", key], check };
}

function text(random: Random): Call {
  const key = `{text:${random.below(TEXTS)}}`;
  const piece = "t".repeat(random.between(1, random.chance(0.2) ? 20_000 : 200));
  const way = random.below(5);
  if (way === 0) {
    const offset = random.below(TEXT_MAX - piece.length);
    const check = (reply: Reply): void =>
      assert.ok(integerOf(reply) >= offset + piece.length, "SETRANGE made it too short");
    return { words: ["SETRANGE", key, offset, piece], check };
  }
  if (way === 1) return expectShown(["DEL", key], /^:[01]$/);
  if (way === 2) {
    const check = (reply: Reply): void => assert.match(textOf(reply), /^[t\0]*$/);
    return { words: ["GETRANGE", key, random.below(TEXT_MAX), -1], check };
  }
  const check = (reply: Reply): void => assert.ok(integerOf(reply) >= piece.length, "APPEND");
  return { words: ["APPEND", key, piece], check };
}

function shortLived(random: Random): Call {
  const key = `{brief:${random.below(SHORT_LIVED)}}`;
  const way = random.below(4);
  if (way === 0) return expectShown(["SET", key, key, "PX", random.between(1, 30)], /^\+OK$/);
  if (way === 1) return expectShown(["DEL", key, "{brief:0}"], /^:[012]$/);
  const check = (reply: Reply): void => assert.ok([`$"${key}"`, "$nil"].includes(show(reply)));
  return { words: ["GET", key], check };
}

function otherDatabase(random: Random): Call[] {
  const how = random.pick(["SYNC", "ASYNC"]);
  const flush: Call[] = random.chance(0.5) ? [expectShown(["FLUSHDB", how], /^\+OK$/)] : [];
  return [
    expectShown(["SELECT", 1], /^\+OK$/),
    expectShown(["SET", `{a:${random.below(PAIRS)}}`, "z".repeat(random.below(70_000))], /^\+OK$/),
    ...flush,
    expectShown(["SELECT", 0], /^\+OK$/),
  ];
}

function scan(random: Random): Call {
  const check = (reply: Reply): void => {
    const [cursor, keys] = itemsOf(reply);
    assert.match(textOf(cursor as Reply), /^\d+$/);
    for (const key of textsOf(keys as Reply)) assert.match(key, /^\{[a-z]+(:\d)?\}$/);
  };
  return { words: ["SCAN", random.chance(0.5) ? 0 : random.u32(), "COUNT", 20], check };
}

function nextCalls(random: Random, run: Run): Call[] {
  const draw = random.below(100);
  if (draw < 30) return [incr(random, run)];
  if (draw < 55) return [pair(random)];
  if (draw < 70) return [rename(random)];
  if (draw < 78) return [copy(random)];
  if (draw < 85) return [text(random)];
  if (draw < 93) return [shortLived(random)];
  if (draw < 97) return [scan(random)];
  return otherDatabase(random);
}

async function work(client: RespClient, random: Random, run: Run, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const calls: Call[] = [];
    while (calls.length < PIPELINE) calls.push(...nextCalls(random, run));
    const frames = await client.pipeline(calls.map(({ words }) => words));
    assert.equal(frames.length, calls.length);
    for (const [i, { reply }] of frames.entries()) {
      const call = calls[i] as Call;
      try {
        call.check(reply);
      } catch (error) {
        const words = call.words.join(" ").slice(0, 100);
        const what = `${words} -> ${show(reply).slice(0, 100)}`;
        throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
      }
    }
    run.calls += calls.length;
  }
  assert.equal(client.leftover().length, 0, "more replies than requests");
}

async function prepare(client: RespClient): Promise<void> {
  const words: Argument[] = ["MSET", "{x}", "here"];
  for (let i = 0; i < PAIRS; i++) words.push(`{a:${i}}`, 0, `{b:${i}}`, 0);
  for (let i = 0; i < COPIES; i++) words.push(`{copy:${i}}`, "a");
  assert.equal(show((await client.call(...words)).reply), "+OK");
}

async function processId(client: RespClient): Promise<number> {
  const info = textOf((await client.call("INFO", "server")).reply);
  return Number(/^process_id:(\d+)/m.exec(info)?.[1]);
}

async function expectSound(client: RespClient): Promise<void> {
  for (let i = 0; i < 2; i++) {
    assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
  }
}

async function overlap(server: Server, seed: number, rounds: number): Promise<void> {
  const watcher = await server.connect();
  watcher.timeoutMs = 60_000;
  assert.equal(await processId(watcher), server.pid);
  await prepare(watcher);
  const counted = Array.from({ length: COUNTERS }, () => new Set<number>());
  const run: Run = { counted, calls: 0 };
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => server.connect()));
  await Promise.all(
    clients.map((client, i) => work(client, new Random(seed * 1000 + i), run, rounds)),
  );
  assert.ok(run.calls >= CONNECTIONS * rounds * PIPELINE);
  for (const [i, seen] of counted.entries()) {
    const final = Number(textOf((await watcher.call("GET", `{count:${i}}`)).reply));
    assert.equal(final, seen.size, `counter ${i} after so many acknowledged INCR`);
  }
  await expectSound(watcher);
  assert.equal(show((await watcher.call("FLUSHALL")).reply), "+OK");
  assert.equal(show((await watcher.call("DBSIZE")).reply), ":0");
  await expectSound(watcher);
  assert.equal(await processId(watcher), server.pid);
}

/** Servers inherit the environment of the test. */
async function startChecked(checked: boolean): Promise<Server> {
  const before = process.env["ZEROHOP_CHECK"];
  process.env["ZEROHOP_CHECK"] = checked ? "1" : "0";
  try {
    return await startZeroHop({ threads: THREADS, "enable-debug-command": "yes" });
  } finally {
    if (before === undefined) delete process.env["ZEROHOP_CHECK"];
    else process.env["ZEROHOP_CHECK"] = before;
  }
}

for (const [checked, rounds] of [
  [true, 70],
  [false, 100],
] as const) {
  const mode = checked ? "checked" : "as it is";
  test(`commands that overlap over ${THREADS} threads, the heap ${mode}`, needsOurs(), async () => {
    const seed = testSeed(checked ? 41 : 42);
    const server = await startChecked(checked);
    try {
      await overlap(server, seed, rounds);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`${message}\n${seedText(seed)}`, { cause: error });
    }
    await server.stop();
  });
}
