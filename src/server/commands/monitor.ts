/** MONITOR: the session is sent every command that is run. */
import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Reply } from "../../protocol/reply.ts";
import { MONITOR_META } from "./specs.ts";

/** Redis: a session that monitors already gets no answer. */
const MONITOR: CommandSpec = {
  ...MONITOR_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    if (session.monitor()) reply.ok();
  },
};

export const MONITOR_COMMANDS: readonly CommandSpec[] = [MONITOR];
