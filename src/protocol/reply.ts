/**
 * Writes replies in RESP2 or RESP3 into one growing buffer. Handlers say what they answer; only
 * this file knows the protocol version.
 *
 * A string over BIG_STRING_BYTES in shared memory is not copied: `shared` cuts the output into
 * pieces, and the link writes the piece straight from the heap after the lock was released.
 *
 * All text is binary: one character per byte. Text of an error has no leading "-".
 */
import { copyLong, copyWords } from "../base/bytes.ts";
import { formatDouble } from "../base/double.ts";
import { formatInt64 } from "../base/int64.ts";
import { REPLY_BYTES_MAX } from "../limits.ts";

const CR = 13;
const LF = 10;
const PARENTHESIS = 40;
const STAR = 42;
const PLUS = 43;
const MINUS = 45;
const COLON = 58;
const DOLLAR = 36;
const PERCENT = 37;
const TILDE = 126;
const GREATER = 62;
const UNDERSCORE = 95;
const COMMA = 44;
const HASH = 35;
const EQUALS = 61;
const BAR = 124;

/** Copies up to this long go by words, longer ones by `set`, which allocates views. */
const WORD_COPY_MAX = 256;
const INITIAL_BYTES = 65536;

const NOTHING = new Uint8Array(0);

/** Bytes that stay where they are; `done` is called once they have been written. */
export type SharedBytes = {
  source: Uint8Array;
  start: number;
  end: number;
  done: () => void;
};

/** A piece of output that is not in the buffer. */
export type SharedPiece = SharedBytes & {
  /** Bytes of the buffer that go before it. */
  before: number;
};

export class Reply {
  proto = 2;
  /** Bytes written so far. */
  length = 0;
  buffer: Uint8Array;
  /** Bytes of shared pieces waiting beside the buffer. */
  sharedBytes = 0;
  readonly shared: SharedPiece[] = [];
  /** Most bytes that may be written before they are sent. */
  limit: number = REPLY_BYTES_MAX;
  /** More than that was: what was written is gone, and the connection must be closed. */
  isOverflown = false;
  /** Error replies written since the reader last set it to 0. */
  errors = 0;
  /** First word of the last error, for statistics. */
  lastErrorCode = "";
  private view: DataView;

  constructor() {
    this.buffer = new Uint8Array(new ArrayBuffer(INITIAL_BYTES));
    this.view = new DataView(this.buffer.buffer);
  }

  /** Takes a fresh buffer: the old one belongs to a link now. */
  renew(): void {
    this.buffer = new Uint8Array(new ArrayBuffer(INITIAL_BYTES));
    this.view = new DataView(this.buffer.buffer);
    this.length = 0;
  }

  private room(bytes: number): number {
    const at = this.length;
    return at + bytes > this.buffer.length ? this.grow(at + bytes) : at;
  }

  private grow(bytes: number): number {
    let size = this.buffer.length * 2;
    while (size < bytes) size *= 2;
    const memory = bytes > this.limit ? null : makeBuffer(Math.min(size, REPLY_BYTES_MAX));
    if (memory === null) return this.overflow();
    const buffer = new Uint8Array(memory);
    buffer.set(this.buffer.subarray(0, this.length));
    this.buffer = buffer;
    this.view = new DataView(buffer.buffer);
    return this.length;
  }

  /**
   * Forgets what was written. The handler goes on, and short pieces are written over one another:
   * nothing may be thrown here, since a lock is held. The reply counts as a long one from then on,
   * so that nothing is run behind the command.
   */
  private overflow(): number {
    this.truncate(0);
    this.isOverflown = true;
    this.sharedBytes = REPLY_BYTES_MAX;
    return 0;
  }

  /** Forgets all that was written, and an overflow too. */
  discard(): void {
    this.truncate(0);
    this.isOverflown = false;
    this.sharedBytes = 0;
  }

  ok(): void {
    const at = this.room(5);
    const b = this.buffer;
    b[at] = PLUS;
    b[at + 1] = 79;
    b[at + 2] = 75;
    b[at + 3] = CR;
    b[at + 4] = LF;
    this.length = at + 5;
  }

