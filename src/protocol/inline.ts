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
    while (at < end && !endsWord(buffer[at] as number)) {
      const byte = buffer[at++] as number;
      if (byte !== QUOTE && byte !== APOSTROPHE) {
        buffer[to++] = byte;
        continue;
      }
      const close = closingQuote(buffer, at, end, byte);
      if (close < 0) return false;
      to = copyUnescaped(buffer, at, close, byte, to);
      at = close + 1;
      if (at < end && !isBlank(buffer[at] as number)) return false;
      break;
    }
    args.end[i] = to;
    args.count = i + 1;
  }
}

/** Index of the quote that ends what begins at `from`, or -1. */
function closingQuote(buffer: Uint8Array, from: number, end: number, quote: number): number {
  let at = from;
  while (at < end && buffer[at] !== 0) {
    if (buffer[at] === quote) return at;
    at += escapeLength(buffer, at, end, quote);
  }
  return -1;
}

/** Bytes of the escape at `at` within quotes; 1 for a byte that stands for itself. */
function escapeLength(buffer: Uint8Array, at: number, end: number, quote: number): number {
  if (buffer[at] !== BACKSLASH || at + 1 >= end) return 1;
  const next = buffer[at + 1] as number;
  if (quote === APOSTROPHE) return next === APOSTROPHE ? 2 : 1;
  const isHex =
    next === SMALL_X &&
    at + 3 < end &&
    hexDigit(buffer[at + 2] as number) >= 0 &&
    hexDigit(buffer[at + 3] as number) >= 0;
  return isHex ? 4 : 2;
}

/** Writes what is between quotes to `target`, which is not behind it. Returns the end of that. */
function copyUnescaped(
  buffer: Uint8Array,
  from: number,
  close: number,
  quote: number,
  target: number,
): number {
  let to = target;
  for (let at = from; at < close; ) {
    const length = escapeLength(buffer, at, close, quote);
    const last = buffer[at + length - 1] as number;
    if (length === 4) buffer[to++] = hexDigit(buffer[at + 2] as number) * 16 + hexDigit(last);
    else buffer[to++] = length === 2 ? escaped(last) : last;
    at += length;
  }
  return to;
}

/** What a backslash makes of the byte behind it; of an apostrophe, and most others, nothing. */
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
