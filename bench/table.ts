/**
 * Plain-text tables and number texts for the bench output.
 *
 * Columns are padded to the widest cell; texts go left, everything that starts like a number
 * goes right. One table per row of the bench, printed once it is complete.
 */
import type { Summary } from "./stats.ts";

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Lines below the table: what was left out and why, units, warnings. */
  readonly notes: readonly string[];
}

const NUMBER_LIKE = /^[-+]?\d/;

export function formatTable(table: Table): string {
  for (const row of table.rows) {
    if (row.length !== table.columns.length) {
      throw new Error(`${table.title}: ${row.length} cells for ${table.columns.length} columns`);
    }
  }
  const widths = table.columns.map((column, index) =>
    Math.max(column.length, ...table.rows.map((row) => (row[index] as string).length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => {
        const width = widths[index] as number;
        return NUMBER_LIKE.test(cell) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  const out = [table.title, "", line(table.columns)];
  out.push(widths.map((width) => "-".repeat(width)).join("  "));
  for (const row of table.rows) out.push(line(row));
  if (table.notes.length > 0) out.push("", ...table.notes);
  return `${out.join("\n")}\n`;
}

/** Three significant digits or more, no exponent: 0.0123, 1.23, 12.3, 1,234,567. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && size < 0.1) return value.toFixed(4);
  if (size < 10) return value.toFixed(2);
  if (size < 1000) return value.toFixed(1);
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

export function formatPercent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)}%`;
}

/** A ratio with the range it moved in: `0.94x (0.91..0.97)`. */
export function formatRatio(ratio: Summary): string {
  return `${ratio.median.toFixed(2)}x (${ratio.min.toFixed(2)}..${ratio.max.toFixed(2)})`;
}

/** A median with its spread: `1.23 ±4%`; the spread is (max - min) / median. */
export function formatSummary(summary: Summary): string {
  return `${formatNumber(summary.median)} ±${(summary.spread * 100).toFixed(0)}%`;
}

/** 100000 as `100k`, 1000000 as `1m`; anything uneven in full. */
export function formatCount(count: number): string {
  if (count >= 1e6 && count % 1e6 === 0) return `${count / 1e6}m`;
  if (count >= 1000 && count % 1000 === 0) return `${count / 1000}k`;
  return String(count);
}
