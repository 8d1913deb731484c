/**
 * Compares what a real redis-server says about a command with what our table says: both become
 * plain data, and every difference gets a path such as `docs.arguments[2].token`.
 */

import type { Command } from "../../src/command/command.ts";
import { commandDocs, commandInfo, type Doc } from "../../src/command/docs.ts";
import type { Reply } from "../support/resp-parser.ts";

export type Plain = string | number | null | Plain[] | { [name: string]: Plain };

export type Difference = { command: string; path: string; redis: string; ours: string };

/** Sets come out as arrays, maps as objects, simple and bulk strings alike. */
export function plainReply(reply: Reply): Plain {
  if (!("items" in reply)) return reply.mark === ":" ? Number(reply.value) : reply.value;
  const items = (reply.items ?? []).map(plainReply);
  if (reply.mark !== "%") return items;
  const map: { [name: string]: Plain } = {};
  for (let i = 0; i < items.length; i += 2) map[String(items[i])] = items[i + 1] ?? null;
  return map;
}

function plainDoc(doc: Doc): Plain {
  if (typeof doc === "string" || typeof doc === "number") return doc;
  if ("status" in doc) return doc.status;
  if ("set" in doc) return doc.set.map(plainDoc);
  if ("pairs" in doc) {
    return Object.fromEntries(doc.pairs.map(([name, value]) => [name, plainDoc(value)]));
  }
  return doc.map(plainDoc);
}

const INFO_FIELDS: readonly string[] = [
  "name",
  "arity",
  "flags",
  "first_key",
  "last_key",
  "step",
  "categories",
  "tips",
  "key_specs",
  "subcommands",
];

/** Of a reply to COMMAND INFO. Subcommands are compared one by one elsewhere. */
function infoFields(info: Plain): Plain {
  if (!Array.isArray(info)) return info;
  const pairs = info.map((value, i) => [INFO_FIELDS[i] ?? `field ${i}`, value] as const);
  return Object.fromEntries(pairs.filter(([name]) => name !== "subcommands"));
}

function withoutSubcommands(docs: Plain): Plain {
  if (docs === null || typeof docs !== "object" || Array.isArray(docs)) return docs;
  return Object.fromEntries(Object.entries(docs).filter(([name]) => name !== "subcommands"));
}

/** `info` and `docs` are Redis's for this command. */
export function compareCommand(command: Command, info: Plain, docs: Plain): Difference[] {
  const differences: Difference[] = [];
  const add = (path: string, redis: Plain | undefined, ours: Plain | undefined): void => {
    const show = (value: Plain | undefined): string => JSON.stringify(value) ?? "absent";
    differences.push({ command: command.name, path, redis: show(redis), ours: show(ours) });
  };
  compare("info", infoFields(info), infoFields(plainDoc(commandInfo(command))), add);
  compare(
    "docs",
    withoutSubcommands(docs),
    withoutSubcommands(plainDoc(commandDocs(command))),
    add,
  );
  return differences;
}

type Add = (path: string, redis: Plain | undefined, ours: Plain | undefined) => void;

function compare(path: string, redis: Plain | undefined, ours: Plain | undefined, add: Add): void {
  if (JSON.stringify(redis) === JSON.stringify(ours)) return;
  if (isArray(redis) && isArray(ours) && [...redis, ...ours].every(isObject)) {
    for (let i = 0; i < Math.max(redis.length, ours.length); i++) {
      compare(`${path}[${i}]`, redis[i], ours[i], add);
    }
  } else if (isObject(redis) && isObject(ours)) {
    const common = (from: object, other: object): string[] =>
      Object.keys(from).filter((name) => name in other);
    const order = common(redis, ours);
    if (order.join() !== common(ours, redis).join())
      add(`${path} (order)`, order, Object.keys(ours));
    for (const name of new Set([...Object.keys(redis), ...Object.keys(ours)])) {
      compare(`${path}.${name}`, redis[name], ours[name], add);
    }
  } else {
    add(path, redis, ours);
  }
}

function isArray(value: Plain | undefined): value is Plain[] {
  return Array.isArray(value);
}

function isObject(value: Plain | undefined): value is { [name: string]: Plain } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
