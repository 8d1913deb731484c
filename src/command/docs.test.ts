import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CLIENT_KILL_META, HELLO_META } from "../server/commands/specs.ts";
import { MEMORY_USAGE_META, SCAN_META } from "../types/keys/specs.ts";
import { MSET_META, SET_META } from "../types/string/specs.ts";
import { Command } from "./command.ts";
import { commandDocs, type Doc, syntaxOf } from "./docs.ts";
import {
  type Argument,
  display,
  int,
  key,
  multiple,
  multipleToken,
  oneOf,
  opt,
  pattern,
  str,
  token,
} from "./grammar.ts";
import type { CommandMeta } from "./spec.ts";

function command(meta: CommandMeta): Command {
  return new Command(0, { ...meta, locks: "none", run: () => {} }, null);
}

function withArgs(args: readonly Argument[], more: Partial<CommandMeta> = {}): Command {
  const texts = { since: "1.0.0", complexity: "O(1)", summary: "Does." };
  return command({ name: "DO", group: "generic", flags: [], args, ...texts, ...more });
}

/** The value under `name` of a doc's pairs. */
function entry(doc: Doc, name: string): Doc | undefined {
  assert.ok(typeof doc === "object" && "pairs" in doc);
  return doc.pairs.find(([one]) => one === name)?.[1];
}

describe("syntaxOf", () => {
  const described: readonly [meta: CommandMeta, syntax: string][] = [
    [
      SET_META,
      "SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | " +
        "PXAT unix-time-milliseconds | KEEPTTL]",
    ],
    [MSET_META, "MSET key value [key value ...]"],
    [SCAN_META, "SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]"],
    [MEMORY_USAGE_META, "MEMORY USAGE key [SAMPLES count]"],
    [HELLO_META, "HELLO [protover [AUTH username password] [SETNAME clientname]]"],
  ];
  for (const [meta, syntax] of described) {
    test(meta.name, () => assert.equal(syntaxOf(command(meta)), syntax));
  }

  test("choices without value, repetition and tokens", () => {
    const cases: readonly [argument: Argument, syntax: string][] = [
      [oneOf("x", token("ON"), token("OFF")), "<ON | OFF>"],
      [opt(token("LIMIT", int("count"))), "[LIMIT count]"],
      [opt(multiple(str("section"))), "[section [section ...]]"],
      [multiple(token("ID", int("id"))), "ID id [id ...]"],
      [multipleToken(token("GET", pattern("p"))), "GET p [GET p ...]"],
      [token("TYPE", oneOf("type", token("A"), token("B"))), "TYPE <A | B>"],
      [opt(multiple(oneOf("x", token("A"), token("B")))), "[<A | B> [<A | B> ...]]"],
      [display("ip:port", str("address")), "ip:port"],
      [oneOf("k", str("key"), token("", "empty")), '<key | "">'],
    ];
    for (const [argument, syntax] of cases) {
      assert.equal(syntaxOf(withArgs([argument])), `DO ${syntax}`);
    }
  });

  test("a choice of optional filters has no brackets around each", () => {
    const syntax = syntaxOf(command(CLIENT_KILL_META));
    assert.ok(syntax.startsWith("CLIENT KILL <ip:port | <ID client-id | TYPE <NORMAL | "));
  });
});

describe("commandDocs", () => {
  test("has only what there is", () => {
    const { pairs } = commandDocs(withArgs([])) as { pairs: readonly (readonly [string, Doc])[] };
    const names = pairs.map(([name]) => name);
    assert.deepEqual(names, ["summary", "since", "group", "complexity"]);
  });

  test("flags, deprecation and differences", () => {
    const deprecated = { since: "2.0.0", replacedBy: "`X`" };
    const docs = commandDocs(withArgs([], { deprecated, system: true, differs: "It does more." }));
    const flags = { set: [{ status: "deprecated" }, { status: "syscmd" }] };
    assert.deepEqual(entry(docs, "doc_flags"), flags);
    assert.equal(entry(docs, "deprecated_since"), "2.0.0");
    assert.equal(entry(docs, "replaced_by"), "`X`");
    assert.equal(entry(docs, "differs"), "It does more.");
  });

  test("keys count up unless they say which spec is theirs", () => {
    const indexes = (args: readonly Argument[], keys?: CommandMeta["keys"]): unknown[] => {
      const docs = commandDocs(withArgs(args, keys === undefined ? {} : { keys }));
      return (entry(docs, "arguments") as Doc[]).map((one) => entry(one, "key_spec_index"));
    };
    assert.deepEqual(indexes([key(["RO"]), str("a"), key(["OW"])]), [0, undefined, 1]);
    const both = { flags: ["RO"], begin: { type: "index", index: 1 } } as const;
    const range = { type: "range", last: 1, step: 1, limit: 0 } as const;
    const shared = [key(["RO"], { keySpec: 0 }), key(["RO"], { keySpec: 0 }), pattern("p", 1)];
    assert.deepEqual(indexes(shared, [{ ...both, find: range }]), [0, 0, 1]);
  });
});
