import assert from "node:assert/strict";
import { test } from "node:test";
import { loopUse, SystemClock } from "./system.ts";

test("microseconds lie within the system's millisecond and are finer than it", () => {
  const clock = new SystemClock();
  const fractions = new Set<number>();
  for (let n = 0; n < 20_000; n++) {
    const before = Date.now();
    const usec = clock.unixUsec();
    assert.ok(Number.isSafeInteger(usec));
    const unixMs = Math.floor(usec / 1000);
    assert.ok(unixMs >= before && unixMs <= Date.now(), `${before} ${usec}`);
    fractions.add(usec % 1000);
  }
  assert.ok(fractions.size > 100, `${fractions.size} different fractions`);
});

test("the use of the event loop grows", async () => {
  const before = loopUse();
  let after = loopUse();
  // What is asked for in one cycle may come in the same one.
  for (let n = 0; n < 100 && after.cycles === before.cycles; n++) {
    await new Promise((resolve) => setImmediate(resolve));
    after = loopUse();
  }
  assert.ok(after.cycles > before.cycles);
  assert.ok(after.activeMs >= before.activeMs);
});
