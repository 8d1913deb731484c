/** Exit codes of the bench entries, and what an error that reached the top means. */
import { UsageError } from "./options.ts";
import { MissingFigure } from "./stats.ts";

export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
const EXIT_MISSING = 3;

export function failure(error: unknown): { text: string; code: number } {
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) return { text, code: EXIT_USAGE };
  if (error instanceof MissingFigure) return { text, code: EXIT_MISSING };
  return { text, code: EXIT_FAILED };
}
