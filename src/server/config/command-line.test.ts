import assert from "node:assert/strict";
import { test } from "node:test";
import { parseCommandLine } from "./command-line.ts";
import { splitWords } from "./quoting.ts";

type Run = { file?: string; stdin?: true; words: string[][] };

function run(...argv: string[]): Run {
  const line = parseCommandLine(argv);
  assert.equal(line.kind, "run");
  if (line.kind !== "run") throw new Error("not a run");
  return {
    ...(line.file === null ? {} : { file: line.file }),
    ...(line.stdin ? { stdin: true } : {}),
    words: line.settings.map((text) => splitWords(text) ?? ["unbalanced"]),
  };
}

test("help and version only as the first word", () => {
  assert.equal(parseCommandLine(["--help"]).kind, "help");
  assert.equal(parseCommandLine(["-h", "x"]).kind, "help");
  assert.equal(parseCommandLine(["--version"]).kind, "version");
  assert.equal(parseCommandLine(["-v"]).kind, "version");
  assert.deepEqual(run("a.conf", "--help"), { file: "a.conf", words: [["help"]] });
});

test("the first word is the file unless it begins with a hyphen", () => {
  assert.deepEqual(run(), { words: [] });
  assert.deepEqual(run("a.conf"), { file: "a.conf", words: [] });
  assert.deepEqual(run("a.conf", "b"), { file: "a.conf", words: [["b"]] });
  assert.deepEqual(run("-x"), { words: [["-x"]] });
});

test("standard input is a hyphen at the beginning or the end", () => {
  assert.deepEqual(run("-"), { stdin: true, words: [] });
  assert.deepEqual(run("-", "--port", "1"), { stdin: true, words: [["port", "1"]] });
  assert.deepEqual(run("a.conf", "--port", "1", "-"), {
    file: "a.conf",
    stdin: true,
    words: [["port", "1"]],
  });
  assert.deepEqual(run("--port", "-", "--hz", "1"), {
    words: [
      ["port", "-"],
      ["hz", "1"],
    ],
  });
});

test("values go with the option before them", () => {
  assert.deepEqual(run("--port", "1", "--bind", "::1", "127.0.0.1"), {
    words: [
      ["port", "1"],
      ["bind", "::1", "127.0.0.1"],
    ],
  });
  assert.deepEqual(run("--logfile", "a b", "--requirepass", 'q"\\x'), {
    words: [
      ["logfile", "a b"],
      ["requirepass", 'q"\\x'],
    ],
  });
  assert.deepEqual(run("--port 1", "--hz", "2"), {
    words: [
      ["port", "1"],
      ["hz", "2"],
    ],
  });
  assert.deepEqual(run("--port=1"), { words: [["port=1"]] });
  assert.deepEqual(run("--port"), { words: [["port"]] });
});

test("the word after a name is its value even if it looks like a name", () => {
  assert.deepEqual(run("--logfile", "--x", "--port", "1"), {
    words: [
      ["logfile", "--x"],
      ["port", "1"],
    ],
  });
});

test("an empty save may be left out", () => {
  assert.deepEqual(run("--save", "--port", "1"), {
    words: [
      ["save", ""],
      ["port", "1"],
    ],
  });
  assert.deepEqual(run("--port", "1", "--SAVE"), {
    words: [
      ["port", "1"],
      ["SAVE", ""],
    ],
  });
  assert.deepEqual(run("--save", ""), { words: [["save", ""]] });
  assert.deepEqual(run("--save", "60", "1"), { words: [["save", "60", "1"]] });
});
