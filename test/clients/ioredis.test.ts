/** ioredis as it comes: one server, and a cluster of owner ports. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, type TestContext, test } from "node:test";
import { Cluster, Redis } from "ioredis";
import { type Owners, startOwners } from "../support/owners.ts";
import { type Server, startZeroHop } from "../support/servers.ts";
import { assertSettles } from "./redirects.ts";

/** A client that a failed test leaves open would keep the process from ending. */
function closeAfter<T extends { disconnect(): void }>(t: TestContext, client: T): T {
  t.after(() => client.disconnect());
  return client;
}

describe("ioredis Redis", () => {
  let server: Server;

  before(async () => {
    server = await startZeroHop({ threads: 2 });
  });

  after(async () => server?.stop());

  for (const protocol of [2, 3] as const) {
    test(`commands in RESP${protocol}`, async (t) => {
      const redis = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1", protocol }));
      assert.equal(await redis.ping(), "PONG");
      assert.equal(await redis.set("key", "value", "EX", 100), "OK");
      assert.equal(await redis.get("key"), "value");
      assert.equal(await redis.get("none"), null);
      assert.equal(await redis.set("key", "other", "NX"), null);
      assert.equal(await redis.ttl("key"), 100);
      const bytes = Buffer.from([0, 255, 13, 10]);
      await redis.set("binary", bytes);
      assert.deepEqual(await redis.getBuffer("binary"), bytes);
      assert.deepEqual(await redis.mget("key", "none"), ["value", null]);
      assert.equal(await redis.incrby("n", 41), 41);
      assert.equal(await redis.incr("n"), 42);
      assert.equal(await redis.incrbyfloat("n", 0.5), "42.5");
      await assert.rejects(redis.incr("key"), /value is not an integer or out of range/);
      assert.equal(await redis.exists("key", "binary", "none"), 2);
      assert.equal(await redis.rename("key", "renamed"), "OK");
      assert.equal(await redis.type("renamed"), "string");
      assert.match(await redis.info("server"), /redis_version:7\.4/);
      const results = await redis
        .pipeline()
        .set("a", "1")
        .incr("a")
        .get("a")
        .incr("renamed")
        .exec();
      assert.deepEqual(results?.slice(0, 3), [
        [null, "OK"],
        [null, 2],
        [null, "2"],
      ]);
      assert.ok(results?.[3]?.[0] instanceof Error);
      const found: string[] = [];
      for await (const keys of redis.scanStream({ match: "*", count: 2 })) found.push(...keys);
      assert.deepEqual([...new Set(found)].sort(), ["a", "binary", "n", "renamed"]);
      assert.equal(await redis.flushall(), "OK");
      assert.equal(await redis.dbsize(), 0);
      assert.equal(await redis.quit(), "OK");
    });
  }

  test("monitor() sees what another client runs, until it is disconnected", async (t) => {
    const redis = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    const other = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    const monitor = closeAfter(t, await redis.monitor());
    const seen: string[][] = [];
    const all = new Promise<void>((resolve) => {
      monitor.on("monitor", (time: string, args: string[], source: string, database: string) => {
        assert.match(time, /^\d+\.\d{6}$/);
        assert.match(source, /^127\.0\.0\.1:\d+$/);
        seen.push([database, ...args]);
        if (args[1] === "the last") resolve();
      });
    });
    await other.set("k", 'a "b"');
    await other.select(1);
    await other.get("the last");
    await all;
    assert.deepEqual(
      seen.filter(([, name]) => name !== "info" && name !== "client"),
      [
        ["0", "set", "k", 'a "b"'],
        ["1", "select", "1"],
        ["1", "get", "the last"],
      ],
    );
  });

  test("a connection that is killed is made anew", async (t) => {
    const redis = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    const control = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    const id = await redis.client("ID");
    const again = once(redis, "reconnecting");
    assert.equal(await control.client("KILL", "ID", id), 1);
    await again;
    assert.equal(await redis.ping(), "PONG");
    assert.notEqual(await redis.client("ID"), id);
  });

  test("commands wait for the end of a pause", async (t) => {
    const redis = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    const other = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    assert.equal(await redis.client("PAUSE", 60_000, "WRITE"), "OK");
    const written = other.pipeline().get("k").incr("paused").exec();
    assert.equal(await redis.exists("paused"), 0);
    assert.equal(await redis.client("UNPAUSE"), "OK");
    assert.deepEqual((await written)?.[1], [null, 1]);
  });

  test("a name, a database and no password are set on connect", async (t) => {
    const redis = closeAfter(
      t,
      new Redis({
        port: server.port,
        host: "127.0.0.1",
        db: 3,
        connectionName: "from-ioredis",
      }),
    );
    assert.equal(await redis.client("GETNAME"), "from-ioredis");
    const own = String(await redis.call("CLIENT", "INFO"));
    assert.match(own, / db=3 /);
    assert.match(own, / lib-name=ioredis/);
    redis.disconnect();
  });

  test("it comes back after its connection was killed", async (t) => {
    const redis = closeAfter(
      t,
      new Redis({ port: server.port, host: "127.0.0.1", retryStrategy: () => 5 }),
    );
    await redis.set("before", "1");
    const id = await redis.client("ID");
    const killer = closeAfter(t, new Redis({ port: server.port, host: "127.0.0.1" }));
    const closed = once(redis, "close");
    assert.equal(await killer.client("KILL", "ID", id), 1);
    await closed;
    assert.equal(await redis.get("before"), "1");
    assert.notEqual(await redis.client("ID"), id);
    await redis.quit();
    await killer.quit();
  });

  test("a thousand commands at once on several connections", async (t) => {
    const clients = Array.from({ length: 8 }, () =>
      closeAfter(t, new Redis(server.port, "127.0.0.1")),
    );
    const calls = clients.flatMap((redis) =>
      Array.from({ length: 125 }, () => redis.incr("shared")),
    );
    const replies = await Promise.all(calls);
    assert.deepEqual(
      replies.sort((a, b) => a - b),
      Array.from({ length: 1000 }, (_, i) => i + 1),
    );
    for (const redis of clients) await redis.quit();
  });
});

