/**
 * Type-checks the TypeScript blocks of the documentation as a user's project would: strict, with
 * the declarations of the package as it is published.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, describe, test } from "node:test";
import { wholePackage } from "../support/build.ts";
import { repositoryRoot } from "../support/environment.ts";
import { removeFolder } from "../support/ports.ts";
import { type Block, blocksOf, fileName, pages } from "./pages.ts";

const OPTIONS = {
  strict: true,
  noEmit: true,
  target: "es2023",
  module: "nodenext",
  moduleResolution: "nodenext",
  lib: ["es2024"],
  types: ["node"],
  allowImportingTsExtensions: true,
  allowJs: true,
  skipLibCheck: true,
};

const COMPILER = path.join(repositoryRoot, "node_modules/typescript/bin/tsc");

/** Inside the repository, so that its packages, and the package itself, are found by name. */
const folder = path.join(repositoryRoot, "build", `docs-types-${process.pid}`);

after(() => removeFolder(folder));

/** One folder for each page, since blocks of a page may import each other. */
function check(name: string, files: ReadonlyMap<string, string>): string {
  const own = path.join(folder, name);
  mkdirSync(own, { recursive: true });
  for (const [file, text] of files) writeFileSync(path.join(own, file), text);
  const config = { compilerOptions: OPTIONS, include: ["*.ts"] };
  writeFileSync(path.join(own, "tsconfig.json"), JSON.stringify(config));
  const run = spawnSync(process.execPath, [COMPILER, "-p", own, "--pretty", "false"], {
    encoding: "utf8",
  });
  return run.stdout + run.stderr;
}

/** Programs in JavaScript are there for those that import them. */
function filesOf(blocks: readonly Block[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const block of blocks) {
    const name = fileName(block);
    // `export {}`: a block without imports is a module all the same.
    if (block.language === "ts")
      files.set(name ?? `line-${block.line}.ts`, `${block.text}\nexport {};\n`);
    else if (block.language === "js" && name !== null) files.set(name, block.text);
  }
  return files;
}

describe("TypeScript blocks", () => {
  test("a block that is wrong is found", () => {
    const right = new Map([["right.ts", "export const n: number = 1;\n"]]);
    assert.equal(check("right", right), "");
    const wrong = new Map([["wrong.ts", 'export const n: number = "1";\n']]);
    assert.match(check("wrong", wrong), /wrong\.ts\(1,14\): error TS2322/);
  });

  for (const page of pages()) {
    const blocks = blocksOf(page);
    if (!blocks.some(({ language }) => language === "ts")) continue;
    test(page, async () => {
      await wholePackage();
      assert.equal(check(page.replaceAll(/\W/g, "-"), filesOf(blocks)), "");
    });
  }
});
