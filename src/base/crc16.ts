/**
 * CRC16-XMODEM (polynomial 0x1021, start 0, nothing reflected) and the hash slot of a key.
 *
 * Four bytes a step: TABLE holds four tables of 256, table k being the effect of a byte followed by
 * k zero bytes. Within a step the four look-ups do not wait for each other, which makes the chain
 * of dependent loads four times shorter than byte by byte (bench/micro/base-hash.ts).
 *
 *   TABLE  | 0..255: k = 0 | 256..511: k = 1 | 512..767: k = 2 | 768..1023: k = 3 |
 */

const SLOT_MASK = 16383;
const OPEN = 123; // {
const CLOSE = 125; // }

const TABLE: Uint16Array = makeTable();

function makeTable(): Uint16Array {
  const table = new Uint16Array(1024);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) !== 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[byte] = crc;
  }
  for (let i = 256; i < 1024; i++) {
    const shorter = table[i - 256]!;
    table[i] = (shorter << 8) ^ table[shorter >>> 8]!;
  }
  return table;
}

/** CRC16 of `buf[start, end)`. */
export function crc16(buf: Uint8Array, start: number, end: number): number {
  const table = TABLE;
  let crc = 0;
  let at = start;
  for (const whole = end - 3; at < whole; at += 4) {
    crc =
      table[768 + ((crc >>> 8) ^ buf[at]!)]! ^
      table[512 + ((crc & 255) ^ buf[at + 1]!)]! ^
      table[256 + buf[at + 2]!]! ^
      table[buf[at + 3]!]!;
  }
  for (; at < end; at++) crc = ((crc << 8) & 0xffff) ^ table[(crc >>> 8) ^ buf[at]!]!;
  return crc;
}

/**
 * The slot of a key: only what lies between the first `{` and the first `}` after it counts, if
 * that is not empty; otherwise the whole key.
 *
 * One pass looks for the brace and computes the sum of a key without one: the comparisons run in
 * the shadow of the look-ups, a scan beforehand would double the time.
 */
export function keySlot(buf: Uint8Array, start: number, end: number): number {
  const table = TABLE;
  let crc = 0;
  let at = start;
  for (const whole = end - 3; at < whole; at += 4) {
    const b0 = buf[at]!;
    const b1 = buf[at + 1]!;
    const b2 = buf[at + 2]!;
    const b3 = buf[at + 3]!;
    if (b0 === OPEN || b1 === OPEN || b2 === OPEN || b3 === OPEN) return tagSlot(buf, start, end);
    crc =
      table[768 + ((crc >>> 8) ^ b0)]! ^
      table[512 + ((crc & 255) ^ b1)]! ^
      table[256 + b2]! ^
      table[b3]!;
  }
  for (; at < end; at++) {
    const byte = buf[at]!;
    if (byte === OPEN) return tagSlot(buf, start, end);
    crc = ((crc << 8) & 0xffff) ^ table[(crc >>> 8) ^ byte]!;
  }
  return crc & SLOT_MASK;
}

/** The slot of a key that has a `{`. */
function tagSlot(buf: Uint8Array, start: number, end: number): number {
  let open = start;
  while (open < end && buf[open] !== OPEN) open++;
  let close = open + 1;
  while (close < end && buf[close] !== CLOSE) close++;
  const isTag = close < end && close > open + 1;
  return (isTag ? crc16(buf, open + 1, close) : crc16(buf, start, end)) & SLOT_MASK;
}
