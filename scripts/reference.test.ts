import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandTable } from "../src/command/lookup.ts";
import { CLIENT_ID_META, CLIENT_META } from "../src/server/commands/specs.ts";
import { GET_META, SETNX_META } from "../src/types/string/specs.ts";
import { coverageTable, referenceFiles } from "./reference.ts";

const run = (): void => {};
const table = new CommandTable([
  { ...SETNX_META, locks: "keys", run },
  { ...GET_META, locks: "keys", run, differs: "It is faster." },
  { ...CLIENT_META, locks: "container" },
  { ...CLIENT_ID_META, locks: "none", run },
]);

test("a page for each group and an index, without containers", () => {
  const files = referenceFiles(table);
  const folder = "docs/reference/commands";
  const names = ["connection.md", "string.md", "README.md"].map((name) => `${folder}/${name}`);
  assert.deepEqual([...files.keys()], names);
  const connection = files.get(`${folder}/connection.md`) ?? "";
  assert.deepEqual(connection.match(/^## .*/gm), ["## CLIENT ID"]);
  const index = files.get(`${folder}/README.md`) ?? "";
  const get = "| [GET](string.md#get) | Returns the string value of a key. *differs* | 1.0.0 |";
  assert.ok(index.includes(get));
  assert.match(index, /\[CLIENT ID\]\(connection\.md#client-id\) \| [^*]+ \| 5\.0\.0 \|/);
});

test("a section says syntax, differences and replacements", () => {
  const page = referenceFiles(table).get("docs/reference/commands/string.md") ?? "";
  assert.ok(page.indexOf("## GET") < page.indexOf("## SETNX"));
  assert.ok(page.includes("```\nGET key\n```\n\nReturns the string value of a key.\n"));
  assert.ok(page.includes("**Differs from Redis.** It is faster."));
  assert.ok(page.includes("Deprecated since 2.6.12, replaced by `SET` with the `NX` argument."));
  assert.ok(page.includes("- Flags: readonly, fast\n- ACL categories: @read, @string, @fast"));
});

test("the README has a row for each group", () => {
  const text = coverageTable(table);
  assert.ok(text.endsWith("#get) · [SETNX](docs/reference/commands/string.md#setnx) |"));
  assert.equal(text.split("\n").length, 4);
});
