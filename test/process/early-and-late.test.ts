/**
 * The edges of a server's life: connections that come before its threads are ready, replies under
 * way when it is told to end, and what it leaves behind when it is killed.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { after, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { executable } from "../support/build.ts";
import { needsOurs } from "../support/environment.ts";
import { startOwners, until } from "../support/owners.ts";
import { freePort, removeFolder, reservePortBlock, temporaryFolder } from "../support/ports.ts";
import { RespClient } from "../support/resp.ts";
import { show } from "../support/resp-parser.ts";
import { startZeroHop } from "../support/servers.ts";

const MB = 2 ** 20;

const launched: ChildProcess[] = [];
after(() => {
  for (const child of launched) child.kill("SIGKILL");
});

/** Starts a server without waiting for anything. */
async function launch(args: readonly (string | number)[]): Promise<ChildProcess> {
  const main = await executable();
  const child = spawn(process.execPath, [main, ...args.map(String)], { stdio: "ignore" });
  launched.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGKILL");
  await ended;
}

/** The first connection that the system lets through. */
async function connectAtOnce(port: number, child: ChildProcess): Promise<RespClient> {
  for (;;) {
    assert.equal(child.exitCode, null, "the server ended");
    try {
      return await RespClient.connect({ host: "127.0.0.1", port });
    } catch {
      // Nobody listens yet.
      await turn();
    }
  }
}

describe("connections before the threads are ready", needsOurs(), () => {
  for (const [threads, owners] of [
    [1, 0],
    [4, 0],
    [4, 3],
  ] as const) {
    test(`are kept by ${threads} threads, ${owners} owners`, async () => {
      for (let round = 0; round < 3; round++) {
        const block = await reservePortBlock(1 + owners);
        await block.release();
        const folder = temporaryFolder();
        const options = ["--port", block.first, "--threads", threads, "--dir", folder];
        if (owners > 0) options.push("--shard-owners", owners);
        const child = await launch(options);
        const ports = Array.from({ length: 1 + owners }, (_, i) => block.first + i);
        const clients: RespClient[] = [];
        // The pings are sent at once, the replies come when the threads are there.
        const replies = ports.map(async (port) => {
          for (let n = 0; n < 8; n++) {
            const client = await connectAtOnce(port, child);
            clients.push(client);
            client.sendRaw("PING\r\n");
          }
        });
        await Promise.all(replies);
        for (const client of clients)
          assert.equal(show((await client.next("PING")).reply), "+PONG");
        for (const client of clients) client.close();
        await end(child);
        removeFolder(folder);
      }
    });
  }
});

describe("the end of a server", needsOurs(), () => {
  test("waits for replies under way on owners' ports as on the plain one", async () => {
    const owners = await startOwners(3, { threads: 2 });
    const { server } = owners;
    const plain = await server.connect();
    const value = Buffer.alloc(20 * MB, "x");
    assert.equal(show((await plain.call("SET", "{a}big", value)).reply), "+OK");
    const slow = await Promise.all([0, 1, 2].map((owner) => owners.connect(owner)));
    const homes = await Promise.all(
      slow.map(async (client) => show((await client.call("STRLEN", "{a}big")).reply)),
    );
    const home = slow[homes.indexOf(`:${value.length}`)] as RespClient;
    home.socket.pause();
    home.sendRaw("GET {a}big\r\n");
    // Its row says that bytes are on their way.
    await until("the reply is under way", async () => {
      const { raw } = await plain.call("CLIENT", "LIST");
      return / omem=[1-9]\d*/.test(raw.toString("latin1"));
    });
    const ended = server.end("SIGTERM");
    await until("it was told", () => server.output().includes("Received SIGTERM"));
    await plain.expectClosed();
    home.socket.resume();
    const { raw } = await home.next("GET");
    assert.equal(raw.length, value.length + `$${value.length}\r\n\r\n`.length);
    assert.deepEqual(await ended, { code: 0, signal: null });
  });

  test("leaves nothing in the folder for temporary files, killed or not", async () => {
    const folder = temporaryFolder();
    const environment = { TMPDIR: folder };
    const servers = await Promise.all(
      [0, 1].map(() => startZeroHop({ threads: 3 }, { environment })),
    );
    const [first, second] = servers;
    for (const server of servers) {
      assert.equal(show((await (await server.connect()).call("PING")).reply), "+PONG");
    }
    await first?.end("SIGKILL");
    await second?.stop();
    const child = await launch(["--port", await freePort(), "--threads", 3, "--dir", folder]);
    await end(child);
    assert.deepEqual(readdirSync(folder), []);
    removeFolder(folder);
  });

  test("needs no folder for temporary files at all", async () => {
    const environment = { TMPDIR: "/nonexistent/folder" };
    const server = await startZeroHop({ threads: 3 }, { environment });
    const clients = await Promise.all(Array.from({ length: 12 }, () => server.connect()));
    for (const client of clients) assert.equal(show((await client.call("PING")).reply), "+PONG");
    await server.stop();
  });
});
