/**
 * A process that may open few files: `maxclients` is lowered to what there is, and running out of
 * descriptors costs connections, never the process.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { executable } from "../support/build.ts";
import { needsOurs } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { RespClient } from "../support/resp.ts";
import { errorOf, integerOf, show, textOf, textsOf } from "../support/resp-parser.ts";
import { runProgram, type Server, startZeroHop } from "../support/servers.ts";

/** Always with --norc: a shell whose input is a socket takes itself for one of another machine. */
const BASH = "/bin/bash";
const PRLIMIT = "/usr/bin/prlimit";
const missing = [BASH, PRLIMIT].filter((path) => !existsSync(path));
const needed = missing.length === 0 ? needsOurs() : { skip: `no ${missing.join(", ")}` };

function limited(files: number): { through: string[] } {
  return { through: [BASH, "--norc", "-c", `ulimit -n ${files}; exec "$0" "$@"`] };
}

function setFilesMax(server: Server, soft: number, hard: number): void {
  execFileSync(PRLIMIT, ["--pid", String(server.pid), `--nofile=${soft}:${hard}`]);
}

/**
 * Leaves the server no number for one more descriptor, so that so many connections in a row are
 * refused: one alone may have met a file that a thread had open just then. Returns the clients that
 * took the last.
 */
async function useUpDescriptors(server: Server, refusals: number): Promise<RespClient[]> {
  setFilesMax(server, readdirSync(`/proc/${server.pid}/fd`).length + 10, 20_000);
  const clients: RespClient[] = [];
  for (let refused = 0; refused < refusals; ) {
    const client = await tryConnect(server);
    if (client === null) {
      refused++;
      continue;
    }
    refused = 0;
    clients.push(client);
    assert.ok(clients.length < 100, "there is no end to the descriptors");
  }
  return clients;
}

async function tryConnect(server: Server): Promise<RespClient | null> {
  const client = await RespClient.connect(server.address);
  try {
    await client.call("PING");
    return client;
  } catch {
    client.close();
    return null;
  }
}

async function maxclients(client: RespClient): Promise<number> {
  return Number(textsOf((await client.call("CONFIG", "GET", "maxclients")).reply)[1]);
}

/** What a connection that may fail came to: a reply's text, or null. */
async function tryPing(server: Server, limitMs = 5000): Promise<string | null> {
  try {
    const client = await RespClient.connect(server.address);
    client.timeoutMs = limitMs;
    try {
      return show((await client.call("PING")).reply);
    } finally {
      client.close();
    }
  } catch {
    // Refused, or closed before an answer: the system has no descriptor for it.
    return null;
  }
}

describe("few open files", needed, () => {
  test("maxclients is lowered to the descriptors there are, and the log says so", async () => {
    const options = { threads: 2, "shard-owners": 2, "shard-owners-port": "auto" };
    const server = await startZeroHop({ ...options, maxclients: 5000 }, limited(200));
    const client = await server.connect();
    const most = await maxclients(client);
    assert.ok(most >= 100 && most < 200, `${most} clients with 200 files`);
    assert.match(
      server.output(),
      new RegExp(
        `# Current maximum open files is 200\\. maxclients has been reduced to ${most} to ` +
          "compensate for low ulimit\\. If you need higher maxclients increase 'ulimit -n'\\.",
      ),
    );
    assert.match(
      errorOf((await client.call("CONFIG", "SET", "maxclients", most + 1)).reply),
      new RegExp(`not able to handle the specified number of clients, try with ${most}$`),
    );
    const clients = [client];
    while (clients.length < most) {
      const more = await server.connect();
      assert.equal(show((await more.call("PING")).reply), "+PONG", `client ${clients.length}`);
      clients.push(more);
    }
    const over = await server.connect();
    assert.equal(
      errorOf((await over.next("the refusal")).reply),
      "ERR max number of clients reached",
    );
    await server.stop();
  });

  test("a limit that is high enough changes nothing", async () => {
    const server = await startZeroHop({ threads: 2, maxclients: 50 }, limited(200));
    assert.equal(await maxclients(await server.connect()), 50);
    assert.doesNotMatch(server.output(), /maximum open files/);
    await server.stop();
  });

  test("with fewer than it needs for itself it does not start, and says why", async () => {
    const [program = "", ...before] = limited(40).through;
    const main = await executable();
    const { code, stdout, stderr } = await runProgram(program, [
      ...before,
      process.execPath,
      main,
      "--port",
      "auto",
      "--threads",
      "2",
    ]);
    assert.equal(code, 1, stdout + stderr);
    assert.match(stderr, /^zerohop: the system allows 40 open files, and \d+ are needed\n$/);
  });

  for (const threads of [1, 3]) {
    test(`running out of them costs ${threads} threads only new connections`, async () => {
      const server = await startZeroHop({ threads });
      const clients = await Promise.all(Array.from({ length: 20 }, () => server.connect()));
      for (const client of clients) await client.call("PING");
      const [first, second] = clients as [RespClient, RespClient];
      clients.push(...(await useUpDescriptors(server, 6)));
      // Once a second every thread reads figures that take a descriptor.
      await first.call("CONFIG", "RESETSTAT");
      await until("a second has passed", async () => {
        const stats = textOf((await second.call("INFO", "stats")).reply);
        return !/^instantaneous_ops_per_sec:0\r$/m.test(stats);
      });
      const memory = textOf((await first.call("INFO", "memory")).reply);
      assert.match(memory, /^used_memory_rss:[1-9]\d*\r$/m);
      for (const client of clients) {
        assert.equal(show((await client.call("SET", "k", "v".repeat(100_000))).reply), "+OK");
      }
      setFilesMax(server, 20_000, 20_000);
      assert.equal(await tryPing(server, 60_000), "+PONG");
      assert.equal(integerOf((await first.call("DBSIZE")).reply), 1);
      await server.stop();
    });
  }

  test("a burst of more connections than there are descriptors leaves it serving", async () => {
    const server = await startZeroHop({ threads: 2 }, limited(120));
    const most = await maxclients(await server.connect());
    for (let round = 0; round < 3; round++) {
      const ends = await Promise.all(Array.from({ length: 300 }, () => tryPing(server)));
      const served = ends.filter((end) => end === "+PONG").length;
      assert.ok(served >= 1, "nobody was served");
      for (const end of ends) {
        assert.ok(
          end === null || /^(\+PONG|-ERR max number of clients reached)$/.test(end),
          `${end}`,
        );
      }
    }
    const clients: RespClient[] = [];
    await until("all places are free again", async () => {
      for (const client of clients.splice(0)) client.close();
      try {
        while (clients.length < most - 1) {
          const client = await RespClient.connect(server.address);
          clients.push(client);
          if (show((await client.call("PING")).reply) !== "+PONG") return false;
        }
        return true;
      } catch {
        // One that is still counted was in the way.
        return false;
      }
    });
    for (const client of clients) client.close();
    await server.stop();
  });
});
