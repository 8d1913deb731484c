/** LOLWUT: the version, and pictures where a version with a picture is asked for. */

import type { Args } from "../../base/args.ts";
import { int64, int64ToNumber } from "../../base/int64.ts";
import { int, opt, token } from "../../command/grammar.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import type { Reply } from "../../protocol/reply.ts";
import { int64OrReply } from "../../types/keys/numbers.ts";
import { city, schotter } from "../lolwut.ts";

/** Behind LOLWUT VERSION n. */
const OPTIONS_AT = 3;

/** A number from 1 to `most`, `standard` if it is not given; NaN once its error is written. */
function sizeOrReply(args: Args, i: number, standard: number, most: number, reply: Reply): number {
  if (i >= args.count) return standard;
  if (!int64OrReply(args, i, reply)) return Number.NaN;
  return Math.min(Math.max(int64ToNumber(int64.hi, int64.lo), 1), most);
}

/** The picture, or null once an error is written. */
function pictureOrReply(session: Session, args: Args, reply: Reply): string | null {
  if (args.count < OPTIONS_AT || !args.is(1, "VERSION")) return "";
  if (!int64OrReply(args, 2, reply)) return null;
  const { random } = session.server;
  const version = int64ToNumber(int64.hi, int64.lo);
  if (version === 5) {
    const columns = sizeOrReply(args, OPTIONS_AT, 66, 1000, reply);
    if (Number.isNaN(columns)) return null;
    const perRow = sizeOrReply(args, OPTIONS_AT + 1, 8, 200, reply);
    if (Number.isNaN(perRow)) return null;
    const perColumn = sizeOrReply(args, OPTIONS_AT + 2, 12, 200, reply);
    if (Number.isNaN(perColumn)) return null;
    const picture = schotter(random, columns, perRow, perColumn);
    return `${picture}\nGeorg Nees - schotter, plotter on paper, 1968. `;
  }
  if (version === 6) {
    const columns = sizeOrReply(args, OPTIONS_AT, 80, 1000, reply);
    if (Number.isNaN(columns)) return null;
    const rows = sizeOrReply(args, OPTIONS_AT + 1, 20, 1000, reply);
    if (Number.isNaN(rows)) return null;
    return `${city(random, columns, rows)}\nA city at night. `;
  }
  return "";
}

export const LOLWUT: CommandSpec = {
  name: "LOLWUT",
  group: "server",
  since: "5.0.0",
  complexity: "",
  summary: "Displays computer art and the Redis version",
  flags: ["readonly", "fast"],
  args: [opt(token("VERSION", int("version")))],
  differs: "The picture of version 6 is another one.",
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const picture = pictureOrReply(session, args, reply);
    if (picture === null) return;
    reply.verbatim(`${picture}Redis ver. ${session.server.facts.redisVersion}\n`, "txt");
  },
};
