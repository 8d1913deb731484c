/** The witness judged: it tells when a server keeps it waiting, whether that works or sleeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { startZeroHop } from "../support/servers.ts";
import { startWitness } from "./witness.ts";

test("a server that sleeps is found out, one that answers is not", needsOurs(), async () => {
  const server = await startZeroHop({ threads: 1, "enable-debug-command": "yes" });
  const client = await server.connect();
  const content = await startWitness(server);
  await client.call("PING");
  await content.stop();
  const held = await startWitness(server);
  await client.call("DEBUG", "SLEEP", 4);
  await assert.rejects(held.stop(), /somebody else was disturbed/);
  await server.stop();
});
