/**
 * Writes docs/reference/info.md from the sections of INFO. With --check it writes nothing and fails
 * if the page is not what they say.
 */
import type { Section } from "../src/server/info/section.ts";
import { SECTIONS } from "../src/server/info/sections.ts";
import { generatePage } from "./generated-page.ts";

export const PAGE = "docs/reference/info.md";

const INTRODUCTION = `# INFO

Generated from \`src/server/info/\` by \`npm run docs:info\`.

The fields are in the order of Redis 7.4, with those of our own between them. \`INFO\` alone shows
the sections marked as default, \`INFO all\` and \`INFO everything\` all of them; any number of names
may be given, in any letter case.

All of Redis's fields are there, but for those that it shows only while it loads, saves,
replicates or writes a log.

On the port of a shard owner, INFO speaks of that owner where a section says so. Memory and keys of
the owners add up to those of the process.
`;

export function render(): string {
  return [INTRODUCTION, ...SECTIONS.map(page)].join("\n");
}

/** Fields in a row that are explained alike share a line. */
function page(section: Section): string {
  const rows: { names: string[]; about: string }[] = [];
  for (const { name, about } of section.entries) {
    const last = rows.at(-1);
    if (last?.about === about) last.names.push(name);
    else rows.push({ names: [name], about });
  }
  const shown = section.inDefault ? "" : " Not shown by default.";
  const head = `## ${section.title}\n\n${section.about}${shown}\n`;
  if (rows.length === 0) return head;
  const lines = rows.map(({ names, about }) => {
    const name = names.map((one) => `\`${one}\``).join(", ");
    return `| ${name} | ${about.replaceAll("|", "\\|")} |`;
  });
  return `${head}\n| field | meaning |\n|---|---|\n${lines.join("\n")}\n`;
}

generatePage(import.meta.url, PAGE, render);
