/** The replies of the HELP subcommands. */
import type { Reply } from "../protocol/reply.ts";

/**
 * The first line and the closing HELP entry are the same everywhere. `lines` is what is between:
 * a line for the syntax of each subcommand, then lines with four blanks before them that explain.
 */
export function replyHelp(reply: Reply, container: string, lines: readonly string[]): void {
  const name = container.toUpperCase();
  const all = [
    `${name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`,
    ...lines,
    "HELP",
    "    Print this help.",
  ];
  reply.array(all.length);
  for (const line of all) reply.simple(line);
}
