/** LASTSAVE and ROLE: a master without replicas that has not saved since it was started. */

import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Reply } from "../../protocol/reply.ts";
import { LOLWUT } from "./lolwut.ts";

const LASTSAVE: CommandSpec = {
  name: "LASTSAVE",
  group: "server",
  since: "1.0.0",
  complexity: "O(1)",
  summary: "Returns the Unix timestamp of the last successful save to disk.",
  flags: ["loading", "stale", "fast"],
  categories: ["admin", "dangerous"],
  tips: ["nondeterministic_output"],
  locks: "none",
  differs: "The time of the start: there is no snapshot.",
  run(session: Session, _args: Args, reply: Reply): void {
    reply.integer(Math.floor(session.server.facts.startedMs / 1000));
  },
};

const ROLE: CommandSpec = {
  name: "ROLE",
  group: "server",
  since: "2.8.12",
  complexity: "O(1)",
  summary: "Returns the replication role.",
  flags: ["noscript", "loading", "stale", "fast"],
  categories: ["admin", "dangerous"],
  locks: "none",
  run(_session: Session, _args: Args, reply: Reply): void {
    reply.array(3);
    reply.text("master");
    reply.integer(0);
    reply.array(0);
  },
};

export const STATE_COMMANDS: readonly CommandSpec[] = [LASTSAVE, ROLE, LOLWUT];
