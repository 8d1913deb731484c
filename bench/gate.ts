/**
 * The performance gate: `npm run bench:gate -- --base <rev>`. One line per metric with its verdict,
 * see `gate-run.ts`.
 *
 * Exit codes: 0 PASS or WARN, 1 FAIL or a run that broke, 2 usage, 3 a figure is missing or is no
 * number.
 */
import { EXIT_FAILED, failure } from "./exit.ts";
import { parseGateOptions } from "./gate-options.ts";
import { repeat, runGate } from "./gate-run.ts";

try {
  const { text, isFail } = await runGate(parseGateOptions(process.argv.slice(2)), repeat);
  process.stdout.write(text);
  if (isFail) process.exitCode = EXIT_FAILED;
} catch (error) {
  const { text, code } = failure(error);
  process.stderr.write(`gate: ${text}\n`);
  process.exit(code);
}
