/**
 * SHA-1 (FIPS 180-4). For identifiers that other programs compute the same way; nothing here relies
 * on its strength. Once per start or per script, so plain code.
 *
 *   padded message   | bytes | 0x80 | zeros | length in bits, 64, big-endian |   a multiple of 64
 */

const BLOCK_BYTES = 64;
const ROUNDS = 80;
const SUM_BYTES = 20;
const HEX = "0123456789abcdef";

/** The sum of `bytes` as 40 lower-case hexadecimal digits. */
export function sha1Hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of sha1(bytes)) text += (HEX[byte >>> 4] as string) + HEX[byte & 15];
  return text;
}

/** The 20 bytes of the sum. */
export function sha1(bytes: Uint8Array): Uint8Array {
  const message = padded(bytes);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Int32Array(ROUNDS);
  for (let at = 0; at < message.byteLength; at += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) words[i] = message.getInt32(at + 4 * i);
    for (let i = 16; i < ROUNDS; i++) {
      words[i] = rotated(words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!, 1);
    }
    takeBlock(state, words);
  }
  const sum = new Uint8Array(SUM_BYTES);
  const view = new DataView(sum.buffer);
  for (const [i, word] of state.entries()) view.setInt32(4 * i, word);
  return sum;
}

function padded(bytes: Uint8Array): DataView {
  const size = Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  const message = new Uint8Array(size);
  message.set(bytes);
  message[bytes.length] = 0x80;
  const view = new DataView(message.buffer);
  view.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(size - 4, (bytes.length << 3) >>> 0);
  return view;
}

function takeBlock(state: Int32Array, words: Int32Array): void {
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  for (let i = 0; i < ROUNDS; i++) {
    const sum = (rotated(a, 5) + mixed(i, b, c, d) + e + constantOf(i) + words[i]!) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = sum;
  }
  state[0] = state[0]! + a;
  state[1] = state[1]! + b;
  state[2] = state[2]! + c;
  state[3] = state[3]! + d;
  state[4] = state[4]! + e;
}

function mixed(round: number, b: number, c: number, d: number): number {
  if (round < 20) return (b & c) | (~b & d);
  if (round < 40 || round >= 60) return b ^ c ^ d;
  return (b & c) | (b & d) | (c & d);
}

function constantOf(round: number): number {
  if (round < 20) return 0x5a827999;
  if (round < 40) return 0x6ed9eba1;
  return round < 60 ? 0x8f1bbcdc : 0xca62c1d6;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
