/**
 * The longest common subsequence of two strings, by the usual table of the lengths for all pairs of
 * prefixes. Where several are as long, the steps back through the table decide which one it is and
 * how it falls into ranges, so they prefer what Redis's prefer.
 *
 * Only one row of lengths is kept. What the way back needs is one bit per pair: whether dropping
 * the last byte of `a` leaves more than dropping that of `b`.
 */
import type { ByteRange } from "../../base/byte-range.ts";

export type LcsTable = {
  a: ByteRange;
  b: ByteRange;
  length: number;
  /** For prefixes of i and j bytes: bit j - 1 of row i - 1, whole bytes a row. */
  dropA: Uint8Array;
  rowBytes: number;
};

/** A run of equal bytes: first and last index in each string. */
export type LcsMatch = {
  aStart: number;
  aEnd: number;
  bStart: number;
  bEnd: number;
};

/** Null if the system has not the memory. */
export function lcsTable(a: ByteRange, b: ByteRange): LcsTable | null {
  const aLength = a.end - a.start;
  const bLength = b.end - b.start;
  const rowBytes = (bLength + 7) >>> 3;
  let row: Uint32Array;
  let dropA: Uint8Array;
  try {
    row = new Uint32Array(bLength + 1);
    dropA = new Uint8Array(aLength * rowBytes);
  } catch {
    // A RangeError: an array as long as that cannot be had.
    return null;
  }
  for (let i = 0; i < aLength; i++) {
    fillRow(row, dropA, i * rowBytes, a.source[a.start + i] as number, b);
  }
  return { a, b, length: row[bLength] as number, dropA, rowBytes };
}

/** Turns the row of one prefix of `a` into that of the next, which ends with `byte`. */
function fillRow(
  row: Uint32Array,
  dropA: Uint8Array,
  firstByte: number,
  byte: number,
  b: ByteRange,
): void {
  const { source, start } = b;
  const length = b.end - start;
  let diagonal = 0;
  let left = 0;
  for (let j = 0; j < length; j++) {
    const above = row[j + 1] as number;
    if (source[start + j] === byte) {
      left = diagonal + 1;
    } else if (above > left) {
      left = above;
      const at = firstByte + (j >>> 3);
      dropA[at] = (dropA[at] as number) | (1 << (j & 7));
    }
    row[j + 1] = left;
    diagonal = above;
  }
}

/**
 * Goes back from the ends of both strings. Writes the common subsequence into `text` if there is
 * one, which has room for all of it, and calls `visit` with every match, last match first; what it
 * is given is only good for the call.
 */
export function walkLcs(
  table: LcsTable,
  text: Uint8Array | null,
  visit: (match: LcsMatch) => void,
): void {
  const { a, b, dropA, rowBytes } = table;
  const match: LcsMatch = { aStart: -1, aEnd: -1, bStart: -1, bEnd: -1 };
  let left = table.length;
  let i = a.end - a.start;
  let j = b.end - b.start;
  while (i > 0 && j > 0) {
    const byte = a.source[a.start + i - 1] as number;
    if (byte === b.source[b.start + j - 1]) {
      if (match.aStart < 0) {
        match.aEnd = i - 1;
        match.bEnd = j - 1;
      }
      match.aStart = --i;
      match.bStart = --j;
      left--;
      if (text !== null) text[left] = byte;
      continue;
    }
    if (match.aStart >= 0) {
      visit(match);
      match.aStart = -1;
    }
    const bits = dropA[(i - 1) * rowBytes + ((j - 1) >>> 3)] as number;
    if (bits & (1 << ((j - 1) & 7))) i--;
    else j--;
  }
  if (match.aStart >= 0) visit(match);
}
