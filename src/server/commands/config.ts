/** CONFIG: reading and changing directives. What a value may be is decided in `server/config/`. */
import type { Args } from "../../base/args.ts";
import { helpCommand } from "../../command/help.ts";
import type { ListenPlace, Server, Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Reply } from "../../protocol/reply.ts";
import { type Change, setError, splitAtBlanks } from "../config/config.ts";
import { rewriteConfig } from "../config/rewrite.ts";
import { findDirective } from "../config/table.ts";
import { concernsOomScore } from "../oom-score.ts";
import {
  CONFIG_GET_META,
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

const CONFIG: CommandSpec = { ...CONFIG_META, locks: "container" };

const CONFIG_GET: CommandSpec = {
  ...CONFIG_GET_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const pairs = session.server.config.get(words(args));
    reply.map(pairs.length / 2);
    for (const text of pairs) reply.text(text);
  },
};

function textOf(changes: readonly Change[], directive: string): string | undefined {
  return changes.find(({ name }) => name === directive)?.text;
}

/** Why the changes cannot be made to this server, or null. */
function refusalOf(server: Server, changes: readonly Change[]): string | null {
  if (textOf(changes, "port") === "auto") {
    return setError("port", "argument couldn't be parsed into an integer");
  }
  if (textOf(changes, "bind") === undefined || server.topology === null) return null;
  return setError("bind", "the owners' ports keep their addresses until a restart");
}

/** Where the changes want the server to listen; null if it is where it listens now. */
function placeOf({ tcpPort }: Server, changes: readonly Change[]): ListenPlace | null {
  const port = textOf(changes, "port");
  const bind = textOf(changes, "bind");
  if (bind !== undefined) return { port: Number(port ?? tcpPort), bind: splitAtBlanks(bind) };
  return port === undefined || Number(port) === tcpPort ? null : { port: Number(port), bind: null };
}

/** Nothing is changed before the server listens there, and the reply waits for it. */
function moveThere(session: Session, place: ListenPlace, changes: Change[]): void {
  const { server } = session;
  const answer = session.hold();
  server.listenOn(place, (error) =>
    answer((reply) => {
      if (error === null) {
        publish(server, changes);
        reply.ok();
      } else {
        if (concernsOomScore(changes)) server.setOomScore([]);
        reply.error(setError(error.directive, error.reason));
      }
    }),
  );
}

function publish(server: Server, changes: Change[]): void {
  server.publishConfig(changes);
  if (textOf(changes, "maxmemory") !== undefined) warnIfFull(server);
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

const CONFIG_SET: CommandSpec = {
  ...CONFIG_SET_META,
  hidden: secretValues,
  differs: "With shard owners, bind needs a restart.",
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
    const error = refusalOf(server, changes) ?? oomScoreError(session, changes);
    if (error !== null) {
      reply.error(error);
      return;
    }
    const place = placeOf(server, changes);
    if (place !== null) {
      moveThere(session, place, changes);
      return;
    }
    if (changes.length > 0) publish(server, changes);
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

const CONFIG_RESETSTAT: CommandSpec = {
  ...CONFIG_RESETSTAT_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    session.server.resetStats();
    reply.ok();
  },
};

const CONFIG_REWRITE: CommandSpec = {
  ...CONFIG_REWRITE_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const error = rewriteConfig(session.server.config);
    if (error === null) reply.ok();
    else reply.error(error);
  },
};

const CONFIG_HELP: CommandSpec = helpCommand("CONFIG", { group: "server", since: "5.0.0" }, [
  "GET <pattern>",
  "    Return parameters matching the glob-like <pattern> and their values.",
  "SET <directive> <value>",
  "    Set the configuration <directive> to <value>.",
  "RESETSTAT",
  "    Reset statistics reported by the INFO command.",
  "REWRITE",
  "    Rewrite the configuration file.",
]);

export const CONFIG_COMMANDS: readonly CommandSpec[] = [
  CONFIG,
  CONFIG_GET,
  CONFIG_SET,
  CONFIG_RESETSTAT,
  CONFIG_REWRITE,
  CONFIG_HELP,
];
