/**
 * Requests in a buffer. `scan` is the fast path: a complete, well-formed multibulk request of
 * ordinary size that lies in one buffer. At anything else it returns ODD and changes nothing that
 * matters; the careful parser (`Parser`) then does everything, and only it makes errors.
 */
import type { Args } from "../base/args.ts";

/** `scan`: the buffer ends inside the request, or the request is not for the fast path. */
export const ODD = -1;

const CR = 13;
const LF = 10;
const STAR = 42;
const DOLLAR = 36;
const ZERO = 48;
/** More arguments than this go to the careful parser. */
const FAST_ARGS_MAX = 64;

/**
 * Reads one request from `start`. Returns the index behind it and sets `args`, or ODD.
 * `args.buffer` is the caller's business.
 */
export function scan(buffer: Uint8Array, start: number, end: number, args: Args): number {
  // "*1\r\n$1\r\nx\r\n" is the shortest request that can be complete.
  let at = start;
  if (end - at < 11 || buffer[at] !== STAR) return ODD;
  let count = (buffer[at + 1] as number) - ZERO;
  at += 2;
  if (count < 1 || count > 9) return ODD;
  let byte = buffer[at] as number;
  if (byte !== CR) {
    if (byte < ZERO || byte > 57) return ODD;
    count = count * 10 + byte - ZERO;
    if (count > FAST_ARGS_MAX) return ODD;
    byte = buffer[++at] as number;
    if (byte !== CR) return ODD;
  }
  if (buffer[at + 1] !== LF) return ODD;
  at += 2;
  const starts = args.start;
  const ends = args.end;
  for (let i = 0; i < count; i++) {
    if (at + 4 > end || buffer[at] !== DOLLAR) return ODD;
    let length = (buffer[at + 1] as number) - ZERO;
    if (length < 0 || length > 9) return ODD;
    // "$04" is malformed.
    if (length === 0 && buffer[at + 2] !== CR) return ODD;
    at += 2;
    for (;;) {
      if (at + 1 >= end) return ODD;
      byte = buffer[at] as number;
      if (byte === CR) break;
      if (byte < ZERO || byte > 57) return ODD;
      length = length * 10 + byte - ZERO;
      if (length > 65536) return ODD;
      at++;
    }
    if (buffer[at + 1] !== LF) return ODD;
    at += 2;
    const after = at + length;
    if (after + 2 > end || buffer[after] !== CR || buffer[after + 1] !== LF) return ODD;
    starts[i] = at;
    ends[i] = after;
    at = after + 2;
  }
  args.count = count;
  return at;
}
