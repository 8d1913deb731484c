/**
 * Writes docs/reference/errors.md from the table of error texts. With --check it writes nothing and
 * fails if the page is not what the table says.
 */
import { CAUSES, type ErrorCause } from "./error-causes.ts";
import { generatePage } from "./generated-page.ts";

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

generatePage(import.meta.url, PAGE, render);
