/**
 * Commands on strings, as methods. Keys and values are text, which is stored as UTF-8, or bytes;
 * methods named ...Buffer return bytes as they are. Integers are numbers while those are exact,
 * else bigint.
 */
import { checkOptions, kindOf, optionKinds } from "./checks.ts";
import { KeyMethods } from "./key-methods.ts";
import { commandName } from "./request.ts";
import type { Text, Word } from "./types.ts";

const APPEND = commandName("APPEND");
const DECR = commandName("DECR");
const DECRBY = commandName("DECRBY");
const GET = commandName("GET");
const GETDEL = commandName("GETDEL");
const GETEX = commandName("GETEX");
const GETRANGE = commandName("GETRANGE");
const GETSET = commandName("GETSET");
const INCR = commandName("INCR");
const INCRBY = commandName("INCRBY");
const INCRBYFLOAT = commandName("INCRBYFLOAT");
const LCS = commandName("LCS");
const MGET = commandName("MGET");
const MSET = commandName("MSET");
const MSETNX = commandName("MSETNX");
const PSETEX = commandName("PSETEX");
const SET = commandName("SET");
const SETEX = commandName("SETEX");
const SETNX = commandName("SETNX");
const SETRANGE = commandName("SETRANGE");
const STRLEN = commandName("STRLEN");

const EXPIRY = ["EX", "PX", "EXAT", "PXAT"] as const;
const SET_OPTIONS = optionKinds(EXPIRY, ["KEEPTTL", "NX", "XX", "GET"]);
const SET_EXAMPLE = "set(key, value, { EX: 60 })";
const GETEX_OPTIONS = optionKinds(EXPIRY, ["PERSIST"]);
const GETEX_EXAMPLE = "getex(key, { EX: 60 })";

/** At most one of these. */
export type ExpiryOptions = {
  /** Seconds from now. */
  EX?: number | undefined;
  /** Milliseconds from now. */
  PX?: number | undefined;
  /** Unix time in seconds. */
  EXAT?: number | undefined;
  /** Unix time in milliseconds. */
  PXAT?: number | undefined;
};

export type SetOptions = ExpiryOptions & {
  /** Leave the expiry of the old value. */
  KEEPTTL?: boolean | undefined;
  /** Only if there is no such key. */
  NX?: boolean | undefined;
  /** Only if there is such a key. */
  XX?: boolean | undefined;
  /** Return the old value. */
  GET?: boolean | undefined;
};

export type GetexOptions = ExpiryOptions & {
  /** Take the expiry away. */
  PERSIST?: boolean | undefined;
};

/** What `mset` takes: an object, a Map, or any list of pairs. */
export type Pairs = Readonly<Record<string, Text>> | Iterable<readonly [Text, Text]>;

export class StringMethods extends KeyMethods {
  /** The value, or null without a key. */
  get(key: Text): string | null {
    const { caller } = this;
    caller.begin(GET);
    caller.add(key);
    caller.runTimeless();
    return caller.reader.text();
  }

  /** As `get`, with the bytes as they are. */
  getBuffer(key: Text): Buffer | null {
    const { caller } = this;
    caller.begin(GET);
    caller.add(key);
    caller.runTimeless();
    return caller.reader.buffer();
  }

  /** With GET: the old value, or null. */
  set(key: Text, value: Text, options: SetOptions & { GET: true }): string | null;
  /** "OK", or null if NX or XX did not hold. */
  set(key: Text, value: Text, options?: SetOptions & { GET?: false | undefined }): "OK" | null;
  /** "OK", or null if NX or XX did not hold; with GET, the old value or null. */
  set(key: Text, value: Text, options?: SetOptions): string | null;
  set(key: Text, value: Text, options?: SetOptions): string | null {
    const { caller } = this;
    if (options !== undefined) {
      return caller.reply(SET, false, setWords(key, value, options)) as string | null;
    }
    caller.begin(SET);
    caller.add(key);
    caller.add(value);
    caller.runTimeless();
    return caller.reader.isOk() ? "OK" : null;
  }

  /** SET with GET: the old value, or null. */
  setGetBuffer(key: Text, value: Text, options: SetOptions = {}): Buffer | null {
    const words = setWords(key, value, options);
    if (options.GET !== true) words.push("GET");
    return this.caller.reply(SET, true, words) as Buffer | null;
  }

  /** False if there is such a key already. */
  setnx(key: Text, value: Text): boolean {
    return this.caller.integer(SETNX, key, value) === 1;
  }

  /** SET with EX. */
  setex(key: Text, seconds: number, value: Text): "OK" {
    return this.caller.reply(SETEX, false, [key, seconds, value]) as "OK";
  }

  /** SET with PX. */
  psetex(key: Text, milliseconds: number, value: Text): "OK" {
    return this.caller.reply(PSETEX, false, [key, milliseconds, value]) as "OK";
  }

  /** Sets a value and returns the old one. */
  getset(key: Text, value: Text): string | null {
    return this.caller.reply(GETSET, false, [key, value]) as string | null;
  }

  getsetBuffer(key: Text, value: Text): Buffer | null {
    return this.caller.reply(GETSET, true, [key, value]) as Buffer | null;
  }

  /** Gets a value and removes its key. */
  getdel(key: Text): string | null {
    return this.caller.reply(GETDEL, false, [key]) as string | null;
  }

