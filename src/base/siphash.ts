/**
 * HalfSipHash-1-3: 64-bit key, 32-bit result. The key is drawn at start, so that nobody outside can
 * choose keys that collide; hashes of the multiply-and-shift kind have collisions for every seed.
 *
 * The state is four words in locals; sums wrap by `| 0`. The message is read as little-endian words
 * at any offset, from a DataView, which is a third faster than putting them together from bytes.
 * Nothing is allocated (bench/micro/base-leaves.ts).
 */

/**
 * The hash of bytes `start..end` of `view` under the key (key0, key1), as an int32: callers mask or
 * shift it (`>>> 0` gives the unsigned form).
 */
export function halfSipHash13(
  key0: number,
  key1: number,
  view: DataView,
  start: number,
  end: number,
): number {
  let v0 = key0 | 0;
  let v1 = key1 | 0;
  let v2 = key0 ^ 0x6c796765;
  let v3 = key1 ^ 0x74656462;
  let at = start;
  for (const whole = end - 3; at < whole; at += 4) {
    const word = view.getInt32(at, true);
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  let last = (end - start) << 24;
  if (at < end) {
    last |= view.getUint8(at);
    if (at + 1 < end) {
      last |= view.getUint8(at + 1) << 8;
      if (at + 2 < end) last |= view.getUint8(at + 2) << 16;
    }
  }
  v3 ^= last;
  // Round 0 takes in the last word; the other three finish.
  for (let round = 0; round < 4; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    if (round === 0) {
      v0 ^= last;
      v2 ^= 255;
    }
  }
  return v1 ^ v3;
}
