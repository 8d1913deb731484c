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
import type { RespClient } from "../support/resp.ts";
import { show, textOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";
import { type Call, checkCall, firstCall, newRun, nextCalls, type Run } from "./calls.ts";

const THREADS = 8;
const CONNECTIONS = 16;
const PIPELINE = 24;

/** Returns how many calls it made. */
async function work(client: RespClient, random: Random, run: Run, rounds: number): Promise<number> {
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const calls: Call[] = [];
    while (calls.length < PIPELINE) calls.push(...nextCalls(random, run));
    const frames = await client.pipeline(calls.map(({ words }) => words));
    assert.equal(frames.length, calls.length);
    for (const [i, { reply }] of frames.entries()) {
      checkCall(calls[i] as Call, reply);
    }
    done += calls.length;
  }
  assert.equal(client.leftover().length, 0, "more replies than requests");
  return done;
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
  assert.equal(show((await watcher.call(...firstCall())).reply), "+OK");
  const run = newRun();
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => server.connect()));
  const done = await Promise.all(
    clients.map((client, i) => work(client, new Random(seed * 1000 + i), run, rounds)),
  );
  const calls = done.reduce((sum, count) => sum + count, 0);
  assert.ok(calls >= CONNECTIONS * rounds * PIPELINE);
  for (const [i, seen] of run.counted.entries()) {
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
