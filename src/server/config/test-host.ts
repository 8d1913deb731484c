/** A configuration's outside world for tests: no files, and every path is one. */
import type { ConfigHost } from "./host.ts";

export function testConfigHost(parallelism: number): ConfigHost {
  return {
    cwd: "/",
    parallelism,
    resolvePath: (_base, path) => path,
    directoryError: () => null,
    readFile: () => ({ ok: false, error: "No such file or directory" }),
    replaceFile: () => null,
  };
}
