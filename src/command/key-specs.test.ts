import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsOf } from "../base/args-test-support.ts";
import type { KeySpec } from "./grammar.ts";
import { type Argument, block, int, key, multiple, oneOf, opt, str, token } from "./grammar.ts";
import {
  deriveKeySpecs,
  findKeys,
  KEY_FLAG_NAMES,
  KEY_RO,
  KEY_RW,
  KEY_UPDATE,
  KEYS_FOUND,
  KEYS_UNKNOWN,
  KeyList,
  keyFlagBitsOf,
  plainRangeOf,
} from "./key-specs.ts";

/** Positions of the keys of a call, or null if the specs cannot tell. */
function found(specs: readonly KeySpec[], words: readonly string[], base = 0): number[] | null {
  const out = new KeyList();
  const flagBits = Int32Array.from(specs, ({ flags }) => keyFlagBitsOf(flags));
  const result = findKeys(specs, flagBits, argsOf(...words), base, out);
  if (result === KEYS_UNKNOWN) {
    assert.equal(out.count, 0);
    return null;
  }
  assert.equal(result, KEYS_FOUND);
  return [...out.at.subarray(0, out.count)];
}

const RO = key(["RO", "access"]);
const index = (at: number) => ({ type: "index", index: at }) as const;
const range = (last: number, step = 1, limit = 0) =>
  ({ type: "range", last, step, limit }) as const;

describe("deriveKeySpecs", () => {
  type Case = [
    name: string,
    words: number,
    args: readonly Argument[],
    begin: unknown,
    find: unknown,
  ];
  const cases: readonly Case[] = [
    ["a single key", 1, [RO], index(1), range(0)],
    ["a key of a subcommand", 2, [RO, int("n")], index(2), range(0)],
    ["keys to the end", 1, [multiple(RO)], index(1), range(-1)],
    ["keys but for the last argument", 1, [multiple(RO), int("timeout")], index(1), range(-2)],
    ["every second", 1, [multiple(block("data", RO, str("value")))], index(1), range(-1, 2)],
    ["a counted list", 1, [int("numkeys"), multiple(RO)], index(1), keynum(0)],
    [
      "a counted list that may be empty",
      1,
      [str("s"), int("numkeys"), opt(multiple(RO))],
      index(2),
      keynum(0),
    ],
    [
      "an optional key after a token",
      1,
      [str("a"), opt(token("STORE", RO))],
      keyword("STORE", 2),
      range(0),
    ],
    [
      "half of what follows a token",
      1,
      [
        opt(token("COUNT", int("n"))),
        token("STREAMS", block("s", multiple(RO), multiple(str("id")))),
      ],
      keyword("STREAMS", 1),
      range(-1, 1, 2),
    ],
  ];
  for (const [name, words, args, begin, find] of cases) {
    test(name, () => {
      assert.deepEqual(deriveKeySpecs(words, args), [{ flags: ["RO", "access"], begin, find }]);
    });
  }

  test("one spec for each key, with its notes", () => {
    const to = key(["OW", "update"], { name: "destination", notes: "why" });
    assert.deepEqual(deriveKeySpecs(1, [RO, to]), [
      { flags: ["RO", "access"], begin: index(1), find: range(0) },
      { flags: ["OW", "update"], begin: index(2), find: range(0), notes: "why" },
    ]);
  });

  test("refuses what the grammar does not say", () => {
    assert.throws(() => deriveKeySpecs(1, [opt(str("a")), RO]), /position of key is not fixed/);
    assert.throws(() => deriveKeySpecs(1, [multiple(RO), opt(str("a"))]), /key repeats/);
    assert.throws(() => deriveKeySpecs(1, [oneOf("k", RO, token(""))]), /do not follow/);
    const uneven = multiple(block("b", RO, opt(str("a"))));
    assert.throws(() => deriveKeySpecs(1, [uneven]), /do not follow/);
  });
});

function keynum(countAt: number): KeySpec["find"] {
  return { type: "keynum", countAt, first: 1, step: 1 };
}

function keyword(word: string, from: number): KeySpec["begin"] {
  return { type: "keyword", keyword: word, from };
}

describe("plainRangeOf", () => {
  const at = (position: number, last = 0): KeySpec => {
    return { flags: ["RO"], begin: index(position), find: range(last) };
  };
  test("no keys", () => {
    assert.deepEqual(plainRangeOf([]), { first: 0, last: 0, step: 0, movable: false });
  });
  test("joins adjacent keys", () => {
    const joined = { first: 1, last: 2, step: 1, movable: false };
    assert.deepEqual(plainRangeOf([at(1), at(2)]), joined);
    const toEnd = { first: 1, last: -1, step: 1, movable: false };
    assert.deepEqual(plainRangeOf([at(1), at(2, -1)]), toEnd);
  });
  test("a gap makes the second movable", () => {
    const first = { first: 1, last: 1, step: 1, movable: true };
    assert.deepEqual(plainRangeOf([at(1), at(3)]), first);
  });
  test("counted keys have no plain form", () => {
    const spec: KeySpec = { flags: ["RO"], begin: index(1), find: keynum(0) };
    assert.deepEqual(plainRangeOf([spec]), { first: 0, last: 0, step: 0, movable: true });
  });
  test("an incomplete spec is movable", () => {
    const spec: KeySpec = { flags: ["RW", "incomplete"], begin: index(3), find: range(0) };
    assert.deepEqual(plainRangeOf([spec]), { first: 3, last: 3, step: 1, movable: true });
  });
});

