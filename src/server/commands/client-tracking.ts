/**
 * CLIENT TRACKING and what belongs to it, as a server answers where nobody tracks keys. Switching
 * tracking on is checked as in Redis and then refused.
 */
import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { NOT_AN_INTEGER, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import {
  CLIENT_CACHING_META,
  CLIENT_GETREDIR_META,
  CLIENT_TRACKING_META,
  CLIENT_TRACKINGINFO_META,
} from "./specs.ts";

/** Position of the first argument behind the two words of the command. */
const REST = 2;

const NOT_SUPPORTED = "ERR CLIENT TRACKING ON is not supported yet";

type Options = {
  bcast: boolean;
  optIn: boolean;
  optOut: boolean;
  prefixes: number;
  redirect: number;
};

/** Reads the options from `first` on. Returns what is wrong, or null. */
function readOptions(session: Session, args: Args, first: number, options: Options): string | null {
  for (let i = first; i < args.count; i++) {
    const hasMore = i + 1 < args.count;
    if (args.is(i, "REDIRECT") && hasMore) {
      i++;
      const error = readRedirect(session, args, i, options);
      if (error !== null) return error;
    } else if (args.is(i, "BCAST")) {
      options.bcast = true;
    } else if (args.is(i, "OPTIN")) {
      options.optIn = true;
    } else if (args.is(i, "OPTOUT")) {
      options.optOut = true;
    } else if (args.is(i, "PREFIX") && hasMore) {
      i++;
      options.prefixes++;
    } else if (!args.is(i, "NOLOOP")) {
      return SYNTAX_ERROR;
    }
  }
  return null;
}

function readRedirect(session: Session, args: Args, i: number, options: Options): string | null {
  if (options.redirect !== 0) return "ERR A client can only redirect to a single other client";
  const id = args.integer(i);
  if (id === null) return NOT_AN_INTEGER;
  const { clients } = session.server;
  const isThere = clients.list().some((client) => client.id === id);
  options.redirect = id;
  return isThere ? null : "ERR The client ID you want redirect to does not exist";
}

/** What Redis has against tracking with these options. */
function conflict(options: Options): string | null {
  const { bcast, optIn, optOut, prefixes } = options;
  if (!bcast && prefixes > 0) return "ERR PREFIX option requires BCAST mode to be enabled";
  if (bcast && (optIn || optOut)) return "ERR OPTIN and OPTOUT are not compatible with BCAST";
  return optIn && optOut ? "ERR You can't specify both OPTIN mode and OPTOUT mode" : null;
}

export const CLIENT_TRACKING: CommandSpec = {
  ...CLIENT_TRACKING_META,
  locks: "none",
  differs: "ON is refused.",
  run(session: Session, args: Args, reply: Reply): void {
    const options = { bcast: false, optIn: false, optOut: false, prefixes: 0, redirect: 0 };
    const error = readOptions(session, args, REST + 1, options);
    if (error !== null) reply.error(error);
    else if (args.is(REST, "ON")) reply.error(conflict(options) ?? NOT_SUPPORTED);
    else if (args.is(REST, "OFF")) reply.ok();
    else reply.error(SYNTAX_ERROR);
  },
};

export const CLIENT_CACHING: CommandSpec = {
  ...CLIENT_CACHING_META,
  locks: "none",
  run(_session: Session, _args: Args, reply: Reply): void {
    reply.error(
      "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or " +
        "OPTOUT mode enabled",
    );
  },
};

export const CLIENT_GETREDIR: CommandSpec = {
  ...CLIENT_GETREDIR_META,
  locks: "none",
  run: (_session, _args, reply) => reply.integer(-1),
};

export const CLIENT_TRACKINGINFO: CommandSpec = {
  ...CLIENT_TRACKINGINFO_META,
  locks: "none",
  run(_session: Session, _args: Args, reply: Reply): void {
    reply.map(3);
    reply.text("flags");
    reply.set(1);
    reply.text("off");
    reply.text("redirect");
    reply.integer(-1);
    reply.text("prefixes");
    reply.array(0);
  },
};
