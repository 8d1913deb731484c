import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOutput } from "./output.ts";

const WHOLE = `Cleanup: may take some time... OK
Starting test server at port 21079
[ready]: 4711
Testing unit/type/string
[ok]: SET and GET an item (1 ms)
[err]: MGET in a set in tests/unit/type/string.tcl
n command 'sadd', with args
    while executing
"r sadd"
[skip]: left out
[ignore]: SETBIT with large memory: large memory flag not provided
[ok]: SET (twice) (12 ms)
[err]: unexpected end
something between cases
[ignore]: Not supported on external server
[1/1 done]: unit/type/string (2 seconds)

                   The End

Execution time of different units:
  2 seconds - unit/type/string

!!! WARNING The following tests failed:

[err]: MGET in a set in tests/unit/type/string.tcl
`;

test("cases, what was left out, and errors between cases", () => {
  const output = parseOutput(WHOLE);
  assert.deepEqual(
    output.cases.map(({ name, passed }) => [name, passed]),
    [
      ["SET and GET an item", true],
      ["MGET in a set", false],
      ["SET (twice)", true],
    ],
  );
  assert.match(output.cases[1]?.detail ?? "", /^n command 'sadd'.*\n.*while executing\n"r sadd"$/);
  assert.deepEqual(output.skipped, ["left out"]);
  assert.deepEqual(output.ignored, [
    "SETBIT with large memory: large memory flag not provided",
    "Not supported on external server",
  ]);
  assert.deepEqual(output.broken, [
    { after: '"SET (twice)"', detail: "unexpected end\nsomething between cases" },
  ]);
  assert.equal(output.aborted, null);
  assert.equal(output.hung, null);
});

test("a runner that gives up", () => {
  const output = parseOutput(
    "[ok]: one (1 ms)\n[exception]: Executing test client: broken pipe.\n  at line 3\n",
  );
  assert.equal(output.cases.length, 1);
  assert.equal(output.aborted, 'after "one": Executing test client: broken pipe.');
});

test("a case that hangs", () => {
  const output = parseOutput(
    "[ok]: one (1 ms)\n[TIMEOUT]: clients state report follows.\n" +
      "sock55 => (IN PROGRESS) two (of them)\nKilling still running server 4\n",
  );
  assert.equal(output.hung, "two (of them)");
  assert.equal(output.aborted, "hung in two (of them)");
});

test("an output that just ends", () => {
  assert.equal(parseOutput("[ok]: one (1 ms)\n").aborted, "the runner ended early");
  assert.equal(parseOutput("").aborted, "the runner ended early");
});
