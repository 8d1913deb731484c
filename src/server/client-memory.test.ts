import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CLIENT_BYTES, classOf } from "./client-memory.ts";
import { type TestClient, TestServer } from "./test-server.ts";

const KB = 1024;
const MB = 1024 * 1024;

/** Sends the beginning of a request, of which so many bytes are an argument. */
function fill(client: TestClient, bytes: number): TestClient {
  client.send(`*2\r\n$${bytes}\r\n`);
  const piece = "x".repeat(60_000);
  for (let left = bytes; left > 0; left -= piece.length) client.send(piece.slice(0, left));
  return client;
}

function memory(watcher: TestClient, client: TestClient): number {
  const line = watcher.text(`CLIENT LIST ID ${client.session.id}`);
  return Number(/ tot-mem=(\d+)/.exec(line)?.[1]);
}

function normal(client: TestClient): number {
  return Number(client.info("memory").get("mem_clients_normal"));
}

function setLimit(server: TestServer, client: TestClient, limit: number | string): void {
  assert.equal(client.say(`CONFIG SET maxmemory-clients ${limit}`), "+OK\r\n");
  server.host.settle();
  for (const thread of server.host.servers) thread.tick();
  server.host.settle();
}

function control(server: TestServer): TestClient {
  const client = server.connect();
  client.say("CLIENT NO-EVICT ON");
  return client;
}

test("classes go by powers of two", () => {
  const rows = [
    [0, 0],
    [2 ** 15 - 1, 0],
    [2 ** 15, 1],
    [2 ** 20 - 1, 5],
    [2 ** 20, 6],
    [2 ** 32 - 1, 17],
    [2 ** 32, 18],
    [2 ** 40, 18],
  ] as const;
  for (const [bytes, size] of rows) assert.equal(classOf(bytes), size, String(bytes));
});

test("tot-mem and mem_clients_normal add up, whatever clients do", () => {
  const server = new TestServer();
  const a = server.connect();
  const others = [0, 1, 0, 1].map((thread) => server.connect({ thread }));
  const sum = (): number => {
    let bytes = 0;
    for (const client of server.host.servers.flatMap(({ sessions }) => [...sessions])) {
      bytes += client.memoryBytes;
    }
    return bytes;
  };
  assert.equal(normal(a), 5 * CLIENT_BYTES);
  others.forEach((client, i) => fill(client, 50_000 * (i + 1)));
  assert.ok(normal(a) >= 5 * CLIENT_BYTES + 500_000);
  assert.equal(normal(a), sum());
  assert.ok(memory(a, others[3] as TestClient) >= 200_000);
  for (const client of others) client.link.destroy();
  assert.equal(normal(a), CLIENT_BYTES);
  const stuck = server.connect();
  stuck.say("SET k v");
  stuck.link.isStuck = true;
  stuck.say("ECHO hello");
  assert.equal(normal(a), 2 * CLIENT_BYTES + 11);
  stuck.link.drain();
  assert.equal(normal(a), 2 * CLIENT_BYTES);
});

test("qbuf, qbuf-free and argv-mem of a request that has come in part", () => {
  const server = new TestServer();
  const [a, b] = [server.connect(), server.connect()];
  b.send("*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$100\r\nabc");
  const line = a.text(`CLIENT LIST ID ${b.session.id}`);
  assert.match(line, / qbuf=3 qbuf-free=1015 argv-mem=6 /);
  assert.equal(memory(a, b), CLIENT_BYTES + 1024);
});

