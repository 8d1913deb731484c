/**
 * Handles on their way between threads: each arrives once, nothing of it is on disk, and one that
 * the system had no descriptor for is told of.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { HandleHub, type HandleSender, PASS_CONNECTION, receiveHandles } from "./handle-pipe.ts";
import { listenTcp } from "./listen.ts";
import type { AcceptedHandle } from "./socket-link.ts";

const PRLIMIT = "/usr/bin/prlimit";

const TEXT = { encoding: "utf8" } as const;

type Arrival = { kind: number; owner: number; handle: AcceptedHandle | null };

/** Both ends of a pipe, here in one thread. */
function makePipe(arrived: (arrival: Arrival) => void): Promise<HandleSender> {
  return new Promise((resolve, reject) => {
    const hub = new HandleHub(resolve);
    const received = (kind: number, owner: number, handle: AcceptedHandle | null): void =>
      arrived({ kind, owner, handle });
    receiveHandles(hub.path, received, (reason) => reject(new Error(reason)));
  });
}

/** Accepts `count` connections and calls `run` with their handles. */
async function accept(count: number, run: (handles: AcceptedHandle[]) => void): Promise<Socket[]> {
  const place = { host: "127.0.0.1", port: 0, backlog: 16, ipv6Only: false, reusePort: false };
  const handles: AcceptedHandle[] = [];
  let allCame = (): void => {};
  const all = new Promise<void>((resolve) => {
    allCame = resolve;
  });
  const listener = await listenTcp(place, (handle) => {
    handles.push(handle);
    if (handles.length === count) allCame();
  });
  const clients = Array.from({ length: count }, () => connect(listener.port, "127.0.0.1"));
  await all;
  listener.close();
  run(handles);
  return clients;
}

function arrivalOf(count: number, arrivals: readonly Arrival[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (arrivals.length === count) resolve();
      else if (performance.now() > deadline) reject(new Error(`${arrivals.length} of ${count}`));
      else setImmediate(look);
    };
    look();
  });
}

test("a pipe has a name of its own and leaves nothing on disk", () => {
  // Others of this machine have folders there whose names begin so.
  const ofThisProcess = (): string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`zerohop-${process.pid}-`));
  const before = ofThisProcess();
  const hubs = Array.from({ length: 20 }, () => new HandleHub(() => {}));
  assert.equal(new Set(hubs.map(({ path }) => path)).size, 20, "two have the same name");
  const during = ofThisProcess();
  for (const hub of hubs) hub.close();
  if (process.platform !== "linux") return;
  for (const { path } of hubs) assert.equal(path.charCodeAt(0), 0, "not in the abstract space");
  assert.deepEqual(during, before);
});

test("a receiver whose hub is gone is told, and throws nothing", async () => {
  const hub = new HandleHub(() => {});
  hub.close();
  const reason = await new Promise<string>((failed) => receiveHandles(hub.path, () => {}, failed));
  assert.match(reason, /^cannot connect to the acceptor: E[A-Z]+$/);
});

test("handles arrive with their kind and owner, and are descriptors of their own", async () => {
  const arrivals: Arrival[] = [];
  const sender = await makePipe((arrival) => arrivals.push(arrival));
  let sent: AcceptedHandle[] = [];
  const clients = await accept(3, (handles) => {
    sent = handles;
    for (const [n, handle] of handles.entries()) {
      sender.send(PASS_CONNECTION, n === 0 ? -1 : n * 200, handle, () => handle.close());
    }
  });
  await arrivalOf(3, arrivals);
  assert.equal(sent.length, 3);
  assert.deepEqual(
    arrivals.map(({ kind, owner }) => [kind, owner]),
    [
      [PASS_CONNECTION, -1],
      [PASS_CONNECTION, 200],
      [PASS_CONNECTION, 400],
    ],
  );
  for (const { handle } of arrivals) assert.ok(handle !== null && (handle.fd ?? -1) >= 0);
  for (const { handle } of arrivals) handle?.close();
  for (const client of clients) client.destroy();
});

const needed = existsSync(PRLIMIT) ? {} : { skip: `no ${PRLIMIT} to set limits with` };

test("one that there is no descriptor for is told of", needed, async () => {
  const arrivals: Arrival[] = [];
  const sender = await makePipe((arrival) => arrivals.push(arrival));
  const own = ["--pid", String(process.pid)];
  const limit = execFileSync(PRLIMIT, [...own, "--nofile", "-o", "SOFT", "--noheadings"], TEXT);
  // Started now, since later there is no descriptor for it.
  const raise = `read line; exec ${PRLIMIT} ${own.join(" ")} --nofile=${limit.trim()}:`;
  const restorer = spawn("/bin/sh", ["-c", raise], { stdio: ["pipe", "ignore", "inherit"] });
  const restored = new Promise((resolve) => restorer.on("exit", resolve));
  const clients = await accept(4, (handles) => {
    execFileSync(PRLIMIT, [...own, "--nofile=8:"]);
    // They stay open here, so that no descriptor becomes free.
    for (const handle of handles) sender.send(PASS_CONNECTION, -1, handle, () => {});
  });
  try {
    await arrivalOf(4, arrivals);
  } finally {
    restorer.stdin.end("\n");
    for (const client of clients) client.destroy();
  }
  assert.equal(await restored, 0);
  assert.ok(
    arrivals.some(({ handle }) => handle === null),
    "all arrived without descriptors",
  );
  for (const { kind, owner } of arrivals) assert.deepEqual([kind, owner], [PASS_CONNECTION, -1]);
  for (const { handle } of arrivals) handle?.close();
});
