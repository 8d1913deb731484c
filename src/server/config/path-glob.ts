/**
 * The files a path with wildcards stands for, as glob(3): `*`, `?` and `[...]` do not cross a slash
 * and do not match a leading dot, and the result is sorted.
 */
import { globMatchText } from "../../base/glob.ts";
import type { ConfigSource } from "./host.ts";

export function hasWildcard(path: string): boolean {
  return /[*?[]/.test(path);
}

/** Empty if nothing matches, which is no error. */
export function matchingPaths(source: ConfigSource, base: string, pattern: string): string[] {
  const parts = pattern.split("/");
  let paths = [""];
  for (const [i, part] of parts.entries()) {
    const last = i === parts.length - 1;
    paths = paths.flatMap((prefix) => {
      if (!hasWildcard(part)) return last ? `${prefix}${part}` : `${prefix}${part}/`;
      const names = source.listDirectory(source.resolvePath(base, prefix)) ?? [];
      const matches = names.filter((name) => matchesName(part, name)).sort();
      return matches.map((name) => (last ? `${prefix}${name}` : `${prefix}${name}/`));
    });
  }
  // A name without wildcards after a part with them may not exist.
  const exists = hasWildcard(parts.at(-1) as string)
    ? () => true
    : (path: string) => source.readFile(source.resolvePath(base, path)).ok;
  return paths.filter(exists);
}

function matchesName(pattern: string, name: string): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".")) return false;
  return globMatchText(pattern, name, false);
}
