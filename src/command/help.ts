/** The HELP subcommands. */
import type { Reply } from "../protocol/reply.ts";
import type { CommandMeta, CommandSpec } from "./spec.ts";

/** What is written about the HELP of a container, but for what differs from one to another. */
export function helpMeta(
  container: string,
  about: Pick<CommandMeta, "group" | "since"> & Partial<CommandMeta>,
): CommandMeta {
  return {
    name: `${container} HELP`,
    complexity: "O(1)",
    summary: "Returns helpful text about the different subcommands.",
    flags: ["loading", "stale"],
    ...about,
  };
}

/** The HELP of a container, upper case, with its `lines`: see `replyHelp`. */
export function helpCommand(
  container: string,
  about: Pick<CommandMeta, "group" | "since"> & Partial<CommandMeta>,
  lines: readonly string[],
): CommandSpec {
  return {
    ...helpMeta(container, about),
    locks: "none",
    run: (_session, _args, reply) => replyHelp(reply, container, lines),
  };
}

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
