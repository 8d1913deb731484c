/**
 * A folder that one process has to itself for as long as it lives. Node has no flock, so the lock
 * is a unix socket in the folder that its process listens on: it ends with the process however that
 * ends, and no number of a process that came later can be taken for it.
 *
 *   zerohop.lock.<process id>.<12 random hex digits>
 *
 * Names are never used twice, so that what a killed process left can be removed by anybody at any
 * time. Who wants the lock listens first and looks at the others then: of two that look at the same
 * moment each sees the other, and the one with the lesser name goes on. A socket tells whoever
 * connects whether its process has the lock or is still looking.
 *
 * It holds between the processes of one machine, whatever containers they are in.
 */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join, relative, resolve } from "node:path";
import { FOLDER_LOCK_ANSWER_MS, FOLDER_LOCK_LOOK_MS } from "../limits.ts";
import { errorText } from "./config-host.ts";
import { randomHex } from "./entropy.ts";

export type FolderLock =
  | { kind: "held"; release(): void }
  | { kind: "used"; processId: string }
  /** No socket can be made there. */
  | { kind: "impossible"; error: string };

type Other = "gone" | "looking" | "holding";

const NAME = /^zerohop\.lock\.(\d+)\.[0-9a-f]{12}$/;
const LOOKING = "looking\n";
const HOLDING = "holding\n";

/** The path as it is shortest: that of a socket may have a hundred bytes. */
function socketPath(folder: string, name: string): string {
  return relative(process.cwd(), join(folder, name));
}

export async function lockFolder(folder: string): Promise<FolderLock> {
  const own = `zerohop.lock.${process.pid}.${randomHex(6)}`;
  const path = resolve(folder, own);
  let isHeld = false;
  const server = createServer((peer) => {
    // It may be gone already.
    peer.on("error", () => undefined);
    peer.end(isHeld ? HOLDING : LOOKING);
  });
  const release = (): void => {
    server.close();
    rmSync(path, { force: true });
  };
  try {
    await listen(server, socketPath(folder, own));
    for (;;) {
      const other = await strongest(folder, own);
      if (other === null) break;
      if (other.state === "holding" || other.name < own) {
        release();
        return { kind: "used", processId: NAME.exec(other.name)?.[1] ?? "" };
      }
      // It sees this one and gives up, or has looked before and holds.
      await pause(FOLDER_LOCK_LOOK_MS);
    }
  } catch (error) {
    release();
    return { kind: "impossible", error: errorText(error) };
  }
  isHeld = true;
  return { kind: "held", release };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((listening, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      // A connection that found no descriptor; whoever asks takes the lock for held.
      server.on("error", () => undefined);
      server.unref();
      listening();
    });
  });
}

/** Of the others in the folder one that holds the lock, else the one with the least name. */
async function strongest(
  folder: string,
  own: string,
): Promise<{ name: string; state: Other } | null> {
  let least: string | null = null;
  for (const name of readdirSync(folder).sort()) {
    if (!NAME.test(name) || name === own) continue;
    const state = await stateOf(folder, name);
    if (state === "holding") return { name, state };
    if (state === "looking") least ??= name;
  }
  return least === null ? null : { name: least, state: "looking" };
}

async function stateOf(folder: string, name: string): Promise<Other> {
  const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
  if (found === undefined || !found.isSocket()) return "gone";
  const state = await ask(socketPath(folder, name));
  if (state === "gone") rmSync(join(folder, name), { force: true });
  return state;
}

/** Only a refusal says that nobody listens. Who does not answer is busy and not to be passed. */
function ask(path: string): Promise<Other> {
  return new Promise((answer) => {
    let text = "";
    const peer = connect({ path });
    peer.setTimeout(FOLDER_LOCK_ANSWER_MS, () => {
      peer.destroy();
      answer("holding");
    });
    peer.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    peer.once("end", () => answer(text === HOLDING ? "holding" : "looking"));
    peer.once("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "ECONNREFUSED" || code === "ENOENT") answer("gone");
      else answer(code === "ECONNRESET" || code === "EPIPE" ? "looking" : "holding");
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((over) => setTimeout(over, ms));
}
