import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Argument,
  arityOf,
  block,
  deprecatedSince,
  display,
  double,
  extentOf,
  int,
  key,
  multiple,
  multipleToken,
  oneOf,
  opt,
  pattern,
  since,
  str,
  token,
  unixTime,
} from "./grammar.ts";

const SET_ARGS: readonly Argument[] = [
  key(["OW", "update"]),
  str("value"),
  opt(oneOf("condition", token("NX"), token("XX"))),
  opt(oneOf("expiration", token("EX", int("seconds")), token("KEEPTTL"))),
];

describe("arityOf", () => {
  const cases: readonly [name: string, words: number, args: readonly Argument[], arity: number][] =
    [
      ["no arguments", 1, [], 1],
      ["a subcommand without arguments", 2, [], 2],
      ["only fixed arguments", 1, [key(["RO"]), int("start"), int("end")], 4],
      ["optional arguments", 1, SET_ARGS, -3],
      ["one or more", 1, [multiple(key(["RO"]))], -2],
      ["none or more", 2, [opt(multiple(str("name")))], -2],
      ["pairs", 1, [multiple(block("data", key(["OW"]), str("value")))], -3],
      ["a token with a value", 1, [token("COUNT", int("count"))], 3],
      ["a repeated token", 1, [multipleToken(token("GET", pattern("pattern")))], -3],
      ["a token before a block", 1, [token("LIMIT", block("l", int("offset"), int("n")))], 4],
      ["a choice of equal lengths", 1, [oneOf("unit", token("M"), token("KM"))], 2],
      ["a choice of lengths", 1, [oneOf("x", token("SAVE"), token("EX", int("s")))], -2],
      ["an optional part of a block", 1, [block("b", int("a"), opt(token("Z")))], -2],
      ["the empty token", 1, [oneOf("k", key(["RO"]), token(""))], 2],
      ["repetition after fixed arguments", 1, [str("a"), double("d"), multiple(unixTime("t"))], -4],
    ];
  for (const [name, words, args, arity] of cases) {
    test(name, () => assert.equal(arityOf(words, args), arity));
  }
});

test("extentOf has no upper bound where something repeats", () => {
  assert.deepEqual(extentOf(SET_ARGS), { least: 2, most: 5 });
  assert.deepEqual(extentOf([str("a"), multiple(str("b"))]), { least: 2, most: Infinity });
});

describe("constructors", () => {
  test("a lone token is named after its text unless told otherwise", () => {
    assert.equal(token("KEEPTTL").name, "keepttl");
    assert.deepEqual(token("ALPHA", "sorting"), { ...token("ALPHA"), name: "sorting" });
  });

  test("a token before a value keeps the value's name and type", () => {
    const argument = token("EX", int("seconds"));
    assert.equal(argument.name, "seconds");
    assert.equal(argument.type, "integer");
    assert.equal(argument.token, "EX");
  });

  test("wrappers change a copy", () => {
    const plain = str("address");
    const wrapped = opt(
      multiple(since("6.2.0", display("ip:port", deprecatedSince("7.0.0", plain)))),
    );
    assert.deepEqual(plain, str("address"));
    assert.deepEqual(wrapped, {
      ...plain,
      optional: true,
      multiple: true,
      since: "6.2.0",
      displayText: "ip:port",
      deprecatedSince: "7.0.0",
    });
  });

  test("multipleToken is multiple too", () => {
    const argument = multipleToken(token("GET", pattern("pattern")));
    assert.ok(argument.multiple && argument.multipleToken);
    assert.equal(multiple(str("a")).multipleToken, false);
  });

  test("a key carries what its key spec says", () => {
    const argument = key(["RW", "delete"], { name: "source", notes: "why" });
    assert.equal(argument.name, "source");
    assert.deepEqual(argument.keyFlags, ["RW", "delete"]);
    assert.equal(argument.keyNotes, "why");
  });
});
