/**
 * Finds the executable under test. It is built when it is missing or older than the sources; test
 * files that run at the same time agree on one builder by a lock folder. The build leaves a bundle
 * alone that would not change, so its age says nothing: a stamp file has the time of the build.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { repositoryRoot } from "./environment.ts";

const BUILD_LIMIT_MS = 240_000;

let checked: string | undefined;

export async function executable(): Promise<string> {
  const given = process.env["ZEROHOP_TEST_MAIN"];
  if (given !== undefined) return given;
  checked ??= await upToDateBundle();
  return checked;
}

/** Runs something for which another bundle is the executable under test. */
export async function withExecutable(main: string, run: () => Promise<void>): Promise<void> {
  const before = process.env["ZEROHOP_TEST_MAIN"];
  process.env["ZEROHOP_TEST_MAIN"] = main;
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env["ZEROHOP_TEST_MAIN"];
    else process.env["ZEROHOP_TEST_MAIN"] = before;
  }
}

/** All that is published, the declarations included. */
export async function wholePackage(): Promise<void> {
  await upToDate("dist/types/index.d.ts", "package", []);
}

async function upToDateBundle(): Promise<string> {
  return upToDate("dist/main.js", "bundles", ["--", "--bundles"]);
}

/** Makes sure that a file of the build is newer than the sources, and returns where it is. */
async function upToDate(file: string, kind: string, words: readonly string[]): Promise<string> {
  const made = path.join(repositoryRoot, file);
  const stamp = path.join(repositoryRoot, "build", `.test-${kind}-stamp`);
  const lock = path.join(repositoryRoot, "build", ".test-build-lock");
  mkdirSync(path.dirname(lock), { recursive: true });
  const deadline = Date.now() + BUILD_LIMIT_MS;
  while (isStale(made, stamp)) {
    if (tryLock(lock)) {
      try {
        if (isStale(made, stamp)) build(stamp, words);
      } finally {
        rmdirSync(lock);
      }
      return made;
    }
    if (Date.now() > deadline) throw new Error(`${lock} is held: remove it if no build is running`);
    await delay(100);
  }
  return made;
}

function build(stamp: string, words: readonly string[]): void {
  const startedAt = new Date();
  const command = ["run", "--silent", "build", ...words];
  try {
    execFileSync("npm", command, { cwd: repositoryRoot, stdio: "pipe" });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: Buffer; stderr?: Buffer };
    throw new Error(`npm run build failed:\n${stdout ?? ""}\n${stderr ?? ""}`, { cause: error });
  }
  writeFileSync(stamp, "");
  utimesSync(stamp, startedAt, startedAt);
}

function tryLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function isStale(made: string, stamp: string): boolean {
  const built = modifiedMs(stamp);
  if (modifiedMs(made) === undefined) return true;
  return built === undefined || built < newestSource(path.join(repositoryRoot, "src"));
}

function newestSource(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts") || entry.name.endsWith(".test.ts")) continue;
    newest = Math.max(newest, modifiedMs(path.join(entry.parentPath, entry.name)) ?? 0);
  }
  return newest;
}

function modifiedMs(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
