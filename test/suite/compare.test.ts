import assert from "node:assert/strict";
import { test } from "node:test";
import { repositoryRoot } from "../support/environment.ts";
import { compare, comparisonText, unitTable } from "./compare.ts";
import { parseOptions, UNITS, UsageError } from "./options.ts";
import {
  checkReasons,
  loadReasons,
  type Reasons,
  reasonFor,
  reasonsOf,
  skippedNames,
} from "./reasons.ts";
import type { UnitResult } from "./run-unit.ts";

/** Cases by name; an empty text is one that passed, another what its failure said. */
function result(unit: string, cases: readonly [string, string][]): UnitResult {
  return {
    unit,
    seconds: 1,
    cases: cases.map(([name, detail]) => ({ name, passed: detail === "", detail })),
    skipped: [],
    ignored: ["a block"],
    broken: [],
    aborted: null,
    hung: null,
    hungCases: [],
  };
}

const REASONS: Reasons = {
  errors: [{ error: "unknown command '(sadd)'", category: "later type", reason: "sets" }],
  cases: [
    { unit: "u", case: "/^MOVE", category: "leftovers", reason: "keys were left" },
    { unit: "u", case: "never", category: "ours", reason: "of no use", skip: true },
    { unit: "v", case: "another unit", category: "ours", reason: "not looked at" },
  ],
};

test("what redis-server passes and we do not is listed, with its reason or without", () => {
  const redis = [
    result("u", [
      ["same", ""],
      ["twice", ""],
      ["twice", ""],
      ["set", ""],
      ["MOVE it", ""],
      ["both fail", "x"],
      ["ahead", "x"],
      ["not run", ""],
    ]),
  ];
  const ours = [
    result("u", [
      ["same", ""],
      ["twice", ""],
      ["twice", "the second time"],
      ["set", "ERR Unknown command 'SADD', with"],
      ["MOVE it", "3 keys"],
      ["both fail", "y"],
      ["ahead", ""],
    ]),
  ];
  const { missing, ahead, stale, unused } = compare(redis, ours, REASONS);
  assert.deepEqual(
    missing.map(({ name, reason }) => [name, reason?.category]),
    [
      ["twice", undefined],
      ["set", "later type"],
      ["MOVE it", "leftovers"],
      ["not run", undefined],
    ],
  );
  assert.deepEqual(ahead, [{ unit: "u", name: "ahead" }]);
  assert.deepEqual(stale, ["u: never: there is no such case"]);
  assert.deepEqual(unused, []);
  const text = comparisonText({ missing, ahead, stale, unused });
  assert.match(text, /4 cases that redis-server passes do not pass here\.\n2 have a reason:/);
  assert.match(text, /2 have none:\n {2}u: twice\n {6}the second time\n {2}u: not run/);
});

test("a reason is stale when its case passes or is gone, and idle when both servers fail it", () => {
  const names = ["MOVE a", "MOVE b", "both fail", "gone"];
  const reasons: Reasons = {
    errors: [],
    cases: ["/^MOVE", "both fail", "/^no", "MOVE a"].map((name) => {
      return { unit: "u", case: name, category: "ours", reason: "because" };
    }),
  };
  const run = (...details: string[]): UnitResult[] => {
    return [
      result(
        "u",
        details.map((detail, i) => [names[i] as string, detail]),
      ),
    ];
  };
  const judged = compare(run("", "", "x"), run("x", "", "x"), reasons);
  assert.deepEqual(judged.stale, ["u: MOVE b: it passes", "u: /^no: there is no such case"]);
  assert.deepEqual(judged.unused, ["u: both fail"]);
  const { stale } = compare(run("x", "x", "x"), run("", "x", "x"), reasons);
  assert.deepEqual(stale.slice(0, 1), ["u: MOVE a: it passes"]);
  assert.deepEqual(stale.at(-1), "u: MOVE a: it passes");
});

