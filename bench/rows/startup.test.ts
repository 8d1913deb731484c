import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UsageError } from "../options.ts";
import { installTarball } from "./startup.ts";

const folder = mkdtempSync(join(tmpdir(), "zerohop-startup-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the tarball of a package is installed and its bin runs", () => {
  const root = join(folder, "package");
  mkdirSync(join(root, "dist"), { recursive: true });
  const manifest = {
    name: "zerohop",
    version: "1.2.3",
    type: "module",
    bin: { zerohop: "dist/main.js" },
    files: ["dist"],
    scripts: { prepack: "exit 1" },
  };
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  const script = "#!/usr/bin/env node\nprocess.stdout.write(process.argv.slice(2).join(' '));\n";
  writeFileSync(join(root, "dist", "main.js"), script, { mode: 0o755 });
  const target = mkdtempSync(join(folder, "target-"));
  const bin = installTarball(root, target);
  assert.ok(bin.startsWith(target));
  assert.equal(execFileSync(bin, ["--port", "7"], { encoding: "utf8" }), "--port 7");
});

test("a package that was not built is refused", () => {
  assert.throws(() => installTarball(join(folder, "nothing"), folder), UsageError);
});
