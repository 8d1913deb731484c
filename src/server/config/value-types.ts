/**
 * The plain types of directives: numbers, yes or no, words out of a list, text. Their error texts
 * are Redis's to the byte, and so is what they let through: `maxmemory b` is 0 in Redis.
 *
 * Numbers are BigInt here, since bounds go up to 2^64 - 1 and CONFIG GET shows every digit.
 */
import { lowerText } from "../../base/bytes.ts";
import { parseMemory } from "../../base/memory-text.ts";
import { cString } from "../../protocol/errors.ts";
import { bad, good, type Parsed, plainLine, type ValueType } from "./directive.ts";
import { quote } from "./quoting.ts";

export const INT_MAX = 2147483647n;
export const INT_MIN: bigint = -2147483648n;
export const UINT_MAX = 4294967295n;
const INT64_MIN: bigint = -(2n ** 63n);
export const INT64_MAX: bigint = 2n ** 63n - 1n;
export const UINT64_MAX: bigint = 2n ** 64n - 1n;

const UNITS: readonly (readonly [unit: string, bytes: bigint])[] = [
  ["gb", 1024n ** 3n],
  ["mb", 1024n ** 2n],
  ["kb", 1024n],
];

/** A decimal int64 as Redis's string2ll reads it: no blanks, no sign but "-", no leading zero. */
export function parseInt64(text: string): bigint | null {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return value < INT64_MIN || value > INT64_MAX ? null : value;
}

/** C's strtoll over the whole text: null if something is left over, clamped if out of range. */
export function parseStrtoll(text: string): bigint | null {
  if (text === "") return 0n;
  const match = /^[ \t-\r]*([+-]?)([0-9]+)$/.exec(text);
  if (match === null) return null;
  const value = BigInt(`${match[2]}`) * (match[1] === "-" ? -1n : 1n);
  return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : value;
}

/** The shortest text with a unit that stands for exactly `bytes`. */
export function formatMemory(bytes: bigint): string {
  for (const [unit, size] of UNITS) {
    if (bytes !== 0n && bytes % size === 0n) return `${bytes / size}${unit}`;
  }
  return `${bytes}`;
}

type Bound = number | bigint;

function outside(min: Bound, max: Bound): Parsed {
  return bad(`argument must be between ${min} and ${max} inclusive`);
}

/** Hides the most common bounds behind words, for the reference. */
function range(min: Bound, max: Bound): string {
  if (max === INT_MAX || max === UINT_MAX || max === INT64_MAX || max === UINT64_MAX) {
    return `integer from ${min}`;
  }
  return `integer, ${min} to ${max}`;
}

export function integer(min: Bound, max: Bound): ValueType {
  return {
    label: range(min, max),
    several: false,
    byLength: true,
    parse([word = ""]) {
      const value = parseInt64(word);
      if (value === null) return bad("argument couldn't be parsed into an integer");
      return value < min || value > max ? outside(min, max) : good(`${value}`);
    },
    rewrite: plainLine,
  };
}

/** As `integer`, or the word "auto". */
export function integerOrAuto(min: Bound, max: Bound): ValueType {
  const plain = integer(min, max);
  return {
    ...plain,
    label: `${plain.label}, or auto`,
    parse(words, context) {
      return lowerText(words[0] ?? "") === "auto" ? good("auto") : plain.parse(words, context);
    },
  };
}

/** As `integer`, kept within bounds instead of refused. */
export function cappedInteger(min: bigint, max: bigint): ValueType {
  const plain = integer(0, INT_MAX);
  return {
    ...plain,
    label: `integer, capped to ${min} to ${max}`,
    parse(words, context) {
      const parsed = plain.parse(words, context);
      if (!parsed.ok) return parsed;
      const value = BigInt(parsed.text);
      return good(`${value < min ? min : value > max ? max : value}`);
    },
  };
}

export function powerOfTwoOrAuto(min: number, max: number): ValueType {
  const plain = integerOrAuto(min, max);
  return {
    ...plain,
    label: `power of two, ${min} to ${max}, or auto`,
    parse(words, context) {
      const parsed = plain.parse(words, context);
      if (!parsed.ok || parsed.text === "auto") return parsed;
      const value = Number(parsed.text);
      return (value & (value - 1)) === 0 ? parsed : bad("argument must be a power of two");
    },
  };
}

export function octal(min: number, max: number): ValueType {
  return {
    label: `octal, ${min.toString(8)} to ${max.toString(8)}`,
    several: false,
    parse([word = ""]) {
      const match = /^(?:[ \t-\r]*([+-]?)([0-7]{1,20}))?$/.exec(word);
      if (match === null) return bad("argument couldn't be parsed as an octal number");
      const value = Number.parseInt(match[2] ?? "0", 8) * (match[1] === "-" ? -1 : 1);
      if (value < min || value > max) return outsideOctal(min, max);
      return good(value.toString(8));
    },
    rewrite: plainLine,
  };
}

function outsideOctal(min: number, max: number): Parsed {
  return bad(`argument must be between ${min.toString(8)} and ${max.toString(8)} inclusive`);
}

function memoryLine(name: string, text: string, standard: string): ReturnType<typeof plainLine> {
  return [{ line: `${name} ${formatMemory(BigInt(text))}`, force: text !== standard }];
}

