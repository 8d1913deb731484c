import assert from "node:assert/strict";
import { test } from "node:test";
import { latin1Bytes } from "./bytes.ts";
import { keySlot } from "./crc16.ts";
import { Glob, globMatch, globMatchText } from "./glob.ts";
import { Random } from "./random.ts";

/** The keys of a real server, and below what KEYS answered: places in this list. */
const KEYS: readonly string[] = [
  "",
  "a",
  "b",
  "aa",
  "ab",
  "ba",
  "aab",
  "abc",
  "acb",
  "aXb",
  "*",
  "?",
  "[",
  "]",
  "\\",
  "-",
  "^",
  "a*",
  "a?b",
  "[a]",
  "a\\",
  "a-b",
  "hello",
  "hallo",
  "hxllo",
  "heeello",
  "user:1",
  "user:10",
  "user:1:name",
  "{tag}x",
  "\xe9",
  "z\xe9",
  "\x80",
  "A",
  "AB",
  "Z",
  "_",
  "~",
  "a\nb",
  "aaaaaaab",
];

const ANSWERS: readonly [pattern: string, places: string][] = [
  [
    "**",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
  ],
  ["?", "1 2 10 11 12 13 14 15 16 30 32 33 35 36 37"],
  ["??", "3 4 5 17 20 31 34"],
  ["a", "1"],
  ["a*", "1 3 4 6 7 8 9 17 18 20 21 38 39"],
  ["*a", "1 3 5"],
  ["*b", "2 4 6 8 9 18 21 38 39"],
  ["a*b", "4 6 8 9 18 21 38 39"],
  ["a**b", "4 6 8 9 18 21 38 39"],
  ["*a*b*", "4 6 7 8 9 18 21 38 39"],
  [
    "?*",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
  ],
  [
    "*?",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
  ],
  ["*??", "3 4 5 6 7 8 9 17 18 19 20 21 22 23 24 25 26 27 28 29 31 34 38 39"],
  ["a?b", "6 8 9 18 21 38"],
  ["[ab]", "1 2"],
  ["[^ab]", "10 11 12 13 14 15 16 30 32 33 35 36 37"],
  ["[a-c]", "1 2"],
  ["[c-a]", "1 2"],
  ["[a-]", "1 13 16 36"],
  ["[-a]", "1 15"],
  ["[]", ""],
  ["[^]", "1 2 10 11 12 13 14 15 16 30 32 33 35 36 37"],
  ["[]a]", ""],
  ["[^]a]", "19"],
  ["[", ""],
  ["[^", "1 2 10 11 12 13 14 15 16 30 32 33 35 36 37"],
  ["[a", "1"],
  ["[^a", "2 10 11 12 13 14 15 16 30 32 33 35 36 37"],
  ["[ab", "1 2"],
  ["[a-", "1 15"],
  ["[a-c", "1 2"],
  ["[\\]]", "13"],
  ["[\\[-z]", "12 15"],
  ["[a\\-z]", "1 15"],
  ["[\\", "14"],
  ["[a\\", "1 14"],
  ["\\*", "10"],
  ["\\?", "11"],
  ["\\[a]", "19"],
  ["\\\\", "14"],
  ["a\\\\", "20"],
  ["a\\", "20"],
  ["\\", "14"],
  ["*\\", "14 20"],
  ["\\a", "1"],
  ["a\\*", "17"],
  ["h?llo", "22 23 24"],
  ["h*llo", "22 23 24 25"],
  ["h[ae]llo", "22 23"],
  ["h[^e]llo", "23 24"],
  ["h[a-b]llo", "23"],
  ["user:*", "26 27 28"],
  ["user:?", "26"],
  ["user:1*", "26 27 28"],
  ["*:name", "28"],
  ["u*:*:n*e", "28"],
  ["\\{tag}*", "29"],
  ["{tag}*", "29"],
  ["\xe9", "30"],
  ["?\xe9", "31"],
  ["[\xe9-a]", "1 10 11 12 13 14 15 16 30 33 35 36"],
  ["[a-\xe9]", "1 10 11 12 13 14 15 16 30 33 35 36"],
  ["[^\xe9-a]", "2 32 37"],
  ["[\x80-\xff]", "30 32"],
  ["[A-Z]", "33 35"],
  ["[Z-a]", "1 12 13 14 16 35 36"],
  [
    "[A-z]*",
    "1 2 3 4 5 6 7 8 9 12 13 14 16 17 18 19 20 21 22 23 24 25 26 27 28 31 33 34 35 36 38 39",
  ],
  ["a[*]", "17"],
  ["*[?]*", "11 18"],
  ["a\n*", "38"],
  ["*a*a*a*a*b", "39"],
  ["*ab*", "4 6 7 39"],
  ["*[b-]", "1 2 3 4 5 6 8 9 13 16 18 19 21 36 38 39"],
  [
    "*[^-]",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39",
  ],
  [" *", ""],
  ["", "0"],
];

