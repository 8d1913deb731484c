import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { removeFolder, temporaryFolder } from "../test/support/ports.ts";
import { errorTexts } from "./error-texts.ts";

function textsOf(source: string): string[] {
  const root = temporaryFolder();
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src", "a.ts"), source);
  writeFileSync(join(root, "src", "a.test.ts"), 'const t = "ERR of a test";');
  const texts = errorTexts(root).map(({ text }) => text);
  removeFolder(root);
  return texts;
}

test("literals that begin with a code, joined and with their holes", () => {
  const source = [
    'reply.error("ERR one");',
    `reply.error(\`ERR two '$\{name}' of $\{a.b({ c: 1 })}\`);`,
    'const long = "ERR three " +\n  "and on";',
    'latin1Bytes("-DENIED four\\r\\n");',
    'reply.error(isOne ? "WRONGTYPE five" : "ERR one");',
    'if (/["]/.test(x) && a / b) reply.error("ERR six");',
  ];
  assert.deepEqual(textsOf(source.join("\n")), [
    "ERR one",
    "ERR two '…' of …",
    "ERR three and on",
    "DENIED four",
    "WRONGTYPE five",
    "ERR six",
  ]);
});

test("not comments, not other words", () => {
  const source = [
    '// "ERR comment"',
    '/* "ERR comment" */',
    'const help = "SET key value";',
    'const code = "ERR";',
    'export const USED = "ERR used";',
    "reply.error(USED);",
  ];
  assert.deepEqual(textsOf(source.join("\n")), ["ERR used"]);
});
