import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsOf } from "../base/args-test-support.ts";
import { Random } from "../base/random.ts";
import {
  type Command,
  LOCKS_ALL,
  LOCKS_CONTAINER,
  LOCKS_DYNAMIC,
  LOCKS_KEYS,
  LOCKS_NONE,
} from "./command.ts";
import { CATEGORY_NAMES, FLAG_FAST, FLAG_MOVABLE_KEYS, FLAG_WRITE, namesOfBits } from "./flags.ts";
import { block, int, key, multiple, opt, str } from "./grammar.ts";
import { KeyList } from "./key-specs.ts";
import { CommandTable, NameIndex } from "./lookup.ts";
import type { CommandMeta, CommandSpec } from "./spec.ts";

const SEED = 20240917;
const run = (): void => {};

function meta(name: string, more: Partial<CommandMeta> = {}): CommandMeta {
  const group = more.group ?? "generic";
  return { name, group, since: "1.0.0", complexity: "O(1)", summary: "", flags: [], ...more };
}

const RO = key(["RO", "access"]);
const SPECS: readonly CommandSpec[] = [
  {
    ...meta("GET", { group: "string", args: [RO], flags: ["readonly", "fast"] }),
    locks: "keys",
    run,
  },
  { ...meta("MGET", { args: [multiple(RO)] }), locks: "keys", run },
  { ...meta("EVAL", { args: [str("s"), int("numkeys"), opt(multiple(RO))] }), locks: "all", run },
  { ...meta("MSET", { args: [multiple(block("d", RO, str("v")))] }), locks: "keys", run },
  { ...meta("PING", { group: "connection", args: [opt(str("m"))] }), locks: "none", run },
  { ...meta("CLIENT LIST", { group: "connection", flags: ["admin"] }), locks: "none", run },
  { ...meta("CLIENT", { group: "connection" }), locks: "container" },
  { ...meta("CLIENT NO-EVICT", { group: "connection" }), locks: "none", run },
  { ...meta("COMMAND", { group: "server", arity: -1 }), locks: "none", run },
  { ...meta("COMMAND COUNT", { group: "server" }), locks: "none", run },
  { ...meta("DEL", { flags: ["write"], args: [multiple(RO)] }), locks: () => "all", run },
];
const table = new CommandTable(SPECS);

function lookup(name: string, before = "", after = ""): Command | null {
  const buffer = Buffer.from(before + name + after, "latin1");
  return table.lookup(buffer, before.length, before.length + name.length);
}

function named(name: string): Command {
  const command = table.named(name);
  assert.ok(command, name);
  return command;
}

function randomCase(random: Random, name: string): string {
  return [...name].map((c) => (random.below(2) === 0 ? c.toUpperCase() : c.toLowerCase())).join("");
}

