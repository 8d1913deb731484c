/**
 * Why a case that redis-server passes does not pass here. `reasons.json` has two lists: `cases`
 * names a case of a unit, `errors` stands for all cases that end with a certain error. A case may
 * also be kept from running (`skip`), since it would stop the ones behind it.
 *
 * Names that begin with `/` are regular expressions, as in the runner's own lists.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Mode } from "./options.ts";

export const CATEGORIES = {
  "later type": "needs a type of value that is not there yet",
  scripting: "needs EVAL, FUNCTION or SCRIPT",
  transactions: "needs MULTI, EXEC or WATCH",
  "publish and subscribe": "needs channels, keyspace events or client tracking",
  users: "needs ACL or passwords",
  persistence: "needs snapshots or the append-only file",
  replication: "needs a replica, a replication stream or MIGRATE",
  cluster: "needs a cluster of processes",
  modules: "needs modules, which are C",
  "newer than 7.4": "shows what Redis 7.4 does not do",
  ours: "we do otherwise on purpose; docs/limits.md says so",
  leftovers: "an earlier case, which has a reason of its own, left keys or settings behind",
} as const;

export type Category = keyof typeof CATEGORIES;

export type CaseReason = {
  unit: string;
  case: string;
  category: Category;
  reason: string;
  skip?: true;
  /** The case is executed in this mode only, or needs a reason only there. */
  mode?: Mode;
};

export type ErrorReason = { error: string; category: Category; reason: string };

export type Reasons = { cases: readonly CaseReason[]; errors: readonly ErrorReason[] };

export type Reason = CaseReason | ErrorReason;

export function loadReasons(root: string): Reasons {
  const file = path.join(root, "test", "suite", "reasons.json");
  return checkReasons(JSON.parse(readFileSync(file, "utf8")));
}

/** Throws unless `value` has the form of reasons.json. */
export function checkReasons(value: unknown): Reasons {
  const { cases, errors } = value as { cases: unknown; errors: unknown };
  if (!Array.isArray(cases) || !Array.isArray(errors)) throw new Error("two lists: cases, errors");
  for (const one of cases)
    checkFields(one, ["unit", "case", "category", "reason"], ["skip", "mode"]);
  const names = cases.map((one) => `${one.unit}: ${one.case}`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new Error(`twice: ${twice}`);
  for (const one of errors) {
    checkFields(one, ["error", "category", "reason"], []);
    new RegExp(one.error);
  }
  return value as Reasons;
}

function checkFields(one: object, needed: readonly string[], optional: readonly string[]): void {
  const shown = JSON.stringify(one);
  for (const [name, value] of Object.entries(one)) {
    if (optional.includes(name) && (name === "mode" ? isMode(value) : value === true)) continue;
    if (!needed.includes(name)) throw new Error(`no field ${name}: ${shown}`);
    if (typeof value !== "string" || value === "") throw new Error(`${name} is no text: ${shown}`);
  }
  for (const name of needed) if (!(name in one)) throw new Error(`${name} is missing: ${shown}`);
  const { category } = one as { category: string };
  if (!(category in CATEGORIES)) throw new Error(`no category ${category}: ${shown}`);
}

function isMode(value: unknown): boolean {
  return value === "external" || value === "normal";
}

/** The reasons that count in a mode. */
export function reasonsOf(reasons: Reasons, mode: Mode): Reasons {
  return { ...reasons, cases: reasons.cases.filter((one) => (one.mode ?? mode) === mode) };
}

/** The reason for a case of a unit that failed with `detail`, or did not run. */
export function reasonFor(
  reasons: Reasons,
  unit: string,
  name: string,
  detail: string,
): Reason | undefined {
  return (
    reasons.cases.find((one) => one.unit === unit && matchesName(one.case, name)) ??
    reasons.errors.find((one) => new RegExp(one.error, "i").test(detail))
  );
}

export function matchesName(pattern: string, name: string): boolean {
  return pattern.startsWith("/") ? new RegExp(pattern.slice(1)).test(name) : pattern === name;
}

/** Names and patterns of the cases of a unit that are not to be run. */
export function skippedNames(reasons: Reasons, unit: string): string[] {
  return reasons.cases
    .filter((one) => one.unit === unit && one.skip === true)
    .map((one) => one.case);
}
