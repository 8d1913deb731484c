/**
 * Turns the reply of a call, which is written in RESP3, into JavaScript values. The locks are
 * released by then: nothing is made on the JavaScript heap while one is held.
 *
 *   simple and bulk strings, verbatim text   string, or Buffer where bytes are asked for
 *   integers     number while safe, else bigint      big numbers   bigint      doubles   number
 *   null         null                                booleans      boolean
 *   arrays, sets Array                               maps          Map
 *   errors       thrown as StoreError; within an array, the StoreError itself
 *   text that is longer than a string can be      StoreError, code TOOLONG
 */
import type { Reply, SharedBytes } from "../protocol/reply.ts";
import { StoreError } from "./errors.ts";
import type { HeapWork } from "./request.ts";

const CR = 13;
const BANG = 33;
const HASH = 35;
const DOLLAR = 36;
const PERCENT = 37;
const LEFT_PARENTHESIS = 40;
const STAR = 42;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const COLON = 58;
const EQUALS = 61;
const GREATER = 62;
const UNDERSCORE = 95;
const BAR = 124;
const TILDE = 126;
const LOWER_T = 116;
const ZERO = 48;

/** "txt:" in front of verbatim text. */
const FORMAT_BYTES = 4;
/** Digits of a number that is certainly safe. */
const SAFE_DIGITS = 15;
const SHORT_TEXT_MAX = 16;
const LOOP_BYTES_MAX = 32;
/** No shorter text is too long for a string. */
const LONG_TEXT_BYTES = 1 << 28;

type Utf8Slice = { utf8Slice(this: Uint8Array, start: number, end: number): string };
const { utf8Slice } = Buffer.prototype as unknown as Utf8Slice;
const char = String.fromCharCode;

/** Bytes as text: UTF-8, as `TextDecoder` reads it. */
export function textOf(b: Uint8Array, start: number, end: number): string {
  const n = end - start;
  if (n > SHORT_TEXT_MAX)
    return n > LONG_TEXT_BYTES ? longText(b, start, end) : utf8Slice.call(b, start, end);
  for (let i = start; i < end; i++) {
    if ((b[i] as number) > 127) return utf8Slice.call(b, start, end);
  }
  return shortText(b, start, n);
}

/** Whether it is too long depends on V8 and on how many characters the bytes make. */
function longText(b: Uint8Array, start: number, end: number): string {
  try {
    return utf8Slice.call(b, start, end);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code !== "ERR_STRING_TOO_LONG") throw cause;
    const bytes = `TOOLONG A text of ${end - start} bytes is longer than a string can be`;
    throw new StoreError(`${bytes}; getBuffer and callBuffer return bytes`, { cause });
  }
}

/**
 * Up to SHORT_TEXT_MAX bytes of ASCII. One call with all characters takes half of a slice and makes
 * nothing but the string: characters joined by + leave their parts to the collector, and a rope.
 */
function shortText(b: Uint8Array, i: number, n: number): string {
  if (n === 0) return "";
  const c0 = b[i]!;
  if (n === 1) return char(c0);
  const c1 = b[i + 1]!;
  if (n === 2) return char(c0, c1);
  const c2 = b[i + 2]!;
  if (n === 3) return char(c0, c1, c2);
  const c3 = b[i + 3]!;
  if (n === 4) return char(c0, c1, c2, c3);
  const c4 = b[i + 4]!;
  if (n === 5) return char(c0, c1, c2, c3, c4);
  const c5 = b[i + 5]!;
  if (n === 6) return char(c0, c1, c2, c3, c4, c5);
  const c6 = b[i + 6]!;
  if (n === 7) return char(c0, c1, c2, c3, c4, c5, c6);
  const c7 = b[i + 7]!;
  if (n === 8) return char(c0, c1, c2, c3, c4, c5, c6, c7);
  const c8 = b[i + 8]!;
  if (n === 9) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8);
  const c9 = b[i + 9]!;
  if (n === 10) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9);
  const c10 = b[i + 10]!;
  if (n === 11) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10);
  const c11 = b[i + 11]!;
  if (n === 12) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11);
  const c12 = b[i + 12]!;
  if (n === 13) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12);
  const c13 = b[i + 13]!;
  if (n === 14) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13);
  const c14 = b[i + 14]!;
  if (n === 15) return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14);
  const c15 = b[i + 15]!;
  return char(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15);
}

export class ReplyReader {
  private readonly reply: Reply;
  private readonly work: HeapWork;
  private at = 0;
  /** Of the pieces of the reply that lie in the heap, the next one. */
  private piece = 0;

  constructor(reply: Reply, work: HeapWork) {
    this.reply = reply;
    this.work = work;
  }

  /** Text, or null. */
  text(): string | null {
    const { reply } = this;
    const b = reply.buffer;
    if (b[0] !== DOLLAR || reply.shared.length > 0) return this.value(false) as string | null;
    let at = 1;
    while (b[at] !== CR) at++;
    const text = textOf(b, at + 2, reply.length - 2);
    reply.length = 0;
    return text;
  }

  /** A copy of the bytes, or null. */
  buffer(): Buffer | null {
    return this.value(true) as Buffer | null;
  }

