/**
 * Finds the error replies in the sources: literals that begin with an error code and a blank, with
 * what is put together by `+` joined and what is put in shown as "…". Comments do not count.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "./files.ts";

/** The first words that error replies have. */
const CODES =
  /^-?(ASK|BUSY|BUSYKEY|CLUSTERDOWN|CROSSSLOT|DENIED|ERR|EXECABORT|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOPROTO|NOREPLICAS|NOSCRIPT|NOTBUSY|OOM|READONLY|TRYAGAIN|UNBLOCKED|UNKILLABLE|WRONGPASS|WRONGTYPE) (.+)/s;

export type ErrorText = { readonly text: string; readonly file: string; readonly line: number };

type Literal = { readonly text: string; readonly at: number; readonly end: number };

/** Every error text of a repository's server, each once, in the order of the files. */
export function errorTexts(root: string): ErrorText[] {
  const found = new Map<string, ErrorText>();
  for (const file of filesBelow(root, "src").filter(isServerSource)) {
    const source = readFileSync(join(root, file), "utf8");
    for (const { text, at } of joinedLiterals(source)) {
      const match = CODES.exec(text);
      if (match === null) continue;
      const shown = text.replace(/^-/, "").replace(/……+/g, "…").trimEnd();
      const line = source.slice(0, at).split("\n").length;
      if (!found.has(shown)) found.set(shown, { text: shown, file, line });
    }
  }
  return [...found.values()];
}

/** What the embedded store throws is in its guide. */
function isServerSource(path: string): boolean {
  if (path.startsWith("src/embed/")) return false;
  return path.endsWith(".ts") && !path.endsWith(".test.ts") && !/\/test-[^/]*\.ts$/.test(path);
}

/** Literals of a source, those joined by `+` as one. */
function joinedLiterals(source: string): Literal[] {
  const joined: Literal[] = [];
  for (const literal of literals(source)) {
    const last = joined.at(-1);
    if (last !== undefined && /^\s*\+\s*$/.test(source.slice(last.end, literal.at))) {
      joined[joined.length - 1] = { ...last, text: last.text + literal.text, end: literal.end };
    } else {
      joined.push(literal);
    }
  }
  return joined;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", "0": "\0" };

function* literals(source: string): Generator<Literal> {
  for (let i = 0; i < source.length; i++) {
    const two = source.slice(i, i + 2);
    const c = source[i] as string;
    if (two === "//") {
      i = endOf(source, "\n", i);
    } else if (two === "/*") {
      i = endOf(source, "*/", i + 2) + 1;
    } else if (c === "/" && isRegexStart(source, i)) {
      i = regexEnd(source, i);
    } else if (c === '"' || c === "'" || c === "`") {
      const literal = readLiteral(source, i, c);
      yield literal;
      i = literal.end - 1;
    }
  }
}

function endOf(source: string, what: string, from: number): number {
  const at = source.indexOf(what, from);
  return at < 0 ? source.length : at;
}

/** A slash after a value divides; anywhere else it begins a regular expression. */
function isRegexStart(source: string, at: number): boolean {
  return !/[\w)\]]\s*$/.test(source.slice(Math.max(0, at - 40), at));
}

function regexEnd(source: string, at: number): number {
  let inClass = false;
  for (let i = at + 1; i < source.length; i++) {
    const c = source[i];
    if (c === "\\") i++;
    else if (c === "[") inClass = true;
    else if (c === "]") inClass = false;
    else if (c === "\n" || (c === "/" && !inClass)) return i;
  }
  return source.length;
}

function readLiteral(source: string, at: number, quote: string): Literal {
  let text = "";
  let i = at + 1;
  for (; i < source.length && source[i] !== quote; i++) {
    const c = source[i] as string;
    if (c === "\\") {
      const escaped = source[++i] as string;
      text += ESCAPES[escaped] ?? escaped;
    } else if (quote === "`" && c === "$" && source[i + 1] === "{") {
      i = placeholderEnd(source, i + 2);
      text += "…";
    } else {
      text += c;
    }
  }
  return { text, at, end: i + 1 };
}

/** The closing brace of a template's placeholder. */
function placeholderEnd(source: string, from: number): number {
  let depth = 1;
  for (let i = from; i < source.length; i++) {
    if (source[i] === "{") depth++;
    else if (source[i] === "}" && --depth === 0) return i;
  }
  return source.length;
}