describe("lookup", () => {
  test("every name in any letter case, anywhere in a buffer", () => {
    const random = new Random(SEED);
    for (const command of table.top) {
      for (let i = 0; i < 50; i++) {
        const name = randomCase(random, command.name);
        assert.equal(lookup(name, "get", "get"), command, `${name}, seed ${SEED}`);
      }
    }
  });

  test("no name that is not there", () => {
    const strangers = ["", "GE", "GETT", "G", "GFT", "MSETX", "LIST", "CLIENT|LIST", "CLIENT LIST"];
    // Bit 5 set or cleared turns these into letters or hyphens of real names.
    strangers.push("GE\x14", "\x07ET", "GE\xd4", "\0ET", "GET\0", "client\r", "gEt ");
    for (const name of strangers) assert.equal(lookup(name), null, JSON.stringify(name));
    assert.equal(lookup("x".repeat(100_000)), null);
    assert.equal(lookup("g".repeat(3)), null);
  });

  test("one byte changed, added or removed is another name", () => {
    const random = new Random(SEED);
    for (const { name } of table.top) {
      for (let i = 0; i < 200; i++) {
        const at = random.below(name.length);
        const byte = String.fromCharCode(random.below(256));
        const near = [
          name.slice(0, at) + byte + name.slice(at + 1),
          name.slice(0, at) + byte + name.slice(at),
          name.slice(0, at) + name.slice(at + 1),
        ];
        for (const other of near) {
          const folded = other.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
          const want = table.top.find((command) => command.name === folded) ?? null;
          assert.equal(lookup(other), want, `${JSON.stringify(other)}, seed ${SEED}`);
        }
      }
    }
  });

  test("subcommands", () => {
    const container = named("client");
    const sub = (name: string): Command | null =>
      table.lookupSub(container, Buffer.from(name), 0, name.length);
    assert.equal(sub("list"), named("client|list"));
    assert.equal(sub("No-eVICT"), named("client|no-evict"));
    assert.equal(sub("NO_EVICT"), null);
    assert.equal(sub("COUNT"), null);
    assert.equal(sub("list\0"), null);
    assert.equal(table.lookupSub(named("get"), Buffer.from("list"), 0, 4), null);
  });

  test("names that share length and both ends, and names of other bytes than letters", () => {
    const names = ["abcd1234wxyz", "abcd-----wxyz", "abcd5678wxyz", "a-b", "a_b", "x1", "abcdefgh"];
    const index = new NameIndex(names);
    for (const [i, name] of names.entries()) {
      assert.equal(index.find(Buffer.from(name.toUpperCase()), 0, name.length), i);
    }
    for (const name of ["abcd9999wxyz", "a\rb", "a\x7fb", "x\x11", "abcdefgi", "abcdefghi"]) {
      assert.equal(index.find(Buffer.from(name), 0, name.length), -1, JSON.stringify(name));
    }
    assert.equal(new NameIndex([]).find(Buffer.from("a"), 0, 1), -1);
  });

  test("a full name as COMMAND INFO takes it", () => {
    assert.equal(named("CLIENT|list").name, "client|list");
    for (const name of ["client list", "client|", "|get", "get|", "client|list|x"]) {
      assert.equal(table.named(name), null, name);
    }
  });

  test("a call resolves to the subcommand where there is one", () => {
    assert.equal(table.resolve(argsOf("client", "LIST"), 0), named("client|list"));
    assert.equal(table.resolve(argsOf("x", "y", "GET", "a"), 2), named("get"));
    assert.equal(table.resolve(argsOf("client"), 0), named("client"));
    assert.equal(table.resolve(argsOf("client", "nosuch"), 0), null);
    assert.equal(table.resolve(argsOf("nosuch", "client"), 0), null);
  });
});

describe("the table", () => {
  test("ids are dense", () => {
    for (const [i, command] of table.list.entries()) assert.equal(command.id, i);
    assert.equal(table.list.length, SPECS.length);
  });

  test("refuses a name twice and a subcommand without container", () => {
    const get = SPECS[0] as CommandSpec;
    assert.throws(() => new CommandTable([get, get]), /two commands GET/);
    const lonely: CommandSpec = { ...meta("CONFIG GET"), locks: "none", run };
    assert.throws(() => new CommandTable([lonely]), /CONFIG GET has no container CONFIG/);
  });

  test("a container has its subcommands in the order of the specs", () => {
    assert.deepEqual([...named("client").subcommands.keys()], ["list", "no-evict"]);
    assert.equal(named("client|list").container, named("client"));
    assert.equal(named("get").subcommands.size, 0);
  });
});