/** All ways to match, alone and prepared; they must agree. */
function isMatch(pattern: string, text: string, isNoCase: boolean): boolean {
  const bytes = latin1Bytes(pattern);
  const framed = latin1Bytes(`a${text}*`);
  const direct = globMatch(bytes, framed, 1, 1 + text.length, isNoCase);
  const prepared = new Glob(bytes, isNoCase).matches(framed, 1, 1 + text.length);
  assert.equal(prepared, direct, JSON.stringify([pattern, text, isNoCase]));
  assert.equal(globMatchText(pattern, text, isNoCase), direct);
  return direct;
}

test("every pattern finds the keys that KEYS of a real server finds", () => {
  for (const [pattern, places] of ANSWERS) {
    const found = KEYS.flatMap((key, place) => (isMatch(pattern, key, false) ? [place] : []));
    assert.equal(found.join(" "), places, JSON.stringify(pattern));
  }
});

type Element = "*" | Set<number>;

/** The pattern as a list of stars and byte sets, with case. */
function parse(pattern: string): Element[] {
  const all = Array.from({ length: 256 }, (_, byte) => byte);
  const elements: Element[] = [];
  const rest = [...pattern];
  while (rest.length > 0) {
    const symbol = rest.shift()!;
    if (symbol === "*") elements.push("*");
    else if (symbol === "?") elements.push(new Set(all));
    else if (symbol === "[") {
      const isNegated = rest[0] === "^" && rest.shift() === "^";
      const set = new Set<number>();
      while (rest.length > 0 && rest[0] !== "]") {
        const first = rest.shift()!;
        if (first === "\\" && rest.length > 0) set.add(rest.shift()!.charCodeAt(0));
        else if (rest[0] === "-" && rest.length > 1) {
          const bounds = [first.charCodeAt(0), rest[1]!.charCodeAt(0)].sort((a, b) => a - b);
          for (let byte = bounds[0]!; byte <= bounds[1]!; byte++) set.add(byte);
          rest.splice(0, 2);
        } else set.add(first.charCodeAt(0));
      }
      rest.shift();
      elements.push(isNegated ? new Set(all.filter((byte) => !set.has(byte))) : set);
    } else {
      const literal = symbol === "\\" && rest.length > 0 ? rest.shift()! : symbol;
      elements.push(new Set([literal.charCodeAt(0)]));
    }
  }
  return elements;
}

function naiveMatch(elements: Element[], text: string): boolean {
  const [first, ...others] = elements;
  if (first === undefined) return text === "";
  if (first === "*") {
    return naiveMatch(others, text) || (text !== "" && naiveMatch(elements, text.slice(1)));
  }
  return text !== "" && first.has(text.charCodeAt(0)) && naiveMatch(others, text.slice(1));
}

test("every pattern of up to five symbols agrees with a model on short texts", () => {
  const symbols = "*?ab[]^-\\";
  const texts = [
    "",
    "a",
    "b",
    "-",
    "]",
    "^",
    "\\",
    "[",
    "ab",
    "ba",
    "aa",
    "a-",
    "b]",
    "aab",
    "bab",
  ];
  const random = new Random("glob");
  for (let length = 0; length <= 5; length++) {
    const count = symbols.length ** length;
    // All of the shorter ones, one in eight of the longest.
    for (let code = 0; code < count; code += length === 5 ? 1 + random.below(15) : 1) {
      let pattern = "";
      for (let rest = code, i = 0; i < length; i++, rest = Math.floor(rest / symbols.length)) {
        pattern += symbols[rest % symbols.length]!;
      }
      const elements = parse(pattern);
      const glob = new Glob(latin1Bytes(pattern));
      for (const text of texts) {
        const expected = text === "" ? pattern === "" : naiveMatch(elements, text);
        const isFound = glob.matches(latin1Bytes(text), 0, text.length);
        assert.equal(isFound, expected, JSON.stringify([pattern, text]));
      }
    }
  }
});