  simple(text: string): void {
    this.line(PLUS, text);
  }

  /** Line breaks in `text` become blanks, as Redis does. */
  error(text: string): void {
    this.errors++;
    const space = text.indexOf(" ");
    this.lastErrorCode = space < 0 ? text : text.slice(0, space);
    this.line(MINUS, /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, " ") : text);
  }

  private line(type: number, text: string): void {
    const n = text.length;
    let at = this.room(n + 3);
    if (this.isOverflown) return;
    const b = this.buffer;
    b[at++] = type;
    for (let i = 0; i < n; i++) b[at++] = text.charCodeAt(i);
    b[at++] = CR;
    b[at++] = LF;
    this.length = at;
  }

  /** A safe integer. */
  integer(n: number): void {
    this.prefixed(COLON, n);
  }

  int64(hi: number, lo: number): void {
    let at = this.room(24);
    const b = this.buffer;
    b[at] = COLON;
    at = formatInt64(hi, lo, b, at + 1);
    b[at] = CR;
    b[at + 1] = LF;
    this.length = at + 2;
  }

  private prefixed(type: number, n: number): void {
    let at = this.room(24);
    const b = this.buffer;
    b[at++] = type;
    if (n >= 0 && n < 10) {
      b[at++] = 48 + n;
    } else {
      at = decimal(b, at, n);
    }
    b[at] = CR;
    b[at + 1] = LF;
    this.length = at + 2;
  }

  /** A bulk string from bytes that may be in shared memory. */
  bulk(source: Uint8Array, start: number, end: number): void {
    const n = end - start;
    this.prefixed(DOLLAR, n);
    let at = this.room(n + 2);
    if (this.isOverflown) return;
    const b = this.buffer;
    if (n <= 24) {
      for (let i = start; i < end; i++) b[at++] = source[i] as number;
    } else {
      copyLong(b, at, source, start, n);
      at += n;
    }
    b[at] = CR;
    b[at + 1] = LF;
    this.length = at + 2;
  }

  /** As `bulk`, for bytes of which there is a DataView: copies by words and allocates nothing. */
  bulkFrom(source: Uint8Array, view: DataView, start: number, n: number): void {
    if (n > WORD_COPY_MAX) {
      this.bulk(source, start, start + n);
      return;
    }
    this.prefixed(DOLLAR, n);
    const at = this.room(n + 2);
    if (this.isOverflown) return;
    const b = this.buffer;
    copyWords(this.view, at, view, start, n);
    b[at + n] = CR;
    b[at + n + 1] = LF;
    this.length = at + n + 2;
  }

  /** A bulk string that stays where it is; `done` is called when it has been written. */
  bulkShared(source: Uint8Array, start: number, end: number, done: () => void): void {
    this.bulkOf(NOTHING, { source, start, end, done }, NOTHING);
  }

  /** A bulk string of up to three parts, of which the second, if there is one, is not copied. */
  bulkOf(head: Uint8Array, body: SharedBytes | null, tail: Uint8Array): void {
    const bodyBytes = body === null ? 0 : body.end - body.start;
    this.prefixed(DOLLAR, head.length + bodyBytes + tail.length);
    this.raw(head);
    if (this.length + this.sharedBytes + bodyBytes > this.limit) this.overflow();
    if (this.isOverflown) {
      body?.done();
      return;
    }
    if (body !== null) {
      const { source, start, end, done } = body;
      this.shared.push({ before: this.length, source, start, end, done });
      this.sharedBytes += bodyBytes;
    }
    this.raw(tail);
    const at = this.room(2);
    this.buffer[at] = CR;
    this.buffer[at + 1] = LF;
    this.length = at + 2;
  }

  /** A bulk string from text. */
  text(text: string): void {
    const n = text.length;
    this.prefixed(DOLLAR, n);
    let at = this.room(n + 2);
    if (this.isOverflown) return;
    const b = this.buffer;
    for (let i = 0; i < n; i++) b[at++] = text.charCodeAt(i);
    b[at] = CR;
    b[at + 1] = LF;
    this.length = at + 2;
  }

  nil(): void {
    if (this.proto === 3) this.line(UNDERSCORE, "");
    else this.line(DOLLAR, "-1");
  }

  array(n: number): void {
    this.prefixed(STAR, n);
  }

  /** `n` pairs. */
  map(n: number): void {
    if (this.proto === 3) this.prefixed(PERCENT, n);
    else this.prefixed(STAR, 2 * n);
  }

  set(n: number): void {
    this.prefixed(this.proto === 3 ? TILDE : STAR, n);
  }

  push(n: number): void {
    this.prefixed(this.proto === 3 ? GREATER : STAR, n);
  }

  /** `n` pairs in front of a reply; RESP3 only. */
  attribute(n: number): void {
    this.prefixed(BAR, n);
  }

  double(x: number): void {
    const text = formatDouble(x);
    if (this.proto === 3) this.line(COMMA, text);
    else this.text(text);
  }

  /** A whole number of any length, as digits. */
  bigNumber(digits: string): void {
    if (this.proto === 3) this.line(PARENTHESIS, digits);
    else this.text(digits);
  }

  boolean(b: boolean): void {
    if (this.proto === 3) this.line(HASH, b ? "t" : "f");
    else this.integer(b ? 1 : 0);
  }

  /** `format` has three characters: "txt" or "mkd". */
  verbatim(text: string, format: string): void {
    if (this.proto !== 3) {
      this.text(text);
      return;
    }
    this.prefixed(EQUALS, text.length + 4);
    const at = this.room(text.length + 6);
    if (!this.isOverflown) this.length = this.putText(at, `${format}:${text}\r\n`);
  }

  /** Bytes that are a reply already. */
  raw(bytes: Uint8Array): void {
    const at = this.room(bytes.length);
    if (this.isOverflown) return;
    this.buffer.set(bytes, at);
    this.length = at + bytes.length;
  }

  private putText(at: number, text: string): number {
    const b = this.buffer;
    for (let i = 0; i < text.length; i++) b[at + i] = text.charCodeAt(i);
    return at + text.length;
  }

  /** Begins an array whose length is not known yet. Returns what `endArray` needs. */
  beginArray(): number {
    return this.length;
  }

  /** Puts the header of `n` elements in front of what was written since `beginArray`. */
  endArray(mark: number, n: number): void {
    const header = `*${n}\r\n`;
    const end = this.room(header.length);
    if (this.isOverflown) return;
    this.buffer.copyWithin(mark + header.length, mark, end);
    this.putText(mark, header);
    this.length = end + header.length;
    for (const piece of this.shared) if (piece.before > mark) piece.before += header.length;
  }

  /** Forgets everything written since `length` was `mark`. */
  truncate(mark: number): void {
    while (this.shared.length > 0 && (this.shared.at(-1)?.before ?? 0) > mark) {
      const piece = this.shared.pop();
      if (piece === undefined) break;
      this.sharedBytes -= piece.end - piece.start;
      piece.done();
    }
    this.length = mark;
  }
}

function makeBuffer(bytes: number): ArrayBuffer | null {
  try {
    return new ArrayBuffer(bytes);
  } catch {
    // RangeError: there is no memory for it.
    return null;
  }
}

/** Writes a safe integer in decimal. Returns the index behind it. */
function decimal(b: Uint8Array, at: number, n: number): number {
  let value = n;
  let start = at;
  if (value < 0) {
    b[start++] = MINUS;
    value = -value;
  }
  if (value < 0x7fffffff) return small(b, start, value | 0);
  const text = String(value);
  for (let i = 0; i < text.length; i++) b[start + i] = text.charCodeAt(i);
  return start + text.length;
}

function small(b: Uint8Array, at: number, value: number): number {
  let digits = 1;
  for (let limit = 10; value >= limit && digits < 10; limit *= 10) digits++;
  let left = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const tenth = (left / 10) | 0;
    b[i] = 48 + left - tenth * 10;
    left = tenth;
  }
  return at + digits;
}
