/**
 * Runs units of Valkey's suite with its own runner.
 *
 * A case that hangs ends the whole runner. It is run again without that case, which counts as
 * failed, so that the ones behind it are executed too.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { ServerName, SuiteOptions } from "./options.ts";
import { parseOutput, type UnitOutput } from "./output.ts";
import { startServer } from "./servers.ts";

/** Runs of one unit, each without the cases that hung before. */
const RUNS_MAX = 8;
/** Beyond the runner's own limit for a single case. */
const GRACE_SECONDS = 30;
const UNIT_SECONDS_MAX = 1200;
const TEST_CLIENTS = 2;
/** Each run has ports of its own, so that two do not meet. */
const PORTS = 400;
const BASE_PORT: number = 20_000 + (process.pid % 25) * (PORTS + 100);

export type UnitResult = UnitOutput & {
  unit: string;
  seconds: number;
  /** Cases that hung; they are among `cases`, failed. */
  hungCases: string[];
};

export type UnitRun = {
  checkout: string;
  unit: string;
  server: ServerName;
  options: SuiteOptions;
  /** Names and patterns of cases that are left out. */
  skip: readonly string[];
};

export async function runUnit(run: UnitRun): Promise<UnitResult> {
  const began = Date.now();
  const hungCases: string[] = [];
  for (let turn = 1; ; turn++) {
    const output = await runOnce(run, [...run.skip, ...hungCases], turn);
    if (output.hung !== null && turn < RUNS_MAX && !hungCases.includes(output.hung)) {
      hungCases.push(output.hung);
      continue;
    }
    const skipped = output.skipped.filter((name) => !hungCases.includes(name));
    const detail = `no result in ${run.options.timeoutSeconds} s`;
    const cases = [...output.cases, ...hungCases.map((name) => ({ name, passed: false, detail }))];
    const seconds = (Date.now() - began) / 1000;
    return { ...output, cases, skipped, unit: run.unit, seconds, hungCases };
  }
}

async function runOnce(run: UnitRun, skip: readonly string[], turn: number): Promise<UnitOutput> {
  const { checkout, unit, server, options } = run;
  const skipFile = path.join(checkout, "tests", "tmp", "skip.txt");
  writeFileSync(skipFile, skip.map((name) => `${name}\n`).join(""));
  const words = ["--durable", "--single", unit, "--skipfile", skipFile];
  words.push("--timeout", String(options.timeoutSeconds));
  words.push("--baseport", String(BASE_PORT), "--portcount", String(PORTS));
  for (const name of options.only) words.push("--only", name);
  let text: string;
  let ended: string | null = null;
  if (options.mode === "external") {
    const running = await startServer(server, options.threads);
    words.push("--host", "127.0.0.1", "--port", String(running.port));
    text = await runTcl(checkout, words);
    ended = running.ended();
    await running.stop();
  } else {
    words.push("--clients", String(TEST_CLIENTS), "--dump-logs");
    text = await runTcl(checkout, words);
  }
  if (options.logs !== null) {
    const name = `${unit.replaceAll("/", "-")}.${server}.${options.mode}.${turn}.log`;
    writeFileSync(path.join(options.logs, name), text, "latin1");
  }
  const output = parseOutput(text);
  if (ended !== null) output.aborted = ended;
  return output;
}

/** Output of the runner. It is ended when it takes far longer than it allows itself. */
function runTcl(checkout: string, words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("tclsh", ["tests/test_helper.tcl", ...words], {
      cwd: checkout,
      // Without a terminal's name the runner prints no colours.
      env: { ...process.env, TERM: "dumb" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    const end = (): void => {
      // The runner's clients and servers are in its process group.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    };
    const timer = setTimeout(end, (UNIT_SECONDS_MAX + GRACE_SECONDS) * 1000);
    child.on("error", (error) => reject(new Error(`tclsh: ${error.message}`)));
    child.on("close", () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}
