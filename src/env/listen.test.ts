/** Bare listeners: what they bind, what they refuse, and that no connection comes too early. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Listener, listenPath, listenTcp, listenUnix, type TcpPlace } from "./listen.ts";

const LOCAL: TcpPlace = {
  host: "127.0.0.1",
  port: 0,
  backlog: 16,
  ipv6Only: false,
  reusePort: false,
};

/** Resolves when a connection to the place was taken. */
function taken(
  open: (accepted: () => void) => Promise<Listener>,
  options: (listener: Listener) => { port: number; host: string } | { path: string },
): Promise<Listener> {
  return new Promise((resolve, reject) => {
    let listener: Listener | null = null;
    const accepted = (): void => {
      client?.destroy();
      listener?.close();
      if (listener === null) reject(new Error("a connection before there was a listener"));
      else resolve(listener);
    };
    let client: ReturnType<typeof connect> | null = null;
    open(accepted).then((made) => {
      listener = made;
      client = connect(options(made)).once("error", reject);
    }, reject);
  });
}

describe("a bare listener", () => {
  test("on an address in numbers, at a port that the system chose", async () => {
    const listener = await taken(
      (accepted) => listenTcp(LOCAL, accepted),
      ({ port, address }) => ({ port, host: address }),
    );
    assert.equal(listener.address, "127.0.0.1");
    assert.ok(listener.port > 0);
  });

  test("on what a name stands for", async () => {
    for (const host of ["localhost", "127.1"]) {
      const listener = await listenTcp({ ...LOCAL, host }, () => {});
      assert.match(listener.address, /^(127\.0\.0\.1|::1)$/, host);
      listener.close();
    }
    await assert.rejects(
      listenTcp({ ...LOCAL, host: "no name of a host" }, () => {}),
      { syscall: "getaddrinfo" },
    );
  });

  test("says what the system says, in the shape of Node's errors", async () => {
    const listener = await listenTcp(LOCAL, () => {});
    const { port } = listener;
    await assert.rejects(
      listenTcp({ ...LOCAL, port }, () => {}),
      { code: "EADDRINUSE", message: "EADDRINUSE" },
    );
    listener.close();
    await assert.rejects(
      listenTcp({ ...LOCAL, host: "192.0.2.1" }, () => {}),
      { code: "EADDRNOTAVAIL" },
    );
    for (const wrong of [-1, 65_536, 1.5, Number.NaN]) {
      await assert.rejects(
        listenTcp({ ...LOCAL, port: wrong }, () => {}),
        { message: "a port is a whole number up to 65535" },
      );
    }
    // The port is free again: nothing of what was refused has kept it.
    (await listenTcp({ ...LOCAL, port }, () => {})).close();
  });

  test("on a unix socket, which goes with it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "zh-"));
    const path = join(folder, "socket");
    const place = { path, backlog: 16, permissions: 0o600 };
    const listener = await listenUnix(place, () => {});
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual([listener.address, listener.port], [path, 0]);
    await assert.rejects(
      listenUnix(place, () => {}),
      { message: "Address already in use" },
    );
    listener.close();
    assert.ok(!existsSync(path));
    await taken(
      (accepted) => listenUnix(place, accepted),
      () => ({ path }),
    );
    assert.throws(() => listenPath(join(folder, "no", "socket"), 1, () => {}), { code: "EACCES" });
    rmSync(folder, { recursive: true });
  });
});
