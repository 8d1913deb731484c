/**
 * Keys that were found on a walk over several locks, kept until no lock is held. What is copied is
 * never copied again, since a lock is held meanwhile: there are pieces of growing size, and the
 * next one is made in advance.
 */
import type { Reply } from "../../protocol/reply.ts";

const PIECE_BYTES_MIN = 1024;
const PIECE_BYTES_MAX = 65536;
/** A piece has room for as many keys as it has of this length. */
const KEY_BYTES = 16;

/** Keys copied one behind another, and where each ends. */
class Piece {
  readonly bytes: Uint8Array;
  readonly ends: Int32Array;
  count = 0;
  length = 0;

  constructor(bytes: number, keys: number) {
    this.bytes = new Uint8Array(bytes);
    this.ends = new Int32Array(keys);
  }
}

export class CopiedKeys {
  private count = 0;
  private last: Piece = new Piece(PIECE_BYTES_MIN, PIECE_BYTES_MIN / KEY_BYTES);
  private spare: Piece | null = null;
  private readonly pieces: Piece[] = [this.last];

  /** Makes sure that there is room for some more keys. No lock is held. */
  prepare(): void {
    const { bytes, length } = this.last;
    if (this.spare === null && length * 2 > bytes.length) this.spare = this.larger(0);
  }

  add(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    let piece = this.last;
    if (piece.count === piece.ends.length || piece.length + length > piece.bytes.length) {
      piece = this.next(length);
    }
    for (let i = start, to = piece.length; i < end; i++) piece.bytes[to++] = source[i] as number;
    piece.length += length;
    piece.ends[piece.count++] = piece.length;
    this.count++;
  }

  /** Begins another piece, with room for a key of this length. */
  private next(length: number): Piece {
    const { spare } = this;
    const isLarge = spare !== null && spare.bytes.length >= length;
    this.last = isLarge ? spare : this.larger(length);
    if (isLarge) this.spare = null;
    this.pieces.push(this.last);
    return this.last;
  }

  private larger(length: number): Piece {
    const bytes = Math.min(this.last.bytes.length * 2, PIECE_BYTES_MAX);
    return new Piece(Math.max(bytes, length), bytes / KEY_BYTES);
  }

  reply(reply: Reply): void {
    reply.array(this.count);
    for (const { bytes, ends, count } of this.pieces) {
      for (let k = 0, start = 0; k < count; k++) {
        const end = ends[k] as number;
        reply.bulk(bytes, start, end);
        start = end;
      }
    }
  }
}
