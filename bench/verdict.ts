/**
 * Verdicts on the promised figures. A target is passed, short by a stated share of its bound, or
 * not measured with the reason; there is no fourth, and a missing figure is never a pass.
 */
import { MissingFigure } from "./stats.ts";
import { formatNumber } from "./table.ts";

export interface Bound {
  readonly direction: "at most" | "at least";
  readonly bound: number;
  /** Better than the bound; missing it is no shortfall. */
  readonly goal?: number;
  readonly unit: string;
}

export type Outcome =
  | { readonly kind: "figure"; readonly value: number; readonly detail: string }
  | { readonly kind: "missing"; readonly reason: string };

export interface Verdict {
  readonly kind: "pass" | "short" | "missing";
  readonly text: string;
}

function meets(value: number, direction: Bound["direction"], bound: number): boolean {
  return direction === "at most" ? value <= bound : value >= bound;
}

export function judge(target: Bound, outcome: Outcome): Verdict {
  if (outcome.kind === "missing") {
    return { kind: "missing", text: `not measured: ${outcome.reason}` };
  }
  const { value } = outcome;
  if (!Number.isFinite(value)) throw new MissingFigure(`a target's figure is ${value}`);
  const { direction, bound, goal, unit } = target;
  if (!meets(value, direction, bound)) {
    const gap = Math.abs(value - bound);
    const share = ((gap / Math.abs(bound)) * 100).toFixed(1);
    return { kind: "short", text: `short by ${formatNumber(gap)}${unit} (${share}%)` };
  }
  if (goal === undefined) return { kind: "pass", text: "pass" };
  return { kind: "pass", text: meets(value, direction, goal) ? "pass, goal met" : "pass" };
}

/** 0 when all passed, 3 when a figure is missing, else 1. */
export function exitCodeOf(verdicts: readonly Verdict[]): number {
  if (verdicts.some((verdict) => verdict.kind === "missing")) return 3;
  return verdicts.some((verdict) => verdict.kind === "short") ? 1 : 0;
}
