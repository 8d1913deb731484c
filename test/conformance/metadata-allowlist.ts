/**
 * Where our table and redis-server 7.0.15 say different things about a command, and why. Each line
 * names the Redis version whose answer ours is. A line that no difference needs fails the test.
 */
import type { Difference } from "./metadata.ts";

export type Allowed = {
  /** Full names of commands, or "*". */
  commands: readonly string[] | "*";
  /** The path of the difference; "*" stands for any text. */
  path: string;
  since: string;
  reason: string;
};

export const ALLOWED: readonly Allowed[] = [
  {
    commands: ["wait"],
    path: "info.flags",
    since: "7.2.0",
    reason: "WAIT is blocking and may stand in scripts",
  },
  {
    commands: ["wait"],
    path: "info.categories",
    since: "7.2.0",
    reason: "WAIT is blocking",
  },
  {
    commands: "*",
    path: "docs.arguments*.display_text",
    since: "7.2.0",
    reason: "every argument has a display text",
  },
  {
    commands: "*",
    path: "docs.summary",
    since: "7.2.0",
    reason: "summaries were rewritten in the third person",
  },
  {
    commands: "*",
    path: "docs.differs",
    since: "ours",
    reason: "where we do otherwise, COMMAND DOCS says so",
  },
  {
    commands: ["client|pause"],
    path: "docs.since",
    since: "7.2.0",
    reason: "the release instead of its first candidate",
  },
  {
    commands: ["client|reply"],
    path: "docs.arguments[0].name",
    since: "7.2.0",
    reason: "choices got names of their own",
  },
  {
    commands: ["client|unblock"],
    path: "docs.arguments[1].name",
    since: "7.2.0",
    reason: "choices got names of their own",
  },
  {
    commands: ["mset", "msetnx", "config|set"],
    path: "docs.arguments[0].name",
    since: "7.2.0",
    reason: "pairs are named data",
  },
  {
    commands: ["flushall", "flushdb", "shutdown", "cluster|reset", "client|list"],
    path: "docs.arguments[0].name",
    since: "7.2.0",
    reason: "choices got names of their own",
  },
  {
    commands: ["cluster|addslotsrange", "cluster|delslotsrange"],
    path: "docs.arguments[0].name",
    since: "7.2.0",
    reason: "the pair of slots is named range",
  },
  {
    commands: ["hello"],
    path: "docs.arguments[0].arguments[1].name",
    since: "7.2.0",
    reason: "the pair after AUTH is named auth",
  },
  {
    commands: ["cluster|meet"],
    path: "docs.arguments[2].name",
    since: "7.2.0",
    reason: "words in names are joined by hyphens",
  },
  {
    commands: ["cluster|setslot"],
    path: "docs.arguments[1].arguments*",
    since: "7.2.0",
    reason: "the node ids are named after their token",
  },
  {
    commands: ["lcs"],
    path: "docs.arguments[4].name",
    since: "7.2.0",
    reason: "the value after MINMATCHLEN is named min-match-len",
  },
  {
    commands: ["config|get"],
    path: "docs.arguments[0]*",
    since: "7.2.0",
    reason: "the parameter is no longer wrapped in a block",
  },
  {
    commands: ["client|list", "client|kill"],
    path: "docs.arguments*",
    since: "7.2.0",
    reason: "types in lower case, one name per value, SKIPME as a choice, MAXAGE since 7.4.0",
  },
  {
    commands: ["client|kill"],
    path: "docs.history",
    since: "7.4.0",
    reason: "MAXAGE",
  },
  {
    commands: ["psetex", "setex", "setnx", "quit"],
    path: "docs.doc_flags",
    since: "7.2.0",
    reason: "marked as deprecated",
  },
  {
    commands: ["psetex", "setex", "setnx", "quit"],
    path: "docs.deprecated_since",
    since: "7.2.0",
    reason: "marked as deprecated",
  },
  {
    commands: ["psetex", "setex", "setnx", "quit"],
    path: "docs.replaced_by",
    since: "7.2.0",
    reason: "marked as deprecated",
  },
  {
    commands: ["msetnx"],
    path: "info.tips",
    since: "7.2.0",
    reason: "it cannot be split by shard",
  },
  {
    commands: ["randomkey", "scan"],
    path: "info.tips",
    since: "7.2.0",
    reason: "clients need a special response policy",
  },
  {
    commands: ["client|setname", "config|resetstat", "config|rewrite"],
    path: "info.tips",
    since: "7.2.0",
    reason: "sent to all nodes",
  },
  {
    commands: ["latency|reset"],
    path: "info.tips",
    since: "7.2.0",
    reason: "counts of events are summed",
  },
  {
    commands: ["command|getkeys", "command|getkeysandflags"],
    path: "info.arity",
    since: "7.2.0",
    reason: "a command without arguments is accepted",
  },
  {
    commands: ["command|getkeys", "command|getkeysandflags"],
    path: "docs.arguments",
    since: "7.2.0",
    reason: "the arguments are described",
  },
  {
    commands: ["cluster|getkeysinslot", "cluster|replicas", "cluster|slaves"],
    path: "docs.complexity",
    since: "7.2.0",
    reason: "corrected",
  },
  {
    commands: ["cluster|shards", "cluster|slots"],
    path: "info.flags",
    since: "7.2.0",
    reason: "allowed while loading",
  },
];

/** Commands that redis-server 7.0.15 does not have. */
export const NEWER: ReadonlyMap<string, string> = new Map([
  ["client|no-touch", "7.2.0"],
  ["client|setinfo", "7.2.0"],
  ["cluster|myshardid", "7.2.0"],
  ["waitaof", "7.2.0"],
  ["cluster|slot-stats", "8.2.0"],
]);

export function allows(line: Allowed, { command, path }: Difference): boolean {
  if (line.commands !== "*" && !line.commands.includes(command)) return false;
  const star = line.path.indexOf("*");
  if (star < 0) return path === line.path;
  return path.startsWith(line.path.slice(0, star)) && path.endsWith(line.path.slice(star + 1));
}
