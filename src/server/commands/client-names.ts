/**
 * Texts that a client says about itself: its name, its library, the library's version. All are
 * shown by CLIENT LIST, where a blank ends a field, so they may hold printable characters only;
 * and they are kept in a row of fixed size, so each has a longest length.
 *
 * Redis checks and shows them as C strings: up to the first zero byte. What is behind one may be
 * anything, and only CLIENT GETNAME gives it.
 */
import type { Args } from "../../base/args.ts";
import { NAME_BYTES_MAX } from "../client-table.ts";

/** The user of every client: there are no others. */
export const DEFAULT_USER = "default";

const FIRST_PRINTABLE = 33;
const LAST_PRINTABLE = 126;

/** Looks as far as the text is shown. */
export function isPrintable(args: Args, i: number): boolean {
  const source = args.source(i);
  const end = args.end[i] as number;
  for (let at = args.start[i] as number; at < end; at++) {
    const byte = source[at] as number;
    if (byte === 0) return true;
    if (byte < FIRST_PRINTABLE || byte > LAST_PRINTABLE) return false;
  }
  return true;
}

/** Why argument `i` cannot be a client's name, or null. The empty name takes the name away. */
export function nameError(args: Args, i: number): string | null {
  if (!isPrintable(args, i)) {
    return "ERR Client names cannot contain spaces, newlines or special characters.";
  }
  return args.length(i) > NAME_BYTES_MAX ? tooLong("Client names", NAME_BYTES_MAX) : null;
}

export function tooLong(what: string, most: number): string {
  return `ERR ${what} cannot be longer than ${most} bytes`;
}
