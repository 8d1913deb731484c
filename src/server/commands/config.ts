/** CONFIG: reading and changing directives. What a value may be is decided in `server/config/`. */
import type { Args } from "../../base/args.ts";
import { replyHelp } from "../../command/help.ts";
import type { Server, Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Reply } from "../../protocol/reply.ts";
import { type Change, setError } from "../config/config.ts";
import { rewriteConfig } from "../config/rewrite.ts";
import { findDirective } from "../config/table.ts";
import { concernsOomScore } from "../oom-score.ts";
import {
  CONFIG_GET_META,
  CONFIG_HELP_META,
  CONFIG_META,
  CONFIG_RESETSTAT_META,
  CONFIG_REWRITE_META,
  CONFIG_SET_META,
} from "./specs.ts";

/** The words behind CONFIG and its subcommand. */
const FIRST = 2;

function words(args: Args): string[] {
  const list: string[] = [];
  for (let i = FIRST; i < args.count; i++) list.push(args.text(i));
  return list;
}

export const CONFIG: CommandSpec = { ...CONFIG_META, locks: "container" };

export const CONFIG_GET: CommandSpec = {
  ...CONFIG_GET_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const pairs = session.server.config.get(words(args));
    reply.map(pairs.length / 2);
    for (const text of pairs) reply.text(text);
  },
};

function portError(reason: string): string {
  return setError("port", reason);
}

/** Nothing is changed before the new port is open, and the reply waits for it. */
function movePort(session: Session, port: number, changes: Change[]): void {
  const { server } = session;
  const answer = session.hold();
  server.listenOn(port, (error) =>
    answer((reply) => {
      if (error === null) {
        server.publishConfig(changes);
        reply.ok();
      } else {
        if (concernsOomScore(changes)) server.setOomScore([]);
        reply.error(portError(error));
      }
    }),
  );
}

/** The score for the changes, at once; null, or the reply's error. */
function oomScoreError(session: Session, changes: readonly Change[]): string | null {
  if (!concernsOomScore(changes)) return null;
  const { server } = session;
  const error = server.setOomScore(changes);
  if (error === null) return null;
  // Of several changes one may have been written.
  server.setOomScore([]);
  server.log("warning", `Unable to write oom_score_adj: ${error}`);
  const named = changes.some(({ name }) => name === "oom-score-adj");
  return setError(
    named ? "oom-score-adj" : "oom-score-adj-values",
    "Failed to set current oom_score_adj. Check server logs.",
  );
}

/** The values of directives that are secrets. */
function secretValues(args: Args): number[] {
  const found: number[] = [];
  for (let i = FIRST; i + 1 < args.count; i += 2) {
    if (findDirective(args.text(i))?.row.sensitive === true) found.push(i + 1);
  }
  return found;
}

export const CONFIG_SET: CommandSpec = {
  ...CONFIG_SET_META,
  hidden: secretValues,
  differs:
    "A few directives that Redis takes at once need a restart, bind among them: the reference of " +
    "the configuration says which are live.",
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const { server } = session;
    const { protectedConfigs } = server.config;
    const mayProtected =
      protectedConfigs === "yes" || (protectedConfigs === "local" && session.isLocal);
    const result = server.config.set(words(args), mayProtected);
    if (!result.ok) {
      reply.error(result.error);
      return;
    }
    const { changes } = result;
    const port = changes.find(({ name }) => name === "port");
    if (port?.text === "auto") {
      reply.error(portError("argument couldn't be parsed into an integer"));
      return;
    }
    const scoreError = oomScoreError(session, changes);
    if (scoreError !== null) {
      reply.error(scoreError);
      return;
    }
    if (port !== undefined && Number(port.text) !== server.tcpPort) {
      movePort(session, Number(port.text), changes);
      return;
    }
    if (changes.length > 0) server.publishConfig(changes);
    if (changes.some(({ name }) => name === "maxmemory")) warnIfFull(server);
    reply.ok();
  },
};

/** Redis's words in the log when a new limit is below what is in use. */
function warnIfFull(server: Server): void {
  const { maxmemory } = server.config;
  const used = server.usedMemory();
  if (maxmemory === 0 || used <= maxmemory) return;
  server.log(
    "warning",
    `WARNING: the new maxmemory value set via CONFIG SET (${maxmemory}) is smaller than the ` +
      `current memory usage (${used}). This will result in key eviction and/or the inability to ` +
      "accept new write commands depending on the maxmemory-policy.",
  );
}

export const CONFIG_RESETSTAT: CommandSpec = {
  ...CONFIG_RESETSTAT_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    session.server.resetStats();
    reply.ok();
  },
};

export const CONFIG_REWRITE: CommandSpec = {
  ...CONFIG_REWRITE_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const error = rewriteConfig(session.server.config);
    if (error === null) reply.ok();
    else reply.error(error);
  },
};

export const CONFIG_HELP: CommandSpec = {
  ...CONFIG_HELP_META,
  locks: "none",
  run(_session: Session, _args: Args, reply: Reply): void {
    replyHelp(reply, "CONFIG", [
      "GET <pattern>",
      "    Return parameters matching the glob-like <pattern> and their values.",
      "SET <directive> <value>",
      "    Set the configuration <directive> to <value>.",
      "RESETSTAT",
      "    Reset statistics reported by the INFO command.",
      "REWRITE",
      "    Rewrite the configuration file.",
    ]);
  },
};

export const CONFIG_COMMANDS: readonly CommandSpec[] = [
  CONFIG,
  CONFIG_GET,
  CONFIG_SET,
  CONFIG_RESETSTAT,
  CONFIG_REWRITE,
  CONFIG_HELP,
];
