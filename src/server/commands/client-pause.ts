/** CLIENT PAUSE, UNPAUSE and UNBLOCK: what makes other clients wait, and go on. */
import type { Args } from "../../base/args.ts";
import { int64, int64ToNumber } from "../../base/int64.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import {
  NOT_AN_INTEGER,
  TIMEOUT_NEGATIVE,
  TIMEOUT_NOT_AN_INTEGER,
  unknownSubcommandOrArity,
} from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { UNBLOCK_BY_ERROR, UNBLOCK_BY_TIMEOUT } from "../client-table.ts";
import { INT64_MAX } from "../config/value-types.ts";
import { CLIENT_PAUSE_META, CLIENT_UNBLOCK_META, CLIENT_UNPAUSE_META } from "./specs.ts";

/** Position of the first argument behind the two words of the command. */
const REST = 2;

/** How many milliseconds argument `i` is, 0 for none as Redis has it; or what is wrong. */
function timeOf(args: Args, i: number, nowMs: number): number | string {
  if (!args.int64(i)) {
    return TIMEOUT_NOT_AN_INTEGER;
  }
  const { hi, lo } = int64;
  if (hi < 0) return TIMEOUT_NEGATIVE;
  const exact = (BigInt(hi) << 32n) + BigInt(lo);
  if (exact > INT64_MAX - BigInt(nowMs)) return "ERR timeout is out of range";
  return int64ToNumber(hi, lo);
}

/** Tells every thread to pause its clients. Returns what is wrong with the call, or null. */
function pause(session: Session, args: Args): string | null {
  const at = REST + 1;
  if (args.count > at + 1) return unknownSubcommandOrArity(args);
  const isWrite = args.count > at && args.is(at, "WRITE");
  if (args.count > at && !isWrite && !args.is(at, "ALL")) {
    return "ERR CLIENT PAUSE mode must be WRITE or ALL";
  }
  const { server } = session;
  const ms = timeOf(args, REST, server.store.clock.unixMs);
  if (typeof ms === "string") return ms;
  server.pauseClients(ms, !isWrite);
  return null;
}

/**
 * Once all threads have been told, a write that they had begun before has its locks; so when every
 * lock was had and given up again the last one is over, and nothing is written after the answer.
 */
export const CLIENT_PAUSE: CommandSpec = {
  ...CLIENT_PAUSE_META,
  locks: "each",
  everywhere: true,
  begin: (_db, args, session) => pause(session, args),
  part: (_db, _shard, error) => (error === null ? "next" : "stop"),
  finish(_db, error, _args, reply) {
    if (error === null) reply.ok();
    else reply.error(error as string);
  },
};

export const CLIENT_UNPAUSE: CommandSpec = {
  ...CLIENT_UNPAUSE_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    session.server.unpauseClients();
    reply.ok();
  },
};

/** What waits for the end of a pause is not unblocked by this. */
export const CLIENT_UNBLOCK: CommandSpec = {
  ...CLIENT_UNBLOCK_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const at = REST + 1;
    const id = args.integer(REST);
    if (args.count > at + 1) {
      reply.error(unknownSubcommandOrArity(args));
    } else if (args.count > at && !args.is(at, "TIMEOUT") && !args.is(at, "ERROR")) {
      reply.error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    } else if (id === null) {
      reply.error(NOT_AN_INTEGER);
    } else {
      const { server } = session;
      const isError = args.count > at && args.is(at, "ERROR");
      const how = isError ? UNBLOCK_BY_ERROR : UNBLOCK_BY_TIMEOUT;
      const thread = server.clients.unblock(id, how);
      if (thread >= 0) server.ring(thread);
      reply.integer(thread >= 0 ? 1 : 0);
    }
  },
};
