/**
 * What was answered on one connection holds for the next command on any other, whichever threads
 * serve the two: ten thousand times each for settings, for names of connections and for keys.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { RespClient } from "../support/resp.ts";
import { errorOf, itemsOf, type Reply, show, textOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";

const TIMES = 10_000;
const CONNECTIONS = 12;
const THREADS = 4;

describe(`visibility between connections with ${THREADS} threads`, () => {
  let server: Server;
  const clients: RespClient[] = [];
  const seed = testSeed(41);
  const random = new Random(seed);

  before(async () => {
    server = await startZeroHop({ threads: THREADS });
    for (let i = 0; i < CONNECTIONS; i++) clients.push(await server.connect());
  });

  after(async () => server?.stop());

  /** Two different connections. */
  function two(): [RespClient, RespClient] {
    const first = random.below(CONNECTIONS);
    const second = (first + 1 + random.below(CONNECTIONS - 1)) % CONNECTIONS;
    return [clients[first] as RespClient, clients[second] as RespClient];
  }

  test("CONFIG SET, then CONFIG GET elsewhere", async () => {
    const settings = ["maxclients", "timeout", "tcp-keepalive", "maxmemory"];
    for (let i = 0; i < TIMES; i++) {
      const [writer, reader] = two();
      const name = settings[i % settings.length] as string;
      const value = String(name === "maxmemory" ? 1_000_000_000 + i : 1000 + (i % 5000));
      await writer.call("CONFIG", "SET", name, value);
      const { reply } = await reader.call("CONFIG", "GET", name);
      const seen = itemsOf(reply)[1];
      assert.equal(seen && textOf(seen), value, `${name}, time ${i}, ${seedText(seed)}`);
    }
    const defaults = ["maxclients", 10_000, "timeout", 0, "tcp-keepalive", 300, "maxmemory", 0];
    assert.equal(show((await two()[0].call("CONFIG", "SET", ...defaults)).reply), "+OK");
  });

  test("a lower maxclients refuses the next connection", async () => {
    for (let i = 0; i < 20; i++) {
      const [writer] = two();
      await writer.call("CONFIG", "SET", "maxclients", CONNECTIONS);
      const refused = await server.connect();
      assert.equal(
        errorOf((await refused.next("the refusal")).reply),
        "ERR max number of clients reached",
      );
      await refused.expectClosed();
      await two()[0].call("CONFIG", "SET", "maxclients", 10_000);
      const welcome = await server.connect();
      assert.equal(show((await welcome.call("PING")).reply), "+PONG");
      await welcome.finish();
    }
  });

  test("CLIENT SETNAME, then CLIENT LIST elsewhere", async () => {
    const ids: string[] = [];
    for (const client of clients)
      ids.push(show((await client.call("CLIENT", "ID")).reply).slice(1));
    for (let i = 0; i < TIMES; i++) {
      const [writer, reader] = two();
      const id = ids[clients.indexOf(writer)] as string;
      await writer.call("CLIENT", "SETNAME", `name-${i}`);
      const listed = textOf((await reader.call("CLIENT", "LIST", "ID", id)).reply);
      assert.match(listed, new RegExp(`^id=${id} .* name=name-${i} `), seedText(seed));
    }
  });

  test("SET, then GET elsewhere", async () => {
    for (let i = 0; i < TIMES; i++) {
      const [writer, reader] = two();
      const key = `key:${i % 100}`;
      await writer.call("SET", key, i);
      assert.equal(show((await reader.call("GET", key)).reply), `$"${i}"`, seedText(seed));
    }
  });

  test("FLUSHALL, then DBSIZE elsewhere", async () => {
    for (let i = 0; i < TIMES / 10; i++) {
      const [writer, reader] = two();
      await writer.call("MSET", "a", i, "b", i, "c", i);
      assert.notEqual(show((await reader.call("DBSIZE")).reply), ":0");
      await writer.call("FLUSHALL");
      assert.equal(show((await reader.call("DBSIZE")).reply), ":0", seedText(seed));
    }
  });

  test("CLIENT KILL, then nothing of the killed one is left", async () => {
    for (let i = 0; i < 200; i++) {
      const victim = await server.connect();
      const id = show((await victim.call("CLIENT", "ID")).reply).slice(1);
      const [killer, reader] = two();
      assert.equal(show((await killer.call("CLIENT", "KILL", "ID", id)).reply), ":1");
      await victim.expectClosed();
      assert.equal(textOf((await reader.call("CLIENT", "LIST", "ID", id)).reply), "");
    }
  });

  test("a logged call is the newest for the next SLOWLOG GET, and ids leave nothing out", async () => {
    await clients[0]?.call("CONFIG", "SET", "slowlog-log-slower-than", 0);
    let last = -1;
    for (let i = 0; i < TIMES / 5; i++) {
      const [writer, reader] = two();
      await writer.call("GET", `mark:${i}`);
      const [entry] = itemsOf((await reader.call("SLOWLOG", "GET", 1)).reply);
      const [id, , , words] = entry === undefined ? [] : itemsOf(entry);
      assert.equal(words && show(words), `*[$"GET" $"mark:${i}"]`, seedText(seed));
      const number = Number(id && textOf(id));
      // The reader's own call was logged after it had looked.
      if (last >= 0) assert.equal(number, last + 2);
      last = number;
    }
    await clients[0]?.call("CONFIG", "SET", "slowlog-log-slower-than", 10_000);
  });

  test("calls of all threads at once are all logged, whole and once", async () => {
    const [first] = clients as [RespClient];
    await first.call("CONFIG", "SET", "slowlog-log-slower-than", 0, "slowlog-max-len", 100_000);
    await first.call("SLOWLOG", "RESET");
    const each = TIMES / 10;
    const load = clients.map((client, c) =>
      client.pipeline(
        Array.from({ length: each }, (_, i) => ["SETNX", `c${c}:${i}`, "v".repeat(i % 128)]),
      ),
    );
    await Promise.all(load);
    const entries = itemsOf((await first.call("SLOWLOG", "GET", -1)).reply).map(itemsOf);
    await first.call("CONFIG", "SET", "slowlog-log-slower-than", 10_000, "slowlog-max-len", 128);
    const newest = Number(textOf(entries[0]?.[0] as Reply));
    const calls = new Set<string>();
    for (const [n, [id, , , words]] of entries.entries()) {
      assert.equal(Number(textOf(id as Reply)), newest - n);
      const [name = "", key = "", value = ""] = itemsOf(words as Reply).map(textOf);
      if (name !== "SETNX") continue;
      const wanted = Number(key.split(":")[1]) % 128;
      assert.equal(value.length, wanted, key);
      calls.add(key);
    }
    assert.equal(calls.size, CONNECTIONS * each);
  });

  test("every call is counted in LATENCY HISTOGRAM", async () => {
    await clients[0]?.call("CONFIG", "RESETSTAT");
    for (let i = 1; i <= TIMES / 10; i++) {
      const [writer, reader] = two();
      await writer.call("STRLEN", "k");
      const { reply } = await reader.call("LATENCY", "HISTOGRAM", "strlen");
      assert.match(
        show(reply),
        new RegExp(`^\\*\\[\\$"strlen" \\*\\[\\$"calls" :${i} `),
        seedText(seed),
      );
    }
  });
});
