import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type TestClient, TestServer } from "../test-server.ts";

function client(): TestClient {
  return new TestServer().connect();
}

/** Lines sent in one write, as an inline client would. */
function lines(...words: string[]): string {
  return words.map((line) => `${line}\r\n`).join("");
}

describe("CLIENT REPLY", () => {
  // What a redis-server answers, measured.
  const cases: [title: string, sent: string[], reply: string][] = [
    ["OFF and ON", ["CLIENT REPLY OFF", "PING", "SET k v", "CLIENT REPLY ON", "PING"], "OK PONG"],
    ["SKIP", ["CLIENT REPLY SKIP", "PING", "PING"], "PONG"],
    ["an empty line uses a SKIP up", ["CLIENT REPLY SKIP", "", "PING"], "PONG"],
    ["no arguments use a SKIP up", ["CLIENT REPLY SKIP", "*0", "PING", "PING"], "PONG PONG"],
    ["SKIP uses a SKIP up", ["CLIENT REPLY SKIP", "CLIENT REPLY SKIP", "PING", "PING"], "PONG"],
    ["errors are skipped", ["CLIENT REPLY SKIP", "NOSUCH", "PING"], "PONG"],
    ["a wrong word too", ["CLIENT REPLY SKIP", "CLIENT REPLY bad", "PING"], "PONG"],
    ["SKIP and OFF", ["CLIENT REPLY SKIP", "CLIENT REPLY OFF", "PING", "CLIENT REPLY ON"], "OK"],
    ["OFF and SKIP", ["CLIENT REPLY OFF", "CLIENT REPLY SKIP", "PING", "CLIENT REPLY ON"], "OK"],
    ["ON answers behind SKIP", ["CLIENT REPLY SKIP", "CLIENT REPLY ON", "PING"], "OK PONG"],
    ["RESET ends OFF", ["CLIENT REPLY OFF", "RESET", "PING"], "RESET PONG"],
    ["RESET can be skipped", ["CLIENT REPLY SKIP", "RESET", "PING"], "PONG"],
  ];

  for (const [title, sent, reply] of cases) {
    test(title, () => {
      const expected = reply.replace(/\w+/g, (word) => `+${word}\r\n`).replaceAll(" ", "");
      assert.equal(client().send(lines(...sent)), expected);
      const other = client();
      let apart = "";
      for (const line of sent) apart += other.send(lines(line));
      assert.equal(apart, expected, "line by line");
    });
  }

  test("replies of before are kept", () => {
    const c = client();
    assert.equal(
      c.send(lines("PING", "CLIENT REPLY SKIP", "GET a", "PING x")),
      "+PONG\r\n$1\r\nx\r\n",
    );
  });

  test("long replies are thrown away, with what they pinned", () => {
    const server = new TestServer();
    const c = server.connect();
    c.call("SET", "k", "v".repeat(200_000));
    assert.equal(c.send(lines("PING", "CLIENT REPLY SKIP", "GET k", "PING")), "+PONG\r\n+PONG\r\n");
    assert.equal(c.send(lines("CLIENT REPLY OFF", "GET k", "MGET k k k", "KEYS *")), "");
    assert.equal(c.say("CLIENT REPLY ON"), "+OK\r\n");
    assert.equal(c.say("DEL k"), ":1\r\n");
    assert.equal(c.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("what is thrown away counts against no limit", () => {
    const settings = { "client-output-buffer-limit": "normal 100000 0 0" };
    const c = new TestServer({ settings }).connect();
    c.call("SET", "k", "v".repeat(60_000));
    const sent = lines("PING", "CLIENT REPLY SKIP", "MGET k k k", "PING");
    assert.equal(c.send(sent), "+PONG\r\n+PONG\r\n");
    c.say("MGET k k k");
    assert.ok(c.isClosed);
    assert.equal(c.link.sent.length, 0);
  });

  test("a skipped reply that comes later is skipped too", () => {
    const server = new TestServer();
    const c = server.connect();
    assert.equal(c.send(lines("CLIENT REPLY SKIP", "CONFIG SET port 7777", "PING")), "");
    server.host.settle();
    assert.equal(c.link.sent, "+PONG\r\n");
  });

  test("a protocol error and QUIT close without a word", () => {
    for (const line of ["*1\r\nfoo", "QUIT"]) {
      const c = client();
      assert.equal(c.send(lines("CLIENT REPLY OFF", line)), "");
      assert.ok(c.isClosed, line);
    }
  });

  test("errors count as errors", () => {
    const c = client();
    c.send(lines("CLIENT REPLY OFF", "NOSUCH", "CLIENT REPLY ON"));
    assert.equal(c.info("stats").get("total_error_replies"), "1");
  });

  test("asked wrongly", () => {
    const c = client();
    assert.equal(c.say("CLIENT REPLY maybe"), "-ERR syntax error\r\n");
    assert.equal(
      c.say("CLIENT REPLY ON x"),
      "-ERR wrong number of arguments for 'client|reply' command\r\n",
    );
  });
});
