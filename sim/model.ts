/**
 * What the simulated server is compared with: string keys in a Map, and for each command of the
 * workload the exact reply. Written from the commands' documentation, without regard for speed.
 */

type Entry = { value: string; expiresMs: number };

const OK = "+OK\r\n";
const NIL = "$-1\r\n";
const NOT_AN_INTEGER = "-ERR value is not an integer or out of range\r\n";
const NO_SUCH_KEY = "-ERR no such key\r\n";
const INT64_MAX = 2n ** 63n - 1n;

type Handler = (model: Model, words: readonly string[]) => string;

function integer(n: number | bigint): string {
  return `:${n}\r\n`;
}

function bulk(text: string | undefined): string {
  return text === undefined ? NIL : `$${text.length}\r\n${text}\r\n`;
}

/** An integer as INCR reads one, or null. */
function parseInteger(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const n = BigInt(text);
  return n > INT64_MAX || n < -INT64_MAX - 1n ? null : n;
}

function set(model: Model, words: readonly string[]): string {
  const [, key = "", value = "", px, ms] = words;
  model.put(key, value, px === undefined ? 0 : model.nowMs + Number(ms));
  return OK;
}

function increase(model: Model, key: string, by: bigint): string {
  const old = model.find(key);
  const n = parseInteger(old?.value ?? "0");
  if (n === null) return NOT_AN_INTEGER;
  const sum = n + by;
  if (sum > INT64_MAX || sum < -INT64_MAX - 1n) {
    return "-ERR increment or decrement would overflow\r\n";
  }
  model.put(key, String(sum), old?.expiresMs ?? 0);
  return integer(sum);
}

function count(model: Model, keys: readonly string[]): number {
  return keys.filter((key) => model.find(key) !== undefined).length;
}

function rename(model: Model, words: readonly string[]): string {
  const [, from = "", to = ""] = words;
  const entry = model.find(from);
  if (entry === undefined) return NO_SUCH_KEY;
  model.keys.delete(from);
  model.keys.set(to, entry);
  return OK;
}

function copy(model: Model, words: readonly string[]): string {
  const [, from = "", to = ""] = words;
  if (from === to) return "-ERR source and destination objects are the same\r\n";
  const entry = model.find(from);
  const isFree = model.find(to) === undefined || words[3] === "REPLACE";
  if (entry === undefined || !isFree) return integer(0);
  model.put(to, entry.value, entry.expiresMs);
  return integer(1);
}

function expire(model: Model, key: string, ms: number): string {
  const entry = model.find(key);
  if (entry === undefined) return integer(0);
  if (ms <= 0) model.keys.delete(key);
  else entry.expiresMs = model.nowMs + ms;
  return integer(1);
}

function append(model: Model, words: readonly string[]): string {
  const [, key = "", more = ""] = words;
  const old = model.find(key);
  const value = (old?.value ?? "") + more;
  model.put(key, value, old?.expiresMs ?? 0);
  return integer(value.length);
}

function setRange(model: Model, words: readonly string[]): string {
  const [, key = "", at = "", piece = ""] = words;
  const old = model.find(key);
  const before = (old?.value ?? "").padEnd(Number(at), "\0");
  const value = before.slice(0, Number(at)) + piece + before.slice(Number(at) + piece.length);
  model.put(key, value, old?.expiresMs ?? 0);
  return integer(value.length);
}

const HANDLERS: Record<string, Handler> = {
  PING: () => "+PONG\r\n",
  SET: set,
  GET: (model, words) => bulk(model.find(words[1] ?? "")?.value),
  STRLEN: (model, words) => integer(model.find(words[1] ?? "")?.value.length ?? 0),
  INCR: (model, words) => increase(model, words[1] ?? "", 1n),
  DECRBY: (model, words) => increase(model, words[1] ?? "", -BigInt(words[2] ?? "")),
  EXISTS: (model, words) => integer(count(model, words.slice(1))),
  DEL: (model, words) => {
    let removed = 0;
    for (const key of words.slice(1)) {
      removed += model.find(key) === undefined ? 0 : 1;
      model.keys.delete(key);
    }
    return integer(removed);
  },
  MSET: (model, words) => {
    for (let i = 1; i < words.length; i += 2) model.put(words[i] ?? "", words[i + 1] ?? "", 0);
    return OK;
  },
  MGET: (model, words) => {
    const values = words.slice(1).map((key) => bulk(model.find(key)?.value));
    return `*${values.length}\r\n${values.join("")}`;
  },
  RENAME: rename,
  COPY: copy,
  APPEND: append,
  SETRANGE: setRange,
  PEXPIRE: (model, words) => expire(model, words[1] ?? "", Number(words[2])),
  EXPIRE: (model, words) => expire(model, words[1] ?? "", Number(words[2]) * 1000),
  PERSIST: (model, words) => {
    const entry = model.find(words[1] ?? "");
    if (entry === undefined || entry.expiresMs === 0) return integer(0);
    entry.expiresMs = 0;
    return integer(1);
  },
  PTTL: (model, words) => {
    const entry = model.find(words[1] ?? "");
    if (entry === undefined) return integer(-2);
    return integer(entry.expiresMs === 0 ? -1 : entry.expiresMs - model.nowMs);
  },
  FLUSHALL: (model) => {
    model.keys.clear();
    return OK;
  },
};

export class Model {
  readonly keys: Map<string, Entry> = new Map();
  nowMs = 0;

  /** The reply to a request at a time. */
  run(words: readonly string[], nowMs: number): string {
    this.nowMs = nowMs;
    const handler = HANDLERS[words[0] ?? ""];
    if (handler === undefined) throw new Error(`the model does not know ${words[0]}`);
    return handler(this, words);
  }

  find(key: string): Entry | undefined {
    const entry = this.keys.get(key);
    // A key lives through the very millisecond of its expiry.
    if (entry === undefined || entry.expiresMs === 0 || entry.expiresMs >= this.nowMs) return entry;
    this.keys.delete(key);
    return undefined;
  }

  put(key: string, value: string, expiresMs: number): void {
    this.keys.set(key, { value, expiresMs });
  }

  /** Requests whose replies show all keys. */
  probes(): string[][] {
    return [...this.keys.keys()].flatMap((key) => [
      ["GET", key],
      ["PTTL", key],
    ]);
  }
}
