/**
 * Every row runs, tiny, against redis-server and against a stand-in of ours; the entry refuses what
 * it does not understand and says with its exit code what kind of failure it was.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { needs } from "../test/support/environment.ts";
import type { FakeFigures } from "./fake-server.ts";
import { ROWS } from "./rows.ts";

/** Most rows measure it beside us. */
const needed = needs("redis-server", "redis-benchmark");
const main = fileURLToPath(new URL("./main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "zerohop-bench-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function bench(...args: readonly string[]): { code: number | null; out: string; err: string } {
  const ran = spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}

/** The entry of a stand-in server with these figures. */
function fakeEntry(name: string, figures: FakeFigures): string {
  const fake = new URL("./fake-server.js", import.meta.url).href;
  const path = join(folder, `${name}.mjs`);
  const call = `serveFake(${JSON.stringify(figures)}, process.argv)`;
  writeFileSync(path, `import { serveFake } from ${JSON.stringify(fake)};\n${call};\n`);
  return path;
}

/** Cells of the table row that starts with `first`. */
function cells(out: string, first: string): string[] {
  const line = out.split("\n").find((one) => one.trimStart().startsWith(first));
  assert.ok(line !== undefined, `no line '${first}' in\n${out}`);
  return line.trim().split(/ {2,}/);
}

test("the list names every row", () => {
  const { code, out } = bench("--list");
  assert.equal(code, 0);
  for (const row of ROWS) assert.match(out, new RegExp(`^${row.name} `, "m"));
});

for (const row of ROWS) {
  test(`row ${row.name} runs against redis-server`, needed, () => {
    const { code, out, err } = bench("--smoke", row.name, "--subject", "redis-server");
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^${row.name}: `, "m"));
    assert.match(out, /figure above is meaningless/);
  });
}

test("bytes per key are the growth of used_memory over the keys", needed, () => {
  const entry = fakeEntry("memory", { bytesPerKey: 41.5, wasteUs: 0, jsHeap: undefined });
  const { code, out, err } = bench("memory", "--keys", "2k", "--entry", entry);
  assert.equal(code, 0, err);
  assert.deepEqual(cells(out, "embstr").slice(0, 3), ["embstr", "2k", "41.5"]);
});

test("a server that burns CPU costs more per command than redis-server", needed, () => {
  const entry = fakeEntry("slow", { bytesPerKey: 40, wasteUs: 200, jsHeap: undefined });
  const { code, out, err } = bench("--smoke", "cpu", "--commands", "GET", "--entry", entry);
  assert.equal(code, 0, err);
  // 200 us wasted on each read of at most 16 requests.
  const used = Number(cells(out, "GET")[5]?.split(" ")[0]);
  assert.ok(used > 10, `${used} us per command in\n${out}`);
});

test("the heap row needs a figure that grows with nothing", () => {
  const entry = fakeEntry("heap", { bytesPerKey: 40, wasteUs: 0, jsHeap: 3 << 20 });
  const { code, out, err } = bench("--smoke", "heap", "--entry", entry);
  assert.equal(code, 0, err);
  assert.deepEqual(cells(out, "2k"), ["2k", "2", "3.00", "3.00", "0.00"]);
});

test("a figure that the server does not have is missing, not zero", () => {
  const entry = fakeEntry("bare", { bytesPerKey: undefined, wasteUs: 0, jsHeap: undefined });
  for (const row of ["memory", "heap"]) {
    const { code, out, err } = bench("--smoke", row, "--entry", entry);
    assert.equal(code, 3, `${out}\n${err}`);
    assert.match(err, /missing figure: INFO (used_memory|threads)/);
  }
});

test("targets tell short, passed and not measured apart", () => {
  const entry = fakeEntry("targets", { bytesPerKey: 37, wasteUs: 0, jsHeap: undefined });
  const { code, out } = bench(
    "targets",
    "--only",
    "bytes-int-100k,bytes-embstr-100k",
    "--entry",
    entry,
  );
  assert.equal(code, 1, out);
  assert.match(
    cells(out, "bytes-int-100k").join("|"),
    /\|37\.0\|.*\|<= 36 bytes\|.*short by 1\.00 bytes/,
  );
  assert.match(cells(out, "bytes-embstr-100k").join("|"), /\|pass\|/);
  assert.match(out, /1 passed, 1 short, 0 not measured/);
  const missing = bench("targets", "--only", "bytes-int-100k", "--entry", join(folder, "none.js"));
  assert.equal(missing.code, 3, missing.out);
  assert.match(missing.out, /not measured: .*none\.js is missing/);
});

test("usage errors are exit code 2 and one line", () => {
  for (const args of [
    ["nosuchrow"],
    ["cpu", "--kyes", "1"],
    ["cpu", "--keys", "many"],
    ["cpu", "--entry", join(folder, "absent.js")],
    ["owners", "--subject", "redis-server", "--threads", "1"],
    ["cpu", "--subject", "redis-server", "--keys", "100m", "--values", "1048576"],
    ["targets", "--only", "nosuchtarget"],
    ["--pin"],
  ]) {
    const { code, err } = bench(...args);
    const lines = err
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("..."));
    assert.equal(code, 2, `${args.join(" ")}: ${err}`);
    assert.equal(lines.length, 1, err);
  }
});
