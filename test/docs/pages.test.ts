import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { metricFamilies } from "../../src/admin/metrics-page.ts";
import { repositoryRoot } from "../support/environment.ts";
import { mismatch } from "./output.ts";
import { fileName, pages, parseBlocks } from "./pages.ts";

function page(...lines: string[]): string {
  return lines.join("\n");
}

describe("blocks of a page", () => {
  test("a text is the output of the block before it", () => {
    const source = page("# P", "```sh", "a", "b", "```", "", "It says:", "", "```text", "c", "```");
    const [block, ...others] = parseBlocks("p.md", source);
    assert.deepEqual(others, []);
    assert.equal(block?.text, "a\nb\n");
    assert.equal(block?.output, "c\n");
    assert.equal(block?.line, 2);
  });

  test("not across a heading, and not after a block that is not run", () => {
    const heading = page("```sh", "a", "```", "## Next", "```text", "c", "```");
    assert.throws(() => parseBlocks("p.md", heading), /^Error: p\.md:5: nothing prints this text/);
    const shown = page("<!-- not run: why -->", "```sh", "a", "```", "```text", "c", "```");
    assert.throws(() => parseBlocks("p.md", shown), /nothing prints this text/);
    const twice = page("```sh", "a", "```", "```text", "c", "```", "```text", "d", "```");
    assert.throws(() => parseBlocks("p.md", twice), /nothing prints this text/);
  });

  test("marks, file names and indentation", () => {
    const source = page(
      "- item",
      "  <!-- fails -->",
      "  ```conf",
      "  # a.conf",
      "  port 1",
      "  ```",
      "<!-- not run: there is no whale here -->",
      "",
      "```dockerfile",
      "FROM x",
      "```",
    );
    const [conf, docker] = parseBlocks("p.md", source);
    assert.ok(conf !== undefined && docker !== undefined);
    assert.equal(conf.fails, true);
    assert.equal(conf.text, "# a.conf\nport 1\n");
    assert.equal(fileName(conf), "a.conf");
    assert.equal(docker.notRun, "there is no whale here");
  });

  test("what nobody would run is an error", () => {
    assert.throws(() => parseBlocks("p.md", page("```", "a", "```")), /p\.md:1: .* language/);
    assert.throws(() => parseBlocks("p.md", page("```ruby", "a", "```")), /language/);
    const mark = page("<!-- skip -->", "```sh", "a", "```");
    assert.throws(() => parseBlocks("p.md", mark), /unknown mark "skip"/);
  });
});

test("output: all of it, but for what the page leaves open", () => {
  const rows: [shown: string, printed: string, fits: boolean][] = [
    ["a\n", "a\n", true],
    ["a\n", "\u001b[32ma\u001b[0m  \r\n\n", true],
    ["a\n", "a\nb\n", false],
    ["a\n", "", false],
    ["a\n…\n", "a\nb\nc\n", true],
    ["a\n…\n", "a\n", true],
    ["…\nc\n", "a\nb\nc\n", true],
    ["…\nc\n", "a\nb\n", false],
    ["a … c\n", "a b c\n", true],
    ["a … c\n", "a b\nc\n", false],
    ["(a) [b] $c\n", "(a) [b] $c\n", true],
    [".\n", "a\n", false],
  ];
  for (const [shown, printed, fits] of rows) {
    assert.equal(mismatch(shown, printed) === null, fits, JSON.stringify([shown, printed]));
  }
});

test("every metric that the pages for operators name exists", () => {
  const known = new Set(metricFamilies().flatMap(({ metrics }) => metrics.map(({ name }) => name)));
  const named = new Set<string>();
  for (const each of pages().filter((name) => name.startsWith("docs/operate/"))) {
    const text = readFileSync(path.join(repositoryRoot, each), "utf8");
    for (const [name] of text.matchAll(/\b(?:zerohop|process)_[a-z0-9_]+[a-z0-9]\b/g)) {
      assert.ok(known.has(name), `${each}: ${name}`);
      named.add(name);
    }
  }
  assert.ok(named.size > 20, "queries and alerts are made of them");
});

test("every page is reached by links from the README", () => {
  const all = new Set(pages());
  const reached = new Set<string>();
  const visit = (page: string): void => {
    if (reached.has(page) || !all.has(page)) return;
    reached.add(page);
    const text = readFileSync(path.join(repositoryRoot, page), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)/g)) {
      visit(path.posix.normalize(path.posix.join(path.posix.dirname(page), target)));
    }
  };
  visit("README.md");
  assert.deepEqual(
    [...all].filter((page) => !reached.has(page)),
    [],
    "link them from docs/README.md",
  );
});

test("who follows several pages in one folder overwrites nothing", () => {
  const texts = new Map<string, string>();
  for (const each of pages()) {
    for (const block of parseBlocks(each, readFileSync(path.join(repositoryRoot, each), "utf8"))) {
      const name = fileName(block);
      if (name === null) continue;
      assert.equal(texts.get(name) ?? block.text, block.text, `${each}: ${name} is another file`);
      texts.set(name, block.text);
    }
  }
  assert.ok(texts.size > 10);
});
