/** WAIT and WAITAOF: there is no replica and no append-only file to wait for. */
import type { Args } from "../../base/args.ts";
import { addInt64, fromNumber, int64 } from "../../base/int64.ts";
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
const DIFFERS =
  "Without replicas it answers 0 at once, also where Redis would wait for the timeout.";

/** True if argument `i` is a time to wait; if not, the error is written. */
function isTimeoutOrReply(session: Session, args: Args, i: number, reply: Reply): boolean {
  if (!int64OrReply(args, i, reply, TIMEOUT_NOT_AN_INTEGER)) return false;
  const { hi, lo } = int64;
  fromNumber(session.server.store.clock.unixMs);
  if (hi < 0) reply.error(TIMEOUT_NEGATIVE);
  else if (!addInt64(hi, lo, int64.hi, int64.lo)) reply.error(TIMEOUT_OUT_OF_RANGE);
  else return true;
  return false;
}

export const WAIT: CommandSpec = {
  ...WAIT_META,
  differs: DIFFERS,
  locks: "none",
  run(session, args, reply) {
    if (!int64OrReply(args, 1, reply)) return;
    if (isTimeoutOrReply(session, args, 2, reply)) reply.integer(0);
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
    if (!int64OrReply(args, 2, reply)) return;
    if (int64.hi < 0) {
      reply.error(NOT_POSITIVE);
      return;
    }
    if (!isTimeoutOrReply(session, args, 3, reply)) return;
    if (lo === 1) {
      reply.error(NO_APPEND_ONLY_FILE);
      return;
    }
    reply.array(2);
    reply.integer(0);
    reply.integer(0);
  },
};
