import assert from "node:assert/strict";
import { test } from "node:test";
import { prefersOpenMetrics } from "./accept.ts";

test("OpenMetrics only for those that name it and do not prefer plain text", () => {
  const rows: [accept: string, open: boolean][] = [
    ["", false],
    ["*/*", false],
    ["text/plain", false],
    ["application/*", false],
    ["application/openmetrics-text", true],
    ["application/openmetrics-text; version=1.0.0; charset=utf-8", true],
    ['Application/OpenMetrics-Text; version="1.0.0"', true],
    ["application/openmetrics-text;version=2.0.0,text/plain;q=0.5", false],
    ["application/openmetrics-text;q=0", false],
    ["application/openmetrics-text;q=0.5,text/plain;q=0.6", false],
    ["application/openmetrics-text;q=0.5,text/plain;q=0.5", true],
    ["application/openmetrics-text;q=wrong", false],
    // What Prometheus 2 and 3 send.
    [
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;" +
        "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      true,
    ],
    [
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6," +
        "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;" +
        "escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
      true,
    ],
  ];
  for (const [accept, open] of rows) assert.equal(prefersOpenMetrics(accept), open, accept);
});
