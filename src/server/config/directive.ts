/**
 * What a directive is: one row of the table, and the type that reads and writes its value.
 *
 * A value is kept as one text, the one CONFIG GET shows. So a change is a pair of strings that any
 * thread can be sent, and only `Config` turns texts into numbers, once per change.
 */
import { cString } from "../../protocol/errors.ts";

/** `about`: what the error is about, where its words do not say it. */
export type Parsed = { ok: true; text: string } | { ok: false; error: string; about?: string };

/** One line CONFIG REWRITE puts into the file; unforced, only where the file names it already. */
export type RewriteLine = { line: string; force: boolean };

/** What a type may look at outside of its own text. */
export type ParseContext = {
  /** The value before this one: some directives replace only a part of it. */
  current: string;
  /** An earlier line of the same start has set it, and this one may add to that. */
  adding: boolean;
  /** Null if the path is a directory, else why not, in the operating system's words. */
  directoryError(path: string): string | null;
  /** An absolute path, from the current `dir`. */
  resolve(path: string): string;
};

export type ValueType = {
  /** What may be written, for the reference. */
  label: string;
  /** The value is several words: in a file as words of the line, in CONFIG SET as one argument. */
  several: boolean;
  /** A NUL belongs to the value, which is wrong then in most cases. Others end at it, as in C. */
  byLength?: true;
  parse(words: readonly string[], context: ParseContext): Parsed;
  /** An empty list takes the directive out of the file. */
  rewrite(name: string, text: string, standard: string): RewriteLine[];
};

/**
 * `live`: CONFIG SET works. `protected`: only if `enable-protected-configs` says so.
 * `fixed`: at start only.
 */
export type Mutability = "live" | "protected" | "fixed";

/**
 * `works`: the value does what it says. `accepted`: any valid value is taken and has no effect.
 * `default`: not supported yet, so that everything but the default is refused by name.
 */
export type Support = "works" | "accepted" | "default";

export type Directive = {
  name: string;
  /** Another name of the same value. */
  alias?: string;
  type: ValueType;
  /** In the form of CONFIG GET. */
  default: string;
  set: Mutability;
  support: Support;
  /** Of a directive that works: the values that do. The others are refused as not supported yet. */
  only?: readonly string[];
  /** Patterns do not show it: CONFIG GET must name it. */
  hidden?: true;
  /** A secret: neither logs nor error texts show the value. */
  sensitive?: true;
  /** Of one that is not supported yet: what to do until then. A refused start says it. */
  instead?: string;
  summary: string;
  /** How we differ from Redis. */
  differs?: string;
};

/** What CONFIG SET or a line says, by a type: the words that it is to read. */
export function parseWords(
  type: ValueType,
  words: readonly string[],
  context: ParseContext,
): Parsed {
  return type.parse(type.byLength === true ? words : words.map(cString), context);
}

export function good(text: string): Parsed {
  return { ok: true, text };
}

export function bad(error: string, about?: string): Parsed {
  return about === undefined ? { ok: false, error } : { ok: false, error, about };
}

/** The one line of a directive with a plain value. */
export function plainLine(name: string, text: string, standard: string): RewriteLine[] {
  return [{ line: `${name} ${text}`, force: text !== standard }];
}

export const NOT_YET = "not supported yet";

/**
 * Why a valid value is refused, or null. The caller has named the directive.
 */
export function refusal(row: Directive, text: string): string | null {
  if (row.support === "accepted" || text === row.default) return null;
  if (row.support === "works" && (row.only === undefined || row.only.includes(text))) return null;
  return row.sensitive === true ? NOT_YET : `'${text}' is not supported yet`;
}
