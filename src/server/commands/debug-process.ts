/** DEBUG's subcommands about the process: its end, its clocks, its settings. */

import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import { ARGUMENT_SHOWN_BYTES_MAX } from "../../limits.ts";
import { unknownSubcommandOrArity } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { int64OrReply } from "../../types/keys/numbers.ts";
import { rewriteFile } from "../config/rewrite.ts";
import { type DebugSubcommand, looseInteger } from "./debug-subcommand.ts";

/** Redis counts microseconds in 64 bits: a longer sleep is none. */
const SLEEP_SECONDS_MAX: number = 2 ** 63 / 1e6;
const RELOAD_OPTIONS = ["MERGE", "NOFLUSH", "NOSAVE"] as const;
const ANY = Number.POSITIVE_INFINITY;

/** A fault of ours, as the rest of the server sees it: a report is written and the process ends. */
function fault(name: string, help: string): DebugSubcommand {
  return {
    name,
    words: 2,
    help: [name, `    ${help}`],
    locks: "none",
    run(): void {
      throw new Error(`DEBUG ${name} was called`);
    },
  };
}

/** A setting of something that is not there: it is what it was asked to be whatever is said. */
function withoutEffect(name: string, help: readonly string[]): DebugSubcommand {
  return {
    name,
    words: 3,
    help,
    locks: "none",
    run: (_session, _args, reply) => reply.ok(),
  };
}

/** Redis reads the seconds as strtod does: what is no number is none. */
function sleep(session: Session, args: Args, reply: Reply): void {
  const seconds = Number.parseFloat(args.head(2, 64).trimStart());
  if (seconds > 0 && seconds < SLEEP_SECONDS_MAX) session.server.sleep(seconds * 1000);
  reply.ok();
}

function reload(_session: Session, args: Args, reply: Reply): void {
  for (let i = 2; i < args.count; i++) {
    if (RELOAD_OPTIONS.some((option) => args.is(i, option))) continue;
    reply.error("ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
    return;
  }
  reply.error("ERR DEBUG RELOAD is not supported yet: there is no snapshot");
}

/** Connections have no reply buffers of their own that could be resized. */
function replyBuffer(_session: Session, args: Args, reply: Reply): void {
  if (args.is(2, "PEAK-RESET-TIME")) {
    const isWord = args.is(3, "NEVER") || args.is(3, "RESET");
    if (!isWord && !int64OrReply(args, 3, reply)) return;
  } else if (!args.is(2, "RESIZING")) {
    reply.error(unknownSubcommandOrArity(args));
    return;
  }
  reply.ok();
}

export const DEBUG_PROCESS: readonly DebugSubcommand[] = [
  fault("ASSERT", "Crash by assertion failed."),
  {
    name: "CHANGE-REPL-ID",
    words: 2,
    help: [
      "CHANGE-REPL-ID",
      "    Change the replication IDs of the instance.",
      "    Dangerous: should be used only for testing the replication subsystem.",
    ],
    locks: "none",
    run(session, _args, reply): void {
      session.server.changeReplicationId();
      reply.ok();
    },
  },
  {
    name: "CONFIG-REWRITE-FORCE-ALL",
    words: 2,
    help: [
      "CONFIG-REWRITE-FORCE-ALL",
      "    Like CONFIG REWRITE but writes all configuration options, including",
      "    keywords not listed in original configuration file or default values.",
    ],
    locks: "none",
    run(session, _args, reply): void {
      const { config } = session.server;
      // What the system says of the path of no file.
      const error = config.file === "" ? "Bad address" : rewriteFile(config, true);
      if (error === null) reply.ok();
      else reply.error(`ERR CONFIG-REWRITE-FORCE-ALL failed: ${error}`);
    },
  },
  withoutEffect("DICT-RESIZING", [
    "DICT-RESIZING <0|1>",
    "    Accepted, and without effect: tables of keys grow and shrink a segment at a time.",
  ]),
  {
    name: "ERROR",
    words: 3,
    help: [
      "ERROR <string>",
      "    Return a Redis protocol error with <string> as message. Useful for clients",
      "    unit tests to simulate Redis errors.",
    ],
    locks: "none",
    run: (_session, args, reply) => reply.error(args.head(2, ARGUMENT_SHOWN_BYTES_MAX)),
  },
  {
    name: "LOADAOF",
    words: 2,
    help: [],
    locks: "none",
    run: (_session, _args, reply) =>
      reply.error("ERR DEBUG LOADAOF is not supported yet: there is no log of commands"),
  },
  {
    name: "LOG",
    words: 3,
    help: ["LOG <message>", "    Write <message> to the server log."],
    locks: "none",
    run(session, args, reply): void {
      session.server.log("warning", `DEBUG LOG: ${args.head(2, ARGUMENT_SHOWN_BYTES_MAX)}`);
      reply.ok();
    },
  },
  fault("OOM", "Crash the server simulating an out-of-memory error."),
  fault("PANIC", "Crash the server simulating a panic."),
  {
    name: "PAUSE-CRON",
    words: 3,
    help: ["PAUSE-CRON <0|1>", "    Stop periodic cron job processing."],
    locks: "none",
    run(session, args, reply): void {
      session.server.setCronPaused(looseInteger(args, 2) !== 0);
      reply.ok();
    },
  },
  { name: "RELOAD", words: 2, most: ANY, help: [], locks: "none", run: reload },
  {
    name: "REPLYBUFFER",
    words: 4,
    help: [
      "REPLYBUFFER PEAK-RESET-TIME <NEVER|RESET|time>",
      "REPLYBUFFER RESIZING <0|1>",
      "    Accepted, and without effect: reply buffers belong to threads.",
    ],
    locks: "none",
    run: replyBuffer,
  },
  fault("SEGFAULT", "Crash the server simulating an access to memory that is not there."),
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
      session.server.setActiveExpire(looseInteger(args, 2) !== 0);
      reply.ok();
    },
  },
  {
    name: "SLEEP",
    words: 3,
    help: ["SLEEP <seconds>", "    Stop the thread for <seconds>. Decimals allowed."],
    locks: "none",
    run: sleep,
  },
];
