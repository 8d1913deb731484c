import assert from "node:assert/strict";
import { test } from "node:test";
import { checkMarkdown, checkText, type Pages } from "./tidy-text.ts";

const present = new Map([
  ["docs/a.md", "# A\n## Part\n## A `code`, and [more](b.md)!\n## Part\n```\n## no\n```\n"],
  ["README.md", "# Top\n"],
  ["x.ts", ""],
]);
const pages: Pages = {
  exists: (path) => present.has(path) || path === "docs/x.md",
  read: (path) => present.get(path) ?? "",
};

test("a page has exactly one title, and code does not count", () => {
  assert.deepEqual(checkMarkdown("x.md", "# A\n\n```\n# B\n```\n", pages), []);
  assert.equal(checkMarkdown("x.md", "# A\n# B\n", pages)[0]?.line, 2);
  assert.equal(checkMarkdown("x.md", "## A\n", pages).length, 1);
});

test("relative links must resolve from the page", () => {
  const links = "[a](a.md#part) [b](../README.md) [c](https://example.com) [d](#t) `[e](no.md)`";
  assert.deepEqual(checkMarkdown("docs/x.md", `# T\n${links}\n`, pages), []);
  assert.equal(checkMarkdown("docs/x.md", "# T\n[a](b.md)\n", pages)[0]?.line, 2);
  assert.equal(checkMarkdown("docs/x.md", "# T\n[a](/README.md)\n", pages)[0]?.line, 2);
});

test("anchors must be headings of the page they are on", () => {
  const wrong = (link: string): number =>
    checkMarkdown("docs/x.md", `# T\n## Its own\n[a](${link})\n`, pages).length;
  for (const link of [
    "a.md#part",
    "a.md#part-1",
    "a.md#a-code-and-more",
    "#its-own",
    "../x.ts#L1",
  ]) {
    assert.equal(wrong(link), 0, link);
  }
  for (const link of ["a.md#no", "a.md#part-2", "a.md#Part", "#part", "../README.md#a"]) {
    assert.equal(wrong(link), 1, link);
  }
});

test("paths of one machine are reported, paths that any machine has are not", () => {
  assert.equal(checkText(`see ${["", "home", "me", "x"].join("/")}\n`).length, 1);
  assert.deepEqual(checkText("unixsocket /tmp/redis.sock\nhttps://x.org/home/page\n"), []);
});
