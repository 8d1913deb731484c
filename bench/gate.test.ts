/**
 * The gate end to end, on repositories made for it: a stand-in server whose figures each commit
 * decides, built by the repository's own build script, measured against its own merge-base. Where
 * speed decides, what is measured is put in its place.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { FakeFigures } from "./fake-server.ts";
import { parseGateOptions } from "./gate-options.ts";
import { type Repetition, runGate } from "./gate-run.ts";
import { findRoot, type ServerPlan } from "./server.ts";

const gate = fileURLToPath(new URL("./gate.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "zerohop-gate-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const PLAIN: FakeFigures = { bytesPerKey: 40, wasteUs: 0, jsHeap: undefined };
const BUILD = "node build.mjs";
const BUILD_SCRIPT = `import { cpSync } from "node:fs";
cpSync("src/main.ts", "dist/main.js");
`;

function git(repository: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
  const ran = spawnSync("git", [...identity, ...args], { cwd: repository, encoding: "utf8" });
  assert.equal(ran.status, 0, `git ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout.trim();
}

function writeServer(repository: string, figures: FakeFigures): void {
  const fake = new URL("./fake-server.js", import.meta.url).href;
  const call = `serveFake(${JSON.stringify(figures)}, process.argv)`;
  mkdirSync(join(repository, "src"), { recursive: true });
  writeFileSync(
    join(repository, "src", "main.ts"),
    `import { serveFake } from ${JSON.stringify(fake)};\n${call};\n`,
  );
}

/** A repository with one commit: package, budgets, and a server unless `figures` is absent. */
function makeRepository(name: string, figures: FakeFigures | undefined): string {
  const repository = join(folder, name);
  mkdirSync(join(repository, "bench"), { recursive: true });
  mkdirSync(join(repository, "node_modules"));
  cpSync(join(findRoot(), "bench", "budgets.json"), join(repository, "bench", "budgets.json"));
  const manifest = { name: "zerohop", type: "module", scripts: { build: BUILD } };
  writeFileSync(join(repository, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(repository, "package-lock.json"), "{}");
  writeFileSync(join(repository, "build.mjs"), BUILD_SCRIPT);
  writeFileSync(join(repository, ".gitignore"), "node_modules\ndist\n");
  if (figures !== undefined) writeServer(repository, figures);
  git(repository, "init", "-q", "-b", "main");
  commit(repository, "first");
  return repository;
}

function commit(repository: string, message: string): void {
  git(repository, "add", "-A");
  git(repository, "commit", "-q", "-m", message);
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function spawnGate(repository: string, ...args: readonly string[]): Ran {
  const tiny = ["--repetitions", "1", "--seconds", "0.1", "--keys", "1000"];
  const all = [gate, "--repository", repository, ...tiny, ...args];
  const ran = spawnSync(process.execPath, all, { encoding: "utf8" });
  assert.equal(git(repository, "worktree", "list").split("\n").length, 1, "a worktree is left");
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}

/** Takes what the stand-in of a commit was told for what was measured: no machine is in between. */
async function speedsAsTold(plan: ServerPlan): Promise<Repetition> {
  const { wasteUs } = JSON.parse(
    /serveFake\((\{.*?\})/.exec(readFileSync(plan.entry, "utf8"))?.[1] as string,
  ) as FakeFigures;
  const ms = wasteUs / 1000;
  const times = { cpuUs: wasteUs, p50Ms: ms, p99Ms: ms, p999Ms: ms };
  return { qps: 1e6 / wasteUs, bytes: [40, 40, 40], ...times };
}

function judge(repository: string): Promise<{ readonly text: string; readonly isFail: boolean }> {
  const options = parseGateOptions(["--repository", repository, "--base", "HEAD~1"]);
  return runGate(options, speedsAsTold);
}

/** The verdict in the line of a metric. */
function verdictOf(out: string, metric: string): string | undefined {
  const line = out.split("\n").find((one) => one.startsWith(metric));
  return line?.trim().split(/ {2,}/).at(-1);
}

test("a rise of bytes per key beyond the budget fails the gate", () => {
  const repository = makeRepository("rise", PLAIN);
  writeServer(repository, { ...PLAIN, bytesPerKey: 44 });
  commit(repository, "more bytes");
  const { code, out, err } = spawnGate(repository, "--base", "HEAD~1");
  assert.equal(code, 1, `${out}\n${err}`);
  assert.equal(verdictOf(out, "bytes_per_key int"), "FAIL");
  assert.match(out, /bytes_per_key int +40\.0 +44\.0 +\+10\.00%/);
  assert.match(out, /Overall: FAIL/);
  assert.match(out, /printed, not judged/);
});

test("a server that became slower fails, one that became faster does not", async () => {
  const repository = makeRepository("slower", { ...PLAIN, wasteUs: 100 });
  writeServer(repository, { ...PLAIN, wasteUs: 125 });
  commit(repository, "slower");
  const slower = await judge(repository);
  assert.ok(slower.isFail, slower.text);
  assert.equal(verdictOf(slower.text, "qps_median (peak)"), "FAIL");
  assert.match(slower.text, /qps_median \(peak\) +10,000 +8,000 +-20\.00%/);
  writeServer(repository, { ...PLAIN, wasteUs: 100 });
  commit(repository, "as before");
  const faster = await judge(repository);
  assert.ok(!faster.isFail, faster.text);
  assert.match(faster.text, /qps_median \(peak\) +8,000 +10,000 +\+25\.00%/);
  assert.match(faster.text, /Overall: PASS/);
});

test("the base is the merge-base, not the tip of the other branch", () => {
  const repository = makeRepository("branches", PLAIN);
  git(repository, "checkout", "-q", "-b", "other");
  writeServer(repository, { ...PLAIN, bytesPerKey: 10 });
  commit(repository, "the other branch saves memory");
  git(repository, "checkout", "-q", "main");
  writeServer(repository, { ...PLAIN, bytesPerKey: 40.1 });
  commit(repository, "within the band");
  const { out, err } = spawnGate(repository, "--base", "other");
  assert.equal(verdictOf(out, "bytes_per_key raw"), "PASS", `${out}\n${err}`);
  assert.match(out, /bytes_per_key raw +40\.0 +40\.1/);
});

test("without a base that can be measured everything is WARN", () => {
  const repository = makeRepository("young", undefined);
  writeServer(repository, PLAIN);
  commit(repository, "the first server");
  const before = spawnGate(repository, "--base", "HEAD~1");
  assert.equal(before.code, 0, `${before.out}\n${before.err}`);
  assert.match(before.out, /Overall: WARN\nNo base: \w+ has no server yet/);
  const itself = spawnGate(repository, "--base", "HEAD");
  assert.equal(itself.code, 0, itself.err);
  assert.match(itself.out, /Overall: WARN\nNo base: the merge-base is HEAD itself/);
});

test("a head that lacks a figure is exit code 3, whatever the rest says", () => {
  const repository = makeRepository("missing", PLAIN);
  writeServer(repository, { ...PLAIN, bytesPerKey: undefined });
  commit(repository, "forgets used_memory");
  const { code, out, err } = spawnGate(repository, "--base", "HEAD~1");
  assert.equal(code, 3, `${out}\n${err}`);
  assert.match(err, /missing figure: INFO used_memory/);
  assert.doesNotMatch(out, /PASS/);
});

test("nonsense is exit code 2: no base, an unknown one, an unreasoned budget", () => {
  const repository = makeRepository("nonsense", PLAIN);
  assert.equal(spawnGate(repository).code, 2);
  const unknown = spawnGate(repository, "--base", "no-such-branch");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /git knows no commit 'no-such-branch'/);
  const budgets = join(repository, "bench", "budgets.json");
  const wider = spawnSync("sed", ["-i", "s/0.05/0.5/", budgets]);
  assert.equal(wider.status, 0);
  writeServer(repository, { ...PLAIN, bytesPerKey: 50 });
  commit(repository, "wider budgets, no reason");
  const unreasoned = spawnGate(repository, "--base", "HEAD~1");
  assert.equal(unreasoned.code, 2, unreasoned.out);
  assert.match(unreasoned.err, /bytes_per_key_int changed, its reason did not/);
});
