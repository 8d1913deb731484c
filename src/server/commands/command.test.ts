/**
 * COMMAND over a small table. That the contents are Redis's is checked in test/conformance; here it
 * is the form of the replies, in both protocols, and every way to ask wrongly.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsOf } from "../../base/args-test-support.ts";
import { int, key, multiple, opt, str } from "../../command/grammar.ts";
import { CommandTable } from "../../command/lookup.ts";
import type { Session } from "../../command/session.ts";
import type { CommandMeta, CommandSpec } from "../../command/spec.ts";
import { Reply } from "../../protocol/reply.ts";
import { SET_META } from "../../types/string/specs.ts";
import { COMMAND_COMMANDS } from "./command.ts";
import { CLIENT_ID_META, CLIENT_META, DEBUG_META } from "./specs.ts";

const run = (): void => {};
const EVAL_META: CommandMeta = {
  name: "EVAL",
  group: "scripting",
  since: "2.6.0",
  complexity: "Depends on the script that is executed.",
  summary: "Executes a script.",
  flags: ["noscript", "no_mandatory_keys"],
  args: [str("script"), int("numkeys"), opt(multiple(key(["RW", "access", "update"])))],
};
const MGET_META: CommandMeta = {
  ...EVAL_META,
  name: "MGET",
  group: "string",
  flags: ["readonly"],
  args: [int("numkeys"), multiple(key(["RO"]))],
};
const SPECS: readonly CommandSpec[] = [
  ...COMMAND_COMMANDS,
  { ...SET_META, locks: "keys", run },
  { ...EVAL_META, locks: "all", run },
  { ...MGET_META, locks: "keys", run },
  { ...CLIENT_META, locks: "container" },
  { ...CLIENT_ID_META, locks: "none", run },
  { ...DEBUG_META, locks: "none", run },
];
const commands = new CommandTable(SPECS);
const session = { server: { commands } } as unknown as Session;

/** The reply to COMMAND with these words after it, line ends shown as blanks. */
function ask(proto: number, ...words: readonly string[]): string {
  const args = argsOf("COMMAND", ...words);
  const reply = new Reply();
  reply.proto = proto;
  const command = commands.resolve(args, 0);
  assert.ok(command, words.join(" "));
  command.runSession(session, args, reply);
  return Buffer.from(reply.buffer.subarray(0, reply.length))
    .toString("latin1")
    .replace(/\r\n/g, " ");
}

describe("COMMAND INFO", () => {
  test("in RESP2 and RESP3", () => {
    assert.equal(
      ask(2, "INFO", "SET"),
      `*1 *10 $3 set :-3 *2 +write +denyoom :1 :1 :1 *3 +@write +@string +@slow *0 *1 *8 $5 notes ` +
        "$48 RW and ACCESS due to the optional `GET` argument $5 flags *4 +RW +access +update " +
        "+variable_flags $12 begin_search *4 $4 type $5 index $4 spec *2 $5 index :1 $9 find_keys " +
        "*4 $4 type $5 range $4 spec *6 $7 lastkey :0 $7 keystep :1 $5 limit :0 *0 ",
    );
    assert.equal(
      ask(3, "INFO", "eval"),
      "*1 *10 $4 eval :-3 ~3 +noscript +no_mandatory_keys +movablekeys :0 :0 :0 ~2 +@slow " +
        "+@scripting ~0 ~1 %3 $5 flags ~3 +RW +access +update $12 begin_search %2 $4 type $5 index " +
        "$4 spec %1 $5 index :2 $9 find_keys %2 $4 type $6 keynum $4 spec %3 $9 keynumidx :0 " +
        "$8 firstkey :1 $7 keystep :1 ~0 ",
    );
  });

  test("an unknown name is nil, a subcommand has its container before it", () => {
    assert.equal(ask(2, "INFO", "nosuch", "client id"), "*2 $-1 $-1 ");
    assert.equal(ask(3, "INFO", "nosuch"), "*1 _ ");
    assert.match(ask(2, "INFO", "CLIENT|Id"), /^\*1 \*10 \$9 client\|id :2 /);
  });

  test("a container lists its subcommands, and no name means all", () => {
    assert.match(
      ask(2, "INFO", "client"),
      /:-2 \*0 :0 :0 :0 \*1 \+@slow \*0 \*0 \*1 \*10 \$9 client\|id /,
    );
    assert.ok(ask(2, "INFO").startsWith(`*${commands.top.length} `));
    assert.equal(ask(2), ask(2, "INFO"));
  });
});

