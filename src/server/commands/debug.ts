/**
 * DEBUG and SHUTDOWN. DEBUG's subcommands are no commands of their own, as in Redis; each is a row
 * here with the words it takes and the locks it needs.
 */

import type { Args } from "../../base/args.ts";
import { globMatchText } from "../../base/glob.ts";
import { int64, isInt32 } from "../../base/int64.ts";
import { replyHelp } from "../../command/help.ts";
import { KEY_RO, type KeyList } from "../../command/key-specs.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Database } from "../../keyspace/database.ts";
import { UNIT_BYTES } from "../../limits.ts";
import { NO_SUCH_KEY, SYNTAX_ERROR, unknownSubcommandOrArity } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { referenceCount } from "../../types/keys/object-commands.ts";
import { encodingName } from "../../types/keys/type-name.ts";
import { isString, readInteger, stringLength } from "../../types/string/value.ts";
import { checkHeap } from "../heap-check.ts";
import { DEBUG_META, SHUTDOWN_META } from "./specs.ts";

/** Most bytes of an argument that an error repeats. */
const TEXT_MAX = 65536;
/** Lines of the heap check that its error shows. */
const HEAP_LINES_SHOWN = 5;
/** Strings up to this long are dumped as numbers if they are some. */
const DUMPED_NUMBER_MAX = 11;
const SHUTDOWN_WORDS = ["NOSAVE", "SAVE", "NOW", "FORCE", "ABORT"] as const;

type Subcommand = {
  /** Upper case, and the words of a call, DEBUG included. */
  name: string;
  words: number;
  help: readonly string[];
} & (
  | { locks: "none"; run(session: Session, args: Args, reply: Reply): void }
  | { locks: "keys" | "all"; run(db: Database, args: Args, reply: Reply): void }
);

const HEAP_CHECK_HELP: readonly string[] = [
  "    Walk the whole heap with all shards locked and report what is not sound.",
];

const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: "OBJECT",
    words: 3,
    help: ["OBJECT <key>", "    Show low level info about `key` and associated value."],
    locks: "keys",
    run: replyObject,
  },
  {
    name: "PANIC",
    words: 2,
    help: ["PANIC", "    Crash the server simulating a panic."],
    locks: "none",
    run(): void {
      throw new Error("DEBUG PANIC was called");
    },
  },
  {
    name: "SET-ACTIVE-EXPIRE",
    words: 3,
    help: [
      "SET-ACTIVE-EXPIRE <0|1>",
      "    Setting it to 0 disables expiring keys in background when they are not",
      "    accessed (otherwise the Redis behavior). Setting it to 1 reenables back the",
      "    default.",
    ],
    locks: "none",
    run(session, args, reply): void {
      session.server.setActiveExpire(Number.parseInt(args.head(2, 32), 10) !== 0);
      reply.ok();
    },
  },
  {
    name: "SLEEP",
    words: 3,
    help: ["SLEEP <seconds>", "    Stop the server for <seconds>. Decimals allowed."],
    locks: "none",
    run: sleep,
  },
  {
    name: "STRINGMATCH-LEN",
    words: 4,
    help: [
      "STRINGMATCH-LEN <pattern> <string>",
      "    Match <string> against the glob-style <pattern>: 1 if it matches, else 0.",
    ],
    locks: "none",
    run(_session, args, reply): void {
      reply.integer(globMatchText(args.text(2), args.text(3), false) ? 1 : 0);
    },
  },
  {
    name: "HEAP-CHECK",
    words: 2,
    help: ["HEAP-CHECK", ...HEAP_CHECK_HELP],
    locks: "all",
    run: replyHeapCheck,
  },
  {
    name: "ARENA",
    words: 3,
    help: ["ARENA CHECK", ...HEAP_CHECK_HELP],
    locks: "all",
    run(db, args, reply): void {
      if (args.is(2, "CHECK")) replyHeapCheck(db, args, reply);
      else reply.error(unknown(args));
    },
  },
  {
    name: "HELP",
    words: 2,
    help: [],
    locks: "none",
    run: (_session, _args, reply) =>
      replyHelp(
        reply,
        "DEBUG",
        SUBCOMMANDS.flatMap(({ help }) => help),
      ),
  },
];

function subcommandOf(args: Args): Subcommand | undefined {
  return SUBCOMMANDS.find(({ name, words }) => args.count === words && args.is(1, name));
}

function unknown(args: Args): string {
  return unknownSubcommandOrArity("DEBUG", args.head(1, TEXT_MAX));
}

