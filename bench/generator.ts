/**
 * The own load generator: plans, starts its processes (`generator-process.ts`) and adds up their
 * results. Cheaper per request than redis-benchmark, exact percentiles, and able to send to every
 * shard-owner port only keys that the port owns.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Histogram, type HistogramData } from "./histogram.ts";
import type { BenchCommand } from "./options.ts";
import { trackChild } from "./server.ts";
import { figure } from "./stats.ts";

export interface GeneratorPlan {
  /** Connection i goes to port i modulo their number. */
  readonly ports: readonly number[];
  /** 0: any key on any connection. N: connection i uses only keys of owner i mod N. */
  readonly owners: number;
  readonly command: BenchCommand;
  readonly pipeline: number;
  readonly valueBytes: number;
  readonly keys: number;
  readonly connections: number;
  readonly firstConnection: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  readonly requestsMax: number;
  readonly seed: number;
}

export interface GeneratorResult {
  /** All requests, warm-up included. */
  readonly answered: number;
  /** Requests of the measured part, and how long it was. */
  readonly measured: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly histogram: HistogramData;
}

export interface Load {
  readonly answered: number;
  readonly perSecond: number;
  readonly generatorCpuSeconds: number;
  readonly histogram: Histogram;
}

export const GENERATOR_REQUESTS_MAX = 500_000_000;

function runProcess(plan: GeneratorPlan, cores: string | undefined): Promise<GeneratorResult> {
  const suffix = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  const script = fileURLToPath(new URL(`./generator-process${suffix}`, import.meta.url));
  const command = [process.execPath, script, JSON.stringify(plan)];
  const full = cores === undefined ? command : ["taskset", "-c", cores, ...command];
  return new Promise((resolve, reject) => {
    const child = execFile(
      full[0] as string,
      full.slice(1),
      { maxBuffer: 1 << 26 },
      (error, stdout, stderr) => {
        if (error !== null) reject(new Error(`load generator: ${stderr.trim() || error.message}`));
        else resolve(JSON.parse(stdout) as GeneratorResult);
      },
    );
    trackChild(child);
  });
}

/** Runs `processes` generator processes over the plan's connections at the same time. */
export async function generate(
  plan: GeneratorPlan,
  cores: string | undefined,
  processes = 1,
): Promise<Load> {
  const runs: Promise<GeneratorResult>[] = [];
  const count = Math.min(processes, plan.connections);
  for (let i = 0; i < count; i++) {
    const from = Math.floor((plan.connections * i) / count);
    const to = Math.floor((plan.connections * (i + 1)) / count);
    const part = { connections: to - from, firstConnection: plan.firstConnection + from };
    const requestsMax = Math.ceil(plan.requestsMax / count);
    runs.push(runProcess({ ...plan, ...part, requestsMax, seed: plan.seed + i * 104_729 }, cores));
  }
  const results = await Promise.all(runs);
  const histogram = new Histogram();
  let perSecond = 0;
  let answered = 0;
  let generatorCpuSeconds = 0;
  for (const result of results) {
    histogram.add(result.histogram);
    perSecond += figure("generator rate", result.measured / result.seconds);
    answered += result.answered;
    generatorCpuSeconds += result.cpuSeconds;
  }
  return { answered, perSecond, generatorCpuSeconds, histogram };
}
