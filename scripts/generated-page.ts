/**
 * What the generators of docs/reference have in common: run as a script each writes its page, or
 * with --check only says whether the page is what would be written.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export function repositoryRoot(): string {
  const { dirname: here } = import.meta;
  return here.endsWith(join("build", "scripts")) ? join(here, "../..") : join(here, "..");
}

/** Does nothing unless the module of this url is the script that runs. */
export function generatePage(url: string, page: string, render: () => string): void {
  if (process.argv[1] !== fileURLToPath(url)) return;
  const path = join(repositoryRoot(), page);
  const text = render();
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${page} is not what its source says: run npm run docs\n`);
    process.exitCode = 1;
  }
}
