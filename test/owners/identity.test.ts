/** Node ids: kept in the folder, the same over restarts and every change of layout. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { startOwners } from "../support/owners.ts";
import { removeFolder, temporaryFolder } from "../support/ports.ts";
import { textOf } from "../support/resp-parser.ts";
import { type Options, runZeroHop, startZeroHop } from "../support/servers.ts";

async function idsOf(count: number, options: Options): Promise<string[]> {
  const owners = await startOwners(count, options);
  const ids: string[] = [];
  for (const index of owners.ports.keys()) {
    const client = await owners.connect(index);
    ids.push(textOf((await client.call("CLUSTER", "MYID")).reply));
  }
  await owners.stop();
  return ids;
}

function locksIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith("zerohop.lock."));
}

describe("node ids", needsOurs(), () => {
  test("are stable over restarts, other ports and other counts", async () => {
    const dir = temporaryFolder();
    const first = await idsOf(4, { dir });
    const [nodeId] = first as [string];
    assert.match(nodeId, /^[0-9a-f]{40}$/);
    const derived = [1, 2, 3].map((i) => createHash("sha1").update(`${nodeId}:${i}`).digest("hex"));
    assert.deepEqual(first, [nodeId, ...derived]);
    assert.deepEqual(await idsOf(4, { dir }), first);
    assert.deepEqual(await idsOf(2, { dir }), first.slice(0, 2));
    assert.deepEqual((await idsOf(8, { dir, threads: 1 })).slice(0, 4), first);
    assert.match(readFileSync(path.join(dir, "zerohop.meta"), "utf8"), new RegExp(nodeId));
    removeFolder(dir);
  });

  test("differ between folders", async () => {
    const all = [...(await idsOf(3, {})), ...(await idsOf(3, {}))];
    assert.equal(new Set(all).size, 6);
  });

  test("are of one process at a time: a second server in the folder is refused", async () => {
    const dir = temporaryFolder();
    const owners = await startOwners(2, { dir });
    const args = ["--port", "auto", "--shard-owners", "2", "--shard-owners-port", "auto"];
    const refused = await runZeroHop([...args, "--dir", dir]);
    assert.equal(refused.code, 1);
    const { pid } = owners.server.child;
    assert.equal(
      refused.stderr,
      `zerohop: Sorry, the directory ${dir} is already used by a different server with ` +
        `shard-owners (process ${pid}). Please make sure that different servers use different ` +
        "directories (dir).\n",
    );
    // Without owners there is no identity in the folder.
    await (await startZeroHop({ dir })).stop();
    const first = await owners.connect(0);
    const nodeId = textOf((await first.call("CLUSTER", "MYID")).reply);
    await owners.server.end("SIGKILL");
    assert.equal(locksIn(dir).length, 1, "it is left");
    assert.equal((await idsOf(2, { dir }))[0], nodeId);
    assert.deepEqual(locksIn(dir), []);
    removeFolder(dir);
  });

  test("a damaged or empty zerohop.meta stops the start and is named", async () => {
    const dir = temporaryFolder();
    await idsOf(2, { dir });
    const file = path.join(dir, "zerohop.meta");
    const whole = readFileSync(file, "utf8");
    const digit = /[0-9a-f]{40}/.exec(whole);
    assert.ok(digit);
    const other = whole[digit.index] === "0" ? "1" : "0";
    const flipped = whole.slice(0, digit.index) + other + whole.slice(digit.index + 1);
    for (const content of ["", "nonsense\n", whole.slice(0, whole.length / 2), flipped]) {
      writeFileSync(file, content);
      const args = ["--port", "auto", "--shard-owners", "2", "--shard-owners-port", "auto"];
      const result = await runZeroHop([...args, "--dir", dir]);
      assert.equal(result.code, 1, JSON.stringify(content));
      assert.match(result.stdout + result.stderr, /zerohop\.meta/);
      assert.equal(readFileSync(file, "utf8"), content, "the file must be left as it is");
    }
    writeFileSync(file, whole);
    assert.equal((await idsOf(2, { dir })).length, 2);
    removeFolder(dir);
  });
});
