/**
 * Commands on keys of any type and on databases, as methods. Every method is the Redis command of
 * its name: its errors are thrown as StoreError.
 */
import type { Caller } from "./caller.ts";
import { checkOptions, INSPECT, optionKinds } from "./checks.ts";
import { commandName } from "./request.ts";
import type { Text, Word } from "./types.ts";

const COPY = commandName("COPY");
const DBSIZE = commandName("DBSIZE");
const DEL = commandName("DEL");
const EXISTS = commandName("EXISTS");
const EXPIRE = commandName("EXPIRE");
const EXPIREAT = commandName("EXPIREAT");
const EXPIRETIME = commandName("EXPIRETIME");
const FLUSHALL = commandName("FLUSHALL");
const FLUSHDB = commandName("FLUSHDB");
const KEYS = commandName("KEYS");
const MOVE = commandName("MOVE");
const OBJECT = commandName("OBJECT");
const PERSIST = commandName("PERSIST");
const PEXPIRE = commandName("PEXPIRE");
const PEXPIREAT = commandName("PEXPIREAT");
const PEXPIRETIME = commandName("PEXPIRETIME");
const PTTL = commandName("PTTL");
const RANDOMKEY = commandName("RANDOMKEY");
const RENAME = commandName("RENAME");
const RENAMENX = commandName("RENAMENX");
const SCAN = commandName("SCAN");
const SWAPDB = commandName("SWAPDB");
const TOUCH = commandName("TOUCH");
const TTL = commandName("TTL");
const TYPE = commandName("TYPE");
const UNLINK = commandName("UNLINK");

const SCAN_OPTIONS = optionKinds(["MATCH", "COUNT", "TYPE"], []);
const COPY_OPTIONS = optionKinds(["DB"], ["REPLACE"]);

/** When EXPIRE and its like apply: no expiry yet, one already, later than it, earlier than it. */
export type ExpireCondition = "NX" | "XX" | "GT" | "LT";

export type ScanOptions = {
  /** A glob pattern. */
  MATCH?: Text | undefined;
  /** How many keys to look at in one call; 10 if not said. */
  COUNT?: number | undefined;
  /** Only keys of this type. */
  TYPE?: string | undefined;
};

/** `cursor` is "0" when the walk is over. */
export type ScanPage<Key> = { cursor: string; keys: Key[] };

export type CopyOptions = { DB?: number | undefined; REPLACE?: boolean | undefined };

export class KeyMethods {
  /** @internal A symbol cannot be cloned: to post a store itself fails with these words. */
  protected readonly posted: symbol = Symbol("a store goes to a thread as store.handle");

  /** @internal What prints, compares or serializes objects must not walk through the heap. */
  declare protected readonly caller: Caller;

  /** @internal */
  constructor(caller: Caller) {
    Object.defineProperties(this, {
      caller: { value: caller },
      [INSPECT]: { value: () => this.shown() },
    });
  }

  /** @internal */
  protected shown(): string {
    return `Database { db: ${this.caller.session.db} }`;
  }

  /** How many of the keys there were. */
  del(...keys: Text[]): number {
    return this.caller.integer(DEL, ...keys) as number;
  }

  /** As `del`. */
  unlink(...keys: Text[]): number {
    return this.caller.integer(UNLINK, ...keys) as number;
  }

  /** How many of the keys there are; one that is named twice counts twice. */
  exists(...keys: Text[]): number {
    return this.caller.integer(EXISTS, ...keys) as number;
  }

  /** Marks keys as used; how many of them there are. */
  touch(...keys: Text[]): number {
    return this.caller.integer(TOUCH, ...keys) as number;
  }

  /** "string", or "none" for a key that is not there. */
  type(key: Text): string {
    return this.caller.reply(TYPE, false, [key]) as string;
  }

  /** All keys that match a glob pattern. Looks at every key: `scanIterator` does it in pieces. */
  keys(pattern: Text): string[] {
    return this.caller.reply(KEYS, false, [pattern]) as string[];
  }

  keysBuffer(pattern: Text): Buffer[] {
    return this.caller.reply(KEYS, true, [pattern]) as Buffer[];
  }

  /** One step of a walk over all keys, which begins and ends with cursor "0". */
  scan(cursor: string | number, options: ScanOptions = {}): ScanPage<string> {
    const [next, keys] = this.caller.reply(SCAN, false, scanWords(cursor, options)) as [
      string,
      string[],
    ];
    return { cursor: next, keys };
  }

  scanBuffer(cursor: string | number, options: ScanOptions = {}): ScanPage<Buffer> {
    const [next, keys] = this.caller.reply(SCAN, true, scanWords(cursor, options)) as [
      Buffer,
      Buffer[],
    ];
    return { cursor: next.toString("latin1"), keys };
  }

  /**
   * Walks over all keys, a few at a time. Keys that are there all the while come once at least;
   * others may come or not.
   */
  *scanIterator(options: ScanOptions = {}): Generator<string, void, undefined> {
    let cursor = "0";
    do {
      const page = this.scan(cursor, options);
      yield* page.keys;
      cursor = page.cursor;
    } while (cursor !== "0");
  }

  *scanBufferIterator(options: ScanOptions = {}): Generator<Buffer, void, undefined> {
    let cursor = "0";
    do {
      const page = this.scanBuffer(cursor, options);
      yield* page.keys;
      cursor = page.cursor;
    } while (cursor !== "0");
  }

