/**
 * What the suites read from the environment, in one place.
 *
 *   CI=true               a missing redis-server, redis-cli or redis-benchmark is a failure
 *   ZEROHOP_LONG=1        also the cases that take minutes or gigabytes
 *   ZEROHOP_TEST_MAIN     an executable bundle to test instead of building dist/main.js
 *   ZEROHOP_TEST_SUBJECT  a redis-server binary in our place: the suites judge themselves
 *   ZEROHOP_TEST_ORACLE   the redis-server to compare with, default the one on PATH
 *   ZEROHOP_TEST_SEED     the seed of every seeded test, as printed by a failure
 */
import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot: string = findRoot(path.dirname(fileURLToPath(import.meta.url)));

export const isLong: boolean = process.env["ZEROHOP_LONG"] === "1";

const isCi = process.env["CI"] === "true";

export const subjectRedis: string | undefined = process.env["ZEROHOP_TEST_SUBJECT"];

export type Tool = "redis-server" | "redis-cli" | "redis-benchmark";

export function toolPath(tool: Tool): string | undefined {
  const oracle = process.env["ZEROHOP_TEST_ORACLE"];
  if (tool === "redis-server" && oracle !== undefined) return oracle;
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const candidate = path.join(folder, tool);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this folder: PATH lookup goes on with the next.
    }
  }
  return undefined;
}

/** Options for a test that needs tools: skipped with the reason outside CI, failing in it. */
export function needs(...tools: Tool[]): { skip?: string } {
  const missing = tools.filter((tool) => toolPath(tool) === undefined);
  if (missing.length === 0 || isCi) return {};
  return { skip: `${missing.join(", ")} not found on PATH` };
}

/** Options for a test that only makes sense for our own server. */
export function needsOurs(): { skip?: string } {
  return subjectRedis === undefined ? {} : { skip: "ZEROHOP_TEST_SUBJECT names a redis-server" };
}

/** Options for a test that takes minutes or gigabytes. */
export function needsLong(): { skip?: string } {
  return isLong ? {} : { skip: "takes minutes or gigabytes: set ZEROHOP_LONG=1" };
}

export function requireTool(tool: Tool): string {
  const found = toolPath(tool);
  if (found === undefined) throw new Error(`${tool} is not on PATH`);
  return found;
}

function findRoot(from: string): string {
  if (existsSync(path.join(from, "package.json"))) return from;
  const parent = path.dirname(from);
  if (parent === from) throw new Error("no package.json above the tests");
  return findRoot(parent);
}

/** Words for Node that let a program read files and nothing else. */
export function restricted(): string[] {
  const isStable = process.allowedNodeEnvironmentFlags.has("--permission");
  return [isStable ? "--permission" : "--experimental-permission", "--allow-fs-read=*"];
}
