/**
 * CLIENT: what a connection says about itself, and the view of all others. Clients of all threads
 * are rows in shared memory, so nothing here asks another thread; killing leaves a word in the
 * row and rings the thread that the client belongs to.
 */
import type { Args } from "../../base/args.ts";
import { helpCommand } from "../../command/help.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { ARGUMENT_SHOWN_BYTES_MAX } from "../../limits.ts";
import { cString, SYNTAX_ERROR } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { type ClientRow, LIBRARY_BYTES_MAX, VERSION_BYTES_MAX } from "../client-table.ts";
import {
  idsOrReply,
  isMeant,
  type KillFilter,
  killFilterOrReply,
  kindOrReply,
} from "./client-filters.ts";
import { clientLine } from "./client-line.ts";
import { CLIENT_NO_EVICT, CLIENT_NO_TOUCH, CLIENT_REPLY } from "./client-modes.ts";
import { isPrintable, nameError, tooLong } from "./client-names.ts";
import { CLIENT_PAUSE, CLIENT_UNBLOCK, CLIENT_UNPAUSE } from "./client-pause.ts";
import {
  CLIENT_CACHING,
  CLIENT_GETREDIR,
  CLIENT_TRACKING,
  CLIENT_TRACKINGINFO,
} from "./client-tracking.ts";
import {
  CLIENT_GETNAME_META,
  CLIENT_ID_META,
  CLIENT_INFO_META,
  CLIENT_KILL_META,
  CLIENT_LIST_META,
  CLIENT_META,
  CLIENT_SETINFO_META,
  CLIENT_SETNAME_META,
} from "./specs.ts";

/** Position of the first argument behind the two words of the command. */
const REST = 2;

const HELP: readonly string[] = [
  "CACHING (YES|NO)",
  "    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.",
  "GETREDIR",
  "    Return the client ID we are redirecting to when tracking is enabled.",
  "GETNAME",
  "    Return the name of the current connection.",
  "ID",
  "    Return the ID of the current connection.",
  "INFO",
  "    Return information about the current client connection.",
  "KILL <ip:port>",
  "    Kill connection made from <ip:port>.",
  "KILL <option> <value> [<option> <value> [...]]",
  "    Kill connections. Options are:",
  "    * ADDR (<ip:port>|<unixsocket>:0)",
  "      Kill connections made from the specified address",
  "    * LADDR (<ip:port>|<unixsocket>:0)",
  "      Kill connections made to specified local address",
  "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
  "      Kill connections by type.",
  "    * USER <username>",
  "      Kill connections authenticated by <username>.",
  "    * SKIPME (YES|NO)",
  "      Skip killing current connection (default: yes).",
  "    * ID <client-id>",
  "      Kill connections by client id.",
  "    * MAXAGE <maxage>",
  "      Kill connections older than the specified age.",
  "LIST [options ...]",
  "    Return information about client connections. Options:",
  "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
  "      Return clients of specified type.",
  "UNPAUSE",
  "    Stop the current client pause, resuming traffic.",
  "PAUSE <timeout> [WRITE|ALL]",
  "    Suspend all, or just write, clients for <timeout> milliseconds.",
  "REPLY (ON|OFF|SKIP)",
  "    Control the replies sent to the current connection.",
  "SETNAME <name>",
  "    Assign the name <name> to the current connection.",
  "SETINFO <option> <value>",
  "    Set client meta attr. Options are:",
  "    * LIB-NAME: the client lib name.",
  "    * LIB-VER: the client lib version.",
  "UNBLOCK <clientid> [TIMEOUT|ERROR]",
  "    Unblock the specified blocked client.",
  "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
  "         [OPTIN] [OPTOUT] [NOLOOP]",
  "    Control server assisted client side caching.",
  "TRACKINGINFO",
  "    Report tracking status for the current connection.",
  "NO-EVICT (ON|OFF)",
  "    Protect current client connection from eviction.",
  "NO-TOUCH (ON|OFF)",
  "    Will not touch LRU/LFU stats when this mode is on.",
];

/** Clients that are connected and that nobody has told to go, by ascending id. */
function livingClients(session: Session): ClientRow[] {
  const { clients } = session.server;
  return clients.list().filter(({ row, id }) => !clients.isKilled(row, id));
}

/** Rows are written at the end of a turn; of the caller, what this turn did is known here. */
function lineOf(session: Session, client: ClientRow, command: string, args: Args): string {
  const { server } = session;
  if (client.id !== session.id) return clientLine(server, client);
  let argumentBytes = 0;
  for (let i = 0; i < args.count; i++) argumentBytes += args.length(i);
  return clientLine(server, {
    ...client,
    argumentBytes,
    command: server.commands.declared(command)?.id ?? client.command,
    lastMs: server.store.clock.unixMs,
  });
}

const CLIENT: CommandSpec = { ...CLIENT_META, locks: "container" };

const CLIENT_ID: CommandSpec = {
  ...CLIENT_ID_META,
  locks: "none",
  run: (session, _args, reply) => reply.integer(session.id),
};

