/** Conversations as raw bytes, one character per byte. */
import { encodeCommand } from "../../support/resp.ts";

const PING = "*1\r\n$4\r\nPING\r\n";

function command(...args: string[]): string {
  return encodeCommand(args).toString("latin1");
}

const INLINE: readonly string[] = [
  "PING\r\n",
  "PING\n",
  "ping\r\nPING\n",
  "  PING  \r\n",
  "\tPING\t\r\n",
  "PING hello\r\n",
  'PING "hello world"\r\n',
  "PING 'hello world'\r\n",
  'PING "a\\x41\\n\\r\\t\\b\\a\\\\\\"b"\r\n',
  "PING 'a\\'b\\nc'\r\n",
  'PING "\\xZZ\\q"\r\n',
  'PING ""\r\n',
  "PING ''\r\n",
  '"PING"\r\n',
  '""\r\nPING\r\n',
  "SET k v\r\nGET k\r\n",
  "SET k \xff\xfe\r\nGET k\r\n",
  "GET a\x00b\r\nPING\r\n",
  "\r\n\r\nPING\r\n",
  "\n\n\nPING\n",
  " \r\nPING\r\n",
  "\r\n",
  "PING",
  "PIN",
  "",
  "NOSUCH a b\r\n",
  "+PING\r\n",
  "$4\r\nPING\r\n",
  "PING\rPING\r\n",
  "PING \r \r\n",
  "get k\r\nGET\r\nGET a b\r\n",
  `PING\r\n${PING}PING\r\n${PING}`,
  `${PING}PING\r\n\r\n${PING}`,
];

const UNBALANCED: readonly string[] = [
  'PING "hello\r\nPING\r\n',
  "PING 'hello\r\nPING\r\n",
  'PING "a"b\r\nPING\r\n',
  "PING 'a'b\r\nPING\r\n",
  'PING a"b\r\nPING\r\n',
  'PING a"b c"\r\nPING\r\n',
  'PING "a\\"\r\nPING\r\n',
  '"\r\nPING\r\n',
  `${PING}PING "\r\n${PING}`,
];

const COUNTS: readonly string[] = [
  `*0\r\n${PING}`,
  `*-1\r\n${PING}`,
  `*-2\r\n${PING}`,
  `*-2147483648\r\n${PING}`,
  `*1048576\r\n`,
  `*1048577\r\n${PING}`,
  `*2147483647\r\n${PING}`,
  `*2147483648\r\n${PING}`,
  `*9223372036854775807\r\n${PING}`,
  `*9223372036854775808\r\n${PING}`,
  `*99999999999999999999\r\n${PING}`,
  `*\r\n${PING}`,
  `*a\r\n${PING}`,
  `*1a\r\n${PING}`,
  `*1.0\r\n${PING}`,
  `* 1\r\n$4\r\nPING\r\n${PING}`,
  `*1 \r\n$4\r\nPING\r\n${PING}`,
  `*+1\r\n$4\r\nPING\r\n${PING}`,
  `*01\r\n$4\r\nPING\r\n${PING}`,
  `*-0\r\n${PING}`,
  `*1\n$4\r\nPING\r\n${PING}`,
  `*1\rx$4\r\nPING\r\n${PING}`,
  `*1\r\r\n$4\r\nPING\r\n${PING}`,
];

const BULKS: readonly string[] = [
  `*1\r\n$-1\r\n${PING}`,
  `*2\r\n$3\r\nGET\r\n$-1\r\n${PING}`,
  `*1\r\n$-2\r\n${PING}`,
  `*1\r\n$\r\n${PING}`,
  `*1\r\n$a\r\n${PING}`,
  `*1\r\n$4a\r\nPING\r\n${PING}`,
  `*1\r\n$ 4\r\nPING\r\n${PING}`,
  `*1\r\n$+4\r\nPING\r\n${PING}`,
  `*1\r\n$04\r\nPING\r\n${PING}`,
  `*1\r\n$4.0\r\nPING\r\n${PING}`,
  `*1\r\n$536870912\r\n`,
  `*1\r\n$536870913\r\n${PING}`,
  `*1\r\n$2147483648\r\n${PING}`,
  `*1\r\n$9223372036854775807\r\n${PING}`,
  `*1\r\n$9223372036854775808\r\n${PING}`,
  `*1\r\n$0\r\n\r\n${PING}`,
  `*2\r\n$4\r\nPING\r\n$0\r\n\r\n${PING}`,
  `*1\r\n:4\r\nPING\r\n${PING}`,
  `*1\r\nPING\r\n${PING}`,
  `*1\r\n*1\r\n$4\r\nPING\r\n${PING}`,
  `*1\r\n+PING\r\n${PING}`,
  `*1\r\n\r\n${PING}`,
  `*1\r\n\n$4\r\nPING\r\n${PING}`,
  `*2\r\n$4\r\nECHO\r\nhi\r\n${PING}`,
  `*1\r\n$4\nPING\r\n${PING}`,
  `*1\r\n$4\rxPING\r\n${PING}`,
];

