/** Memory that is full, that must come back, and that stays flat. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { requestText } from "../../src/protocol/test-request.ts";
import { FAMILIES } from "../support/collisions.ts";
import { isLong, needs, needsOurs } from "../support/environment.ts";
import { LineClient } from "../support/lines.ts";
import { until } from "../support/owners.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { RespClient } from "../support/resp.ts";
import { integerOf, show } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { memoryField, residentBytes, startWitness, threadsField } from "./witness.ts";

const MB = 2 ** 20;
const DELETED = isLong ? 10_000_000 : 100_000;

/** Writes until the server refuses, and returns the refusal and how many were taken. */
async function fillUp(client: RespClient): Promise<{ refusal: string; taken: number }> {
  for (let taken = 0; taken < 1_000_000; taken += 100) {
    const batch = Array.from({ length: 100 }, (_, i) => [
      "SET",
      `fill:${taken + i}`,
      "x".repeat(1000),
    ]);
    const replies = (await client.pipeline(batch)).map(({ reply }) => show(reply));
    const refused = replies.find((reply) => reply !== "+OK");
    if (refused !== undefined) return { refusal: refused, taken };
  }
  throw new Error("never refused");
}

describe("maxmemory without eviction", needs("redis-server"), () => {
  test("refuses as Redis does, changes nothing, and lets one delete", async () => {
    const servers: Server[] = [await startRedis(), await startZeroHop({ threads: 2 })];
    const refusals: string[] = [];
    for (const server of servers) {
      const client = await server.connect();
      await client.call("SET", "kept", "value");
      await client.call("SET", "counter", "1");
      const base = await memoryField(server, "used_memory");
      await client.call("CONFIG", "SET", "maxmemory", base + 20 * MB);
      const { refusal, taken } = await fillUp(client);
      refusals.push(refusal);
      assert.ok(taken >= 5000, `only ${taken} KB fitted into 20 MB`);
      // What Redis keeps for clients counts too, and may be given back at any moment.
      await client.call("CONFIG", "SET", "maxmemory", base + 19 * MB);
      const size = integerOf((await client.call("DBSIZE")).reply);
      for (const call of [
        ["SET", "new", "v"],
        ["SET", "kept", "w"],
        ["APPEND", "kept", "more"],
        ["INCR", "counter"],
        ["MSET", "new", "v", "newer", "v"],
        ["SETRANGE", "kept", "0", "x"],
        ["COPY", "kept", "copy"],
        ["INCRBYFLOAT", "counter", "1"],
        ["GETSET", "kept", "w"],
        ["SETNX", "new", "v"],
      ]) {
        assert.equal(show((await client.call(...call)).reply), refusal, call.join(" "));
      }
      for (const call of [["GET", "kept"], ["PING"], ["EXPIRE", "kept", "100"], ["TTL", "kept"]]) {
        assert.doesNotMatch(show((await client.call(...call)).reply), /^-/, call.join(" "));
      }
      assert.equal(show((await client.call("GET", "kept")).reply), '$"value"');
      assert.equal(show((await client.call("GET", "counter")).reply), '$"1"');
      assert.equal(integerOf((await client.call("DBSIZE")).reply), size);
      const doomed = Array.from({ length: 2000 }, (_, i) => `fill:${i}`);
      assert.equal(integerOf((await client.call("DEL", ...doomed)).reply), 2000);
      await until("there is room again", async () => {
        return show((await client.call("SET", "new", "v")).reply) === "+OK";
      });
      await client.call("CONFIG", "SET", "maxmemory", 0);
      await server.stop();
    }
    assert.equal(refusals[1], refusals[0]);
    assert.match(
      refusals[0] as string,
      /^-OOM command not allowed when used memory > 'maxmemory'\.$/,
    );
  });
});

