/**
 * What COMMAND INFO and COMMAND DOCS tell about a command, as plain data, and its syntax line.
 *
 * A `Doc` is a reply in the making: text is a bulk string, `status` a simple string; a set and
 * pairs become arrays in RESP2. The order of pairs is Redis's.
 */
import type { Reply } from "../protocol/reply.ts";
import type { Command } from "./command.ts";
import { CATEGORY_NAMES, FLAG_NAMES, FLAGS_SHOWN, namesOfBits } from "./flags.ts";
import type { Argument, KeySpec } from "./grammar.ts";

export type Doc =
  | string
  | number
  | readonly Doc[]
  | { status: string }
  | { set: readonly Doc[] }
  | { pairs: readonly DocEntry[] };

export type DocEntry = readonly [name: string, value: Doc];

export function writeDoc(reply: Reply, doc: Doc): void {
  if (typeof doc === "string") {
    reply.text(doc);
  } else if (typeof doc === "number") {
    reply.integer(doc);
  } else if ("status" in doc) {
    reply.simple(doc.status);
  } else if ("set" in doc) {
    reply.set(doc.set.length);
    for (const item of doc.set) writeDoc(reply, item);
  } else if ("pairs" in doc) {
    reply.map(doc.pairs.length);
    for (const [name, value] of doc.pairs) {
      reply.text(name);
      writeDoc(reply, value);
    }
  } else {
    reply.array(doc.length);
    for (const item of doc) writeDoc(reply, item);
  }
}

/** An element of the reply to COMMAND INFO. */
export function commandInfo(command: Command): Doc {
  const { spec } = command;
  const subcommands = [...command.subcommands.values()].map(commandInfo);
  const categories = namesOfBits(command.categoryBits, CATEGORY_NAMES, CATEGORY_NAMES.length);
  return [
    command.name,
    command.arity,
    statuses(namesOfBits(command.flagBits, FLAG_NAMES, FLAGS_SHOWN)),
    command.keyFirst,
    command.keyLast,
    command.keyStep,
    statuses(categories.map((name) => `@${name}`)),
    { set: spec.tips ?? [] },
    { set: command.keySpecs.map(keySpecDoc) },
    // Redis: nothing is a set, and what there is an array.
    subcommands.length === 0 ? { set: [] } : subcommands,
  ];
}

/** Flags as COMMAND INFO and COMMAND GETKEYSANDFLAGS show them. */
export function statuses(names: readonly string[]): Doc {
  return { set: names.map((status) => ({ status })) };
}

function keySpecDoc({ flags, begin, find, notes }: KeySpec): Doc {
  const entries: DocEntry[] = [];
  if (notes !== undefined) entries.push(["notes", notes]);
  entries.push(["flags", statuses(flags)]);
  entries.push(["begin_search", typed(begin.type, beginEntries(begin))]);
  entries.push(["find_keys", typed(find.type, findEntries(find))]);
  return { pairs: entries };
}

function typed(type: string, spec: readonly DocEntry[]): Doc {
  return {
    pairs: [
      ["type", type],
      ["spec", { pairs: spec }],
    ],
  };
}

function beginEntries(begin: KeySpec["begin"]): DocEntry[] {
  if (begin.type === "index") return [["index", begin.index]];
  if (begin.type === "unknown") return [];
  return [
    ["keyword", begin.keyword],
    ["startfrom", begin.from],
  ];
}

function findEntries(find: KeySpec["find"]): DocEntry[] {
  if (find.type === "unknown") return [];
  if (find.type === "range") {
    return [
      ["lastkey", find.last],
      ["keystep", find.step],
      ["limit", find.limit],
    ];
  }
  return [
    ["keynumidx", find.countAt],
    ["firstkey", find.first],
    ["keystep", find.step],
  ];
}

