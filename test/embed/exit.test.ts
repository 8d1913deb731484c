/** An open store keeps no process and no worker alive; a listener does until it is closed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/servers.ts";

const INDEX = new URL("../../src/index.js", import.meta.url).href;

/** Runs a program that has `open`, `Worker` and `log`, and returns what it printed. */
async function run(source: string): Promise<string> {
  const head =
    `import { open } from ${JSON.stringify(INDEX)};\n` +
    'import { Worker } from "node:worker_threads";\nconst log = console.log;\n';
  const words = ["--input-type=module", "--eval", head + source];
  const program = await runProgram(process.execPath, words);
  assert.equal(program.stderr, "");
  assert.equal(program.code, 0);
  return program.stdout;
}

/** A worker that has the store as `store`. */
function worker(source: string): string {
  const text =
    `const { open } = await import(${JSON.stringify(INDEX)});\n` +
    'const { workerData, parentPort } = await import("node:worker_threads");\n' +
    `const store = open({ handle: workerData });\n${source}`;
  // As a module: --eval of a worker is a script.
  const url = `data:text/javascript,${encodeURIComponent(text)}`;
  return `new Worker(new URL(${JSON.stringify(url)}), { workerData: store.handle })`;
}

describe("the process ends by itself", () => {
  test("with an open store", async () => {
    const printed = await run(`
      const store = open();
      store.set("k", "v", { PX: 100_000 });
      log(store.get("k"));`);
    assert.equal(printed, "v\n");
  });

  test("with an open store in workers, which end before", async () => {
    const printed = await run(`
      const store = open();
      const workers = [1, 2].map(() => ${worker('store.incr("n");')});
      let ended = 0;
      for (const worker of workers) worker.on("exit", (code) => {
        log(code, ++ended, store.get("n"));
      });`);
    assert.match(printed, /^0 1 [12]\n0 2 2\n$/);
  });

  test("once what listens is closed", async () => {
    const printed = await run(`
      const store = open();
      const { port } = await store.listen();
      log(port > 0);
      setTimeout(() => store.close().then(() => log("closed")), 50);`);
    assert.equal(printed, "true\nclosed\n");
  });

  test("when it is told to, in the middle of calls of its workers", async () => {
    const printed = await run(`
      const store = open();
      const workers = [1, 2].map(() =>
        ${worker('for (let i = 0; ; i++) { store.set("k" + (i % 100), "v"); store.incr("n"); }')});
      const timer = setInterval(() => {
        if (Number(store.get("n")) < 1000) return;
        log("enough");
        process.exit(0);
      }, 1);`);
    assert.equal(printed, "enough\n");
  });
});
