/**
 * Random and damaged requests: our bytes are a redis-server's bytes, a witness on another
 * connection is not disturbed, nobody is left behind, and memory stays flat. A million requests
 * with ZEROHOP_LONG=1.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isLong, needs, subjectRedis } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { converse, type RespClient } from "../support/resp.ts";
import { show } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { makeConversation, makeNoise } from "./mutate.ts";
import { connectedClients, memoryField, residentBytes, startWitness } from "./witness.ts";

const REQUESTS = isLong ? 1_000_000 : 20_000;
const NOISE = isLong ? 100_000 : 3000;
const FLAT_BYTES = 48 * 2 ** 20;

describe("bad input", needs("redis-server"), () => {
  let oracle: Server;
  let subject: Server;
  const controls: RespClient[] = [];

  before(async () => {
    oracle = await startRedis();
    subject = await startZeroHop(
      { threads: 4, "enable-debug-command": "yes" },
      { environment: { ZEROHOP_CHECK: "1" } },
    );
    controls.push(await oracle.connect(), await subject.connect());
  });

  after(async () => {
    await oracle?.stop();
    await subject?.stop();
  });

  async function assertSame(bytes: string, hint: string): Promise<void> {
    await Promise.all(controls.map((control) => control.call("DEL", "a", "b", "c", "", "\x00")));
    const [redis, ours] = await Promise.all([
      converse(oracle.address, bytes),
      converse(subject.address, bytes),
    ]);
    assert.equal(
      ours.toString("latin1"),
      redis.toString("latin1"),
      `${JSON.stringify(bytes)} (${hint})`,
    );
  }

  test(`${REQUESTS} damaged requests are answered as Redis answers them`, async (t) => {
    const seed = testSeed(90_210);
    const random = new Random(seed);
    const witness = await startWitness(subject);
    for (let i = 0; i < 200; i++) await assertSame(makeConversation(random).bytes, seedText(seed));
    const residentBefore = residentBytes(subject);
    for (let sent = 0; sent < REQUESTS; ) {
      const { bytes, requests } = makeConversation(random);
      sent += requests;
      await assertSame(bytes, seedText(seed));
    }
    const seen = await witness.stop();
    t.diagnostic(JSON.stringify(seen));
    assert.ok(seen.rounds > 100, `the witness only got ${seen.rounds} turns`);
    const grown = residentBytes(subject) - residentBefore;
    assert.ok(grown < FLAT_BYTES, `resident memory grew by ${grown} bytes`);
  });

  test(`${NOISE} pieces of noise`, async (t) => {
    const seed = testSeed(90_211);
    const random = new Random(seed);
    const witness = await startWitness(subject);
    for (let i = 0; i < NOISE; i++) await assertSame(makeNoise(random), seedText(seed));
    t.diagnostic(JSON.stringify(await witness.stop()));
  });

  test("every truncation of a corpus", async (t) => {
    const seed = testSeed(90_212);
    const random = new Random(seed);
    const witness = await startWitness(subject);
    for (let i = 0; i < (isLong ? 200 : 12); i++) {
      const { bytes } = makeConversation(random);
      for (let end = 1; end < bytes.length; end++) {
        await assertSame(bytes.slice(0, end), seedText(seed));
      }
    }
    t.diagnostic(JSON.stringify(await witness.stop()));
  });

  test("afterwards nobody is left, the heap is sound and the keyspace empties", async () => {
    await until("all connections are gone", async () => (await connectedClients(subject)) <= 1);
    const [, control] = controls as [RespClient, RespClient];
    if (subjectRedis !== undefined) return;
    assert.equal(show((await control.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
    await control.call("FLUSHALL");
    assert.equal(show((await control.call("DBSIZE")).reply), ":0");
    await until(
      "memory comes back",
      async () => (await memoryField(subject, "used_memory")) < 2 ** 20,
    );
    assert.equal(show((await control.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
  });
});
