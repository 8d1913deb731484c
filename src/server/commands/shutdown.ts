/** SHUTDOWN. */

import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { SHUTDOWN_META } from "./specs.ts";

const SHUTDOWN_WORDS = ["NOSAVE", "SAVE", "NOW", "FORCE", "ABORT"] as const;

type Shutdown = { saves: boolean; forces: boolean; aborts: boolean };

/** What the arguments of SHUTDOWN ask for, or null with the error written. */
function parseShutdownOrReply(args: Args, reply: Reply): Shutdown | null {
  const said = new Set<string>();
  for (let i = 1; i < args.count; i++) {
    const word = SHUTDOWN_WORDS.find((name) => args.is(i, name));
    if (word === undefined) {
      reply.error(SYNTAX_ERROR);
      return null;
    }
    said.add(word);
  }
  const aborts = said.has("ABORT");
  if ((aborts && said.size > 1) || (said.has("SAVE") && said.has("NOSAVE"))) {
    reply.error(SYNTAX_ERROR);
    return null;
  }
  return { saves: said.has("SAVE"), forces: said.has("FORCE"), aborts };
}

/**
 * Nothing is waited for and nothing is written, so there is never a shutdown to abort, and SAVE
 * fails unless FORCE says to end all the same. A shutdown has no reply: the connection closes.
 */
export const SHUTDOWN: CommandSpec = {
  ...SHUTDOWN_META,
  locks: "none",
  differs: "SAVE is refused unless FORCE is given: there is no snapshot file.",
  run(session: Session, args: Args, reply: Reply): void {
    const shutdown = parseShutdownOrReply(args, reply);
    if (shutdown === null) return;
    if (shutdown.aborts) {
      reply.error("ERR No shutdown in progress.");
      return;
    }
    if (shutdown.saves && !shutdown.forces) {
      session.server.log("warning", "SHUTDOWN SAVE was refused: there is no snapshot to save to");
      reply.error("ERR Errors trying to SHUTDOWN. Check logs.");
      return;
    }
    session.closeAfterReply();
    session.server.shutdown();
  },
};
