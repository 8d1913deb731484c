/**
 * Row `lock`: the shard lock with twice as many threads as cores, under short and long holds. What
 * to look for: no wait much longer than the longest hold plus one slice of the scheduler.
 */
import { measureLock } from "../micro/lock.ts";
import { allowedCores } from "../process-stats.ts";
import { progress, type Row } from "../row.ts";
import { formatNumber, type Table } from "../table.ts";

const CASES = [
  { name: "short", hold: { low: 0, high: 0 }, pause: { low: 0, high: 0 } },
  { name: "short, paused", hold: { low: 0, high: 0 }, pause: { low: 1, high: 5 } },
  { name: "20-500 us", hold: { low: 20, high: 500 }, pause: { low: 0.3, high: 1 } },
] as const;

const NS_PER_MS = 1e6;

export const lock: Row = {
  name: "lock",
  summary: "the shard lock at twice as many threads as cores",
  defaults: {},
  async run(options): Promise<Table> {
    const threads = 2 * allowedCores().length;
    const rows: string[][] = [];
    for (const one of CASES) {
      progress(`lock ${one.name}, ${threads} threads`);
      const { hold, pause } = one;
      const found = await measureLock({ threads, seconds: options.seconds, hold, pause });
      const ms = (ns: number): string => formatNumber(ns / NS_PER_MS);
      rows.push([
        one.name,
        String(threads),
        formatNumber(found.perSecond / 1000),
        ms(found.waits.percentileNs(0.99)),
        ms(found.waits.percentileNs(0.9999)),
        ms(found.waits.maxNs),
        ms(found.longestHoldNs),
        `${formatNumber(found.fewest)}..${formatNumber(found.most)}`,
      ]);
    }
    return {
      title: `lock: ${threads} threads, ${options.seconds} s each`,
      columns: [
        "holds",
        "threads",
        "k/s",
        "p99 ms",
        "p99.99 ms",
        "longest wait",
        "longest hold",
        "rounds by thread",
      ],
      rows,
      notes: ["A lost update of the plain counter under the lock ends the run with an error."],
    };
  },
};
