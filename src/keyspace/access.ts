/**
 * What a record remembers of its use, in 24 bits: the LRU clock, or with an LFU policy a counter.
 *
 *   LRU   unix seconds, the low 24 bits
 *   LFU   16 bits unix minutes of the last use, 8 bits counter
 *
 * The counter is logarithmic: the more uses it stands for, the less likely one more raises it. It
 * falls by one for every so many minutes without a use; that is worked out when it is looked at.
 * All arithmetic is Redis's, also where a clock wraps. Changing the policy converts nothing: what
 * was written by the other one is read as if it were right, until the key is used again.
 */
import type { RandomSource } from "../env/env.ts";

export const ACCESS_MASK = 0xffffff;
/** Counter of a new key, so that it is not the first to go. */
export const LFU_INITIAL = 5;
export const LFU_MAX = 255;

const LRU_CLOCK_MAX = 0xffffff;
const MINUTES_MASK = 0xffff;
const U32 = 0x100000000;

export type LfuSettings = {
  /** How much harder each step of the counter is: `lfu-log-factor`. */
  logFactor: number;
  /** Minutes per step down, 0 for never: `lfu-decay-time`. */
  decayMinutes: number;
};

export function lruClock(unixMs: number): number {
  return Math.floor(unixMs / 1000) & ACCESS_MASK;
}

/** Seconds between a use and the LRU clock. */
export function idleSeconds(access: number, clock: number): number {
  return clock >= access ? clock - access : clock + (LRU_CLOCK_MAX - access);
}

/** The LRU clock of a use that was so many seconds ago. */
export function accessBefore(clock: number, idle: number): number {
  const then = clock - idle;
  return (then < 0 ? then + LRU_CLOCK_MAX : then) & ACCESS_MASK;
}

export function lfuMinutes(unixMs: number): number {
  return Math.floor(unixMs / 60_000) & MINUTES_MASK;
}

export function lfuAccess(minutes: number, counter: number): number {
  return (minutes << 8) | counter;
}

/** The counter as it stands at these minutes. */
export function frequencyAt(access: number, minutes: number, decayMinutes: number): number {
  const counter = access & 0xff;
  if (decayMinutes === 0) return counter;
  const then = access >>> 8;
  const passed = minutes >= then ? minutes - then : MINUTES_MASK - then + minutes;
  return Math.max(0, counter - Math.floor(passed / decayMinutes));
}

/** What a record remembers after one more use. */
export function usedAgain(
  access: number,
  minutes: number,
  settings: LfuSettings,
  random: RandomSource,
): number {
  const counter = frequencyAt(access, minutes, settings.decayMinutes);
  if (counter === LFU_MAX) return lfuAccess(minutes, counter);
  const base = Math.max(0, counter - LFU_INITIAL);
  const isRaised = random.u32() * (base * settings.logFactor + 1) < U32;
  return lfuAccess(minutes, isRaised ? counter + 1 : counter);
}
