import assert from "node:assert/strict";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { makeWayForSocket, unixUrl } from "./unix-path.ts";

test("the address of a unix socket is absolute, and that of an URL", () => {
  assert.equal(unixUrl("/run/a.sock"), "unix:///run/a.sock");
  assert.equal(unixUrl("/run/a b?.sock"), "unix:///run/a%20b%3F.sock");
  assert.equal(unixUrl("a.sock"), unixUrl(path.resolve("a.sock")));
});

describe("the path of a unix socket", () => {
  let folder = "";

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "zh-"));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  function listenOn(socket: string): Promise<Server> {
    const server = createServer();
    return new Promise((resolve) => server.listen(socket, () => resolve(server)));
  }

  test("may be free, in a folder that is there", async () => {
    await makeWayForSocket(path.join(folder, "new.sock"));
    await assert.rejects(makeWayForSocket(path.join(folder, "no", "s")), { code: "ENOENT" });
  });

  test("a socket that was left is removed", async () => {
    const socket = path.join(folder, "old.sock");
    const server = await listenOn(socket);
    // Under another name it outlives its server, as that of a process that was killed.
    const left = path.join(folder, "left.sock");
    renameSync(socket, left);
    await new Promise((resolve) => server.close(resolve));
    assert.ok(existsSync(left));
    await makeWayForSocket(left);
    assert.ok(!existsSync(left));
  });

  test("one that somebody listens on is not", async () => {
    const socket = path.join(folder, "served.sock");
    const server = await listenOn(socket);
    await assert.rejects(makeWayForSocket(socket), { message: "Address already in use" });
    assert.ok(existsSync(socket));
    await new Promise((resolve) => server.close(resolve));
  });

  test("nothing else is", async () => {
    const file = path.join(folder, "file");
    writeFileSync(file, "precious");
    await assert.rejects(makeWayForSocket(file), /no socket/);
    const link = path.join(folder, "link");
    symlinkSync(file, link);
    await assert.rejects(makeWayForSocket(link), /no socket/);
    await assert.rejects(makeWayForSocket(folder), /no socket/);
    assert.equal(readFileSync(file, "utf8"), "precious");
  });
});
