import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParseContext, ValueType } from "./directive.ts";
import {
  cappedInteger,
  formatMemory,
  INT_MAX,
  INT64_MAX,
  integer,
  integerOrAuto,
  memory,
  memoryInSteps,
  memoryOrPercent,
  memoryRaisedTo,
  octal,
  oneOf,
  parseInt64,
  parseStrtoll,
  powerOfTwoOrAuto,
  someOf,
  text,
  UINT64_MAX,
  yesNo,
  yesNoUnless,
} from "./value-types.ts";

const CONTEXT: ParseContext = {
  current: "",
  adding: false,
  directoryError: () => null,
  resolve: (path) => path,
};

/** Words to the value, or to "!" and the error. */
function parses(
  type: ValueType,
  rows: readonly [words: string | string[], result: string][],
): void {
  for (const [words, result] of rows) {
    const parsed = type.parse([words].flat(), CONTEXT);
    assert.equal(parsed.ok ? parsed.text : `!${parsed.error}`, result, JSON.stringify(words));
  }
}

const NOT_INTEGER = "!argument couldn't be parsed into an integer";
const NOT_MEMORY = "!argument must be a memory value";

test("int64 texts", () => {
  const rows: [string, bigint | null][] = [
    ["0", 0n],
    ["-1", -1n],
    ["9223372036854775807", INT64_MAX],
    ["9223372036854775808", null],
    ["-9223372036854775808", -(2n ** 63n)],
    ["-9223372036854775809", null],
    ["99999999999999999999", null],
    ["", null],
    ["-", null],
    ["-0", null],
    ["+1", null],
    ["01", null],
    [" 1", null],
    ["1 ", null],
  ];
  for (const [word, value] of rows) assert.equal(parseInt64(word), value, word);
});

test("strtoll texts", () => {
  const rows: [string, bigint | null][] = [
    ["", 0n],
    [" \t+7", 7n],
    ["-07", -7n],
    ["7 ", null],
    ["7x", null],
    ["-", null],
    ["99999999999999999999", INT64_MAX],
    ["-99999999999999999999", -(2n ** 63n)],
  ];
  for (const [word, value] of rows) assert.equal(parseStrtoll(word), value, word);
});

test("integers", () => {
  parses(integer(0, INT_MAX), [
    ["7", "7"],
    ["x", NOT_INTEGER],
    ["-1", "!argument must be between 0 and 2147483647 inclusive"],
    ["2147483648", "!argument must be between 0 and 2147483647 inclusive"],
  ]);
  parses(integerOrAuto(1, 8), [
    ["AUTO", "auto"],
    ["8", "8"],
    ["9", "!argument must be between 1 and 8 inclusive"],
    ["automatic", NOT_INTEGER],
  ]);
  parses(powerOfTwoOrAuto(4, 64), [
    ["auto", "auto"],
    ["4", "4"],
    ["64", "64"],
    ["6", "!argument must be a power of two"],
    ["2", "!argument must be between 4 and 64 inclusive"],
    ["128", "!argument must be between 4 and 64 inclusive"],
  ]);
  parses(cappedInteger(1n, 500n), [
    ["0", "1"],
    ["10", "10"],
    ["501", "500"],
    ["-1", "!argument must be between 0 and 2147483647 inclusive"],
  ]);
});

test("octal numbers", () => {
  parses(octal(0, 0o777), [
    ["700", "700"],
    ["0777", "777"],
    ["", "0"],
    [" +7", "7"],
    ["9", "!argument couldn't be parsed as an octal number"],
    ["7 ", "!argument couldn't be parsed as an octal number"],
    ["1000", "!argument must be between 0 and 777 inclusive"],
    ["-1", "!argument must be between 0 and 777 inclusive"],
  ]);
});

