/** The admin port of the real process: metrics against INFO, health, and what HTTP refuses. */
import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, test } from "node:test";
import { executable, withExecutable } from "../support/build.ts";
import { needsLong, needsOurs } from "../support/environment.ts";
import { type MetricFamily, parseExposition, total } from "../support/exposition.ts";
import { until } from "../support/owners.ts";
import { freePort, holdPort, removeFolder, temporaryFolder } from "../support/ports.ts";
import type { RespClient } from "../support/resp.ts";
import { errorOf, textOf, textsOf } from "../support/resp-parser.ts";
import { runProgram, runZeroHop, type Server, startZeroHop } from "../support/servers.ts";

type Families = Map<string, MetricFamily>;

function adminPort(server: Server): number {
  const found = /^127\.0\.0\.1:(\d+)$/.exec(server.listeners.get("admin") ?? "");
  assert.ok(found !== null, `no admin port in the ready line:\n${server.output()}`);
  return Number(found[1]);
}

function get(
  server: Server,
  page: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${adminPort(server)}${page}`, { headers });
}

async function scrape(server: Server): Promise<Families> {
  const response = await get(server, "/metrics");
  assert.equal(response.status, 200);
  return parseExposition(await response.text(), false);
}

/** Everything that comes back for some bytes, until the other side closes. */
function raw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

async function infoOf(client: RespClient, section: string): Promise<Map<string, string>> {
  const text = textOf((await client.call("INFO", section)).reply);
  const fields = [...text.matchAll(/^([^#:\r\n]+):(.*)\r$/gm)];
  return new Map(fields.map(([, name, value]) => [name as string, value as string]));
}

/** INFO's names beside ours; the command that asks for INFO is counted after it was answered. */
const IN_USE = "address already in use; set another, or auto for any free one";

const SAME: readonly (readonly [info: string, metric: string])[] = [
  ["total_connections_received", "zerohop_accepted_connections_total"],
  ["expired_keys", "zerohop_expired_keys_total"],
  ["keyspace_hits", "zerohop_keyspace_hits_total"],
  ["keyspace_misses", "zerohop_keyspace_misses_total"],
  ["total_error_replies", "zerohop_error_replies_total"],
  ["evicted_keys", "zerohop_evicted_keys_total"],
  ["rejected_connections", "zerohop_rejected_connections_total"],
];

function compare(
  info: Map<string, string>,
  families: Families,
  labels: Record<string, string | number>,
): void {
  for (const [name, metric] of SAME) {
    assert.equal(total(families, metric, labels), Number(info.get(name)), `${name} ${metric}`);
  }
}

describe("metrics", needsOurs(), () => {
  test("are well formed in both formats, and the same in both", async () => {
    const server = await startZeroHop({ "admin-port": "auto", threads: 2, "shard-owners": 3 });
    const client = await server.connect();
    await client.call("SET", "k", "v");
    await client.call("NOSUCH");
    const plain = await get(server, "/metrics");
    assert.equal(plain.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const open = await get(server, "/metrics", { accept: "application/openmetrics-text" });
    const type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert.equal(open.headers.get("content-type"), type);
    const a = parseExposition(await plain.text(), false);
    const b = parseExposition(await open.text(), true);
    assert.deepEqual([...a.keys()], [...b.keys()]);
    for (const [name, family] of a) {
      assert.equal(family.type, b.get(name)?.type, name);
      assert.equal(family.help, b.get(name)?.help, name);
      assert.equal(family.samples.length, b.get(name)?.samples.length, name);
      assert.match(family.help, /^(\d|[A-Z]).*\.$/, name);
    }
    await server.stop();
  });

  test("add up to INFO, on the plain port and on each owner's", async () => {
    const server = await startZeroHop({
      "admin-port": "auto",
      threads: 2,
      "shard-owners": 4,
      "shard-owners-port": "auto",
    });
    const client = await server.connect();
    for (let i = 0; i < 500; i++) await client.call("SET", `key:${i}`, "v".repeat(i));
    for (let i = 0; i < 100; i++) await client.call("PEXPIRE", `key:${i}`, 3_600_000 + i);
    await client.call("GET", "key:1");
    await client.call("GET", "absent");
    await client.call("INCR", "key:300");
    await client.call("SELECT", 3);
    await client.call("SET", "elsewhere", "v");
    const owners = await Promise.all(server.ownerPorts.map((port) => server.connectTo(port)));
    for (const owner of owners) {
      for (let i = 0; i < 50; i++) await owner.call("GET", `key:${i}`);
    }
    const infos = [];
    for (const owner of owners) infos.push(await infoOf(owner, "everything"));
    const info = await infoOf(client, "everything");
    const families = await scrape(server);
    compare(info, families, {});
    for (const [owner, of] of infos.entries()) {
      compare(of, families, { owner });
      const keys = (what: string): number => {
        const lines = [...of].filter(([name]) => /^db\d+$/.test(name));
        return lines.reduce((n, [, line]) => n + Number(line.match(`${what}=(\\d+)`)?.[1]), 0);
      };
      assert.equal(total(families, "zerohop_owner_keys", { owner }), keys("keys"));
      assert.equal(total(families, "zerohop_owner_keys_expiring", { owner }), keys("expires"));
      const bytes = Number(of.get("used_memory_dataset"));
      assert.equal(total(families, "zerohop_owner_dataset_bytes", { owner }), bytes);
      const used = Number(of.get("used_memory"));
      assert.equal(total(families, "zerohop_owner_memory_used_bytes", { owner }), used);
    }
    assert.equal(total(families, "zerohop_owner_keys"), 501);
    const used = total(families, "zerohop_memory_used_bytes");
    assert.equal(total(families, "zerohop_owner_memory_used_bytes"), used);
    assert.equal(used, Number(info.get("used_memory")));
    const dataset = Number(info.get("used_memory_dataset"));
    assert.equal(total(families, "zerohop_memory_used_dataset_bytes"), dataset);
    assert.equal(total(families, "zerohop_shard_dataset_bytes"), dataset);
    assert.equal(total(families, "zerohop_shard_keys"), 501);
    assert.equal(total(families, "zerohop_db_keys", { db: "db0" }), 500);
    assert.equal(total(families, "zerohop_db_keys", { db: "db3" }), 1);
    assert.equal(total(families, "zerohop_db_keys_expiring", { db: "db0" }), 100);
    assert.equal(total(families, "zerohop_commands_total", { cmd: "set" }), 501);
    assert.equal(total(families, "zerohop_commands_failed_calls_total", { cmd: "incr" }), 1);
    assert.equal(total(families, "zerohop_errors_total", { err: "ERR" }), 1);
    const moved = total(families, "zerohop_errors_total", { err: "MOVED" });
    assert.equal(moved, Number(/count=(\d+)/.exec(info.get("errorstat_MOVED") ?? "")?.[1]));
    assert.equal(total(families, "zerohop_keyed_commands_forwarded_total"), 0);
    assert.equal(total(families, "zerohop_connected_clients", { owner: "" }), 1);
    assert.equal(total(families, "zerohop_connected_clients"), 5);
    const quantile = (q: string): number =>
      total(families, "zerohop_latency_percentiles_usec", { cmd: "set", quantile: q });
    const shown = /p50=([\d.]+),p99=([\d.]+),/.exec(info.get("latency_percentiles_usec_set") ?? "");
    assert.equal(quantile("0.5").toFixed(3), shown?.[1]);
    assert.equal(quantile("0.99").toFixed(3), shown?.[2]);
    for (const { labels } of families.get("zerohop_owner_info")?.samples ?? []) {
      assert.equal(labels["port"], String(server.ownerPorts[Number(labels["owner"])]));
      assert.equal(labels["thread"], String(Number(labels["owner"]) % 2));
    }
    await server.stop();
  });

  test("counters never fall under load, and no scrape is refused", async () => {
    const server = await startZeroHop({ "admin-port": "auto", threads: 2, "memory-chunk": "4mb" });
    const clients = await Promise.all([server.connect(), server.connect(), server.connect()]);
    let running = true;
    const value = "v".repeat(2000);
    const load = clients.map(async (client, c) => {
      for (let i = 0; running; i++) {
        await client.call("SET", `k${c}:${i % 4000}`, value);
        await client.call("GET", `k${c}:${(i * 7) % 5000}`);
        if (i % 500 === 499) await client.call("FLUSHALL");
      }
    });
    const seen = new Map<string, number>();
    let commands = 0;
    for (let n = 0; n < 40; n++) {
      for (const [name, family] of await scrape(server)) {
        if (family.type !== "counter") continue;
        for (const { labels, value: now } of family.samples) {
          const series = `${name} ${JSON.stringify(labels)}`;
          const before = seen.get(series) ?? 0;
          assert.ok(now >= before, `${series} fell from ${before} to ${now}`);
          seen.set(series, now);
          if (name === "zerohop_commands_processed_total") commands = Math.max(commands, now);
        }
      }
    }
    running = false;
    await Promise.all(load);
    assert.ok(commands > 100, `only ${commands} commands ran beside the scrapes`);
    await server.stop();
  });

  test("have as many samples as there are threads, owners and shards, whatever clients do", async () => {
    const server = await startZeroHop({ "admin-port": "auto", threads: 2, "shard-owners": 2 });
    const client = await server.connect();
    const count = async (): Promise<number> => {
      let samples = 0;
      for (const { samples: own } of (await scrape(server)).values()) samples += own.length;
      return samples;
    };
    await client.call("SET", "k", "v");
    await client.call("GET", "k");
    await client.call("NOSUCH");
    const before = await count();
    for (let i = 0; i < 200; i++) {
      await client.call("SET", `k${i}`, "v");
      await client.call(`NOSUCH${i}`);
      await client.call("CLIENT", "SETNAME", `name${i}`);
    }
    // CLIENT SETNAME is one more command: four samples and three percentiles.
    assert.equal(await count(), before + 7);
    await server.stop();
  });
});

describe("health", needsOurs(), () => {
  test("ready while clients are served, not while the last replies go out", async () => {
    const server = await startZeroHop({ "admin-port": "auto", threads: 2 });
    assert.equal((await get(server, "/livez")).status, 200);
    const ready = await get(server, "/readyz");
    assert.equal(`${ready.status} ${await ready.text()}`, "200 ok\n");
    const client = await server.connect();
    await client.call("SET", "big", "v".repeat(20_000_000));
    // A client that takes nothing keeps the server from ending at once.
    const slow = net.connect(server.port, "127.0.0.1");
    await new Promise((resolve) => slow.once("connect", resolve));
    slow.pause();
    slow.write("GET big\r\n".repeat(5));
    await until("replies wait", async () => {
      const list = textOf((await client.call("CLIENT", "LIST")).reply);
      return /cmd=get/.test(list) && / omem=[1-9]/.test(list);
    });
    server.child.kill("SIGTERM");
    await until("not ready", async () => (await get(server, "/readyz")).status === 503);
    const ending = await get(server, "/readyz");
    assert.equal(await ending.text(), "ending\n");
    assert.equal((await get(server, "/livez")).status, 200);
    slow.destroy();
    assert.equal((await server.end(undefined)).code, 0);
  });
});

describe("HTTP", needsOurs(), () => {
  test("paths, methods and bodies that there are not", async () => {
    const server = await startZeroHop({ "admin-port": "auto" });
    const port = adminPort(server);
    const url = `http://127.0.0.1:${port}`;
    assert.equal((await fetch(`${url}/nothing`)).status, 404);
    assert.equal((await fetch(`${url}/metrics?a=b`)).status, 200);
    const put = await fetch(`${url}/livez`, { method: "DELETE" });
    assert.equal(`${put.status} ${put.headers.get("allow")}`, "405 GET, HEAD");
    const head = await fetch(`${url}/metrics`, { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.ok(Number(head.headers.get("content-length")) > 1000);
    assert.equal(await head.text(), "");
    const body = await fetch(`${url}/livez`, { method: "POST", body: "x" });
    assert.equal(`${body.status} ${body.headers.get("connection")}`, "413 close");
    const close = "Connection: close\r\n\r\n";
    assert.match(
      await raw(port, `GET /livez HTTP/1.1\r\nHost: localhost\r\n${close}`),
      /^HTTP\/1\.1 200 /,
    );
    assert.match(await raw(port, `GET /livez HTTP/1.1\r\n${close}`), /^HTTP\/1\.1 400 /);
    assert.match(await raw(port, "*1\r\n$4\r\nPING\r\n"), /^HTTP\/1\.1 400 /);
    const long = `GET /livez HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n${close}`;
    assert.match(await raw(port, long), /^HTTP\/1\.1 431 /);
    await server.stop();
  });

  test("a request that does not arrive is given up", needsLong(), async () => {
    const server = await startZeroHop({ "admin-port": "auto" });
    const answer = await raw(adminPort(server), "GET /livez HTTP/1.1\r\nHost: x\r\n");
    assert.match(answer, /^HTTP\/1\.1 408 /);
    await server.stop();
  });

  test("more connections than there is room for are closed, clients are not harmed", async () => {
    const server = await startZeroHop({ "admin-port": "auto" });
    const port = adminPort(server);
    const sockets: net.Socket[] = [];
    let closed = 0;
    for (let i = 0; i < 100; i++) {
      const socket = net.connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.on("close", () => closed++);
      sockets.push(socket);
    }
    await until("the rest is closed", () => closed >= 36);
    const client = await server.connect();
    assert.equal(textOf((await client.call("PING")).reply), "PONG");
    for (const socket of sockets) socket.destroy();
    await until("room again", async () => {
      return (await get(server, "/livez").catch(() => null))?.status === 200;
    });
    await server.stop();
  });
});

