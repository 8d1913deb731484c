import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { makeWayForSocket } from "./unix-path.ts";

describe("the path of a unix socket", () => {
  let folder = "";

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "zh-"));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  test("may be free, in a folder that is there", () => {
    makeWayForSocket(path.join(folder, "new.sock"));
    assert.throws(() => makeWayForSocket(path.join(folder, "no", "s")), { code: "ENOENT" });
  });

  test("a socket is removed", async () => {
    const socket = path.join(folder, "old.sock");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    assert.ok(existsSync(socket));
    makeWayForSocket(socket);
    assert.ok(!existsSync(socket));
    server.close();
  });

  test("nothing else is", () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "precious");
    assert.throws(() => makeWayForSocket(file), /no socket/);
    const link = path.join(folder, "link");
    symlinkSync(file, link);
    assert.throws(() => makeWayForSocket(link), /no socket/);
    assert.throws(() => makeWayForSocket(folder), /no socket/);
    assert.equal(readFileSync(file, "utf8"), "precious");
  });
});