test("memory", () => {
  parses(memory(0, UINT64_MAX), [
    ["1Mb", "1048576"],
    ["", "0"],
    ["18446744073709551615", "18446744073709551615"],
    ["-1", NOT_MEMORY],
    ["1tb", NOT_MEMORY],
  ]);
  parses(memory(1048576, INT64_MAX), [
    ["1k", "!argument must be between 1048576 and 9223372036854775807 inclusive"],
    ["9223372036854775808", "!argument must be between 1048576 and 9223372036854775807 inclusive"],
  ]);
  parses(memoryRaisedTo(16384n), [
    ["1", "16384"],
    ["16385", "16385"],
    ["0", "!argument must be between 1 and 9223372036854775807 inclusive"],
  ]);
  parses(memoryInSteps(1024, 4096, 1024), [
    ["2kb", "2048"],
    ["1025", "!argument must be a multiple of 1024"],
    ["8kb", "!argument must be between 1024 and 4096 inclusive"],
  ]);
  parses(memoryOrPercent(), [
    ["5%", "5%"],
    ["0%", "0"],
    ["100%", "100%"],
    ["1kb", "1024"],
    ["101%", "!percentage argument must be less or equal to 100"],
    ["-5%", "!argument must be a memory or percent value"],
    ["%", "!argument must be a memory or percent value"],
    ["x", "!argument must be a memory or percent value"],
  ]);
});

test("memory is written with the largest unit that fits exactly", () => {
  const rows: [bigint, string][] = [
    [0n, "0"],
    [1023n, "1023"],
    [1024n, "1kb"],
    [1025n * 1024n, "1025kb"],
    [3n * 2n ** 20n, "3mb"],
    [2n ** 30n, "1gb"],
    [2n ** 40n, "1024gb"],
  ];
  for (const [bytes, shown] of rows) assert.equal(formatMemory(bytes), shown);
});

test("words", () => {
  parses(yesNo, [
    ["YES", "yes"],
    ["no", "no"],
    ["1", "!argument must be 'yes' or 'no'"],
  ]);
  parses(
    yesNoUnless((value) => (value === "yes" ? "never" : null)),
    [
      ["Yes", "!never"],
      ["no", "no"],
      ["x", "!argument must be 'yes' or 'no'"],
    ],
  );
  parses(oneOf(["a", "b", "c"], { c: "b" }), [
    ["A", "a"],
    ["c", "b"],
    ["d", "!argument(s) must be one of the following: a, b, c"],
    ["", "!argument(s) must be one of the following: a, b, c"],
    [["a", "b"], "!argument(s) must be one of the following: a, b, c"],
  ]);
  const several = someOf(["none", "a", "b", "c"], { of: ["a", "b"], error: "not both" });
  parses(several, [
    [["c", "A"], "a c"],
    ["none", "none"],
    [["none", "b"], "b"],
    [["b", "a"], "!not both"],
    ["x", "!argument(s) must be one of the following: none, a, b, c"],
  ]);
  assert.equal(several.parse([], CONTEXT).ok, false);
});

test("texts may be refused", () => {
  parses(text({ check: (value) => (value === "bad" ? "is bad" : null) }), [
    ["", ""],
    ["a b", "a b"],
    ["bad", "!is bad"],
  ]);
});

test("lines of a rewritten file", () => {
  const rewritten = (type: ValueType, value: string, standard: string): string[] =>
    type.rewrite("x", value, standard).map(({ line, force }) => `${force ? "+" : "?"}${line}`);
  assert.deepEqual(rewritten(integer(0, 9), "1", "1"), ["?x 1"]);
  assert.deepEqual(rewritten(integer(0, 9), "2", "1"), ["+x 2"]);
  assert.deepEqual(rewritten(memory(0, INT64_MAX), "2048", "0"), ["+x 2kb"]);
  assert.deepEqual(rewritten(memoryOrPercent(), "5%", "0"), ["+x 5%"]);
  assert.deepEqual(rewritten(text(), 'a "b"', ""), ['+x "a \\"b\\""']);
  assert.deepEqual(rewritten(text(), "", ""), ['?x ""']);
  assert.deepEqual(rewritten(text({ emptyIsUnset: true }), "", "a"), []);
});
