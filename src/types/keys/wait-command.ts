/** WAIT: there are no replicas, so none will ever acknowledge anything. */
import { addInt64, fromNumber, int64 } from "../../base/int64.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { TIMEOUT_NEGATIVE, TIMEOUT_NOT_AN_INTEGER } from "../../protocol/errors.ts";
import { int64OrReply } from "./numbers.ts";
import { WAIT_META } from "./specs.ts";

const TIMEOUT_OUT_OF_RANGE = "ERR timeout is out of range";

export const WAIT: CommandSpec = {
  ...WAIT_META,
  differs: "Without replicas it answers 0 at once, also where Redis would wait for the timeout.",
  locks: "none",
  run(session, args, reply) {
    if (!int64OrReply(args, 1, reply)) return;
    if (!int64OrReply(args, 2, reply, TIMEOUT_NOT_AN_INTEGER)) return;
    const { hi, lo } = int64;
    fromNumber(session.server.store.clock.unixMs);
    if (hi < 0) reply.error(TIMEOUT_NEGATIVE);
    else if (!addInt64(hi, lo, int64.hi, int64.lo)) reply.error(TIMEOUT_OUT_OF_RANGE);
    else reply.integer(0);
  },
};
