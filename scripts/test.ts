/**
 * Runs the compiled tests with node:test, by the Node that runs this script.
 *
 *   npm test                            everything
 *   npm test -- src/memory test/clients only files whose path starts so
 *   npm test -- --verbose src/memory    every test by name
 *
 * The list comes from the sources, so the compiled form of a deleted test never runs. node:test
 * runs the files in the order of their names.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isLong } from "../test/support/environment.ts";
import { filesBelow } from "./files.ts";
import { FILE_TIMEOUT_MS } from "./test-limits.ts";

/**
 * The last resort, for a file in an endless loop. A line is printed when a file ends, and none may
 * take longer than this, however many there are.
 */
const SILENCE_MAX_MS = FILE_TIMEOUT_MS + 60_000;
/** Long forms take gigabytes and measure: one after another. */
const CONCURRENCY_MAX = isLong ? 1 : 4;
const FOLDERS: readonly string[] = ["test", "src", "sim", "bench", "scripts"];

const root = join(import.meta.dirname, "../..");

function fail(message: string): never {
  process.stderr.write(`test: ${message}\n`);
  process.exit(1);
}

function findTests(prefixes: readonly string[]): string[] {
  const tests: string[] = [];
  for (const folder of FOLDERS) {
    if (existsSync(join(root, folder))) {
      tests.push(...filesBelow(root, folder).filter((path) => path.endsWith(".test.ts")));
    }
  }
  for (const prefix of prefixes) {
    if (!tests.some((path) => path.startsWith(prefix))) {
      fail(`no test file starts with ${prefix}`);
    }
  }
  if (prefixes.length === 0) {
    return tests;
  }
  return tests.filter((path) => prefixes.some((prefix) => path.startsWith(prefix)));
}

function compiled(path: string): string {
  const target = join(root, "build", path.replace(/\.ts$/, ".js"));
  return existsSync(target) ? target : fail(`${path} is not compiled; run npx tsc`);
}

const options = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const prefixes = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = options.find((option) => option !== "--verbose");
if (unknown !== undefined) {
  fail(`unknown option ${unknown}; there is --verbose`);
}
const files = findTests(prefixes.map((prefix) => prefix.replace(/^\.\//, ""))).map(compiled);
if (files.length === 0) {
  fail("there are no test files");
}
const reporter = pathToFileURL(join(import.meta.dirname, "test-reporter.js")).href;
const fileWatchdog = pathToFileURL(join(import.meta.dirname, "test-watchdog.js")).href;
const runner = spawn(
  process.execPath,
  [
    "--enable-source-maps",
    "--expose-gc",
    `--import=${fileWatchdog}`,
    "--test",
    `--test-concurrency=${Math.min(availableParallelism(), CONCURRENCY_MAX)}`,
    `--test-timeout=${FILE_TIMEOUT_MS}`,
    `--test-reporter=${options.includes("--verbose") ? "spec" : reporter}`,
    "--test-reporter-destination=stdout",
    ...files,
  ],
  { cwd: root, stdio: ["inherit", "pipe", "inherit"] },
);
const watchdog = setTimeout(() => {
  process.stderr.write(`test: no file has ended for ${SILENCE_MAX_MS / 1000} s\n`);
  runner.kill("SIGTERM");
}, SILENCE_MAX_MS);
runner.stdout.on("data", (chunk: Buffer) => {
  watchdog.refresh();
  process.stdout.write(chunk);
});
runner.on("close", (code, signal) => {
  clearTimeout(watchdog);
  if (signal !== null) {
    process.stderr.write(`test: the runner was ended by ${signal}\n`);
  }
  process.exitCode = code ?? 1;
});
