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

test("an error within a case fails it, though the runner says that it passed", () => {
  const output = parseOutput(
    "[testing]: one\n[err]: no command 'x'\n  while executing\n[ok]: one (3 ms)\n" +
      "[testing]: two\n[ok]: two (1 ms)\n[err]: between\n" +
      "[testing]: three\n[err]: Can't start the Valkey server\nCONFIGURATION:\nport 1\nERROR:\nbad\n" +
      "[err]: Can't start the Valkey server\nCONFIGURATION:\nport 1\nERROR:\nline 1\n" +
      "[err]: then this\n[err]: three in tests/unit/x.tcl\nexpected more\n" +
      "[testing]: four\n[err]: Can't start the Valkey server\nCONFIGURATION:\nport 1\nERROR:\nbad\n" +
      "[err]: Can't start the Valkey server\nCONFIGURATION:\nport 1\nERROR:\nline 1\n" +
      "[err]: then this\n[ok]: four (9 ms)\n[1/1 done]: unit/x (2 seconds)\n",
  );
  assert.deepEqual(output.cases, [
    { name: "one", passed: false, detail: "no command 'x'\nwhile executing" },
    { name: "two", passed: true, detail: "" },
    { name: "three", passed: false, detail: "expected more" },
    { name: "four", passed: false, detail: "Can't start the Valkey server\nline 1" },
  ]);
  assert.deepEqual(output.broken, [{ after: '"two"', detail: "between\n" }]);
});

test("a server that does not start between cases says so once, and why", () => {
  const no = (text: string): string =>
    `[err]: Can't start the Valkey server\nCONFIGURATION:\nport 1\nERROR:\n${text}\n`;
  const { broken } = parseOutput(`[ok]: one (1 ms)\n${no("bad")}${no("line 1")}`);
  assert.deepEqual(broken, [{ after: '"one"', detail: "Can't start the Valkey server\nline 1" }]);
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
