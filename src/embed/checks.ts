/**
 * What callers give that no type has checked: options by name, and the kinds of values. A mistake
 * is a TypeError that says what to write instead; nothing is ignored in silence.
 */
import { nearest } from "../base/nearest.ts";
import type { ListenOptions } from "./types.ts";

/** The method that util.inspect and console.log call. */
export const INSPECT: symbol = Symbol.for("nodejs.util.inspect.custom");

/** How a value is called in error texts: "null", "a string", "an Array". */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const { constructor: maker } = Object(value) as { constructor?: { name?: string } };
  const name = typeof value === "object" ? maker?.name || "object" : typeof value;
  return `${/^(?!ui)[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}

/** Names of options; those that are true must be booleans. */
export type OptionKinds = ReadonlyMap<string, boolean>;

/** `words` are names of options that have values, `flags` of those that are true or false. */
export function optionKinds(words: readonly string[], flags: readonly string[]): OptionKinds {
  return new Map([
    ...words.map((name) => [name, false] as const),
    ...flags.map((name) => [name, true] as const),
  ]);
}

/** `example` is what the caller may have meant: "set(key, value, { EX: 60 })". */
export function checkOptions(options: object, kinds: OptionKinds, example: string): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`options are ${kindOf(options)}: write them as in ${example}`);
  }
  for (const name in options) {
    const isFlag = kinds.get(name);
    if (isFlag === undefined) throw unknownOption(name, kinds, example);
    if (!isFlag) continue;
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined && typeof value !== "boolean") {
      throw new TypeError(`option ${name} is ${kindOf(value)}: true or false`);
    }
  }
}

/** Where to listen. An empty host would be every address of the machine. */
export function checkPlace({ port, host, path }: ListenOptions): void {
  if (port !== undefined && typeof port !== "number") {
    throw new TypeError(`option port is ${kindOf(port)}: a number`);
  }
  for (const [name, value] of Object.entries({ host, path })) {
    if (value === undefined || typeof value === "string") continue;
    throw new TypeError(`option ${name} is ${kindOf(value)}: a string`);
  }
  if (host === "") throw new TypeError('option host is empty: "127.0.0.1", or "::" for all');
}

function unknownOption(name: string, kinds: OptionKinds, example: string): TypeError {
  const meant = nearest(name, kinds.keys());
  const hint = meant === undefined ? `write them as in ${example}` : `did you mean ${meant}?`;
  return new TypeError(`unknown option ${name}; ${hint}`);
}
