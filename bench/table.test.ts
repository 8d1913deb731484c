import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCount, formatNumber, formatPercent, formatRatio, formatTable } from "./table.ts";

test("texts go left, numbers right, nothing trails", () => {
  const text = formatTable({
    title: "two servers",
    columns: ["server", "k/s", "ratio"],
    rows: [
      ["ours", "1,234", "0.94x"],
      ["redis-server", "12.0", "none"],
    ],
    notes: ["a note"],
  });
  assert.equal(
    text,
    [
      "two servers",
      "",
      "server        k/s    ratio",
      "------------  -----  -----",
      "ours          1,234  0.94x",
      "redis-server   12.0  none",
      "",
      "a note",
      "",
    ].join("\n"),
  );
});

test("a row with a cell too few is an error, not a shifted table", () => {
  const table = { title: "t", columns: ["a", "b"], rows: [["1"]], notes: [] };
  assert.throws(() => formatTable(table), /1 cells for 2 columns/);
});

test("numbers keep the digits that say something", () => {
  assert.equal(formatNumber(0), "0.00");
  assert.equal(formatNumber(0.01234), "0.0123");
  assert.equal(formatNumber(1.234), "1.23");
  assert.equal(formatNumber(123.45), "123.5");
  assert.equal(formatNumber(1234567.8), "1,234,568");
  assert.equal(formatPercent(-0.0523), "-5.23%");
  assert.equal(
    formatRatio({ median: 0.944, min: 0.9, max: 1, middle: [0.9, 1], spread: 0 }),
    "0.94x (0.90..1.00)",
  );
});

test("round counts are abbreviated, others are not", () => {
  assert.deepEqual([100_000, 1_000_000, 1500, 999].map(formatCount), ["100k", "1m", "1500", "999"]);
});
