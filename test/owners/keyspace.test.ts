/** The scope of what reaches over the keyspace: one owner's slots, or everything. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { needsOurs, subjectRedis } from "../support/environment.ts";
import { keySlot, type Owners, ownerOf, startOwners } from "../support/owners.ts";
import type { RespClient } from "../support/resp.ts";
import { integerOf, itemsOf, type Reply, show, textOf, textsOf } from "../support/resp-parser.ts";

const COUNT = 4;
const KEYS = Array.from({ length: 1000 }, (_, i) => `key:${i}`);

function keysOf(owner: number): string[] {
  return KEYS.filter((key) => ownerOf(keySlot(key), COUNT) === owner).sort();
}

describe("keyspace commands on owner ports", () => {
  let owners: Owners;
  const clients: RespClient[] = [];
  let plain: RespClient | undefined;

  before(async () => {
    owners = await startOwners(COUNT);
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
    if (subjectRedis === undefined) plain = await owners.server.connect();
  });

  after(async () => owners?.stop());

  beforeEach(async () => {
    for (const client of clients) await client.call("FLUSHALL");
    for (const [index, client] of clients.entries()) {
      await client.pipeline(keysOf(index).map((key) => ["SET", key, "v", "EX", "10000"]));
    }
  });

  test("DBSIZE, and its sum", async () => {
    let sum = 0;
    for (const [index, client] of clients.entries()) {
      const size = integerOf((await client.call("DBSIZE")).reply);
      assert.equal(size, keysOf(index).length);
      sum += size;
    }
    assert.equal(sum, KEYS.length);
    if (plain) assert.equal(integerOf((await plain.call("DBSIZE")).reply), KEYS.length);
  });

  test("INFO keyspace, and its sum", async () => {
    const read = async (client: RespClient): Promise<[number, number]> => {
      const info = textOf((await client.call("INFO", "keyspace")).reply);
      const [, keys, expires] = /^db0:keys=(\d+),expires=(\d+),/m.exec(info) ?? [];
      return [Number(keys), Number(expires)];
    };
    let sum = 0;
    for (const [index, client] of clients.entries()) {
      const count = keysOf(index).length;
      assert.deepEqual(await read(client), [count, count]);
      sum += count;
    }
    assert.equal(sum, KEYS.length);
    if (plain) assert.deepEqual(await read(plain), [KEYS.length, KEYS.length]);
  });

  test("an empty owner has no db0 line", async () => {
    const [client] = clients as [RespClient];
    await client.call("FLUSHDB");
    assert.equal(textOf((await client.call("INFO", "keyspace")).reply), "# Keyspace\r\n");
  });

  test("SCAN is disjoint and complete", async () => {
    const all: string[] = [];
    for (const [index, client] of clients.entries()) {
      const seen: string[] = [];
      let cursor = "0";
      do {
        const [next, keys] = itemsOf((await client.call("SCAN", cursor, "COUNT", 20)).reply);
        seen.push(...textsOf(keys as Reply));
        cursor = textOf(next as Reply);
      } while (cursor !== "0");
      assert.deepEqual([...new Set(seen)].sort(), keysOf(index));
      all.push(...new Set(seen));
    }
    assert.deepEqual(all.sort(), [...KEYS].sort());
  });

  test("KEYS", async () => {
    for (const [index, client] of clients.entries()) {
      assert.deepEqual(textsOf((await client.call("KEYS", "*")).reply).sort(), keysOf(index));
      const some = textsOf((await client.call("KEYS", "key:1??")).reply).sort();
      assert.deepEqual(
        some,
        keysOf(index).filter((key) => /^key:1..$/.test(key)),
      );
    }
  });

  test("RANDOMKEY", async () => {
    for (const [index, client] of clients.entries()) {
      const own = new Set(keysOf(index));
      const seen = new Set<string>();
      for (let i = 0; i < 100; i++) {
        const key = textOf((await client.call("RANDOMKEY")).reply);
        assert.ok(own.has(key), `${key} is not of owner ${index}`);
        seen.add(key);
      }
      assert.ok(seen.size > 20, `only ${seen.size} different keys of ${own.size} in 100 draws`);
    }
  });

  test("FLUSHDB and FLUSHALL take the owner's keys and no other's", async () => {
    for (const [index, command] of ["FLUSHDB", "FLUSHALL"].entries()) {
      assert.equal(show((await (clients[index] as RespClient).call(command)).reply), "+OK");
      for (const [other, client] of clients.entries()) {
        const expected = other <= index ? 0 : keysOf(other).length;
        assert.equal(integerOf((await client.call("DBSIZE")).reply), expected);
      }
    }
    for (const key of keysOf(2)) {
      assert.equal(show((await (clients[2] as RespClient).call("GET", key)).reply), '$"v"');
    }
  });

  test("COUNTKEYSINSLOT and GETKEYSINSLOT", async () => {
    const slot = keySlot("key:1");
    const owner = ownerOf(slot, COUNT);
    for (const [index, client] of clients.entries()) {
      const expected = KEYS.filter((key) => keySlot(key) === slot);
      const counted = integerOf((await client.call("CLUSTER", "COUNTKEYSINSLOT", slot)).reply);
      const listed = textsOf((await client.call("CLUSTER", "GETKEYSINSLOT", slot, 100)).reply);
      assert.equal(counted, index === owner ? expected.length : 0);
      assert.deepEqual(listed.sort(), index === owner ? expected.sort() : []);
    }
  });
});

describe("shard-owners-keyspace", needsOurs(), () => {
  let owners: Owners;
  const clients: RespClient[] = [];
  let plain: RespClient;

  before(async () => {
    owners = await startOwners(COUNT, { "shard-owners-keyspace": "all" });
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
    plain = await owners.server.connect();
    await plain.pipeline(KEYS.map((key) => ["SET", key, "v"]));
  });

  after(async () => owners?.stop());

  test("all: every owner shows everything", async () => {
    for (const client of clients) {
      assert.equal(integerOf((await client.call("DBSIZE")).reply), KEYS.length);
      assert.equal(itemsOf((await client.call("KEYS", "*")).reply).length, KEYS.length);
    }
  });

  test("own and all at run time, from any port", async () => {
    await plain.call("CONFIG", "SET", "shard-owners-keyspace", "own");
    for (const [index, client] of clients.entries()) {
      assert.equal(integerOf((await client.call("DBSIZE")).reply), keysOf(index).length);
    }
    await (clients[3] as RespClient).call("CONFIG", "SET", "shard-owners-keyspace", "all");
    for (const client of clients) {
      assert.equal(integerOf((await client.call("DBSIZE")).reply), KEYS.length);
    }
  });

  test("all: FLUSHALL on one owner empties the process, every database", async () => {
    await plain.call("SELECT", 5);
    await plain.call("SET", "in5", "v");
    assert.equal(show((await (clients[1] as RespClient).call("FLUSHALL")).reply), "+OK");
    assert.equal(integerOf((await plain.call("DBSIZE")).reply), 0);
    await plain.call("SELECT", 0);
    assert.equal(integerOf((await plain.call("DBSIZE")).reply), 0);
  });
});
