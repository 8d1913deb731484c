/**
 * What we say about commands, against redis-server: arity, flags, key positions, ACL categories,
 * tips and the docs with their argument trees; and what our grammar computes for the commands of
 * Redis that we do not have.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as cluster from "../../src/cluster/specs.ts";
import { type Argument, arityOf, type KeySpec } from "../../src/command/grammar.ts";
import { deriveKeySpecs, plainRangeOf } from "../../src/command/key-specs.ts";
import { CommandTable } from "../../src/command/lookup.ts";
import type { CommandMeta, CommandSpec } from "../../src/command/spec.ts";
import { COMMANDS } from "../../src/commands.ts";
import * as server from "../../src/server/commands/specs.ts";
import * as keys from "../../src/types/keys/specs.ts";
import * as string from "../../src/types/string/specs.ts";
import { needs } from "../support/environment.ts";
import type { RespClient } from "../support/resp.ts";
import { type Server, startRedis } from "../support/servers.ts";
import { compareCommand, type Difference, type Plain, plainReply } from "./metadata.ts";
import { ALLOWED, allows, NEWER } from "./metadata-allowlist.ts";

type PlainMap = { [name: string]: Plain };

/**
 * The commands of the table, and what is described but has no handler yet, with handlers that do
 * nothing: what is compared does not depend on them.
 */
function describedCommands(): CommandTable {
  const named = new Set(COMMANDS.map(({ name }) => name));
  const metas = [string, keys, server, cluster].flatMap((module) => Object.values(module));
  const isContainer = ({ name }: CommandMeta): boolean =>
    metas.some((other) => other.name.startsWith(`${name} `));
  const others = metas.filter(({ name }) => !named.has(name));
  const specs = others.map((meta): CommandSpec => {
    if (isContainer(meta)) return { ...meta, locks: "container" };
    return { ...meta, locks: "none", run: () => {} };
  });
  return new CommandTable([...COMMANDS, ...specs]);
}

describe("command metadata against redis-server", needs("redis-server"), () => {
  let redis: Server;
  let client: RespClient;
  let info: Map<string, Plain[]>;
  let docs: PlainMap;

  before(async () => {
    redis = await startRedis();
    client = await redis.connect();
    await client.call("HELLO", 3);
    const all = plainReply((await client.call("COMMAND")).reply) as Plain[][];
    info = new Map(all.flatMap(withSubcommands).map((one) => [one[0] as string, one]));
    docs = allDocs(plainReply((await client.call("COMMAND", "DOCS")).reply) as PlainMap);
  });

  after(async () => {
    await redis.stop();
  });

  test("every difference has a reason, and every reason a difference", () => {
    const differences: Difference[] = [];
    for (const command of describedCommands().list) {
      const theirs = info.get(command.name);
      if (theirs === undefined) {
        assert.ok(NEWER.has(command.name), `redis-server does not have ${command.name}`);
      } else {
        differences.push(...compareCommand(command, theirs, docs[command.name] as Plain));
      }
    }
    const open = differences.filter((one) => !ALLOWED.some((line) => allows(line, one)));
    assert.deepEqual(open, []);
    const unused = ALLOWED.filter((line) => !differences.some((one) => allows(line, one)));
    assert.deepEqual(unused, []);
  });

  test("first key, last key, step and movablekeys follow from the key specs", () => {
    for (const [name, one] of info) {
      const { first, last, step, movable } = plainRangeOf(keySpecsOf(one));
      const flags = one[2] as string[];
      assert.deepEqual(
        [name, first, last, step, movable],
        [name, one[3], one[4], one[5], flags.includes("movablekeys")],
      );
    }
  });

  test("the argument grammar gives the arity", () => {
    const misses: string[] = [];
    for (const [name, one] of info) {
      const isContainer = (one[9] as Plain[]).length > 0;
      const words = name.split("|").length;
      const arity = arityOf(words, argumentsOf(docs[name], []));
      if (!isContainer && arity !== one[1]) misses.push(name);
    }
    // The docs of these list no arguments or fewer, or ask for more than the arity does.
    const undocumented = ["command|getkeys", "command|getkeysandflags", "debug", "psync"];
    const looser = ["client|kill", "geohash", "geopos", "pfmerge", "quit", "replconf"];
    assert.deepEqual(misses.sort(), [...undocumented, ...looser].sort());
  });

  test("the argument grammar gives the key specs", () => {
    const misses: string[] = [];
    for (const [name, one] of info) {
      const want = keySpecsOf(one);
      if (!derives(name, argumentsOf(docs[name], want), want)) misses.push(name);
    }
    // Channels, keys that other arguments name, two keys in one spec, a key that may be empty.
    const channels = ["spublish", "ssubscribe", "sunsubscribe"];
    assert.deepEqual(misses.sort(), ["lcs", "migrate", "sort", "sort_ro", ...channels].sort());
  });
});

