/**
 * COMMAND and its subcommands: what the command table says about itself.
 */

import type { Args } from "../../base/args.ts";
import { globMatchText } from "../../base/glob.ts";
import type { Command } from "../../command/command.ts";
import { commandDocs, commandInfo, statuses, writeDoc } from "../../command/docs.ts";
import { categoryBit, FLAG_NO_MANDATORY_KEYS, namesOfBits } from "../../command/flags.ts";
import { multiple, oneOf, opt, pattern, str, token } from "../../command/grammar.ts";
import { helpCommand } from "../../command/help.ts";
import { KEY_FLAG_NAMES, KeyList } from "../../command/key-specs.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";

const HELP: readonly string[] = [
  "(no subcommand)",
  "    Return details about all Redis commands.",
  "COUNT",
  "    Return the total number of commands in this Redis server.",
  "LIST",
  "    Return a list of all commands in this Redis server.",
  "INFO [<command-name> ...]",
  "    Return details about multiple Redis commands.",
  "    If no command names are given, documentation details for all",
  "    commands are returned.",
  "DOCS [<command-name> ...]",
  "    Return documentation details about multiple Redis commands.",
  "    If no command names are given, documentation details for all",
  "    commands are returned.",
  "GETKEYS <full-command>",
  "    Return the keys from a full Redis command.",
  "GETKEYSANDFLAGS <full-command>",
  "    Return the keys and the access flags from a full Redis command.",
];

/** Position of the first argument after COMMAND and its subcommand. */
const REST = 2;

function writeInfo(commands: readonly (Command | null)[], reply: Reply): void {
  reply.array(commands.length);
  for (const command of commands) {
    if (command === null) reply.nil();
    else writeDoc(reply, commandInfo(command));
  }
}

/** The commands that the arguments name, null for an unknown name; all if there are none. */
function commandsNamed(session: Session, args: Args): readonly (Command | null)[] {
  const { commands } = session.server;
  if (args.count === REST) return commands.top;
  const named: (Command | null)[] = [];
  for (let i = REST; i < args.count; i++) named.push(commands.named(args.text(i)));
  return named;
}

function commandInfoOf(session: Session, args: Args, reply: Reply): void {
  writeInfo(commandsNamed(session, args), reply);
}

function commandDocsOf(session: Session, args: Args, reply: Reply): void {
  const known = commandsNamed(session, args).filter((command) => command !== null);
  writeDoc(reply, { pairs: known.map((command) => [command.name, commandDocs(command)]) });
}

function replyKeys(session: Session, args: Args, reply: Reply, withFlags: boolean): void {
  const command = session.server.commands.resolve(args, REST);
  if (command === null) {
    reply.error("ERR Invalid command specified");
    return;
  }
  if (!command.hasKeys) {
    reply.error("ERR The command has no key arguments");
    return;
  }
  if (!command.takes(args.count - REST)) {
    reply.error("ERR Invalid number of arguments specified for command");
    return;
  }
  const keys = new KeyList();
  command.keyPositions(args, keys, REST);
  if (keys.count === 0 && !(command.flagBits & FLAG_NO_MANDATORY_KEYS)) {
    reply.error("ERR Invalid arguments specified for command");
    return;
  }
  reply.array(keys.count);
  for (let i = 0; i < keys.count; i++) {
    const at = keys.at[i] as number;
    if (withFlags) reply.array(2);
    reply.bulk(args.source(at), args.start[at] as number, args.end[at] as number);
    if (withFlags) {
      const names = namesOfBits(keys.flags[i] as number, KEY_FLAG_NAMES, KEY_FLAG_NAMES.length);
      writeDoc(reply, statuses(names));
    }
  }
}

/** Subcommands count as commands of their own, and containers too. */
function listCommands(session: Session, args: Args, reply: Reply): void {
  const keeps = args.count === REST ? () => true : filterOf(args);
  if (keeps === null) {
    reply.error(SYNTAX_ERROR);
    return;
  }
  const names = session.server.commands.callable.filter(keeps).map(({ name }) => name);
  reply.array(names.length);
  for (const name of names) reply.text(name);
}

