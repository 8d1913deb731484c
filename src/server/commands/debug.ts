/**
 * DEBUG. Its subcommands are rows of three tables, each with the words it takes and the locks it
 * needs; HELP shows them in the order of their names.
 */

import type { Args } from "../../base/args.ts";
import { replyHelp } from "../../command/help.ts";
import { KEY_RO, type KeyList } from "../../command/key-specs.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { unknownSubcommandOrArity } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { DEBUG_KEYS } from "./debug-keys.ts";
import { DEBUG_PROCESS } from "./debug-process.ts";
import { DEBUG_PROTOCOL } from "./debug-protocol.ts";
import type { DebugSubcommand } from "./debug-subcommand.ts";
import { DEBUG_META } from "./specs.ts";

/** The words behind DEBUG and its subcommand. */
const REST = 2;

function byName(a: DebugSubcommand, b: DebugSubcommand): number {
  return a.name < b.name ? -1 : 1;
}

const HELP: DebugSubcommand = {
  name: "HELP",
  words: 2,
  help: [],
  locks: "none",
  run(_session, _args, reply): void {
    replyHelp(
      reply,
      "DEBUG",
      DEBUG_SUBCOMMANDS.flatMap(({ help }) => help),
    );
  },
};

/** In the order of their names. */
export const DEBUG_SUBCOMMANDS: readonly DebugSubcommand[] = [
  ...DEBUG_KEYS,
  ...DEBUG_PROCESS,
  ...DEBUG_PROTOCOL,
  HELP,
].toSorted(byName);

function subcommandOf(args: Args): DebugSubcommand | undefined {
  return DEBUG_SUBCOMMANDS.find(
    ({ name, words, most = words }) =>
      args.count >= words && args.count <= most && args.is(1, name),
  );
}

export const DEBUG: CommandSpec = {
  ...DEBUG_META,
  locks: (args) => subcommandOf(args)?.locks ?? "none",
  findLockKeys(args: Args, base: number, out: KeyList): void {
    for (let i = base + REST; i < args.count; i++) out.push(i, KEY_RO);
  },
  differs:
    "SLEEP stops one thread; LOADAOF and RELOAD are refused; what is about other types, scripts, " +
    "replicas and the cluster bus is not there; ARENA CHECK, HEAP-CHECK and STRINGMATCH-LEN are ours.",
  runSession(session: Session, args: Args, reply: Reply): void {
    const subcommand = subcommandOf(args);
    if (subcommand?.locks === "none") subcommand.run(session, args, reply);
    else reply.error(unknownSubcommandOrArity(args));
  },
  run(db: Database, args: Args, reply: Reply): void {
    const subcommand = subcommandOf(args);
    if (subcommand === undefined || subcommand.locks === "none") return;
    subcommand.run(db, args, reply);
  },
};