describe("a command", () => {
  test("takes as many words as its arity says", () => {
    assert.deepEqual(
      [1, 2, 3].map((count) => named("get").takes(count)),
      [false, true, false],
    );
    assert.deepEqual(
      [1, 2, 9].map((count) => named("mget").takes(count)),
      [false, true, true],
    );
    assert.deepEqual(
      [1, 2].map((count) => named("client").takes(count)),
      [false, true],
    );
    assert.deepEqual(
      [2, 3].map((count) => named("client|list").takes(count)),
      [true, false],
    );
  });

  test("knows its locks", () => {
    assert.equal(named("get").locks, LOCKS_KEYS);
    assert.equal(named("ping").locks, LOCKS_NONE);
    assert.equal(named("client").locks, LOCKS_CONTAINER);
    assert.equal(named("del").locks, LOCKS_DYNAMIC);
    assert.equal(named("del").locksFor(argsOf("del", "a")), LOCKS_ALL);
    assert.equal(named("get").locksFor(argsOf("get", "a")), LOCKS_KEYS);
  });

  test("can only be run as its lock set allows", () => {
    assert.equal(named("get").runData, run);
    assert.equal(named("ping").runSession, run);
    const wrong = named("ping").runData as () => void;
    assert.throws(() => wrong(), /lock set/);
  });

  test("has the plain form of its keys", () => {
    assert.ok(named("get").oneKeyAtOne);
    assert.ok(
      !named("mget").oneKeyAtOne && !named("eval").oneKeyAtOne && !named("ping").oneKeyAtOne,
    );
    const plain = ({ keyFirst, keyLast, keyStep }: Command) => [keyFirst, keyLast, keyStep];
    assert.deepEqual(plain(named("mset")), [1, -1, 2]);
    assert.deepEqual(plain(named("eval")), [0, 0, 0]);
    assert.ok(named("eval").flagBits & FLAG_MOVABLE_KEYS);
    assert.ok(named("eval").hasKeys && !named("ping").hasKeys);
  });

  test("finds the keys of a call", () => {
    const out = new KeyList();
    assert.equal(named("eval").keyPositions(argsOf("eval", "s", "2", "a", "b", "c"), out), 2);
    assert.deepEqual([...out.at.subarray(0, out.count)], [3, 4]);
    assert.equal(named("eval").keyPositions(argsOf("eval", "s", "9", "a"), out), 0);
    assert.equal(named("ping").keyPositions(argsOf("ping"), out), 0);
    assert.equal(out.count, 2);
  });

  test("has the categories of its group and flags, a container only @slow", () => {
    const categories = (name: string): string[] =>
      namesOfBits(named(name).categoryBits, CATEGORY_NAMES, CATEGORY_NAMES.length);
    assert.deepEqual(categories("get"), ["read", "string", "fast"]);
    assert.deepEqual(categories("del"), ["keyspace", "write", "slow"]);
    assert.deepEqual(categories("client|list"), ["admin", "slow", "dangerous", "connection"]);
    assert.deepEqual(categories("client"), ["slow"]);
    assert.ok(named("get").flagBits & FLAG_FAST);
    assert.ok(named("del").flagBits & FLAG_WRITE);
  });
});

test("renamed commands are found by the names they are called by, and keep their own", () => {
  const renamed = new CommandTable(SPECS, [
    ["get", "fetch"],
    ["mget", "get"],
    ["client", "l\xC4ufer"],
    ["command", ""],
  ]);
  const find = (...words: readonly string[]): string | undefined =>
    renamed.resolve(argsOf(...words), 0)?.name;
  assert.equal(find("FETCH", "k"), "get");
  assert.equal(find("Get", "k"), "mget");
  assert.equal(find("mget", "k"), undefined);
  assert.equal(find("L\xC4UFER", "LIST"), "client|list");
  assert.equal(find("l\xE4ufer", "LIST"), undefined);
  assert.equal(find("client", "LIST"), undefined);
  assert.equal(find("command"), undefined);
  assert.equal(find("command", "count"), undefined);
  assert.equal(find("ping"), "ping");
  assert.equal(renamed.named("Fetch")?.name, "get");
  assert.equal(renamed.named("l\xC4ufer|no-evict")?.name, "client|no-evict");
  assert.equal(renamed.named("client|list"), null);
  assert.equal(renamed.named("command|count"), null);
  assert.equal(renamed.named("get|x"), null);
  assert.equal(renamed.declared("client|list")?.name, "client|list");
  assert.equal(renamed.list.length, SPECS.length);
  const names = (commands: readonly Command[]): string[] => commands.map(({ name }) => name).sort();
  const gone = ["command", "command|count"];
  assert.deepEqual(
    names(renamed.callable),
    names(table.list).filter((name) => !gone.includes(name)),
  );
  assert.deepEqual(
    names(renamed.top),
    names(table.top).filter((name) => !gone.includes(name)),
  );
});
