/** INFO and TIME. What INFO shows is in `server/info/`. */

import type { Args } from "../../base/args.ts";
import { lowerText } from "../../base/bytes.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Reply } from "../../protocol/reply.ts";
import { writeInfo } from "../info/sections.ts";
import { InfoView } from "../info/view.ts";
import { INFO_META, TIME_META } from "./specs.ts";

/** No section has a longer name. */
const NAME_MAX = 64;

const INFO: CommandSpec = {
  ...INFO_META,
  locks: "none",
  differs: "There are the sections Threads and, on owner ports, figures of the owner.",
  run(session: Session, args: Args, reply: Reply): void {
    const words: string[] = [];
    for (let i = 1; i < args.count; i++) words.push(lowerText(args.head(i, NAME_MAX)));
    reply.verbatim(writeInfo(new InfoView(session), words), "txt");
  },
};

const TIME: CommandSpec = {
  ...TIME_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const usec = session.server.store.clock.unixUsec();
    reply.array(2);
    reply.text(String(Math.floor(usec / 1e6)));
    reply.text(String(usec % 1e6));
  },
};

export const INFO_COMMANDS: readonly CommandSpec[] = [INFO, TIME];
