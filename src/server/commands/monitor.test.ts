import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { latin1 } from "../../base/bytes.ts";
import { type TestClient, TestServer } from "../test-server.ts";

/** What came since last time, with the times taken out of the lines. */
function seen(client: TestClient): string {
  const text = client.link.sent.replace(/^\+\d{10}\.\d{6} \[/gm, "+[");
  client.link.sent = "";
  return text;
}

function line(client: TestClient, words: string, db = 0): string {
  return `+[${db} ${client.session.remote}] ${words}\r\n`;
}

/** A monitor on the first thread, one on the second, and a client on each. */
function world(): {
  server: TestServer;
  near: TestClient;
  far: TestClient;
  a: TestClient;
  b: TestClient;
} {
  const server = new TestServer();
  const near = server.connect();
  const far = server.connect({ thread: 1 });
  const [a, b] = [server.connect(), server.connect({ thread: 1 })];
  for (const monitor of [near, far]) {
    assert.equal(monitor.say("MONITOR"), "+OK\r\n");
    seen(monitor);
  }
  return { server, near, far, a, b };
}

describe("MONITOR", () => {
  test("shows what every thread runs, to monitors on every thread", () => {
    const { server, near, far, a, b } = world();
    a.send("SET k v\r\nget k\r\nSELECT 3\r\nPING\r\n");
    b.say("INCR n");
    server.host.settle();
    const ofA = [
      line(a, '"SET" "k" "v"'),
      line(a, '"get" "k"'),
      line(a, '"SELECT" "3"', 3),
      line(a, '"PING"', 3),
    ].join("");
    assert.equal(seen(near), ofA + line(b, '"INCR" "n"'));
    // The lines of another thread come when its bell is heard.
    const other = seen(far);
    assert.ok(
      other === line(b, '"INCR" "n"') + ofA || other === ofA + line(b, '"INCR" "n"'),
      other,
    );
  });

  test("has the time in microseconds", () => {
    const { server, near, a } = world();
    server.advance(123);
    a.say("PING");
    assert.match(near.link.sent, /^\+1700000000\.123000 \[0 127\.0\.0\.1:\d+\] "PING"\r\n$/);
  });

  test("escapes as Redis does", () => {
    const { near, a } = world();
    a.call("ECHO", '\\ " \n \r \t \x07 \b \0 \x1f \x7f \x80 \xff é');
    const shown = String.raw`"ECHO" "\\ \" \n \r \t \a \b \x00 \x1f \x7f \x80 \xff \xe9"`;
    assert.equal(seen(near), line(a, shown));
  });

  test("does not show what did not run, what administers, and what is secret", () => {
    const { near, a } = world();
    for (const call of [
      "NOSUCH x",
      "GET",
      "CLIENT NOSUCH",
      "CONFIG GET port",
      "CLIENT LIST",
      "DEBUG SLEEP 0",
      "MONITOR x",
    ]) {
      a.say(call);
    }
    assert.equal(seen(near), "");
    a.say("AUTH secret");
    a.say("AUTH nobody secret");
    a.say("HELLO 2 AUTH nobody secret SETNAME x");
    a.say("HELLO 9 SETNAME auth AUTH nobody secret");
    a.say("CLIENT SETNAME me");
    a.say("LCS k k LEN IDX");
    assert.equal(
      seen(near),
      line(a, '"AUTH" "(redacted)"') +
        line(a, '"AUTH" "(redacted)" "(redacted)"') +
        line(a, '"HELLO" "2" "AUTH" "(redacted)" "(redacted)" "SETNAME" "x"') +
        line(a, '"HELLO" "9" "SETNAME" "auth" "AUTH" "(redacted)" "(redacted)"') +
        line(a, '"CLIENT" "SETNAME" "me"') +
        line(a, '"LCS" "k" "k" "LEN" "IDX"'),
    );
  });

  test("does not show what was refused for its memory or its slot", () => {
    const server = new TestServer({ owners: 2 });
    const [monitor, a] = [server.connect(), server.connect({ owner: 0 })];
    monitor.say("MONITOR");
    seen(monitor);
    a.say("SET foo v");
    a.say("SET bar v");
    server.host.settle();
    assert.equal(seen(monitor), line(a, '"SET" "bar" "v"'));
  });

  test("shows a command that waited, once", () => {
    const { server, near, a, b } = world();
    const release = server.holdShard(server.shardOf("k"));
    a.say("SET k v");
    assert.equal(seen(near), "");
    release();
    assert.equal(seen(near), line(a, '"SET" "k" "v"'));
    b.say("CLIENT PAUSE 60000 WRITE");
    a.say("SET k w");
    assert.equal(seen(near), "");
    b.say("CLIENT UNPAUSE");
    server.host.settle();
    assert.equal(seen(near), line(a, '"SET" "k" "w"'));
  });

  test("shows long arguments, that the keyspace takes over, as they were", () => {
    const { server, near, far, a } = world();
    const value = "\x01".repeat(300_000);
    a.send(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${value.length}\r\n${value}\r\nDEL k\r\n`);
    server.host.settle();
    const lines = line(a, `"SET" "k" "${"\\x01".repeat(300_000)}"`) + line(a, '"DEL" "k"');
    assert.ok(seen(near) === lines);
    assert.ok(seen(far) === lines, "in pieces over the mailbox");
    assert.equal(a.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("shows a monitor its own commands behind their replies", () => {
    const { near } = world();
    near.send("PING\r\nSELECT 2\r\nPING x\r\n");
    assert.equal(
      seen(near),
      `+PONG\r\n${line(near, '"PING"')}+OK\r\n${line(near, '"SELECT" "2"', 2)}` +
        `$1\r\nx\r\n${line(near, '"PING" "x"', 2)}`,
    );
  });

  test("keeps a monitor from the keyspace, and answers a second MONITOR with nothing", () => {
    const { near, a } = world();
    for (const call of ["GET k", "SET k v", "DEL k"]) {
      assert.equal(near.say(call), "-ERR Replica can't interact with the keyspace\r\n");
    }
    assert.equal(near.say("MONITOR"), "");
    assert.match(a.text(`CLIENT LIST ID ${near.session.id}`), / flags=O .* cmd=monitor /);
    assert.match(a.text("CLIENT LIST TYPE normal"), / flags=O /);
  });

  test("is not paused", () => {
    const { near, a } = world();
    a.say("CLIENT PAUSE 60000 ALL");
    assert.match(near.say("PING"), /^\+PONG\r\n\+\d+\.\d+ \[0 .*\] "PING"\r\n$/);
  });

  test("ends with RESET", () => {
    const { server, near, far, a } = world();
    assert.equal(near.say("RESET"), "+RESET\r\n");
    a.say("PING");
    server.host.settle();
    assert.equal(seen(near), "+RESET\r\n");
    assert.equal(seen(far), line(near, '"RESET"') + line(a, '"PING"'));
    assert.equal(near.say("GET k"), "$-1\r\n");
    assert.match(near.text("CLIENT INFO"), / flags=N /);
  });

  test("shows nothing of what ran before it, whoever monitored then", () => {
    const server = new TestServer({ threads: 1 });
    const [first, second] = [server.connect(), server.connect()];
    first.send("MONITOR\r\nPING\r\nRESET\r\nPING\r\n");
    second.send("PING\r\nMONITOR\r\n");
    assert.equal(seen(second), "+PONG\r\n+OK\r\n");
    first.send("PING\r\n");
    assert.equal(seen(second), line(first, '"PING"'));
  });

  test("ends with the connection, on whatever side", () => {
    const { server, near, far, a } = world();
    assert.equal(near.say("QUIT"), "+OK\r\n");
    a.say(`CLIENT KILL ID ${far.session.id}`);
    server.host.settle();
    assert.ok(far.isClosed);
    a.say("PING");
    server.host.settle();
    assert.equal(seen(near), "+OK\r\n");
    assert.equal(
      server.host.servers.some(({ monitors }) => monitors.isOn),
      false,
    );
  });

  test("is silent while its replies are", () => {
    const { near, a } = world();
    near.say("CLIENT REPLY OFF");
    seen(near);
    a.say("PING");
    assert.equal(seen(near), "");
    assert.match(
      near.say("CLIENT REPLY ON"),
      /^\+OK\r\n\+\d+\.\d+ \[0 .*\] "CLIENT" "REPLY" "ON"\r\n$/,
    );
    near.say("CLIENT REPLY SKIP");
    seen(near);
    a.say("PING");
    near.send("PING 1\r\n");
    assert.equal(seen(near), "");
    a.say("PING");
    assert.equal(seen(near), line(a, '"PING"'));
  });

  test("begins with its answer, within a pipeline too", () => {
    const server = new TestServer();
    const [first, second] = [server.connect(), server.connect()];
    first.say("MONITOR");
    seen(first);
    second.send("SET k v\r\nMONITOR\r\nPING\r\n");
    assert.equal(seen(second), `+OK\r\n+OK\r\n+PONG\r\n${line(second, '"PING"')}`);
    assert.equal(seen(first), line(second, '"SET" "k" "v"') + line(second, '"PING"'));
  });
});

describe("a monitor that does not read", () => {
  test("is closed by the limit of its class, and nobody waits", () => {
    const settings = { "client-output-buffer-limit": "normal 100000 0 0" };
    const server = new TestServer({ settings });
    const [monitor, a, b] = [server.connect(), server.connect(), server.connect({ thread: 1 })];
    monitor.say("MONITOR");
    monitor.link.isStuck = true;
    for (let i = 0; i < 200; i++) {
      assert.equal(a.call("ECHO", "x".repeat(1000)).length, 1009);
      assert.equal(b.call("ECHO", "x".repeat(1000)).length, 1009);
      server.host.settle();
    }
    assert.ok(monitor.isClosed);
    assert.ok(monitor.link.sent.length < 120_000);
    assert.equal(a.info("stats").get("client_output_buffer_limit_disconnections"), "1");
    const logged =
      /Client id=\d+ .* flags=O .* scheduled to be closed ASAP for overcoming of output/;
    assert.match(server.logged.join("\n"), logged);
  });

  test("has lines that do not change while its link holds them", () => {
    const { near, a } = world();
    const held: { bytes: Uint8Array; text: string }[] = [];
    near.link.write = (source, start, end) => {
      held.push({ bytes: source.subarray(start, end), text: latin1(source, start, end) });
      return false;
    };
    for (const word of ["first", "second", "third"]) a.call("ECHO", word);
    assert.equal(held.length, 3);
    for (const { bytes, text } of held) assert.equal(latin1(bytes, 0, bytes.length), text);
  });

  test("is never idle", () => {
    const server = new TestServer({ settings: { timeout: "10" } });
    const [monitor, other] = [server.connect(), server.connect()];
    monitor.say("MONITOR");
    server.advance(60_000);
    server.slowTick();
    assert.ok(!monitor.isClosed && other.isClosed);
  });
});
