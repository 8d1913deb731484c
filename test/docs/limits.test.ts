/** What the pages say does not exist yet, against the table of commands. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { CommandTable } from "../../src/command/lookup.ts";
import { COMMANDS } from "../../src/commands.ts";
import { repositoryRoot } from "../support/environment.ts";

const existing = new Set(
  new CommandTable(COMMANDS).list.map(({ name }) => name.toUpperCase().replace("|", " ")),
);

function pageText(name: string): string {
  return readFileSync(path.join(repositoryRoot, name), "utf8");
}

/** Names in code; after `CLIENT REPLY` a bare `PAUSE` may be CLIENT's too. */
function namesIn(text: string): string[] {
  const names: string[] = [];
  let container = "";
  for (const [, code = ""] of text.matchAll(/`([A-Z][A-Z_ /]+)`/g)) {
    for (const name of code.split("/")) {
      names.push(name);
      if (name.includes(" ")) container = name.slice(0, name.indexOf(" "));
      else if (container !== "") names.push(`${container} ${name}`);
    }
  }
  return names;
}

function assertMissing(place: string, text: string): number {
  const names = namesIn(text);
  for (const name of names) assert.ok(!existing.has(name), `${place}: ${name} exists`);
  return names.length;
}

test("commands that limits.md lists as missing are missing", () => {
  const source = pageText("docs/limits.md");
  const [, section = ""] = /## Not there yet\n(.*?)\n## /s.exec(source) ?? [];
  let named = 0;
  for (const [, group, missing = ""] of section.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)) {
    // Behind a semicolon is what there is instead.
    named += assertMissing(`docs/limits.md, ${group}`, missing.split(";")[0] ?? "");
  }
  assert.ok(named > 15, `only ${named} commands are named`);
});

test("commands that the README lists as missing are missing", () => {
  const [missing = ""] = /\*\*Does not yet exist:\*\*.*?\n\n/s.exec(pageText("README.md")) ?? [];
  assert.ok(assertMissing("README.md", missing) > 2);
});
