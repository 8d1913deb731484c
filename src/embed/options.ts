/**
 * The options of `open`: directives of the one configuration table, in camelCase. Those that are
 * about a server's ports, files, threads or other processes are refused by name.
 */

import { nearest } from "../base/nearest.ts";
import { systemConfigHost } from "../env/config-host.ts";
import { type Change, Config } from "../server/config/config.ts";
import { refusal } from "../server/config/directive.ts";
import { ENCODING, LATENCY, MEMORY } from "../server/config/rows-memory.ts";
import { DIRECTIVES, findDirective } from "../server/config/table.ts";
import { StoreError } from "./errors.ts";
import type { OptionValue } from "./types.ts";

/** Beside those of memory, encodings and latency: what connections of `listen` need. */
const ALSO: readonly string[] = [
  "client-output-buffer-limit",
  "client-query-buffer-limit",
  "enable-debug-command",
  "enable-protected-configs",
  "maxclients",
  "memory-chunk",
  "protected-mode",
  "proto-max-bulk-len",
  "shards",
  "tcp-backlog",
  "tcp-keepalive",
  "timeout",
  "unixsocketperm",
];

const TAKEN: ReadonlySet<string> = new Set([
  ...[...MEMORY, ...ENCODING, ...LATENCY].map(({ name }) => name),
  ...ALSO,
]);

const LISTEN = "use store.listen({ port, host, path })";

/** What does the same for a store. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["port", LISTEN],
  ["bind", LISTEN],
  ["unixsocket", LISTEN],
  ["threads", "each thread opens the store with open({ handle: store.handle })"],
]);

/** What is otherwise than in a server: no port is listened on by itself. */
const DEFAULTS: readonly Change[] = [
  { name: "port", text: "0" },
  { name: "bind", text: "127.0.0.1" },
  // Each has a row of 1 KiB from the start.
  { name: "maxclients", text: "1000" },
];

/** Names of all options, for the reference. */
export function optionNames(): string[] {
  return DIRECTIVES.filter(({ name }) => TAKEN.has(name)).map(({ name }) => camelCase(name));
}

function camelCase(directive: string): string {
  return directive.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function directiveOf(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function refused(option: string, reason: string): StoreError {
  return new StoreError(`OPTION ${option}: ${reason}`);
}

/** The configuration that the options ask for, or throws with the name of the one that is wrong. */
export function configOf(options: Readonly<Record<string, OptionValue | undefined>>): Config {
  const config = new Config(systemConfigHost());
  config.apply(DEFAULTS);
  const changes: Change[] = [];
  for (const [option, value] of Object.entries(options)) {
    if (value !== undefined) changes.push(changeOf(config, option, value));
  }
  config.apply(changes);
  return config;
}

function changeOf(config: Config, option: string, value: OptionValue): Change {
  const name = directiveOf(option);
  const named = /^[a-z][a-zA-Z0-9]*$/.test(option) ? findDirective(name) : undefined;
  if (named === undefined) throw refused(option, `unknown option${hint(option)}`);
  const { row } = named;
  if (!TAKEN.has(row.name)) {
    const instead = INSTEAD.get(row.name);
    const hint = instead === undefined ? "" : `; ${instead}`;
    throw refused(option, `the embedded store does not support the directive ${row.name}${hint}`);
  }
  const text = textOf(value);
  if (text === null) throw refused(option, "must be text, a number or a boolean");
  const words = row.type.several ? text.split(" ").filter((word) => word !== "") : [text];
  const parsed = row.type.parse(words, config.parseContext(config.text(row.name), false));
  if (!parsed.ok) throw refused(option, parsed.error);
  const reason = refusal(row, parsed.text);
  if (reason !== null) throw refused(option, reason);
  return { name: row.name, text: parsed.text };
}

function textOf(value: unknown): string | null {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : null;
}

/** The option that was probably meant. */
function hint(option: string): string {
  const letters = option.replaceAll(/[-_]/g, "").toLowerCase();
  const meant = nearest(letters, optionNames());
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}
