/**
 * Writes docs/reference/errors.md from the table of error texts. With --check it writes nothing and
 * fails if the page is not what the table says.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CAUSES, type ErrorCause } from "./error-causes.ts";

export const PAGE = "docs/reference/errors.md";

const INTRODUCTION = `# Errors

Generated from \`scripts/error-causes.ts\` by \`npm run docs:errors\`; a test holds it equal to the
texts of the sources.

Texts are Redis's where Redis has the error, and clients may compare them. The first word is the
code: \`INFO errorstats\` and \`zerohop_errors_total\` count by it. \`…\` stands for what is put in.
`;

export function render(): string {
  const byCode = new Map<string, ErrorCause[]>();
  for (const cause of CAUSES) {
    const code = cause[0].split(" ")[0] as string;
    byCode.set(code, [...(byCode.get(code) ?? []), cause]);
  }
  // ERR last: it is the rest.
  const codes = [...byCode.keys()].filter((code) => code !== "ERR").sort();
  const sections = [...codes, "ERR"].map((code) => section(code, byCode.get(code) ?? []));
  return [INTRODUCTION, ...sections].join("\n");
}

function section(code: string, causes: readonly ErrorCause[]): string {
  const rows = causes.map(([text, cause]) => `| \`${cell(text)}\` | ${cell(cause)} |`);
  return `## ${code}\n\n| error | cause |\n|---|---|\n${rows.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function repositoryRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return here.endsWith(join("build", "scripts")) ? join(here, "../..") : join(here, "..");
}

function main(): void {
  const path = join(repositoryRoot(), PAGE);
  const text = render();
  if (!process.argv.includes("--check")) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${PAGE} is not what the table says: run npm run docs:errors\n`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
