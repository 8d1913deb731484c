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
  first.timed(1, 4, 1);
  first.timed(1, 10, 3);
  second.called(1);
  second.failed(1);
  second.rejected(1);
  assert.deepEqual(first.use(1), { calls: 11, usec: 93.5, rejected: 1, failed: 1 });
  assert.deepEqual(first.use(1, 0, 1), { calls: 10, usec: 85, rejected: 0, failed: 0 });
  // None of this row was timed: the others tell.
  assert.deepEqual(first.use(1, 1, 2), { calls: 1, usec: 8.5, rejected: 1, failed: 1 });
  assert.deepEqual(first.use(0), { calls: 0, usec: 0, rejected: 0, failed: 0 });
  second.reset();
  assert.deepEqual(first.use(1), { calls: 0, usec: 0, rejected: 0, failed: 0 });
});

test("calls while tracking is off are counted and left out of the tracked ones", () => {
  const buffer = new SharedArrayBuffer(commandStatsBytes(2, 1));
  const [one, other] = [0, 1].map((row) => new CommandStats(buffer, 2, 1, row)) as [
    CommandStats,
    CommandStats,
  ];
  const call = (stats: CommandStats, times: number): void => {
    for (let i = 0; i < times; i++) stats.called(0);
  };
  const expect = (calls: number, tracked: number): void => {
    assert.equal(one.use(0).calls, calls);
    assert.equal(one.trackedCalls(0), tracked);
  };
  call(one, 3);
  call(other, 2);
  expect(5, 5);
  one.track(false);
  one.track(false);
  call(one, 10);
  call(other, 1);
  expect(16, 6);
  one.track(true);
  one.track(true);
  call(one, 1);
  expect(17, 7);
  one.track(false);
  call(one, 4);
  other.reset();
  expect(0, 0);
  call(one, 4);
  call(other, 1);
  expect(5, 1);
  one.track(true);
  call(one, 1);
  expect(6, 2);
});
