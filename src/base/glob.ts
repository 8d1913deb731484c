/**
 * Redis's glob patterns: `*`, `?`, `[abc]`, `[^a-z]`, `\x`. Some of its rules surprise:
 *   - the empty text is matched by the empty pattern only, not by `*`;
 *   - a class without its `]` ends with the pattern; so does `[^`, which matches any byte;
 *   - `[b-a]` is `[a-b]`, `[a-]` is the range from `a` to `]`, `[]` matches nothing, `[^]` any
 * byte;
 *   - bounds of ranges are put in order as signed bytes and folded afterwards, so that `[Z-a]` is
 *     empty when case is ignored;
 *   - an escaped byte in a class keeps its case even when the rest ignores it;
 *   - nothing matches a pattern that goes on behind more than GLOB_STARS_MAX stars.
 *
 * Each element but the star takes exactly one byte, so when an attempt fails only the last star has
 * to be tried further on. Time is at most pattern length times text length, and nothing is
 * allocated per match.
 */

import { GLOB_STARS_MAX } from "../limits.ts";
import { compareBytes, LOWER, latin1Bytes } from "./bytes.ts";
import { keySlot } from "./crc16.ts";

const STAR = 42;
const QUESTION = 63;
const OPEN = 91; // [
const BACKSLASH = 92;
const CLOSE = 93; // ]
const CARET = 94;
const DASH = 45;

/** Whether all of `text[start, end)` matches all of `pattern`. */
export function globMatch(
  pattern: Uint8Array,
  text: Uint8Array,
  start: number,
  end: number,
  isNoCase: boolean,
): boolean {
  if (start === end) return pattern.length === 0;
  return matchFrom(pattern, 0, text, start, end, isNoCase);
}

/** The same for binary text. */
export function globMatchText(pattern: string, text: string, isNoCase: boolean): boolean {
  return globMatch(latin1Bytes(pattern), latin1Bytes(text), 0, text.length, isNoCase);
}

function matchFrom(
  pattern: Uint8Array,
  patternAt: number,
  text: Uint8Array,
  start: number,
  end: number,
  isNoCase: boolean,
): boolean {
  const patternEnd = pattern.length;
  let p = patternAt;
  let t = start;
  // Where the pattern goes on behind the last star, and where the text it has taken ends.
  let starP = -1;
  let starT = 0;
  let stars = 0;
  while (t < end) {
    if (p < patternEnd && pattern[p] === STAR) {
      p = skipStars(pattern, p);
      if (p === patternEnd) return true;
      if (++stars > GLOB_STARS_MAX) return false;
      starP = p;
      starT = t;
    }
    const next = p < patternEnd ? matchOne(pattern, p, text[t]!, isNoCase) : -1;
    if (next >= 0) {
      p = next;
      t++;
    } else {
      if (starP < 0) return false;
      p = starP;
      t = ++starT;
    }
  }
  return skipStars(pattern, p) === patternEnd;
}

function skipStars(pattern: Uint8Array, at: number): number {
  let p = at;
  while (p < pattern.length && pattern[p] === STAR) p++;
  return p;
}

/** Where the pattern goes on behind the element at `p` if that matches `byte`, else -1. */
function matchOne(pattern: Uint8Array, p: number, byte: number, isNoCase: boolean): number {
  const symbol = pattern[p]!;
  if (symbol === QUESTION) return p + 1;
  if (symbol === OPEN) return matchClass(pattern, p + 1, byte, isNoCase);
  const at = symbol === BACKSLASH && p + 1 < pattern.length ? p + 1 : p;
  return isSame(pattern[at]!, byte, isNoCase) ? at + 1 : -1;
}