  /** Any key, null if there is none. */
  randomkey(): string | null {
    return this.caller.reply(RANDOMKEY, false, []) as string | null;
  }

  randomkeyBuffer(): Buffer | null {
    return this.caller.reply(RANDOMKEY, true, []) as Buffer | null;
  }

  /** Throws if there is no such key. */
  rename(key: Text, newKey: Text): "OK" {
    return this.caller.reply(RENAME, false, [key, newKey]) as "OK";
  }

  /** False if `newKey` is there already. */
  renamenx(key: Text, newKey: Text): boolean {
    return this.caller.integer(RENAMENX, key, newKey) === 1;
  }

  /** False if there is no source, or a destination and no REPLACE. */
  copy(source: Text, destination: Text, options: CopyOptions = {}): boolean {
    checkOptions(options, COPY_OPTIONS, "copy(source, destination, { REPLACE: true })");
    const words: Word[] = [source, destination];
    if (options.DB !== undefined) words.push("DB", options.DB);
    if (options.REPLACE === true) words.push("REPLACE");
    return this.caller.integer(COPY, ...words) === 1;
  }

  /** Moves a key to another database; false if it is not here, or there already. */
  move(key: Text, db: number): boolean {
    return this.caller.integer(MOVE, key, db) === 1;
  }

  /** Lets a key expire in so many seconds; false if there is none or the condition does not hold. */
  expire(key: Text, seconds: number, condition?: ExpireCondition): boolean {
    return this.expireBy(EXPIRE, key, seconds, condition);
  }

  /** As `expire`, in milliseconds. */
  pexpire(key: Text, milliseconds: number, condition?: ExpireCondition): boolean {
    return this.expireBy(PEXPIRE, key, milliseconds, condition);
  }

  /** As `expire`, at a unix time in seconds. */
  expireat(key: Text, unixSeconds: number, condition?: ExpireCondition): boolean {
    return this.expireBy(EXPIREAT, key, unixSeconds, condition);
  }

  /** As `expire`, at a unix time in milliseconds. */
  pexpireat(key: Text, unixMilliseconds: number, condition?: ExpireCondition): boolean {
    return this.expireBy(PEXPIREAT, key, unixMilliseconds, condition);
  }

  /** @internal */
  private expireBy(name: number, key: Text, time: number, condition?: ExpireCondition): boolean {
    const n =
      condition === undefined
        ? this.caller.integer(name, key, time)
        : this.caller.integer(name, key, time, condition);
    return n === 1;
  }

  /** Seconds left; -1 without expiry, -2 without a key. */
  ttl(key: Text): number {
    return this.caller.integer(TTL, key) as number;
  }

  /** Milliseconds left; -1 without expiry, -2 without a key. */
  pttl(key: Text): number {
    return this.caller.integer(PTTL, key) as number;
  }

  /** Unix time in seconds at which a key expires; -1 without expiry, -2 without a key. */
  expiretime(key: Text): number {
    return this.caller.integer(EXPIRETIME, key) as number;
  }

  /** As `expiretime`, in milliseconds. */
  pexpiretime(key: Text): number {
    return this.caller.integer(PEXPIRETIME, key) as number;
  }

  /** Takes the expiry away; false if there is none. */
  persist(key: Text): boolean {
    return this.caller.integer(PERSIST, key) === 1;
  }

  /** Keys of this database, those that have expired and nobody met included. */
  dbsize(): number {
    return this.caller.integer(DBSIZE) as number;
  }

  /** Removes all keys of this database; their memory is freed in the background. */
  flushdb(): "OK" {
    return this.caller.reply(FLUSHDB, false, []) as "OK";
  }

  /** Removes all keys of all databases. */
  flushall(): "OK" {
    return this.caller.reply(FLUSHALL, false, []) as "OK";
  }

  /** Exchanges two databases. */
  swapdb(a: number, b: number): "OK" {
    return this.caller.reply(SWAPDB, false, [a, b]) as "OK";
  }

  /** How the value is kept: "int", "embstr", "raw"; null without a key. */
  objectEncoding(key: Text): string | null {
    return this.caller.reply(OBJECT, false, ["ENCODING", key]) as string | null;
  }

  /** Seconds since the key was used; null without a key. */
  objectIdletime(key: Text): number | null {
    return this.caller.reply(OBJECT, false, ["IDLETIME", key]) as number | null;
  }

  /** How often the key was used, on a logarithmic scale; under an LFU policy only. */
  objectFreq(key: Text): number | null {
    return this.caller.reply(OBJECT, false, ["FREQ", key]) as number | null;
  }

  /** How many refer to the value; null without a key. */
  objectRefcount(key: Text): number | null {
    return this.caller.reply(OBJECT, false, ["REFCOUNT", key]) as number | null;
  }
}

function scanWords(cursor: string | number, options: ScanOptions): Word[] {
  checkOptions(options, SCAN_OPTIONS, 'scan(cursor, { MATCH: "user:*" })');
  const words: Word[] = [cursor];
  if (options.MATCH !== undefined) words.push("MATCH", options.MATCH);
  if (options.COUNT !== undefined) words.push("COUNT", options.COUNT);
  if (options.TYPE !== undefined) words.push("TYPE", options.TYPE);
  return words;
}
