/**
 * The contract of SCAN: what is there from the start of an iteration to its end comes at least
 * once, whatever else comes and goes meanwhile, and an iteration ends.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { RespClient } from "../support/resp.ts";
import { itemsOf, type Reply, textOf, textsOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";

type Page = { cursor: string; keys: string[] };

for (const threads of [1, 4]) {
  describe(`SCAN with ${threads} threads`, () => {
    let server: Server;
    let client: RespClient;

    before(async () => {
      server = await startZeroHop({ threads });
      client = await server.connect();
    });

    after(async () => server?.stop());

    async function page(cursor: string, ...options: (string | number)[]): Promise<Page> {
      const [next, keys] = itemsOf((await client.call("SCAN", cursor, ...options)).reply);
      return { cursor: textOf(next as Reply), keys: textsOf(keys as Reply) };
    }

    async function iterate(
      options: (string | number)[],
      between: () => Promise<void>,
    ): Promise<string[]> {
      const all: string[] = [];
      let cursor = "0";
      for (let pages = 0; pages < 100_000; pages++) {
        const next = await page(cursor, ...options);
        assert.match(next.cursor, /^\d+$/);
        all.push(...next.keys);
        cursor = next.cursor;
        if (cursor === "0") return all;
        await between();
      }
      throw new Error("SCAN does not end");
    }

    async function fill(count: number): Promise<string[]> {
      await client.call("FLUSHALL");
      const keys = Array.from({ length: count }, (_, i) => `key:${i}`);
      await client.pipeline(keys.map((key) => ["SET", key, "v"]));
      return keys;
    }

    for (const count of [0, 1, 100, 5000]) {
      for (const pageSize of [1, 10, 1000]) {
        test(`${count} keys in pages of ${pageSize} come once each`, async () => {
          const keys = await fill(count);
          const seen = await iterate(["COUNT", pageSize], async () => {});
          assert.deepEqual(seen.sort(), keys.sort());
        });
      }
    }

    test("keys that stay are seen while others come and go", async () => {
      const seed = testSeed(77);
      const random = new Random(seed);
      for (let round = 0; round < 5; round++) {
        const keys = await fill(2000);
        let extra = 0;
        const seen = new Set(
          await iterate(["COUNT", 10 + round * 20], async () => {
            const calls: string[][] = [];
            for (let i = 0; i < 20; i++) {
              const name = `extra:${random.below(3000)}`;
              calls.push(random.chance(0.6) ? ["SET", name, `${extra++}`] : ["DEL", name]);
            }
            await client.pipeline(calls);
          }),
        );
        const missing = keys.filter((key) => !seen.has(key));
        assert.deepEqual(missing, [], seedText(seed));
      }
    });

    test("keys that stay are seen while most of the others are deleted", async () => {
      const keys = await fill(5000);
      const kept = keys.filter((_, i) => i % 10 === 0);
      let started = false;
      const seen = new Set(
        await iterate(["COUNT", 100], async () => {
          if (started) return;
          started = true;
          await client.pipeline(keys.filter((_, i) => i % 10 !== 0).map((key) => ["DEL", key]));
        }),
      );
      assert.deepEqual(
        kept.filter((key) => !seen.has(key)),
        [],
      );
    });

    test("MATCH and TYPE filter and do not lose anything", async () => {
      const keys = await fill(3000);
      const wanted = keys.filter((key) => key.endsWith("7")).sort();
      const matched = await iterate(["MATCH", "*7", "COUNT", 50], async () => {});
      assert.deepEqual(matched.sort(), wanted);
      const typed = await iterate(["TYPE", "string", "MATCH", "*7", "COUNT", 50], async () => {});
      assert.deepEqual(typed.sort(), wanted);
      assert.deepEqual(await iterate(["TYPE", "hash", "COUNT", 50], async () => {}), []);
    });

    test("a cursor of another database or of no iteration still ends", async () => {
      await fill(500);
      for (const cursor of ["1", "12345", "4294967296", "70368744177663", "18446744073709551615"]) {
        let next = cursor;
        for (let pages = 0; next !== "0"; pages++) {
          assert.ok(pages < 1000, `the iteration from ${cursor} does not end`);
          next = (await page(next, "COUNT", 100)).cursor;
        }
      }
    });
  });
}
