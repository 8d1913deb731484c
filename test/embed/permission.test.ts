/** A store in a process that Node's permission model keeps from everything but reading files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { restricted } from "../support/environment.ts";
import { runProgram } from "../support/servers.ts";

const INDEX = new URL("../../src/index.js", import.meta.url).href;

test("a store works under --permission, and listen says why it cannot", async () => {
  const source = `
    import { open } from ${JSON.stringify(INDEX)};
    const store = open({ memoryChunk: "8mb" });
    store.set("k", "v");
    console.log(store.get("k"));
    const error = await store.listen().catch((error) => error);
    console.log(error.code, error.message);
    await store.close();`;
  const words = [...restricted(), "--input-type=module", "--eval", source];
  const { code, stdout, stderr } = await runProgram(process.execPath, words);
  assert.equal(code, 0, stderr);
  const [value, refusal] = stdout.split("\n");
  assert.equal(value, "v");
  assert.match(refusal ?? "", /^LISTEN LISTEN 127\.0\.0\.1:0: Node's --permission denies /);
});
