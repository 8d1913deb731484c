import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { START_MS, type TestClient, TestServer } from "../test-server.ts";

/** The clock of a test stands still unless a command moves it: DEBUG SLEEP. */
function sleepingServer(settings: Readonly<Record<string, string>> = {}): TestServer {
  const server = new TestServer({ threads: 2, settings });
  for (const thread of server.host.servers) {
    thread.sleep = (ms: number): void => server.advance(ms);
  }
  return server;
}

type Value = string | Value[];

/** Decodes one RESP2 reply of integers, strings and arrays; `at` is moved behind it. */
function decode(reply: string, place: { at: number }): Value {
  const end = reply.indexOf("\r\n", place.at);
  const line = reply.slice(place.at + 1, end);
  const mark = reply[place.at];
  place.at = end + 2;
  if (mark === "*") return Array.from({ length: Number(line) }, () => decode(reply, place));
  if (mark !== "$") return line;
  const text = reply.slice(place.at, place.at + Number(line));
  place.at += text.length + 2;
  return text;
}

/** Words of each entry, newest first. */
function logged(client: TestClient, call = "SLOWLOG GET -1"): string[] {
  const entries = decode(client.say(call), { at: 0 }) as Value[][];
  return entries.map((entry) => (entry[3] as string[]).join(" "));
}

