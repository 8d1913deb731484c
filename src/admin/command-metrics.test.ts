import assert from "node:assert/strict";
import { test } from "node:test";
import { commandMetrics } from "./command-metrics.ts";
import type { Figures } from "./figures.ts";

type Use = ReturnType<Figures["commandUse"]>;

function figuresOf(uses: readonly Use[]): Figures {
  return {
    source: { commands: uses.map((_, i) => `c${i}`) },
    commandUse: (command: number) => uses[command],
  } as unknown as Figures;
}

test("only commands that were called have samples", () => {
  const none = { calls: 0, usec: 0, rejected: 0, failed: 0 };
  const figures = figuresOf([none, { ...none, calls: 3 }, { ...none, rejected: 1 }]);
  const metrics = commandMetrics().filter(({ name }) => name.startsWith("zerohop_commands_"));
  assert.equal(metrics.length, 4);
  for (const metric of metrics) {
    const seen: unknown[] = [];
    metric.read(figures, ({ cmd }) => seen.push(cmd));
    assert.deepEqual(seen, ["c1", "c2"], metric.name);
  }
});

test("the seconds of a command fall only when its calls begin anew", () => {
  const duration = commandMetrics().find(({ name }) => name.includes("duration"));
  const steps: [calls: number, usec: number, seconds: number][] = [
    [1, 1000, 0.001],
    [63, 63_000, 0.063],
    // The second call that was timed was short.
    [65, 32_500, 0.063],
    [130, 65_000, 0.065],
    // CONFIG RESETSTAT
    [2, 500, 0.0005],
  ];
  for (const [calls, usec, seconds] of steps) {
    const use = { calls, usec, rejected: 0, failed: 0 };
    duration?.read(figuresOf([use]), (_, value) => assert.equal(value, seconds, `${calls}`));
  }
});
