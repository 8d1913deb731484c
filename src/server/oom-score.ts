/**
 * The directives `oom-score-adj` and `oom-score-adj-values`. What the score was before it is kept,
 * and comes back when the directive is switched off; while it is off the score is left alone.
 */
import type { OomScoreFile } from "../env/oom-score.ts";
import type { Change, Config } from "./config/config.ts";

const SCORE_MAX = 1000;

/** What went wrong, or the score from before that is to be remembered; null if there is none. */
export type OomScoreResult = { error: string } | { before: number | null };

function isScoreDirective({ name }: Change): boolean {
  return name === "oom-score-adj" || name === "oom-score-adj-values";
}

export function concernsOomScore(changes: readonly Change[]): boolean {
  return changes.some(isScoreDirective);
}

/**
 * Makes the score what the configuration says once `changes` are applied. `before` is the score
 * from before it was first set, null while it is not set.
 */
export function applyOomScore(
  file: OomScoreFile,
  config: Config,
  changes: readonly Change[],
  before: number | null,
): OomScoreResult {
  const text = (name: string): string =>
    changes.find((change) => change.name === name)?.text ?? config.text(name);
  const mode = text("oom-score-adj");
  if (mode === "no") {
    if (before === null) return { before };
    const error = file.write(before);
    return error === null ? { before: null } : { error };
  }
  const base = before ?? file.read();
  if (base === null) return { error: "there is no /proc/self/oom_score_adj" };
  const [ofMaster = 0] = text("oom-score-adj-values").split(" ").map(Number);
  const score = mode === "absolute" ? ofMaster : base + ofMaster;
  const error = file.write(Math.min(Math.max(score, -SCORE_MAX), SCORE_MAX));
  return error === null ? { before: base } : { error };
}