/** The value that COMMAND DOCS has under the command's name. */
export function commandDocs(command: Command): Doc {
  const { spec } = command;
  const entries: DocEntry[] = [
    ["summary", spec.summary],
    ["since", spec.since],
    ["group", spec.group],
  ];
  if (spec.complexity !== "") entries.push(["complexity", spec.complexity]);
  const docFlags = [];
  if (spec.deprecated !== undefined) docFlags.push("deprecated");
  if (spec.system) docFlags.push("syscmd");
  if (docFlags.length > 0) entries.push(["doc_flags", statuses(docFlags)]);
  if (spec.deprecated !== undefined) {
    entries.push(["deprecated_since", spec.deprecated.since]);
    entries.push(["replaced_by", spec.deprecated.replacedBy]);
  }
  if (spec.history !== undefined) entries.push(["history", { set: spec.history }]);
  if (spec.args !== undefined && spec.args.length > 0) {
    let keys = 0;
    const nextKey = () => keys++;
    entries.push(["arguments", spec.args.map((of) => argumentDoc(of, nextKey))]);
  }
  if (command.subcommands.size > 0) {
    const subs = [...command.subcommands.values()];
    entries.push([
      "subcommands",
      { pairs: subs.map((sub) => [sub.name, commandDocs(sub)] as const) },
    ]);
  }
  if (spec.differs !== undefined) entries.push(["differs", spec.differs]);
  return { pairs: entries };
}

/** `nextKey` gives the index of the next key spec; a key argument has one spec unless it says. */
function argumentDoc(of: Argument, nextKey: () => number): Doc {
  const entries: DocEntry[] = [
    ["name", of.name],
    ["type", of.type],
  ];
  if (of.parts === undefined) entries.push(["display_text", of.displayText ?? of.name]);
  const keySpec = of.type === "key" ? (of.keySpec ?? nextKey()) : of.keySpec;
  if (keySpec !== undefined) entries.push(["key_spec_index", keySpec]);
  if (of.token !== undefined) entries.push(["token", of.token]);
  if (of.summary !== undefined) entries.push(["summary", of.summary]);
  if (of.since !== undefined) entries.push(["since", of.since]);
  if (of.deprecatedSince !== undefined) entries.push(["deprecated_since", of.deprecatedSince]);
  const flags = [];
  if (of.optional) flags.push("optional");
  if (of.multiple) flags.push("multiple");
  if (of.multipleToken) flags.push("multiple_token");
  if (flags.length > 0) entries.push(["flags", statuses(flags)]);
  if (of.parts !== undefined) {
    entries.push(["arguments", of.parts.map((part) => argumentDoc(part, nextKey))]);
  }
  return { pairs: entries };
}

/** `SET key value [NX | XX] [GET] [EX seconds | KEEPTTL]`: the call in one line. */
export function syntaxOf(command: Command): string {
  return [command.spec.name, ...(command.spec.args ?? []).map(syntaxOfArgument)].join(" ");
}

function syntaxOfArgument(of: Argument): string {
  const value = syntaxOfValue(of);
  const tokened = of.token === undefined || of.type === "pure-token";
  const first = tokened ? value : `${nameOfToken(of)} ${value}`;
  let text = first;
  if (of.multiple) text = `${first} [${of.multipleToken ? first : value} ...]`;
  if (of.optional) return `[${text}]`;
  return text;
}

function syntaxOfValue(of: Argument): string {
  const parts = of.parts ?? [];
  if (of.type === "pure-token") return nameOfToken(of);
  if (of.type === "block") return parts.map(syntaxOfArgument).join(" ");
  if (of.type === "oneof") {
    // Optional by itself: the brackets around each choice would say nothing more.
    const choices = parts.map((part) => syntaxOfArgument({ ...part, optional: false })).join(" | ");
    return of.optional && !of.multiple && of.token === undefined ? choices : `<${choices}>`;
  }
  return of.displayText ?? of.name;
}

function nameOfToken(of: Argument): string {
  return of.token === "" ? '""' : (of.token as string);
}
