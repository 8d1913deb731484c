/** How many files and sockets this process may have open. */
import { readFileSync } from "node:fs";

/** The soft limit, which Node has raised to the hard one; infinite where it is not known. */
export function openFilesMax(): number {
  try {
    const line = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "latin1"));
    const limit = Number(line?.[1]);
    return Number.isFinite(limit) ? limit : Number.POSITIVE_INFINITY;
  } catch {
    // Not Linux.
    return Number.POSITIVE_INFINITY;
  }
}
