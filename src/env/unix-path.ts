/**
 * The place of a unix socket in the file system.
 *
 * Only a socket is ever removed: a path that was mistyped may be that of somebody's file.
 */
import { lstatSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";

/** Removes a socket that an earlier server has left. Throws when none can be made there. */
export function makeWayForSocket(path: string): void {
  // Node would call a missing folder "permission denied".
  statSync(dirname(path));
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error("A file that is no socket is there");
  unlinkSync(path);
}
