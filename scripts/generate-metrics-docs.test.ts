import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { metricFamilies } from "../src/admin/metrics-page.ts";
import { repositoryRoot } from "../test/support/environment.ts";
import { PAGE, render } from "./generate-metrics-docs.ts";

test("the page of metrics is what they say", () => {
  assert.equal(readFileSync(`${repositoryRoot}/${PAGE}`, "utf8"), render());
});

test("names are as Prometheus wants them, once each, with a sentence", () => {
  const seen = new Set<string>();
  for (const { metrics } of metricFamilies()) {
    for (const { name, type, help, labels } of metrics) {
      assert.ok(!seen.has(name), name);
      seen.add(name);
      assert.match(name, /^(zerohop|process)_[a-z][a-z0-9_]*$/);
      assert.equal(name.endsWith("_total"), type === "counter", name);
      assert.match(help, /^[A-Z0-9].*\.$/, name);
      for (const label of labels) assert.match(label, /^[a-z][a-z_]*$/, name);
    }
  }
});
