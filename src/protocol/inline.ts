/**
 * Splits an inline request into words as Redis's sdssplitargs does: blanks separate, "..." takes
 * the escapes \xHH \n \r \t \b \a, '...' takes \' only, and a closing quote must be followed by a
 * blank or the end.
 */

import type { Args } from "../base/args.ts";
import { hexDigit } from "../base/bytes.ts";

const QUOTE = 34;
const APOSTROPHE = 39;
const BACKSLASH = 92;
const SMALL_X = 120;

/**
 * Splits `buffer[from..end]` and writes the words over it, unescaped. Sets `args.count` and the
 * ranges; `args.buffer` is the caller's business. False if the quotes do not balance.
 */
export function splitInline(buffer: Uint8Array, from: number, end: number, args: Args): boolean {
  let at = from;
  let to = from;
  args.count = 0;
  for (;;) {
    while (at < end && isBlank(buffer[at] as number)) at++;
    if (at >= end || buffer[at] === 0) return true;
    const i = args.count;
    args.reserve(i + 1);
    args.start[i] = to;
    let quote = 0;
    for (;;) {
      const byte = at < end ? (buffer[at] as number) : 0;
      if (quote !== 0) {
        if (at >= end || byte === 0) return false;
        if (byte === quote) {
          if (at + 1 < end && !isBlank(buffer[at + 1] as number)) return false;
          at++;
          break;
        }
        if (byte === BACKSLASH && at + 1 < end) {
          const next = buffer[at + 1] as number;
          if (quote === APOSTROPHE) {
            if (next === APOSTROPHE) {
              buffer[to++] = APOSTROPHE;
              at += 2;
              continue;
            }
          } else if (next === SMALL_X && at + 3 < end) {
            const high = hexDigit(buffer[at + 2] as number);
            const low = hexDigit(buffer[at + 3] as number);
            if (high >= 0 && low >= 0) {
              buffer[to++] = high * 16 + low;
              at += 4;
              continue;
            }
            buffer[to++] = next;
            at += 2;
            continue;
          } else {
            buffer[to++] = escaped(next);
            at += 2;
            continue;
          }
        }
        buffer[to++] = byte;
        at++;
        continue;
      }
      if (at >= end || endsWord(byte)) break;
      at++;
      if (byte === QUOTE || byte === APOSTROPHE) quote = byte;
      else buffer[to++] = byte;
    }
    args.end[i] = to;
    args.count = i + 1;
  }
}

function escaped(byte: number): number {
  if (byte === 110) return 10;
  if (byte === 114) return 13;
  if (byte === 116) return 9;
  if (byte === 98) return 8;
  if (byte === 97) return 7;
  return byte;
}

/** What ends a word outside quotes: less than what may stand between words. */
function endsWord(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9 || byte === 0;
}

/** What C's isspace says: blank, tab, line feed, vertical tab, form feed, carriage return. */
function isBlank(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}
