import assert from "node:assert/strict";
import { test } from "node:test";
import type { ParseContext, ValueType } from "./directive.ts";
import {
  bindAddresses,
  directory,
  eventClasses,
  fileNameError,
  hostnameError,
  masterAddress,
  memberNameError,
  nodeNameError,
  oomScores,
  outputBufferLimits,
  ownerCount,
  percentiles,
  savePoints,
  titleTemplateError,
} from "./special-types.ts";

const LIMITS = "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60";

function context(change: Partial<ParseContext> = {}): ParseContext {
  return {
    current: "",
    adding: false,
    directoryError: (path) => (path === "/base/there" ? null : "No such file or directory"),
    resolve: (path) => `/base/${path}`,
    ...change,
  };
}

/** The value, or "!" and the error. */
function parse(type: ValueType, words: readonly string[], change?: Partial<ParseContext>): string {
  const parsed = type.parse(words, context(change));
  return parsed.ok ? parsed.text : `!${parsed.error}`;
}

function lines(type: ValueType, text: string, standard = ""): string[] {
  return type.rewrite("x", text, standard).map(({ line, force }) => `${force ? "+" : "?"}${line}`);
}

test("save points", () => {
  assert.equal(parse(savePoints, ["60", "1", " 30", "+2"]), "60 1 30 2");
  assert.equal(parse(savePoints, [""], { current: "60 1", adding: true }), "");
  assert.equal(parse(savePoints, ["30", "2"], { current: "60 1", adding: true }), "60 1 30 2");
  assert.equal(parse(savePoints, ["30", "2"], { current: "60 1" }), "30 2");
  for (const words of [["60"], ["0", "1"], ["60", "-1"], ["60", "x"], ["", "1"]]) {
    assert.equal(parse(savePoints, words), "!Invalid save parameters", words.join(" "));
  }
  assert.deepEqual(lines(savePoints, ""), ['+x ""']);
  assert.deepEqual(lines(savePoints, "60 1 30 2"), ["+x 60 1", "+x 30 2"]);
});

test("output buffer limits change the named classes only", () => {
  const limits = (...words: string[]): string =>
    parse(outputBufferLimits, words, { current: LIMITS });
  assert.equal(
    limits("Replica", "1kb", "2k", "3"),
    LIMITS.replace(/slave \d+ \d+ \d+/, "slave 1024 2000 3"),
  );
  assert.equal(limits(""), LIMITS);
  assert.match(limits("normal", "1", "1", "1", "pubsub", "2", "2", "2"), /^normal 1 1 1 .*2 2 2$/);
  // Seconds are an int in Redis, and wrap.
  assert.match(limits("normal", "0", "0", "99999999999999"), /^normal 0 0 276447231 /);
  const wrong = "!Error in hard, soft or soft_seconds setting in buffer limit configuration.";
  assert.equal(limits("normal", "x", "0", "0"), wrong);
  assert.equal(limits("normal", "0", "0", "-1"), wrong);
  assert.equal(limits("normal", "0", "0", "4294967295"), wrong);
  assert.equal(limits("master", "0", "0", "0").slice(0, 21), "!Invalid client class");
  assert.equal(limits("normal", "0", "0").slice(0, 26), "!Wrong number of arguments");
  assert.deepEqual(
    lines(outputBufferLimits, LIMITS.replace("slave 268435456", "slave 1"), LIMITS),
    ["?x normal 0 0 0", "+x replica 1 64mb 60", "?x pubsub 32mb 8mb 60"],
  );
});

test("bind addresses", () => {
  assert.equal(parse(bindAddresses, ["127.0.0.1", "-::1"]), "127.0.0.1 -::1");
  assert.equal(parse(bindAddresses, [""]), "");
  assert.equal(parse(bindAddresses, Array(17).fill("a")), "!Too many bind addresses specified.");
  assert.deepEqual(lines(bindAddresses, "", "*"), ['+x ""']);
  assert.deepEqual(lines(bindAddresses, "*", "*"), []);
});