describe("ioredis Cluster", () => {
  const COUNT = 4;
  let owners: Owners;

  before(async () => {
    owners = await startOwners(COUNT);
  });

  after(async () => owners?.stop());

  test("started on any owner it finds all and is redirected no more", async (t) => {
    for (const port of owners.ports) {
      const cluster = closeAfter(t, new Cluster([{ host: "127.0.0.1", port }]));
      await once(cluster, "ready");
      assert.equal(cluster.nodes("master").length, COUNT);
      await assertSettles(cluster, owners, `${port}`);
      await cluster.quit();
    }
  });

  test("commands of one slot, pipelines and sums over the masters", async (t) => {
    const cluster = closeAfter(
      t,
      new Cluster([{ host: "127.0.0.1", port: owners.ports[1] as number }]),
    );
    assert.equal(await cluster.mset("{t}a", "1", "{t}b", "2"), "OK");
    assert.deepEqual(await cluster.mget("{t}a", "{t}b"), ["1", "2"]);
    await assert.rejects(cluster.mget("a", "b"), /CROSSSLOT/);
    const piped = await cluster.pipeline().incr("{t}n").incr("{t}n").get("{t}n").exec();
    assert.deepEqual(piped, [
      [null, 1],
      [null, 2],
      [null, "2"],
    ]);
    const sizes = await Promise.all(cluster.nodes("master").map((node) => node.dbsize()));
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      203,
    );
    await Promise.all(cluster.nodes("master").map((node) => node.flushdb()));
    assert.equal(await cluster.get("{t}a"), null);
    await cluster.quit();
  });
});
