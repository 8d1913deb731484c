/** RESP on the data of an embedded store, while its own threads use it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, test } from "node:test";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { open, type Store } from "../../src/index.ts";
import { needs, requireTool } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { removeFolder, temporaryFolder } from "../support/ports.ts";
import { RespClient } from "../support/resp.ts";
import { show, textOf } from "../support/resp-parser.ts";
import { runProgram } from "../support/servers.ts";
import { newWords, startWorker, wordReaches } from "./support.ts";

function newStore(): Store {
  return open({ memoryChunk: "16mb", shards: 16, enableDebugCommand: "yes" });
}

async function said(client: RespClient, ...words: string[]): Promise<string> {
  return show((await client.call(...words)).reply);
}

test("redis-cli works on it while workers write", needs("redis-cli"), async () => {
  const store = newStore();
  const { port, host, url } = await store.listen();
  assert.equal(url, `redis://${host}:${port}`);
  const words = newWords(2);
  const workers = [1, 2].map((seed) =>
    startWorker({ name: "hammer", handle: store.handle, seed, words }),
  );
  await wordReaches(words, 0, 100);
  const cli = async (...call: string[]): Promise<string> => {
    const run = await runProgram(requireTool("redis-cli"), ["-p", String(port), ...call]);
    assert.equal(run.code, 0, run.stderr);
    return run.stdout.trim();
  };
  assert.equal(await cli("SET", "from:cli", "äöü"), "OK");
  assert.equal(store.get("from:cli") ?? "äöü", "äöü");
  store.set("from:main", "hello", { PX: 100_000 });
  const lists = await Promise.all([
    cli("GET", "from:main"),
    cli("CLIENT", "LIST"),
    cli("INFO", "clients"),
    cli("DEBUG", "HEAP-CHECK"),
  ]);
  assert.match(lists[0] ?? "", /^(?:hello|)$/);
  assert.match(lists[1] ?? "", /addr=handle:\d+ .*\n.*addr=handle:\d+ /);
  assert.match(lists[2] ?? "", /connected_clients:[4-9]/);
  assert.equal(lists[3], "OK");
  const before = Atomics.load(words, 0);
  await wordReaches(words, 0, before + 100);
  await Promise.all(workers.map((worker) => worker.terminate()));
  await store.close();
});

describe("listen", () => {
  test("serves several clients and pipelines, with the time and the values of the calls", async () => {
    const store = newStore();
    const address = await store.listen({ host: "127.0.0.1", port: 0 });
    const clients = await Promise.all(Array.from({ length: 5 }, () => RespClient.connect(address)));
    for (const [i, client] of clients.entries()) {
      assert.equal(await said(client, "SET", `key:${i}`, String(i)), "+OK");
      assert.equal(store.incr(`key:${i}`), i + 1);
      assert.equal(await said(client, "INCR", `key:${i}`), `:${i + 2}`);
    }
    const [client] = clients as [RespClient];
    const long = "x".repeat(300_000);
    store.set("long", long);
    assert.equal(textOf((await client.call("GET", "long")).reply), long);
    await client.call("SET", "long", `${long}y`);
    assert.equal(store.get("long"), `${long}y`);
    assert.equal(await said(client, "CONFIG", "SET", "maxmemory", "100mb"), "+OK");
    const limit = store.call("CONFIG", "GET", "maxmemory") as Map<string, string>;
    assert.equal(limit.get("maxmemory"), "104857600");
    assert.match(
      textOf((await client.call("INFO", "server")).reply),
      new RegExp(`tcp_port:${address.port}`),
    );
    assert.match(await said(client, "CONFIG", "SET", "port", "7000"), /belongs to its application/);
    await store.close();
    await Promise.all(clients.map((each) => each.closed));
  });

  test("parks a session behind a lock, and goes on with it", async () => {
    const store = newStore();
    const address = await store.listen();
    const client = await RespClient.connect(address);
    const words = newWords(2);
    const worker = startWorker({ name: "hold-for", handle: store.handle, words, count: 300 });
    await wordReaches(words, 0, 1);
    assert.equal(await said(client, "MSET", "a", "1", "b", "2"), "+OK");
    assert.equal(Atomics.load(words, 1), 1, "the lock was given back before");
    await once(worker, "exit");
    await store.close();
  });

  test("lets a connection wait, which a call can end", async () => {
    const store = newStore();
    const address = await store.listen();
    const client = await RespClient.connect(address);
    assert.equal(await said(client, "WAIT", "1", "20"), ":0");
    const id = (await said(client, "CLIENT", "ID")).slice(1);
    const [timed, failed] = [
      said(client, "WAIT", "1", "0"),
      said(client, "WAITAOF", "0", "1", "0"),
    ];
    for (const [how, answer, end] of [
      ["TIMEOUT", timed, ":0"],
      ["ERROR", failed, "-UNBLOCKED client unblocked via CLIENT UNBLOCK"],
    ] as const) {
      await until("it waits", () => store.call("CLIENT", "UNBLOCK", id, how) === 1);
      assert.equal(await answer, end);
    }
    const last = client.call("WAIT", "1", "0").catch(() => "closed");
    await until("it waits", () => /blocked_clients:1/.test(String(store.call("INFO", "clients"))));
    await store.close();
    assert.equal(await last, "closed");
  });

  test("shows calls to MONITOR, and does not hold them up in a pause", async () => {
    const store = newStore();
    const client = await RespClient.connect(await store.listen());
    assert.equal(await said(client, "CLIENT", "PAUSE", "100000", "ALL"), "+OK");
    assert.equal(store.set("k", "v"), "OK");
    const other = open({ handle: store.handle });
    assert.equal(other.get("k"), "v");
    store.call("CLIENT", "UNPAUSE");
    assert.equal(await said(client, "MONITOR"), "+OK");
    store.set("watched", "1");
    other.get("watched");
    const lines = await Promise.all([client.next("a line"), client.next("a line")]);
    assert.match(show(lines[0].reply), /\[0 handle:\d+\] "SET" "watched" "1"/);
    assert.match(show(lines[1].reply), /\[0 handle:\d+\] "GET" "watched"/);
    await Promise.all([store.close(), other.close()]);
  });

  test("on a unix socket", async () => {
    const folder = temporaryFolder();
    const place = path.join(folder, "store.sock");
    const store = newStore();
    const address = await store.listen({ path: place });
    assert.deepEqual(address, { host: "", port: 0, path: place, url: `unix://${place}` });
    const client = await RespClient.connect({ path: place });
    assert.equal(await said(client, "SET", "k", "v"), "+OK");
    const ioredis = new Redis(address.url);
    assert.equal(await ioredis.get("k"), "v");
    ioredis.disconnect();
    const nodeRedis = await createClient({ url: address.url }).connect();
    assert.equal(await nodeRedis.get("k"), "v");
    await nodeRedis.close();
    await assert.rejects(store.listen({ path: place }), {
      code: "LISTEN",
      message: `LISTEN ${place}: Address already in use`,
    });
    await store.close();
    assert.ok(!existsSync(place));
    removeFolder(folder);
  });

  test("says why a place cannot be had", async () => {
    const store = newStore();
    const { port } = await store.listen();
    await assert.rejects(store.listen({ port }), {
      code: "LISTEN",
      message: `LISTEN 127.0.0.1:${port}: Address already in use; without port the system chooses one`,
    });
    await assert.rejects(store.listen({ host: "192.0.2.1" }), { code: "LISTEN" });
    await assert.rejects(store.listen({ path: `/${"x".repeat(200)}` }), {
      code: "LISTEN",
      message: /longer than 107 bytes$/,
    });
    for (const bad of [70_000, -1, 1.5, Number.NaN]) {
      await assert.rejects(store.listen({ port: bad }), {
        code: "LISTEN",
        message: `LISTEN 127.0.0.1:${bad}: a port is a whole number up to 65535`,
      });
    }
    await store.close();
  });

  test("SHUTDOWN ends the listeners and nothing else", async () => {
    const store = newStore();
    const address = await store.listen();
    const client = await RespClient.connect(address);
    await client.call("SET", "k", "v");
    // More than is written at once: the rest is run when some of it has been taken.
    const other = await RespClient.connect(address);
    store.set("long", "x".repeat(3_000_000));
    other.socket.pause();
    const replies = Array.from({ length: 10 }, () => other.call("GET", "long"));
    await until("one is run", () => /cmdstat_get/.test(String(store.call("INFO", "commandstats"))));
    client.sendRaw("SHUTDOWN NOSAVE\r\n");
    await client.closed;
    other.socket.resume();
    for (const { reply } of await Promise.all(replies)) {
      assert.equal(textOf(reply).length, 3_000_000);
    }
    await other.closed;
    await assert.rejects(RespClient.connect(address));
    assert.equal(store.get("k"), "v");
    const again = await RespClient.connect(await store.listen());
    assert.equal(await said(again, "GET", "k"), '$"v"');
    await store.close();
  });

  test("ends with the thread of its handle, whose clients are counted out", async () => {
    const store = newStore();
    const words = newWords(2);
    const worker = startWorker({ name: "listen", handle: store.handle, words });
    await wordReaches(words, 0, 1);
    const port = Atomics.load(words, 1);
    const client = await RespClient.connect({ host: "127.0.0.1", port });
    assert.equal(await said(client, "SET", "k", "v"), "+OK");
    assert.match(String(store.call("INFO", "clients")), /connected_clients:3/);
    await worker.terminate();
    await client.closed;
    await until("its clients are gone", () =>
      /connected_clients:1\b/.test(String(store.call("INFO", "clients"))),
    );
    assert.equal(store.get("k"), "v");
    await store.close();
  });

  for (const [how, close] of [
    ["closed", (handle: Store): Promise<void> => handle.close()],
    ["disposed of", (handle: Store): void => handle[Symbol.dispose]()],
  ] as const) {
    test(`of a handle that is ${how} takes no memory for replies that nobody takes`, async () => {
      const store = newStore();
      const used = (): string =>
        /used_memory:(\d+)/.exec(String(store.call("INFO", "memory")))?.[1] ?? "";
      const second = open({ handle: store.handle });
      const client = net.connect(await second.listen());
      store.set("long", "x".repeat(8_000_000));
      try {
        client.pause();
        client.write("GET long\r\n".repeat(10));
        await until("a reply is on its way", () =>
          /cmdstat_get/.test(String(store.call("INFO", "commandstats"))),
        );
        store.del("long");
        assert.ok(Number(used()) >= 8_000_000, "the string is still being sent");
        await close(second);
        assert.equal(used(), "0");
        assert.equal(store.call("DEBUG", "HEAP-CHECK"), "OK");
      } finally {
        client.destroy();
        await Promise.all([second.close(), store.close()]);
      }
    });
  }

  test("of a broken store ends, and says so to the next call", async () => {
    const store = newStore();
    const client = await RespClient.connect(await store.listen());
    assert.equal(await said(client, "SET", "k", "v"), "+OK");
    const words = newWords(2);
    const worker = startWorker({ name: "hold-locks", handle: store.handle, words, count: 16 });
    await wordReaches(words, 0, 1);
    client.sendRaw("GET k\r\n");
    await worker.terminate();
    await client.closed;
    assert.throws(() => store.get("k"), { code: "BROKEN" });
    await store.close();
  });
});
