/**
 * Builds `dist/`: one bundle per entry, and the declarations of the entries that can be imported.
 *
 * Hundreds of small modules cost more at start than everything else together, hence the bundles.
 * A file is replaced by a rename and only when its content changed: a server that is running from
 * `dist/` never sees half a file, and `npm start` may come through here every time.
 *
 * `--bundles` is for running from the checkout: no declarations, and package.json is not compared
 * with the entries. Run by way of esbuild, before anything is compiled.
 */

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { build, type Plugin } from "esbuild";
import {
  declarationPath,
  type Entry,
  type Manifest,
  manifestProblems,
  presentEntries,
} from "./entries.ts";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

function fail(lines: readonly string[]): never {
  for (const line of lines) {
    process.stderr.write(`build: ${line}\n`);
  }
  process.exit(1);
}

function replaceIfChanged(path: string, content: Uint8Array, executable: boolean): void {
  if (existsSync(path) && readFileSync(path).equals(content)) {
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, content);
  if (executable) {
    chmodSync(fresh, 0o755);
  }
  renameSync(fresh, path);
}

/** What goes before a bundle: CommonJS packages inside one ask for Node's modules by `require`. */
function banner(entry: Entry): string {
  const lines: string[] = [];
  const hashbang = readFileSync(join(root, entry.source), "utf8").startsWith("#!");
  if (entry.bin !== undefined && !hashbang) lines.push("#!/usr/bin/env node");
  if (entry.bundles === true) {
    lines.push('import { createRequire } from "node:module";');
    lines.push("const require = createRequire(import.meta.url);");
  }
  return lines.join("\n");
}

/** Bundles get what this module exports, not what it is computed from. */
const COMPUTED = "src/command-names.ts";

/** What a module without side effects exports, as the source of a module: its values are JSON's. */
async function computed(path: string): Promise<string> {
  const result = await build({
    absWorkingDir: root,
    bundle: true,
    entryPoints: [path],
    format: "esm",
    logLevel: "warning",
    platform: "node",
    write: false,
  });
  const source = Buffer.from(result.outputFiles[0]?.contents ?? []).toString("base64");
  const values = (await import(`data:text/javascript;base64,${source}`)) as object;
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join("");
}

function computedModule(contents: string): Plugin {
  const path = join(root, COMPUTED);
  return {
    name: "computed",
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, (file) =>
        file.path === path ? { contents } : undefined,
      );
    },
  };
}

/**
 * Node's modules are asked for as objects. An `import` of one makes a second module that has all its
 * exports, and for that runs getters which load what nobody uses: all streams, for `node:fs`.
 */
const nodeModules: Plugin = {
  name: "node-modules",
  setup(builder) {
    builder.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: "node-modules" }));
    builder.onLoad({ filter: /.*/, namespace: "node-modules" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

async function bundle(entry: Entry): Promise<void> {
  const executable = entry.bin !== undefined;
  const isCommonJs = entry.commonJs === true;
  const result = await build({
    absWorkingDir: root,
    banner: { js: banner(entry) },
    bundle: true,
    entryPoints: [entry.source],
    format: isCommonJs ? "cjs" : "esm",
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    outfile: join(dist, `${entry.name}.${isCommonJs ? "cjs" : "js"}`),
    packages: entry.bundles === true ? "bundle" : "external",
    platform: "node",
    plugins: [computedModule(names), nodeModules],
    sourcemap: "linked",
    target: "node20.19",
    write: false,
  });
  for (const file of result.outputFiles) {
    replaceIfChanged(file.path, file.contents, executable && file.path.endsWith(".js"));
  }
  const notices = licenses(Object.keys(result.metafile.inputs));
  if (notices !== "") {
    const path = join(dist, `${entry.name}.licenses.txt`);
    replaceIfChanged(path, Buffer.from(notices, "utf8"), false);
  }
}

/** The licenses of the packages that a bundle holds, as they want to be passed on. */
function licenses(inputs: readonly string[]): string {
  const folders = new Set<string>();
  for (const path of inputs) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
    if (folder !== undefined) folders.add(folder);
  }
  const texts = [...folders].sort().map((folder) => {
    const from = join(root, folder);
    const { name, version } = JSON.parse(readFileSync(join(from, "package.json"), "utf8")) as {
      name: string;
      version: string;
    };
    const file = readdirSync(from).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) fail([`${name} ${version} has no license file, and a bundle holds it`]);
    return `${name} ${version}\n\n${readFileSync(join(from, file), "utf8").trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

/** Deletes the declarations that nobody can reach from an entry: those of the inside. */
function pruneDeclarations(entries: readonly Entry[]): void {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    const source = readFileSync(path, "utf8");
    for (const [, target = ""] of source.matchAll(/(?:from |import\()"(\.[^"]+)\.ts"/g)) {
      visit(join(dirname(path), `${target}.d.ts`));
    }
  };
  for (const entry of entries) {
    if (entry.subpath !== undefined) visit(join(root, declarationPath(entry)));
  }
  for (const name of readdirSync(join(dist, "types"), { recursive: true, encoding: "utf8" })) {
    const path = join(dist, "types", name);
    if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
}

function declarations(): void {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const result = spawnSync(process.execPath, [compiler, "-p", "tsconfig.types.json"], {
    cwd: root,
    stdio: "inherit",
  });
  if (result.status !== 0) {
    fail(["the declarations do not compile; see the errors above"]);
  }
}

const entries = presentEntries(root);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Manifest;
const problems = manifestProblems(manifest, entries);
const bundlesOnly = process.argv.includes("--bundles");
if (!bundlesOnly && problems.length > 0) {
  fail(problems.map((problem) => `package.json: ${problem}`));
}
if (entries.length === 0) {
  fail(["none of the entries of scripts/entries.ts exists"]);
}
const names = await computed(COMPUTED);
await Promise.all(entries.map(bundle));
if (!bundlesOnly && entries.some((entry) => entry.subpath !== undefined)) {
  declarations();
  pruneDeclarations(entries);
}
