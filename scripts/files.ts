/** Finding the files of the repository; folders that hold no source are never entered. */

import { readdirSync } from "node:fs";
import { join } from "node:path";

const NOT_SOURCE: ReadonlySet<string> = new Set([".git", "build", "dist", "node_modules"]);

/** Paths relative to `root` with forward slashes, sorted, of every file below `folder`. */
export function filesBelow(root: string, folder: string): string[] {
  const found: string[] = [];
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const item of readdirSync(join(root, next), { withFileTypes: true })) {
      const path = next === "" ? item.name : `${next}/${item.name}`;
      if (item.isDirectory()) {
        if (!NOT_SOURCE.has(item.name)) {
          pending.push(path);
        }
      } else if (item.isFile()) {
        found.push(path);
      }
    }
  }
  return found.sort();
}
