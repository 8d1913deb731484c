import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandStats, commandStatsBytes } from "./command-stats.ts";

const ROWS = 3;
const COMMANDS = 2;

test("time is that of the timed calls, carried over to all", () => {
  const buffer = new SharedArrayBuffer(commandStatsBytes(ROWS, COMMANDS));
  const rows = [0, 1, 2].map((row) => new CommandStats(buffer, ROWS, COMMANDS, row));
  const [first, second] = rows as [CommandStats, CommandStats];
  for (let i = 0; i < 10; i++) first.called(1);
  first.timed(1, 4);
  first.timed(1, 8);
  second.called(1);
  second.failed(1);
  second.rejected(1);
  assert.deepEqual(first.use(1), { calls: 11, usec: 66, rejected: 1, failed: 1 });
  assert.deepEqual(first.use(1, 0, 1), { calls: 10, usec: 60, rejected: 0, failed: 0 });
  // None of this row was timed: the others tell.
  assert.deepEqual(first.use(1, 1, 2), { calls: 1, usec: 6, rejected: 1, failed: 1 });
  assert.deepEqual(first.use(0), { calls: 0, usec: 0, rejected: 0, failed: 0 });
  second.reset();
  assert.deepEqual(first.use(1), { calls: 0, usec: 0, rejected: 0, failed: 0 });
});
