import assert from "node:assert/strict";
import { test } from "node:test";
import { logo } from "./logo.ts";

test("the picture names version, mode, port and process as Redis's does", () => {
  const facts = { version: "1.2.3", redisVersion: "7.4.2", mode: "standalone", port: 6379 };
  const picture = logo({ ...facts, processId: 4711 });
  for (const line of [
    /ZeroHop 1\.2\.3 \(Redis 7\.4\.2\) 64 bit$/m,
    /Running in standalone mode$/m,
    /Port: 6379$/m,
    /PID: 4711$/m,
  ]) {
    assert.match(picture, line);
  }
  assert.match(picture, /^\n[^\0]*\n\n$/);
});
