/**
 * Runs Valkey's own test suite against us and against redis-server and compares the two:
 *
 *   npm run suite -- --valkey DIR [--unit unit/type/string]... [--server zerohop] [--threads n]
 *
 * Exit codes: 0 every case that redis-server passes passes here or has a reason, and all reasons
 * are true; 1 if not; 2 usage.
 */
import { mkdirSync } from "node:fs";
import { repositoryRoot } from "../support/environment.ts";
import { removeFolder } from "../support/ports.ts";
import { copyCheckout } from "./checkout.ts";
import { compare, comparisonText, unitTable } from "./compare.ts";
import { HELP, parseOptions, type ServerName, type SuiteOptions, UsageError } from "./options.ts";
import { loadReasons, type Reasons, reasonsOf, skippedNames } from "./reasons.ts";
import { runUnit, type UnitResult } from "./run-unit.ts";
import { writeStandIn } from "./servers.ts";

function print(text: string): void {
  process.stdout.write(text);
}

async function runServer(
  server: ServerName,
  options: SuiteOptions,
  reasons: Reasons,
): Promise<UnitResult[]> {
  const checkout = copyCheckout(options.valkey);
  const results: UnitResult[] = [];
  try {
    if (options.mode === "normal") await writeStandIn(checkout, server, options.threads);
    for (const unit of options.units) {
      const skip = server === "zerohop" ? skippedNames(reasons, unit) : [];
      const result = await runUnit({ checkout, unit, server, options, skip });
      const passed = result.cases.filter((one) => one.passed).length;
      print(`${server} ${unit}: ${passed} of ${result.cases.length} passed\n`);
      results.push(result);
    }
  } finally {
    removeFolder(checkout);
  }
  return results;
}

/** Runs what `args` ask for and returns the exit code. */
async function run(args: readonly string[]): Promise<number> {
  if (args.length === 0 || args[0] === "--help") {
    print(HELP);
    return args.length === 0 ? 2 : 0;
  }
  const options = parseOptions(args);
  if (options.logs !== null) mkdirSync(options.logs, { recursive: true });
  const reasons = reasonsOf(loadReasons(repositoryRoot), options.mode);
  const results: [ServerName, UnitResult[]][] = [];
  for (const server of options.servers) {
    results.push([server, await runServer(server, options, reasons)]);
  }
  print(`\n${unitTable(results)}\n`);
  const [redis, ours] = ["redis-server", "zerohop"].map(
    (name) => results.find(([server]) => server === name)?.[1],
  );
  if (redis === undefined || ours === undefined) return 0;
  const comparison = compare(redis, ours, reasons);
  // Of cases that were left out nothing is known.
  if (options.only.length > 0) comparison.stale = comparison.unused = [];
  print(comparisonText(comparison));
  const isExplained = comparison.missing.every(({ reason }) => reason !== undefined);
  return isExplained && comparison.stale.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`suite: ${error.message}\n${HELP}`);
  process.exitCode = 2;
}
