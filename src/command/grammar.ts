/**
 * The argument grammar: constructors for the `args` of a command spec, and what follows from it
 * about the number of arguments.
 *
 *     args: [
 *       key(["RW", "access"]),
 *       opt(oneOf("expiration", token("EX", int("seconds")), token("PERSIST"))),
 *       multiple(block("data", str("field"), str("value"))),
 *     ]
 *
 * Constructors make plain values, wrappers (`opt`, `multiple`, `since` ...) return a changed copy.
 * COMMAND DOCS, arity, key positions, the syntax line and generated test calls all come from here.
 */

export type ArgumentType =
  | "key"
  | "string"
  | "integer"
  | "double"
  | "pattern"
  | "unix-time"
  | "pure-token"
  | "oneof"
  | "block";

/** What a command does with a key. One of the first four, then what it does to the value. */
export type KeyFlag =
  | "RO"
  | "RW"
  | "OW"
  | "RM"
  | "access"
  | "update"
  | "insert"
  | "delete"
  | "not_key"
  | "incomplete"
  | "variable_flags";

/** Where the search for keys begins. */
export type KeyBegin =
  | { type: "index"; index: number }
  /** Negative `from`: that far from the end, searching backwards. */
  | { type: "keyword"; keyword: string; from: number }
  | { type: "unknown" };

/** Which arguments from there on are keys. */
export type KeyFind =
  /** Negative `last`: counted from the end. `limit` n: only the first 1/n of what is left. */
  | { type: "range"; last: number; step: number; limit: number }
  | { type: "keynum"; countAt: number; first: number; step: number }
  | { type: "unknown" };

export type KeySpec = {
  flags: readonly KeyFlag[];
  begin: KeyBegin;
  find: KeyFind;
  notes?: string;
};

/** Version and sentence. */
export type HistoryEntry = readonly [version: string, change: string];

export type Argument = {
  name: string;
  type: ArgumentType;
  optional: boolean;
  multiple: boolean;
  /** With `multiple`: the token is repeated before each value. */
  multipleToken: boolean;
  token?: string;
  /** Name in the syntax line where it differs from `name`. */
  displayText?: string;
  summary?: string;
  since?: string;
  deprecatedSince?: string;
  /** Of a key: what its key spec says. */
  keyFlags?: readonly KeyFlag[];
  keyNotes?: string;
  /** Index of the key spec; for keys it is computed unless the spec has `keys`. */
  keySpec?: number;
  /** Of "oneof" and "block". */
  parts?: readonly Argument[];
};

export type KeyOptions = { name?: string; notes?: string; keySpec?: number };

function argument(name: string, type: ArgumentType): Argument {
  return { name, type, optional: false, multiple: false, multipleToken: false };
}

export function key(flags: readonly KeyFlag[], options: KeyOptions = {}): Argument {
  return {
    ...argument(options.name ?? "key", "key"),
    keyFlags: flags,
    ...(options.notes === undefined ? {} : { keyNotes: options.notes }),
    ...(options.keySpec === undefined ? {} : { keySpec: options.keySpec }),
  };
}

export function str(name: string): Argument {
  return argument(name, "string");
}

export function int(name: string): Argument {
  return argument(name, "integer");
}

export function double(name: string): Argument {
  return argument(name, "double");
}

/** A glob pattern; `keySpec` where it also names keys, as in SORT BY. */
export function pattern(name: string, keySpec?: number): Argument {
  return { ...argument(name, "pattern"), ...(keySpec === undefined ? {} : { keySpec }) };
}

export function unixTime(name: string): Argument {
  return argument(name, "unix-time");
}

/**
 * A literal word. `token("GET")` stands alone and is named "get"; `token("EX", int("seconds"))`
 * comes before a value; `token("ALPHA", "sorting")` stands alone under another name.
 */
export function token(text: string, of?: Argument | string): Argument {
  if (of !== undefined && typeof of !== "string") return { ...of, token: text };
  return { ...argument(of ?? text.toLowerCase(), "pure-token"), token: text };
}

/** Exactly one of `parts`. */
export function oneOf(name: string, ...parts: readonly Argument[]): Argument {
  return { ...argument(name, "oneof"), parts };
}

/** All of `parts` in this order. */
export function block(name: string, ...parts: readonly Argument[]): Argument {
  return { ...argument(name, "block"), parts };
}

export function opt(of: Argument): Argument {
  return { ...of, optional: true };
}

/** One or more. A token is written once, before the first. */
export function multiple(of: Argument): Argument {
  return { ...of, multiple: true };
}

/** One or more, each with the token before it. */
export function multipleToken(of: Argument): Argument {
  return { ...of, multiple: true, multipleToken: true };
}

export function since(version: string, of: Argument): Argument {
  return { ...of, since: version };
}

export function deprecatedSince(version: string, of: Argument): Argument {
  return { ...of, deprecatedSince: version };
}

/** Shows `text` for the argument in the syntax line. */
export function display(text: string, of: Argument): Argument {
  return { ...of, displayText: text };
}

/** Least and most words that a call may have; `most` is Infinity where there is no bound. */
export type Extent = { least: number; most: number };

/** Words of one occurrence of `argument`, its token included, whether or not it is optional. */
function extentOfOne(of: Argument): Extent {
  const tokens = of.token === undefined ? 0 : 1;
  if (of.type === "pure-token") return { least: 1, most: 1 };
  if (of.type === "block") {
    const { least, most } = extentOf(of.parts ?? []);
    return { least: least + tokens, most: most + tokens };
  }
  if (of.type === "oneof") {
    const extents = (of.parts ?? []).map((part) => extentOf([part]));
    return {
      least: Math.min(...extents.map(({ least }) => least)) + tokens,
      most: Math.max(...extents.map(({ most }) => most)) + tokens,
    };
  }
  return { least: 1 + tokens, most: 1 + tokens };
}

/** Words of `args` one after another. */
export function extentOf(args: readonly Argument[]): Extent {
  let least = 0;
  let most = 0;
  for (const of of args) {
    const one = extentOfOne(of);
    if (!of.optional) least += one.least;
    most += of.multiple ? Number.POSITIVE_INFINITY : one.most;
  }
  return { least, most };
}

/**
 * Redis's arity: the number of words, the name included, and negative where more are allowed.
 * `words` is 1 for a command and 2 for a subcommand.
 */
export function arityOf(words: number, args: readonly Argument[]): number {
  const { least, most } = extentOf(args);
  return least === most ? words + least : -(words + least);
}
