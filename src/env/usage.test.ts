import assert from "node:assert/strict";
import { totalmem } from "node:os";
import { test } from "node:test";
import { systemUsage } from "./usage.ts";

test("usage is that of the process, each part as of when it was first asked for", () => {
  const usage = systemUsage();
  const first = [usage.userSeconds, usage.systemSeconds, usage.residentBytes, usage.mainThread];
  assert.ok(usage.userSeconds > 0);
  assert.ok(usage.residentBytes > 1 << 20);
  assert.equal(usage.systemMemoryBytes, totalmem());
  // Both grow meanwhile.
  const kept = new Uint8Array(64 << 20).fill(1);
  while (process.cpuUsage().user / 1e6 < usage.userSeconds + 0.02);
  assert.deepEqual(
    [usage.userSeconds, usage.systemSeconds, usage.residentBytes, usage.mainThread],
    first,
  );
  const later = systemUsage();
  assert.ok(later.userSeconds > usage.userSeconds);
  assert.ok(later.residentBytes > usage.residentBytes, String(kept.length));
});