test("a case that did not run is put down to the last error in front of it", () => {
  const theirs = result(
    "u",
    ["a", "b", "c", "d"].map((name) => [name, ""]),
  );
  const broken = [
    { after: '"a"', detail: "no cluster" },
    { after: '"c"', detail: "no group" },
  ];
  const own = {
    ...result("u", [
      ["a", ""],
      ["c", ""],
    ]),
    broken,
  };
  const { missing } = compare([theirs], [own], { cases: [], errors: [] });
  assert.deepEqual(
    missing.map(({ name, detail }) => [name, detail]),
    [
      ["b", 'not run: after "a" came no cluster'],
      ["d", 'not run: after "c" came no group'],
    ],
  );
});

test("the table has a row for each unit and server and a sum for each server", () => {
  const results = [
    ["redis-server", [result("u", [["a", ""]]), result("v", [["b", ""]])]],
    ["zerohop", [result("u", [["a", "x"]]), { ...result("v", []), aborted: "hung in b\nlog" }]],
  ] as const;
  const lines = unitTable(results).trimEnd().split("\n");
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(/ {2,}/)),
    [
      ["u", "redis-server", "1", "1", "0", "0", "1", "1"],
      ["u", "zerohop", "1", "0", "1", "0", "1", "1"],
      ["v", "redis-server", "1", "1", "0", "0", "1", "1"],
      ["v", "zerohop", "0", "0", "0", "0", "1", "1", "hung in b"],
      ["all", "redis-server", "2", "2", "0", "0", "2", "2"],
      ["all", "zerohop", "1", "0", "1", "0", "2", "2"],
    ],
  );
});

test("reasons.json is well formed, and what is not is refused", () => {
  const reasons = loadReasons(repositoryRoot);
  assert.ok(reasons.cases.length > 0 && reasons.errors.length > 0);
  const good = REASONS.cases[0];
  for (const [bad, text] of [
    [{ cases: [] }, /two lists/],
    [{ cases: [good, good], errors: [] }, /twice: u: /],
    [{ cases: [{ ...good, category: "none" }], errors: [] }, /no category none/],
    [{ cases: [{ ...good, more: "x" }], errors: [] }, /no field more/],
    [{ cases: [{ ...good, mode: "other" }], errors: [] }, /no field mode/],
    [{ cases: [{ ...good, reason: "" }], errors: [] }, /reason is no text/],
    [{ cases: [{ unit: "u", case: "c", category: "ours" }], errors: [] }, /reason is missing/],
    [{ cases: [], errors: [{ ...REASONS.errors[0], error: "(" }] }, /regular expression/],
  ] as const) {
    assert.throws(() => checkReasons(bad), text);
  }
  const normal: Reasons = checkReasons({ cases: [{ ...good, mode: "normal" }], errors: [] });
  assert.equal(reasonsOf(normal, "normal").cases.length, 1);
  assert.equal(reasonsOf(normal, "external").cases.length, 0);
  assert.deepEqual(skippedNames(REASONS, "u"), ["never"]);
  assert.equal(reasonFor(REASONS, "v", "MOVE it", "3 keys"), undefined);
});

test("options", () => {
  const options = parseOptions([
    "--valkey",
    "/v",
    "--unit",
    "tests/unit/scan.tcl",
    "--threads",
    "4",
    "--only",
    "one case",
    "--only",
    "/^SCAN",
  ]);
  assert.deepEqual(options.only, ["one case", "/^SCAN"]);
  assert.deepEqual(options.units, ["unit/scan"]);
  assert.deepEqual(options.servers, ["redis-server", "zerohop"]);
  assert.equal(options.threads, 4);
  assert.deepEqual(parseOptions(["--valkey", "/v"]).units, UNITS);
  for (const words of [
    [],
    ["--valkey"],
    ["--valkey", "/v", "--server", "keydb"],
    ["--valkey", "/v", "--threads", "0"],
    ["--valkey", "/v", "--what", "x"],
  ]) {
    assert.throws(() => parseOptions(words), UsageError);
  }
});