  integer(): number | bigint {
    const { reply } = this;
    const b = reply.buffer;
    const end = reply.length - 2;
    if (b[0] !== COLON || end > SAFE_DIGITS) return this.value(false) as number | bigint;
    reply.length = 0;
    const isNegative = b[1] === MINUS;
    let n = 0;
    for (let at = isNegative ? 2 : 1; at < end; at++) n = n * 10 + (b[at] as number) - ZERO;
    return isNegative ? -n : n;
  }

  /** True for +OK, false for null. */
  isOk(): boolean {
    const { reply } = this;
    if (reply.buffer[0] !== PLUS) return this.value(false) !== null;
    reply.length = 0;
    return true;
  }

  /** The whole reply, with bytes for strings if `asBuffers`. */
  value(asBuffers: boolean): unknown {
    const { reply } = this;
    this.at = 0;
    this.piece = 0;
    let value: unknown;
    try {
      value = this.read(asBuffers);
    } finally {
      // Lets go of what is pinned.
      if (reply.shared.length > 0) this.work(() => reply.truncate(-1));
      reply.length = 0;
    }
    if (value instanceof StoreError) throw value;
    return value;
  }

  private read(asBuffers: boolean): unknown {
    const b = this.reply.buffer;
    const type = b[this.at++] as number;
    switch (type) {
      case PLUS: {
        const line = this.line();
        return asBuffers ? Buffer.from(line, "utf8") : line;
      }
      case MINUS:
        return new StoreError(this.line());
      case COLON:
        return integerOf(this.line());
      case DOLLAR:
        return this.bulk(this.count(), 0, asBuffers);
      case EQUALS:
        return this.bulk(this.count(), FORMAT_BYTES, asBuffers);
      case BANG:
        return new StoreError(this.bulk(this.count(), 0, false) as string);
      case UNDERSCORE:
        this.line();
        return null;
      case COMMA:
        return doubleOf(this.line());
      case HASH:
        return this.line().charCodeAt(0) === LOWER_T;
      case LEFT_PARENTHESIS:
        return BigInt(this.line());
      default:
        return this.readAggregate(type, asBuffers);
    }
  }

  private readAggregate(type: number, asBuffers: boolean): unknown {
    const n = this.count();
    if (type === PERCENT) {
      const map = new Map<unknown, unknown>();
      for (let i = 0; i < n; i++) {
        const key = this.read(asBuffers);
        map.set(key, this.read(asBuffers));
      }
      return map;
    }
    if (type === BAR) {
      for (let i = 0; i < 2 * n; i++) this.read(asBuffers);
      return this.read(asBuffers);
    }
    if (type !== STAR && type !== TILDE && type !== GREATER) throw new Error("not a reply");
    if (n < 0) return null;
    const list: unknown[] = [];
    for (let i = 0; i < n; i++) list.push(this.read(asBuffers));
    return list;
  }

  private line(): string {
    const { buffer } = this.reply;
    const start = this.at;
    let end = start;
    while (buffer[end] !== CR) end++;
    this.at = end + 2;
    return textOf(buffer, start, end);
  }

  private count(): number {
    return Number(this.line());
  }

  /** A string of which `piece` is the middle. */
  private joined(piece: SharedBytes, head: number, length: number): Uint8Array {
    const { buffer } = this.reply;
    const tail = length - head - (piece.end - piece.start);
    const whole = new Uint8Array(length);
    whole.set(buffer.subarray(this.at, this.at + head));
    whole.set(piece.source.subarray(piece.start, piece.end), head);
    whole.set(buffer.subarray(this.at + head, this.at + head + tail), length - tail);
    return whole;
  }

  private bulk(length: number, skip: number, asBuffers: boolean): string | Buffer | null {
    if (length < 0) return null;
    const { reply } = this;
    const piece = reply.shared[this.piece];
    const head = piece === undefined ? 0 : piece.before - this.at;
    const body = piece === undefined ? 0 : piece.end - piece.start;
    let source = reply.buffer;
    let start = this.at;
    // A piece further on than that belongs to a later string.
    if (piece === undefined || head + body > length) {
      this.at += length + 2;
    } else {
      source = piece.source;
      start = piece.start;
      if (body < length) {
        source = this.joined(piece, head, length);
        start = 0;
      }
      this.piece++;
      this.at += length - body + 2;
    }
    const end = start + length;
    start += skip;
    if (!asBuffers) return textOf(source, start, end);
    return bytesOf(source, start, end);
  }
}

function bytesOf(source: Uint8Array, start: number, end: number): Buffer {
  const n = end - start;
  const bytes = Buffer.allocUnsafe(n);
  // A view of the source costs more than a few bytes one by one.
  if (n > LOOP_BYTES_MAX) bytes.set(source.subarray(start, end));
  else for (let i = 0; i < n; i++) bytes[i] = source[start + i] as number;
  return bytes;
}

function integerOf(line: string): number | bigint {
  const n = Number(line);
  return Number.isSafeInteger(n) ? n : BigInt(line);
}

function doubleOf(line: string): number {
  if (line === "inf") return Number.POSITIVE_INFINITY;
  return line === "-inf" ? Number.NEGATIVE_INFINITY : Number(line);
}
