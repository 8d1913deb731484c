/**
 * The seeded generator of the tests (mulberry32) and the choices made with it. A failing test
 * prints `seedText(seed)`; with that in ZEROHOP_TEST_SEED the run repeats.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  u32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** 0 <= result < limit. */
  below(limit: number): number {
    return Math.floor((this.u32() / 2 ** 32) * limit);
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.u32() / 2 ** 32 < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error("pick from nothing");
    return items[this.below(items.length)] as T;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) bytes[i] = this.u32() & 255;
    return bytes;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }
}

/** The seed to use: the one asked for, else `fallback`. */
export function testSeed(fallback: number): number {
  const asked = process.env["ZEROHOP_TEST_SEED"];
  return asked === undefined ? fallback : Number(asked);
}

export function seedText(seed: number): string {
  return `repeat with ZEROHOP_TEST_SEED=${seed}`;
}
