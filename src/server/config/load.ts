/**
 * From the command line, the environment and files to a `Config`, or to one line that says what is
 * wrong and where.
 *
 * Later wins: files (standard input is one), then `ZEROHOP_*`, then the command line. Values that
 * are valid but not supported are refused only after the last layer and after the rules between
 * directives, so that a later layer can take them back.
 */
import { lowerText } from "../../base/bytes.ts";
import { nearest } from "../../base/nearest.ts";
import { INCLUDE_DEPTH_MAX } from "../../limits.ts";
import { checkConfig } from "./checks.ts";
import { type CommandLine, HELP, parseCommandLine } from "./command-line.ts";
import { Config } from "./config.ts";
import { NOT_YET, parseWords, refusal } from "./directive.ts";
import { environmentSettings, PREFIX, variableName } from "./environment.ts";
import type { ConfigSource } from "./host.ts";
import { hasWildcard, matchingPaths } from "./path-glob.ts";
import { splitWords, trimLine } from "./quoting.ts";
import { directiveNames, findDirective, IGNORED_DIRECTIVES, type Named } from "./table.ts";

export type Loaded =
  | { kind: "start"; config: Config }
  | { kind: "print"; text: string }
  | { kind: "error"; message: string };

/** Null, or why the start is refused: one line without its place. */
export type RenameCommand = (from: string, to: string) => string | null;

/** Where a setting was made, for messages: "redis.conf line 3". */
type Place = string;
const COMMAND_LINE: Place = "command line";

type State = {
  source: ConfigSource;
  config: Config;
  renameCommand: RenameCommand;
  /** By the directive's own name. */
  texts: Map<string, string>;
  /** Of the last setting; also of what is no directive of ours, which is refused at the end. */
  places: Map<string, Place>;
};

/** An error, or null. The first one ends the start. */
type Outcome = string | null;

/** Who only asks whether a configuration is sound need not know the commands. */
export function load(source: ConfigSource, renameCommand: RenameCommand = () => null): Loaded {
  const line = parseCommandLine(source.argv);
  if (line.kind === "help") return { kind: "print", text: HELP };
  if (line.kind === "version") return { kind: "print", text: `${source.version}\n` };
  const config = new Config(source);
  const state: State = {
    source,
    config,
    renameCommand,
    texts: new Map(),
    places: new Map(),
  };
  const error = readLayers(state, line) ?? finish(state);
  return error === null
    ? { kind: "start", config }
    : { kind: "error", message: `zerohop: ${error}` };
}

function readLayers(state: State, line: CommandLine & { kind: "run" }): Outcome {
  const { source, config } = state;
  if (line.file !== null) {
    config.file = source.resolvePath(source.cwd, line.file);
    const error = readFile(state, line.file, 0, "");
    if (error !== null) return error;
  }
  if (line.stdin) {
    const input = source.readStdin();
    if (!input.ok) return `can't read standard input: ${input.error}`;
    const error = readText(state, "standard input", input.text, 0);
    if (error !== null) return error;
  }
  const settings = environmentSettings(source.env);
  for (const { place, words, unknown } of settings) {
    const error = unknown
      ? `${place}: unknown directive${variableHint(words[0])}`
      : setByWords(state, place, words, 0);
    if (error !== null) return error;
  }
  for (const text of line.settings) {
    const error = readLine(state, COMMAND_LINE, text, 0);
    if (error !== null) return error;
  }
  return null;
}

/**
 * The rules between directives, then all that is not supported, in the order it was set: whoever
 * brings a file of Redis is told once.
 */
function finish(state: State): Outcome {
  const { config, texts, places } = state;
  config.apply([...texts].map(([name, text]) => ({ name, text })));
  const broken = checkConfig(config);
  if (broken !== null) return broken;
  const refused: string[] = [];
  for (const [name, place] of places) {
    const named = findDirective(name);
    const reason = named === undefined ? NOT_YET : refusal(named.row, config.text(name));
    if (reason === null) continue;
    const instead = named?.row.instead;
    const hint = instead === undefined ? "" : ` (${instead})`;
    refused.push(`${place}: ${name}: ${reason}${hint}`);
  }
  return refused.length === 0 ? null : refused.join("; ");
}

/** `from` is the place of the include, or empty. */
function readFile(state: State, path: string, depth: number, from: Place): Outcome {
  const file = state.source.readFile(state.source.resolvePath(currentDir(state), path));
  if (file.ok) return readText(state, path, file.text, depth);
  const error = `can't open config file '${path}': ${file.error}`;
  return from === "" ? error + swallowedHint(path) : `${from}: ${error}`;
}

/** `npm start --port 7000` leaves only the 7000 for us, where a file's name stands. */
function swallowedHint(path: string): string {
  return /^[0-9]+$/.test(path) ? "; npm needs -- before options: npm start -- --port 7000" : "";
}