function replyHeapCheck(db: Database, _args: Args, reply: Reply): void {
  const lines = checkHeap(db.store);
  if (lines.length === 0) {
    reply.ok();
    return;
  }
  const more = lines.length > HEAP_LINES_SHOWN ? ` (${lines.length} in all)` : "";
  reply.error(`ERR ${lines.slice(0, HEAP_LINES_SHOWN).join("; ")}${more}`);
}

/** Redis counts microseconds in 64 bits: a longer sleep is none. */
const SLEEP_SECONDS_MAX = 2 ** 63 / 1e6;

/** Redis reads the seconds as strtod does: what is no number is none. */
function sleep(session: Session, args: Args, reply: Reply): void {
  const seconds = Number.parseFloat(args.head(2, 64).trimStart());
  if (seconds > 0 && seconds < SLEEP_SECONDS_MAX) session.server.sleep(seconds * 1000);
  reply.ok();
}

function replyObject(db: Database, args: Args, reply: Reply): void {
  const p = db.find(args, 2);
  if (p === 0) {
    reply.error(NO_SUCH_KEY);
    return;
  }
  reply.simple(
    `Value at:0x${((p >>> 0) * UNIT_BYTES).toString(16)} refcount:${referenceCount(db, p)} ` +
      `encoding:${encodingName(db, p)} serializedlength:${serializedLength(db, p)} ` +
      `lru:${db.accessOf(p)} lru_seconds_idle:${db.idleSeconds(p)}`,
  );
}

/** Bytes of the value as a dump has it, uncompressed: numbers in 1, 2 or 4 bytes and a mark. */
function serializedLength(db: Database, p: number): number {
  if (!isString(db, p)) return 0;
  const length = stringLength(db, p);
  if (length <= DUMPED_NUMBER_MAX && readInteger(db, p) && isInt32(int64.hi, int64.lo)) {
    const value = int64.lo | 0;
    if (value >= -128 && value < 128) return 2;
    return value >= -32768 && value < 32768 ? 3 : 5;
  }
  return length + (length < 64 ? 1 : length < 16384 ? 2 : 5);
}

export const DEBUG: CommandSpec = {
  ...DEBUG_META,
  differs:
    "There is what DEBUG HELP shows. SLEEP stops one thread, not the server; HEAP-CHECK and ARENA " +
    "CHECK are ours.",
  locks: (args) => subcommandOf(args)?.locks ?? "none",
  findLockKeys(args: Args, base: number, out: KeyList): void {
    out.push(base + 2, KEY_RO);
  },
  runSession(session: Session, args: Args, reply: Reply): void {
    const subcommand = subcommandOf(args);
    if (subcommand?.locks === "none") subcommand.run(session, args, reply);
    else reply.error(unknown(args));
  },
  run(db: Database, args: Args, reply: Reply): void {
    const subcommand = subcommandOf(args);
    if (subcommand === undefined || subcommand.locks === "none") return;
    subcommand.run(db, args, reply);
  },
};

type Shutdown = { saves: boolean; forces: boolean; aborts: boolean };

/** What the arguments of SHUTDOWN ask for, or null with the error written. */
function parseShutdownOrReply(args: Args, reply: Reply): Shutdown | null {
  const said = new Set<string>();
  for (let i = 1; i < args.count; i++) {
    const word = SHUTDOWN_WORDS.find((name) => args.is(i, name));
    if (word === undefined) {
      reply.error(SYNTAX_ERROR);
      return null;
    }
    said.add(word);
  }
  const aborts = said.has("ABORT");
  if ((aborts && said.size > 1) || (said.has("SAVE") && said.has("NOSAVE"))) {
    reply.error(SYNTAX_ERROR);
    return null;
  }
  return { saves: said.has("SAVE"), forces: said.has("FORCE"), aborts };
}

/**
 * Nothing is waited for and nothing is written, so there is never a shutdown to abort, and SAVE
 * fails unless FORCE says to end all the same. A shutdown has no reply: the connection closes.
 */
export const SHUTDOWN: CommandSpec = {
  ...SHUTDOWN_META,
  locks: "none",
  differs: "SAVE is refused unless FORCE is given: there is no snapshot file.",
  run(session: Session, args: Args, reply: Reply): void {
    const shutdown = parseShutdownOrReply(args, reply);
    if (shutdown === null) return;
    if (shutdown.aborts) {
      reply.error("ERR No shutdown in progress.");
      return;
    }
    if (shutdown.saves && !shutdown.forces) {
      session.server.log("warning", "SHUTDOWN SAVE was refused: there is no snapshot to save to");
      reply.error("ERR Errors trying to SHUTDOWN. Check logs.");
      return;
    }
    session.closeAfterReply();
    session.server.shutdown();
  },
};

export const DEBUG_COMMANDS: readonly CommandSpec[] = [DEBUG, SHUTDOWN];
