/**
 * The commands that the random calls are made of: all of ours on strings, keys, connections and the
 * server, but for those whose replies or effects two servers cannot have in common.
 */
import { CommandTable } from "../../src/command/lookup.ts";
import { COMMANDS } from "../../src/commands.ts";

const GROUPS: readonly string[] = ["string", "generic", "connection", "server"];

/** Names or beginnings of names, each with its reason. */
const LEFT_OUT: readonly (readonly [string, string])[] = [
  ["client help", "7.2 words it otherwise; the corpora compare it, as they do the other HELPs"],
  ["command help", "as client help"],
  ["config help", "as client help"],
  ["memory help", "as client help"],
  ["object help", "as client help"],
  ["latency help", "as client help"],
  ["slowlog help", "as client help"],
  ["client no-touch", "new in 7.2"],
  ["client setinfo", "new in 7.2"],
  ["waitaof", "new in 7.2"],
  ["wait", "without replicas Redis waits for the timeout"],
  ["client kill", "ids and addresses are each server's own"],
  ["client pause", "stops everything for a while"],
  ["client reply", "puts replies out of step"],
  ["client tracking", "sends what no command asked for"],
  ["command", "we have fewer commands; the conformance test compares what is said of each"],
  ["config rewrite", "writes a file"],
  ["debug", "is for each server's own insides"],
  ["info", "has sections of our own and newer ones"],
  ["latency", "measures"],
  ["lolwut", "draws at random"],
  ["monitor", "sends what no command asked for"],
  ["object idletime", "keys with the same small integer share one access time in Redis"],
  ["object refcount", "copies of small integers are shared here too"],
  ["quit", "ends the connection"],
  ["shutdown", "ends the server"],
];

const KEPT: readonly string[] = ["command getkeys", "latency reset"];

export type FuzzedCommands = {
  /** On strings and keys: most of the calls. */
  data: string[];
  others: string[];
};

/** Names as COMMAND DOCS is asked for them: "object encoding". */
export function fuzzedCommands(): FuzzedCommands {
  const commands: FuzzedCommands = { data: [], others: [] };
  for (const { name, spec } of new CommandTable(COMMANDS).list) {
    const words = name.replace("|", " ");
    if (spec.locks === "container" || !GROUPS.includes(spec.group)) continue;
    if (isLeftOut(words)) continue;
    const isData = spec.group === "string" || spec.group === "generic";
    (isData ? commands.data : commands.others).push(words);
  }
  return commands;
}

function isLeftOut(words: string): boolean {
  if (KEPT.includes(words)) return false;
  return LEFT_OUT.some(([name]) => words === name || words.startsWith(`${name} `));
}

/** Rows of `LEFT_OUT` that leave nothing out, neither here nor of `theirs`: "client|list". */
export function unusedRows(theirs: readonly string[]): string[] {
  const own = new CommandTable(COMMANDS).list.map(({ name }) => name);
  const names = [...own, ...theirs].map((name) => name.replace("|", " "));
  return LEFT_OUT.map(([name]) => name).filter(
    (name) => !names.some((one) => one === name || one.startsWith(`${name} `)),
  );
}
