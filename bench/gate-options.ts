/** Options of the performance gate. Whatever is not understood is refused, never defaulted. */
import { parseCount, parseSeconds, UsageError } from "./options.ts";

export interface GateOptions {
  readonly base: string;
  readonly repetitions: number;
  readonly seconds: number;
  readonly keys: number;
  readonly node: string;
  /** The checkout to measure; undefined is the one this code belongs to. */
  readonly repository: string | undefined;
}

const KNOWN: readonly string[] = [
  "--base",
  "--repetitions",
  "--seconds",
  "--keys",
  "--node",
  "--repository",
];

export function parseGateOptions(args: readonly string[]): GateOptions {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i] as string;
    const value = args[i + 1];
    if (!KNOWN.includes(name)) throw new UsageError(`unknown option '${name}'`);
    if (value === undefined || value === "") throw new UsageError(`${name} needs a value`);
    if (given.has(name)) throw new UsageError(`${name} is given twice`);
    given.set(name, value);
  }
  const base = given.get("--base");
  if (base === undefined) throw new UsageError("--base <revision> is needed");
  if (base.startsWith("-")) throw new UsageError(`--base: '${base}' is no revision`);
  return {
    base,
    repetitions: parseCount("--repetitions", given.get("--repetitions") ?? "5", 1, 50),
    seconds: parseSeconds("--seconds", given.get("--seconds") ?? "2"),
    keys: parseCount("--keys", given.get("--keys") ?? "100k", 1000, 10_000_000),
    node: given.get("--node") ?? process.execPath,
    repository: given.get("--repository"),
  };
}
