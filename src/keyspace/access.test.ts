/** Clocks and counters of use against a naive model of Redis's arithmetic. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import {
  frequencyAt,
  idleSeconds,
  LFU_INITIAL,
  LFU_MAX,
  lfuAccess,
  lfuMinutes,
  lruClock,
  usedAgain,
} from "./access.ts";

test("clocks are the low bits of unix time", () => {
  assert.equal(lruClock(0), 0);
  assert.equal(lruClock(999), 0);
  assert.equal(lruClock(2 ** 24 * 1000 - 1), 2 ** 24 - 1);
  assert.equal(lruClock(2 ** 24 * 1000), 0);
  assert.equal(lruClock(1_700_000_000_123), 1_700_000_000 % 2 ** 24);
  assert.equal(lfuMinutes(59_999), 0);
  assert.equal(lfuMinutes(65_535 * 60_000), 65_535);
  assert.equal(lfuMinutes(65_536 * 60_000), 0);
});

test("idle time is right before and after the clock wraps", () => {
  assert.equal(idleSeconds(100, 100), 0);
  assert.equal(idleSeconds(100, 350), 250);
  // Redis takes the clock's largest value, not one more, for a round.
  assert.equal(idleSeconds(2 ** 24 - 1, 0), 0);
  assert.equal(idleSeconds(2 ** 24 - 11, 9), 19);
  assert.equal(idleSeconds(1, 0), 2 ** 24 - 2);
});

test("a counter falls by one for each whole period, never below zero", () => {
  const then = lfuAccess(1000, 20);
  assert.equal(frequencyAt(then, 1000, 1), 20);
  assert.equal(frequencyAt(then, 1007, 1), 13);
  assert.equal(frequencyAt(then, 1007, 3), 18);
  assert.equal(frequencyAt(then, 1020, 1), 0);
  assert.equal(frequencyAt(then, 1500, 1), 0);
  assert.equal(frequencyAt(then, 1500, 0), 20);
  // Behind the wrap: 65535 - 65530 + 3 minutes.
  assert.equal(frequencyAt(lfuAccess(65_530, 20), 3, 1), 12);
  assert.equal(frequencyAt(lfuAccess(65_530, 255), 3, 2 ** 31 - 1), 255);
});

/** What Redis does, written down once more: counter and minutes apart, the chance as a fraction. */
function model(
  counter: number,
  then: number,
  now: number,
  decay: number,
  factor: number,
  draw: number,
): number {
  let left = counter;
  let passed = now - then;
  if (passed < 0) passed += 65_535;
  if (decay > 0) for (let n = Math.floor(passed / decay); n > 0 && left > 0; n--) left--;
  if (left === 255) return left;
  const chance = 1 / ((left > LFU_INITIAL ? left - LFU_INITIAL : 0) * factor + 1);
  return draw / 2 ** 32 < chance ? left + 1 : left;
}

test("a use decays the counter first and then raises it with Redis's chance", () => {
  const seed = testSeed(301);
  const random = new Random(seed);
  for (let n = 0; n < 20_000; n++) {
    const counter = random.below(256);
    const then = random.below(65_536);
    const now = random.chance(0.5) ? random.below(65_536) : (then + random.below(300)) & 65_535;
    const decayMinutes = random.pick([0, 1, 1, 5, 1000]);
    const logFactor = random.pick([0, 1, 10, 100, 2 ** 31 - 1]);
    const draw = random.chance(0.2) ? random.below(2) * (2 ** 32 - 1) : random.u32();
    const source = { u32: () => draw, below: () => 0 };
    const after = usedAgain(lfuAccess(then, counter), now, { logFactor, decayMinutes }, source);
    assert.equal(after >>> 8, now, seedText(seed));
    const expected = model(counter, then, now, decayMinutes, logFactor, draw);
    assert.equal(after & 0xff, expected, seedText(seed));
  }
});

test("the counter saturates, and more slowly with a larger factor", () => {
  const seed = testSeed(302);
  const random = new Random(seed);
  const after = (uses: number, logFactor: number): number => {
    let access = lfuAccess(7, LFU_INITIAL);
    for (let n = 0; n < uses; n++) {
      access = usedAgain(access, 7, { logFactor, decayMinutes: 1 }, random);
    }
    return access & 0xff;
  };
  const mean = (logFactor: number): number => {
    let sum = 0;
    for (let n = 0; n < 30; n++) sum += after(1000, logFactor);
    return sum / 30;
  };
  assert.equal(after(1000, 0), LFU_MAX);
  // The table in Redis's own configuration file: 1000 uses, 18 at factor 10, 11 at 100, 49 at 1.
  // One counter deviates by up to 4 from the mean, so that of 30 is within six deviations.
  assert.ok(Math.abs(mean(1) - 49) < 5, seedText(seed));
  assert.ok(Math.abs(mean(10) - 18) < 4, seedText(seed));
  assert.ok(Math.abs(mean(100) - 11) < 3, seedText(seed));
  assert.equal(after(1_000_000, 1), LFU_MAX);
});
