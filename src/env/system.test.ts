import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
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

test("the monotonic clock is the same in all threads", async () => {
  const clock = new SystemClock();
  const source = new URL("./system.js", import.meta.url).href;
  const code = `import(${JSON.stringify(source)}).then(({ SystemClock }) => {
    require("node:worker_threads").parentPort.postMessage(new SystemClock().monotonicMs());
  });`;
  const before = clock.monotonicMs();
  const [there] = (await once(new Worker(code, { eval: true }), "message")) as [number];
  // Each may have found the beginning of its thread a little too early.
  const after = clock.monotonicMs();
  assert.ok(there > before - 1 && there < after + 1, `${before} ${there} ${after}`);
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
