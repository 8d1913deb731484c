/**
 * The seeded generator with what only tests choose by it. A failing test prints `seedText(seed)`;
 * with that in ZEROHOP_TEST_SEED the run repeats.
 */
import { Random as BaseRandom } from "../../src/base/random.ts";

export class Random extends BaseRandom {
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  override bytes(length: number): Buffer {
    return Buffer.from(super.bytes(length).buffer);
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

/** Runs `body` with a generator, and prints how to repeat it if it throws. */
export function seeded(seed: number, body: (random: Random) => void): void {
  const used = testSeed(seed);
  try {
    body(new Random(used));
  } catch (e) {
    console.error(seedText(used));
    throw e;
  }
}
