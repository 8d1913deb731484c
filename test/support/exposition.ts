/**
 * A strict reader of the two text formats of Prometheus, written from their definitions and not
 * from any client library: what it takes, a scraper takes.
 */
import assert from "node:assert/strict";

export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export type MetricFamily = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
};

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;

type Growing = { name: string; type: string; help: string; samples: Sample[] };

/** Families by the name of their samples. Fails at the first line that is not as it must be. */
export function parseExposition(text: string, openMetrics: boolean): Map<string, MetricFamily> {
  assert.ok(text.endsWith("\n"), "the last line is not ended");
  const lines = text.slice(0, -1).split("\n");
  if (openMetrics) assert.equal(lines.pop(), "# EOF", "OpenMetrics ends with # EOF");
  const families = new Map<string, Growing>();
  const seen = new Set<string>();
  let current: Growing | undefined;
  for (const line of lines) {
    if (line === "") {
      assert.ok(!openMetrics, "OpenMetrics has no empty lines");
      continue;
    }
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      assert.match(name, NAME, line);
      current = { name: "", type: "", help: rest, samples: [] };
      continue;
    }
    assert.ok(current !== undefined, `before any HELP: ${line}`);
    if (keyword === "TYPE") {
      current.type = rest;
      assert.ok(["counter", "gauge"].includes(rest), line);
      current.name = openMetrics && rest === "counter" ? `${name}_total` : name;
      if (rest === "counter") assert.match(current.name, /_total$/, line);
      else assert.doesNotMatch(current.name, /_total$/, line);
      assert.ok(!families.has(current.name), `a second family ${current.name}`);
      families.set(current.name, current);
      continue;
    }
    const [, sample = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    assert.equal(sample, current.name, line);
    const series = line.slice(0, line.length - value.length - 1);
    assert.ok(!seen.has(series), `twice: ${series}`);
    seen.add(series);
    assert.match(value, /^-?\d+(\.\d+)?(e[+-]?\d+)?$/, line);
    current.samples.push({ labels: parseLabels(labels, line), value: Number(value) });
  }
  return families;
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ""; ) {
    const found = LABEL.exec(rest);
    assert.ok(found !== null, `labels of ${line}`);
    const [whole, name = "", value = ""] = found;
    assert.ok(!(name in labels), `label ${name} twice: ${line}`);
    labels[name] = value;
    rest = rest.slice(whole.length);
  }
  return labels;
}

/** Sum of the samples that have these labels; `""` stands for a label that is not there. */
export function total(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  labels: Readonly<Record<string, string | number>> = {},
): number {
  const family = families.get(name);
  assert.ok(family !== undefined, `no metric ${name}`);
  let sum = 0;
  for (const sample of family.samples) {
    const fits = Object.entries(labels).every(
      ([label, value]) => (sample.labels[label] ?? "") === String(value),
    );
    if (fits) sum += sample.value;
  }
  return sum;
}
