/**
 * Row `latency`: p50, p99 and p99.9 of a closed loop with the own generator. With a pipeline the
 * latency is that of the whole batch, from its write to its last reply byte.
 */
import { compare, type Sample } from "../measure.ts";
import type { Row } from "../row.ts";
import { figure } from "../stats.ts";
import { formatRatio, formatSummary, type Table } from "../table.ts";
import { CELL_COLUMNS, cellLabel, conditions, measureCpuGrid } from "./cpu.ts";

const PERCENTILES: readonly { name: string; pick: (sample: Sample) => number }[] = [
  { name: "p50", pick: (sample) => sample.p50Ms },
  { name: "p99", pick: (sample) => sample.p99Ms },
  { name: "p99.9", pick: (sample) => figure("p99.9", sample.p999Ms) },
];

export const latency: Row = {
  name: "latency",
  summary: "p50, p99, p99.9 beside redis-server",
  defaults: { commands: ["GET", "SET"], generator: "own" },
  async run(options): Promise<Table> {
    const own = { ...options, generator: "own" as const };
    const results = await measureCpuGrid(own);
    const rows = results.map((result) => {
      const cells = cellLabel(result.cell);
      for (const { pick } of PERCENTILES) {
        const found = compare(result, pick);
        cells.push(formatSummary(found.subject), formatSummary(found.peer));
        cells.push(formatRatio(found.ratio));
      }
      return cells;
    });
    const columns = PERCENTILES.flatMap(({ name }) => [`${name} ms`, "redis ms", "ratio"]);
    return {
      title: `latency: ${conditions(options, "own generator")}`,
      columns: [...CELL_COLUMNS, ...columns],
      rows,
      notes: ["Closed loop: latency under as much load as the generator makes, per batch."],
    };
  },
};
