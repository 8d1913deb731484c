/**
 * The verdicts of the performance gate: head against the merge-base, metric by metric.
 *
 *   qps_median      band = max(spread of base, 5%). A drop beyond the band is WARN, beyond the
 *                   budget FAIL, whatever the band.
 *   bytes_per_key   band = 0.5%. A rise beyond it is WARN, beyond the budget FAIL.
 *
 * Without a base everything is WARN: nothing was compared, so nothing passed. A figure that is
 * missing or not a number throws `MissingFigure`; no such value ever reaches a comparison.
 */
import { UsageError } from "./options.ts";
import { figure, MissingFigure, summarize } from "./stats.ts";
import { formatNumber, formatPercent } from "./table.ts";

const QPS_METRIC = "qps_median";
export const BYTES_METRICS = [
  "bytes_per_key_int",
  "bytes_per_key_embstr",
  "bytes_per_key_raw",
] as const;
export type Metric = typeof QPS_METRIC | (typeof BYTES_METRICS)[number];
const METRICS: readonly Metric[] = [QPS_METRIC, ...BYTES_METRICS];

const QPS_BAND_FLOOR = 0.05;
const BYTES_BAND = 0.005;
/** Keeps a change of exactly the budget inside it in binary arithmetic. */
const ROUNDING = 1e-9;

/** All repetitions of every metric, as measured. */
export type GateFigures = Readonly<Record<Metric, readonly number[]>>;

export interface Budget {
  /** The worst change allowed, as a fraction of base. */
  readonly limit: number;
  readonly reason: string;
}

export type Budgets = Readonly<Record<Metric, Budget>>;

export type GateVerdict = "PASS" | "WARN" | "FAIL";

export interface GateRow {
  readonly metric: Metric;
  readonly base: number | undefined;
  readonly head: number;
  /** (head - base) / base; undefined without a base. */
  readonly delta: number | undefined;
  readonly band: number;
  readonly budget: number;
  readonly verdict: GateVerdict;
}

/** In which direction a metric gets worse, and the name of its budget. */
function budgetWord(metric: Metric): "drop" | "rise" {
  return metric === QPS_METRIC ? "drop" : "rise";
}

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${what} is not an object`);
  }
  return value as Record<string, unknown>;
}

/** Reads bench/budgets.json: every metric, nothing else, each with a limit and a reason. */
export function parseBudgets(text: string): Budgets {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`budgets: ${(error as Error).message}`);
  }
  const all = record(parsed, "budgets");
  for (const name of Object.keys(all)) {
    if (!METRICS.some((metric) => metric === name)) {
      throw new UsageError(`budgets: there is no metric '${name}'`);
    }
  }
  const read = (metric: Metric): Budget => {
    const one = record(all[metric], `budgets: ${metric}`);
    const word = budgetWord(metric);
    const extra = Object.keys(one).find((key) => key !== word && key !== "reason");
    if (extra !== undefined) throw new UsageError(`budgets: ${metric} has no '${extra}'`);
    const limit = one[word];
    if (typeof limit !== "number" || !(limit > 0 && limit < 1)) {
      throw new UsageError(`budgets: ${metric}: ${word} must be a fraction between 0 and 1`);
    }
    const { reason } = one;
    if (typeof reason !== "string" || reason.trim().length < 10) {
      throw new UsageError(`budgets: ${metric} needs a reason`);
    }
    return { limit, reason: reason.trim() };
  };
  return {
    qps_median: read("qps_median"),
    bytes_per_key_int: read("bytes_per_key_int"),
    bytes_per_key_embstr: read("bytes_per_key_embstr"),
    bytes_per_key_raw: read("bytes_per_key_raw"),
  };
}

/** A budget that changed must say why anew. */
export function assertReasoned(base: Budgets, head: Budgets): void {
  for (const metric of METRICS) {
    if (base[metric].limit !== head[metric].limit && base[metric].reason === head[metric].reason) {
      throw new UsageError(`budgets: ${metric} changed, its reason did not`);
    }
  }
}

function medianOf(side: string, metric: Metric, values: readonly number[] | undefined): number {
  if (values === undefined || values.length === 0) {
    throw new MissingFigure(`${side} ${metric}`);
  }
  for (const value of values) {
    // A text that looks like a number is none here: something upstream did not read it.
    if (typeof value !== "number") throw new MissingFigure(`${side} ${metric} is no number`);
    figure(`${side} ${metric}`, value);
  }
  const { median } = summarize(values);
  if (median <= 0) throw new MissingFigure(`${side} ${metric} is ${median}`);
  return median;
}

function judge(worse: number, band: number, budget: number): GateVerdict {
  if (worse > budget + ROUNDING) return "FAIL";
  return worse > band + ROUNDING ? "WARN" : "PASS";
}

function compareMetric(
  metric: Metric,
  base: readonly number[] | undefined,
  head: readonly number[] | undefined,
  budget: number,
): GateRow {
  const headMedian = medianOf("head", metric, head);
  const isQps = metric === QPS_METRIC;
  if (base === undefined) {
    const band = isQps ? QPS_BAND_FLOOR : BYTES_BAND;
    const none = { base: undefined, delta: undefined };
    return { metric, head: headMedian, ...none, band, budget, verdict: "WARN" };
  }
  const baseMedian = medianOf("base", metric, base);
  const delta = (headMedian - baseMedian) / baseMedian;
  const band = isQps ? Math.max(summarize(base).spread, QPS_BAND_FLOOR) : BYTES_BAND;
  const verdict = judge(isQps ? -delta : delta, band, budget);
  return { metric, base: baseMedian, head: headMedian, delta, band, budget, verdict };
}

/** One row per metric; `base` undefined means there is none. */
export function compareGate(
  base: GateFigures | undefined,
  head: GateFigures,
  budgets: Budgets,
): GateRow[] {
  return METRICS.map((metric) =>
    compareMetric(metric, base?.[metric], head[metric], budgets[metric].limit),
  );
}

/** The worst verdict of all rows; of no rows there is none. */
export function overall(rows: readonly GateRow[]): GateVerdict {
  if (rows.length !== METRICS.length) throw new MissingFigure("a metric has no verdict");
  if (rows.some((row) => row.verdict === "FAIL")) return "FAIL";
  return rows.some((row) => row.verdict === "WARN") ? "WARN" : "PASS";
}

export const GATE_COLUMNS: readonly string[] = [
  "metric",
  "base",
  "head",
  "delta %",
  "band",
  "budget",
  "verdict",
];

export function gateCells(row: GateRow): string[] {
  const sign = row.delta !== undefined && row.delta >= 0 ? "+" : "";
  return [
    row.metric === QPS_METRIC ? "qps_median (peak)" : row.metric.replace("_key_", "_key "),
    row.base === undefined ? "none" : formatNumber(row.base),
    formatNumber(row.head),
    row.delta === undefined ? "none" : sign + formatPercent(row.delta),
    `+/-${formatPercent(row.band)}`,
    `${budgetWord(row.metric)} <= ${formatPercent(row.budget)}`,
    row.verdict,
  ];
}