function withSubcommands(info: Plain[]): Plain[][] {
  return [info, ...(info[9] as Plain[][]).flatMap(withSubcommands)];
}

function allDocs(docs: PlainMap): PlainMap {
  const all = { ...docs };
  for (const one of Object.values(docs)) Object.assign(all, (one as PlainMap)["subcommands"] ?? {});
  return all;
}

function keySpecsOf(info: Plain[]): KeySpec[] {
  return (info[8] as PlainMap[]).map((spec): KeySpec => {
    const begin = spec["begin_search"] as PlainMap;
    const find = spec["find_keys"] as PlainMap;
    return {
      flags: spec["flags"] as unknown as KeySpec["flags"],
      begin: beginOf(begin["type"], begin["spec"] as PlainMap),
      find: findOf(find["type"], find["spec"] as PlainMap),
    };
  });
}

function beginOf(type: Plain | undefined, spec: PlainMap): KeySpec["begin"] {
  if (type === "index") return { type, index: Number(spec["index"]) };
  if (type === "unknown") return { type };
  assert.equal(type, "keyword");
  return { type: "keyword", keyword: String(spec["keyword"]), from: Number(spec["startfrom"]) };
}

function findOf(type: Plain | undefined, spec: PlainMap): KeySpec["find"] {
  const step = Number(spec["keystep"]);
  if (type === "unknown") return { type };
  if (type === "range") {
    return { type, last: Number(spec["lastkey"]), step, limit: Number(spec["limit"]) };
  }
  assert.equal(type, "keynum");
  const countAt = Number(spec["keynumidx"]);
  return { type: "keynum", countAt, first: Number(spec["firstkey"]), step };
}

/** The argument trees of COMMAND DOCS as our grammar writes them. */
function argumentsOf(docs: Plain | undefined, specs: readonly KeySpec[]): Argument[] {
  const list = ((docs as PlainMap | undefined)?.["arguments"] ?? []) as PlainMap[];
  return list.map((one): Argument => {
    const flags = (one["flags"] ?? []) as string[];
    const type = one["type"] as Argument["type"];
    const spec = type === "key" ? specs[Number(one["key_spec_index"])] : undefined;
    return {
      name: String(one["name"]),
      type,
      optional: flags.includes("optional"),
      multiple: flags.includes("multiple"),
      multipleToken: flags.includes("multiple_token"),
      ...(one["token"] === undefined ? {} : { token: String(one["token"]) }),
      ...(spec === undefined ? {} : { keyFlags: spec.flags }),
      ...(one["arguments"] === undefined ? {} : { parts: argumentsOf(one, specs) }),
    };
  });
}

function derives(name: string, args: readonly Argument[], want: readonly KeySpec[]): boolean {
  try {
    const got = deriveKeySpecs(name.split("|").length, args);
    return JSON.stringify(got) === JSON.stringify(want);
  } catch {
    // The grammar says that it cannot tell: a miss, as a wrong answer is.
    return false;
  }
}
