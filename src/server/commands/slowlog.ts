/** SLOWLOG: what the process remembers of calls that took long. */

import type { Args } from "../../base/args.ts";
import { int64, int64ToNumber } from "../../base/int64.ts";
import { int, opt } from "../../command/grammar.ts";
import { helpCommand } from "../../command/help.ts";
import type { Session } from "../../command/session.ts";
import type { CommandMeta, CommandSpec } from "../../command/spec.ts";
import { unknownSubcommandOrArity } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { int64OrReply } from "../../types/keys/numbers.ts";
import type { SlowEntry } from "../slow-log.ts";

const COUNT_ARGUMENT = 2;
const COUNT_DEFAULT = 10;
const ALL = -1;
const COUNT_ERROR = "ERR count should be greater than or equal to -1";

const HELP: readonly string[] = [
  "GET [<count>]",
  "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
  "    Entries are made of:",
  "    id, timestamp, time in microseconds, arguments array, client IP and port,",
  "    client name",
  "LEN",
  "    Return the length of the slowlog.",
  "RESET",
  "    Reset the slowlog.",
];

const FLAGS: CommandMeta["flags"] = ["admin", "loading", "stale"];

const SLOWLOG: CommandSpec = {
  name: "SLOWLOG",
  group: "server",
  since: "2.2.12",
  complexity: "Depends on subcommand.",
  summary: "A container for slow log commands.",
  flags: [],
  locks: "container",
};

/** How many entries are asked for; NaN if that is no number, which has been answered. */
function countOrReply(args: Args, reply: Reply): number {
  if (args.count === COUNT_ARGUMENT) return COUNT_DEFAULT;
  if (!int64OrReply(args, COUNT_ARGUMENT, reply, COUNT_ERROR)) return Number.NaN;
  const count = int64ToNumber(int64.hi, int64.lo);
  if (count >= ALL) return count === ALL ? Number.POSITIVE_INFINITY : count;
  reply.error(COUNT_ERROR);
  return Number.NaN;
}

function replyEntry(entry: SlowEntry, reply: Reply): void {
  reply.array(6);
  reply.integer(entry.id);
  reply.integer(entry.unixSeconds);
  reply.integer(entry.usec);
  reply.array(entry.words.length);
  for (const word of entry.words) reply.text(word);
  reply.text(entry.address);
  reply.text(entry.clientName);
}

const SLOWLOG_GET: CommandSpec = {
  name: "SLOWLOG GET",
  group: "server",
  since: "2.2.12",
  complexity: "O(N) where N is the number of entries returned",
  summary: "Returns the slow log's entries.",
  flags: FLAGS,
  args: [opt(int("count"))],
  tips: ["request_policy:all_nodes", "nondeterministic_output"],
  history: [["4.0.0", "Added client IP address, port and name to the reply."]],
  differs:
    "Of a fast command on single keys only every 64th call is timed, and so may be found here, " +
    "unless slowlog-log-slower-than is below 1000.",
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    if (args.count > COUNT_ARGUMENT + 1) {
      reply.error(unknownSubcommandOrArity(args));
      return;
    }
    const count = countOrReply(args, reply);
    if (Number.isNaN(count)) return;
    const entries = session.server.slowLog.newest(count);
    reply.array(entries.length);
    for (const entry of entries) replyEntry(entry, reply);
  },
};

const SLOWLOG_HELP: CommandSpec = helpCommand(
  "SLOWLOG",
  { group: "server", since: "6.2.0", summary: "Show helpful text about the different subcommands" },
  HELP,
);

const SLOWLOG_LEN: CommandSpec = {
  name: "SLOWLOG LEN",
  group: "server",
  since: "2.2.12",
  complexity: "O(1)",
  summary: "Returns the number of entries in the slow log.",
  flags: FLAGS,
  tips: ["request_policy:all_nodes", "response_policy:agg_sum", "nondeterministic_output"],
  locks: "none",
  run: (session, _args, reply) => reply.integer(session.server.slowLog.length),
};

const SLOWLOG_RESET: CommandSpec = {
  name: "SLOWLOG RESET",
  group: "server",
  since: "2.2.12",
  complexity: "O(N) where N is the number of entries in the slowlog",
  summary: "Clears all entries from the slow log.",
  flags: FLAGS,
  tips: ["request_policy:all_nodes", "response_policy:all_succeeded"],
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    session.server.slowLog.reset();
    reply.ok();
  },
};

export const SLOWLOG_COMMANDS: readonly CommandSpec[] = [
  SLOWLOG,
  SLOWLOG_GET,
  SLOWLOG_HELP,
  SLOWLOG_LEN,
  SLOWLOG_RESET,
];
