/**
 * CRC64 with the Jones polynomial (0xad93d23594c935a9, reflected, start 0, no final inversion): the
 * check sum of RDB files and DUMP payloads. The sum is two 32-bit halves, since BigInt would be
 * twenty times slower.
 *
 * Eight bytes a step: TABLE holds eight tables of 256 pairs, table k being the effect of a byte
 * that k zero bytes follow.
 *
 *   TABLE  | 0..511: k = 0, pairs (lo, hi) | 512..1023: k = 1 | ... | 3584..4095: k = 7 |
 */

/** A running sum, both halves as int32. Starts at zero. */
export interface Crc64 {
  hi: number;
  lo: number;
}

const POLYNOMIAL_HI = 0x95ac9329; // reflected
const POLYNOMIAL_LO = 0xac4bc9b5;

const TABLE: Int32Array = makeTable();

function makeTable(): Int32Array {
  const table = new Int32Array(4096);
  for (let byte = 0; byte < 256; byte++) {
    let lo = byte;
    let hi = 0;
    for (let bit = 0; bit < 8; bit++) {
      const isOdd = (lo & 1) !== 0;
      lo = (lo >>> 1) | (hi << 31);
      hi >>>= 1;
      if (isOdd) {
        lo ^= POLYNOMIAL_LO;
        hi ^= POLYNOMIAL_HI;
      }
    }
    table[2 * byte] = lo;
    table[2 * byte + 1] = hi;
  }
  for (let i = 512; i < 4096; i += 2) {
    const lo = table[i - 512]!;
    const hi = table[i - 511]!;
    const pair = 2 * (lo & 255);
    table[i] = ((lo >>> 8) | (hi << 24)) ^ table[pair]!;
    table[i + 1] = (hi >>> 8) ^ table[pair + 1]!;
  }
  return table;
}

/** Takes `buf[start, end)` into the running sum `state`. */
export function crc64(buf: Uint8Array, start: number, end: number, state: Crc64): void {
  const table = TABLE;
  let lo = state.lo;
  let hi = state.hi;
  let at = start;
  for (const whole = end - 7; at < whole; at += 8) {
    const low = lo ^ (buf[at]! | (buf[at + 1]! << 8) | (buf[at + 2]! << 16) | (buf[at + 3]! << 24));
    const a = 3584 + ((low & 255) << 1);
    const b = 3072 + ((low >>> 7) & 510);
    const c = 2560 + ((low >>> 15) & 510);
    const d = 2048 + ((low >>> 23) & 510);
    const e = 1536 + (((hi & 255) ^ buf[at + 4]!) << 1);
    const f = 1024 + ((((hi >>> 8) & 255) ^ buf[at + 5]!) << 1);
    const g = 512 + ((((hi >>> 16) & 255) ^ buf[at + 6]!) << 1);
    const h = ((hi >>> 24) ^ buf[at + 7]!) << 1;
    lo =
      table[a]! ^ table[b]! ^ table[c]! ^ table[d]! ^ table[e]! ^ table[f]! ^ table[g]! ^ table[h]!;
    hi =
      table[a + 1]! ^
      table[b + 1]! ^
      table[c + 1]! ^
      table[d + 1]! ^
      table[e + 1]! ^
      table[f + 1]! ^
      table[g + 1]! ^
      table[h + 1]!;
  }
  for (; at < end; at++) {
    const pair = ((lo ^ buf[at]!) & 255) << 1;
    lo = ((lo >>> 8) | (hi << 24)) ^ table[pair]!;
    hi = (hi >>> 8) ^ table[pair + 1]!;
  }
  state.lo = lo;
  state.hi = hi;
}

/** Writes the sum as files hold it: eight bytes, little-endian. Returns the offset behind it. */
export function writeCrc64(state: Crc64, buf: Uint8Array, at: number): number {
  for (let i = 0; i < 4; i++) {
    buf[at + i] = state.lo >>> (8 * i);
    buf[at + 4 + i] = state.hi >>> (8 * i);
  }
  return at + 8;
}