test("a client that is silent for 2 seconds keeps no room for requests", () => {
  const server = new TestServer();
  const [a, b] = [server.connect(), server.connect({ thread: 1 })];
  const buffers = (): string => {
    return / (qbuf=.*) multi-mem/.exec(a.text(`CLIENT LIST ID ${b.session.id}`))?.[1] ?? "";
  };
  const value = "v".repeat(3000);
  b.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3000\r\n${value.slice(1)}`);
  assert.equal(b.send("v\r\n"), "+OK\r\n");
  assert.equal(buffers(), "qbuf=0 qbuf-free=4096 argv-mem=0");
  server.advance(2000);
  server.slowTick();
  assert.equal(buffers(), "qbuf=0 qbuf-free=4096 argv-mem=0");
  server.advance(1);
  server.slowTick();
  assert.equal(buffers(), "qbuf=0 qbuf-free=0 argv-mem=0");
  assert.equal(memory(a, b), CLIENT_BYTES);
  b.send("*2\r\n$3\r\nGET\r\n$1\r");
  assert.equal(buffers(), "qbuf=3 qbuf-free=1018 argv-mem=3");
  server.advance(2001);
  server.slowTick();
  assert.equal(buffers(), "qbuf=3 qbuf-free=0 argv-mem=3");
  assert.equal(b.send("\nk\r\n"), `$3000\r\n${value}\r\n`);
});

test("INFO has the largest buffers of the last seconds", () => {
  const server = new TestServer();
  const [a, b] = [server.connect(), server.connect({ thread: 1 })];
  const recent = (name: string): number => {
    return Number(a.info("clients").get(`client_recent_max_${name}_buffer`));
  };
  fill(b, 100_000);
  server.slowTick();
  assert.ok(recent("input") >= 100_000);
  assert.equal(recent("output"), 0);
  b.link.destroy();
  for (let second = 0; second < 7; second++) server.slowTick();
  assert.ok(recent("input") >= 100_000);
  server.slowTick();
  assert.ok(recent("input") < 100_000);
  a.link.unfinished = 5000;
  server.slowTick();
  assert.equal(recent("output"), 5000);
});

describe("maxmemory-clients", () => {
  test("closes a client that sends too much, and its command is not run", () => {
    const server = new TestServer();
    const a = control(server);
    setLimit(server, a, 3 * MB);
    const b = fill(server.connect({ thread: 1 }), 2 * MB);
    assert.ok(!b.isClosed);
    const c = fill(server.connect({ thread: 1 }), 2 * MB);
    server.host.settle();
    assert.deepEqual([b.isClosed, c.isClosed].filter(Boolean), [true], "only one of them");
    assert.equal(a.info("stats").get("evicted_clients"), "1");
    assert.match(server.logged.join("\n"), /^notice: Evicting client: id=\d+ .* tot-mem=2\d{6} /m);
    assert.equal(a.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("has closed nobody who comes to the row of one that it closed", () => {
    const server = new TestServer();
    const a = control(server);
    setLimit(server, a, MB);
    const b = fill(server.connect(), 2 * MB);
    assert.ok(b.isClosed);
    const c = server.connect();
    assert.equal(c.session.row, b.session.row);
    assert.equal(a.say(`CLIENT KILL ID ${c.session.id}`), ":1\r\n");
    server.host.settle();
    assert.ok(c.isClosed);
    assert.equal(a.info("stats").get("evicted_clients"), "1");
  });

  test("closes a client that does not read", () => {
    const server = new TestServer();
    const a = control(server);
    a.call("SET", "k", "v".repeat(60_000));
    setLimit(server, a, MB);
    const b = server.connect();
    b.link.isStuck = true;
    for (let i = 0; i < 30 && !b.isClosed; i++) b.say("GET k");
    assert.ok(b.isClosed);
    assert.ok(b.link.sent.length < 1.1 * MB);
    assert.equal(a.info("stats").get("evicted_clients"), "1");
  });

  test("is a percentage of maxmemory, and none without it", () => {
    const server = new TestServer();
    const a = control(server);
    setLimit(server, a, "10%");
    const b = fill(server.connect(), 2 * MB);
    assert.ok(!b.isClosed);
    a.say(`CONFIG SET maxmemory ${100 * MB}`);
    server.host.settle();
    assert.ok(!b.isClosed);
    a.say(`CONFIG SET maxmemory ${15 * MB}`);
    server.host.settle();
    assert.ok(b.isClosed);
  });

  test("is at least what is needed to talk", () => {
    const server = new TestServer();
    const a = control(server);
    setLimit(server, a, 1);
    const b = server.connect();
    assert.equal(b.say("PING"), "+PONG\r\n");
    fill(b, 128 * KB);
    assert.ok(b.isClosed);
  });

  test("takes the largest first, from all threads, and no more than it must", () => {
    const sizes = [128 * KB, MB, 3 * MB];
    const server = new TestServer();
    const a = control(server);
    const groups = sizes.map((size) =>
      [0, 1, 1].map((thread) => fill(server.connect({ thread }), size)),
    );
    const gone = (): number[] => groups.map((group) => group.filter((c) => c.isClosed).length);
    let total = normal(a);
    for (let i = sizes.length - 1; i >= 0; i--) {
      const each = memory(a, groups[i]?.[0] as TestClient);
      total -= 3 * each;
      setLimit(server, a, total + CLIENT_BYTES);
      assert.deepEqual(
        gone(),
        sizes.map((_, n) => (n >= i ? 3 : 0)),
      );
    }
    assert.equal(a.info("stats").get("evicted_clients"), "9");
  });

  test("closes only as many of one size as it must", () => {
    const server = new TestServer();
    const a = control(server);
    const clients = Array.from({ length: 10 }, (_, i) =>
      fill(server.connect({ thread: i % 2 }), MB),
    );
    const each = memory(a, clients[0] as TestClient);
    setLimit(server, a, 5 * each + 2 * CLIENT_BYTES);
    assert.equal(clients.filter((client) => client.isClosed).length, 5);
    assert.ok(normal(a) < 5 * each + 2 * CLIENT_BYTES);
  });

  test("spares those that ask for it, until they do no more", () => {
    const server = new TestServer();
    const a = control(server);
    const b = server.connect({ thread: 1 });
    b.say("CLIENT NO-EVICT ON");
    setLimit(server, a, MB);
    b.call("SET", "k", "v".repeat(60_000));
    b.link.isStuck = true;
    for (let i = 0; i < 30; i++) b.say("GET k");
    assert.ok(!b.isClosed);
    const warning = "warning: Over client maxmemory after evicting all evictable clients";
    assert.equal(server.logged.filter((text) => text === warning).length, 1);
    b.say("CLIENT NO-EVICT OFF");
    for (const thread of server.host.servers) thread.tick();
    assert.ok(b.isClosed);
  });

  test("does not close a client that its output limit closes anyway", () => {
    const settings = { "client-output-buffer-limit": `normal ${3 * MB} 0 0` };
    const server = new TestServer({ settings });
    const a = control(server);
    a.call("SET", "k", "v".repeat(4 * MB));
    setLimit(server, a, 10 * MB);
    const quiet = fill(server.connect(), 6 * MB);
    const loud = [server.connect(), server.connect()];
    for (const client of loud) {
      client.link.isStuck = true;
      client.say("GET k");
    }
    assert.deepEqual(
      [quiet, ...loud].map((c) => c.isClosed),
      [false, true, true],
    );
    assert.equal(a.info("stats").get("evicted_clients"), "0");
  });
});
