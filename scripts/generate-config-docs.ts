/**
 * Writes docs/reference/config.md from the table of directives. With --check it writes nothing and
 * fails if the page is not what the table says.
 */
import { INCLUDE_DEPTH_MAX } from "../src/limits.ts";
import type { Directive } from "../src/server/config/directive.ts";
import { DIRECTIVES, FAMILIES, IGNORED_DIRECTIVES } from "../src/server/config/table.ts";
import { generatePage } from "./generated-page.ts";

export const PAGE = "docs/reference/config.md";

const SUPPORT: Readonly<Record<Directive["support"], string>> = {
  works: "yes",
  accepted: "no effect",
  default: "not yet",
};

const INTRODUCTION = `# Configuration

Generated from \`src/server/config/\` by \`npm run docs:config\`.

Every directive of Redis 7.4 is known, and those of our own. There are four places for them; a later
one counts before an earlier:

1. the default;
2. files in redis.conf's syntax: \`zerohop /path/to/redis.conf\`, and \`-\` for standard input;
3. the environment: \`ZEROHOP_MAXMEMORY=1gb\`, in upper case with \`_\` for \`-\`;
4. the command line: \`--maxmemory 1gb\`.

An unknown name stops the start, wherever it is, and so does a value that is not supported; the
message has one line and says where it stands. While the server runs, \`CONFIG SET\` changes what is
live, on all threads before the next command; \`CONFIG REWRITE\` writes the values into the file.

Lines that are not directives with a value:

- \`include FILE\`, up to ${INCLUDE_DEPTH_MAX} deep; wildcards stand for the files in order, and for none.
- \`rename-command NAME OTHER\`, or \`""\` to take a command away; several apply one after another.
- \`user\`, \`loadmodule\` and \`sentinel\` are refused: not supported yet.
- ${listOf([...IGNORED_DIRECTIVES])}
  are taken and have no effect, as in Redis.
- Directives without a row here, which \`CONFIG GET\` shows by their full names only, as Redis does:
  without effect ${listOf(hiddenNames("accepted"))};
  not yet ${listOf(hiddenNames("default"))}.

In the tables:

- **Supported** \`yes\`: it does what it says. \`no effect\`: any valid value is taken and changes
  nothing. \`not yet\`: everything but the default is refused by name.
- **Live** \`protected\`: only if \`enable-protected-configs\` allows it.
- Bytes take the units \`k\`, \`m\`, \`g\` (thousands) and \`kb\`, \`mb\`, \`gb\` (1024s).
`;

export function render(): string {
  const sections = FAMILIES.map(({ title, rows }) => {
    const shown = rows.filter((row) => row.hidden !== true);
    const head =
      "| directive | value | default | live | supported | meaning |\n|---|---|---|---|---|---|";
    return `## ${title}\n\n${head}\n${shown.map(line).join("\n")}\n`;
  });
  return [INTRODUCTION, ...sections].join("\n");
}

function line(row: Directive): string {
  const names = row.alias === undefined ? code(row.name) : `${code(row.name)}, ${code(row.alias)}`;
  const live = row.set === "live" ? "yes" : row.set === "fixed" ? "no" : "protected";
  const only = row.only === undefined ? "" : `; works: ${row.only.map(code).join(", ")}`;
  const meaning = row.differs === undefined ? row.summary : `${row.summary} *${row.differs}*`;
  const cells = [
    names,
    row.type.label,
    row.default === "" ? '`""`' : code(row.default),
    live,
    SUPPORT[row.support] + only,
    meaning,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function hiddenNames(support: Directive["support"]): string[] {
  const hidden = DIRECTIVES.filter((row) => row.hidden === true && row.support === support);
  return hidden.map((row) => row.name);
}

function listOf(names: readonly string[]): string {
  const words = names.map(code);
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

function code(text: string): string {
  return `\`${text}\``;
}

generatePage(import.meta.url, PAGE, render);
