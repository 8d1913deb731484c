/**
 * The place of a unix socket in the file system.
 *
 * Only a socket is ever removed: a path that was mistyped may be that of somebody's file. And only
 * one that nobody listens on: without its path a server that runs can be reached no more.
 */
import { lstatSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

/** The address of a socket as clients take it: absolute, and with nothing before the path. */
export function unixUrl(path: string): string {
  return `unix://${pathToFileURL(path).pathname}`;
}

/** Removes a socket that an earlier server has left. Rejects when none can be made there. */
export async function makeWayForSocket(path: string): Promise<void> {
  // Node would call a missing folder "permission denied".
  statSync(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error("A file that is no socket is there");
  if (await isServed(path)) throw new Error("Address already in use");
  unlinkSync(path);
}

/**
 * Whether somebody listens there, or may: only a refusal says that nobody does. The module that it
 * takes is loaded here, since most servers have no unix socket.
 */
function isServed(path: string): Promise<boolean> {
  const { connect } = process.getBuiltinModule("node:net");
  return new Promise((resolve) => {
    const probe = connect({ path }, () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
}
