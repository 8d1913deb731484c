/** Integers among the arguments, read as Redis does, with its errors. */

import type { Args } from "../../base/args.ts";
import { int64, isInt32 } from "../../base/int64.ts";
import { NOT_AN_INTEGER } from "../../protocol/errors.ts";
import type { Reply } from "../../protocol/reply.ts";

const NOT_AN_INT32 = "ERR value is out of range, value must between -2147483648 and 2147483647";

/** Argument `i` into `int64`; false if it is no integer, which has been answered with `text`. */
export function int64OrReply(
  args: Args,
  i: number,
  reply: Reply,
  text: string = NOT_AN_INTEGER,
): boolean {
  if (args.int64(i)) return true;
  reply.error(text);
  return false;
}

/** A C int; NaN if argument `i` is none, which has been answered, with `text` if that is given. */
export function int32OrReply(args: Args, i: number, reply: Reply, text?: string): number {
  if (!int64OrReply(args, i, reply, text)) return Number.NaN;
  if (isInt32(int64.hi, int64.lo)) return int64.lo | 0;
  reply.error(text ?? NOT_AN_INT32);
  return Number.NaN;
}

/** Answers with a whole number of up to 63 bits, of which a double may hold only the nearest. */
export function replyWhole(reply: Reply, n: number): void {
  if (Number.isSafeInteger(n)) {
    reply.integer(n);
    return;
  }
  reply.int64(Math.floor(n / 2 ** 32) | 0, (n % 2 ** 32) | 0);
}
