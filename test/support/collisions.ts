/**
 * Families of keys that have one and the same hash under common fast functions, as somebody would
 * send who wants a server to be slow. All but the last collide whatever the function's seed is:
 *
 *   polynomials        h * m + byte: two bytes that add up to the same
 *   multiply and xor   a difference in bit 31 stays alone under odd multiplication, and what the
 *                      shift makes of it cancels with the next word
 *   murmur 2 and 3     as above, for words that differ in one bit once they are mixed
 *   FNV-1a             no such differences; but it has no seed, so collisions are found by trying
 *
 * A key is one part after another, and for each part there are two: n bits name 2^n keys.
 */
import { Random } from "./random.ts";

const WORD_BIT = 1 << 31;
const MURMUR2 = 0x5bd1e995;
const MURMUR3_1 = 0xcc9e2d51;
const MURMUR3_2 = 0x1b873593;
const FNV_BASIS = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

export type Family = {
  readonly name: string;
  /** Its hashes agree for every seed. */
  readonly isSeeded: boolean;
  /** The key that `bits` bits name; all of them have the same length. */
  key(n: number, bits: number): string;
  /** The function that they are made for. */
  hash(key: Buffer, seed: number): number;
};

type Pair = readonly [string, string];

/** Most bits that a name has. */
export const FAMILY_BITS_MAX = 24;

export const FAMILIES: readonly Family[] = [
  family("h * 31 + byte", true, polynomial(31), () => ["Aa", "BB"]),
  family("h * 33 + byte", true, polynomial(33), () => ["aB", "b!"]),
  family("multiply and xor with shift", true, multiplyXor, (random) => {
    const [one, two] = [random.u32(), random.u32()];
    return [words(one, two), words(one ^ WORD_BIT, two ^ WORD_BIT ^ (1 << 16))];
  }),
  family("murmur 2", true, murmur2, (random) => {
    const [one, two] = [random.u32(), random.u32()];
    return [words(unmix2(one), unmix2(two)), words(unmix2(one ^ WORD_BIT), unmix2(two ^ WORD_BIT))];
  }),
  family("murmur 3", true, murmur3, (random) => {
    // 13 bits on, bit 18 is bit 31, where times 5 leaves it alone.
    const [one, two] = [random.u32(), random.u32()];
    return [
      words(unmix3(one), unmix3(two)),
      words(unmix3(one ^ (1 << 18)), unmix3(two ^ WORD_BIT)),
    ];
  }),
  family("FNV-1a", false, (key) => fnv1a(key, FNV_BASIS), fnvPairs()),
];

function family(
  name: string,
  isSeeded: boolean,
  hash: (key: Buffer, seed: number) => number,
  pair: (random: Random) => Pair,
): Family {
  const random = new Random(0xc0111de);
  const parts = Array.from({ length: FAMILY_BITS_MAX }, () => pair(random));
  return {
    name,
    isSeeded,
    hash,
    key: (n, bits) => {
      let key = "";
      for (let bit = 0; bit < bits; bit++) key += (parts[bit] as Pair)[(n >>> bit) & 1];
      return key;
    },
  };
}

function words(...values: number[]): string {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeInt32LE(value | 0, i * 4);
  return bytes.toString("latin1");
}

function polynomial(factor: number): (key: Buffer, seed: number) => number {
  return (key, seed) => key.reduce((hash, byte) => (Math.imul(hash, factor) + byte) | 0, seed);
}

function multiplyXor(key: Buffer, seed: number): number {
  let hash = seed;
  for (let at = 0; at < key.length; at += 4) {
    hash = Math.imul(hash ^ key.readInt32LE(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function murmur2(key: Buffer, seed: number): number {
  let hash = seed ^ key.length;
  for (let at = 0; at < key.length; at += 4) {
    let word = Math.imul(key.readInt32LE(at), MURMUR2);
    word = Math.imul(word ^ (word >>> 24), MURMUR2);
    hash = Math.imul(hash, MURMUR2) ^ word;
  }
  hash = Math.imul(hash ^ (hash >>> 13), MURMUR2);
  return hash ^ (hash >>> 15);
}

/** The word that murmur 2 mixes into `mixed`. */
function unmix2(mixed: number): number {
  const inverse = inverseOf(MURMUR2);
  const word = Math.imul(mixed, inverse);
  return Math.imul(word ^ (word >>> 24), inverse);
}

function murmur3(key: Buffer, seed: number): number {
  let hash = seed;
  for (let at = 0; at < key.length; at += 4) {
    const word = rotate(Math.imul(key.readInt32LE(at), MURMUR3_1), 15);
    hash = (Math.imul(rotate(hash ^ Math.imul(word, MURMUR3_2), 13), 5) + 0xe6546b64) | 0;
  }
  hash ^= key.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function unmix3(mixed: number): number {
  const word = rotate(Math.imul(mixed, inverseOf(MURMUR3_2)), 17);
  return Math.imul(word, inverseOf(MURMUR3_1));
}

function fnv1a(key: Buffer, basis: number): number {
  return key.reduce((hash, byte) => Math.imul(hash ^ byte, FNV_PRIME), basis);
}

/** Each pair goes on from the hash that those before it end with. */
function fnvPairs(): (random: Random) => Pair {
  let basis = FNV_BASIS;
  return (random) => {
    const seen = new Map<number, number>();
    for (;;) {
      const part = random.u32();
      let hash = basis;
      for (let shift = 0; shift < 32; shift += 8) {
        hash = Math.imul(hash ^ ((part >>> shift) & 255), FNV_PRIME);
      }
      const other = seen.get(hash);
      if (other !== undefined && other !== part) {
        basis = hash;
        return [words(other), words(part)];
      }
      seen.set(hash, part);
    }
  };
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** Of an odd factor modulo 2^32: each step doubles the bits that are right. */
function inverseOf(factor: number): number {
  let inverse = factor;
  for (let step = 0; step < 5; step++) {
    inverse = Math.imul(inverse, 2 - Math.imul(factor, inverse));
  }
  return inverse;
}
