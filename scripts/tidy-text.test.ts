import assert from "node:assert/strict";
import { test } from "node:test";
import { checkMarkdown, checkText } from "./tidy-text.ts";

const present = new Set(["docs/a.md", "README.md"]);
const exists = (path: string): boolean => present.has(path);

test("a page has exactly one title, and code does not count", () => {
  assert.deepEqual(checkMarkdown("x.md", "# A\n\n```\n# B\n```\n", exists), []);
  assert.equal(checkMarkdown("x.md", "# A\n# B\n", exists)[0]?.line, 2);
  assert.equal(checkMarkdown("x.md", "## A\n", exists).length, 1);
});

test("relative links must resolve from the page", () => {
  const links = "[a](a.md#part) [b](../README.md) [c](https://example.com) [d](#part) `[e](no.md)`";
  assert.deepEqual(checkMarkdown("docs/x.md", `# T\n${links}\n`, exists), []);
  assert.equal(checkMarkdown("docs/x.md", "# T\n[a](b.md)\n", exists)[0]?.line, 2);
  assert.equal(checkMarkdown("docs/x.md", "# T\n[a](/README.md)\n", exists)[0]?.line, 2);
});

test("paths of one machine are reported, paths that any machine has are not", () => {
  assert.equal(checkText(`see ${["", "home", "me", "x"].join("/")}\n`).length, 1);
  assert.deepEqual(checkText("unixsocket /tmp/redis.sock\nhttps://x.org/home/page\n"), []);
});
