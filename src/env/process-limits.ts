/** What the system lets this process have: open files and address space. Infinite where unknown. */
import { readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** A soft limit by its name in /proc. */
function softLimit(name: string): number {
  try {
    const limits = readFileSync("/proc/self/limits", "latin1");
    const limit = Number(new RegExp(`^${name} +(\\S+)`, "m").exec(limits)?.[1]);
    return Number.isFinite(limit) ? limit : Number.POSITIVE_INFINITY;
  } catch {
    // Not Linux.
    return Number.POSITIVE_INFINITY;
  }
}

/** How many files and sockets may be open; Node has raised the soft limit to the hard one. */
export function openFilesMax(): number {
  return softLimit("Max open files");
}

/** Bytes of address space that can still be had, as `ulimit -v` bounds them. */
export function addressSpaceLeft(): number {
  const most = softLimit("Max address space");
  if (most === Number.POSITIVE_INFINITY) return most;
  const pages = Number(readFileSync("/proc/self/statm", "latin1").split(" ", 1)[0]);
  return most - pages * PAGE_BYTES;
}
