/**
 * Clients whose command waits, by WAIT and WAITAOF, in a server whose clock is moved by hand: how
 * long they wait, what ends it, what others see meanwhile, and that nothing is left of them.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { requestText } from "../protocol/test-request.ts";
import { UNBLOCK_BY_TIMEOUT } from "./client-table.ts";
import { START_MS, type TestClient, TestServer, type TestServerOptions } from "./test-server.ts";

const UNBLOCKED = "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n";

type World = { server: TestServer; a: TestClient; b: TestClient; c: TestClient };

/** Two clients on the first thread, one on the second. */
function world(options: TestServerOptions = {}): World {
  const server = new TestServer(options);
  return { server, a: server.connect(), b: server.connect(), c: server.connect({ thread: 1 }) };
}

function lines(...commands: string[]): string {
  return commands.map((command) => requestText(command.split(" "))).join("");
}

/** What a client has been sent since this was asked last. */
function taken(client: TestClient): string {
  const { sent } = client.link;
  client.link.sent = "";
  return sent;
}

function pass({ server }: World, ms: number): void {
  server.advance(ms);
  server.host.settle();
}

function counts(watcher: TestClient): [string | undefined, string | undefined] {
  const fields = watcher.info("clients");
  return [fields.get("blocked_clients"), fields.get("clients_in_timeout_table")];
}

function flagsOf(watcher: TestClient, client: TestClient): string | undefined {
  return / flags=(\w+) /.exec(watcher.text(`CLIENT LIST ID ${client.session.id}`))?.[1];
}

function unblock(w: World, by: TestClient, client: TestClient, how = ""): string {
  const reply = by.say(`CLIENT UNBLOCK ${client.session.id}${how}`);
  w.server.host.settle();
  return reply;
}

describe("WAIT and WAITAOF", () => {
  test("answer at once where no replica is asked for", () => {
    const { a, b } = world();
    for (const line of ["WAIT 0 0", "WAIT 0 100", "WAIT -1 0", "WAIT -9223372036854775808 0"]) {
      assert.equal(a.say(line), ":0\r\n");
    }
    assert.equal(a.say("WAITAOF 0 0 0"), "*2\r\n:0\r\n:0\r\n");
    assert.deepEqual(counts(b), ["0", "0"]);
  });

  test("do not wait where they are wrong", () => {
    const { a, b } = world();
    for (const [line, error] of [
      ["WAIT x 0", "value is not an integer or out of range"],
      ["WAIT 9223372036854775808 0", "value is not an integer or out of range"],
      ["WAIT 1 x", "timeout is not an integer or out of range"],
      ["WAIT 1 1.5", "timeout is not an integer or out of range"],
      ["WAIT 1 -1", "timeout is negative"],
      ["WAIT 1 9223372036854775807", "timeout is out of range"],
      ["WAIT 1", "wrong number of arguments for 'wait' command"],
      ["WAITAOF 2 1 0", "value is out of range, value must between 0 and 1"],
      ["WAITAOF 0 -1 0", "value is out of range, must be positive"],
      ["WAITAOF 0 x 0", "value is out of range, must be positive"],
      ["WAITAOF 1 1 x", "timeout is not an integer or out of range"],
      ["WAITAOF 1 1 0", "WAITAOF cannot be used when numlocal is set but appendonly is disabled."],
    ] as const) {
      assert.equal(a.say(line), `-ERR ${error}\r\n`);
    }
    assert.deepEqual(counts(b), ["0", "0"]);
  });

  for (const [command, answer] of [
    ["WAIT 1", ":0\r\n"],
    ["WAITAOF 0 1", "*2\r\n:0\r\n:0\r\n"],
  ] as const) {
    for (const shift of [-3_600_000, 3_600_000]) {
      test(`${command} does where the system's clock is set by ${shift} ms`, () => {
        const w = world();
        w.a.say(`${command} 100`);
        w.server.setClock(START_MS + shift);
        pass(w, 99);
        assert.equal(taken(w.a), "");
        pass(w, 1);
        assert.equal(taken(w.a), answer);
        assert.deepEqual(counts(w.b), ["0", "0"]);
      });
    }

    test(`${command} waits until its time is up`, () => {
      const w = world();
      assert.equal(w.a.say(`${command} 100`), "");
      pass(w, 99);
      assert.equal(taken(w.a), "");
      pass(w, 1);
      assert.equal(taken(w.a), answer);
      assert.equal(w.a.say("PING"), "+PONG\r\n");
    });

    test(`${command} 0 waits for ever`, () => {
      const w = world();
      w.c.say(`${command} 0`);
      pass(w, 1e12);
      assert.equal(taken(w.c), "");
      assert.equal(unblock(w, w.a, w.c), ":1\r\n");
      assert.equal(taken(w.c), answer);
    });
  }

  test("are not ended by the time of one before", () => {
    const w = world();
    w.a.say("WAIT 1 100");
    assert.equal(unblock(w, w.b, w.a), ":1\r\n");
    assert.equal(taken(w.a), ":0\r\n");
    w.a.say("WAITAOF 0 1 1000");
    pass(w, 100);
    assert.equal(taken(w.a), "");
    pass(w, 900);
    assert.equal(taken(w.a), "*2\r\n:0\r\n:0\r\n");
  });

  test("wait longer than a timer can", () => {
    const w = world();
    const ms = 2 ** 31 + 1000;
    w.a.say(`WAIT 1 ${ms}`);
    pass(w, 2 ** 31 - 1);
    pass(w, 1000);
    assert.equal(taken(w.a), "");
    pass(w, 1);
    assert.equal(taken(w.a), ":0\r\n");
  });
});

