/** CLIENT REPLY, NO-EVICT and NO-TOUCH: what a connection switches on and off for itself. */
import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { CLIENT_NO_EVICT_META, CLIENT_NO_TOUCH_META, CLIENT_REPLY_META } from "./specs.ts";

/** Position of the first argument behind the two words of the command. */
const REST = 2;

/** +OK for ON and OFF, told to `set`; a syntax error for anything else. */
function switchOrReply(args: Args, reply: Reply, set: (on: boolean) => void): void {
  const on = args.is(REST, "ON");
  if (!on && !args.is(REST, "OFF")) {
    reply.error(SYNTAX_ERROR);
    return;
  }
  set(on);
  reply.ok();
}

export const CLIENT_NO_EVICT: CommandSpec = {
  ...CLIENT_NO_EVICT_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    switchOrReply(args, reply, (on) => {
      session.noEvict = on;
      session.publish();
    });
  },
};

export const CLIENT_NO_TOUCH: CommandSpec = {
  ...CLIENT_NO_TOUCH_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    switchOrReply(args, reply, (on) => {
      session.noTouch = on;
      session.server.store.touches = !on;
      session.publish();
    });
  },
};

/** Redis: only ON answers. */
export const CLIENT_REPLY: CommandSpec = {
  ...CLIENT_REPLY_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    if (args.is(REST, "ON")) {
      session.setReply("on");
      reply.ok();
    } else if (args.is(REST, "OFF")) {
      session.setReply("off");
    } else if (args.is(REST, "SKIP")) {
      session.setReply("skip");
    } else {
      reply.error(SYNTAX_ERROR);
    }
  },
};
