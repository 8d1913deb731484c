/**
 * One line of MONITOR, as bytes: `+<seconds>.<microseconds> [<db> <address>] "<word>" ...`.
 *
 * The words must be read before the command runs, since a long argument may belong to the keyspace
 * afterwards; the time and the database are those after it. So the words are written first, with
 * room before them for the rest.
 */
import type { Args } from "../base/args.ts";
import { MONITOR_LINE_MAX } from "../limits.ts";

/** Room for the time, the database and the longest address. */
const PREFIX_BYTES = 512;
/** A buffer that grew beyond this is given up. */
const KEEP_BYTES = 65536;

const QUOTE = 34;
const BACKSLASH = 92;
const SPACE = 32;
const TILDE = 126;
const SMALL_X = 120;
const CR = 13;
const LF = 10;
const REDACTED = "(redacted)";

/** For each byte the letter behind a backslash, or 0. */
const ESCAPES = new Uint8Array(256);
for (const [byte, letter] of [
  [QUOTE, '"'],
  [BACKSLASH, "\\"],
  [LF, "n"],
  [CR, "r"],
  [9, "t"],
  [7, "a"],
  [8, "b"],
] as const) {
  ESCAPES[byte] = letter.charCodeAt(0);
}

export class MonitorLine {
  /** The line is in `bytes` from `start` to `end`. */
  bytes: Uint8Array = new Uint8Array(KEEP_BYTES);
  start = 0;
  end = 0;

  /** Writes the words but for the `hidden` ones. False if the line would be too long. */
  words(args: Args, hidden: readonly number[]): boolean {
    let most = PREFIX_BYTES + 2;
    for (let i = 0; i < args.count; i++) {
      most += Math.max(REDACTED.length, 4 * args.length(i)) + 3;
    }
    if (most > this.bytes.length) {
      // Seldom is every byte escaped.
      most = PREFIX_BYTES + 2 + this.count(args);
      if (most > MONITOR_LINE_MAX) return false;
      if (most > this.bytes.length) this.bytes = new Uint8Array(most);
    }
    let at = PREFIX_BYTES;
    for (let i = 0; i < args.count; i++) {
      this.bytes[at++] = SPACE;
      this.bytes[at++] = QUOTE;
      at = hidden.includes(i) ? this.text(at, REDACTED) : this.word(at, args, i);
      this.bytes[at++] = QUOTE;
    }
    this.bytes[at] = CR;
    this.bytes[at + 1] = LF;
    this.end = at + 2;
    return true;
  }

  /** Bytes of the words at most, those not shown included. */
  private count(args: Args): number {
    let bytes = 0;
    for (let i = 0; i < args.count; i++) {
      const source = args.source(i);
      const end = args.end[i] as number;
      bytes += REDACTED.length + 3;
      for (let at = args.start[i] as number; at < end; at++) {
        const byte = source[at] as number;
        if (ESCAPES[byte] !== 0) bytes += 2;
        else bytes += byte >= SPACE && byte <= TILDE ? 1 : 4;
      }
    }
    return bytes;
  }

  private word(from: number, args: Args, i: number): number {
    const { bytes } = this;
    const source = args.source(i);
    const end = args.end[i] as number;
    let to = from;
    for (let at = args.start[i] as number; at < end; at++) {
      const byte = source[at] as number;
      const letter = ESCAPES[byte] as number;
      if (letter !== 0) {
        bytes[to++] = BACKSLASH;
        bytes[to++] = letter;
      } else if (byte >= SPACE && byte <= TILDE) {
        bytes[to++] = byte;
      } else {
        bytes[to++] = BACKSLASH;
        bytes[to++] = SMALL_X;
        bytes[to++] = hexDigit(byte >> 4);
        bytes[to++] = hexDigit(byte & 15);
      }
    }
    return to;
  }

  private text(from: number, text: string): number {
    for (let i = 0; i < text.length; i++) this.bytes[from + i] = text.charCodeAt(i);
    return from + text.length;
  }

  /** Puts what goes before the words in its place. */
  prefix(unixMicros: number, db: number, address: string): void {
    const seconds = Math.floor(unixMicros / 1e6);
    const micros = String(unixMicros - seconds * 1e6).padStart(6, "0");
    const text = `+${seconds}.${micros} [${db} ${address}]`;
    this.start = PREFIX_BYTES - text.length;
    this.text(this.start, text);
  }

  /** Gives up a buffer that a long line has made large. */
  shrink(): void {
    if (this.bytes.length > KEEP_BYTES) this.bytes = new Uint8Array(KEEP_BYTES);
  }
}

function hexDigit(value: number): number {
  return value < 10 ? 48 + value : 87 + value;
}
