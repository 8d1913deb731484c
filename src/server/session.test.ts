/**
 * Sessions that cannot go on: behind a lock, behind a peer that does not read, or whose client has
 * left. What was received is run, nothing grows without a bound, and the thread serves others.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { requestText } from "../protocol/test-request.ts";
import { START_MS, type TestClient, TestServer } from "./test-server.ts";

const SHARDS = 16;
/** Of a key in each of two shards. */
const KEY = "a";
const OTHER = "b";

function serverWithKeys(count: number): TestServer {
  const server = new TestServer();
  const client = server.connect();
  for (let i = 0; i < count; i++) client.call("SET", `key:${i}`, "v");
  assert.notEqual(server.shardOf(KEY), server.shardOf(OTHER));
  return server;
}

function connected(watcher: TestClient): string | undefined {
  return watcher.info("clients").get("connected_clients");
}

describe("a session behind a lock", () => {
  test("waits while others are served, and goes on", () => {
    const server = new TestServer();
    const [client, other] = [server.connect(), server.connect()];
    const release = server.holdShard(server.shardOf(KEY));
    assert.equal(client.send(requestText(["SET", KEY, "1"]) + requestText(["GET", KEY])), "");
    assert.equal(other.call("SET", OTHER, "2"), "+OK\r\n");
    assert.equal(client.call("INCR", KEY), "");
    release();
    assert.equal(client.link.sent, "+OK\r\n$1\r\n1\r\n:2\r\n");
    assert.equal(client.call("GET", OTHER), "$1\r\n2\r\n");
  });

  test("whose client sends nothing more gets its replies, and is closed then", () => {
    const server = new TestServer();
    const client = server.connect();
    const release = server.holdShard(server.shardOf(KEY));
    client.send(requestText(["SET", KEY, "1"]) + requestText(["APPEND", KEY, "2"]));
    client.call("GET", KEY);
    client.session.onEnd();
    assert.ok(!client.isClosed);
    release();
    assert.equal(client.link.sent, "+OK\r\n:2\r\n$2\r\n12\r\n");
    assert.ok(client.isClosed);
    assert.equal(connected(server.connect()), "1");
  });

  test("whose client is gone still runs what it sent", () => {
    const server = new TestServer();
    const [client, watcher] = [server.connect(), server.connect()];
    const release = server.holdShard(server.shardOf(KEY));
    client.send(requestText(["SET", KEY, "1"]) + requestText(["APPEND", KEY, "2"]));
    client.call("APPEND", KEY, "3");
    client.link.destroy();
    assert.equal(connected(watcher), "2");
    release();
    assert.equal(watcher.call("GET", KEY), "$3\r\n123\r\n");
    assert.equal(connected(watcher), "1");
    assert.equal(watcher.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("is not idle", () => {
    const server = new TestServer({ settings: { timeout: "10" } });
    const client = server.connect();
    const release = server.holdShard(server.shardOf(KEY));
    client.call("SET", KEY, "1");
    server.advance(60_000);
    server.slowTick();
    assert.ok(!client.isClosed);
    release();
    assert.equal(client.link.sent, "+OK\r\n");
  });

  test("reads so much and then pauses its client, whom it does not close", () => {
    const most = 128 << 10;
    const server = new TestServer();
    const client = server.connect();
    const release = server.holdShard(server.shardOf(KEY));
    const one = requestText(["APPEND", KEY, "x".repeat(50_000)]);
    let sent = 0;
    for (; !client.link.isPaused && sent * one.length < 2 * most; sent++) client.send(one);
    assert.ok(client.link.isPaused, "it read more and more");
    assert.ok(sent * one.length > most);
    assert.ok(!client.isClosed);
    release();
    assert.equal(client.link.sent.split("\r\n").length - 1, sent);
    assert.ok(!client.link.isPaused);
    assert.equal(client.call("STRLEN", KEY), `:${sent * 50_000}\r\n`);
    assert.equal(client.info("stats").get("client_query_buffer_limit_disconnections"), "0");
  });
});

describe("a command that visits shard after shard", () => {
  const sorted = (reply: string): string[] => reply.split("\r\n").sort();

  for (const line of ["DBSIZE", "KEYS *", "SCAN 0 COUNT 1000"]) {
    test(`${line} waits behind one lock, and goes on where it was`, () => {
      const server = serverWithKeys(500);
      const [client, other] = [server.connect(), server.connect()];
      const expected = sorted(client.say(line));
      const locks = (): number => Number(other.info("threads").get("lock_acquisitions"));
      const before = locks();
      client.say(line);
      const taken = locks() - before;
      const releases = [server.holdShard(0), server.holdShard(9)];
      assert.equal(client.say(line), "");
      assert.equal(other.call("PING"), "+PONG\r\n");
      for (const release of releases) {
        assert.equal(client.link.sent, "");
        release();
      }
      assert.deepEqual(sorted(client.link.sent), expected);
      assert.equal(locks() - before, 2 * taken, "it began again");
      assert.equal(sorted(client.say(line)).length, expected.length);
    });
  }

  test("is run to its end for a client that is gone", () => {
    const server = serverWithKeys(100);
    const [client, watcher] = [server.connect(), server.connect()];
    const release = server.holdShard(SHARDS - 1);
    client.send(requestText(["KEYS", "*"]) + requestText(["SET", OTHER, "1"]));
    client.link.destroy();
    release();
    assert.equal(watcher.call("GET", OTHER), "$1\r\n1\r\n");
    assert.equal(connected(watcher), "2");
  });
});

describe("client-output-buffer-limit", () => {
  const MOST = 1_000_000;
  const VALUE = "x".repeat(60_000);

  function limited(limit: string): TestServer {
    const server = new TestServer({ settings: { "client-output-buffer-limit": limit } });
    const client = server.connect();
    client.call("SET", KEY, VALUE);
    client.call("SET", OTHER, "y".repeat(2 * MOST));
    return server;
  }

  function closed(server: TestServer): string | undefined {
    return server.connect().info("stats").get("client_output_buffer_limit_disconnections");
  }

  test("holds within one command, for copies and for what stays in the heap", () => {
    const server = limited(`normal ${MOST} 0 0`);
    for (const words of [
      ["MGET", ...new Array<string>(50).fill(KEY)],
      ["GET", OTHER],
      ["MGET", KEY, OTHER],
    ]) {
      const client = server.connect();
      assert.equal(client.call(...words), "");
      assert.ok(client.isClosed, words[0]);
    }
    assert.equal(closed(server), "3");
    const next = server.connect();
    assert.equal(next.call("GET", KEY).length, VALUE.length + 10);
    assert.equal(next.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("holds within one turn of a peer that does not read", () => {
    const server = limited(`normal ${MOST} 0 0`);
    const client = server.connect();
    const hits = (): number => Number(server.connect().info("stats").get("keyspace_hits"));
    const before = hits();
    client.link.isStuck = true;
    client.send(requestText(["GET", KEY]).repeat(100));
    assert.ok(client.isClosed);
    assert.ok(client.link.sent.length < 2 * MOST, `${client.link.sent.length} bytes`);
    assert.ok(hits() - before < 20, "what came behind was run too");
    assert.equal(closed(server), "1");
    // What waits now, not what did when the turn began.
    assert.match(server.logged.join("\n"), /^warning: Client id=.* omem=[1-9]\d{5,} .* cmd=get /);
  });

  test("is no limit for what a peer takes as it comes", () => {
    const server = limited(`normal ${2 * MOST} 0 0`);
    const client = server.connect();
    const reply = client.send(requestText(["GET", KEY]).repeat(100));
    assert.equal(reply.length, 100 * (VALUE.length + 10));
    assert.ok(!client.isClosed);
  });

  test("counts what one client has waiting, not what another has", () => {
    const server = limited(`normal ${MOST} 0 0`);
    const [client, other] = [server.connect(), server.connect()];
    client.link.isStuck = true;
    client.send(requestText(["GET", KEY]).repeat(10));
    assert.ok(!client.isClosed);
    assert.ok(other.call("MGET", ...new Array<string>(10).fill(KEY)).length > 600_000);
    client.call("MGET", ...new Array<string>(10).fill(KEY));
    assert.ok(client.isClosed);
  });

  test("is looked at each second, for a client that does nothing too", () => {
    const server = limited("normal 0 0 0");
    const client = server.connect();
    client.link.isStuck = true;
    client.call("GET", OTHER);
    server.slowTick();
    assert.ok(!client.isClosed);
    server.connect().call("CONFIG", "SET", "client-output-buffer-limit", `normal ${MOST} 0 0`);
    server.slowTick();
    assert.ok(client.isClosed);
    assert.equal(closed(server), "1");
  });

  test("a soft one counts the seconds of a client that does nothing", () => {
    const server = limited(`normal 0 ${MOST} 5`);
    const client = server.connect();
    client.link.isStuck = true;
    client.call("GET", OTHER);
    // As in Redis it must have been so for more than five whole seconds.
    for (let second = 0; second < 6; second++) {
      assert.ok(!client.isClosed, `closed after ${second} seconds`);
      server.advance(1000);
      server.slowTick();
    }
    assert.ok(client.isClosed);
    assert.equal(closed(server), "1");
  });
});

describe("a server that ends", () => {
  const ends = (server: TestServer): void => {
    for (const thread of server.host.servers) thread.end();
  };
  const LONG = "x".repeat(50_000);
  const GETS = 200;

  /** Sends so much that the rest of it waits until the peer takes replies. */
  function stuck(server: TestServer, last: string): TestClient {
    const client = server.connect();
    client.call("SET", OTHER, LONG);
    client.link.isStuck = true;
    client.send(requestText(["GET", OTHER]).repeat(GETS) + last);
    assert.ok(client.link.sent.length < (GETS * LONG.length) / 2);
    return client;
  }

  function drained(client: TestClient): string {
    for (let i = 0; i < GETS && !client.isClosed; i++) client.link.drain();
    return client.link.sent;
  }

  test("answers all that it received from a peer that is slow", () => {
    const server = new TestServer();
    const client = stuck(server, requestText(["INCR", KEY]));
    const { sent } = client.link;
    ends(server);
    assert.ok(!client.isClosed);
    client.send(requestText(["INCR", KEY]));
    client.link.sent = sent;
    const all = drained(client);
    assert.equal(all.length, GETS * (LONG.length + 10) + 4);
    assert.ok(all.endsWith("\r\n:1\r\n"), "what came after the end was run");
    assert.ok(client.isClosed);
  });

  test("answers what waits for a lock", () => {
    const server = new TestServer();
    const client = server.connect();
    const release = server.holdShard(server.shardOf(KEY));
    client.send(requestText(["SET", KEY, "1"]) + requestText(["GET", KEY]));
    ends(server);
    assert.ok(!client.isClosed);
    release();
    assert.equal(client.link.sent, "+OK\r\n$1\r\n1\r\n");
    assert.ok(client.isClosed);
  });

  test("waits neither for the end of a pause nor for replicas", () => {
    for (const last of [requestText(["SET", KEY, "1"]), requestText(["WAIT", "1", "0"])]) {
      const server = new TestServer();
      const client = stuck(server, last + requestText(["PING"]));
      server.connect().call("CLIENT", "PAUSE", "100000", "WRITE");
      ends(server);
      assert.equal(drained(client).length, GETS * (LONG.length + 10));
      assert.ok(client.isClosed);
      assert.equal(server.host.servers[0]?.stats.sum("blocked_clients"), 0);
    }
  });

  test("does not wait for the rest of a request", () => {
    const server = new TestServer();
    const client = server.connect();
    client.send("*2\r\n$3\r\nGET\r\n");
    ends(server);
    assert.ok(client.isClosed);
  });
});

describe("client-query-buffer-limit", () => {
  const LIMIT = 1 << 20;
  const serverWithLimit = (): TestServer =>
    new TestServer({ settings: { "client-query-buffer-limit": String(LIMIT) } });

  /** As a client sends it: in pieces. */
  function sendAll(client: TestClient, text: string): void {
    for (let at = 0; at < text.length && !client.isClosed; at += 65_536) {
      client.send(text.slice(at, at + 65_536));
    }
  }

  test("is for one argument and its end", () => {
    const server = serverWithLimit();
    const watcher = server.connect();
    let closed = 0;
    for (const [lengths, isClosed] of [
      [[LIMIT - 3], false],
      [[LIMIT - 2], false],
      [[LIMIT - 2, LIMIT - 2, LIMIT - 2], false],
      [[LIMIT - 1], true],
      [[LIMIT + 100], true],
      [[10, LIMIT - 1], true],
      [[LIMIT - 2, LIMIT - 1], true],
    ] as const) {
      const client = server.connect();
      const words = lengths.flatMap((length, i) => [`k${i}`, "v".repeat(length)]);
      sendAll(client, requestText(["MSET", ...words]));
      assert.equal(client.isClosed, isClosed, String(lengths));
      assert.equal(client.link.sent, isClosed ? "" : "+OK\r\n");
      if (isClosed) closed++;
    }
    const counter = "client_query_buffer_limit_disconnections";
    assert.equal(watcher.info("stats").get(counter), String(closed));
    assert.equal(watcher.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("gives no memory to an argument that is announced beyond it", () => {
    const server = serverWithLimit();
    const [watcher, client] = [server.connect(), server.connect()];
    const used = (): number => Number(watcher.info("memory").get("used_memory"));
    const before = used();
    client.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${LIMIT * 8}\r\n${"v".repeat(1000)}`);
    assert.ok(!client.isClosed);
    assert.ok(used() - before < LIMIT / 4, `${used() - before} bytes`);
    sendAll(client, "v".repeat(LIMIT));
    assert.ok(client.isClosed);
    const line = server.logged.join("\n");
    assert.match(
      line,
      /^warning: Closing client that reached max query buffer length: id=\d+ addr=/,
    );
  });
});

test("timeout does not cut a client that takes a long reply slowly", () => {
  const server = new TestServer({ settings: { timeout: "10" } });
  const client = server.connect();
  client.call("SET", KEY, "x".repeat(1_000_000));
  client.link.isStuck = true;
  client.call("GET", KEY);
  for (let second = 0; second < 60; second++) {
    client.link.untaken -= 10_000;
    server.advance(1000);
    server.slowTick();
    assert.ok(!client.isClosed, `closed after ${second} seconds`);
  }
  for (let second = 0; second < 11; second++) {
    assert.ok(!client.isClosed);
    server.advance(1000);
    server.slowTick();
  }
  assert.ok(client.isClosed, "a client that takes nothing is idle");
});

describe("the log of what befalls clients", () => {
  function lines(level: string, act: (server: TestServer) => void): string[] {
    const server = new TestServer({ settings: { loglevel: level, timeout: "5" } });
    act(server);
    return server.logged.map((line) => line.replace(/(?: id=\d+)? addr=\S+ laddr=.*/, ""));
  }

  const each: readonly [string, (server: TestServer) => void, string][] = [
    [
      "a protocol error",
      (server) => server.connect().send("*1\r\n$-1\r\n"),
      "Protocol error (invalid bulk length) from client:",
    ],
    ["an end", (server) => server.connect().session.onEnd(), "Client closed connection"],
    ["a loss", (server) => server.connect().link.destroy(), "Client lost its connection"],
    [
      "idle time",
      (server) => server.connect().session.everySecond(START_MS + 6000, 5),
      "Closing idle client",
    ],
  ];
  for (const [name, act, line] of each) {
    test(name, () => {
      const accepted = "verbose: Accepted 127.0.0.1:50000";
      assert.deepEqual(lines("verbose", act), [accepted, `verbose: ${line}`]);
      assert.deepEqual(lines("debug", act), [accepted, `verbose: ${line}`]);
      assert.deepEqual(lines("notice", act), []);
    });
  }

  test("what the client asked for itself is no loss", () => {
    const quit = (server: TestServer): unknown => server.connect().call("QUIT");
    assert.deepEqual(lines("debug", quit), ["verbose: Accepted 127.0.0.1:50000"]);
  });

  test("HTTP, once a minute at every level", () => {
    const server = new TestServer();
    const post = "POST / HTTP/1.1\r\n";
    server.connect().send(post);
    server.connect().send(`GET / HTTP/1.1\r\nHost: here\r\n`);
    assert.equal(server.logged.length, 1);
    assert.match(
      server.logged[0] ?? "",
      /^warning: Possible SECURITY ATTACK detected\. .* Connection from 127\.0\.0\.1:50000 aborted\.$/,
    );
    server.clock.unixMs += 60_000;
    server.connect().send(post);
    assert.equal(server.logged.length, 2);
  });
});
