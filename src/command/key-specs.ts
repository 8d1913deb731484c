/**
 * Key specs: where the keys of a command are. They follow from the argument grammar
 * (`deriveKeySpecs`), are summed up as first key, last key and step (`plainRangeOf`), and find the
 * keys of a call (`findKeys`).
 *
 * Positions count the command name as 0, and for a subcommand the container's name as 0.
 */
import type { Args } from "../base/args.ts";
import type { Argument, KeyFlag, KeySpec } from "./grammar.ts";
import { extentOf } from "./grammar.ts";

/** Index in this table = bit number, in the order in which COMMAND INFO lists them. */
export const KEY_FLAG_NAMES: readonly KeyFlag[] = [
  "RO",
  "RW",
  "OW",
  "RM",
  "access",
  "update",
  "insert",
  "delete",
  "not_key",
  "incomplete",
  "variable_flags",
];

export const KEY_RO: number = 1 << 0;
export const KEY_RW: number = 1 << 1;
export const KEY_OW: number = 1 << 2;
export const KEY_ACCESS: number = 1 << 4;
export const KEY_UPDATE: number = 1 << 5;
const KEY_NOT_KEY: number = 1 << 8;
const KEY_INCOMPLETE: number = 1 << 9;

export function keyFlagBitsOf(flags: readonly KeyFlag[]): number {
  let bits = 0;
  for (const flag of flags) bits |= 1 << KEY_FLAG_NAMES.indexOf(flag);
  return bits;
}

/** The keys found in a call: positions in its `Args` and what is done with each. Reusable. */
export class KeyList {
  count = 0;
  at: Int32Array = new Int32Array(16);
  flags: Int32Array = new Int32Array(16);

  clear(): void {
    this.count = 0;
  }

  push(at: number, flags: number): void {
    if (this.count === this.at.length) {
      this.at = doubled(this.at);
      this.flags = doubled(this.flags);
    }
    this.at[this.count] = at;
    this.flags[this.count] = flags;
    this.count++;
  }
}

function doubled(from: Int32Array): Int32Array {
  const to = new Int32Array(from.length * 2);
  to.set(from);
  return to;
}

/** For a command whose keys, or what it does with them, no key spec can describe. */
export type KeyFinder = (args: Args, base: number, out: KeyList) => void;

type Walk = { specs: KeySpec[]; trailing: number };

/**
 * Key specs in the order of the key arguments. `words` is 1 or 2, the words of the name. Throws
 * where the place of a key does not follow from the grammar: such a spec must say `keys`.
 */
export function deriveKeySpecs(words: number, args: readonly Argument[]): KeySpec[] {
  const walk: Walk = { specs: [], trailing: 0 };
  walkArguments(walk, args, words, true, 0);
  return walk.specs;
}

/** `fixed`: everything before `position` has a fixed length. `after`: words that must follow. */
function walkArguments(
  walk: Walk,
  args: readonly Argument[],
  position: number,
  fixed: boolean,
  after: number,
): void {
  let at = position;
  let isFixed = fixed;
  for (let i = 0; i < args.length; i++) {
    const of = args[i] as Argument;
    const rest = extentOf(args.slice(i + 1));
    if (holdsKey(of)) {
      if (of.token !== undefined) addKeywordSpec(walk, of, at);
      else addIndexSpec(walk, of, args[i - 1], at, isFixed, rest.least + after, rest.most + after);
    }
    const own = extentOf([of]);
    at += own.least;
    if (own.least !== own.most) isFixed = false;
  }
}

function holdsKey(of: Argument): boolean {
  return of.type === "key" || (of.parts?.some(holdsKey) ?? false);
}

function specOf(of: Argument, begin: KeySpec["begin"], find: KeySpec["find"]): KeySpec {
  const notes = of.keyNotes === undefined ? {} : { notes: of.keyNotes };
  return { flags: of.keyFlags ?? [], begin, find, ...notes };
}

/** Keys without a token before them: at a fixed position, in a range or counted by `numkeys`. */
function addIndexSpec(
  walk: Walk,
  of: Argument,
  before: Argument | undefined,
  at: number,
  isFixed: boolean,
  restLeast: number,
  restMost: number,
): void {
  if (!isFixed && !isCount(before)) throw new Error(`the position of ${of.name} is not fixed`);
  if (of.type === "key" && isCount(before)) {
    const find = { type: "keynum", countAt: 0, first: 1, step: 1 } as const;
    walk.specs.push(specOf(of, { type: "index", index: at - 1 }, find));
    return;
  }
  const last = -1 - restLeast;
  if (of.multiple && restLeast !== restMost) {
    throw new Error(`${of.name} repeats and what follows it has no fixed length`);
  }
  if (of.type === "key") {
    const find = { type: "range", last: of.multiple ? last : 0, step: 1, limit: 0 } as const;
    walk.specs.push(specOf(of, { type: "index", index: at }, find));
    return;
  }
  if (of.type !== "block") throw new Error(`keys inside ${of.name} do not follow from the grammar`);
  const parts = of.parts ?? [];
  if (!of.multiple) {
    walkArguments(walk, parts, at, true, restLeast);
    return;
  }
  const { least, most } = extentOf(parts);
  const index = parts.findIndex(holdsKey);
  const inner = parts[index] as Argument;
  if (least !== most || inner.type !== "key" || inner.multiple) {
    throw new Error(`keys inside ${of.name} do not follow from the grammar`);
  }
  const offset = extentOf(parts.slice(0, index)).least;
  const find = { type: "range", last, step: least, limit: 0 } as const;
  walk.specs.push(specOf(inner, { type: "index", index: at + offset }, find));
}

