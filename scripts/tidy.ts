/**
 * Checks what neither the compiler nor the linter does, over every file git knows or would add:
 * sizes, columns, words in comments, machine paths, markdown, tests without their source, and
 * package.json against the entries. Prints `file:line: what is wrong: what to do`.
 */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { type Manifest, manifestProblems, presentEntries } from "./entries.ts";
import { checkSource } from "./tidy-source.ts";
import { checkMarkdown, checkText } from "./tidy-text.ts";

const FILE_BYTES_MAX = 256 * 1024;

const root = join(import.meta.dirname, "../..");
const exists = (path: string): boolean => existsSync(join(root, path));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

function listFiles(): string[] {
  const arguments_ = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const output = execFileSync("git", arguments_, { cwd: root, encoding: "utf8" });
  return output.split("\0").filter((path) => path !== "" && exists(path));
}

/** `x.test.ts` stands beside `x.ts`, and `x-more.test.ts` may too. */
function checkTestName(path: string, files: ReadonlySet<string>): string | undefined {
  if (!path.startsWith("src/") || !path.endsWith(".test.ts")) {
    return undefined;
  }
  const words = posix.basename(path, ".test.ts").split("-");
  const folder = posix.dirname(path);
  for (let count = words.length; count > 0; count -= 1) {
    if (files.has(`${folder}/${words.slice(0, count).join("-")}.ts`)) {
      return undefined;
    }
  }
  return "no source of that name beside it: name it after what it tests, or move it to test/";
}

function check(path: string, files: ReadonlySet<string>): string[] {
  const size = statSync(join(root, path)).size;
  if (size > FILE_BYTES_MAX) {
    return [`${path}:1: ${size} bytes, ${FILE_BYTES_MAX} at most: generate it, or leave it out`];
  }
  const content = readFileSync(join(root, path), "utf8");
  if (content.includes("\0")) {
    return [];
  }
  const problems = checkText(content);
  if (path.endsWith(".ts")) {
    problems.push(...checkSource(content, exists));
  } else if (path.endsWith(".md")) {
    problems.push(...checkMarkdown(path, content, { exists, read }));
  }
  const test = checkTestName(path, files);
  if (test !== undefined) {
    problems.push({ line: 1, text: test });
  }
  return problems.map(({ line, text }) => `${path}:${line}: ${text}`);
}

const files = listFiles();
const known: ReadonlySet<string> = new Set(files);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const problems = files.flatMap((path) => check(path, known));
for (const problem of manifestProblems(manifest, presentEntries(root))) {
  problems.push(`package.json:1: ${problem}`);
}
for (const problem of problems) {
  process.stdout.write(`${problem}\n`);
}
process.stdout.write(`tidy: ${files.length} files, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
