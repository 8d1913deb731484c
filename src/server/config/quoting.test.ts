import assert from "node:assert/strict";
import { test } from "node:test";
import { quote, splitWords, trimLine } from "./quoting.ts";

test("words are split as Redis's redis.conf lines", () => {
  const rows: [line: string, words: string[] | null][] = [
    ["", []],
    ["   \t ", []],
    ["port 6379", ["port", "6379"]],
    ["  save  60\t1  ", ["save", "60", "1"]],
    ['logfile ""', ["logfile", ""]],
    ["logfile ''", ["logfile", ""]],
    ['a "b c"', ["a", "b c"]],
    ["a 'b c'", ["a", "b c"]],
    ['a "\\x41\\x7a\\xff"', ["a", "Az\xff"]],
    ['a "\\x4"', ["a", "x4"]],
    ['a "\\n\\r\\t\\b\\a\\q\\\\\\""', ["a", '\n\r\t\b\x07q\\"']],
    ["a '\\n\\x41\\''", ["a", "\\n\\x41'"]],
    ["a \\n", ["a", "\\n"]],
    ['foo"bar baz"', ["foobar baz"]],
    ['a "b"c', null],
    ["a 'b'c", null],
    ['a "b', null],
    ["a 'b", null],
    ['a "b\\"', null],
    ["a 'b\\'", null],
    ['a "b\\', null],
    ['"', null],
    ['a "b"\vc', ["a", "b", "c"]],
    ["a b\vc", ["a", "b\vc"]],
    ["a b\0c", ["a", "b"]],
    ["# a", ["#", "a"]],
  ];
  for (const [line, words] of rows) {
    assert.deepEqual(splitWords(line), words, JSON.stringify(line));
  }
});

test("quote gives what splitWords takes back, for every byte", () => {
  let all = "";
  // A NUL ends a line even inside of quotes, so only its escape comes back.
  for (let byte = 0; byte < 256; byte++) all += String.fromCharCode(byte);
  for (const text of [all, "", "plain", 'with "quotes" and \\', "\\x41", "tab\tand\nline"]) {
    assert.deepEqual(splitWords(`name ${quote(text)}`), ["name", text]);
    assert.match(quote(text), /^[ -~]*$/, "only printable characters");
  }
  assert.equal(quote("a\x01\x7f\xe9"), '"a\\x01\\x7f\\xe9"');
});

test("a line loses blanks, tabs and carriage returns at both ends, and no other white space", () => {
  assert.equal(trimLine(" \t\r a b \r\n"), "a b");
  assert.equal(trimLine("\va\f"), "\va\f");
});
