/**
 * Conversations made of ordinary requests and then damaged. Only commands whose replies depend on
 * nothing but the requests before them, so that two servers must answer the same bytes.
 */
import type { Random } from "../support/random.ts";
import { encodeCommand } from "../support/resp.ts";

const KEYS = ["a", "b", "c", "", "\x00"];
const VALUES = ["", "0", "1", "-7", "text", "9223372036854775807", "1.5", "\r\n", "x".repeat(100)];

const MAKERS: readonly ((random: Random) => string[])[] = [
  () => ["PING"],
  (random) => ["PING", random.pick(VALUES)],
  (random) => ["ECHO", random.pick(VALUES)],
  (random) => ["GET", random.pick(KEYS)],
  (random) => ["SET", random.pick(KEYS), random.pick(VALUES)],
  (random) => ["SET", random.pick(KEYS), random.pick(VALUES), "NX", "GET"],
  (random) => ["APPEND", random.pick(KEYS), random.pick(VALUES)],
  (random) => ["INCRBY", random.pick(KEYS), random.pick(VALUES)],
  (random) => ["MSET", random.pick(KEYS), "1", random.pick(KEYS), "2"],
  (random) => ["MGET", ...KEYS, random.pick(KEYS)],
  (random) => ["DEL", random.pick(KEYS), random.pick(KEYS)],
  (random) => ["EXISTS", random.pick(KEYS)],
  (random) => ["STRLEN", random.pick(KEYS)],
  (random) => ["GETRANGE", random.pick(KEYS), random.pick(VALUES), random.pick(VALUES)],
  (random) => ["RENAME", random.pick(KEYS), random.pick(KEYS)],
  (random) => ["TYPE", random.pick(KEYS)],
  (random) => ["SETRANGE", random.pick(KEYS), random.pick(["0", "7", "-1"]), random.pick(VALUES)],
  (random) => ["INCRBYFLOAT", random.pick(KEYS), random.pick(VALUES)],
  (random) => ["COPY", random.pick(KEYS), random.pick(KEYS), "REPLACE"],
  (random) => ["MSETNX", random.pick(KEYS), random.pick(VALUES), random.pick(KEYS), "3"],
  (random) => ["GETDEL", random.pick(KEYS)],
  (random) => ["GETSET", random.pick(KEYS), random.pick(VALUES)],
  (random) => ["LCS", random.pick(KEYS), random.pick(KEYS), "LEN"],
  (random) => ["SET", random.pick(KEYS), random.pick(VALUES), "KEEPTTL", "GET"],
  (random) => ["PERSIST", random.pick(KEYS)],
  (random) => ["RENAMENX", random.pick(KEYS), random.pick(KEYS)],
  (random) => ["UNLINK", ...KEYS.slice(random.below(5))],
  (random) => ["SELECT", random.pick(["0", "1", "16", "-1", "text"])],
  (random) => ["NOSUCH", random.pick(VALUES)],
];

const PIECES = [
  "\r\n",
  "\n",
  "\r",
  "*",
  "$",
  "*0\r\n",
  "*-1\r\n",
  "$-1\r\n",
  '"',
  "'",
  "\x00",
  " ",
];
const NUMBERS = ["0", "-1", "1", "3", "65536", "1048577", "536870912", "536870913", "99999999999"];

export type Conversation = { bytes: string; requests: number };

export function makeConversation(random: Random): Conversation {
  const requests = random.between(1, 12);
  let bytes = "";
  for (let i = 0; i < requests; i++) {
    const words = random.pick(MAKERS)(random);
    const inline = random.chance(0.2) && words.every((word) => /^[\w.-]+$/.test(word));
    bytes += inline ? `${words.join(" ")}\r\n` : encodeCommand(words).toString("latin1");
  }
  for (let damage = random.below(4); damage > 0; damage--) bytes = spoil(bytes, random);
  return { bytes, requests };
}

/** Bytes that never were a request. */
export function makeNoise(random: Random): string {
  const bytes = random.bytes(random.between(1, 300)).toString("latin1");
  return random.chance(0.5) ? bytes : `${random.pick(PIECES)}${bytes}\r\n`;
}

function spoil(bytes: string, random: Random): string {
  const at = random.below(bytes.length + 1);
  const to = Math.min(bytes.length, at + random.between(1, 12));
  const ways: readonly (() => string)[] = [
    () => bytes.slice(0, at),
    () => bytes.slice(0, at) + bytes.slice(to),
    () => bytes.slice(0, to) + bytes.slice(at),
    () => bytes.slice(0, at) + random.pick(PIECES) + bytes.slice(at),
    () =>
      bytes.slice(0, at) + random.bytes(random.between(1, 3)).toString("latin1") + bytes.slice(to),
    () => bytes.slice(0, at) + bytes.slice(at).replace(/\d+/, random.pick(NUMBERS)),
    () => bytes.slice(0, at) + bytes.slice(at).toLowerCase(),
  ];
  return random.pick(ways)();
}
