/** The package as it is published: installed into an empty folder it needs nothing else. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { wholePackage, withExecutable } from "../support/build.ts";
import { needsOurs, repositoryRoot } from "../support/environment.ts";
import { parseExposition } from "../support/exposition.ts";
import { removeFolder, temporaryFolder } from "../support/ports.ts";
import { textOf } from "../support/resp-parser.ts";
import { runProgram, startZeroHop } from "../support/servers.ts";

const QUIET = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];

async function npm(folder: string, ...words: string[]): Promise<string> {
  const run = await runProgram("npm", [...words, ...QUIET], { folder });
  assert.equal(run.code, 0, `npm ${words.join(" ")}: ${run.stdout}${run.stderr}`);
  return run.stdout;
}

/** Relative links of every page that is in the package, which lead to nothing. */
function deadLinks(folder: string): string[] {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const dead: string[] = [];
  for (const page of pages.filter((name) => name.endsWith(".md"))) {
    const text = readFileSync(path.join(folder, page), "utf8").replace(/`[^`]*`/g, "");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const file = path.join(folder, path.dirname(page), target);
      if (!existsSync(file)) dead.push(`${page}: ${target}`);
    }
  }
  return dead;
}

test("packed, installed without a registry, and run", needsOurs(), async () => {
  await wholePackage();
  const folder = temporaryFolder();
  await npm(repositoryRoot, "pack", "--pack-destination", folder);
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true }');
  await npm(folder, "install", `./${tarball}`);
  const modules = path.join(folder, "node_modules");
  assert.deepEqual(
    readdirSync(modules).filter((name) => !name.startsWith(".")),
    ["zerohop"],
  );
  const own = path.join(modules, "zerohop");
  assert.deepEqual(deadLinks(own), []);
  const licenses = readFileSync(path.join(own, "dist", "admin.licenses.txt"), "utf8");
  assert.match(licenses, /^prom-client \d+\.\d+\.\d+$/m);

  await withExecutable(path.join(own, "dist", "main.js"), async () => {
    const server = await startZeroHop({ "admin-port": "auto", threads: 2, "shard-owners": 2 });
    const client = await server.connect();
    assert.equal(textOf((await client.call("PING")).reply), "PONG");
    const page = await fetch(`http://${server.listeners.get("admin")}/metrics`);
    assert.ok(parseExposition(await page.text(), false).size > 50);
    await server.stop();
  });
  const program = 'import { open } from "zerohop"; console.log(open().incr("n"));';
  const embedded = await runProgram(process.execPath, ["--input-type=module", "-e", program], {
    folder,
  });
  assert.equal(`${embedded.stdout}${embedded.stderr}`, "1\n");
  assert.ok(existsSync(path.join(own, "dist", "types", "index.d.ts")));

  const version = await runProgram(path.join(modules, ".bin", "zerohop"), ["--version"]);
  assert.match(version.stdout, /^ZeroHop server v=\d+\.\d+\.\d+ redis=7\.4\.\d+ node=/);
  removeFolder(folder);
});