describe("what is seen of a client that is blocked", () => {
  test("its flag, and the counts, on every thread", () => {
    const w = world();
    w.a.say("WAIT 1 0");
    w.c.say("WAIT 1 100");
    assert.deepEqual(counts(w.b), ["2", "1"]);
    assert.equal(flagsOf(w.b, w.a), "b");
    assert.equal(flagsOf(w.b, w.c), "b");
    assert.match(w.b.text(`CLIENT LIST ID ${w.c.session.id}`), / cmd=wait /);
    pass(w, 100);
    assert.deepEqual(counts(w.b), ["1", "0"]);
    assert.equal(flagsOf(w.b, w.c), "N");
    unblock(w, w.c, w.a);
    assert.deepEqual(counts(w.b), ["0", "0"]);
    assert.equal(flagsOf(w.b, w.a), "N");
  });

  test("on an owner's port, that port's", () => {
    const server = new TestServer({ owners: 2 });
    const [one, other] = [server.connect({ owner: 1 }), server.connect({ owner: 0 })];
    one.say("WAIT 1 100");
    assert.deepEqual(counts(other), ["0", "0"]);
    assert.deepEqual(counts(server.connect({ owner: 1 })), ["1", "1"]);
    server.advance(100);
    server.host.settle();
    assert.equal(one.link.sent, ":0\r\n");
    assert.deepEqual(counts(one), ["0", "0"]);
  });

  test("it is counted, and logged as slow, with its answer", () => {
    const w = world({ settings: { "slowlog-log-slower-than": "0" } });
    const stats = (): string | undefined => w.b.info("commandstats").get("cmdstat_wait");
    const logged = (): boolean => w.b.say("SLOWLOG GET").includes("$4\r\nWAIT\r\n");
    w.a.say("WAIT 1 100");
    assert.equal(stats(), undefined);
    assert.equal(logged(), false);
    pass(w, 100);
    assert.match(stats() ?? "", /^calls=1,.*failed_calls=0$/);
    assert.equal(logged(), true);
    w.a.say("WAIT 1 0");
    unblock(w, w.b, w.a, " ERROR");
    assert.match(stats() ?? "", /^calls=2,.*failed_calls=1$/);
    assert.equal(w.b.info("errorstats").get("errorstat_UNBLOCKED"), "count=1");
  });

  test("MONITOR shows it when it begins, to itself too", () => {
    const w = world();
    w.b.say("MONITOR");
    w.c.say("MONITOR");
    w.b.link.sent = "";
    w.b.say("WAIT 1 100");
    assert.match(taken(w.b), /^\+\S+ \[0 \S+\] "WAIT" "1" "100"\r\n$/);
    w.server.host.settle();
    assert.match(taken(w.c), /"WAIT" "1" "100"\r\n$/);
    pass(w, 100);
    assert.equal(taken(w.b), ":0\r\n");
    assert.equal(taken(w.c), "");
  });
});