test("scores of the out-of-memory killer", () => {
  assert.equal(parse(oomScores, ["-2000", "0", "+2000"]), "-2000 0 2000");
  assert.equal(parse(oomScores, ["1", "2"]), "!wrong number of arguments");
  assert.match(parse(oomScores, ["1", "2", "2001"]), /between -2000 and 2000/);
});

test("classes of events", () => {
  const rows: [string, string | null][] = [
    ["", ""],
    ["KEA", "AKE"],
    ["Kg$lshzxetd", "AK"],
    ["mnlE", "lnEm"],
    ["An", "A"],
    ["KK", "K"],
    ["q", null],
    ["a", null],
  ];
  for (const [text, shown] of rows) assert.equal(eventClasses(text), shown, text);
});

test("percentiles", () => {
  assert.equal(
    parse(percentiles, ["50", "99.900", "0.10000001", "1e1", ".5"]),
    "50 99.9 0.1 10 0.5",
  );
  assert.equal(parse(percentiles, [""]), "");
  assert.match(parse(percentiles, ["x"]), /^!Invalid latency-tracking-info-percentiles/);
  assert.match(parse(percentiles, ["100.1"]), /should sit between \[0.0,100.0\]$/);
  assert.match(parse(percentiles, ["-1"]), /should sit between/);
  assert.deepEqual(lines(percentiles, ""), ['+x ""']);
});

test("a master's address", () => {
  assert.equal(parse(masterAddress, ["NO", "one"]), "");
  assert.equal(parse(masterAddress, ["host", "06379"]), "host 6379");
  assert.equal(parse(masterAddress, ["host", "65536"]), "!Invalid master port");
  assert.equal(parse(masterAddress, ["host"]), "!wrong number of arguments");
  assert.deepEqual(lines(masterAddress, ""), []);
});

test("a directory is resolved and must be there", () => {
  assert.equal(parse(directory, ["there"]), "/base/there");
  assert.equal(parse(directory, ["gone"]), "!No such file or directory");
});

test("how many owners", () => {
  assert.equal(parse(ownerCount, ["YES"]), "yes");
  assert.equal(parse(ownerCount, ["256"]), "256");
  for (const word of ["0", "257", "01", "auto", ""]) {
    const error = "!argument must be 'yes', 'no' or between 1 and 256 inclusive";
    assert.equal(parse(ownerCount, [word]), error, word);
  }
});

test("names", () => {
  assert.equal(hostnameError("a-1.example"), null);
  assert.match(hostnameError("a_b") ?? "", /alphanumeric/);
  assert.equal(hostnameError("a".repeat(255)), null);
  assert.match(hostnameError("a".repeat(256)) ?? "", /less than 256/);
  assert.equal(nodeNameError("node_1 x/y"), null);
  assert.notEqual(nodeNameError("node#1"), null);
  assert.equal(memberNameError("a.B-1_"), null);
  assert.notEqual(memberNameError("a@b"), null);
  assert.notEqual(memberNameError("a".repeat(33)), null);
  const name = fileNameError("appendfilename", "filename", false);
  assert.equal(name("a.aof"), null);
  assert.equal(name(""), "appendfilename can't be empty");
  assert.equal(name("a/b"), "appendfilename can't be a path, just a filename");
  assert.equal(fileNameError("dbfilename", "filename", true)(""), null);
});

test("templates of the process title", () => {
  for (const good of ["{title} {port}", "x", "{{x", "{{{port}", "{listen-addr}", "a}b"]) {
    assert.equal(titleTemplateError(good), null, good);
  }
  for (const wrong of ["{x}", "", "  ", "{title}", "{title", "{", "{title}{server-mode} "]) {
    assert.notEqual(titleTemplateError(wrong), null, wrong);
  }
});
