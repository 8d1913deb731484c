import assert from "node:assert/strict";
import { test } from "node:test";
import { MissingFigure } from "./stats.ts";
import { type Bound, exitCodeOf, judge } from "./verdict.ts";

const ratio: Bound = { direction: "at most", bound: 0.95, goal: 0.8, unit: "x" };
const speedup: Bound = { direction: "at least", bound: 1.4, unit: "x" };

function verdictOf(target: Bound, value: number): string {
  return judge(target, { kind: "figure", value, detail: "" }).text;
}

test("a figure at its bound passes, beyond it is short by so much", () => {
  assert.equal(verdictOf(ratio, 0.95), "pass");
  assert.equal(verdictOf(ratio, 0.8), "pass, goal met");
  assert.equal(verdictOf(ratio, 1.14), "short by 0.19x (20.0%)");
  assert.equal(verdictOf(speedup, 1.4), "pass");
  assert.equal(verdictOf(speedup, 1.33), "short by 0.0700x (5.0%)");
});

test("a missing figure is never a pass", () => {
  const verdict = judge(ratio, { kind: "missing", reason: "the server did not start" });
  assert.deepEqual(verdict, { kind: "missing", text: "not measured: the server did not start" });
  assert.throws(() => verdictOf(ratio, Number.NaN), MissingFigure);
});

test("the exit code tells missing from short from passed", () => {
  const pass = { kind: "pass", text: "" } as const;
  const short = { kind: "short", text: "" } as const;
  const missing = { kind: "missing", text: "" } as const;
  assert.equal(exitCodeOf([pass, pass]), 0);
  assert.equal(exitCodeOf([pass, short]), 1);
  assert.equal(exitCodeOf([short, missing, pass]), 3);
});
