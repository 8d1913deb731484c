import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SECTIONS } from "../src/server/info/sections.ts";
import { repositoryRoot } from "../test/support/environment.ts";
import { PAGE, render } from "./generate-info-docs.ts";

test("the page of INFO is what the sections say", () => {
  assert.equal(readFileSync(`${repositoryRoot}/${PAGE}`, "utf8"), render());
});

test("every field is named once and explained by a sentence", () => {
  const page = render();
  const seen = new Set<string>();
  for (const { entries } of SECTIONS) {
    for (const { name, about } of entries) {
      assert.ok(!seen.has(name), name);
      seen.add(name);
      assert.equal(page.split(`\`${name}\``).length >= 2, true, name);
      assert.match(about, /^[A-Z0-9`].*\.$/, name);
    }
  }
});
