import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DIRECTIVES } from "../src/server/config/table.ts";
import { repositoryRoot } from "../test/support/environment.ts";
import { PAGE, render } from "./generate-config-docs.ts";

test("the page of directives is what the table says", () => {
  assert.equal(readFileSync(`${repositoryRoot}/${PAGE}`, "utf8"), render());
});

test("every directive that is shown has one line of six cells", () => {
  const lines = render().split("\n");
  for (const row of DIRECTIVES) {
    const found = lines.filter((line) => line.startsWith(`| \`${row.name}\``));
    assert.equal(found.length, row.hidden === true ? 0 : 1, row.name);
    for (const line of found) assert.equal(line.split(/(?<!\\)\|/).length, 8, line);
  }
});
