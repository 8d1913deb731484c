import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSource, commentOf, functionEnd, type Problem } from "./tidy-source.ts";

const nothing = (): boolean => false;

function texts(problems: readonly Problem[]): string[] {
  return problems.map(({ line, text }) => `${line}: ${text}`);
}

/** A body of `count` statements between a first and a last line. */
function wrap(first: string, count: number, last: string): string {
  return `${first}\n${"  step();\n".repeat(count)}${last}\n`;
}

test("a comment is a whole line, the middle of a block, or the end of a line of code", () => {
  assert.equal(commentOf("  // why"), "// why");
  assert.equal(commentOf("   * why"), "* why");
  assert.equal(commentOf("a = 1; // why"), "// why");
  assert.equal(commentOf('a = "no // comment";'), "");
  assert.equal(commentOf('a = "http://x"; /* why */'), "/* why */");
  assert.equal(commentOf("a = b / c;"), "");
});

test("history and plans in comments are reported, the same words in texts are not", () => {
  const words = ["TODO", "no longer", "used to be", "for now", "temporary hack"];
  for (const word of words) {
    assert.equal(checkSource(`// ${word}\n`, nothing).length, 1, word);
    assert.equal(checkSource(`f("${word}");\n`, nothing).length, 0, word);
  }
  assert.deepEqual(checkSource("// A bit used to tell them apart.\n", nothing), []);
  assert.deepEqual(checkSource("// Renamed from the temporary file.\n", nothing), []);
});

test("a line of over 100 columns is reported unless a text or an address fills it", () => {
  assert.equal(checkSource(`${"word ".repeat(25)}\n`, nothing).length, 1);
  assert.deepEqual(checkSource(`const a = "${"x ".repeat(80)}";\n`, nothing), []);
  assert.equal(checkSource(`// "${"x ".repeat(80)}"\n`, nothing).length, 1);
});

test("a file of over 700 lines is reported once", () => {
  assert.deepEqual(checkSource("x();\n".repeat(700), nothing), []);
  assert.match(texts(checkSource("x();\n".repeat(701), nothing))[0] ?? "", /^701: 701 lines/);
});

test("functions are found in every form, and control flow is not one", () => {
  const forms: readonly (readonly [string, number])[] = [
    ["export function f<T>(a: T): void {\n  x();\n}\n", 2],
    ["export async function* f(): X {\n  x();\n}\n", 2],
    ["const f = (a: number): void => {\n  x();\n};\n", 2],
    ['test("x", () => {\n  x();\n});\n', 2],
    ["  async run(\n    a: A,\n  ): void {\n    x();\n  }\n", 4],
    ["  #part(a: A): void {\n    x();\n  }\n", 2],
    ["function f(\n  a: A,\n): a is B {\n  x();\n}\n", 4],
    ["if (a) {\n  x();\n}\n", -1],
    ["for (const a of b) {\n  x();\n}\n", -1],
    ["call(\n  a,\n);\n", -1],
    ['describe("x", () => {\n  x();\n});\n', -1],
    ["class A {\n  x();\n}\n", -1],
  ];
  for (const [source, end] of forms) {
    assert.equal(functionEnd(source.split("\n"), 0), end, source);
  }
});

test("a function may have 70 lines", () => {
  assert.deepEqual(checkSource(wrap("function f(): void {", 68, "}"), nothing), []);
  const long = texts(checkSource(wrap("function f(): void {", 69, "}"), nothing));
  assert.equal(long.length, 1);
  assert.match(long[0] ?? "", /^1: a function of 71 lines/);
});

test("a longer one names a benchmark that exists in a comment directly above", () => {
  const source = wrap("// hot: bench/scan.ts measures this loop.\nfunction f(): void {", 80, "}");
  assert.deepEqual(
    checkSource(source, (path) => path === "bench/scan.ts"),
    [],
  );
  assert.match(texts(checkSource(source, nothing))[0] ?? "", /must name a benchmark/);
});
