/**
 * The bench's command line: one row with its options, all rows tiny, a list, or the targets.
 *
 *   npm run bench -- cpu --pin --keys 1m      npm run bench -- --smoke [row ...] [options]
 *   npm run bench -- --list                   npm run bench -- targets [--only NAME,...]
 *
 * Exit codes: 0 done, 1 a target fell short or a run failed, 2 usage, 3 a figure is missing.
 */
import { loadavg } from "node:os";
import { EXIT_USAGE, failure } from "./exit.ts";
import { DEFAULTS, OPTION_HELP, parseOptions, SMOKE, UsageError } from "./options.ts";
import type { Row } from "./row.ts";
import { ROWS } from "./rows.ts";
import { formatTable } from "./table.ts";
import { runTargets } from "./targets.ts";

function print(text: string): void {
  process.stdout.write(text);
}

function listRows(): void {
  for (const row of ROWS) print(`${row.name.padEnd(10)} ${row.summary}\n`);
  print(`${"targets".padEnd(10)} the figures this project promises, each with its verdict\n`);
  print(`\noptions:\n${OPTION_HELP.map((line) => `  ${line}\n`).join("")}`);
}

function findRow(name: string): Row {
  const row = ROWS.find((one) => one.name === name);
  if (row === undefined) {
    const names = ROWS.map((one) => one.name).join(", ");
    throw new UsageError(`no row '${name}'; there are ${names}`);
  }
  return row;
}

/** The machine's state belongs to every figure: a busy neighbour decides more than the code. */
function printMachine(): void {
  const load = loadavg()[0] ?? 0;
  print(`Node ${process.version}, load average ${load.toFixed(2)}\n\n`);
}

async function runRow(row: Row, args: readonly string[]): Promise<void> {
  const options = parseOptions(args, { ...DEFAULTS, ...row.defaults });
  print(`${formatTable(await row.run(options))}\n`);
}

/** Splits leading row names from the options behind them. */
function splitNames(args: readonly string[]): { names: string[]; rest: string[] } {
  const firstOption = args.findIndex((argument) => argument.startsWith("--"));
  const end = firstOption < 0 ? args.length : firstOption;
  return { names: args.slice(0, end), rest: args.slice(end) };
}

async function runSmoke(args: readonly string[]): Promise<void> {
  const { names, rest } = splitNames(args);
  const rows = names.length === 0 ? ROWS : names.map(findRow);
  for (const row of rows) {
    const generator = row.defaults.generator ?? SMOKE.generator;
    const threads = row.defaults.threads ?? SMOKE.threads;
    const options = parseOptions(rest, { ...SMOKE, generator, threads });
    print(`${formatTable(await row.run(options))}\n`);
  }
  print(`${rows.length} rows ran tiny: every figure above is meaningless.\n`);
}

/** Runs what `args` ask for and returns the exit code. */
async function run(args: readonly string[]): Promise<number> {
  if (args.length === 0 || args[0] === "--list" || args[0] === "--help") {
    listRows();
    return args.length === 0 ? EXIT_USAGE : 0;
  }
  if (process.platform !== "linux") throw new UsageError("the bench reads /proc: Linux only");
  printMachine();
  if (args[0] === "--smoke") {
    await runSmoke(args.slice(1));
    return 0;
  }
  if (args[0] === "targets") return runTargets(args.slice(1), print);
  const { names, rest } = splitNames(args);
  if (names.length === 0) throw new UsageError("which row? --list names them");
  const rows = names.map(findRow);
  for (const row of rows) await runRow(row, rest);
  return 0;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const { text, code } = failure(error);
  process.stderr.write(`bench: ${text}\n`);
  process.exit(code);
}