function readText(state: State, name: string, text: string, depth: number): Outcome {
  let number = 0;
  for (const line of text.split("\n")) {
    number += 1;
    const error = readLine(state, `${name} line ${number}`, line, depth);
    if (error !== null) return error;
  }
  return null;
}

function readLine(state: State, place: Place, line: string, depth: number): Outcome {
  const text = trimLine(line);
  if (text === "" || text.startsWith("#")) return null;
  const words = splitWords(text);
  if (words === null) return `${place}: unbalanced quotes`;
  return words.length === 0 ? null : setByWords(state, place, words, depth);
}

function setByWords(state: State, place: Place, words: readonly string[], depth: number): Outcome {
  const [given = "", ...values] = words;
  const named = findDirective(given);
  if (named !== undefined) return setValue(state, place, named, values);
  const name = lowerText(given);
  if (IGNORED_DIRECTIVES.has(name) && values.length === 1) return null;
  switch (name) {
    case "include":
      if (values.length !== 1) return `${place}: include: wrong number of arguments`;
      return include(state, place, values[0] as string, depth);
    case "rename-command":
      if (values.length !== 2) return `${place}: rename-command: wrong number of arguments`;
      return rename(state, place, values[0] as string, values[1] as string);
    case "user":
    case "loadmodule":
    case "sentinel":
      setPlace(state, name, place);
      return null;
    default:
      return `${place}: unknown directive "${given}"${unknownHint(place, given)}`;
  }
}

function unknownHint(place: Place, given: string): string {
  const isOption = place === COMMAND_LINE;
  // `--port=7000` is nothing to Redis either.
  const [, name = "", value = ""] = /^([^=]+)=(.+)$/.exec(given) ?? [];
  if (findDirective(name) !== undefined) return `; write ${isOption ? "--" : ""}${name} ${value}`;
  if (isOption && given.startsWith("-")) return "; options are --name value, see --help";
  const meant = nearest(name === "" ? given : name, directiveList());
  return meant === undefined ? "" : `; did you mean ${meant}?`;
}

function directiveList(): string[] {
  return Array.from(directiveNames(), ({ name }) => name);
}

function variableHint(variable: string): string {
  const name = variable.slice(PREFIX.length).replaceAll("_", "-");
  const meant = nearest(name, directiveList());
  return meant === undefined ? "" : `; did you mean ${variableName(meant)}?`;
}

function setValue(
  state: State,
  place: Place,
  { name, row }: Named,
  values: readonly string[],
): Outcome {
  if (!row.type.several && values.length !== 1) {
    return `${place}: ${name}: wrong number of arguments${fileHint(place, values)}`;
  }
  // A single word that holds several is cut once more: --save "60 1".
  const cut = row.type.several && values.length === 1 && values[0] !== "";
  const words = cut ? (splitWords(values[0] as string) ?? []) : values;
  const current = state.texts.get(row.name) ?? state.config.text(row.name);
  const adding = state.texts.has(row.name);
  const context = state.config.parseContext(current, adding, currentDir(state));
  const parsed = parseWords(row.type, words, context);
  if (!parsed.ok) {
    const about = parsed.about === undefined ? "" : `${parsed.about}: `;
    return `${place}: ${name}: ${about}${parsed.error}`;
  }
  state.texts.set(row.name, parsed.text);
  setPlace(state, row.name, place);
  return null;
}

/** Set anew, so that the order is that of the last setting. */
function setPlace({ places }: State, name: string, place: Place): void {
  places.delete(name);
  places.set(name, place);
}

/** `zerohop --port 7000 my.conf`: the file is taken for a second value. */
function fileHint(place: Place, values: readonly string[]): string {
  const last = values.length > 1 ? (values.at(-1) as string) : "";
  const isFile = place === COMMAND_LINE && /[./]/.test(last);
  return isFile ? "; a configuration file comes before the options" : "";
}

/** Redis changes into `dir` at its line, so that what follows is relative to it. */
function currentDir(state: State): string {
  return state.texts.get("dir") ?? state.source.cwd;
}

function include(state: State, place: Place, path: string, depth: number): Outcome {
  if (depth >= INCLUDE_DEPTH_MAX) {
    return `${place}: include: more than ${INCLUDE_DEPTH_MAX} files deep`;
  }
  const { source } = state;
  const paths = hasWildcard(path) ? matchingPaths(source, currentDir(state), path) : [path];
  for (const each of paths) {
    const error = readFile(state, each, depth + 1, place);
    if (error !== null) return error;
  }
  return null;
}

function rename(state: State, place: Place, from: string, to: string): Outcome {
  const error = state.renameCommand(from, to);
  return error === null ? null : `${place}: rename-command: ${error}`;
}
