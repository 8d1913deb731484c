/**
 * The LZF compression of RDB files and DUMP payloads. A stream is a row of pieces:
 *
 *   000lllll                 literals: the next l + 1 bytes as they are
 *   LLLddddd dddddddd        a copy of L + 2 bytes (L from 1 to 6) from d + 1 bytes back
 *   111ddddd llllllll dd...  a copy of l + 9 bytes; the low byte of d comes last
 *
 * d is 13 bits, high bits first. A copy may overlap what it makes, so that a byte can be repeated.
 * The stream does not say how long the text is; whoever keeps it keeps that too.
 */

const LITERALS_MAX = 32;
const COPY_MIN = 3;
const COPY_MAX = 264;
const DISTANCE_MAX = 8192;
/** Length code that says that a byte of length follows. */
const LONG = 7;

const HASH_BITS_MIN = 8;
const HASH_BITS_MAX = 14;
/** Where three bytes with a certain hash were seen last: offset in the text plus 1. */
const seen = new Int32Array(1 << HASH_BITS_MAX);

/** Copies and distances from so many bytes on are copied in blocks when a stream is read. */
const BLOCK_COPY_MIN = 24;

/** Most bytes of text that one byte of a stream can stand for. */
export const LZF_RATIO_MAX: number = COPY_MAX / 3;

/**
 * Compresses `from[start, end)` to `to[at...]` and returns how many bytes that are, or 0 if they
 * would be more than `most`, of which up to `most` have been written. The same text always gives
 * the same bytes.
 */
export function lzfCompress(
  from: Uint8Array,
  start: number,
  end: number,
  to: Uint8Array,
  at: number,
  most: number,
): number {
  const length = end - start;
  const bits = Math.min(Math.max(32 - Math.clz32(length), HASH_BITS_MIN), HASH_BITS_MAX);
  const shift = 32 - bits;
  seen.fill(0, 0, 1 << bits);
  const limit = at + most;
  const last = end - COPY_MIN;
  let out = at;
  let literals = start;
  let i = start;
  while (i <= last) {
    const triple = from[i]! | (from[i + 1]! << 8) | (from[i + 2]! << 16);
    const hash = Math.imul(triple, 0x9e3779b1) >>> shift;
    const match = start + seen[hash]! - 1;
    seen[hash] = i - start + 1;
    const distance = i - match;
    if (
      match < start ||
      distance > DISTANCE_MAX ||
      from[match] !== from[i] ||
      from[match + 1] !== from[i + 1] ||
      from[match + 2] !== from[i + 2]
    ) {
      i++;
      continue;
    }
    const stop = Math.min(end, i + COPY_MAX);
    let next = i + COPY_MIN;
    while (next < stop && from[next] === from[next - distance]) next++;
    out = putLiterals(from, literals, i, to, out, limit);
    if (out === 0) return 0;
    out = putCopy(distance - 1, next - i - 2, to, out, limit);
    if (out === 0) return 0;
    i = next;
    literals = next;
  }
  out = putLiterals(from, literals, end, to, out, limit);
  return out === 0 ? 0 : out - at;
}

/** Returns the offset behind what it wrote, 0 if it does not fit. */
function putLiterals(
  from: Uint8Array,
  start: number,
  end: number,
  to: Uint8Array,
  at: number,
  limit: number,
): number {
  let out = at;
  for (let i = start; i < end; ) {
    const stop = Math.min(end, i + LITERALS_MAX);
    if (out + 1 + stop - i > limit) return 0;
    to[out++] = stop - i - 1;
    while (i < stop) to[out++] = from[i++]!;
  }
  return out;
}

function putCopy(
  distance: number,
  length: number,
  to: Uint8Array,
  at: number,
  limit: number,
): number {
  let out = at;
  if (out + (length < LONG ? 2 : 3) > limit) return 0;
  to[out++] = (Math.min(length, LONG) << 5) | (distance >> 8);
  if (length >= LONG) to[out++] = length - LONG;
  to[out++] = distance & 0xff;
  return out;
}

/** Length of the text that a stream stands for, -1 if it is none. It reads nothing else. */
export function lzfLength(from: Uint8Array, start: number, end: number): number {
  let length = 0;
  for (let at = start; at < end; ) {
    const control = from[at++]!;
    if (control < LITERALS_MAX) {
      at += control + 1;
      length += control + 1;
      if (at > end) return -1;
      continue;
    }
    let copied = (control >> 5) + 2;
    if (control >> 5 === LONG) {
      if (at >= end) return -1;
      copied += from[at++]!;
    }
    if (at >= end) return -1;
    if ((((control & 31) << 8) | from[at++]!) + 1 > length) return -1;
    length += copied;
  }
  return length;
}

/** Writes the text of a stream that `lzfLength` found valid. Returns the offset behind it. */
export function lzfDecompress(
  from: Uint8Array,
  start: number,
  end: number,
  to: Uint8Array,
  at: number,
): number {
  let out = at;
  for (let i = start; i < end; ) {
    const control = from[i++]!;
    if (control < LITERALS_MAX) {
      for (const stop = i + control + 1; i < stop; ) to[out++] = from[i++]!;
      continue;
    }
    let copied = (control >> 5) + 2;
    if (control >> 5 === LONG) copied += from[i++]!;
    const distance = (((control & 31) << 8) | from[i++]!) + 1;
    if (copied >= BLOCK_COPY_MIN && (distance === 1 || distance >= BLOCK_COPY_MIN)) {
      copyBack(to, out, distance, copied);
      out += copied;
      continue;
    }
    let source = out - distance;
    for (const stop = out + copied; out < stop; ) to[out++] = to[source++]!;
  }
  return out;
}

/** As byte by byte: where the copy overlaps the bytes before `at`, it repeats them. */
function copyBack(to: Uint8Array, at: number, distance: number, length: number): void {
  if (distance === 1) {
    to.fill(to[at - 1]!, at, at + length);
    return;
  }
  let made = Math.min(distance, length);
  to.copyWithin(at, at - distance, at - distance + made);
  while (made < length) {
    const more = Math.min(made, length - made);
    to.copyWithin(at + made, at, at + more);
    made += more;
  }
}
