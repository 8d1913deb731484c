/**
 * How readily the kernel ends the process when memory runs out: a number that Linux keeps for each
 * process, and any thread of it can read and write.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { errorText } from "./config-host.ts";

const PATH = "/proc/self/oom_score_adj";

export type OomScoreFile = {
  /** Null where there is none. */
  read(): number | null;
  /** Null, or why not in the system's words. */
  write(score: number): string | null;
};

export const systemOomScore: OomScoreFile = {
  read() {
    try {
      const score = Number(readFileSync(PATH, "latin1"));
      return Number.isInteger(score) ? score : null;
    } catch {
      // Not Linux, or /proc is not there.
      return null;
    }
  },
  write(score) {
    try {
      writeFileSync(PATH, String(score));
      return null;
    } catch (error) {
      return errorText(error);
    }
  },
};
