import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { repositoryRoot } from "../test/support/environment.ts";
import { PAGE, render } from "./generate-debug-docs.ts";

test("the page of DEBUG is what the tables say", () => {
  assert.equal(readFileSync(`${repositoryRoot}/${PAGE}`, "utf8"), render());
});

test("a row shows its calls, with bars that do not end the cell", () => {
  const rows = render().split("\n");
  assert.ok(
    rows.includes(
      "| `ERROR <string>` | Return a Redis protocol error with &lt;string> as message. Useful for clients unit tests to simulate Redis errors. |",
    ),
  );
  assert.ok(rows.some((row) => row.startsWith("| `PAUSE-CRON <0\\|1>` | Stop periodic")));
});
