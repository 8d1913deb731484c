/** What the helper of the page about tests promises beyond what the tests of that page see. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { blocksOf, fileName } from "./pages.ts";
import { Workshop } from "./workshop.ts";

const HELPER = "start-zerohop.cjs";

const PROGRAM = `import { startZeroHop } from "./${HELPER}";
const server = await startZeroHop("--threads", "2");
console.log(server.port);
setInterval(() => {}, 1000);
`;

test("the server ends with a process that is killed", needsOurs(), async () => {
  const helper = blocksOf("docs/guide/test-with-it.md").find((block) => fileName(block) === HELPER);
  assert.ok(helper !== undefined);
  const shop = await Workshop.open();
  shop.write(helper, HELPER);
  const program = shop.write({ ...helper, text: PROGRAM }, "killed.js");
  const child = spawn(process.execPath, [path.basename(program)], {
    cwd: shop.folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const probe = connect({ port: Number(line), host: "127.0.0.1" });
  await once(probe, "connect");
  child.kill("SIGKILL");
  // The server closes its connections when it ends; nothing else does.
  probe.resume();
  await once(probe, "close");
  await shop.close();
});