/** Keys after a token that may be anywhere from `at` on, as in `STORE destination`. */
function addKeywordSpec(walk: Walk, of: Argument, at: number): void {
  const begin = { type: "keyword", keyword: of.token as string, from: at } as const;
  if (of.type === "key") {
    const last = of.multiple ? -1 : 0;
    walk.specs.push(specOf(of, begin, { type: "range", last, step: 1, limit: 0 }));
    return;
  }
  const parts = of.parts ?? [];
  const first = parts[0];
  const halves = parts.length === 2 && parts.every(({ multiple }) => multiple);
  if (of.type !== "block" || first?.type !== "key" || !halves) {
    throw new Error(`keys inside ${of.name} do not follow from the grammar`);
  }
  walk.specs.push(specOf(first, begin, { type: "range", last: -1, step: 1, limit: 2 }));
}

function isCount(of: Argument | undefined): boolean {
  return of?.type === "integer" && of.name === "numkeys";
}

/** `last` is relative to `first`, negative from the end; `first` 0 means no keys in plain form. */
export type PlainRange = { first: number; last: number; step: number; movable: boolean };

/**
 * First key, last key and step as COMMAND INFO shows them. Adjacent single ranges are joined;
 * whatever does not fit makes the command "movablekeys". `last` is absolute, negative from the end.
 */
export function plainRangeOf(specs: readonly KeySpec[]): PlainRange {
  const only = specs[0];
  if (only === undefined) return { first: 0, last: 0, step: 0, movable: false };
  if (specs.length === 1 && only.begin.type === "index" && only.find.type === "range") {
    const first = only.begin.index;
    const last = only.find.last < 0 ? only.find.last : first + only.find.last;
    return { first, last, step: only.find.step, movable: only.flags.includes("incomplete") };
  }
  let first = 0;
  let last = 0;
  let movable = false;
  for (const { begin, find } of specs) {
    const joins =
      begin.type === "index" &&
      find.type === "range" &&
      find.step === 1 &&
      (last === 0 || last === begin.index - 1);
    if (!joins) {
      movable = true;
      continue;
    }
    if (first === 0 || begin.index < first) first = begin.index;
    const end = find.last < 0 ? find.last : begin.index + find.last;
    // A range that runs to the end is further than any absolute position.
    last = Math.max(last >>> 0, end >>> 0) | 0;
  }
  return { first, last, step: first === 0 ? 0 : 1, movable };
}

/** What `findKeys` found. */
export const KEYS_FOUND = 0;
/** The specs cannot tell, or the call is malformed (the handler will say so): the list is empty. */
export const KEYS_UNKNOWN = 1;

/**
 * Appends the keys of the call that starts at `args[base]`. Specs that are no keys (channels) are
 * left out. As in Redis an invalid count or a position past the end makes the call keyless here.
 */
export function findKeys(
  specs: readonly KeySpec[],
  flagBits: Int32Array,
  args: Args,
  base: number,
  out: KeyList,
): number {
  const before = out.count;
  for (let i = 0; i < specs.length; i++) {
    const bits = flagBits[i] as number;
    if (bits & KEY_NOT_KEY) continue;
    const found = findKeysOfOne(specs[i] as KeySpec, bits, args, base, out);
    if (found === KEYS_FOUND && !(bits & KEY_INCOMPLETE)) continue;
    out.count = before;
    return KEYS_UNKNOWN;
  }
  return KEYS_FOUND;
}

function findKeysOfOne(
  spec: KeySpec,
  bits: number,
  args: Args,
  base: number,
  out: KeyList,
): number {
  const count = args.count - base;
  let first = beginOf(spec, args, base, count);
  if (first === NOT_THERE) return KEYS_FOUND;
  const { find } = spec;
  if (first < 0 || find.type === "unknown") return KEYS_UNKNOWN;
  let last: number;
  if (find.type === "range") {
    if (find.last >= 0) last = first + find.last;
    else if (find.limit === 0) last = count + find.last;
    else last = first + Math.trunc((count - first) / find.limit) + find.last;
  } else {
    if (first + find.countAt >= count) return KEYS_UNKNOWN;
    const keys = readCount(args, base + first + find.countAt);
    first += find.first;
    last = first + keys - 1;
  }
  if (last >= count || last < first || first >= count) return KEYS_UNKNOWN;
  for (let at = first; at <= last; at += find.step) out.push(base + at, bits);
  return KEYS_FOUND;
}

const NOT_THERE = -1;
const CANNOT_TELL = -2;

function beginOf(spec: KeySpec, args: Args, base: number, count: number): number {
  const { begin } = spec;
  if (begin.type === "index") return begin.index;
  if (begin.type === "unknown") return CANNOT_TELL;
  if (begin.from > 0) {
    for (let at = begin.from; at < count - 1; at++) {
      if (args.is(base + at, begin.keyword)) return at + 1;
    }
  } else {
    for (let at = count + begin.from; at > 1; at--) {
      if (args.is(base + at, begin.keyword)) return at + 1;
    }
  }
  return NOT_THERE;
}

/** Redis reads the count as atoi does, and leaves it to the handler to refuse what follows. */
function readCount(args: Args, at: number): number {
  const source = args.source(at);
  const end = args.end[at] as number;
  let i = args.start[at] as number;
  while (i < end && isBlank(source[i] as number)) i++;
  if (source[i] === PLUS && i < end) i++;
  let value = 0;
  for (; i < end; i++) {
    const digit = (source[i] as number) - DIGIT_0;
    if (digit < 0 || digit > 9) break;
    value = Math.min(value * 10 + digit, COUNT_MAX);
  }
  return value;
}

const PLUS = 43;
const DIGIT_0 = 48;
/** More than any request has arguments. */
const COUNT_MAX = 0x7fffffff;

function isBlank(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}
