/**
 * The error texts that more than one command answers with, byte for byte Redis's: the code word,
 * a blank, the sentence, without the leading "-". A text that belongs to a single command is
 * beside its handler.
 */
import { upperText } from "../base/bytes.ts";

export const WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value";
export const SYNTAX_ERROR = "ERR syntax error";
export const NO_SUCH_KEY = "ERR no such key";
export const SAME_OBJECT = "ERR source and destination objects are the same";
export const NOT_AN_INTEGER = "ERR value is not an integer or out of range";
export const NOT_A_FLOAT = "ERR value is not a valid float";
export const OVERFLOW = "ERR increment or decrement would overflow";
export const NAN_OR_INFINITY = "ERR increment would produce NaN or Infinity";
export const STRING_TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
export const OFFSET_OUT_OF_RANGE = "ERR offset is out of range";
export const DB_OUT_OF_RANGE = "ERR DB index is out of range";
export const INVALID_CURSOR = "ERR invalid cursor";
export const TIMEOUT_NOT_AN_INTEGER = "ERR timeout is not an integer or out of range";
export const TIMEOUT_NEGATIVE = "ERR timeout is negative";
export const BUSYKEY = "BUSYKEY Target key name already exists.";

export const OOM = "OOM command not allowed when used memory > 'maxmemory'.";

export const WRONGPASS = "WRONGPASS invalid username-password pair or user is disabled.";
export const AUTH_WITHOUT_PASSWORD: string =
  "ERR AUTH <password> called without any password configured for the default user. " +
  "Are you sure your configuration is correct?";
export const NOPROTO = "NOPROTO unsupported protocol version";
export const MAX_CLIENTS = "ERR max number of clients reached";

export const CLUSTER_DISABLED = "ERR This instance has cluster support disabled";
export const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";
export const CLUSTERDOWN_UNBOUND = "CLUSTERDOWN Hash slot not served";
export const INVALID_SLOT = "ERR Invalid or out of range slot";
export const SELECT_IN_CLUSTER = "ERR SELECT is not allowed in cluster mode";

/** What an error text needs of a request; `Args` is one. */
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
  return oneLine(`ERR unknown subcommand '${name}'. Try ${upperText(container)} HELP.`);
}

/** As `unknownSubcommand`, for handlers that look at their own words and their number. */
export function unknownSubcommandOrArity(args: Words): string {
  const container = upperText(args.head(0, TEXT_SHOWN_MAX));
  const name = cString(args.head(1, TEXT_SHOWN_MAX));
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
