import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  assertReasoned,
  type Budgets,
  compareGate,
  type GateFigures,
  gateCells,
  overall,
  parseBudgets,
} from "./gate-compare.ts";
import { UsageError } from "./options.ts";
import { findRoot } from "./server.ts";
import { MissingFigure } from "./stats.ts";

const budgets: Budgets = parseBudgets(
  readFileSync(join(findRoot(), "bench", "budgets.json"), "utf8"),
);

function figures(qps: readonly number[], int = 40, embstr = 50, raw = 300): GateFigures {
  return {
    qps_median: qps,
    bytes_per_key_int: [int, int, int],
    bytes_per_key_embstr: [embstr, embstr, embstr],
    bytes_per_key_raw: [raw, raw, raw],
  };
}

const steady = figures([99_000, 100_000, 101_000]);

function verdicts(base: GateFigures | undefined, head: GateFigures): string {
  const rows = compareGate(base, head, budgets);
  return [...rows.map((row) => row.verdict), overall(rows)].join(" ");
}

test("equal and better figures pass", () => {
  assert.equal(verdicts(steady, steady), "PASS PASS PASS PASS PASS");
  assert.equal(verdicts(steady, figures([150_000], 20, 30, 200)), "PASS PASS PASS PASS PASS");
});

test("throughput: within the band PASS, beyond it WARN, beyond the budget FAIL", () => {
  assert.equal(verdicts(steady, figures([95_000])).split(" ")[0], "PASS");
  assert.equal(verdicts(steady, figures([94_000])).split(" ")[0], "WARN");
  assert.equal(verdicts(steady, figures([85_000])).split(" ")[0], "WARN");
  assert.equal(verdicts(steady, figures([84_900])), "FAIL PASS PASS PASS FAIL");
});

test("a noisy base widens the band but not the budget", () => {
  const noisy = figures([85_000, 100_000, 115_000]);
  assert.equal(verdicts(noisy, figures([86_000])).split(" ")[0], "PASS");
  assert.equal(verdicts(noisy, figures([84_000])).split(" ")[0], "FAIL");
});

test("bytes: beyond half a percent WARN, beyond the budget FAIL", () => {
  const head = (int: number): string => verdicts(steady, figures([100_000], int));
  assert.equal(head(40.2), "PASS PASS PASS PASS PASS");
  assert.equal(head(40.3), "PASS WARN PASS PASS WARN");
  assert.equal(head(42), "PASS WARN PASS PASS WARN");
  assert.equal(head(42.1), "PASS FAIL PASS PASS FAIL");
});

test("without a base everything is WARN, never PASS", () => {
  assert.equal(verdicts(undefined, steady), "WARN WARN WARN WARN WARN");
  const cells = compareGate(undefined, steady, budgets).map(gateCells);
  assert.deepEqual(cells[0], [
    "qps_median (peak)",
    "none",
    "100,000",
    "none",
    "+/-5.00%",
    "drop <= 15.00%",
    "WARN",
  ]);
});

test("a missing or non-numeric figure on either side is an error, not a verdict", () => {
  for (const bad of [[], [Number.NaN], [100_000, Number.NaN, 100_000], [0], [-1], ["9" as never]]) {
    assert.throws(() => compareGate(steady, figures(bad), budgets), MissingFigure);
    assert.throws(() => compareGate(figures(bad), steady, budgets), MissingFigure);
  }
  const { bytes_per_key_raw: _, ...short } = steady;
  assert.throws(() => compareGate(steady, short as GateFigures, budgets), MissingFigure);
  assert.throws(() => overall([]), MissingFigure);
});

test("the printed row has base, head, change, band, budget and verdict", () => {
  const rows = compareGate(steady, figures([94_000], 40.1), budgets).map(gateCells);
  assert.deepEqual(rows.slice(0, 2), [
    ["qps_median (peak)", "100,000", "94,000", "-6.00%", "+/-5.00%", "drop <= 15.00%", "WARN"],
    ["bytes_per_key int", "40.0", "40.1", "+0.25%", "+/-0.50%", "rise <= 5.00%", "PASS"],
  ]);
});

test("budgets without a reason, out of range, missing or unknown are refused", () => {
  const good = JSON.parse(JSON.stringify(rawBudgets())) as Record<string, object>;
  const broken: unknown[] = [
    [],
    null,
    { ...good, qps_median: undefined },
    { ...good, p99: { rise: 0.1, reason: "a metric that is not judged" } },
    { ...good, qps_median: { drop: 0.15 } },
    { ...good, qps_median: { drop: 0.15, reason: "short" } },
    { ...good, qps_median: { rise: 0.15, reason: "the wrong direction" } },
    { ...good, qps_median: { drop: 15, reason: "percent instead of a fraction" } },
    { ...good, qps_median: { drop: "0.15", reason: "text instead of a number" } },
  ];
  for (const one of broken) {
    assert.throws(() => parseBudgets(JSON.stringify(one)), UsageError, JSON.stringify(one));
  }
  assert.throws(() => parseBudgets("{"), UsageError);
});

test("a budget may change only together with its reason", () => {
  const wider = { limit: 0.2, reason: budgets.qps_median.reason };
  assert.throws(() => assertReasoned(budgets, { ...budgets, qps_median: wider }), UsageError);
  const explained = { limit: 0.2, reason: "records carry a checksum now" };
  assertReasoned(budgets, { ...budgets, qps_median: explained });
  assertReasoned(budgets, budgets);
});

function rawBudgets(): object {
  return {
    qps_median: { drop: 0.15, reason: "room for a shared machine" },
    bytes_per_key_int: { rise: 0.05, reason: "counted, not timed" },
    bytes_per_key_embstr: { rise: 0.05, reason: "counted, not timed" },
    bytes_per_key_raw: { rise: 0.05, reason: "counted, not timed" },
  };
}
