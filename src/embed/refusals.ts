/**
 * Commands that mean nothing without a connection. What they are for is said instead.
 */
import type { Args } from "../base/args.ts";
import type { CommandTable } from "../command/lookup.ts";

const CONNECTION = "belongs to a connection, and a handle of the embedded store is none";

/** By Redis's names, those of commands that are not in the table included. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["auth", CONNECTION],
  ["hello", CONNECTION],
  ["quit", `${CONNECTION}: use close()`],
  ["reset", CONNECTION],
  ["monitor", CONNECTION],
  ["subscribe", CONNECTION],
  ["psubscribe", CONNECTION],
  ["ssubscribe", CONNECTION],
  ["unsubscribe", CONNECTION],
  ["punsubscribe", CONNECTION],
  ["sunsubscribe", CONNECTION],
  ["sync", CONNECTION],
  ["psync", CONNECTION],
  ["replconf", CONNECTION],
  ["shutdown", "ends a server: use close()"],
  ["client|reply", CONNECTION],
  ["client|caching", CONNECTION],
  ["client|tracking", CONNECTION],
  ["client|trackinginfo", CONNECTION],
]);

/** Why the command that `args` name cannot be called in this process; null if it can. */
export function refusalOf(commands: CommandTable, args: Args): string | null {
  const command = commands.resolve(args, 0);
  const name = command === null ? wordsOf(args) : command.name;
  const reason = REASONS.get(name) ?? REASONS.get(args.lower(0));
  return reason === undefined ? null : `ERR ${name.toUpperCase().replace("|", " ")} ${reason}`;
}

function wordsOf(args: Args): string {
  const first = args.lower(0);
  const name = `${first}|${args.count > 1 ? args.lower(1) : ""}`;
  return REASONS.has(name) ? name : first;
}
