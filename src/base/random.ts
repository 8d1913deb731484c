/**
 * A seeded generator (sfc32): the same seed gives the same numbers on every machine, which is what
 * replayable tests and the simulator rest on. Fast and well mixed, but not for secrets.
 */

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  /** Any number or text is a seed; a number is the same seed as its decimal text. */
  constructor(seed: number | string) {
    let mixed = 0x9e3779b9 | 0;
    const text = String(seed);
    for (let i = 0; i < text.length; i++) {
      mixed = Math.imul(mixed ^ text.charCodeAt(i), 0x85ebca6b);
      mixed = (mixed << 13) | (mixed >>> 19);
    }
    this.#a = mixed;
    this.#b = mixed ^ 0x3c6ef372;
    this.#c = text.length;
    this.#counter = 1;
    // Seeds that differ in few bits have parted after a dozen steps.
    for (let i = 0; i < 15; i++) this.u32();
  }

  /** A whole number from 0 to 2^32 - 1. */
  u32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A whole number from 0 to `limit - 1`, all equally likely; `limit` from 1 to 2^53. */
  below(limit: number): number {
    if (limit > 0x100000000) return Math.floor(this.float() * limit);
    // Numbers from the last, incomplete run of `limit` would favour the small ones.
    const whole = 0x100000000 - (0x100000000 % limit);
    let draw = this.u32();
    while (draw >= whole) draw = this.u32();
    return draw % limit;
  }

  /** A number in [0, 1) with 53 random bits. */
  float(): number {
    const high = this.u32() >>> 5;
    return (high * 0x4000000 + (this.u32() >>> 6)) / 0x20000000000000;
  }

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    let word = 0;
    for (let i = 0; i < count; i++) {
      if ((i & 3) === 0) word = this.u32();
      bytes[i] = word;
      word >>>= 8;
    }
    return bytes;
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}
