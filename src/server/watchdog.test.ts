/** What is written about locks that are held for long, over control memory that a test fills in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { controlWords, H_SHARDS, LOCK_OWNER, S_RECORDER_AT, shardRow } from "../memory/layout.ts";
import { Watchdog } from "./watchdog.ts";

const SHARDS = 64;

function watched(): { control: Int32Array; lines: string[]; look(times: number): void } {
  const control = new Int32Array(controlWords(SHARDS));
  control[H_SHARDS] = SHARDS;
  const lines: string[] = [];
  const watchdog = new Watchdog(control, (text) => lines.push(text));
  const look = (times: number): void => {
    for (let n = 0; n < times; n++) watchdog.look();
  };
  return { control, lines, look };
}

test("a lock is named once, when it has been held for ten looks without a command", () => {
  const { control, lines, look } = watched();
  control[shardRow(7) + LOCK_OWNER] = 3;
  look(5);
  control[shardRow(7) + S_RECORDER_AT] = 1;
  look(10);
  assert.deepEqual(lines, []);
  look(20);
  assert.deepEqual(lines, ["The lock of shard 7 has been held by thread 2 for 10 looks"]);
});

test("all that a thread holds is one line", () => {
  const { control, lines, look } = watched();
  for (let shard = 0; shard < SHARDS; shard++) control[shardRow(shard) + LOCK_OWNER] = 1;
  control[shardRow(9) + LOCK_OWNER] = 2;
  look(30);
  assert.deepEqual(lines, [
    "The locks of 63 shards (0 to 63) have been held by thread 0 for 10 looks",
    "The lock of shard 9 has been held by thread 1 for 10 looks",
  ]);
});
