/** node-redis as it comes: createClient and createCluster. */
import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { createClient, createCluster } from "redis";
import { type Owners, startOwners } from "../support/owners.ts";
import { deferred } from "../support/resp.ts";
import { type Server, startZeroHop } from "../support/servers.ts";
import { assertSettles } from "./redirects.ts";

/** A client that a failed test leaves open would keep the process from ending. */
function closeAfter(t: TestContext, client: { isOpen: boolean; destroy(): void }): void {
  t.after(() => {
    if (client.isOpen) client.destroy();
  });
}

describe("node-redis createClient", () => {
  let server: Server;

  before(async () => {
    server = await startZeroHop({ threads: 2 });
  });

  after(async () => server?.stop());

  for (const protocol of [2, 3] as const) {
    test(`commands in RESP${protocol}`, async (t) => {
      const client = createClient({ url: `redis://127.0.0.1:${server.port}`, RESP: protocol });
      client.on("error", assert.ifError);
      closeAfter(t, client);
      await client.connect();
      assert.equal(await client.ping(), "PONG");
      assert.equal(
        await client.set("key", "value", { expiration: { type: "EX", value: 100 } }),
        "OK",
      );
      assert.equal(await client.get("key"), "value");
      assert.equal(await client.get("none"), null);
      assert.equal(await client.set("key", "x", { condition: "NX" }), null);
      assert.equal(await client.set("key", "new", { condition: "XX", GET: true }), "value");
      assert.equal(await client.ttl("key"), -1);
      assert.deepEqual(await client.mGet(["key", "none"]), ["new", null]);
      assert.equal(await client.incrBy("n", 41), 41);
      assert.equal(await client.incr("n"), 42);
      assert.equal(await client.incrByFloat("n", 0.5), "42.5");
      await assert.rejects(client.incr("key"), /value is not an integer or out of range/);
      assert.equal(await client.exists(["key", "n"]), 2);
      assert.equal(await client.append("key", "er"), 5);
      assert.equal(await client.getRange("key", 0, 2), "new");
      assert.equal(await client.type("key"), "string");
      const found: string[] = [];
      for await (const keys of client.scanIterator({ COUNT: 1 })) found.push(...keys);
      assert.deepEqual([...new Set(found)].sort(), ["key", "n"]);
      assert.match(await client.info("server"), /redis_version:7\.4/);
      assert.deepEqual({ ...(await client.configGet("timeout")) }, { timeout: "0" });
      assert.equal(await client.flushAll(), "OK");
      await client.close();
    });
  }

  test("MONITOR sees what another client runs", async (t) => {
    const url = `redis://127.0.0.1:${server.port}`;
    const clients = [createClient({ url }), createClient({ url })] as const;
    for (const client of clients) {
      client.on("error", assert.ifError);
      closeAfter(t, client);
      await client.connect();
    }
    const [monitor, other] = clients;
    const lines: string[] = [];
    const all = deferred<void>();
    await monitor.monitor((line) => {
      lines.push(String(line));
      if (String(line).includes("the last")) all.resolve();
    });
    await other.set("k", "v");
    await other.del("the last");
    await all.promise;
    const words = lines.map((line) => line.replace(/^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] /, ""));
    assert.deepEqual(words, ['"SET" "k" "v"', '"DEL" "the last"']);
  });

  test("a name and a database are set on connect", async (t) => {
    const client = createClient({
      url: `redis://127.0.0.1:${server.port}/3`,
      name: "from-node-redis",
    });
    closeAfter(t, client);
    await client.connect();
    assert.equal(await client.clientGetName(), "from-node-redis");
    const own = String(await client.sendCommand(["CLIENT", "INFO"]));
    assert.match(own, / db=3 /);
    assert.match(own, / lib-name=node-redis/);
    await client.close();
  });

  test("it comes back after its connection was killed", async (t) => {
    const client = createClient({
      url: `redis://127.0.0.1:${server.port}`,
      socket: { reconnectStrategy: () => 5 },
    });
    client.on("error", () => {
      // The loss of the connection is announced as an error; what follows is asserted.
    });
    closeAfter(t, client);
    await client.connect();
    await client.set("before", "1");
    const id = await client.clientId();
    const killer = createClient({ url: `redis://127.0.0.1:${server.port}` });
    closeAfter(t, killer);
    await killer.connect();
    const again = new Promise<void>((resolve) => client.once("ready", () => resolve()));
    assert.equal(await killer.sendCommand(["CLIENT", "KILL", "ID", String(id)]), 1);
    await again;
    assert.equal(await client.get("before"), "1");
    assert.notEqual(await client.clientId(), id);
    await client.close();
    await killer.close();
  });

  test("a unix socket", async (t) => {
    const other = await startZeroHop({ unixsocket: "zh.sock" });
    const client = createClient({ socket: { path: `${other.folder}/zh.sock`, tls: false } });
    closeAfter(t, client);
    await client.connect();
    assert.equal(await client.set("key", "value"), "OK");
    assert.equal(await client.get("key"), "value");
    await client.close();
    await other.stop();
  });
});

describe("node-redis createCluster", () => {
  const COUNT = 4;
  let owners: Owners;

  before(async () => {
    owners = await startOwners(COUNT);
  });

  after(async () => owners?.stop());

  for (const protocol of [2, 3] as const) {
    test(`started on any owner it finds all, in RESP${protocol}`, async (t) => {
      for (const port of owners.ports) {
        const cluster = createCluster({
          rootNodes: [{ url: `redis://127.0.0.1:${port}` }],
          RESP: protocol,
        });
        cluster.on("error", assert.ifError);
        closeAfter(t, cluster);
        await cluster.connect();
        assert.equal(cluster.masters.length, COUNT);
        await assertSettles(cluster, owners, `${port}`);
        assert.deepEqual(await cluster.mGet(["{key:1}x", "key:1"]), [null, `${port}`]);
        await cluster.close();
      }
    });
  }
});
