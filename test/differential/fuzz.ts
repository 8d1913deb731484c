/**
 * Runs a sequence of commands on two servers and finds the first reply, or the key at the end, that
 * differs; and makes a failing sequence short before it is shown.
 */

import type { RespClient } from "../support/resp.ts";
import { integerOf, type Reply, show, textsOf } from "../support/resp-parser.ts";
import { allowed } from "./allowlist.ts";
import { ruleFor } from "./compare.ts";
import type { Step } from "./script.ts";

export type Pair = { redis: RespClient; ours: RespClient };

export type Difference = { index: number; what: string; ours: string; redis: string };

/** Expiries of random calls differ by 100 seconds or more; a busy machine may delay a server. */
const TIME_TOLERANCE_MS = 10_000;
const SHRINK_RUNS = 300;

/** The first difference among the replies; both sides get the commands in one write each. */
export async function runBatch(
  pair: Pair,
  commands: readonly (readonly string[])[],
): Promise<Difference | undefined> {
  const [redis, ours] = await Promise.all([
    pair.redis.pipeline(commands),
    pair.ours.pipeline(commands),
  ]);
  for (const [index, command] of commands.entries()) {
    const expected = redis[index];
    const actual = ours[index];
    if (expected === undefined || actual === undefined) throw new Error("a reply is missing");
    if (expected.raw.equals(actual.raw)) continue;
    if (isSame(command, expected.reply, actual.reply)) continue;
    const what = quoteCommand(command);
    return { index, what, ours: show(actual.reply), redis: show(expected.reply) };
  }
  return undefined;
}

function isSame(command: readonly string[], redis: Reply, ours: Reply): boolean {
  const line = command.map((arg) => arg.toUpperCase()).join(" ");
  const [, ms] = /^(P?)(TTL|EXPIRETIME) /.exec(line) ?? [];
  if (ms !== undefined && redis.mark === ":" && ours.mark === ":") {
    const unit = ms === "P" ? 1 : 1000;
    return sameExpiry(integerOf(redis) * unit, integerOf(ours) * unit);
  }
  const rest = { addresses: [], spans: [] };
  if (ruleFor(line)?.same({ reply: redis, ...rest }, { reply: ours, ...rest }) === true) {
    return true;
  }
  const step: Step = { connection: 1, args: [...command], line: command.join(" ") };
  return allowed(step, ours);
}

/** Compares every key of the first databases by type, value, encoding and expiry. */
export async function compareKeyspaces(pair: Pair, databases: number): Promise<string[]> {
  const found: string[] = [];
  for (let database = 0; database < databases; database++) {
    const [redis, ours] = await Promise.all([
      describeDatabase(pair.redis, database),
      describeDatabase(pair.ours, database),
    ]);
    if (redis.size !== redis.keys.size) found.push(`redis: DBSIZE ${redis.size} is not its keys`);
    if (ours.size !== ours.keys.size) found.push(`ours: DBSIZE ${ours.size} is not its keys`);
    for (const key of new Set([...redis.keys.keys(), ...ours.keys.keys()])) {
      const expected = redis.keys.get(key);
      const actual = ours.keys.get(key);
      const isEqual =
        expected !== undefined &&
        actual !== undefined &&
        expected.text === actual.text &&
        sameExpiry(expected.pttl, actual.pttl);
      if (isEqual) continue;
      const shown = JSON.stringify(key);
      found.push(
        `database ${database}, key ${shown}\n` +
          `      ours:  ${actual?.text} PTTL ${actual?.pttl}\n` +
          `      redis: ${expected?.text} PTTL ${expected?.pttl}`,
      );
    }
  }
  await Promise.all([pair.redis.call("SELECT", 0), pair.ours.call("SELECT", 0)]);
  return found;
}

type KeyState = { text: string; pttl: number };

async function describeDatabase(
  client: RespClient,
  database: number,
): Promise<{ size: number; keys: Map<string, KeyState> }> {
  await client.call("SELECT", database);
  const size = integerOf((await client.call("DBSIZE")).reply);
  const keys = new Map<string, KeyState>();
  for (const key of textsOf((await client.call("KEYS", "*")).reply)) {
    const frames = await client.pipeline([
      ["TYPE", key],
      ["OBJECT", "ENCODING", key],
      ["GET", key],
      ["PTTL", key],
    ]);
    const texts = frames.map((frame) => show(frame.reply));
    const pttl = integerOf((frames[3] as { reply: Reply }).reply);
    keys.set(key, { text: texts.slice(0, 3).join(" "), pttl });
  }
  return { size, keys };
}

function sameExpiry(redis: number, ours: number): boolean {
  if (redis < 0 || ours < 0) return redis === ours;
  return Math.abs(redis - ours) <= TIME_TOLERANCE_MS;
}

/** From empty databases: the first difference of replies, else the differing keys at the end. */
async function replay(
  pair: Pair,
  commands: readonly (readonly string[])[],
  databases: number,
): Promise<string | undefined> {
  await Promise.all(
    [pair.redis, pair.ours].map((client) => client.pipeline([["RESET"], ["FLUSHALL"]])),
  );
  const difference = await runBatch(pair, commands);
  if (difference !== undefined) {
    return `${difference.what}\n      ours:  ${difference.ours}\n      redis: ${difference.redis}`;
  }
  return (await compareKeyspaces(pair, databases))[0];
}

/** Removes what is not needed for the sequence to fail, and tells how it fails. */
export async function shrink(
  pair: Pair,
  commands: readonly (readonly string[])[],
  databases: number,
): Promise<string> {
  let current = [...commands];
  let failure = await replay(pair, current, databases);
  if (failure === undefined) {
    const tail = current.slice(-30).map(quoteCommand).join("\n    ");
    return `not reproduced on one connection; the last commands were\n    ${tail}`;
  }
  let runs = 0;
  for (let size = Math.ceil(current.length / 2); size >= 1 && runs < SHRINK_RUNS; ) {
    let removed = false;
    for (let at = 0; at < current.length && runs < SHRINK_RUNS; runs++) {
      const shorter = [...current.slice(0, at), ...current.slice(at + size)];
      const still = shorter.length > 0 ? await replay(pair, shorter, databases) : undefined;
      if (still === undefined) {
        at += size;
      } else {
        current = shorter;
        failure = still;
        removed = true;
      }
    }
    if (size === 1 && !removed) break;
    size = removed && size > 1 ? Math.min(size, Math.ceil(current.length / 2)) : size >> 1;
  }
  return `${current.map(quoteCommand).join("\n    ")}\n    -> ${failure}`;
}

function quoteCommand(command: readonly string[]): string {
  return command.map((arg) => (/^[!-~]+$/.test(arg) ? arg : escape(arg))).join(" ");
}

function escape(text: string): string {
  const body = text.replace(/[^ -~]|["\\]/g, (char) => {
    if (char === '"' || char === "\\") return `\\${char}`;
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `"${body}"`;
}
