import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { repositoryRoot } from "../test/support/environment.ts";
import { CAUSES, covers } from "./error-causes.ts";
import { errorTexts } from "./error-texts.ts";
import { PAGE, render } from "./generate-errors-docs.ts";

const found = errorTexts(repositoryRoot);

test("the page of errors is what the table says", () => {
  assert.equal(readFileSync(`${repositoryRoot}/${PAGE}`, "utf8"), render());
});

test("every error text of the sources has a cause", () => {
  assert.ok(found.length > 90, `only ${found.length} texts were found`);
  const missing = found.filter(({ text }) => !CAUSES.some((cause) => covers(cause, text)));
  const lines = missing.map(({ file, line, text }) => `${file}:${line}: ${text}`);
  assert.deepEqual(lines, [], "add them to scripts/error-causes.ts, then npm run docs");
});

test("every cause is one of a text that the sources have, and a sentence", () => {
  for (const cause of CAUSES) {
    const [text, sentence] = cause;
    assert.ok(
      found.some((each) => covers(cause, each.text)),
      `no source sends "${text}": take it out of scripts/error-causes.ts, then npm run docs`,
    );
    assert.match(sentence, /^[A-Z0-9`].*\.$/s, text);
  }
  assert.equal(new Set(CAUSES.map(([text]) => text)).size, CAUSES.length);
});