describe("findKeys", () => {
  const all = deriveKeySpecs(1, [multiple(RO)]);
  const pairs = deriveKeySpecs(1, [multiple(block("data", RO, str("value")))]);
  const counted = deriveKeySpecs(1, [int("numkeys"), multiple(RO)]);
  const streams = deriveKeySpecs(1, [
    opt(token("COUNT", int("n"))),
    token("STREAMS", block("s", multiple(RO), multiple(str("id")))),
  ]);

  test("ranges and steps", () => {
    assert.deepEqual(found(all, ["MGET", "a", "b", "c"]), [1, 2, 3]);
    assert.deepEqual(found(pairs, ["MSET", "a", "1", "b", "2"]), [1, 3]);
    const before = deriveKeySpecs(1, [multiple(RO), int("timeout")]);
    assert.deepEqual(found(before, ["BLPOP", "a", "b", "0"]), [1, 2]);
  });

  test("an odd number of words leaves the last key without value", () => {
    assert.deepEqual(found(pairs, ["MSET", "a", "1", "b"]), [1, 3]);
  });

  test("a call inside another request", () => {
    assert.deepEqual(found(all, ["COMMAND", "GETKEYS", "MGET", "a", "b"], 2), [3, 4]);
  });

  test("too few words make the call keyless", () => {
    assert.equal(found(all, ["MGET"]), null);
    const second = deriveKeySpecs(2, [RO]);
    assert.equal(found(second, ["OBJECT", "FREQ"]), null);
  });

  test("counts", () => {
    assert.deepEqual(found(counted, ["ZUNION", "2", "a", "b", "WEIGHTS"]), [2, 3]);
    assert.deepEqual(found(counted, ["ZUNION", "01", "a", "b"]), [2]);
    for (const count of ["0", "3", "-1", "x", "", "99999999999999999999"]) {
      assert.equal(found(counted, ["ZUNION", count, "a", "b"]), null, count);
    }
    assert.equal(found(counted, ["ZUNION"]), null);
  });

  test("keywords in any letter case, from where they may stand", () => {
    assert.deepEqual(
      found(streams, ["XREAD", "COUNT", "1", "streams", "a", "b", "0", "0"]),
      [4, 5],
    );
    assert.deepEqual(found(streams, ["XREAD", "COUNT", "1"]), []);
    assert.equal(found(streams, ["XREAD", "STREAMS", "a"]), null);
    const store = deriveKeySpecs(1, [RO, str("unit"), opt(token("STORE", RO))]);
    assert.deepEqual(found(store, ["GEO", "STORE", "m", "STORE", "to"]), [1, 4]);
  });

  test("keywords searched from the end", () => {
    const flags = ["RW"] as const;
    const keys: KeySpec = { flags, begin: keyword("KEYS", -2), find: range(-1) };
    assert.deepEqual(found([keys], ["MIGRATE", "h", "p", "KEYS", "KEYS", "a"]), [5]);
    assert.deepEqual(found([keys], ["MIGRATE", "h", "p", "k"]), []);
  });

  test("channels are no keys, unknown and incomplete specs cannot tell", () => {
    const channel: KeySpec = { flags: ["not_key"], begin: index(1), find: range(-1) };
    assert.deepEqual(found([channel], ["SSUBSCRIBE", "a"]), []);
    const unknown: KeySpec = {
      flags: ["RO"],
      begin: { type: "unknown" },
      find: { type: "unknown" },
    };
    assert.equal(found([...all, unknown], ["SORT", "a"]), null);
    const incomplete: KeySpec = { flags: ["RW", "incomplete"], begin: index(1), find: range(0) };
    assert.equal(found([incomplete], ["X", "a"]), null);
  });

  test("flags go with each key, and the list keeps what was in it", () => {
    const specs = deriveKeySpecs(1, [RO, key(["RW", "update"])]);
    const out = new KeyList();
    out.push(9, 0);
    const bits = Int32Array.from(specs, ({ flags }) => keyFlagBitsOf(flags));
    findKeys(specs, bits, argsOf("X", "a", "b"), 0, out);
    assert.deepEqual([...out.at.subarray(0, out.count)], [9, 1, 2]);
    assert.equal(out.flags[1], KEY_RO | keyFlagBitsOf(["access"]));
    assert.equal(out.flags[2], KEY_RW | KEY_UPDATE);
  });
});

test("the list grows past its first capacity", () => {
  const out = new KeyList();
  for (let i = 0; i < 1000; i++) out.push(i, i * 2);
  assert.equal(out.count, 1000);
  assert.equal(out.at[999], 999);
  assert.equal(out.flags[17], 34);
  out.clear();
  assert.equal(out.count, 0);
});

test("every key flag has a bit of its own", () => {
  assert.equal(keyFlagBitsOf(KEY_FLAG_NAMES), (1 << KEY_FLAG_NAMES.length) - 1);
});