describe("CLIENT UNBLOCK", () => {
  test("answers as if the time were up, or with an error", () => {
    const w = world();
    for (const client of [w.b, w.c]) {
      for (const [how, answer] of [
        ["", ":0\r\n"],
        [" TIMEOUT", ":0\r\n"],
        [" timeout", ":0\r\n"],
        [" ERROR", UNBLOCKED],
        [" error", UNBLOCKED],
      ] as const) {
        client.say("WAIT 1 60000");
        assert.equal(unblock(w, w.a, client, how), ":1\r\n");
        assert.equal(taken(client), answer);
        assert.equal(unblock(w, w.a, client, how), ":0\r\n", "it is not blocked any more");
      }
    }
    pass(w, 60_000);
    for (const client of [w.b, w.c]) assert.equal(taken(client), "", "no timer is left");
  });

  test("counts for one of those who ask", () => {
    const { server, a, b, c } = world();
    c.say("WAIT 1 0");
    const id = c.session.id;
    assert.equal(
      a.send(lines(`CLIENT UNBLOCK ${id} ERROR`, `CLIENT UNBLOCK ${id}`)),
      ":1\r\n:0\r\n",
    );
    assert.equal(flagsOf(b, c), "u");
    server.host.settle();
    assert.equal(taken(c), UNBLOCKED);
  });

  test("holds, though the time is up before the client's thread has looked", () => {
    const { server, a, c } = world();
    c.say("WAIT 1 100");
    server.advance(100);
    assert.equal(a.say(`CLIENT UNBLOCK ${c.session.id} ERROR`), ":1\r\n");
    server.host.settle();
    assert.equal(taken(c), UNBLOCKED);
  });

  test("of nobody, of itself, and with wrong words", () => {
    const w = world();
    assert.equal(w.a.say("CLIENT UNBLOCK 999999"), ":0\r\n");
    assert.equal(w.a.say("CLIENT UNBLOCK -1"), ":0\r\n");
    assert.equal(unblock(w, w.a, w.a), ":0\r\n");
    w.b.say("WAIT 1 0");
    const id = w.b.session.id;
    assert.equal(
      w.a.say(`CLIENT UNBLOCK ${id} FOO`),
      "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR\r\n",
    );
    assert.equal(w.a.say("CLIENT UNBLOCK x"), "-ERR value is not an integer or out of range\r\n");
    w.server.host.settle();
    assert.equal(taken(w.b), "");
  });

  test("is heard by a thread that nobody rings, when it looks", () => {
    const { server, a, c } = world();
    c.say("WAIT 1 0");
    server.host.servers[0]?.clients.unblock(c.session.id, UNBLOCK_BY_TIMEOUT);
    assert.equal(a.say("PING"), "+PONG\r\n");
    assert.equal(taken(c), "");
    server.host.servers[1]?.tick();
    assert.equal(taken(c), ":0\r\n");
  });
});

describe("the commands behind one that waits", () => {
  test("wait as well, in the same read and in later ones", () => {
    const w = world();
    assert.equal(w.a.send(lines("SET k 1", "WAIT 1 100", "INCR k", "WAIT 1 50")), "+OK\r\n");
    assert.equal(w.a.send(lines("INCR k")), "");
    assert.equal(w.b.say("GET k"), "$1\r\n1\r\n");
    pass(w, 100);
    assert.equal(taken(w.a), ":0\r\n:2\r\n");
    pass(w, 50);
    assert.equal(taken(w.a), ":0\r\n:3\r\n");
  });

  test("and what comes in pieces, the waiting command too", () => {
    const w = world();
    const bytes = lines("WAIT 1 100", "SET k value", "GET k");
    for (const byte of bytes) assert.equal(w.a.send(byte), "");
    pass(w, 100);
    assert.equal(taken(w.a), ":0\r\n+OK\r\n$5\r\nvalue\r\n");
  });

  test("CLIENT REPLY mutes the answer", () => {
    const w = world();
    w.a.send(lines("CLIENT REPLY SKIP", "WAIT 1 100", "PING"));
    pass(w, 100);
    assert.equal(taken(w.a), "+PONG\r\n");
    w.a.send(lines("CLIENT REPLY OFF", "WAIT 1 0", "CLIENT REPLY ON"));
    unblock(w, w.b, w.a, " ERROR");
    assert.equal(taken(w.a), "+OK\r\n");
  });

  test("may be as many as client-query-buffer-limit has room for", () => {
    const { server, a, b } = world({
      settings: { "client-query-buffer-limit": String(1 << 20) },
    });
    b.say("WAIT 1 0");
    const piece = "x".repeat(60_000);
    for (let i = 0; i < 17; i++) b.send(piece);
    assert.ok(!b.isClosed && !b.link.isPaused);
    b.send(piece);
    assert.ok(b.isClosed);
    assert.deepEqual(counts(a), ["0", "0"]);
    server.host.settle();
  });
});