export function memory(min: Bound, max: Bound): ValueType {
  return {
    label: min === 0 ? "bytes, with unit" : `bytes, with unit, from ${formatMemory(BigInt(min))}`,
    several: false,
    parse([word = ""]) {
      const value = parseMemory(word);
      if (value === undefined) return bad("argument must be a memory value");
      return value < min || value > max ? outside(min, max) : good(`${value}`);
    },
    rewrite: memoryLine,
  };
}

/** As `memory` from 1 on, raised to `floor` instead of refused below it. */
export function memoryRaisedTo(floor: bigint): ValueType {
  const plain = memory(1, INT64_MAX);
  return {
    ...plain,
    label: `bytes, with unit, raised to ${formatMemory(floor)} if less`,
    parse(words, context) {
      const parsed = plain.parse(words, context);
      return parsed.ok && BigInt(parsed.text) < floor ? good(`${floor}`) : parsed;
    },
  };
}

/** As `memory`, in steps. */
export function memoryInSteps(min: number, max: number, step: number): ValueType {
  const plain = memory(min, max);
  const bounds = `${formatMemory(BigInt(min))} to ${formatMemory(BigInt(max))}`;
  return {
    ...plain,
    label: `bytes, with unit, ${bounds} in steps of ${formatMemory(BigInt(step))}`,
    parse(words, context) {
      const parsed = plain.parse(words, context);
      if (!parsed.ok || Number(parsed.text) % step === 0) return parsed;
      return bad(`argument must be a multiple of ${step}`);
    },
  };
}

/** Bytes, or a share of maxmemory. Redis keeps a percentage as a negative number. */
export function memoryOrPercent(): ValueType {
  return {
    label: "bytes, with unit, or a percentage",
    several: false,
    byLength: true,
    parse([word = ""]) {
      const percent = word.endsWith("%") ? parseInt64(word.slice(0, -1)) : null;
      const bytes = parseMemory(cString(word));
      let value: bigint;
      if (bytes !== undefined) value = BigInt.asIntN(64, bytes);
      else if (percent !== null && percent >= 0n) value = -percent;
      else return bad("argument must be a memory or percent value");
      if (value < -100n) return bad("percentage argument must be less or equal to 100");
      return good(value < 0n ? `${-value}%` : `${value}`);
    },
    rewrite(name, text, standard) {
      return (text.endsWith("%") ? plainLine : memoryLine)(name, text, standard);
    },
  };
}

export const yesNo: ValueType = {
  label: "yes or no",
  several: false,
  parse([word = ""]) {
    const text = lowerText(word);
    return text === "yes" || text === "no" ? good(text) : bad("argument must be 'yes' or 'no'");
  },
  rewrite: plainLine,
};

/** As `yesNo`, with a reason to refuse one of the two. */
export function yesNoUnless(check: (text: string) => string | null): ValueType {
  return {
    ...yesNo,
    parse(words, context) {
      const parsed = yesNo.parse(words, context);
      const error = parsed.ok ? check(parsed.text) : null;
      return error === null ? parsed : bad(error);
    },
  };
}

/** One word out of a list. `shownAs` maps words that stand for another one. */
export function oneOf(
  words: readonly string[],
  shownAs: Readonly<Record<string, string>> = {},
): ValueType {
  return {
    label: words.join(", "),
    several: false,
    parse(given) {
      const text = lowerText(given[0] ?? "");
      if (given.length !== 1 || !words.includes(text)) return notOneOf(words);
      return good(shownAs[text] ?? text);
    },
    rewrite: plainLine,
  };
}

/** Several words out of a list, shown in the order of the list. The first one means none. */
export function someOf(
  words: readonly string[],
  conflict: { of: readonly string[]; error: string },
): ValueType {
  const none = words[0] as string;
  return {
    label: `one or several of ${words.join(", ")}`,
    several: true,
    parse(given) {
      const named = given.map(lowerText);
      if (named.length === 0 || !named.every((word) => words.includes(word))) {
        return notOneOf(words);
      }
      if (conflict.of.every((word) => named.includes(word))) return bad(conflict.error);
      const kept = words.filter((word) => word !== none && named.includes(word));
      return good(kept.length === 0 ? none : kept.join(" "));
    },
    rewrite: plainLine,
  };
}

function notOneOf(words: readonly string[]): Parsed {
  return bad(`argument(s) must be one of the following: ${words.join(", ")}`);
}

type TextOptions = {
  /** An empty text means unset: such a directive has no line in a rewritten file. */
  emptyIsUnset?: boolean;
  /** Why a text is refused, or null. */
  check?: (text: string) => string | null;
};

/** Any text. */
export function text(options: TextOptions = {}): ValueType {
  return {
    label: "text",
    several: false,
    parse([value = ""]) {
      const error = options.check?.(value) ?? null;
      return error === null ? good(value) : bad(error);
    },
    rewrite(name, value, standard) {
      if (options.emptyIsUnset === true && value === "") return [];
      return [{ line: `${name} ${quote(value)}`, force: value !== standard }];
    },
  };
}

/** A text that is unset by default. */
export const optionalText: ValueType = text({ emptyIsUnset: true });