describe("SLOWLOG", () => {
  test("knows calls that were as long as the threshold, on whatever thread", () => {
    const server = sleepingServer({ "slowlog-log-slower-than": "200000" });
    const [one, other] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    one.say("DEBUG SLEEP 0.1999");
    assert.equal(one.say("SLOWLOG LEN"), ":0\r\n");
    other.say("CLIENT SETNAME other");
    other.say("DEBUG SLEEP 0.2");
    one.say("DEBUG SLEEP 0.3");
    assert.equal(other.say("SLOWLOG LEN"), ":2\r\n");
    const seconds = (ms: number): number => Math.floor((START_MS + ms) / 1000);
    const entry = (id: number, ms: number, word: string, port: number, name: string): string =>
      `*6\r\n:${id}\r\n:${seconds(ms)}\r\n:${Number(word) * 1e6}\r\n*3\r\n$5\r\nDEBUG\r\n$5\r\n` +
      `SLEEP\r\n$3\r\n${word}\r\n$15\r\n127.0.0.1:${port}\r\n$${name.length}\r\n${name}\r\n`;
    assert.equal(
      one.say("SLOWLOG GET"),
      `*2\r\n${entry(1, 699, "0.3", 50000, "")}${entry(0, 399, "0.2", 50001, "other")}`,
    );
    assert.deepEqual(logged(one, "SLOWLOG GET 1"), ["DEBUG SLEEP 0.3"]);
    assert.equal(one.say("SLOWLOG RESET"), "+OK\r\n");
    assert.equal(other.say("SLOWLOG GET"), "*0\r\n");
  });

  test("counts as Redis counts", () => {
    const client = sleepingServer({ "slowlog-log-slower-than": "0" }).connect();
    for (let i = 0; i < 15; i++) client.say("PING");
    assert.equal(logged(client, "SLOWLOG GET").length, 10);
    assert.equal(logged(client, "SLOWLOG GET 3").length, 3);
    assert.equal(logged(client, "SLOWLOG GET 0").length, 0);
    assert.equal(logged(client, "SLOWLOG GET -1").length, 18);
    const error = "-ERR count should be greater than or equal to -1\r\n";
    for (const count of ["-2", "x", "1.5", "99999999999999999999"]) {
      assert.equal(client.say(`SLOWLOG GET ${count}`), error);
    }
    assert.match(client.say("SLOWLOG GET 1 2"), /^-ERR unknown subcommand or wrong number of/);
  });

  test("logs every call of every thread where the threshold is 0", () => {
    const server = sleepingServer({ "slowlog-log-slower-than": "0" });
    const [one, other] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    const expected: string[] = [];
    for (let i = 0; i < 100; i++) {
      const line = `${i % 3 === 0 ? "SET" : "GETSET"} key:${i} v`;
      (i % 2 === 0 ? one : other).say(line);
      expected.unshift(line);
    }
    assert.deepEqual(logged(one), expected);
  });

  test("does not log what was refused, and logs what failed", () => {
    const client = sleepingServer({ "slowlog-log-slower-than": "0" }).connect();
    for (const line of ["GET", "NOSUCH", "CLIENT NOSUCH", "SET a x", "INCR a"]) client.say(line);
    assert.deepEqual(logged(client), ["INCR a", "SET a x"]);
  });

  test("has as many entries as slowlog-max-len says, from CONFIG SET on", () => {
    const client = sleepingServer({ "slowlog-log-slower-than": "0" }).connect();
    for (let i = 0; i < 20; i++) client.say(`GET ${i}`);
    client.say("CONFIG SET slowlog-max-len 3");
    assert.deepEqual(logged(client), ["CONFIG SET slowlog-max-len 3", "GET 19", "GET 18"]);
    client.say("CONFIG SET slowlog-max-len 0");
    const before = logged(client);
    client.say("PING");
    assert.deepEqual(logged(client), before);
    client.say("CONFIG SET slowlog-max-len 128 slowlog-log-slower-than -1");
    client.say("PING");
    assert.deepEqual(logged(client), before);
  });

  test("loses nothing to a thread that comes to an older length late", () => {
    const server = sleepingServer({ "slowlog-log-slower-than": "0" });
    const [one, late] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    one.say("CONFIG SET slowlog-max-len 1");
    one.say("CONFIG SET slowlog-max-len 100");
    for (let i = 0; i < 10; i++) one.say(`GET ${i}`);
    late.say("PING");
    assert.equal(logged(one).length, 1 + 1 + 10 + 1);
  });

  test("keeps secrets", () => {
    const client = sleepingServer({ "slowlog-log-slower-than": "0" }).connect();
    const calls: [line: string, logged: string][] = [
      ["AUTH pw", "AUTH (redacted)"],
      ["AUTH user pw", "AUTH (redacted) (redacted)"],
      ["HELLO 2 AUTH user pw SETNAME x", "HELLO 2 AUTH (redacted) (redacted) SETNAME x"],
      ["HELLO 2 AUTH user", "HELLO 2 AUTH user"],
      ["config set timeout 0 requirepass pw", "config set timeout 0 requirepass (redacted)"],
    ];
    for (const [line] of calls) client.say(line);
    assert.deepEqual(logged(client), calls.map(([, shown]) => shown).reverse());
  });

  test("cuts what is long, also what went to the heap", () => {
    const client = sleepingServer({ "slowlog-log-slower-than": "0" }).connect();
    client.call("SET", "big", "v".repeat(100_000));
    client.call("SET", "big", "w".repeat(200));
    assert.deepEqual(logged(client), [
      `SET big ${"w".repeat(128)}... (72 more bytes)`,
      `SET big ${"v".repeat(128)}... (99872 more bytes)`,
    ]);
  });
});

