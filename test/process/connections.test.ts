/** Connections: shared out among the threads, limited, timed out, killed, and the port itself. */
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { closeServer, freePort, holdPort } from "../support/ports.ts";
import { RespClient } from "../support/resp.ts";
import { errorOf, show, textOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";

/** accepted_connections of each thread, from INFO threads. */
async function acceptedPerThread(client: RespClient): Promise<number[]> {
  const text = textOf((await client.call("INFO", "threads")).reply);
  const found = [...text.matchAll(/^(?:thread_?\d+:.*\b)?accepted_connections[^:=]*[:=](\d+)/gm)];
  assert.ok(found.length > 0, `no accepted_connections per thread in ${text}`);
  return found.map(([, count]) => Number(count));
}

describe("connections over threads", needsOurs(), () => {
  for (const threads of [2, 4]) {
    test(`50 at once over ${threads} threads: none has over twice its share`, async () => {
      const server = await startZeroHop({ threads });
      const watcher = await server.connect();
      const earlier = await acceptedPerThread(watcher);
      const clients = await Promise.all(
        Array.from({ length: 50 }, () => RespClient.connect(server.address)),
      );
      for (const client of clients) assert.equal(show((await client.call("PING")).reply), "+PONG");
      const later = await acceptedPerThread(watcher);
      const shares = later.map((count, i) => count - (earlier[i] ?? 0));
      assert.equal(shares.length, threads);
      assert.equal(
        shares.reduce((sum, share) => sum + share, 0),
        50,
      );
      assert.ok(Math.max(...shares) <= (2 * 50) / threads, `shares ${shares.join(", ")}`);
      for (const client of clients) client.close();
      await server.stop();
    });
  }

  test("connections that come one by one and stay are shared out too", async () => {
    const server = await startZeroHop({ threads: 4 });
    const clients: RespClient[] = [];
    for (let i = 0; i < 40; i++) {
      const client = await server.connect();
      // Its answer says that it has arrived at a thread.
      await client.call("PING");
      clients.push(client);
    }
    const shares = await acceptedPerThread(clients[0] as RespClient);
    assert.ok(Math.max(...shares) <= 20, `shares ${shares.join(", ")}`);
    assert.ok(Math.min(...shares) > 0, `shares ${shares.join(", ")}`);
    await server.stop();
  });
});

describe("the life of a connection", needsOurs(), () => {
  let server: Server;

  before(async () => {
    server = await startZeroHop({ threads: 4 });
  });

  after(async () => server?.stop());

  test("100 times a hundred connections opened and closed leave none behind", async () => {
    const watcher = await server.connect();
    const connected = async (): Promise<number> => {
      const info = textOf((await watcher.call("INFO", "clients")).reply);
      return Number(/^connected_clients:(\d+)/m.exec(info)?.[1]);
    };
    const descriptors = (): number => {
      const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
      return Number(/^FDSize:\s*(\d+)/m.exec(status)?.[1]);
    };
    for (let round = 0; round < 100; round++) {
      const clients = await Promise.all(
        Array.from({ length: 100 }, () => RespClient.connect(server.address)),
      );
      await Promise.all(clients.map((client) => client.call("PING")));
      for (const [i, client] of clients.entries()) {
        if (i % 3 === 0) client.close();
        else if (i % 3 === 1) client.socket.resetAndDestroy();
        else client.socket.end();
      }
      if (round % 10 === 9) await until("all are gone", async () => (await connected()) === 1);
    }
    await until("all are gone", async () => (await connected()) === 1);
    assert.ok(descriptors() <= 1024, `${descriptors()} descriptors`);
    watcher.close();
  });

  test("a client that vanishes in the middle of a request is dropped", async () => {
    const watcher = await server.connect();
    for (const part of ["*2\r\n$3\r\nGET\r\n", "*1\r\n$100000\r\nabc", "PIN", "*1\r\n$4\r\nPI"]) {
      const client = await RespClient.connect(server.address);
      client.sendRaw(part);
      client.socket.resetAndDestroy();
    }
    await until("all are gone", async () => {
      const info = textOf((await watcher.call("INFO", "clients")).reply);
      return /^connected_clients:1\r$/m.test(info);
    });
    watcher.close();
  });

  test("idle ones go after timeout, busy ones stay", async () => {
    const setter = await server.connect();
    await setter.call("CONFIG", "SET", "timeout", 1);
    const idle = await server.connect();
    await idle.call("PING");
    let busy = setter;
    let busyMs = Date.now();
    while (!idle.isClosed) {
      try {
        await busy.call("PING");
        busyMs = Date.now();
      } catch (error) {
        // One that this machine kept from asking for a second was idle too.
        if (Date.now() - busyMs < 1000) throw error;
        busy = await server.connect();
        busyMs = Date.now();
      }
    }
    busy.close();
    await until("it may be idle again", async () => {
      const client = await server.connect();
      try {
        return show((await client.call("CONFIG", "SET", "timeout", 0)).reply) === "+OK";
      } catch {
        return false;
      } finally {
        client.close();
      }
    });
  });

  test("maxclients: the error, and the close", async () => {
    const first = await server.connect();
    await until("those of before are gone", async () => {
      const info = textOf((await first.call("INFO", "clients")).reply);
      return /^connected_clients:1\r$/m.test(info);
    });
    await first.call("CONFIG", "SET", "maxclients", 3);
    const second = await server.connect();
    const third = await server.connect();
    // An answer says that a connection has arrived at its thread and is counted.
    for (const client of [second, third]) {
      assert.equal(show((await client.call("PING")).reply), "+PONG");
    }
    for (let i = 0; i < 10; i++) {
      const over = await server.connect();
      assert.equal(
        errorOf((await over.next("the refusal")).reply),
        "ERR max number of clients reached",
      );
      await over.expectClosed();
    }
    second.close();
    await until("a place is free", async () => {
      const client = await server.connect();
      try {
        const { reply } = await client.call("PING");
        return show(reply) === "+PONG";
      } catch {
        return false;
      } finally {
        client.close();
      }
    });
    await first.call("CONFIG", "SET", "maxclients", 10_000);
  });
});

describe("the port", needsOurs(), () => {
  test("closed and reopened 100 times while files open and close", async () => {
    const server = await startZeroHop({ threads: 4 });
    const control = await server.connect();
    const { port } = server;
    const file = path.join(server.folder, "file");
    for (let i = 0; i < 100; i++) {
      const closed = await control.call("CONFIG", "SET", "port", 0);
      assert.equal(show(closed.reply), "+OK", `time ${i}`);
      await assert.rejects(RespClient.connect(server.address), /ECONNREFUSED/);
      const descriptors = Array.from({ length: 10 }, () => openSync(file, "a"));
      assert.equal(show((await control.call("CONFIG", "SET", "port", port)).reply), "+OK");
      const clients = await Promise.all([0, 1, 2, 3].map(() => RespClient.connect(server.address)));
      for (const client of clients) {
        assert.equal(show((await client.call("INCR", "n")).reply).slice(0, 1), ":");
        client.close();
      }
      for (const descriptor of descriptors) {
        writeSync(descriptor, "x");
        closeSync(descriptor);
      }
    }
    assert.equal(show((await control.call("GET", "n")).reply), '$"400"');
    assert.equal(readFileSync(file, "latin1"), "x".repeat(1000));
    await server.stop();
  });

  for (const threads of [1, 4]) {
    test(`moves while others are connected, with ${threads} threads`, async () => {
      const server = await startZeroHop({ threads });
      const before = await server.connect();
      const port = await freePort();
      const moved = await before.pipeline([
        ["CONFIG", "SET", "port", port],
        ["CONFIG", "GET", "port"],
        ["PING"],
      ]);
      assert.deepEqual(
        moved.map(({ reply }) => show(reply)),
        ["+OK", `*[$"port" $"${port}"]`, "+PONG"],
      );
      const after = await server.connectTo(port);
      assert.match(
        textOf((await after.call("INFO", "server")).reply),
        new RegExp(`tcp_port:${port}\r`),
      );
      await assert.rejects(RespClient.connect(server.address), /ECONNREFUSED/);
      await server.stop();
    });
  }

  test("a port that is taken changes nothing", async () => {
    const server = await startZeroHop({ threads: 2, bind: "127.0.0.1" });
    const client = await server.connect();
    const port = await freePort();
    const holder = await holdPort(port, "127.0.0.1");
    const refused = await client.call("CONFIG", "SET", "maxclients", 77, "port", port);
    assert.equal(
      errorOf(refused.reply),
      "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this " +
        "port. Check server logs.",
    );
    const kept = (await client.call("CONFIG", "GET", "maxclients")).reply;
    assert.notEqual(show(kept), '*[$"maxclients" $"77"]');
    assert.equal(show((await (await server.connect()).call("PING")).reply), "+PONG");
    await closeServer(holder);
    await server.stop();
  });
});