const CLIENT_GETNAME: CommandSpec = {
  ...CLIENT_GETNAME_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    if (session.name === "") reply.nil();
    else reply.text(session.name);
  },
};

const CLIENT_SETNAME: CommandSpec = {
  ...CLIENT_SETNAME_META,
  locks: "none",
  differs: "Names longer than 254 bytes are refused.",
  run(session: Session, args: Args, reply: Reply): void {
    const wrong = nameError(args, REST);
    if (wrong !== null) {
      reply.error(wrong);
      return;
    }
    session.name = args.text(REST);
    session.publish();
    reply.ok();
  },
};

const CLIENT_SETINFO: CommandSpec = {
  ...CLIENT_SETINFO_META,
  locks: "none",
  differs: "Library names longer than 158 bytes and versions longer than 126 bytes are refused.",
  run(session: Session, args: Args, reply: Reply): void {
    const isName = args.is(REST, "LIB-NAME");
    const option = cString(args.head(REST, ARGUMENT_SHOWN_BYTES_MAX));
    if (!isName && !args.is(REST, "LIB-VER")) {
      reply.error(`ERR Unrecognized option '${option}'`);
      return;
    }
    if (!isPrintable(args, REST + 1)) {
      reply.error(`ERR ${option} cannot contain spaces, newlines or special characters.`);
      return;
    }
    const most = isName ? LIBRARY_BYTES_MAX : VERSION_BYTES_MAX;
    if (args.length(REST + 1) > most) {
      reply.error(tooLong(option, most));
      return;
    }
    if (isName) session.libName = args.text(REST + 1);
    else session.libVersion = args.text(REST + 1);
    session.publish();
    reply.ok();
  },
};

const CLIENT_INFO: CommandSpec = {
  ...CLIENT_INFO_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const own = session.server.clients.read(session.row);
    reply.verbatim(own === null ? "\n" : `${lineOf(session, own, "client|info", args)}\n`, "txt");
  },
};

const CLIENT_LIST: CommandSpec = {
  ...CLIENT_LIST_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const clients = clientsAskedFor(session, args, reply);
    if (clients === null) return;
    let text = "";
    for (const client of clients) text += `${lineOf(session, client, "client|list", args)}\n`;
    reply.verbatim(text, "txt");
  },
};

/** The clients that the arguments of CLIENT LIST name, or null with the error written. */
function clientsAskedFor(session: Session, args: Args, reply: Reply): ClientRow[] | null {
  if (args.count === REST) return livingClients(session);
  if (args.count === REST + 2 && args.is(REST, "TYPE")) {
    const kind = kindOrReply(args, REST + 1, reply);
    if (kind < 0) return null;
    return livingClients(session).filter((client) => client.kind === kind);
  }
  if (args.count > REST + 1 && args.is(REST, "ID")) {
    const ids = idsOrReply(args, REST + 1, reply);
    if (ids === null) return null;
    const byId = new Map(livingClients(session).map((client) => [client.id, client]));
    return ids.map((id) => byId.get(id)).filter((client) => client !== undefined);
  }
  reply.error(SYNTAX_ERROR);
  return null;
}

const CLIENT_KILL: CommandSpec = {
  ...CLIENT_KILL_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const filter = killFilterOrReply(args, reply);
    if (filter === null) return;
    const killed = kill(session, filter);
    if (args.count > REST + 1) reply.integer(killed);
    else if (killed === 0) reply.error("ERR No such client");
    else reply.ok();
  },
};

/** Kills the clients that the filter lets through. Returns how many. */
function kill(session: Session, filter: KillFilter): number {
  const { server } = session;
  const threads = new Set<number>();
  let killed = 0;
  for (const client of livingClients(session)) {
    if (!isMeant(filter, client, server.store.clock.unixMs)) continue;
    if (client.id === session.id) {
      if (filter.skipsCaller) continue;
      session.closeAfterReply();
    } else {
      if (!server.clients.kill(client)) continue;
      threads.add(client.thread);
    }
    killed++;
  }
  for (const thread of threads) server.ring(thread);
  return killed;
}

const CLIENT_HELP: CommandSpec = helpCommand(
  "CLIENT",
  { group: "connection", since: "5.0.0" },
  HELP,
);

export const CLIENT_COMMANDS: readonly CommandSpec[] = [
  CLIENT,
  CLIENT_CACHING,
  CLIENT_GETNAME,
  CLIENT_GETREDIR,
  CLIENT_HELP,
  CLIENT_ID,
  CLIENT_INFO,
  CLIENT_KILL,
  CLIENT_LIST,
  CLIENT_NO_EVICT,
  CLIENT_NO_TOUCH,
  CLIENT_PAUSE,
  CLIENT_REPLY,
  CLIENT_SETINFO,
  CLIENT_SETNAME,
  CLIENT_TRACKING,
  CLIENT_TRACKINGINFO,
  CLIENT_UNBLOCK,
  CLIENT_UNPAUSE,
];
