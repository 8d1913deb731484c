import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { type FolderLock, lockFolder } from "./folder-lock.ts";

describe("the lock of a folder", () => {
  let root = "";
  let folder = "";

  before(() => {
    root = mkdtempSync(join(tmpdir(), "zh-"));
  });

  after(() => rmSync(root, { recursive: true, force: true }));

  beforeEach(() => {
    folder = mkdtempSync(join(root, "dir-"));
  });

  function held(lock: FolderLock): () => void {
    assert.equal(lock.kind, "held", JSON.stringify(lock));
    return lock.kind === "held" ? lock.release : () => undefined;
  }

  /** A socket that is left as by a process that was killed: closing it removes only its own name. */
  async function leave(name: string): Promise<void> {
    const server: Server = createServer();
    await new Promise<void>((listening) => server.listen(join(folder, "s"), listening));
    renameSync(join(folder, "s"), join(folder, name));
    await new Promise((closed) => server.close(closed));
  }

  test("is had by one at a time, and free again when it is released", async () => {
    const release = held(await lockFolder(folder));
    assert.deepEqual(await lockFolder(folder), { kind: "used", processId: String(process.pid) });
    assert.equal(readdirSync(folder).length, 1, "who had to give up leaves nothing");
    release();
    assert.deepEqual(readdirSync(folder), []);
    held(await lockFolder(folder))();
  });

  test("goes to exactly one of many that ask at once", async () => {
    for (let round = 0; round < 5; round++) {
      const locks = await Promise.all(Array.from({ length: 8 }, () => lockFolder(folder)));
      const [lock, ...others] = locks.filter(({ kind }) => kind === "held");
      assert.equal(others.length, 0);
      assert.equal(locks.filter(({ kind }) => kind === "used").length, 7);
      held(lock as FolderLock)();
    }
  });

  test("is no longer that of a process that was killed", async () => {
    await leave("zerohop.lock.1.0123456789ab");
    await leave(`zerohop.lock.${process.pid}.ffffffffffff`);
    held(await lockFolder(folder))();
    assert.deepEqual(readdirSync(folder), []);
  });

  test("leaves alone what is no lock", async () => {
    await leave("zerohop.lock.1.nothex");
    writeFileSync(join(folder, "zerohop.lock.1.0123456789ab"), "mine");
    mkdirSync(join(folder, "zerohop.lock.2.0123456789ab"));
    const names = readdirSync(folder);
    held(await lockFolder(folder))();
    assert.deepEqual(readdirSync(folder), names);
  });

  test("needs a folder where a socket can be made", async () => {
    const lock = await lockFolder(join(folder, "none"));
    assert.equal(lock.kind, "impossible");
  });

  test("takes a folder whose path is longer than that of a socket, if it is the current one", async () => {
    const deep = join(folder, "d".repeat(100), "e".repeat(100));
    mkdirSync(deep, { recursive: true });
    const before = process.cwd();
    process.chdir(deep);
    try {
      const release = held(await lockFolder(deep));
      assert.equal((await lockFolder(deep)).kind, "used");
      release();
      assert.deepEqual(readdirSync(deep), []);
    } finally {
      process.chdir(before);
    }
  });
});
