/**
 * Random calls whose results can be checked by whoever makes them, while other threads make the
 * same: counters, pairs that are always set together, tokens that are only moved, keys that carry
 * their own time of expiry, and long values of one letter.
 */
import assert from "node:assert/strict";
import type { Store } from "../../src/index.ts";
import type { Random } from "../support/random.ts";

export const COUNTERS = 7;
const PAIRS = 5;
const TOKENS = 4;
const PLACES: readonly string[] = Array.from({ length: 12 }, (_, i) => `place:${i}`);
const EXPIRING = 6;
const LONGS = 3;

export function begin(store: Store): void {
  for (let i = 0; i < TOKENS; i++) store.set(`place:${i}`, `token:${i}`);
}

/** What one thread has counted, by counter. */
export class Checker {
  readonly counted: number[] = new Array<number>(COUNTERS).fill(0);
  readonly #store: Store;
  readonly #random: Random;
  readonly #name: string;
  #calls = 0;

  constructor(store: Store, random: Random, name: string) {
    this.#store = store;
    this.#random = random;
    this.#name = name;
  }

  run(count: number): void {
    for (let i = 0; i < count; i++) this.#one();
  }

  #one(): void {
    this.#calls++;
    const draw = this.#random.below(100);
    if (draw < 35) this.#count();
    else if (draw < 55) this.#pair();
    else if (draw < 75) this.#move();
    else if (draw < 95) this.#expire();
    else this.#long();
  }

  #count(): void {
    const i = this.#random.below(COUNTERS);
    const before = this.counted[i] as number;
    const n = Number(this.#store.incr(`count:${i}`));
    this.counted[i] = before + 1;
    assert.ok(n > before, "a counter went backwards");
  }

  #pair(): void {
    const i = this.#random.below(PAIRS);
    const keys = [`left:${i}`, `right:${i}`] as const;
    if (this.#random.chance(0.5)) {
      const value = `${this.#name}:${this.#calls}`;
      this.#store.mset({ [keys[0]]: value, [keys[1]]: value });
    } else {
      const [left, right] = this.#store.mget(...keys);
      assert.equal(left, right, "half of an MSET was seen");
    }
  }

  #move(): void {
    const store = this.#store;
    if (this.#random.chance(0.2)) {
      const there = store.mget(...PLACES).filter((token) => token !== null);
      assert.equal(new Set(there).size, TOKENS, "a token was lost or doubled in a RENAMENX");
      return;
    }
    const [from, to] = [this.#random.pick(PLACES), this.#random.pick(PLACES)];
    try {
      store.renamenx(from, to);
    } catch (error) {
      // Another thread may have moved it since.
      assert.match(String(error), /no such key/);
    }
  }

  #expire(): void {
    const key = `expiring:${this.#random.below(EXPIRING)}`;
    if (this.#random.chance(0.4)) {
      const at = Date.now() + this.#random.below(8) + 1;
      this.#store.set(key, String(at), { PXAT: at });
      return;
    }
    const before = Date.now();
    const at = this.#store.get(key);
    assert.ok(at === null || before <= Number(at), "a key was seen after its time");
  }

  #long(): void {
    const key = `long:${this.#random.below(LONGS)}`;
    if (this.#random.chance(0.5)) {
      const letter = String.fromCharCode(97 + this.#random.below(26));
      this.#store.set(key, letter.repeat(this.#random.between(60_000, 150_000)));
      return;
    }
    const text = this.#store.get(key);
    assert.ok(text === null || text === text[0]?.repeat(text.length), "a long value is mixed");
  }
}
