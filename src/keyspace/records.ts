/**
 * What records say of themselves, by their pointers: lengths, places, expiry, use. Byte layout in
 * structures/record.ts. Whoever asks holds the lock of the record's shard.
 */
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import {
  FLAG_EXPIRY,
  FLAG_LONG,
  HEADER_BYTES,
  keyOffset,
  LONG_BYTES,
  POINTER_BYTES,
  recordUnits,
  STRING_BIG,
  TYPE_MASK,
} from "../structures/record.ts";
import { ACCESS_MASK } from "./access.ts";

export class Records {
  /** The heap's views, by chunk. */
  protected readonly i32: Int32Array[];
  protected readonly u8: Uint8Array[];
  protected readonly view: DataView[];
  private readonly heap: Heap;

  constructor(heap: Heap) {
    this.heap = heap;
    this.i32 = heap.i32;
    this.u8 = heap.u8;
    this.view = heap.view;
  }

  /** Kind (with flags), key length and value length of a short record, as one word. */
  head(p: number): number {
    return (this.i32[p >>> CHUNK_SHIFT] as Int32Array)[(p & UNIT_MASK) << 1] as number;
  }

  /** Type and encoding of a record. */
  kindOf(p: number): number {
    return this.head(p) & TYPE_MASK;
  }

  /** What the record remembers of its use: 24 bits, see access.ts. */
  accessOf(p: number): number {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    return (m[((p & UNIT_MASK) << 1) + 1] as number) & ACCESS_MASK;
  }

  setAccess(p: number, access: number): void {
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const at = ((p & UNIT_MASK) << 1) + 1;
    m[at] = ((m[at] as number) & ~ACCESS_MASK) | access;
  }

  /** Unix milliseconds at which the record expires, 0 if never. */
  expiryOf(p: number): number {
    const kind = this.head(p);
    if ((kind & FLAG_EXPIRY) === 0) return 0;
    const at = ((p & UNIT_MASK) << 3) + HEADER_BYTES + (kind & FLAG_LONG ? LONG_BYTES : 0);
    return (this.view[p >>> CHUNK_SHIFT] as DataView).getFloat64(at, true);
  }

  keyLength(p: number): number {
    const head = this.head(p);
    if ((head & FLAG_LONG) === 0) return (head >>> 8) & 0xff;
    const at = ((p & UNIT_MASK) << 3) + HEADER_BYTES;
    return (this.view[p >>> CHUNK_SHIFT] as DataView).getUint32(at, true);
  }

  /** Byte of the chunk at which the key starts. */
  keyAt(p: number): number {
    return ((p & UNIT_MASK) << 3) + keyOffset(this.head(p));
  }

  valueLength(p: number): number {
    const head = this.head(p);
    if ((head & FLAG_LONG) === 0) return head >>> 16;
    const at = ((p & UNIT_MASK) << 3) + HEADER_BYTES + 4;
    return (this.view[p >>> CHUNK_SHIFT] as DataView).getUint32(at, true);
  }

  /** Byte of the chunk at which the value area starts. */
  valueAt(p: number): number {
    return this.keyAt(p) + this.keyLength(p);
  }

  /** The chunk's bytes that the record lies in. */
  bytesOf(p: number): Uint8Array {
    return this.u8[p >>> CHUNK_SHIFT] as Uint8Array;
  }

  viewOf(p: number): DataView {
    return this.view[p >>> CHUNK_SHIFT] as DataView;
  }

  /** Block of a big string. */
  bigBlockOf(p: number): number {
    return this.viewOf(p).getInt32(this.valueAt(p), true);
  }

  /** Bytes of the value area: of the string itself, or of the pointer to its block. */
  protected areaBytes(p: number): number {
    return this.kindOf(p) === STRING_BIG ? POINTER_BYTES : this.valueLength(p);
  }

  /** Units of the record's own block, from its own lengths. */
  protected unitsOf(p: number): number {
    return recordUnits(this.head(p) & 0xff, this.keyLength(p), this.areaBytes(p));
  }

  /** Bytes that a record costs, its blocks at class size. */
  bytesUsed(p: number): number {
    const { heap } = this;
    let units = heap.blockUnits(p);
    if (this.kindOf(p) === STRING_BIG) units += heap.blockUnits(this.bigBlockOf(p));
    return units * 8;
  }
}