describe("the port", needsOurs(), () => {
  test("as given, on loopback only, shown and fixed", async () => {
    const port = await freePort();
    const server = await startZeroHop({ "admin-port": port, threads: 1 });
    assert.equal(adminPort(server), port);
    const client = await server.connect();
    const shown = await client.call("CONFIG", "GET", "admin-port");
    assert.deepEqual(textsOf(shown.reply), ["admin-port", String(port)]);
    const set = await client.call("CONFIG", "SET", "admin-port", 0);
    assert.match(errorOf(set.reply), /can't set immutable config$/);
    await assert.rejects(fetch(`http://127.0.0.2:${port}/livez`));
    await server.stop();
  });

  test("refused in one line when something else needs it", async () => {
    const port = await freePort();
    const both = await runZeroHop(["--port", String(port), "--admin-port", String(port)]);
    assert.equal(both.code, 1);
    assert.equal(both.stderr, `zerohop: port ${port} is needed by both port and admin-port\n`);
    const held = await holdPort(port, "127.0.0.1");
    const taken = await runZeroHop(["--port", "auto", "--admin-port", String(port)]);
    assert.equal(taken.code, 1);
    assert.equal(taken.stderr, `zerohop: admin-port ${port}: ${IN_USE}\n`);
    held.close();
    const alone = await runZeroHop(["--port", "0", "--admin-port", String(port)]);
    const text = "configured to not listen anywhere: port is 0 and there is no unixsocket";
    assert.equal(alone.stderr, `zerohop: ${text}\n`);
  });

  test("without one its bundle is never read", async () => {
    const folder = temporaryFolder();
    const dist = path.dirname(await executable());
    for (const file of ["main.js", "thread.cjs"]) {
      copyFileSync(path.join(dist, file), path.join(folder, file));
    }
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    const main = path.join(folder, "main.js");
    await withExecutable(main, async () => (await startZeroHop()).stop());
    const words = [main, "--port", "auto", "--admin-port", "auto"];
    const without = await runProgram(process.execPath, words, { folder });
    assert.notEqual(without.code, 0);
    assert.match(without.stderr, /Cannot find module .*admin\.js/);
    removeFolder(folder);
  });
});
