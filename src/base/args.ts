/**
 * The arguments of one request, as byte ranges: nothing is copied and no string is made.
 *
 * Ordinary arguments lie in `buffer` (the read buffer of the link, or the session's own query
 * buffer when a request was cut). An argument over 64 KiB was received straight into a block of the
 * heap; its range then lies in that block's chunk. `source(i)` names the right buffer for both.
 *
 * `slot[i]` and `hash[i]` are filled by the dispatcher for the positions that hold keys, so that
 * each is computed once per key and command.
 *
 * Text made from arguments is a binary string: one character per byte.
 */

import { latin1, lowerText } from "./bytes.ts";
import { int64, int64ToNumber, parseInt64 } from "./int64.ts";

const INITIAL_CAPACITY = 64;
const KEPT_CAPACITY = 1024;

/** An argument that was received into a heap block of its own. */
export type BigArgument = {
  /** Heap pointer of the block; 0 once a handler has taken it over. */
  block: number;
  /** Bytes of the chunk that holds the block, and a view of the same. */
  source: Uint8Array;
  view: DataView;
};

const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(new ArrayBuffer(0));

export class Args {
  count = 0;
  buffer: Uint8Array = NO_BYTES;
  /** A view of the same bytes, with the same indices. */
  view: DataView = NO_VIEW;
  start: Int32Array = new Int32Array(INITIAL_CAPACITY);
  end: Int32Array = new Int32Array(INITIAL_CAPACITY);
  slot: Int32Array = new Int32Array(INITIAL_CAPACITY);
  hash: Int32Array = new Int32Array(INITIAL_CAPACITY);
  /** Null unless this request has an argument over 64 KiB. */
  bigs: (BigArgument | null)[] | null = null;

  /** Makes room for `count` arguments and keeps those that are there. */
  reserve(count: number): void {
    if (count <= this.start.length) return;
    let capacity = this.start.length;
    while (capacity < count) capacity *= 2;
    this.start = grown(this.start, capacity);
    this.end = grown(this.end, capacity);
    this.slot = grown(this.slot, capacity);
    this.hash = grown(this.hash, capacity);
  }

  /** Gives up arrays that a request of many arguments made large. */
  shrink(): void {
    if (this.start.length <= KEPT_CAPACITY) return;
    this.start = new Int32Array(INITIAL_CAPACITY);
    this.end = new Int32Array(INITIAL_CAPACITY);
    this.slot = new Int32Array(INITIAL_CAPACITY);
    this.hash = new Int32Array(INITIAL_CAPACITY);
  }

  /** The buffer that `start[i]` and `end[i]` are indices into. */
  source(i: number): Uint8Array {
    return this.bigs === null ? this.buffer : (this.bigs[i]?.source ?? this.buffer);
  }

  /** A view with the same indices as `source(i)`. */
  viewOf(i: number): DataView {
    return this.bigs === null ? this.view : (this.bigs[i]?.view ?? this.view);
  }

  length(i: number): number {
    return (this.end[i] as number) - (this.start[i] as number);
  }

  /** About the bytes of the request, without arguments that have a block of the heap already. */
  plainBytes(): number {
    const { bigs, count } = this;
    // Otherwise they lie one behind another.
    if (bigs === null) return (this.end[count - 1] as number) - (this.start[0] as number);
    let bytes = 0;
    for (let i = 0; i < count; i++) if (!bigs[i]) bytes += this.length(i);
    return bytes;
  }

  /**
   * True if argument `i` equals `token`, which is upper-case ASCII, in any letter case. As in Redis
   * it is read as a C string: it ends with its first zero byte.
   */
  is(i: number, token: string): boolean {
    const start = this.start[i] as number;
    const length = token.length;
    const rest = (this.end[i] as number) - start - length;
    if (rest < 0) return false;
    const source = this.source(i);
    if (rest > 0 && source[start + length] !== 0) return false;
    for (let k = 0; k < length; k++) {
      let byte = source[start + k] as number;
      if (byte >= 97 && byte <= 122) byte -= 32;
      if (byte !== token.charCodeAt(k)) return false;
    }
    return true;
  }

  /** Argument `i` as a binary string (latin1). For cold paths: it allocates. */
  text(i: number): string {
    return latin1(this.source(i), this.start[i] as number, this.end[i] as number);
  }

  /** The first bytes of argument `i`, at most `most`, as a binary string. */
  head(i: number, most: number): string {
    const start = this.start[i] as number;
    return latin1(this.source(i), start, Math.min(this.end[i] as number, start + most));
  }

  /** Argument `i` as a binary string in ASCII lower case. */
  lower(i: number): string {
    return lowerText(this.text(i));
  }

  /** Argument `i` into `int64`, as `parseInt64` reads it; false if it is no integer. */
  int64(i: number): boolean {
    return parseInt64(this.source(i), this.start[i] as number, this.end[i] as number);
  }

  /** The integer that argument `i` spells, rounded beyond 2^53; null if it spells none. */
  integer(i: number): number | null {
    return this.int64(i) ? int64ToNumber(int64.hi, int64.lo) : null;
  }

  /** A copy of argument `i` that may be kept. */
  take(i: number): Uint8Array {
    return this.source(i).slice(this.start[i] as number, this.end[i] as number);
  }
}

function grown(from: Int32Array, capacity: number): Int32Array {
  const to = new Int32Array(capacity);
  to.set(from);
  return to;
}
