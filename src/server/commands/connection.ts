/**
 * The commands by which a connection says hello, asks for life, picks a database and goes.
 *
 * There are no users but `default`, which has no password: it is authenticated from the start.
 */

import type { Args } from "../../base/args.ts";
import { int64, int64ToNumber, isInt32 } from "../../base/int64.ts";
import type { Session } from "../../command/session.ts";
import type { CommandSpec } from "../../command/spec.ts";
import { ARGUMENT_SHOWN_BYTES_MAX } from "../../limits.ts";
import {
  AUTH_WITHOUT_PASSWORD,
  cString,
  DB_OUT_OF_RANGE,
  NOPROTO,
  NOT_AN_INTEGER,
  SELECT_IN_CLUSTER,
  SYNTAX_ERROR,
  WRONGPASS,
  wrongArity,
} from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";
import { DEFAULT_USER, nameError } from "./client-names.ts";
import {
  AUTH_META,
  ECHO_META,
  HELLO_META,
  PING_META,
  QUIT_META,
  RESET_META,
  SELECT_META,
} from "./specs.ts";

function replyArgument(args: Args, i: number, reply: Reply): void {
  reply.bulk(args.source(i), args.start[i] as number, args.end[i] as number);
}

const PING: CommandSpec = {
  ...PING_META,
  locks: "none",
  run(_session: Session, args: Args, reply: Reply): void {
    if (args.count > 2) reply.error(wrongArity("ping"));
    else if (args.count === 2) replyArgument(args, 1, reply);
    else reply.simple("PONG");
  },
};

const ECHO: CommandSpec = {
  ...ECHO_META,
  locks: "none",
  run: (_session, args, reply) => replyArgument(args, 1, reply),
};

type Hello = { proto: number; name: string | null };

/** What the arguments of HELLO ask for, or null with the error written. */
function parseHelloOrReply(session: Session, args: Args, reply: Reply): Hello | null {
  const hello: Hello = { proto: session.proto, name: null };
  let userAt = 0;
  if (args.count > 1) {
    if (!args.int64(1)) {
      reply.error("ERR Protocol version is not an integer or out of range");
      return null;
    }
    hello.proto = int64ToNumber(int64.hi, int64.lo);
    if (hello.proto < 2 || hello.proto > 3) {
      reply.error(NOPROTO);
      return null;
    }
  }
  for (let i = 2; i < args.count; i++) {
    const more = args.count - 1 - i;
    if (args.is(i, "AUTH") && more >= 2) {
      userAt = i + 1;
      i += 2;
    } else if (args.is(i, "SETNAME") && more >= 1) {
      i++;
      const wrong = nameError(args, i);
      if (wrong !== null) {
        reply.error(wrong);
        return null;
      }
      hello.name = args.text(i);
    } else {
      const option = cString(args.head(i, ARGUMENT_SHOWN_BYTES_MAX));
      reply.error(`ERR Syntax error in HELLO option '${option}'`);
      return null;
    }
  }
  if (userAt > 0 && !isDefaultUser(args, userAt)) {
    reply.error(WRONGPASS);
    return null;
  }
  return hello;
}

function isDefaultUser(args: Args, i: number): boolean {
  return args.length(i) === DEFAULT_USER.length && args.text(i) === DEFAULT_USER;
}

/** The user and password of each AUTH option. */
function helloSecrets(args: Args): number[] {
  const found: number[] = [];
  for (let i = 2; i + 2 < args.count; i++) {
    if (args.is(i, "AUTH")) found.push(++i, ++i);
    else if (args.is(i, "SETNAME")) i++;
  }
  return found;
}

const HELLO: CommandSpec = {
  ...HELLO_META,
  hidden: helloSecrets,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    const hello = parseHelloOrReply(session, args, reply);
    if (hello === null) return;
    if (hello.name !== null) session.name = hello.name;
    session.proto = hello.proto;
    reply.proto = hello.proto;
    session.publish();
    reply.map(7);
    reply.text("server");
    reply.text("redis");
    reply.text("version");
    reply.text(session.server.facts.redisVersion);
    reply.text("proto");
    reply.integer(hello.proto);
    reply.text("id");
    reply.integer(session.id);
    reply.text("mode");
    reply.text(session.owner >= 0 ? "cluster" : "standalone");
    reply.text("role");
    reply.text("master");
    reply.text("modules");
    reply.array(0);
  },
};

const AUTH: CommandSpec = {
  ...AUTH_META,
  hidden: (args) => (args.count > 3 ? [] : [1, 2]),
  differs: "There is only the user default, who has no password.",
  locks: "none",
  run(_session: Session, args: Args, reply: Reply): void {
    if (args.count > 3) reply.error(SYNTAX_ERROR);
    else if (args.count === 2) reply.error(AUTH_WITHOUT_PASSWORD);
    else if (isDefaultUser(args, 1)) reply.ok();
    else reply.error(WRONGPASS);
  },
};

const SELECT: CommandSpec = {
  ...SELECT_META,
  locks: "none",
  run(session: Session, args: Args, reply: Reply): void {
    if (!args.int64(1)) {
      reply.error(NOT_AN_INTEGER);
      return;
    }
    const { hi, lo } = int64;
    if (!isInt32(hi, lo)) {
      reply.error("ERR value is out of range, value must between -2147483648 and 2147483647");
      return;
    }
    const index = lo | 0;
    if (session.owner >= 0 && index !== 0) {
      reply.error(SELECT_IN_CLUSTER);
    } else if (index < 0 || index >= session.server.config.databases) {
      reply.error(DB_OUT_OF_RANGE);
    } else {
      session.db = index;
      session.publish();
      reply.ok();
    }
  },
};

const QUIT: CommandSpec = {
  ...QUIT_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    reply.ok();
    session.closeAfterReply();
  },
};

const RESET: CommandSpec = {
  ...RESET_META,
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    session.reset();
    reply.simple("RESET");
  },
};

export const CONNECTION_COMMANDS: readonly CommandSpec[] = [
  PING,
  ECHO,
  HELLO,
  AUTH,
  SELECT,
  QUIT,
  RESET,
];