  getdelBuffer(key: Text): Buffer | null {
    return this.caller.reply(GETDEL, true, [key]) as Buffer | null;
  }

  /** Gets a value and changes its expiry; without options, as `get`. */
  getex(key: Text, options: GetexOptions = {}): string | null {
    return this.caller.reply(GETEX, false, getexWords(key, options)) as string | null;
  }

  getexBuffer(key: Text, options: GetexOptions = {}): Buffer | null {
    return this.caller.reply(GETEX, true, getexWords(key, options)) as Buffer | null;
  }

  /** The values of all keys as of one moment; null for each that has no string. */
  mget(...keys: Text[]): (string | null)[] {
    return this.caller.reply(MGET, false, keys) as (string | null)[];
  }

  mgetBuffer(...keys: Text[]): (Buffer | null)[] {
    return this.caller.reply(MGET, true, keys) as (Buffer | null)[];
  }

  /** Sets all pairs in one moment: nobody sees a part of them. */
  mset(pairs: Pairs): "OK" {
    return this.caller.reply(MSET, false, pairWords(pairs)) as "OK";
  }

  /** As `mset`, unless one of the keys is there already. */
  msetnx(pairs: Pairs): boolean {
    return this.caller.reply(MSETNX, false, pairWords(pairs)) === 1;
  }

  /** Adds 1 to a whole number, 0 without a key. The new value is a bigint from 2^53 on. */
  incr(key: Text): number | bigint {
    return this.caller.integer(INCR, key);
  }

  /** Takes 1 from it, as `incr`. */
  decr(key: Text): number | bigint {
    return this.caller.integer(DECR, key);
  }

  /** Adds to a whole number, as `incr`. */
  incrby(key: Text, increment: number | bigint): number | bigint {
    return this.caller.integer(INCRBY, key, increment);
  }

  /** Takes from a whole number, as `incr`. */
  decrby(key: Text, decrement: number | bigint): number | bigint {
    return this.caller.integer(DECRBY, key, decrement);
  }

  /** The new value as Redis writes it, up to 17 digits behind the point. */
  incrbyfloat(key: Text, increment: number | string): string {
    return this.caller.reply(INCRBYFLOAT, false, [key, increment]) as string;
  }

  /** Bytes of the value then. */
  append(key: Text, value: Text): number {
    return this.caller.integer(APPEND, key, value) as number;
  }

  /** Bytes of the value, 0 without a key. */
  strlen(key: Text): number {
    return this.caller.integer(STRLEN, key) as number;
  }

  /** Bytes `start` to `end`, both included; negative ones count from the end. */
  getrange(key: Text, start: number, end: number): string {
    return this.caller.reply(GETRANGE, false, [key, start, end]) as string;
  }

  getrangeBuffer(key: Text, start: number, end: number): Buffer {
    return this.caller.reply(GETRANGE, true, [key, start, end]) as Buffer;
  }

  /** Writes over a value from byte `offset` on; bytes of the value then. */
  setrange(key: Text, offset: number, value: Text): number {
    return this.caller.integer(SETRANGE, key, offset, value) as number;
  }

  /** The longest common subsequence of two values. */
  lcs(key1: Text, key2: Text): string {
    return this.caller.reply(LCS, false, [key1, key2]) as string;
  }

  lcsBuffer(key1: Text, key2: Text): Buffer {
    return this.caller.reply(LCS, true, [key1, key2]) as Buffer;
  }

  /** Its length in bytes. */
  lcsLength(key1: Text, key2: Text): number {
    return this.caller.reply(LCS, false, [key1, key2, "LEN"]) as number;
  }
}

/** Options are read before a call begins: to read one may run code of the caller's. */
function setWords(key: Text, value: Text, options: SetOptions): Word[] {
  checkOptions(options, SET_OPTIONS, SET_EXAMPLE);
  const words: Word[] = [key, value];
  if (options.NX === true) words.push("NX");
  if (options.XX === true) words.push("XX");
  if (options.GET === true) words.push("GET");
  if (options.KEEPTTL === true) words.push("KEEPTTL");
  addExpiry(words, options);
  return words;
}

function addExpiry(words: Word[], options: ExpiryOptions): void {
  for (const name of EXPIRY) {
    const time = options[name];
    if (time !== undefined) words.push(name, time);
  }
}

function getexWords(key: Text, options: GetexOptions): Word[] {
  checkOptions(options, GETEX_OPTIONS, GETEX_EXAMPLE);
  const words: Word[] = [key];
  if (options.PERSIST === true) words.push("PERSIST");
  addExpiry(words, options);
  return words;
}

function pairWords(pairs: Pairs): Text[] {
  if (typeof pairs !== "object" || pairs === null || ArrayBuffer.isView(pairs)) {
    throw new TypeError(`pairs are ${kindOf(pairs)}: an object, a Map or a list of [key, value]`);
  }
  const words: Text[] = [];
  const list = Symbol.iterator in pairs ? pairs : Object.entries(pairs);
  for (const pair of list as Iterable<readonly [Text, Text]>) {
    if (!Array.isArray(pair) || pair.length !== 2) {
      throw new TypeError(`pair ${words.length / 2 + 1} is ${kindOf(pair)}: write [key, value]`);
    }
    words.push(pair[0], pair[1]);
  }
  return words;
}
