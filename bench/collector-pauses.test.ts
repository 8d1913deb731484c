import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pausesIn, traceFile } from "./collector-pauses.ts";

function event(name: string, ts: number, dur: number, tdur: number): object {
  return { pid: 1, tid: 1, ts, tts: 0, ph: "X", cat: "v8", name, dur, tdur, args: {} };
}

test("only the collector's pauses of the span count, by clock and by CPU", () => {
  const text = JSON.stringify({
    traceEvents: [
      event("V8.GCScavenger", 99, 90_000, 90_000),
      event("V8.GCScavenger", 100, 9000, 500),
      event("V8.GCFinalizeMC", 150, 2000, 1500),
      event("V8.Execute", 150, 70_000, 70_000),
      event("V8.GCScavenger", 201, 80_000, 80_000),
    ],
  });
  assert.deepEqual(pausesIn(text, 100, 200), { longestCpuMs: 1.5, longestMs: 9, sumCpuMs: 2 });
  assert.deepEqual(pausesIn(text, 1, 2), { longestCpuMs: 0, longestMs: 0, sumCpuMs: 0 });
});

test("a process that keeps what it makes shows pauses on the clock that it reads itself", () => {
  const trace = traceFile();
  try {
    const code = `
      const clock = () => Number(process.hrtime.bigint() / 1000n);
      const from = clock();
      const kept = Array.from({ length: 300000 }, (_, i) => ({ i }));
      console.log(JSON.stringify([from, clock(), kept.length]));`;
    const run = spawnSync(process.execPath, [...trace.flags, "-e", code], { encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
    const [from = 0, to = 0] = JSON.parse(run.stdout) as number[];
    const { longestCpuMs, longestMs, sumCpuMs } = trace.pauses(from, to);
    assert.ok(longestCpuMs > 0 && longestMs > 0 && sumCpuMs >= longestCpuMs);
    assert.equal(trace.pauses(to + 1e9, to + 2e9).sumCpuMs, 0);
  } finally {
    trace.remove();
  }
});
