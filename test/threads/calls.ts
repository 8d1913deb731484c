/**
 * Calls of which the reply tells whether another thread's call was seen half done: each comes with
 * a check of its reply. Counters lose nothing, pairs are set and read together, a key that is
 * renamed is always in one place, values are of one letter throughout.
 */
import assert from "node:assert/strict";
import type { Random } from "../support/random.ts";
import type { Argument } from "../support/resp.ts";
import { integerOf, itemsOf, type Reply, show, textOf, textsOf } from "../support/resp-parser.ts";

export const COUNTERS = 4;
const PAIRS = 4;
const COPIES = 3;
const TEXTS = 3;
const SHORT_LIVED = 6;
const TEXT_MAX = 100_000;
/** Lengths on both sides of where a string moves into large blocks. */
const COPY_LENGTHS: readonly number[] = [1, 40, 900, 5000, 65_536, 65_537, 90_000];

export type Call = { words: Argument[]; check(reply: Reply): void };

/** What all connections of a run share. */
export type Run = {
  /** Replies of INCR, for each counter: no two may be equal. */
  counted: Set<number>[];
};

function expectShown(words: Argument[], expected: RegExp): Call {
  const check = (reply: Reply): void => assert.match(show(reply), expected);
  return { words, check };
}

export function newRun(): Run {
  return { counted: Array.from({ length: COUNTERS }, () => new Set<number>()) };
}

function incr(random: Random, run: Run): Call {
  const i = random.below(COUNTERS);
  const check = (reply: Reply): void => {
    const value = integerOf(reply);
    const seen = run.counted[i] as Set<number>;
    assert.ok(!seen.has(value), `counter ${i} was ${value} twice`);
    seen.add(value);
  };
  return { words: ["INCR", `{count:${i}}`], check };
}

function pair(random: Random): Call {
  const i = random.below(PAIRS);
  if (random.chance(0.5)) {
    const value = random.chance(0.1) ? "v".repeat(random.below(3000)) : random.u32();
    return expectShown(["MSET", `{a:${i}}`, value, `{b:${i}}`, value], /^\+OK$/);
  }
  const check = (reply: Reply): void => {
    const [a, b] = textsOf(reply);
    assert.equal(a, b, `half of the MSET of pair ${i}`);
  };
  return { words: ["MGET", `{a:${i}}`, `{b:${i}}`], check };
}

function rename(random: Random): Call {
  const way = random.below(4);
  if (way < 2) {
    const check = (reply: Reply): void => assert.equal(integerOf(reply), 1, "the renamed key");
    return { words: ["EXISTS", "{x}", "{y}"], check };
  }
  const words = way === 2 ? ["RENAME", "{x}", "{y}"] : ["RENAME", "{y}", "{x}"];
  return expectShown(words, /^(\+OK|-ERR no such key)$/);
}

/** Values of one letter throughout: a mixture of two would show. */
function copy(random: Random): Call {
  const i = random.below(COPIES);
  const key = `{copy:${i}}`;
  const way = random.below(4);
  if (way === 0) {
    const letter = String.fromCharCode(97 + random.below(26));
    return expectShown(["SET", key, letter.repeat(random.pick(COPY_LENGTHS))], /^\+OK$/);
  }
  if (way === 1) {
    const other = `{copy:${(i + 1) % COPIES}}`;
    return expectShown(["COPY", key, other, "REPLACE"], /^:[01]$/);
  }
  const check = (reply: Reply): void => {
    const text = textOf(reply);
    assert.ok(COPY_LENGTHS.includes(text.length), `${text.length} bytes`);
    assert.ok(text === text.charAt(0).repeat(text.length), `a mixture in ${key}`);
  };
  return { words: ["GET", key], check };
}

function text(random: Random): Call {
  const key = `{text:${random.below(TEXTS)}}`;
  const piece = "t".repeat(random.between(1, random.chance(0.2) ? 20_000 : 200));
  const way = random.below(5);
  if (way === 0) {
    const offset = random.below(TEXT_MAX - piece.length);
    const check = (reply: Reply): void =>
      assert.ok(integerOf(reply) >= offset + piece.length, "SETRANGE made it too short");
    return { words: ["SETRANGE", key, offset, piece], check };
  }
  if (way === 1) return expectShown(["DEL", key], /^:[01]$/);
  if (way === 2) {
    const check = (reply: Reply): void => assert.match(textOf(reply), /^[t\0]*$/);
    return { words: ["GETRANGE", key, random.below(TEXT_MAX), -1], check };
  }
  const check = (reply: Reply): void => assert.ok(integerOf(reply) >= piece.length, "APPEND");
  return { words: ["APPEND", key, piece], check };
}

function shortLived(random: Random): Call {
  const key = `{brief:${random.below(SHORT_LIVED)}}`;
  const way = random.below(4);
  if (way === 0) return expectShown(["SET", key, key, "PX", random.between(1, 30)], /^\+OK$/);
  if (way === 1) return expectShown(["DEL", key, "{brief:0}"], /^:[012]$/);
  const check = (reply: Reply): void => assert.ok([`$"${key}"`, "$nil"].includes(show(reply)));
  return { words: ["GET", key], check };
}

function otherDatabase(random: Random): Call[] {
  const how = random.pick(["SYNC", "ASYNC"]);
  const flush: Call[] = random.chance(0.5) ? [expectShown(["FLUSHDB", how], /^\+OK$/)] : [];
  return [
    expectShown(["SELECT", 1], /^\+OK$/),
    expectShown(["SET", `{a:${random.below(PAIRS)}}`, "z".repeat(random.below(70_000))], /^\+OK$/),
    ...flush,
    expectShown(["SELECT", 0], /^\+OK$/),
  ];
}

function scan(random: Random): Call {
  const check = (reply: Reply): void => {
    const [cursor, keys] = itemsOf(reply);
    assert.match(textOf(cursor as Reply), /^\d+$/);
    for (const key of textsOf(keys as Reply)) assert.match(key, /^\{[a-z]+(:\d)?\}$/);
  };
  return { words: ["SCAN", random.chance(0.5) ? 0 : random.u32(), "COUNT", 20], check };
}

export function nextCalls(random: Random, run: Run): Call[] {
  const draw = random.below(100);
  if (draw < 30) return [incr(random, run)];
  if (draw < 55) return [pair(random)];
  if (draw < 70) return [rename(random)];
  if (draw < 78) return [copy(random)];
  if (draw < 85) return [text(random)];
  if (draw < 93) return [shortLived(random)];
  if (draw < 97) return [scan(random)];
  return otherDatabase(random);
}

/** What must be there before the first call. */
export function firstCall(): Argument[] {
  const words: Argument[] = ["MSET", "{x}", "here"];
  for (let i = 0; i < PAIRS; i++) words.push(`{a:${i}}`, 0, `{b:${i}}`, 0);
  for (let i = 0; i < COPIES; i++) words.push(`{copy:${i}}`, "a");
  return words;
}

/** Throws with the call and what came back unless the reply is right. */
export function checkCall(call: Call, reply: Reply): void {
  try {
    call.check(reply);
  } catch (error) {
    const words = call.words.join(" ").slice(0, 100);
    const what = `${words} -> ${show(reply).slice(0, 100)}`;
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}
