/**
 * Where Redis 7.4, which we are, answers otherwise than the redis-server 7.0 that the suites run
 * against. A row excuses a difference only if our reply is the one 7.4 gives; where 7.4 answers
 * worse than 7.0 there is no row, and 7.0 holds. A row whose line no case has fails the suite.
 */
import { type Reply, show } from "../support/resp-parser.ts";
import type { Step } from "./script.ts";

export type Difference = {
  /** Matched against the line of the case. */
  line: RegExp;
  since: string;
  reason: string;
  /** What 7.4 answers, as `show` prints it. */
  ours: RegExp;
};

const differences: readonly Difference[] = [
  {
    line: /^CLIENT SETINFO (LIB-NAME|LIB-VER|lib-name) (x|mylib|1\.2\.3|"")$/,
    since: "7.2",
    reason: "CLIENT SETINFO is new",
    ours: /^\+OK$/,
  },
  {
    line: /^CLIENT SETINFO LIB-(NAME|VER) "a(\\n| )b"$/,
    since: "7.2",
    reason: "CLIENT SETINFO is new",
    ours: /^-ERR LIB-(NAME|VER) cannot contain spaces, newlines or special characters\.$/,
  },
  {
    line: /^CLIENT SETNAME "(a\\x00 b|\\x00)"$/,
    since: "7.2",
    reason: "what is behind a zero byte in a name is not looked at",
    ours: /^\+OK$/,
  },
  {
    line: /^HELLO 2 "SETNAME\\x00" "x\\x00\\n"$/,
    since: "7.2",
    reason: "what is behind a zero byte in a name is not looked at",
    ours: /^\*\[\$"server" /,
  },
  {
    line: /^CLIENT GETNAME$/,
    since: "7.2",
    reason: "what is behind a zero byte in a name is not looked at, but it is kept",
    ours: /^\$"(a\\u0000 b|\\u0000|x\\u0000\\n)"$/,
  },
  {
    line: /^CLIENT SETINFO LIB-VER "a\\x00 b"$/,
    since: "7.2",
    reason: "CLIENT SETINFO is new; what is behind a zero byte is not looked at",
    ours: /^\+OK$/,
  },
  {
    line: /^CLIENT SETINFO "LIB-NAME\\x00x" "a b\\x00"$/,
    since: "7.2",
    reason: "CLIENT SETINFO is new; an option ends with a zero byte",
    ours: /^-ERR LIB-NAME cannot contain spaces, newlines or special characters\.$/,
  },
  {
    line: /^CLIENT SETINFO FOO bar$/,
    since: "7.2",
    reason: "CLIENT SETINFO is new",
    ours: /^-ERR Unrecognized option 'FOO'$/,
  },
  {
    line: /^CLIENT SETINFO( LIB-NAME( a b)?)?$/,
    since: "7.2",
    reason: "CLIENT SETINFO is new",
    ours: /^-ERR wrong number of arguments for 'client\|setinfo' command$/,
  },
  {
    line: /^CLIENT PAUSE 9223372036854775807$/,
    since: "7.2",
    reason: "a time whose end does not fit 64 bits is refused",
    ours: /^-ERR timeout is out of range$/,
  },
  {
    line: /^(OBJECT (HELP|help)|(CLIENT|CONFIG|COMMAND|SLOWLOG|LATENCY|MEMORY) HELP)$/,
    since: "7.2",
    reason: "the last line reads otherwise; CLIENT HELP lists what is new",
    ours: /^\*\[\+\w+ <subcommand> \[<arg> .*\+HELP \+ {4}Print this help\.\]$/,
  },
  {
    line: /^SCAN (""|-1|-9223372036854775808)$/,
    since: "7.4",
    reason: "the cursor is read strictly",
    ours: /^-ERR invalid cursor$/,
  },
  {
    line: /^SCAN " (0|-5)"$/,
    since: "7.4",
    reason: "the cursor is read by another function, which skips leading blanks",
    ours: /^\*\[\$"0" \*\[.*\]\]$/,
  },
  {
    line: /^SCAN 0 COUNT 1000 NOVALUES$/,
    since: "7.4",
    reason: "NOVALUES is new and has an error of its own outside HSCAN",
    ours: /^-ERR NOVALUES option can only be used in HSCAN$/,
  },
  {
    line: /^CONFIG SET loglevel (foo|"")$/,
    since: "7.2",
    reason: "the level nothing is new",
    ours: /must be one of the following: debug, verbose, notice, warning, nothing$/,
  },
  {
    line: /^COMMAND GETKEYS GET$/,
    since: "7.2",
    reason: "COMMAND GETKEYS takes a command without arguments",
    ours: /^-ERR Invalid number of arguments specified for command$/,
  },
  {
    line: /^COMMAND GETKEYS(ANDFLAGS)? PING$/,
    since: "7.2",
    reason: "COMMAND GETKEYS takes a command without arguments",
    ours: /^-ERR The command has no key arguments$/,
  },
  {
    line: /^DEBUG STRINGMATCH-LEN /,
    since: "ours",
    reason: "matches a text against a pattern; Redis only has STRINGMATCH-TEST",
    ours: /^:[01]$/,
  },
  {
    line: /^WAITAOF( |$)/,
    since: "7.2",
    reason: "WAITAOF is new",
    ours: /^(\*\[:0 :0\]|-ERR (?!unknown).*)$/,
  },
  {
    line: /^EXPIRETIME f$/,
    since: "7.4",
    reason: "rounding the largest time to seconds overflows; both ends of the range may show",
    ours: /^:-9223372036854775$/,
  },
];

export function allowed(step: Step, ours: Reply): boolean {
  const text = show(ours);
  return differences.some((row) => row.line.test(step.line) && row.ours.test(text));
}

/** Rows whose line is in none of the given. */
export function unusedRows(lines: readonly string[]): Difference[] {
  return differences.filter((row) => !lines.some((line) => row.line.test(line)));
}