describe("COMMAND DOCS", () => {
  test("in RESP2 and RESP3, and unknown names are left out", () => {
    const docs = ask(2, "DOCS", "debug", "nosuch");
    assert.equal(
      docs,
      "*2 $5 debug *10 $7 summary $35 A container for debugging commands. $5 since $5 1.0.0 " +
        "$5 group $6 server $10 complexity $22 Depends on subcommand. $9 doc_flags *1 +syscmd ",
    );
    assert.match(ask(3, "DOCS", "debug"), /^%1 \$5 debug %5 .* ~1 \+syscmd $/);
    assert.equal(ask(3, "DOCS", "nosuch"), "%0 ");
  });

  test("arguments are maps, nested", () => {
    const docs = ask(3, "DOCS", "set");
    assert.ok(
      docs.includes("$9 arguments *5 %4 $4 name $3 key $4 type $3 key $12 display_text $3 key "),
    );
    assert.ok(
      docs.includes(
        "$4 type $5 oneof $5 since $6 2.6.12 $5 flags ~1 +optional $9 arguments *2 %4 ",
      ),
    );
    assert.ok(docs.includes("$14 key_spec_index :0 "));
  });

  test("subcommands come with their full names", () => {
    assert.match(ask(3, "DOCS", "client"), / \$11 subcommands %1 \$9 client\|id %4 \$7 summary /);
  });
});

describe("COMMAND GETKEYS and GETKEYSANDFLAGS", () => {
  test("keys and what is done with them", () => {
    assert.equal(ask(2, "GETKEYS", "EVAL", "s", "2", "a", "b", "c"), "*2 $1 a $1 b ");
    assert.equal(ask(2, "GETKEYSANDFLAGS", "SET", "a", "b"), "*1 *2 $1 a *2 +OW +update ");
    assert.equal(
      ask(3, "GETKEYSANDFLAGS", "SET", "a", "b", "nx", "get"),
      "*1 *2 $1 a ~3 +RW +access +update ",
    );
  });

  test("only a command that may do without keys answers none", () => {
    assert.equal(ask(2, "GETKEYS", "EVAL", "s", "0"), "*0 ");
    const error = "-ERR Invalid arguments specified for command ";
    assert.equal(ask(2, "GETKEYS", "MGET", "0", "a"), error);
    assert.equal(ask(2, "GETKEYS", "MGET", "x", "a"), error);
  });

  test("errors", () => {
    assert.equal(ask(2, "GETKEYS", "nosuch"), "-ERR Invalid command specified ");
    assert.equal(ask(2, "GETKEYS", "client", "nosuch"), "-ERR Invalid command specified ");
    assert.equal(ask(2, "GETKEYS", "client", "id"), "-ERR The command has no key arguments ");
    const arity = "-ERR Invalid number of arguments specified for command ";
    assert.equal(ask(2, "GETKEYS", "SET", "a"), arity);
  });
});

describe("COMMAND LIST", () => {
  test("everything, or what a filter keeps", () => {
    assert.ok(ask(2, "LIST").startsWith(`*${SPECS.length} `));
    assert.equal(ask(2, "LIST", "filterby", "module", "x"), "*0 ");
    assert.equal(ask(2, "LIST", "FILTERBY", "ACLCAT", "STRING"), "*2 $3 set $4 mget ");
    assert.equal(ask(2, "LIST", "FILTERBY", "ACLCAT", "@string"), "*0 ");
    assert.equal(ask(2, "LIST", "FILTERBY", "PATTERN", "CLIENT|*"), "*1 $9 client|id ");
  });

  test("anything else is a syntax error", () => {
    for (const words of [["FILTERBY"], ["FILTERBY", "x", "y"], ["x"], ["FILTERBY", "PATTERN"]]) {
      assert.equal(ask(2, "LIST", ...words), "-ERR syntax error ");
    }
    assert.equal(ask(2, "LIST", "FILTERBY", "MODULE", "x", "y"), "-ERR syntax error ");
  });
});

test("COMMAND COUNT leaves subcommands out, HELP is made of simple strings", () => {
  assert.equal(ask(2, "COUNT"), `:${commands.top.length} `);
  const help = ask(2, "HELP");
  assert.ok(
    help.startsWith("*21 +COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are: +(no"),
  );
  assert.ok(help.endsWith("+HELP +    Print this help. "));
});
