/**
 * Which cases redis-server passes and we do not, each with its reason or without one, and the
 * tables that the suite prints.
 */
import { CATEGORIES, matchesName, type Reason, type Reasons, reasonFor } from "./reasons.ts";
import type { UnitResult } from "./run-unit.ts";

export type Missing = { unit: string; name: string; detail: string; reason: Reason | undefined };

export type Comparison = {
  missing: Missing[];
  /** Cases that pass here and not there. */
  ahead: { unit: string; name: string }[];
  /** Cases with a reason of their own that passed here, and reasons for cases that there are not. */
  stale: string[];
  /** Reasons of cases that neither server passed. */
  unused: string[];
};

/** How often each name passed, and what the first failure of the name said. */
type Tally = Map<string, { passed: number; detail: string }>;

function tally(result: UnitResult): Tally {
  const names: Tally = new Map();
  for (const { name, passed, detail } of result.cases) {
    const entry = names.get(name) ?? { passed: 0, detail: "" };
    if (passed) entry.passed++;
    else if (entry.detail === "") entry.detail = detail;
    names.set(name, entry);
  }
  return names;
}

export function compare(
  redis: readonly UnitResult[],
  ours: readonly UnitResult[],
  reasons: Reasons,
): Comparison {
  const result: Comparison = { missing: [], ahead: [], stale: [], unused: [] };
  for (const theirs of redis) {
    const own = ours.find(({ unit }) => unit === theirs.unit);
    if (own === undefined) continue;
    const known = tally(own);
    const there = tally(theirs);
    const before: string[] = [];
    for (const [name, { passed }] of there) {
      const entry = known.get(name);
      if (passed > (entry?.passed ?? 0)) {
        const detail = entry?.detail ?? whyNotRun(own, name, before);
        const reason = reasonFor(reasons, theirs.unit, name, detail);
        result.missing.push({ unit: theirs.unit, name, detail, reason });
      }
      before.push(name);
    }
    for (const [name, { passed }] of known) {
      if (passed > (there.get(name)?.passed ?? 0)) result.ahead.push({ unit: own.unit, name });
    }
    judgeReasons(reasons, own.unit, there, known, result);
  }
  return result;
}

/** Sorts out the reasons of a unit's own cases that do not hold, and those not needed. */
function judgeReasons(
  reasons: Reasons,
  unit: string,
  theirs: Tally,
  ours: Tally,
  result: Comparison,
): void {
  const names = [...new Set([...theirs.keys(), ...ours.keys()])];
  for (const one of reasons.cases) {
    if (one.unit !== unit) continue;
    const meant = names.filter((name) => matchesName(one.case, name));
    if (meant.length === 0) result.stale.push(`${unit}: ${one.case}: there is no such case`);
    let isNeeded = false;
    for (const name of meant) {
      const [there, here] = [theirs.get(name)?.passed ?? 0, ours.get(name)?.passed ?? 0];
      if (there > here) isNeeded = true;
      else if (here > 0) result.stale.push(`${unit}: ${name}: it passes`);
    }
    if (meant.length > 0 && !isNeeded) result.unused.push(`${unit}: ${one.case}`);
  }
}

/** `before` are the cases in front of it, of which the last was followed by what stopped us. */
function whyNotRun(own: UnitResult, name: string, before: readonly string[]): string {
  if (own.skipped.includes(name)) return "not run: it was skipped";
  const last = own.broken.findLast(({ after }) => before.some((one) => after === `"${one}"`));
  if (last !== undefined) return `not run: after ${last.after} came ${last.detail}`;
  return `not run: ${own.aborted ?? "nobody knows why"}`;
}

const HEADER: readonly string[] = [
  "unit",
  "server",
  "executed",
  "passed",
  "failed",
  "skipped",
  "kept out by tags",
  "seconds",
  "aborted at",
];

/** One row per unit and server, and a sum per server. */
export function unitTable(results: readonly (readonly [string, readonly UnitResult[]])[]): string {
  const rows: string[][] = [[...HEADER]];
  const count = results[0]?.[1].length ?? 0;
  for (let i = 0; i < count; i++) {
    for (const [server, units] of results) {
      const result = units[i];
      if (result !== undefined)
        rows.push([result.unit, server, ...figures([result]), stop(result)]);
    }
  }
  for (const [server, units] of results) rows.push(["all", server, ...figures(units), ""]);
  return formatRows(rows);
}

function figures(results: readonly UnitResult[]): string[] {
  const sum = (of: (result: UnitResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const executed = sum(({ cases }) => cases.length);
  const passed = sum(({ cases }) => cases.filter((one) => one.passed).length);
  return [
    executed,
    passed,
    executed - passed,
    sum(({ skipped }) => skipped.length),
    sum(({ ignored }) => ignored.length),
    Math.round(sum(({ seconds }) => seconds)),
  ].map(String);
}

function stop({ aborted, broken }: UnitResult): string {
  const blocks = broken.map(({ after }) => `a block after ${after}`);
  return [...(aborted === null ? [] : [aborted.split("\n")[0] ?? ""]), ...blocks].join("; ");
}

function formatRows(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) =>
    Math.max(...rows.map((row) => (row[i] ?? "").length)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

export function comparisonText({ missing, ahead, stale, unused }: Comparison): string {
  const lines: string[] = [];
  const open = missing.filter(({ reason }) => reason === undefined);
  const explained = missing.length - open.length;
  lines.push(`${missing.length} cases that redis-server passes do not pass here.`);
  lines.push(`${explained} have a reason:`);
  for (const category of Object.keys(CATEGORIES)) {
    const these = missing.filter(({ reason }) => reason?.category === category);
    if (these.length === 0) continue;
    lines.push(`  ${category} (${these.length}):`);
    for (const { unit, name, reason } of these)
      lines.push(`    ${unit}: ${name} - ${reason?.reason}`);
  }
  lines.push(`${open.length} have none:`);
  for (const { unit, name, detail } of open) {
    lines.push(`  ${unit}: ${name}`, ...detail.split("\n").map((line) => `      ${line}`));
  }
  lines.push(`${ahead.length} cases pass here and not there:`);
  for (const { unit, name } of ahead) lines.push(`  ${unit}: ${name}`);
  lines.push(`${unused.length} reasons are for cases that redis-server did not pass either:`);
  for (const one of unused) lines.push(`  ${one}`);
  lines.push(`${stale.length} reasons are not true:`);
  for (const one of stale) lines.push(`  ${one}`);
  return `${lines.join("\n")}\n`;
}
