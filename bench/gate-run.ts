/**
 * What the performance gate does: builds head and, in a worktree, the merge-base; has them measured
 * in turns, a fresh server each time; makes the table with a verdict per metric. Tails and CPU are
 * printed below, not judged.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Base, buildHead, withBase } from "./gate-base.ts";
import {
  assertReasoned,
  BYTES_METRICS,
  compareGate,
  GATE_COLUMNS,
  type GateFigures,
  type GateRow,
  gateCells,
  overall,
  parseBudgets,
} from "./gate-compare.ts";
import type { GateOptions } from "./gate-options.ts";
import { type Cell, loadKeys, measureOnce, withTargets } from "./measure.ts";
import { DEFAULTS, type PinPlan, pinPlan } from "./options.ts";
import { allowedCores } from "./process-stats.ts";
import { progress } from "./row.ts";
import { measureBytesPerKey } from "./rows/memory.ts";
import { findRoot, planServer, type ServerPlan, startServer } from "./server.ts";
import { alternate, figure, summarize } from "./stats.ts";
import { formatSummary, formatTable } from "./table.ts";
import { MODELS } from "./workload.ts";

/** 9 reads to 1 write of 128 bytes, pipelined so that the server is what gives out first. */
const GATE_CELL: Omit<Cell, "keys"> = {
  command: "MIX",
  pipeline: 16,
  valueBytes: 128,
  threads: 1,
  connections: 50,
};

const WARMUP_SECONDS_MAX = 1;

/** One repetition: figures that are judged, and figures that are only printed. */
export interface Repetition {
  readonly qps: number;
  readonly bytes: readonly number[];
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
}

export type Repeat = (plan: ServerPlan, options: GateOptions, pin: PinPlan) => Promise<Repetition>;

/** Measures a server for real. */
export async function repeat(
  plan: ServerPlan,
  options: GateOptions,
  pin: PinPlan,
): Promise<Repetition> {
  const cell: Cell = { ...GATE_CELL, keys: options.keys };
  const common = { generator: "own" as const, pairs: 1, pin };
  const warmup = Math.min(WARMUP_SECONDS_MAX, options.seconds / 2);
  const sample = await withTargets([plan], async ([only]) => {
    if (only === undefined) throw new Error("no server");
    await loadKeys(only, cell);
    await measureOnce(only, cell, { ...common, seconds: warmup }, 0, 1);
    return measureOnce(only, cell, { ...common, seconds: options.seconds }, 0, 2);
  });
  const bytes: number[] = [];
  for (const model of MODELS) {
    bytes.push((await measureBytesPerKey({ ...plan, cores: undefined }, model, options.keys)).used);
  }
  return {
    qps: sample.perSecond,
    bytes,
    cpuUs: sample.cpuNs / 1000,
    p50Ms: sample.p50Ms,
    p99Ms: sample.p99Ms,
    p999Ms: figure("p99.9", sample.p999Ms),
  };
}

function figuresOf(repetitions: readonly Repetition[]): GateFigures {
  const bytes = (index: number): number[] =>
    repetitions.map((one) => figure(BYTES_METRICS[index] as string, one.bytes[index]));
  return {
    qps_median: repetitions.map((one) => one.qps),
    bytes_per_key_int: bytes(0),
    bytes_per_key_embstr: bytes(1),
    bytes_per_key_raw: bytes(2),
  };
}

interface Measured {
  readonly base: readonly Repetition[] | undefined;
  readonly head: readonly Repetition[];
}

async function measureBoth(
  base: Base,
  entry: string,
  options: GateOptions,
  measure: Repeat,
): Promise<Measured> {
  const cores = allowedCores();
  const pin = pinPlan(cores, 1, cores.length > 1);
  const common = { ...DEFAULTS, node: options.node };
  const plan = (path: string): ServerPlan =>
    planServer({ ...common, entry: path }, "zerohop", 1, pin.server);
  const run = (name: string, path: string) => (round: number) => {
    progress(`gate: ${name}, repetition ${round + 1} of ${options.repetitions}`);
    return measure(plan(path), options, pin);
  };
  const head = run("head", entry);
  if (base.kind === "none") {
    const alone: Repetition[] = [];
    for (let i = 0; i < options.repetitions; i++) alone.push(await head(i));
    return { base: undefined, head: alone };
  }
  const both = await alternate(options.repetitions, run("base", base.entry), head);
  return { base: both.first, head: both.second };
}

/** A base whose server cannot be started is no base; later failures are failures. */
async function startable(base: Base, options: GateOptions): Promise<Base> {
  if (base.kind === "none") return base;
  const common = { ...DEFAULTS, node: options.node, entry: base.entry };
  try {
    await (await startServer(planServer(common, "zerohop", 1, undefined))).stop();
    return base;
  } catch (error) {
    return { kind: "none", reason: `it does not start: ${(error as Error).message.slice(0, 500)}` };
  }
}

const PRINTED: readonly { name: string; pick: (one: Repetition) => number }[] = [
  { name: "us of CPU per command", pick: (one) => one.cpuUs },
  { name: "p50 ms", pick: (one) => one.p50Ms },
  { name: "p99 ms", pick: (one) => one.p99Ms },
  { name: "p99.9 ms", pick: (one) => one.p999Ms },
];

function report(base: Base, rows: readonly GateRow[], options: GateOptions): string {
  const notes = [`Overall: ${overall(rows)}`];
  if (base.kind === "none") notes.push(`No base: ${base.reason}`);
  notes.push(
    "qps: 9 GET to 1 SET of 128 bytes, pipeline 16, closed loop, medians. The band is base's spread.",
    "A budget is raised in bench/budgets.json together with its reason.",
  );
  const name = base.kind === "none" ? "none" : base.commit.slice(0, 12);
  return formatTable({
    title: `perf gate: base ${name}, ${options.repetitions} repetitions, ${options.keys} keys`,
    columns: GATE_COLUMNS,
    rows: rows.map(gateCells),
    notes,
  });
}

function printedOnly(measured: Measured): string {
  const side = (
    of: readonly Repetition[] | undefined,
    pick: (one: Repetition) => number,
  ): string => (of === undefined ? "none" : formatSummary(summarize(of.map(pick))));
  return formatTable({
    title: "printed, not judged",
    columns: ["metric", "base", "head"],
    rows: PRINTED.map(({ name, pick }) => [
      name,
      side(measured.base, pick),
      side(measured.head, pick),
    ]),
    notes: [],
  });
}

/** The tables, and whether a budget is exceeded. `measure` is what a repetition is. */
export async function runGate(
  options: GateOptions,
  measure: Repeat,
): Promise<{ readonly text: string; readonly isFail: boolean }> {
  const root = options.repository ?? findRoot();
  const budgets = parseBudgets(readFileSync(join(root, "bench", "budgets.json"), "utf8"));
  return withBase(root, options.base, async (built) => {
    if (built.kind === "built" && built.budgets !== undefined) {
      assertReasoned(parseBudgets(built.budgets), budgets);
    }
    const entry = buildHead(root);
    const base = await startable(built, options);
    const measured = await measureBoth(base, entry, options, measure);
    const baseFigures = measured.base === undefined ? undefined : figuresOf(measured.base);
    const rows = compareGate(baseFigures, figuresOf(measured.head), budgets);
    const text = `${report(base, rows, options)}\n${printedOnly(measured)}`;
    return { text, isFail: overall(rows) === "FAIL" };
  });
}