describe("CLIENT PAUSE", () => {
  test("does not hold up the end of a wait, but what comes behind it", () => {
    const w = world();
    w.b.send(lines("WAIT 1 100", "PING"));
    w.a.say("CLIENT PAUSE 60000 WRITE");
    w.a.say("CLIENT PAUSE 60000 ALL");
    pass(w, 100);
    assert.equal(taken(w.b), ":0\r\n");
    assert.equal(w.server.host.servers[0]?.stats.sum("blocked_clients"), 1);
    pass(w, 59_900);
    for (const server of w.server.host.servers) server.tick();
    w.server.host.settle();
    assert.equal(taken(w.b), "+PONG\r\n");
  });

  test("WRITE lets WAIT begin; ALL does not, and its time counts from when it has begun", () => {
    const w = world();
    w.a.say("CLIENT PAUSE 1000 WRITE");
    w.b.say("WAIT 1 100");
    pass(w, 100);
    assert.equal(taken(w.b), ":0\r\n");
    w.a.say("CLIENT PAUSE 1000 ALL");
    w.c.say("WAIT 1 100");
    pass(w, 1000);
    for (const server of w.server.host.servers) server.tick();
    w.server.host.settle();
    assert.deepEqual(counts(w.a), ["1", "1"]);
    pass(w, 100);
    assert.equal(taken(w.c), ":0\r\n");
  });

  test("what waits for its end behind a wait is not unblocked", () => {
    const w = world();
    w.a.say("CLIENT PAUSE 60000 WRITE");
    w.b.send(lines("WAIT 1 0", "SET k v"));
    assert.equal(unblock(w, w.a, w.b), ":1\r\n");
    assert.equal(taken(w.b), ":0\r\n");
    assert.equal(unblock(w, w.a, w.b), ":0\r\n");
    w.a.say("CLIENT UNPAUSE");
    w.server.host.settle();
    assert.equal(taken(w.b), "+OK\r\n");
    assert.deepEqual(counts(w.a), ["0", "0"]);
  });
});

describe("a blocked client that goes", () => {
  const ends: Record<string, (w: World, client: TestClient) => void> = {
    "by itself": (_w, client) => client.link.destroy(),
    "by sending nothing more": (_w, client) => client.session.onEnd(),
    "by CLIENT KILL": (w, client) => {
      w.a.say(`CLIENT KILL ID ${client.session.id}`);
      w.server.host.settle();
    },
  };
  for (const [how, end] of Object.entries(ends)) {
    test(`${how} is not waited for, and what it sent behind is not done`, () => {
      const w = world();
      for (const client of [w.b, w.c]) {
        client.send(lines("WAIT 1 100", "SET k v"));
        end(w, client);
        assert.ok(client.isClosed);
        assert.equal(taken(client), "");
      }
      assert.deepEqual(counts(w.a), ["0", "0"]);
      assert.equal(w.a.info("clients").get("connected_clients"), "1");
      pass(w, 100);
      assert.equal(w.a.say("DBSIZE"), ":0\r\n");
      assert.equal(w.a.info("commandstats").get("cmdstat_wait"), undefined);
    });
  }

  test("had sent all before it came to wait", () => {
    const { server, a, b } = world();
    const release = server.holdShard(server.shardOf("k"));
    b.send(lines("SET k v", "WAIT 1 100", "SET k w"));
    b.session.onEnd();
    release();
    assert.equal(taken(b), "+OK\r\n");
    assert.ok(b.isClosed);
    assert.equal(a.say("GET k"), "$1\r\nv\r\n");
    assert.deepEqual(counts(a), ["0", "0"]);
  });

  test("had left before it came to wait", () => {
    const { server, a, b } = world();
    const release = server.holdShard(server.shardOf("k"));
    b.send(lines("SET k v", "WAIT 1 100", "SET k w"));
    b.link.destroy();
    release();
    assert.equal(a.say("GET k"), "$1\r\nv\r\n");
    assert.equal(a.info("clients").get("connected_clients"), "2");
    assert.deepEqual(counts(a), ["0", "0"]);
  });

  test("leaves a row that asks nothing of the next client in it", () => {
    const w = world();
    w.c.say("WAIT 1 0");
    const { id, row } = w.c.session;
    assert.equal(w.a.say(`CLIENT UNBLOCK ${id} ERROR`), ":1\r\n");
    w.c.link.destroy();
    const next = w.server.connect({ thread: 1 });
    assert.equal(next.session.row, row);
    next.say("WAIT 1 0");
    w.server.host.settle();
    assert.equal(unblock(w, w.a, w.c), ":0\r\n");
    assert.equal(taken(next), "");
    assert.equal(unblock(w, w.a, next), ":1\r\n");
    assert.equal(taken(next), ":0\r\n");
  });

  test("is not idle", () => {
    const w = world({ settings: { timeout: "10" } });
    w.b.say("WAIT 1 0");
    pass(w, 60_000);
    w.server.slowTick();
    assert.ok(!w.b.isClosed);
    assert.ok(w.c.isClosed);
  });

  test("with the server gets no answer", () => {
    const w = world();
    w.b.send(lines("SET k v", "WAIT 1 100"));
    for (const server of w.server.host.servers) server.end();
    assert.ok(w.b.isClosed);
    pass(w, 100);
    assert.equal(taken(w.b), "+OK\r\n");
    assert.equal(w.server.host.servers[0]?.stats.sum("blocked_clients"), 0);
  });
});
