/**
 * A thread that dies takes the process with it, with a report, and never leaves a server half
 * alive.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { startZeroHop } from "../support/servers.ts";

describe("a thread that fails in the middle of a command", needsOurs(), () => {
  for (const threads of [1, 4]) {
    test(`ends the process of ${threads} threads with a report`, async () => {
      const server = await startZeroHop({ threads, "enable-debug-command": "yes" });
      const clients = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
      for (const [i, client] of clients.entries()) await client.call("SET", `key:${i}`, i);
      const victim = clients[3];
      victim?.sendRaw("DEBUG PANIC\r\n");
      const exit = await server.end(undefined);
      assert.deepEqual(exit, { code: null, signal: "SIGABRT" });
      assert.match(server.output(), /BUG REPORT: thread \d+ failed/);
      assert.match(server.output(), /DEBUG PANIC was called/);
      for (const client of clients) await client.expectClosed();
    });
  }

  test("does so while other threads are busy", async () => {
    const server = await startZeroHop({ threads: 4, "enable-debug-command": "yes" });
    const clients = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
    const loads = clients.slice(1).map(async (client) => {
      const batch = Array.from({ length: 100 }, (_, i) => ["MSET", `a:${i}`, i, `b:${i}`, i]);
      try {
        for (;;) await client.pipeline(batch);
      } catch {
        // The end of the server is what ends the load.
      }
    });
    await clients[0]?.call("PING");
    clients[0]?.sendRaw("DEBUG PANIC\r\n");
    assert.equal((await server.end(undefined)).signal, "SIGABRT");
    await Promise.all(loads);
    assert.match(server.output(), /BUG REPORT/);
  });
});
