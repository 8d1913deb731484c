/**
 * Bytes that a session has read while it could run nothing. They are kept in one buffer that
 * doubles, and are handed back as a whole; what is not run of them is kept again.
 */
import { BIG_ARGUMENT_BYTES } from "../limits.ts";

const NO_BYTES = new Uint8Array(0);

export class Backlog {
  length = 0;
  bytes: Uint8Array = NO_BYTES;

  /** Bytes of memory that are taken. */
  get capacity(): number {
    return this.bytes.length;
  }

  /** Adds `chunk[start..end]`. */
  keep(chunk: Uint8Array, start: number, end: number): void {
    const needed = this.length + end - start;
    if (needed > this.bytes.length) {
      const bigger = new Uint8Array(Math.max(needed, this.bytes.length * 2, BIG_ARGUMENT_BYTES));
      bigger.set(this.bytes.subarray(0, this.length));
      this.bytes = bigger;
    }
    this.bytes.set(chunk.subarray(start, end), this.length);
    this.length = needed;
  }

  /** Gives up the buffer; `length` must be read before. */
  take(): Uint8Array {
    const { bytes } = this;
    this.bytes = NO_BYTES;
    this.length = 0;
    return bytes;
  }
}
