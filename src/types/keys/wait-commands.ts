/**
 * WAIT and WAITAOF. There is no replica and no append-only file: who waits for one waits until its
 * time is up, and is answered that there was none.
 */
import type { Args } from "../../base/args.ts";
import { addInt64, fromNumber, int64, int64ToNumber } from "../../base/int64.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { TIMEOUT_NEGATIVE, TIMEOUT_NOT_AN_INTEGER } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { int64OrReply } from "./numbers.ts";
import { WAIT_META, WAITAOF_META } from "./specs.ts";

const TIMEOUT_OUT_OF_RANGE = "ERR timeout is out of range";
const NOT_0_OR_1 = "ERR value is out of range, value must between 0 and 1";
const NOT_POSITIVE = "ERR value is out of range, must be positive";
const NO_APPEND_ONLY_FILE =
  "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
const DIFFERS = "A call of the embedded store does not wait, as if it stood in a transaction.";

/** How long to wait, argument `i` in ms, and 0 for ever; null if the error is written. */
function timeOrReply(session: Session, args: Args, i: number, reply: Reply): number | null {
  if (!int64OrReply(args, i, reply, TIMEOUT_NOT_AN_INTEGER)) return null;
  const { hi, lo } = int64;
  // Redis: its end as unix time must be an integer of 64 bits.
  fromNumber(session.server.store.clock.unixMs);
  if (hi < 0) reply.error(TIMEOUT_NEGATIVE);
  else if (!addInt64(hi, lo, int64.hi, int64.lo)) reply.error(TIMEOUT_OUT_OF_RANGE);
  else return int64ToNumber(hi, lo);
  return null;
}

/** Waits for replicas, if any are asked for, and writes that there is none. */
function waitFor(
  session: Session,
  areAskedFor: boolean,
  forMs: number,
  reply: Reply,
  none: (reply: Reply) => void,
): void {
  if (areAskedFor && session.mayBlock) session.block({ forMs, timedOut: none });
  else none(reply);
}

function noReplica(reply: Reply): void {
  reply.integer(0);
}

function noCopy(reply: Reply): void {
  reply.array(2);
  reply.integer(0);
  reply.integer(0);
}

export const WAIT: CommandSpec = {
  ...WAIT_META,
  differs: DIFFERS,
  locks: "none",
  run(session, args, reply) {
    if (!int64OrReply(args, 1, reply)) return;
    const areAskedFor = int64.hi > 0 || (int64.hi === 0 && int64.lo !== 0);
    const forMs = timeOrReply(session, args, 2, reply);
    if (forMs !== null) waitFor(session, areAskedFor, forMs, reply, noReplica);
  },
};

export const WAITAOF: CommandSpec = {
  ...WAITAOF_META,
  differs: DIFFERS,
  locks: "none",
  run(session, args, reply) {
    if (!int64OrReply(args, 1, reply)) return;
    const { hi, lo } = int64;
    if (hi !== 0 || lo > 1) {
      reply.error(NOT_0_OR_1);
      return;
    }
    if (!int64OrReply(args, 2, reply, NOT_POSITIVE)) return;
    if (int64.hi < 0) {
      reply.error(NOT_POSITIVE);
      return;
    }
    const areAskedFor = int64.hi !== 0 || int64.lo !== 0;
    const forMs = timeOrReply(session, args, 3, reply);
    if (forMs === null) return;
    if (lo === 1) {
      reply.error(NO_APPEND_ONLY_FILE);
      return;
    }
    waitFor(session, areAskedFor, forMs, reply, noCopy);
  },
};