describe("LATENCY", () => {
  test("samples events as long as the threshold, on whatever thread", () => {
    const server = sleepingServer();
    const [one, other] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    one.say("DEBUG SLEEP 1");
    assert.equal(one.say("LATENCY LATEST"), "*0\r\n");
    assert.match(one.text("LATENCY DOCTOR"), /^I'm sorry, Dave/);
    one.say("CONFIG SET latency-monitor-threshold 100");
    one.say("DEBUG SLEEP 0.09");
    assert.equal(one.say("LATENCY LATEST"), "*0\r\n");
    assert.match(one.text("LATENCY DOCTOR"), /^Dave, no latency spike was observed/);
    one.say("DEBUG SLEEP 0.3");
    other.say("DEBUG SLEEP 2");
    const second = Math.floor(START_MS / 1000) + 1;
    const samples = `*2\r\n:${second}\r\n:300\r\n*2\r\n:${second + 2}\r\n:2000\r\n`;
    assert.equal(one.say("LATENCY HISTORY command"), `*2\r\n${samples}`);
    assert.equal(one.say("LATENCY HISTORY nosuch"), "*0\r\n");
    assert.equal(
      other.say("LATENCY LATEST"),
      `*1\r\n*4\r\n$7\r\ncommand\r\n:${second + 2}\r\n:2000\r\n:2000\r\n`,
    );
    assert.match(one.text("LATENCY GRAPH command"), /^command - high 2000 ms, low 300 ms/);
    const none = "-ERR No samples available for event 'nosuch'\r\n";
    assert.equal(one.say("LATENCY GRAPH nosuch"), none);
    assert.equal(one.say("LATENCY RESET nosuch"), ":0\r\n");
    assert.equal(one.say("LATENCY RESET command"), ":1\r\n");
    assert.equal(other.say("LATENCY RESET"), ":0\r\n");
  });

  test("HISTOGRAM has all calls of the named commands, containers with what they contain", () => {
    const server = sleepingServer();
    const [one, other] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    for (let i = 0; i < 150; i++) (i % 2 === 0 ? one : other).say(`SET key:${i} v`);
    for (const line of ["CLIENT ID", "CLIENT GETNAME", "CLIENT ID", "GET a", "GET"]) one.say(line);
    const shown = (calls: number): string =>
      `*4\r\n$5\r\ncalls\r\n:${calls}\r\n$14\r\nhistogram_usec\r\n*2\r\n:1\r\n:${calls}\r\n`;
    assert.equal(one.say("LATENCY HISTOGRAM set"), `*2\r\n$3\r\nset\r\n${shown(150)}`);
    assert.equal(
      one.say("LATENCY HISTOGRAM nosuch GET client|id"),
      `*4\r\n$3\r\nget\r\n${shown(1)}$9\r\nclient|id\r\n${shown(2)}`,
    );
    assert.equal(one.say("LATENCY HISTOGRAM client").split("$5\r\ncalls").length, 3);
    assert.equal(one.say("LATENCY HISTOGRAM strlen"), "*0\r\n");
    assert.ok(one.say("LATENCY HISTOGRAM").startsWith("*10\r\n"));
    one.say("CONFIG RESETSTAT");
    assert.match(one.say("LATENCY HISTOGRAM"), /^\*2\r\n\$16\r\nconfig\|resetstat\r\n/);
  });

  test("HISTOGRAM and INFO latencystats leave out calls while latency-tracking is off", () => {
    const server = sleepingServer();
    const [one, other] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    one.say("DEBUG SLEEP 1");
    other.say("DEBUG SLEEP 0.001");
    one.say("CONFIG SET latency-tracking no");
    other.say("DEBUG SLEEP 0.01");
    one.say("DEBUG SLEEP 0.01");
    assert.deepEqual([...one.info("latencystats")], []);
    const levels = "$14\r\nhistogram_usec\r\n*4\r\n:1056\r\n:1\r\n:1073741\r\n:2\r\n";
    const expected = `*2\r\n$5\r\ndebug\r\n*4\r\n$5\r\ncalls\r\n:2\r\n${levels}`;
    assert.equal(one.say("LATENCY HISTOGRAM debug"), expected);
    other.say("CONFIG SET latency-tracking yes latency-tracking-info-percentiles");
    other.call("CONFIG", "SET", "latency-tracking", "yes");
    other.call("CONFIG", "SET", "latency-tracking-info-percentiles", "0 50 100.0");
    assert.equal(one.say("LATENCY HISTOGRAM debug"), expected);
    assert.equal(
      one.info("latencystats").get("latency_percentiles_usec_debug"),
      "p0=999.424,p50=1003.519,p100=1002438.655",
    );
  });
});
