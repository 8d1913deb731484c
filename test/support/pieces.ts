/**
 * Huge strings that show whether anything of them was lost or torn: they may begin with a base, and
 * the rest are pieces of one size, each of which says whose it is and the how-manieth of its writer
 * for that key.
 *
 *   [.......... base] [<key:writer:n|aaaaaaaa...a>] [<key:writer:n|bbbb...b>] ...
 */
import assert from "node:assert/strict";

export const PIECE_BYTES = 24_576;
/** So long that what is appended often makes the string move. */
export const BASE_BYTES = 1_500_000;
export const BASE: string = ".".repeat(BASE_BYTES);

const HEAD = /^<([^|]+):(\d+):(\d+)\|/;

export function piece(key: string, writer: number, n: number): string {
  const letter = String.fromCharCode(97 + ((writer * 7 + n) % 26));
  return `${`<${key}:${writer}:${n}|`.padEnd(PIECE_BYTES - 1, letter)}>`;
}

/** How many pieces there are of each writer, and its last. */
export type Found = Map<number, { count: number; last: number }>;

/** Throws unless the value is a whole base or none, and pieces in which no writer has a gap. */
export function checkPieces(value: string, key: string): Found {
  const hasBase = value.startsWith(".");
  if (hasBase) assert.ok(value.startsWith(BASE), `${key}: the base is torn`);
  const found: Found = new Map();
  for (let at = hasBase ? BASE_BYTES : 0; at < value.length; at += PIECE_BYTES) {
    const bytes = value.slice(at, at + PIECE_BYTES);
    const [, name = "", writerText = "", nText = ""] = HEAD.exec(bytes) ?? [];
    const writer = Number(writerText);
    const n = Number(nText);
    assert.ok(bytes === piece(name, writer, n) && name === key, `${key}: torn at ${at}`);
    const before = found.get(writer);
    if (before !== undefined) assert.equal(n, before.last + 1, `${key}, ${writer}: out of order`);
    found.set(writer, { count: (before?.count ?? 0) + 1, last: n });
  }
  return found;
}
