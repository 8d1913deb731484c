/** The requests of the simulated clients: few keys in different slots, so that they collide. */
import type { Random } from "../src/base/random.ts";

const KEYS = 24;
/** On both sides of where a string moves into large blocks, and of small classes. */
const LENGTHS: readonly number[] = [0, 1, 7, 8, 60, 300, 4000, 20_000, 65_536, 65_537, 80_000];
const OFFSET_MAX = 70_000;

type Make = (random: Random) => string[];

function key(random: Random): string {
  return `key:${random.below(KEYS)}`;
}

function counter(random: Random): string {
  return `counter:${random.below(4)}`;
}

function value(random: Random): string {
  if (random.chance(0.3)) return String(random.below(1000) - 500);
  const length = random.chance(0.1) ? random.pick(LENGTHS) : random.below(100);
  // Bytes that the protocol itself uses must pass too.
  return random.pick(["ab", "\r\n", "\0\xff", "$1\r\n"]).repeat(length).slice(0, length);
}

function several(random: Random, make: () => string[]): string[] {
  return Array.from({ length: 1 + random.below(6) }, make).flat();
}

const MAKERS: readonly Make[] = [
  () => ["PING"],
  (random) => ["SET", key(random), value(random)],
  (random) => ["SET", key(random), value(random)],
  (random) => ["SET", key(random), value(random), "PX", String(1 + random.below(3000))],
  (random) => ["GET", key(random)],
  (random) => ["GET", key(random)],
  (random) => ["STRLEN", key(random)],
  (random) => ["INCR", counter(random)],
  (random) => ["INCR", random.chance(0.5) ? counter(random) : key(random)],
  (random) => ["DECRBY", counter(random), String(random.below(100))],
  (random) => ["DEL", ...several(random, () => [key(random)])],
  (random) => ["EXISTS", ...several(random, () => [key(random)])],
  (random) => ["MSET", ...several(random, () => [key(random), value(random)])],
  (random) => ["MGET", ...several(random, () => [key(random)])],
  (random) => ["RENAME", key(random), key(random)],
  (random) => ["COPY", key(random), key(random), ...(random.chance(0.7) ? ["REPLACE"] : [])],
  (random) => ["APPEND", key(random), value(random)],
  (random) => ["SETRANGE", key(random), String(random.below(OFFSET_MAX)), "piece"],
  (random) => ["PEXPIRE", key(random), String(random.below(3000) - 100)],
  (random) => ["EXPIRE", key(random), String(random.below(20))],
  (random) => ["PERSIST", key(random)],
  (random) => ["PTTL", key(random)],
];

const FLUSH_CHANCE = 0.005;

export function nextRequest(random: Random): string[] {
  if (random.chance(FLUSH_CHANCE)) return ["FLUSHALL", random.pick(["SYNC", "ASYNC"])];
  return random.pick(MAKERS)(random);
}
