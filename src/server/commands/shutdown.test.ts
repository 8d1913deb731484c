import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TestServer } from "../test-server.ts";

describe("SHUTDOWN", () => {
  test("has no reply, closes, and ends the process", () => {
    for (const options of ["", " NOSAVE", " now", " FORCE NOSAVE NOW", " SAVE FORCE"]) {
      const server = new TestServer();
      const client = server.connect();
      assert.equal(client.say(`SHUTDOWN${options}`), "");
      assert.ok(client.isClosed);
      assert.ok(server.host.isShutDown, options);
    }
  });

  test("does not end it when the options are wrong", () => {
    const server = new TestServer();
    const client = server.connect();
    for (const options of ["FOO", "SAVE NOSAVE", "ABORT NOW", "ABORT SAVE", "NOW FOO"]) {
      assert.equal(client.say(`SHUTDOWN ${options}`), "-ERR syntax error\r\n", options);
    }
    assert.equal(client.say("SHUTDOWN ABORT"), "-ERR No shutdown in progress.\r\n");
    const save = "-ERR Errors trying to SHUTDOWN. Check logs.\r\n";
    assert.equal(client.say("SHUTDOWN SAVE"), save);
    assert.match(server.logged.at(-1) ?? "", /^warning: SHUTDOWN SAVE was refused/);
    assert.ok(!server.host.isShutDown);
  });
});
