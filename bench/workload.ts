/**
 * The requests of the own generator, as bytes that are built once and patched in place.
 *
 * Measured commands use redis-benchmark's key names (`key:` or `counter:` and 12 digits), so both
 * generators can work on the same data. A batch is `pipeline` requests in one buffer; before each
 * send the 12 digits of every key are overwritten with a new random index. The buffer may be
 * reused because a connection sends its next batch only after the last reply to the one before.
 */
import { keySlot } from "../src/base/crc16.ts";
import type { BenchCommand } from "./options.ts";
import { MissingFigure } from "./stats.ts";

const KEY_DIGITS = 12;
const MSET_KEYS = 10;
/** Every tenth request of MIX is a SET. */
const MIX_PERIOD = 10;

export function keyPrefix(command: BenchCommand): string {
  return command === "INCR" ? "counter:" : "key:";
}

export function paddedKey(prefix: string, index: number): string {
  return prefix + String(index).padStart(KEY_DIGITS, "0");
}

/** The value the loader writes and the generator writes again: GET replies can be compared. */
export function valueText(bytes: number): string {
  return "x".repeat(bytes);
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

/** How a batch's replies are told complete: by bytes when they are known, else by lines. */
export interface Expected {
  readonly bytes: number | undefined;
  readonly lines: number;
  /** The exact reply, where it is known. */
  readonly text: string | undefined;
}

export interface Batch {
  readonly buffer: Buffer;
  /** Where the digits of each key are, in order. */
  readonly digitOffsets: readonly number[];
  readonly expected: Expected;
}

function request(
  command: BenchCommand,
  value: string,
): { text: string; reply: string | undefined } {
  const key = bulk(paddedKey(keyPrefix(command), 0));
  switch (command) {
    case "GET":
      return { text: `*2\r\n$3\r\nGET\r\n${key}`, reply: bulk(value) };
    case "SET":
      return { text: `*3\r\n$3\r\nSET\r\n${key}${bulk(value)}`, reply: "+OK\r\n" };
    case "INCR":
      return { text: `*2\r\n$4\r\nINCR\r\n${key}`, reply: undefined };
    case "MSET": {
      const pairs = (key + bulk(value)).repeat(MSET_KEYS);
      return { text: `*${1 + 2 * MSET_KEYS}\r\n$4\r\nMSET\r\n${pairs}`, reply: "+OK\r\n" };
    }
    case "MIX":
      throw new Error("MIX is made of GET and SET");
  }
}

export function buildBatch(command: BenchCommand, pipeline: number, valueBytes: number): Batch {
  const value = valueText(valueBytes);
  let text = "";
  let reply: string | undefined = "";
  for (let i = 0; i < pipeline; i++) {
    const mixed = i % MIX_PERIOD === MIX_PERIOD - 1 ? "SET" : "GET";
    const one = request(command === "MIX" ? mixed : command, value);
    text += one.text;
    reply = one.reply === undefined || reply === undefined ? undefined : reply + one.reply;
  }
  const digitOffsets: number[] = [];
  const marker = paddedKey(keyPrefix(command), 0);
  for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + marker.length)) {
    digitOffsets.push(at + marker.length - KEY_DIGITS);
  }
  return {
    buffer: Buffer.from(text, "latin1"),
    digitOffsets,
    expected: { bytes: reply?.length, lines: pipeline, text: reply },
  };
}

/** How many of a key's digits ever differ from 0 among `keys` keys. */
export function digitsOf(keys: number): number {
  return String(Math.max(0, keys - 1)).length;
}

/** Overwrites the last `digits` of the 12 digits at `offset` with `index`; those before stay 0. */
export function writeDigits(buffer: Buffer, offset: number, digits: number, index: number): void {
  const last = offset + KEY_DIGITS - 1;
  let rest = index | 0;
  for (let at = last; at > last - digits; at--) {
    const next = (rest / 10) | 0;
    buffer[at] = 48 + rest - next * 10;
    rest = next;
  }
}

/** A seeded xorshift32: the same seed gives the same keys in the same order. */
export class KeyPicker {
  readonly #keys: number;
  readonly #own: Uint32Array | undefined;
  #state: number;

  /** `own` limits the choice to these indexes (the keys of one shard owner). */
  constructor(seed: number, keys: number, own: Uint32Array | undefined) {
    this.#state = seed | 0 || 1;
    this.#keys = own === undefined ? keys : own.length;
    this.#own = own;
  }

  next(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    const index = Math.floor(((x >>> 0) / 0x1_0000_0000) * this.#keys);
    return this.#own === undefined ? index : (this.#own[index] as number);
  }
}

/** Indexes of the keys whose slot belongs to `owner` of `owners`. */
export function ownedKeys(
  prefix: string,
  keys: number,
  owner: number,
  owners: number,
): Uint32Array {
  const owned: number[] = [];
  for (let index = 0; index < keys; index++) {
    const key = Buffer.from(paddedKey(prefix, index), "latin1");
    if ((keySlot(key, 0, key.length) * owners) >> 14 === owner) owned.push(index);
  }
  if (owned.length === 0) {
    throw new MissingFigure(`owner ${owner} of ${owners} has none of ${keys} keys`);
  }
  return Uint32Array.from(owned);
}

/** Sequential requests that fill or empty a keyspace; each is answered with `reply`. */
export interface FillKind {
  readonly reply: string;
  text(index: number): string;
}

function setText(key: string, value: string): string {
  return `*3\r\n$3\r\nSET\r\n${bulk(key)}${bulk(value)}`;
}

/** Keys as redis-benchmark names them; `value` for all of them. */
export function paddedFill(prefix: string, value: string): FillKind {
  const tail = bulk(value);
  const head = `*3\r\n$3\r\nSET\r\n$${prefix.length + KEY_DIGITS}\r\n`;
  return { reply: "+OK\r\n", text: (index) => `${head}${paddedKey(prefix, index)}\r\n${tail}` };
}

export const MODELS = ["int", "embstr", "raw"] as const;
export type Model = (typeof MODELS)[number];

/** Values of the memory model: decimal i, `v<i>` padded to 16 bytes, 256 bytes. */
export function modelValue(model: Model, index: number): string {
  if (model === "int") return String(index);
  return `v${index}`.padEnd(model === "embstr" ? 16 : 256, "x");
}

/** The memory model: keys `key:<i>` in decimal. */
export function modelFill(model: Model): FillKind {
  return {
    reply: "+OK\r\n",
    text: (index) => setText(`key:${index}`, modelValue(model, index)),
  };
}

export function modelDelete(): FillKind {
  return { reply: ":1\r\n", text: (index) => `*2\r\n$3\r\nDEL\r\n${bulk(`key:${index}`)}` };
}
