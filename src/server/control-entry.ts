/** What the control log carries: changes of what is not keys, which every thread applies. */
import type { Change } from "./config/config.ts";

export type ControlEntry =
  | { kind: "config"; changes: Change[] }
  | { kind: "active-expire"; on: boolean }
  | { kind: "cron-paused"; on: boolean }
  | { kind: "replication-id"; id: string }
  /** See `oom-score.ts`. */
  | { kind: "oom-score"; before: number | null }
  /** Statistics were set to zero. */
  | { kind: "stats-reset" }
  /** Times of the monotonic clock, which is the same in all threads. */
  | { kind: "pause"; nowMs: number; endMs: number; isAll: boolean }
  | { kind: "unpause" }
  /** So many sessions of a thread run MONITOR. */
  | { kind: "monitors"; thread: number; sessions: number }
  | { kind: "shutdown" };
