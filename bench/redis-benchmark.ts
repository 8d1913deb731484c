/**
 * Runs redis-benchmark 7.0 and reads its CSV.
 *
 * One test per run: with `--cluster` several tests in one run skew the keys. Its rate is its own
 * clock's; with `--threads` that clock ticks in quarters of a second, so short runs with several
 * threads say little. It asks for CONFIG GET save and appendonly on connecting and only warns when
 * that fails. Keys are `key:` (INCR: `counter:`) and 12 digits, with `--cluster` a slot tag between.
 */
import { execFile } from "node:child_process";
import type { BenchCommand } from "./options.ts";
import { trackChild } from "./server.ts";
import { figure, MissingFigure } from "./stats.ts";

export interface RedisBenchmarkPlan {
  readonly port: number;
  readonly command: Exclude<BenchCommand, "MIX">;
  readonly requests: number;
  readonly pipeline: number;
  readonly connections: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly cluster: boolean;
  /** 0 is redis-benchmark's single-threaded mode. */
  readonly threads: number;
  readonly cores: string | undefined;
}

export interface RedisBenchmarkResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export function redisBenchmarkArgs(plan: RedisBenchmarkPlan): string[] {
  const args = ["-h", "127.0.0.1", "-p", String(plan.port), "-t", plan.command.toLowerCase()];
  args.push("-n", String(plan.requests), "-P", String(plan.pipeline));
  args.push("-c", String(plan.connections), "-r", String(plan.keys));
  args.push("-d", String(plan.valueBytes), "--csv");
  if (plan.cluster) args.push("--cluster");
  if (plan.threads > 0) args.push("--threads", String(plan.threads));
  return args;
}

/** `"SET","925925.88",...` rows by the test's name, their columns by the header's. */
function parseCsv(text: string): Map<string, Map<string, string>> {
  const tests = new Map<string, Map<string, string>>();
  let header: string[] | undefined;
  for (const line of text.split(/[\r\n]+/)) {
    if (!line.startsWith('"')) continue;
    const cells = line.slice(1, -1).split('","');
    if (header === undefined) header = cells;
    else {
      const columns = header;
      tests.set(cells[0] as string, new Map(cells.map((cell, i) => [columns[i] ?? "", cell])));
    }
  }
  return tests;
}

export function readResult(command: string, stdout: string): RedisBenchmarkResult {
  const name = command === "MSET" ? "MSET (10 keys)" : command;
  const row = parseCsv(stdout).get(name);
  if (row === undefined) throw new MissingFigure(`redis-benchmark printed no ${name} line`);
  const read = (column: string): number => figure(`${name} ${column}`, row.get(column));
  return {
    perSecond: read("rps"),
    p50Ms: read("p50_latency_ms"),
    p99Ms: read("p99_latency_ms"),
  };
}

export function runRedisBenchmark(plan: RedisBenchmarkPlan): Promise<RedisBenchmarkResult> {
  const command = ["redis-benchmark", ...redisBenchmarkArgs(plan)];
  const full = plan.cores === undefined ? command : ["taskset", "-c", plan.cores, ...command];
  return new Promise((resolve, reject) => {
    const limits = { timeout: 600_000, killSignal: "SIGKILL" as const, maxBuffer: 1 << 26 };
    const child = execFile(full[0] as string, full.slice(1), limits, (error, stdout, stderr) => {
      if (error !== null) {
        const words = `${stdout}\n${stderr}`.trim().slice(-500);
        reject(new Error(`${full.join(" ")}: ${words || error.message}`));
        return;
      }
      try {
        resolve(readResult(plan.command, stdout));
      } catch (missing) {
        reject(missing);
      }
    });
    trackChild(child);
  });
}
