/**
 * The error texts that more than one command answers with, byte for byte Redis's: the code word,
 * a blank, the sentence, without the leading "-". A text that belongs to a single command is
 * beside its handler.
 */

export const WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
export const SYNTAX_ERROR = "ERR syntax error";
export const NO_SUCH_KEY = "ERR no such key";
export const SAME_OBJECT = "ERR source and destination objects are the same";
export const INDEX_OUT_OF_RANGE = "ERR index out of range";
export const OUT_OF_RANGE = "ERR value is out of range";
export const OUT_OF_RANGE_POSITIVE = "ERR value is out of range, must be positive";
export const NOT_AN_INTEGER = "ERR value is not an integer or out of range";
export const NOT_A_FLOAT = "ERR value is not a valid float";
export const OVERFLOW = "ERR increment or decrement would overflow";
export const NAN_OR_INFINITY = "ERR increment would produce NaN or Infinity";
export const STRING_TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
export const OFFSET_OUT_OF_RANGE = "ERR offset is out of range";
export const DB_OUT_OF_RANGE = "ERR DB index is out of range";
export const INVALID_CURSOR = "ERR invalid cursor";
export const TIMEOUT_NOT_A_FLOAT = "ERR timeout is not a float or out of range";
export const TIMEOUT_NOT_AN_INTEGER = "ERR timeout is not an integer or out of range";
export const TIMEOUT_NEGATIVE = "ERR timeout is negative";
export const NUMKEYS_NOT_POSITIVE = "ERR numkeys should be greater than 0";
export const BUSYKEY = "BUSYKEY Target key name already exists.";

export const OOM = "OOM command not allowed when used memory > 'maxmemory'.";
export const READONLY_REPLICA = "READONLY You can't write against a read only replica.";
export const NOREPLICAS = "NOREPLICAS Not enough good replicas to write.";
export const LOADING = "LOADING Redis is loading the dataset in memory";
export const MASTERDOWN =
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
export const BUSY_SCRIPT =
  "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
export const NOSCRIPT = "NOSCRIPT No matching script. Please use EVAL.";

export const NOAUTH = "NOAUTH Authentication required.";
export const WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled.";
export const AUTH_WITHOUT_PASSWORD: string =
  "ERR AUTH <password> called without any password configured for the default user. " +
  "Are you sure your configuration is correct?";
export const NOPROTO = "NOPROTO unsupported protocol version";
export const NOAUTH_HELLO: string =
  "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH " +
  "<user> <pass> option can be used to authenticate the client and select the RESP protocol " +
  "version at the same time";
export const MAX_CLIENTS = "ERR max number of clients reached";
export const NOT_ALLOWED_IN_MULTI = "ERR Command not allowed inside a transaction";
export const EXECABORT = "EXECABORT Transaction discarded because of previous errors.";
export const MULTI_NESTED = "ERR MULTI calls can not be nested";
export const EXEC_WITHOUT_MULTI = "ERR EXEC without MULTI";
export const DISCARD_WITHOUT_MULTI = "ERR DISCARD without MULTI";
export const WATCH_INSIDE_MULTI = "ERR WATCH inside MULTI is not allowed";

export const CLUSTER_DISABLED = "ERR This instance has cluster support disabled";
export const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";
export const TRYAGAIN = "TRYAGAIN Multiple keys request during rehashing of slot";
export const CLUSTERDOWN = "CLUSTERDOWN The cluster is down";
export const CLUSTERDOWN_UNBOUND = "CLUSTERDOWN Hash slot not served";
export const CLUSTERDOWN_READONLY =
  "CLUSTERDOWN The cluster is down and only accepts read commands";
export const INVALID_SLOT = "ERR Invalid or out of range slot";
export const SELECT_IN_CLUSTER = "ERR SELECT is not allowed in cluster mode";

/** Protocol errors: the reply is sent and the connection closed. */
export const PROTOCOL_INLINE_TOO_BIG = "ERR Protocol error: too big inline request";
export const PROTOCOL_UNBALANCED_QUOTES = "ERR Protocol error: unbalanced quotes in request";
export const PROTOCOL_MULTIBULK_COUNT_TOO_BIG = "ERR Protocol error: too big mbulk count string";
export const PROTOCOL_BULK_COUNT_TOO_BIG = "ERR Protocol error: too big bulk count string";
export const PROTOCOL_MULTIBULK_LENGTH = "ERR Protocol error: invalid multibulk length";
export const PROTOCOL_UNAUTHENTICATED_MULTIBULK =
  "ERR Protocol error: unauthenticated multibulk length";
export const PROTOCOL_UNAUTHENTICATED_BULK = "ERR Protocol error: unauthenticated bulk length";
export const PROTOCOL_BULK_LENGTH = "ERR Protocol error: invalid bulk length";

/** `found` is the byte where a "$" should be, as a binary string of one character. */
export function protocolExpectedDollar(found: string): string {
  return `ERR Protocol error: expected '$', got '${oneLine(found)}'`;
}

/** What `unknownCommand` needs of a request; `Args` is one. */
export type Words = { readonly count: number; head(i: number, most: number): string };

/** `name` is the command's full name in lower case, "client|list" for a subcommand. */
export function wrongArity(name: string): string {
  return `ERR wrong number of arguments for '${name}' command`;
}

/** Redis: 128 bytes of the name, then arguments until 128 bytes of them are shown. */
export function unknownCommand(args: Words): string {
  let shown = "";
  for (let i = 1; i < args.count && shown.length < TEXT_SHOWN_MAX; i++) {
    shown += `'${cString(args.head(i, TEXT_SHOWN_MAX - shown.length))}' `;
  }
  const name = cString(args.head(0, TEXT_SHOWN_MAX));
  return oneLine(`ERR unknown command '${name}', with args beginning with: ${shown}`);
}

/** `container` and `sub` as the client wrote them. */
export function unknownSubcommand(container: string, sub: string): string {
  const name = cString(sub).slice(0, TEXT_SHOWN_MAX);
  const upper = container.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return oneLine(`ERR unknown subcommand '${name}'. Try ${upper} HELP.`);
}

/** As `unknownSubcommand`, for handlers that look at their own words and their number. */
export function unknownSubcommandOrArity(container: string, sub: string): string {
  const name = cString(sub).slice(0, TEXT_SHOWN_MAX);
  return oneLine(
    `ERR unknown subcommand or wrong number of arguments for '${name}'. Try ${container} HELP.`,
  );
}

export function invalidExpire(command: string): string {
  return `ERR invalid expire time in '${command}' command`;
}

/** `option` as the client wrote it. */
export function unsupportedOption(option: string): string {
  return oneLine(`ERR Unsupported option ${cString(option)}`);
}

export function moved(slot: number, host: string, port: number): string {
  return `MOVED ${slot} ${host}:${port}`;
}

export function ask(slot: number, host: string, port: number): string {
  return `ASK ${slot} ${host}:${port}`;
}

const TEXT_SHOWN_MAX = 128;

/** Redis prints arguments as C strings: up to the first zero byte. */
export function cString(text: string): string {
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

/** An error is one line: trailing line ends go, others become blanks. */
export function oneLine(text: string): string {
  return text.replace(/[\r\n]+$/, "").replace(/[\r\n]/g, " ");
}
