/**
 * A record: key and value of one key of a database (later also of one field of a hash), in one
 * block. Byte layout, unaligned behind the header, little-endian:
 *
 *   0   u8   kind: low 5 bits type and encoding, then the flags expiry, long, spare
 *   1   u8   key length          (short form)
 *   2   u16  value length        (short form)
 *   4   u24  LRU clock or LFU counter
 *   7   [u32 key length, u32 value length]   long form only
 *       [f64 unix milliseconds]              with an expiry only
 *       key, value
 *
 * The first 4 bytes are read as one word. A record is immutable in size class: whatever does not
 * fit its block is written to a new one.
 *
 * A big string is a block of its own; its record is in long form with the length of the string as
 * value length, and its value area holds the block's pointer.
 */

export const TYPE_MASK = 31;
export const FLAG_EXPIRY = 32;
export const FLAG_LONG = 64;
const FLAGS = FLAG_EXPIRY | FLAG_LONG;

export const STRING_BYTES = 1;
export const STRING_INT32 = 2;
export const STRING_INT64 = 3;
export const STRING_BIG = 4;
/** Bytes that were changed in place: OBJECT ENCODING says raw, however short they are. */
export const STRING_RAW = 5;
/** Kinds up to here are strings. */
export const STRING_LAST = 5;

export const HEADER_BYTES = 7;
export const LONG_BYTES = 8;
export const EXPIRY_BYTES = 8;
/** Value area of a big string. */
export const POINTER_BYTES = 4;

/** Big block: u32 pins and whether it is an orphan, u32 1 before a record has it, the bytes. */
export const BIG_HEADER_BYTES = 8;

/** Bytes in front of the key, by the kind byte's flags. */
const KEY_OFFSET = new Uint8Array(256);
for (let kind = 0; kind < 256; kind++) {
  KEY_OFFSET[kind] =
    HEADER_BYTES + (kind & FLAG_LONG ? LONG_BYTES : 0) + (kind & FLAG_EXPIRY ? EXPIRY_BYTES : 0);
}

export function keyOffset(kind: number): number {
  return KEY_OFFSET[kind & 0xff] as number;
}

/** True if these lengths need the long form. */
export function isLong(keyLength: number, valueLength: number): boolean {
  return keyLength > 255 || valueLength > 65535;
}

/** Units of a record with this kind (flags included), key and value area. */
export function recordUnits(kind: number, keyLength: number, valueBytes: number): number {
  return ((KEY_OFFSET[kind & FLAGS] as number) + keyLength + valueBytes + 7) >>> 3;
}
