import assert from "node:assert/strict";
import { test } from "node:test";
import { seedText, testSeed } from "../../../test/support/random.ts";
import type { ByteRange } from "../../base/byte-range.ts";
import { latin1Bytes } from "../../base/bytes.ts";
import { Random } from "../../base/random.ts";
import { NOT_AN_INTEGER, SYNTAX_ERROR } from "../../protocol/errors.ts";
import { bulk, error, integer, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";
import { lcsTable, walkLcs } from "./lcs.ts";

function range(text: string): ByteRange {
  const source = latin1Bytes(`..${text}..`);
  return { source, start: 2, end: 2 + text.length };
}

/** Length by the definition, for short strings. */
function lengthOf(a: string, b: string): number {
  if (a === "" || b === "") return 0;
  if (a.at(-1) === b.at(-1)) return lengthOf(a.slice(0, -1), b.slice(0, -1)) + 1;
  return Math.max(lengthOf(a.slice(0, -1), b), lengthOf(a, b.slice(0, -1)));
}

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of whole) if (letter === part[at]) at++;
  return at === part.length;
}

test("what is found is a common subsequence, none is longer, and its matches are its parts", () => {
  const seed = testSeed(3);
  const random = new Random(seed);
  const word = (): string =>
    Array.from({ length: random.below(9) }, () => "abc"[random.below(3)]).join("");
  for (let i = 0; i < 2000; i++) {
    const a = word();
    const b = word();
    const table = lcsTable(range(a), range(b));
    assert.ok(table !== null);
    assert.equal(table.length, lengthOf(a, b), `${a} ${b}; ${seedText(seed)}`);
    const bytes = new Uint8Array(table.length);
    const parts: string[] = [];
    walkLcs(table, bytes, ({ aStart, aEnd, bStart, bEnd }) => {
      parts.unshift(a.slice(aStart, aEnd + 1));
      assert.equal(b.slice(bStart, bEnd + 1), parts[0]);
    });
    const text = String.fromCharCode(...bytes);
    assert.equal(parts.join(""), text);
    assert.ok(isSubsequence(text, a) && isSubsequence(text, b));
  }
});

function store(): TestStore {
  const t = new TestStore({ commands: STRING_COMMANDS, shards: 4 });
  t.call("MSET", "a", "ohmytext", "b", "mynewtext", "n", "12345", "m", "23456");
  return t;
}

test("LCS answers with the string, its length or its matches", () => {
  const t = store();
  assert.equal(t.call("LCS", "a", "b"), bulk("mytext"));
  assert.equal(t.call("LCS", "n", "m"), bulk("2345"));
  assert.equal(t.call("LCS", "a", "none"), bulk(""));
  assert.equal(t.call("LCS", "a", "b", "len"), integer(6));
  assert.equal(t.call("LCS", "none", "none", "LEN"), integer(0));
  const ranges = ":4\r\n:7\r\n*2\r\n:5\r\n:8\r\n";
  const first = `*2\r\n:2\r\n:3\r\n*2\r\n:0\r\n:1\r\n`;
  const end = "$3\r\nlen\r\n:6\r\n";
  assert.equal(
    t.call("LCS", "a", "b", "IDX"),
    `*4\r\n$7\r\nmatches\r\n*2\r\n*2\r\n*2\r\n${ranges}*2\r\n${first}${end}`,
  );
  assert.equal(
    t.call("LCS", "a", "b", "IDX", "MINMATCHLEN", "4", "WITHMATCHLEN"),
    `*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n${ranges}:4\r\n${end}`,
  );
  t.reply.proto = 3;
  assert.equal(
    t.call("LCS", "a", "b", "IDX", "MINMATCHLEN", "5"),
    `%2\r\n$7\r\nmatches\r\n*0\r\n${end}`,
  );
  assert.deepEqual(t.takeEvents().length, 4);
});

test("LCS names what is wrong with its options, and what is too long", () => {
  const t = store();
  assert.deepEqual(
    t.calls("LCS a b x", "LCS a b MINMATCHLEN", "LCS a b MINMATCHLEN x", "LCS a b LEN IDX"),
    [
      error(SYNTAX_ERROR),
      error(SYNTAX_ERROR),
      error(NOT_AN_INTEGER),
      error("ERR If you want both the length and indexes, please just use IDX."),
    ],
  );
  t.store.bulkMax = 9 * 10 * 4;
  assert.equal(t.call("LCS", "a", "b", "LEN"), integer(6));
  t.store.bulkMax--;
  assert.equal(
    t.call("LCS", "a", "b", "LEN"),
    error("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"),
  );
});
