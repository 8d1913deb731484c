/** The embedded store as an application gets it: from the tarball, with its types. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { wholePackage } from "../support/build.ts";
import { needsOurs, repositoryRoot } from "../support/environment.ts";
import { removeFolder, temporaryFolder } from "../support/ports.ts";
import { runProgram } from "../support/servers.ts";

const folder = temporaryFolder();
const COMPILER = path.join(repositoryRoot, "node_modules/typescript/bin/tsc");
const QUIET = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"];

after(() => removeFolder(folder));

async function run(program: string, words: readonly string[], where: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, [...words], { folder: where });
  assert.equal(code, 0, `${program} ${words.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

const CONSUMER = `import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import {
  type Database,
  open,
  type ScanPage,
  type Store,
  StoreBroken,
  StoreError,
  type StoreHandle,
  type StoreOptions,
} from "zerohop";

const options: StoreOptions = { maxmemory: "64mb", memoryChunk: "16mb", hashMaxListpackEntries: 1 };

async function main(): Promise<void> {
  await using store: Store = open(options);
  const text: string | null = store.get("k");
  const bytes: Buffer | null = store.getBuffer("k");
  const set: "OK" | null = store.set("k", Buffer.from("v"), { EX: 10 });
  const old: string | null = store.set("k", "w", { GET: true });
  const n: number | bigint = store.incr("n");
  const page: ScanPage<string> = store.scan("0");
  const one: Database = store.db(1);
  const reply: unknown = store.call("CONFIG", "GET", "maxmemory");
  const handle: StoreHandle = store.handle;
  // @ts-expect-error: keys are text or bytes.
  if (Math.random() > 2) store.get(1);
  // @ts-expect-error: a Buffer is one, not any.
  if (Math.random() > 2) JSON.parse(store.getBuffer("k"));
  // @ts-expect-error: there is no such policy.
  if (Math.random() > 2) open({ maxmemoryPolicy: "lru" });
  // @ts-expect-error: names of options are in upper case.
  if (Math.random() > 2) store.set("k", "v", { ex: 1 });
  // @ts-expect-error: there is no such option; maxmemory is meant.
  if (Math.random() > 2) open({ maxMemory: "1mb" });
  // @ts-expect-error: ports are for listen.
  if (Math.random() > 2) open({ port: 6379 });
  // @ts-expect-error: a handle that is not there.
  if (Math.random() > 2) open({ handle: undefined });
  // @ts-expect-error: a store is no handle.
  if (Math.random() > 2) open({ handle: store });
  // @ts-expect-error: there is no such condition.
  if (Math.random() > 2) store.expire("k", 1, "ZZ");
  const worker = new Worker(new URL(import.meta.url), { workerData: handle });
  const [seen] = await new Promise<unknown[]>((resolve) => {
    worker.once("message", (...words: unknown[]) => resolve(words));
  });
  let code = "";
  try {
    store.incr("k");
  } catch (error) {
    if (error instanceof StoreError) code = error.code;
  }
  const kind = new StoreBroken("x") instanceof StoreError;
  console.log(JSON.stringify([text, bytes, set, old, n, page.cursor, one.dbsize(), seen, code, kind,
    reply instanceof Map]));
}

if (isMainThread) {
  await main();
} else {
  using store = open({ handle: workerData as StoreHandle });
  parentPort?.postMessage(store.get("k"));
}
`;

/** As strict as an application may be, the declarations of the package included. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    isolatedModules: true,
    verbatimModuleSyntax: true,
    skipLibCheck: false,
    target: "es2022",
    module: "nodenext",
    moduleResolution: "nodenext",
    lib: ["es2023", "esnext.disposable"],
    // The default since TypeScript 6. The declarations themselves name the types that they need.
    types: [],
    outDir: "out",
  },
  files: ["consumer.ts"],
};

test("is imported, typed and run from the tarball", needsOurs(), async () => {
  await wholePackage();
  await run("npm", ["pack", "--pack-destination", folder, ...QUIET], repositoryRoot);
  const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", `./${tarball}`, ...QUIET], folder);
  const modules = path.join(folder, "node_modules");
  const own = path.join(modules, "zerohop");
  const manifest = JSON.parse(readFileSync(path.join(own, "package.json"), "utf8")) as {
    exports: Record<string, unknown>;
    main: string;
    types: string;
  };
  const { main, types } = manifest;
  assert.deepEqual(manifest.exports["."], { types, default: main });
  assert.equal(types, "./dist/types/index.d.ts");
  mkdirSync(path.join(modules, "@types"));
  for (const name of ["@types/node", "undici-types"]) {
    symlinkSync(path.join(repositoryRoot, "node_modules", name), path.join(modules, name));
  }
  writeFileSync(path.join(folder, "consumer.ts"), CONSUMER);
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  await run(process.execPath, [COMPILER, "-p", folder], folder);
  for (const [module, resolution] of [
    ["node16", "node16"],
    ["esnext", "bundler"],
  ] as const) {
    const words = ["--noEmit", "--module", module, "--moduleResolution", resolution];
    await run(process.execPath, [COMPILER, "-p", folder, ...words], folder);
  }
  const printed = await run(process.execPath, [path.join(folder, "out/consumer.js")], folder);
  assert.deepEqual(JSON.parse(printed), [null, null, "OK", "v", 1, "0", 0, "w", "ERR", true, true]);

  const common = path.join(folder, "common");
  mkdirSync(common);
  writeFileSync(path.join(common, "package.json"), '{ "type": "commonjs" }');
  const program = 'import { open } from "zerohop";\nconsole.log(open().incr("n"));\n';
  writeFileSync(path.join(common, "consumer.ts"), program);
  const compilerOptions = { ...TSCONFIG.compilerOptions, verbatimModuleSyntax: false };
  const config = { ...TSCONFIG, compilerOptions };
  writeFileSync(path.join(common, "tsconfig.json"), JSON.stringify(config));
  await run(process.execPath, [COMPILER, "-p", common], common);
  assert.match(readFileSync(path.join(common, "out/consumer.js"), "utf8"), /require\("zerohop"\)/);
  assert.equal(await run(process.execPath, ["out/consumer.js"], common), "1\n");
});