/** As `matchOne`, for the class whose `[` is before `start`. */
function matchClass(pattern: Uint8Array, start: number, byte: number, isNoCase: boolean): number {
  const end = pattern.length;
  const isNegated = start < end && pattern[start] === CARET;
  let p = isNegated ? start + 1 : start;
  let isFound = false;
  while (p < end && pattern[p] !== CLOSE) {
    if (pattern[p] === BACKSLASH && p + 1 < end) {
      if (pattern[p + 1] === byte) isFound = true;
      p += 2;
    } else if (p + 2 < end && pattern[p + 1] === DASH) {
      if (isInRange(pattern[p]!, pattern[p + 2]!, byte, isNoCase)) isFound = true;
      p += 3;
    } else {
      if (isSame(pattern[p]!, byte, isNoCase)) isFound = true;
      p++;
    }
  }
  if (isFound === isNegated) return -1;
  return p < end ? p + 1 : p;
}

function isSame(a: number, b: number, isNoCase: boolean): boolean {
  return a === b || (isNoCase && LOWER[a] === LOWER[b]);
}

function isInRange(from: number, to: number, byte: number, isNoCase: boolean): boolean {
  let low = (from << 24) >> 24;
  let high = (to << 24) >> 24;
  if (low > high) [low, high] = [high, low];
  let value = (byte << 24) >> 24;
  if (isNoCase) {
    low = foldSigned(low);
    high = foldSigned(high);
    value = foldSigned(value);
  }
  return value >= low && value <= high;
}

/** C's tolower of a signed byte: negative ones but -1 come back unsigned. */
function foldSigned(byte: number): number {
  return byte === -1 ? -1 : LOWER[byte & 255]!;
}

/** A pattern that is matched often: its literal beginning is compared as bytes. */
export class Glob {
  readonly pattern: Uint8Array;
  readonly isNoCase: boolean;
  /** What every matching text begins with, escapes resolved; empty when case is ignored. */
  readonly literalPrefix: Uint8Array;
  /** The pattern is `*`, which KEYS and SCAN take for no filter at all: they list the empty key. */
  readonly isAll: boolean;
  /** Only `literalPrefix` itself matches. */
  readonly isLiteral: boolean;
  /** The hash slot of every key that matches, or -1 when they can be in several. */
  readonly slot: number;
  // Where the pattern goes on behind the literal prefix, and whether only stars follow there.
  readonly #rest: number;
  readonly #isPrefixOnly: boolean;

  constructor(pattern: Uint8Array, isNoCase: boolean = false) {
    const literal = new Uint8Array(isNoCase ? 0 : pattern.length);
    let rest = 0;
    let length = 0;
    while (!isNoCase && rest < pattern.length) {
      const symbol = pattern[rest]!;
      if (symbol === STAR || symbol === QUESTION || symbol === OPEN) break;
      if (symbol === BACKSLASH && rest + 1 < pattern.length) rest++;
      literal[length++] = pattern[rest++]!;
    }
    this.pattern = pattern;
    this.isNoCase = isNoCase;
    this.literalPrefix = literal.slice(0, length);
    this.isAll = pattern.length === 1 && pattern[0] === STAR;
    this.isLiteral = !isNoCase && rest === pattern.length;
    this.slot = isNoCase ? -1 : prefixSlot(this.literalPrefix, this.isLiteral);
    this.#rest = rest;
    this.#isPrefixOnly = rest < pattern.length && skipStars(pattern, rest) === pattern.length;
  }

  matches(text: Uint8Array, start: number, end: number): boolean {
    const prefix = this.literalPrefix;
    const middle = start + prefix.length;
    if (middle > end || start === end) return start === end && this.pattern.length === 0;
    if (compareBytes(prefix, 0, prefix.length, text, start, middle) !== 0) return false;
    if (this.#isPrefixOnly) return true;
    return matchFrom(this.pattern, this.#rest, text, middle, end, this.isNoCase);
  }
}

/** The slot of all keys that begin with a prefix, or of the prefix when it is a whole key. */
function prefixSlot(prefix: Uint8Array, isWhole: boolean): number {
  if (isWhole) return keySlot(prefix, 0, prefix.length);
  const open = prefix.indexOf(123);
  const close = open < 0 ? -1 : prefix.indexOf(125, open);
  return close > open + 1 ? keySlot(prefix, 0, prefix.length) : -1;
}
