/** DEBUG's subcommands that show what the protocol and the patterns do. */

import type { Args } from "../../base/args.ts";
import { globMatchText } from "../../base/glob.ts";
import type { Session } from "../../command/session.ts";
import type { Reply } from "../../protocol/reply.ts";
import type { DebugSubcommand } from "./debug-subcommand.ts";

const NUMBERS = [0, 1, 2];
const REAL_NUMBER: number = 3141 / 1000;
const BIG_NUMBER = "1234567999999999999999999999999999999";
const WRONG_TYPE =
  "ERR Wrong protocol type name. Please use one of the following: " +
  "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false";
const FUZZ_ROUNDS = 100_000;
const FUZZ_LENGTH_MAX = 32;

/**
 * A value of each type of the protocol; an attribute comes before an ordinary reply, and a push
 * behind it, as whatever is pushed while a command runs.
 */
const SAMPLES: Readonly<Record<string, (reply: Reply) => void>> = {
  string: (reply) => reply.text("Hello World"),
  integer: (reply) => reply.integer(12345),
  double: (reply) => reply.double(REAL_NUMBER),
  bignum: (reply) => reply.bigNumber(BIG_NUMBER),
  null: (reply) => reply.nil(),
  array(reply) {
    reply.array(NUMBERS.length);
    for (const n of NUMBERS) reply.integer(n);
  },
  set(reply) {
    reply.set(NUMBERS.length);
    for (const n of NUMBERS) reply.integer(n);
  },
  map(reply) {
    reply.map(NUMBERS.length);
    for (const n of NUMBERS) {
      reply.integer(n);
      reply.boolean(n === 1);
    }
  },
  attrib(reply) {
    if (reply.proto >= 3) {
      reply.attribute(1);
      reply.text("key-popularity");
      reply.array(2);
      reply.text("key:123");
      reply.integer(90);
    }
    reply.text("Some real reply following the attribute");
  },
  push(reply) {
    if (reply.proto < 3) {
      reply.error("ERR RESP2 is not supported by this command");
      return;
    }
    reply.text("Some real reply following the push reply");
    reply.push(2);
    reply.text("server-cpu-usage");
    reply.integer(42);
  },
  verbatim: (reply) => reply.verbatim("This is a verbatim\nstring", "txt"),
  true: (reply) => reply.boolean(true),
  false: (reply) => reply.boolean(false),
};

/** Matches random texts against random patterns; what must not happen is that it never ends. */
function fuzzPatterns(session: Session): void {
  const { random } = session.server;
  const word = (letters: string): string => {
    const length = random.below(FUZZ_LENGTH_MAX);
    return Array.from({ length }, () => letters[random.below(letters.length)]).join("");
  };
  for (let round = 0; round < FUZZ_ROUNDS; round++) {
    globMatchText(word("ab*?[]^-\\c"), word("abc]"), round % 2 === 0);
  }
}

export const DEBUG_PROTOCOL: readonly DebugSubcommand[] = [
  {
    name: "PROTOCOL",
    words: 3,
    help: [
      "PROTOCOL <type>",
      "    Reply with a test value of the specified type. <type> can be: string,",
      "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
      "    true, false.",
    ],
    locks: "none",
    run(_session: Session, args: Args, reply: Reply): void {
      const name = args.head(2, 16).toLowerCase();
      if (Object.hasOwn(SAMPLES, name)) SAMPLES[name]?.(reply);
      else reply.error(WRONG_TYPE);
    },
  },
  {
    name: "STRINGMATCH-LEN",
    words: 4,
    help: [
      "STRINGMATCH-LEN <pattern> <string>",
      "    Match <string> against the glob-style <pattern>: 1 if it matches, else 0.",
    ],
    locks: "none",
    run(_session, args, reply): void {
      reply.integer(globMatchText(args.text(2), args.text(3), false) ? 1 : 0);
    },
  },
  {
    name: "STRINGMATCH-TEST",
    words: 2,
    help: ["STRINGMATCH-TEST", "    Run a fuzz tester against the matching of patterns."],
    locks: "none",
    run(session, _args, reply): void {
      fuzzPatterns(session);
      reply.simple("Apparently Redis did not crash: test passed");
    },
  },
];
