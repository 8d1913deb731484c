/**
 * Writes docs/reference/debug.md from the tables of DEBUG's subcommands, and what of Redis's is not
 * there. With --check it writes nothing and fails if the page is not what they say.
 */
import { DEBUG_SUBCOMMANDS } from "../src/server/commands/debug.ts";
import type { DebugSubcommand } from "../src/server/commands/debug-subcommand.ts";
import { generatePage } from "./generated-page.ts";

export const PAGE = "docs/reference/debug.md";

const INTRODUCTION = `# DEBUG

Generated from \`src/server/commands/debug*.ts\` by \`npm run docs\`.

For tests and for finding faults, as in Redis: texts and effects may change. \`DEBUG\` is refused unless
\`enable-debug-command\` is \`yes\`, or \`local\` for clients of this machine. Subcommands that look at all
keys lock all shards while they do.
`;

/** Of Redis 7.4, by what they are about. */
const MISSING: readonly (readonly [names: string, reason: string])[] = [
  ["`AOF-FLUSH-SLEEP`, `REPLICATE`", "There is no log of commands and no replica."],
  ["`RELOAD`, `LOADAOF`", "Refused with an error of their own: there is no snapshot and no log."],
  ["`HTSTATS-KEY`, `LISTPACK`, `QUICKLIST`, `QUICKLIST-PACKED-THRESHOLD`", "Only strings."],
  ["`SCRIPT`, `SET-DISABLE-DENY-SCRIPTS`", "There are no scripts."],
  ["`CLUSTERLINK`, `DROP-CLUSTER-PACKET-FILTER`", "There is no cluster bus."],
  ["`CLIENT-EVICTION`", "Clients are not kept in pools by size."],
  ["`CRASH-AND-RECOVER`, `RESTART`", "A supervisor or a container restarts the process."],
  ["`LEAK`, `MALLCTL`, `MALLCTL-STR`, `STRUCTSIZE`", "About Redis's allocator and structures."],
  ["`SET-SKIP-CHECKSUM-VALIDATION`", "`RESTORE` always looks at the sum."],
];

export function render(): string {
  const rows = DEBUG_SUBCOMMANDS.filter(({ help }) => help.length > 0).map(row);
  const missing = MISSING.map(([names, reason]) => `| ${names} | ${reason} |`);
  return [
    INTRODUCTION,
    "| call | effect |\n|---|---|",
    ...rows,
    "\n## Not there\n",
    "| of Redis 7.4 | why |\n|---|---|",
    ...missing,
    "",
  ].join("\n");
}

/** Lines of help with four blanks before them explain; the others are calls. */
function row({ help }: DebugSubcommand): string {
  const calls = help.filter((line) => !line.startsWith(" ")).map((line) => `\`${cell(line)}\``);
  const about = help.filter((line) => line.startsWith(" ")).map((line) => line.trim());
  return `| ${calls.join("<br>")} | ${cell(about.join(" ")).replaceAll("<", "&lt;")} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

generatePage(import.meta.url, PAGE, render);