function filterOf(args: Args): ((command: Command) => boolean) | null {
  if (args.count !== REST + 3 || !args.is(REST, "FILTERBY")) return null;
  const wanted = args.text(REST + 2);
  if (args.is(REST + 1, "MODULE")) return () => false;
  if (args.is(REST + 1, "ACLCAT")) {
    const bit = categoryBit(wanted.toLowerCase());
    return ({ categoryBits }) => (categoryBits & bit) !== 0;
  }
  if (args.is(REST + 1, "PATTERN")) return ({ name }) => globMatchText(wanted, name, true);
  return null;
}

const COMMAND: CommandSpec = {
  name: "COMMAND",
  group: "server",
  since: "2.8.13",
  complexity: "O(N) where N is the total number of Redis commands",
  summary: "Returns detailed information about all commands.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  arity: -1,
  tips: ["nondeterministic_output_order"],
  locks: "none",
  run: (session, _args, reply) => writeInfo(session.server.commands.top, reply),
};

const COMMAND_COUNT: CommandSpec = {
  name: "COMMAND COUNT",
  group: "server",
  since: "2.8.13",
  complexity: "O(1)",
  summary: "Returns a count of commands.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  locks: "none",
  run: (session, _args, reply) => reply.integer(session.server.commands.top.length),
};

const COMMAND_DOCS: CommandSpec = {
  name: "COMMAND DOCS",
  group: "server",
  since: "7.0.0",
  complexity: "O(N) where N is the number of commands to look up",
  summary: "Returns documentary information about one, multiple or all commands.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  args: [opt(multiple(str("command-name")))],
  tips: ["nondeterministic_output_order"],
  locks: "none",
  run: commandDocsOf,
};

const COMMAND_GETKEYS: CommandSpec = {
  name: "COMMAND GETKEYS",
  group: "server",
  since: "2.8.13",
  complexity: "O(N) where N is the number of arguments to the command",
  summary: "Extracts the key names from an arbitrary command.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  args: [str("command"), opt(multiple(str("arg")))],
  locks: "none",
  run: (session, args, reply) => replyKeys(session, args, reply, false),
};

const COMMAND_GETKEYSANDFLAGS: CommandSpec = {
  name: "COMMAND GETKEYSANDFLAGS",
  group: "server",
  since: "7.0.0",
  complexity: "O(N) where N is the number of arguments to the command",
  summary: "Extracts the key names and access flags for an arbitrary command.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  args: [str("command"), opt(multiple(str("arg")))],
  locks: "none",
  run: (session, args, reply) => replyKeys(session, args, reply, true),
};

const COMMAND_HELP: CommandSpec = helpCommand(
  "COMMAND",
  { group: "server", since: "5.0.0", categories: ["connection"] },
  HELP,
);

const COMMAND_INFO: CommandSpec = {
  name: "COMMAND INFO",
  group: "server",
  since: "2.8.13",
  complexity: "O(N) where N is the number of commands to look up",
  summary: "Returns information about one, multiple or all commands.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  args: [opt(multiple(str("command-name")))],
  tips: ["nondeterministic_output_order"],
  history: [["7.0.0", "Allowed to be called with no argument to get info on all commands."]],
  locks: "none",
  run: commandInfoOf,
};

const COMMAND_LIST: CommandSpec = {
  name: "COMMAND LIST",
  group: "server",
  since: "7.0.0",
  complexity: "O(N) where N is the total number of Redis commands",
  summary: "Returns a list of command names.",
  flags: ["loading", "stale"],
  categories: ["connection"],
  args: [
    opt(
      token(
        "FILTERBY",
        oneOf(
          "filterby",
          token("MODULE", str("module-name")),
          token("ACLCAT", str("category")),
          token("PATTERN", pattern("pattern")),
        ),
      ),
    ),
  ],
  tips: ["nondeterministic_output_order"],
  locks: "none",
  run: listCommands,
};

export const COMMAND_COMMANDS: readonly CommandSpec[] = [
  COMMAND,
  COMMAND_COUNT,
  COMMAND_DOCS,
  COMMAND_GETKEYS,
  COMMAND_GETKEYSANDFLAGS,
  COMMAND_HELP,
  COMMAND_INFO,
  COMMAND_LIST,
];