describe("memory over time", needsOurs(), () => {
  test("keys of all sizes come and go: what is used goes back, what is held stays flat", async () => {
    const server = await startZeroHop({ threads: 2, "enable-debug-command": "yes" });
    const client = await server.connect();
    const seed = testSeed(11);
    const random = new Random(seed);
    const resident: number[] = [];
    const rounds = isLong ? 40 : 6;
    for (let round = 0; round < rounds; round++) {
      for (let at = 0; at < 60_000; at += 1000) {
        const batch = Array.from({ length: 1000 }, (_, i) => {
          const size = random.chance(0.01) ? random.below(20_000) : random.below(200);
          return ["SET", `key:${at + i}:${round % 3}`, "v".repeat(size)];
        });
        await client.pipeline(batch);
      }
      resident.push(residentBytes(server));
      if (round % 2 === 0) await client.call("FLUSHALL");
      else {
        for (let at = 0; at < 60_000; at += 1000) {
          const keys = Array.from({ length: 1000 }, (_, i) => `key:${at + i}`);
          await client.call("DEL", ...keys.flatMap((key) => [0, 1, 2].map((r) => `${key}:${r}`)));
        }
      }
      assert.equal(integerOf((await client.call("DBSIZE")).reply), 0);
      await until(
        "memory comes back",
        async () => (await memoryField(server, "used_memory")) < 2 * MB,
      );
    }
    const [, second] = resident as [number, number];
    const last = resident.at(-1) as number;
    assert.ok(last < second * 1.25 + 16 * MB, `${resident.join(", ")} (${seedText(seed)})`);
    assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
    await server.stop();
  });

  for (const threads of [1, 4]) {
    test(`with small chunks FLUSHALL gives memory back to the system, ${threads} threads`, async () => {
      const traced = ["/bin/sh", "-c", 'exec "$0" --trace-gc "$@"'];
      const server = await startZeroHop({ threads, "memory-chunk": "16mb" }, { through: traced });
      const clients = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
      await Promise.all(clients.map((client) => client.call("SET", "warm", "up")));
      const empty = residentBytes(server);
      const value = Buffer.alloc(30_000, "v");
      const fill = clients.map(async (client, c) => {
        for (let at = 0; at < 1500; at += 50) {
          const batch = Array.from({ length: 50 }, (_, i) => ["SET", `k:${c}:${at + i}`, value]);
          await client.pipeline(batch);
        }
      });
      await Promise.all(fill);
      const full = residentBytes(server);
      assert.ok(full - empty > 340 * MB, `${full - empty} bytes more after 360 MB of values`);
      await (clients[0] as RespClient).call("FLUSHALL");
      // A chunk is a shared buffer: whichever thread still had a view of it would keep it, and so
      // would the main thread, which passed it on.
      await until("memory goes back to the system", async () => {
        const reserved = await threadsField(server, "arena_bytes_reserved");
        return reserved < 100 * MB && residentBytes(server) - empty < reserved + 40 * MB;
      });
      // Left to itself a heap may collect in time, or not: all of them are made to.
      await until("every heap has been made to collect", () => {
        const collected = server.output().matchAll(/:(0x[0-9a-f]+)\].*Mark-Compact.* testing/g);
        return new Set([...collected].map(([, heap]) => heap)).size === threads + 1;
      });
      for (const client of clients) {
        assert.equal(show((await client.call("SET", "again", value)).reply), "+OK");
      }
      await server.stop();
    });
  }

  test("connections come and go: memory stays flat", async () => {
    const server = await startZeroHop({ threads: 2 });
    const sample = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i += 50) {
        const clients = await Promise.all(Array.from({ length: 50 }, () => server.connect()));
        await Promise.all(clients.map((client) => client.call("SET", "k", "v".repeat(5000))));
        for (const client of clients) client.close();
      }
      return residentBytes(server);
    };
    // It takes some 30,000 until the heaps of V8 have grown to what they collect at.
    const early = await sample(isLong ? 50_000 : 2000);
    const late = await sample(isLong ? 100_000 : 4000);
    const most = (isLong ? 32 : 64) * MB;
    assert.ok(late - early < most, `resident memory grew by ${late - early} bytes`);
    await server.stop();
  });

  for (const family of isLong ? FAMILIES : FAMILIES.slice(2, 4)) {
    test(`keys that collide under ${family.name} are as good as others`, async (t) => {
      const bits = isLong ? 20 : 13;
      const server = await startZeroHop({ threads: 2, "enable-debug-command": "yes" });
      const client = await server.connect();
      const witness = await startWitness(server);
      const loader = await LineClient.connect(server.address);
      for (let at = 0; at < 2 ** bits; at += 1024) {
        let requests = "";
        for (let n = at; n < at + 1024; n++) {
          requests += requestText(["SET", family.key(n, bits), `${n}`]);
        }
        assert.equal(await loader.exchange(requests, 1024), "+OK\r\n".repeat(1024));
      }
      loader.close();
      assert.equal(integerOf((await client.call("DBSIZE")).reply), 2 ** bits + 1);
      for (let n = 0; n < 2 ** bits; n += 97) {
        assert.equal(show((await client.call("GET", family.key(n, bits))).reply), `$"${n}"`);
      }
      t.diagnostic(JSON.stringify(await witness.stop()));
      assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
      await server.stop();
    });
  }

  for (const how of ["DEL", "UNLINK", "FLUSHALL"]) {
    test(`${how} of ${DELETED} keys gives all memory back and disturbs nobody`, async (t) => {
      const server = await startZeroHop({ threads: 2, "enable-debug-command": "yes" });
      const client = await server.connect();
      const workers = await Promise.all([0, 1].map(() => LineClient.connect(server.address)));
      const empty = await memoryField(server, "used_memory");
      const each = async (
        count: number,
        reply: string,
        call: (n: number) => string[],
      ): Promise<void> => {
        await Promise.all(
          workers.map(async (worker, w) => {
            for (let at = w * 1000; at < count; at += workers.length * 1000) {
              let requests = "";
              for (let n = at; n < at + 1000; n++) requests += requestText(call(n));
              assert.equal(await worker.exchange(requests, 1000), reply.repeat(1000));
            }
          }),
        );
      };
      const witness = await startWitness(server);
      await each(DELETED, "+OK\r\n", (n) => ["SET", `key:${n}`, `value ${n}`]);
      assert.equal(integerOf((await client.call("DBSIZE")).reply), DELETED + 1);
      const filled = residentBytes(server);
      if (how === "FLUSHALL") await client.call(how);
      else await each(DELETED, ":1\r\n", (n) => [how, `key:${(n * 7919) % DELETED}`]);
      await until(
        "memory comes back",
        async () => (await memoryField(server, "used_memory")) < empty + MB,
        120_000,
      );
      assert.ok(integerOf((await client.call("DBSIZE")).reply) <= 1);
      await each(DELETED / 5, "+OK\r\n", (n) => ["SET", `other:${n}`, `value ${n}`]);
      const grown = residentBytes(server) - filled;
      assert.ok(grown < 64 * MB, `resident memory grew by ${grown} bytes the second time`);
      t.diagnostic(JSON.stringify(await witness.stop()));
      assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
      for (const worker of workers) worker.close();
      await server.stop();
    });
  }
});