test("without case: letters fold, but not escaped ones in a class, and ranges fold after ordering", () => {
  const rows: [pattern: string, text: string, isFound: boolean][] = [
    ["MaxMemory*", "maxmemory-policy", true],
    ["[A-C]x", "bX", true],
    ["[ABC]x", "bX", true],
    ["[\\A]", "a", false],
    ["[\\A]", "A", true],
    ["[Z-a]", "z", false],
    ["[Z-a]", "a", false],
    ["[@-Z]", "z", true],
    ["\\A", "a", true],
    ["\xc4", "\xe4", false],
    ["[\x80-a]", "\x80", false],
    ["[\xff-a]", "\xff", true],
    ["[\xff-a]", "A", true],
    ["[\x80-\x90]", "\x85", true],
  ];
  for (const [pattern, text, isFound] of rows) {
    assert.equal(isMatch(pattern, text, true), isFound, JSON.stringify([pattern, text]));
  }
});

test("many stars take no exponential time", () => {
  const text = latin1Bytes("a".repeat(50_000));
  const pattern = latin1Bytes(`${"a*".repeat(1000)}b`);
  assert.equal(globMatch(pattern, text, 0, text.length, false), false);
  text[text.length - 1] = 98;
  assert.equal(globMatch(pattern, text, 0, text.length, false), true);
});

test("the literal beginning of a pattern", () => {
  const rows: [pattern: string, prefix: string, isLiteral: boolean][] = [
    ["", "", true],
    ["abc", "abc", true],
    ["a\\*c", "a*c", true],
    ["a\\", "a\\", true],
    ["user:*", "user:", false],
    ["a\\?b?c", "a?b", false],
    ["a[b]", "a", false],
    ["*", "", false],
  ];
  for (const [pattern, prefix, isLiteral] of rows) {
    const glob = new Glob(latin1Bytes(pattern));
    assert.deepEqual(glob.literalPrefix, latin1Bytes(prefix), pattern);
    assert.equal(glob.isLiteral, isLiteral, pattern);
    assert.equal(glob.isAll, pattern === "*");
    const folded = new Glob(latin1Bytes(pattern), true);
    assert.equal(folded.literalPrefix.length, 0);
    assert.equal(folded.isLiteral, false);
    assert.equal(folded.slot, -1);
  }
});

test("the slot of a pattern is that of all keys it can match", () => {
  const slotOf = (text: string): number => keySlot(latin1Bytes(text), 0, text.length);
  const rows: [pattern: string, slot: number][] = [
    ["{tag}*", slotOf("tag")],
    ["a{tag}[bc]", slotOf("tag")],
    ["a{\\*}?", slotOf("*")],
    ["plain", slotOf("plain")],
    ["", 0],
    ["{}abc", slotOf("{}abc")],
    ["{}abc*", -1],
    ["{}{tag}*", -1],
    ["{ta*}", -1],
    ["tag*", -1],
    ["*{tag}", -1],
    ["a}{tag}*", slotOf("tag")],
  ];
  for (const [pattern, slot] of rows) {
    assert.equal(new Glob(latin1Bytes(pattern)).slot, slot, pattern);
  }
});

test("with more than a thousand stars before its last element a pattern matches nothing", () => {
  const text = "a".repeat(3000);
  for (const [stars, isMatch] of [
    [999, true],
    [1000, true],
    [1001, false],
    [2000, false],
  ] as const) {
    for (const pattern of ["*?".repeat(stars), "**a".repeat(stars), `${"*a".repeat(stars)}*`]) {
      assert.equal(globMatchText(pattern, text, false), isMatch, `${stars} stars`);
      assert.equal(new Glob(latin1Bytes(pattern)).matches(latin1Bytes(text), 0, 3000), isMatch);
    }
    // The last star takes the rest and does not count.
    assert.equal(globMatchText("a*".repeat(stars), text, false), stars <= 1001);
  }
  assert.equal(globMatchText("*".repeat(3000), text, false), true);
});