/** The terminator of a bulk is skipped and not looked at; what is short or long shifts the rest. */
const LENGTHS: readonly string[] = [
  `*1\r\n$4\r\nPINGxx${PING}`,
  `*1\r\n$4\r\nPING\n\n${PING}`,
  `*1\r\n$3\r\nPING\r\n${PING}`,
  `*1\r\n$5\r\nPING\r\n${PING}`,
  `*2\r\n$4\r\nECHO\r\n$2\r\nhello\r\n${PING}`,
  `*2\r\n$4\r\nECHO\r\n$7\r\nhello\r\n${PING}`,
  `*2\r\n$4\r\nPING\r\n`,
  `*2\r\n$4\r\nPING\r\n$3\r\nab`,
  `*1\r\n$4\r\nPING`,
  `*1\r\n$4\r\nPING\r`,
  `*1\r\n$4\r\n`,
  `*1\r\n`,
  `*1`,
  `*`,
  `*3\r\n$4\r\nPING\r\n${PING}`,
];

const HTTP: readonly string[] = [
  "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "GET / HTTP/1.1\r\nAccept: */*\r\nHost: localhost\r\n\r\n",
  "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nPING\r\n",
  "POST /\r\nPING\r\n",
  "post /\r\nPING\r\n",
  "POST\r\nPING\r\n",
  "HOST:\r\nPING\r\n",
  "host: x\r\nPING\r\n",
  "Host: x y z\r\nPING\r\n",
  "Host x\r\nPING\r\n",
  `${command("POST", "/")}${PING}`,
  `${command("host:", "x")}${PING}`,
  `${PING}POST / HTTP/1.1\r\n${PING}`,
  `SET k v\r\nHost: x\r\nSET k w\r\n`,
  "OPTIONS * HTTP/1.1\r\nPING\r\n",
  "PUT /x HTTP/1.1\r\nPING\r\n",
];

const BINARY: readonly string[] = [
  command("SET", "\x00\r\n\xff", "\r\n$3\r\nabc") + command("GET", "\x00\r\n\xff"),
  command("SET", "", "") + command("GET", "") + command("EXISTS", ""),
  command("SET", "*1\r\n$4\r\nPING\r\n", "x") + command("DBSIZE"),
  command("ECHO", Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join("")),
  command("\x00") + PING,
  command("no\r\nsuch", "a\r\nb") + PING,
  command("GET", "a\x00b") + command("SET", "a\x00b", "1") + command("GET", "a\x00b"),
  "\x00\r\nPING\r\n",
  "\xff\xfe\xfd\r\nPING\r\n",
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\nPING\r\n",
];

const LIMITS: readonly string[] = [
  // An inline request may have 64 KiB without an end of line.
  `PING ${"x".repeat(65_000)}\r\n${PING}`,
  "x".repeat(65_600),
  `${PING}${"x".repeat(70_000)}`,
  // So may the count and a length.
  `*${"1".repeat(65_600)}`,
  `*1\r\n$${"1".repeat(65_600)}`,
  // A long array of short arguments, and a bulk over each of the usual buffer sizes.
  command("MGET", ...Array.from({ length: 5000 }, (_, i) => `k${i}`)) + PING,
  command("ECHO", "y".repeat(16_000)) + PING,
  command("ECHO", "y".repeat(65_536)) + PING,
  command("SET", "k", "z".repeat(70_000)) + command("GETRANGE", "k", "69990", "-1") + PING,
  command("x".repeat(70_000)) + PING,
  command("GET", "k".repeat(70_000)) + PING,
];

const PIPELINES: readonly string[] = [
  PING.repeat(500),
  command("SET", "k", "1") + command("INCR", "k").repeat(100) + command("GET", "k"),
  `${command("SET", "k", "v")}QUIT\r\n${command("SET", "k", "w")}`,
  command("QUIT") + PING,
  command("SET", "a", "1") + command("BADCMD") + command("GET", "a") + command("GET"),
  `${command("GET", "a")}*1\r\n$x\r\n${PING}`,
  command("SELECT", "3") + command("SET", "a", "1") + command("SELECT", "0") + command("GET", "a"),
  command("RESET") + command("RESET") + PING,
];

/** Switches to RESP3 without the answer, which names a version. */
const RESP3 = "CLIENT REPLY SKIP\r\nHELLO 3\r\n";

/** Each in RESP3 too. */
const REPLY_MODES: readonly string[] = [
  "CLIENT REPLY OFF\r\nPING\r\nSET k v\r\nCLIENT REPLY ON\r\nGET k\r\n",
  "CLIENT REPLY OFF\r\nNOSUCH\r\nGET\r\nCLIENT REPLY foo\r\nCLIENT REPLY ON x\r\nCLIENT REPLY ON\r\n",
  "CLIENT REPLY SKIP\r\nPING\r\nPING\r\n",
  "CLIENT REPLY SKIP\r\n\r\nPING\r\n",
  "CLIENT REPLY SKIP\r\n*0\r\nPING a\r\nPING b\r\n",
  "CLIENT REPLY SKIP\r\n*-1\r\nPING a\r\nPING b\r\n",
  "CLIENT REPLY SKIP\r\nCLIENT REPLY SKIP\r\nPING 1\r\nPING 2\r\n",
  "CLIENT REPLY SKIP\r\nNOSUCH\r\nPING 2\r\n",
  "CLIENT REPLY SKIP\r\nCLIENT REPLY bad\r\nPING\r\n",
  "CLIENT REPLY SKIP\r\nCLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nPING\r\n",
  "CLIENT REPLY OFF\r\nCLIENT REPLY SKIP\r\nPING\r\nCLIENT REPLY ON\r\nPING x\r\n",
  "CLIENT REPLY OFF\r\nRESET\r\nPING\r\n",
  "CLIENT REPLY SKIP\r\nRESET\r\nPING\r\n",
  "CLIENT REPLY SKIP\r\nCLIENT REPLY ON\r\nPING\r\n",
  "CLIENT REPLY OFF\r\nSELECT 3\r\nSET k v\r\nCLIENT REPLY ON\r\nGET k\r\n",
  "CLIENT REPLY OFF\r\nQUIT\r\nPING\r\n",
  "CLIENT REPLY SKIP\r\nQUIT\r\nPING\r\n",
  "CLIENT REPLY OFF\r\n*1\r\nfoo\r\n",
  "CLIENT REPLY SKIP\r\n*1\r\nfoo\r\n",
  'CLIENT REPLY SKIP\r\nPING "\r\nPING\r\n',
  `PING\r\nCLIENT REPLY SKIP\r\n${command("SET", "big", "v".repeat(100_000))}GET big\r\n`,
  `${command("SET", "big", "v".repeat(100_000))}CLIENT REPLY OFF\r\nGET big\r\nKEYS *\r\nCLIENT REPLY ON\r\n`,
].flatMap((bytes) => [bytes, `${RESP3}${bytes}`]);

export const ODD_CONVERSATIONS: readonly (readonly [string, readonly string[]])[] = [
  ["inline requests", INLINE],
  ["unbalanced quotes", UNBALANCED],
  ["argument counts", COUNTS],
  ["bulk headers", BULKS],
  ["lengths that are not those of the data", LENGTHS],
  ["HTTP", HTTP],
  ["binary keys and values", BINARY],
  ["limits", LIMITS],
  ["pipelines", PIPELINES],
  ["CLIENT REPLY", REPLY_MODES],
];

/** Conversations to cut anywhere: every kind of reply, big and small arguments, errors last. */
export const CUT_CONVERSATIONS: readonly string[] = [
  command("SET", "key", "value\r\n") + command("GET", "key") + PING,
  `SET k "a b"\r\nGET k\r\n\r\n${command("APPEND", "k", "")}MGET k none\r\n`,
  command("MSET", "a", "1", "b", "", "c", "\x00\xff") + command("MGET", "a", "b", "c", "d"),
  `*0\r\n*-1\r\n${PING}*1\r\n$-1\r\n`,
  command("SET", "k", "10") + command("INCRBY", "k", "-3") + command("INCR", "x y") + "GET\r\n",
  "POST / HTTP/1.1\r\nPING\r\n",
  `${command("NOSUCH", "a", "b")}PING "\r\n`,
  "PING\r\nCLIENT REPLY SKIP\r\nGET k\r\nCLIENT REPLY OFF\r\nPING\r\nCLIENT REPLY ON\r\nPING x\r\n",
  command("SET", "big", "v".repeat(300)) + command("STRLEN", "big") + command("GETDEL", "big"),
];
