import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { START_MS, type TestClient, TestServer, type TestServerOptions } from "../test-server.ts";

type World = { server: TestServer; a: TestClient; b: TestClient; c: TestClient };

/** Two clients on the first thread, one on the second. */
function world(options: TestServerOptions = {}): World {
  const server = new TestServer(options);
  return { server, a: server.connect(), b: server.connect(), c: server.connect({ thread: 1 }) };
}

function blocked(client: TestClient): string | undefined {
  return client.info("clients").get("blocked_clients");
}

/** Time passes, and each thread looks. */
function advance({ server }: World, ms: number): void {
  server.advance(ms);
  for (const thread of server.host.servers) thread.tick();
  server.host.settle();
}

function flagsOf(watcher: TestClient, client: TestClient): string | undefined {
  return / flags=(\w+) /.exec(watcher.text(`CLIENT LIST ID ${client.session.id}`))?.[1];
}

describe("CLIENT PAUSE WRITE", () => {
  test("holds what writes, on every thread, until UNPAUSE", () => {
    const { server, a, b, c } = world();
    assert.equal(a.say("CLIENT PAUSE 60000 WRITE"), "+OK\r\n");
    for (const client of [b, c]) {
      client.send("GET k\r\nSET k v\r\nGET k\r\n");
      assert.equal(client.link.sent, "$-1\r\n");
    }
    assert.equal(blocked(a), "2");
    assert.equal(flagsOf(a, b), "b");
    assert.equal(flagsOf(a, c), "b");
    assert.equal(a.say("GET k"), "$-1\r\n");
    assert.equal(a.say("CLIENT UNPAUSE"), "+OK\r\n");
    server.host.settle();
    for (const client of [b, c]) assert.equal(client.link.sent, "$-1\r\n+OK\r\n$1\r\nv\r\n");
    assert.equal(blocked(a), "0");
    assert.equal(flagsOf(a, c), "N");
  });

  test("ends by itself", () => {
    const w = world();
    w.a.say("CLIENT PAUSE 100 write");
    w.b.say("SET k 1");
    w.c.say("INCR k");
    advance(w, 99);
    assert.equal(blocked(w.a), "2");
    advance(w, 1);
    assert.deepEqual([w.b.link.sent, w.c.link.sent], ["+OK\r\n", ":2\r\n"]);
    assert.equal(blocked(w.a), "0");
  });

  for (const shift of [-3_600_000, 3_600_000]) {
    test(`ends in its time where the system's clock is set by ${shift} ms`, () => {
      const w = world();
      w.a.say("CLIENT PAUSE 100 WRITE");
      w.b.say("SET k 1");
      w.c.say("INCR k");
      w.server.setClock(START_MS + shift);
      advance(w, 99);
      assert.equal(w.a.say("SET other 1"), "");
      advance(w, 1);
      const sent = [w.a, w.b, w.c].map(({ link }) => link.sent);
      assert.deepEqual(sent, ["+OK\r\n", "+OK\r\n", ":2\r\n"]);
    });
  }

  test("is over for a command that comes before any thread has looked", () => {
    const { server, a, b, c } = world();
    a.say("CLIENT PAUSE 100 WRITE");
    b.say("SET k 1");
    server.advance(100);
    assert.equal(c.say("SET other 1"), "+OK\r\n");
    assert.equal(a.say("SET other 1"), "+OK\r\n");
    server.host.settle();
    assert.equal(b.link.sent, "+OK\r\n");
  });

  test("holds the caller's own next command, and what a request holds when it came in pieces", () => {
    const { server, a } = world();
    a.send("CLIENT PAUSE 60000 WRITE\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$");
    a.send("5\r\nvalue\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    assert.equal(a.link.sent, "");
    const b = server.connect();
    assert.match(b.text(`CLIENT LIST ID ${a.session.id}`), / flags=b .* argv-mem=9 .* cmd=set /);
    b.say("CLIENT UNPAUSE");
    server.host.settle();
    assert.equal(a.link.sent, "+OK\r\n$5\r\nvalue\r\n");
  });

  test("keeps a long argument until it is wanted", () => {
    const { server, a, b } = world();
    a.say("CLIENT PAUSE 60000 WRITE");
    const value = "v".repeat(300_000);
    b.call("SET", "k", value);
    assert.ok(Number(/tot-mem=(\d+)/.exec(a.text("CLIENT LIST"))?.[1]) > 0);
    a.say("CLIENT UNPAUSE");
    server.host.settle();
    assert.equal(b.link.sent, "+OK\r\n");
    assert.equal(a.say("STRLEN k"), ":300000\r\n");
    assert.equal(a.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("is the longer of two, and stays ALL", () => {
    const w = world();
    w.a.send("CLIENT PAUSE 1000 WRITE\r\nCLIENT PAUSE 10 WRITE\r\n");
    advance(w, 500);
    assert.equal(w.b.say("SET k 1"), "");
    advance(w, 500);
    assert.equal(w.b.link.sent, "+OK\r\n");
    w.a.send("CLIENT PAUSE 1000 WRITE\r\nCLIENT PAUSE 10 ALL\r\n");
    assert.equal(w.c.say("PING"), "");
    advance(w, 999);
    assert.equal(w.c.link.sent, "");
    advance(w, 1);
    assert.equal(w.c.link.sent, "+PONG\r\n");
  });
});

describe("CLIENT PAUSE ALL", () => {
  test("stays ALL when somebody who is not paused pauses writes", () => {
    const w = world();
    w.b.say("MONITOR");
    w.a.say("CLIENT PAUSE 1000 ALL");
    assert.match(w.b.say("CLIENT PAUSE 10 WRITE"), /^\+OK\r\n/);
    assert.equal(w.c.say("PING"), "");
    advance(w, 1000);
    assert.equal(w.c.link.sent, "+PONG\r\n");
  });

  test("holds everything, UNPAUSE too", () => {
    const w = world();
    assert.equal(w.a.say("CLIENT PAUSE 100"), "+OK\r\n");
    assert.equal(w.a.say("PING"), "");
    assert.equal(w.b.say("CLIENT UNPAUSE"), "");
    assert.equal(w.c.say("GET k"), "");
    const fresh = w.server.connect();
    assert.equal(fresh.say("HELLO"), "");
    advance(w, 100);
    assert.equal(w.a.link.sent, "+PONG\r\n");
    assert.equal(w.b.link.sent, "+OK\r\n");
    assert.equal(w.c.link.sent, "$-1\r\n");
    assert.match(fresh.link.sent, /^\*14\r\n/);
  });

  test("a pause without a time is none, and does not end another", () => {
    const w = world();
    w.a.say("CLIENT PAUSE 0");
    assert.equal(w.a.say("PING"), "+PONG\r\n");
    w.a.send("CLIENT PAUSE 100 WRITE\r\nCLIENT PAUSE 0 ALL\r\n");
    assert.equal(w.b.say("PING"), "");
    advance(w, 100);
    assert.equal(w.b.link.sent, "+PONG\r\n");
  });
});

describe("a client that waits for the end of a pause", () => {
  test("is seen to vanish, and what it wanted is not done", () => {
    const { server, a, b, c } = world();
    const d = server.connect();
    a.say("CLIENT PAUSE 60000 WRITE");
    for (const client of [b, c, d]) client.send("SET k v\r\nSET k w\r\n");
    b.session.onEnd();
    assert.ok(b.isClosed, "it sends nothing more");
    c.link.destroy();
    a.say(`CLIENT KILL ID ${d.session.id}`);
    server.host.settle();
    assert.ok(d.isClosed);
    assert.equal(blocked(a), "0");
    assert.equal(a.info("clients").get("connected_clients"), "1");
    a.say("CLIENT UNPAUSE");
    server.host.settle();
    assert.equal(a.say("DBSIZE"), ":0\r\n");
    assert.equal(a.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("and had left before it came to wait is not waited for", () => {
    const { server, a, b } = world();
    const release = server.holdShard(server.shardOf("k"));
    b.say("SET k v");
    b.session.onEnd();
    a.say("CLIENT PAUSE 60000 WRITE");
    release();
    assert.ok(b.isClosed);
    assert.equal(a.say("GET k"), "$-1\r\n");
    assert.equal(blocked(a), "0");
  });

  test("may send up to client-query-buffer-limit", () => {
    const settings = { "client-query-buffer-limit": String(1 << 20) };
    const { server, a, b } = world({ settings });
    a.say("CLIENT PAUSE 60000 WRITE");
    b.say("SET k v");
    const piece = "x".repeat(60_000);
    for (let i = 0; i < 17; i++) b.send(piece);
    assert.ok(!b.isClosed && !b.link.isPaused);
    b.send(piece);
    assert.ok(b.isClosed);
    assert.equal(a.info("stats").get("client_query_buffer_limit_disconnections"), "1");
    assert.match(
      server.logged.join("\n"),
      /max query buffer length: id=\d+ .* \(qbuf initial bytes: "/,
    );
  });

  test("is not idle", () => {
    const w = world({ settings: { timeout: "10" } });
    w.a.say("CLIENT PAUSE 100000 WRITE");
    w.b.say("SET k v");
    advance(w, 60_000);
    w.server.slowTick();
    assert.ok(!w.b.isClosed);
    assert.ok(w.c.isClosed);
  });

  test("is not what CLIENT UNBLOCK is for", () => {
    const { a, b } = world();
    a.say("CLIENT PAUSE 60000 WRITE");
    b.say("SET k v");
    assert.equal(a.say(`CLIENT UNBLOCK ${b.session.id} ERROR`), ":0\r\n");
    assert.equal(b.link.sent, "");
  });
});

describe("what is refused is refused at once", () => {
  test("by its name, its words, but not its memory", () => {
    const { a, b } = world();
    a.say("CLIENT PAUSE 60000");
    assert.equal(b.say("SET k"), "-ERR wrong number of arguments for 'set' command\r\n");
    assert.match(b.say("NOSUCH"), /^-ERR unknown command/);
    assert.match(b.say("CLIENT NOSUCH"), /^-ERR unknown subcommand/);
    const poor = world({ settings: { maxmemory: "1" } });
    poor.a.send("SET k v\r\nCLIENT PAUSE 60000 WRITE\r\n");
    assert.equal(poor.b.say("SET k v"), "");
    assert.match(poor.a.link.sent, /^-OOM /);
    const rejected = (): string => poor.a.info("commandstats").get("cmdstat_set") ?? "";
    assert.match(rejected(), /rejected_calls=1/);
    poor.a.say("CLIENT UNPAUSE");
    poor.server.host.settle();
    assert.match(poor.b.link.sent, /^-OOM /);
    assert.match(rejected(), /rejected_calls=2/);
  });

  test("by the owner of its key", () => {
    const server = new TestServer({ owners: 2 });
    const [a, watcher] = [server.connect({ owner: 0 }), server.connect({ owner: 0 })];
    const plain = server.connect();
    plain.say("CLIENT PAUSE 60000 WRITE");
    assert.equal(a.say("SET foo v"), "-MOVED 12182 127.0.0.1:6381\r\n");
    assert.equal(a.say("SET bar v"), "");
    assert.equal(blocked(watcher), "1");
    assert.equal(blocked(plain), "1");
  });
});

describe("keys past their time while clients are paused", () => {
  test("are hidden, and removed when it is over", () => {
    const w = world();
    w.a.send("SET k v PX 10\r\nSET l v PX 10\r\nCLIENT PAUSE 50000 WRITE\r\n");
    advance(w, 100);
    for (const client of [w.a, w.c]) {
      assert.equal(client.say("GET k"), "$-1\r\n");
      assert.equal(client.say("EXISTS k l"), ":0\r\n");
      assert.equal(client.say("TTL k"), ":-2\r\n");
      assert.equal(client.say("KEYS *"), "*0\r\n");
      assert.equal(client.say("SCAN 0 COUNT 100"), "*2\r\n$1\r\n0\r\n*0\r\n");
    }
    assert.equal(w.a.info("stats").get("expired_keys"), "0");
    assert.equal(w.a.say("DBSIZE"), ":2\r\n");
    w.a.say("CLIENT UNPAUSE");
    w.server.host.settle();
    assert.equal(w.c.say("GET k"), "$-1\r\n");
    assert.equal(w.a.info("stats").get("expired_keys"), "1");
    advance(w, 2000);
    assert.equal(w.a.info("stats").get("expired_keys"), "2");
    assert.equal(w.a.say("DBSIZE"), ":0\r\n");
  });

  test("RANDOMKEY prefers others", () => {
    const w = world();
    w.a.send("SET gone v PX 10\r\nSET here v\r\nCLIENT PAUSE 50000 WRITE\r\n");
    advance(w, 100);
    for (let i = 0; i < 20; i++) assert.equal(w.a.say("RANDOMKEY"), "$4\r\nhere\r\n");
    const all = world();
    all.a.send("SET gone v PX 10\r\nCLIENT PAUSE 50000 WRITE\r\n");
    advance(all, 100);
    assert.equal(all.a.say("RANDOMKEY"), "$4\r\ngone\r\n");
  });
});

test("CLIENT PAUSE is asked wrongly in Redis's words", () => {
  const { a } = world();
  const calls: [call: string, error: string][] = [
    ["abc", "timeout is not an integer or out of range"],
    ["-1", "timeout is negative"],
    ["9223372036854775807", "timeout is out of range"],
    ["9223372036854775808", "timeout is not an integer or out of range"],
    ["100 FOO", "CLIENT PAUSE mode must be WRITE or ALL"],
    ["abc FOO", "CLIENT PAUSE mode must be WRITE or ALL"],
    ["1 ALL x", "unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP."],
  ];
  for (const [call, error] of calls) {
    assert.equal(a.say(`CLIENT PAUSE ${call}`), `-ERR ${error}\r\n`, call);
  }
  assert.equal(
    a.say("CLIENT PAUSE"),
    "-ERR wrong number of arguments for 'client|pause' command\r\n",
  );
  assert.equal(a.say("PING"), "+PONG\r\n");
});
