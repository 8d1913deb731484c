/**
 * Commands that are put off while a big string is copied, and what another thread does to the same
 * keys meanwhile, before the copy and after it. All that can be seen in the end is what would be if
 * the command had come after that: replies, keys, times of expiry, events.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { BIG_STRING_BYTES } from "../../limits.ts";
import { KEY_COMMANDS } from "../keys/commands.ts";
import { bulk, error, integer, OK, TestStore } from "../test-support.ts";
import { STRING_COMMANDS } from "./commands.ts";

const COMMANDS = [...STRING_COMMANDS, ...KEY_COMMANDS];
/** Fills its block but for a few bytes. */
const SIZE = 2 * 65_536 - 16;
const BIG = "0123456789abcdef".repeat(SIZE / 16);
const OTHER = "fedcba9876543210".repeat(SIZE / 16);
const KEYS = ["k", "l", "m", "n"];

/** Each is put off: "k" is BIG, "n" is not there. */
const PUT_OFF: readonly (readonly string[])[] = [
  ["APPEND", "k", "appended to the end"],
  ["APPEND", "k", "a".repeat(70_000)],
  ["SETRANGE", "k", `${SIZE + 100}`, "behind"],
  ["SETRANGE", "k", `${SIZE * 2}`, "far behind"],
  ["SETRANGE", "k", "500", "b".repeat(SIZE)],
  ["SETRANGE", "n", `${SIZE}`, "in front of nothing"],
  ["SETRANGE", "l", `${SIZE}`, "behind a short one"],
  ["COPY", "k", "l", "REPLACE"],
  ["COPY", "k", "n"],
];

/** What another thread does meanwhile. */
const MEANWHILE: readonly (readonly string[][])[] = [
  [],
  [["GET", "k"]],
  [["APPEND", "k", "other"]],
  [["APPEND", "k", "c".repeat(80_000)]],
  [["SETRANGE", "k", "3", "ZZZ"]],
  [["SETRANGE", "k", `${SIZE + 1}`, "Z"]],
  [["SET", "k", "short"]],
  [["SET", "k", "12"]],
  [["SET", "k", OTHER]],
  [["SET", "k", OTHER, "EX", "50"]],
  [["DEL", "k"]],
  [["GETDEL", "k"]],
  [
    ["DEL", "k"],
    ["SET", "k", BIG],
  ],
  [["EXPIRE", "k", "-1"]],
  [["EXPIRE", "k", "100"]],
  [["PERSIST", "k"]],
  [["RENAME", "k", "m"]],
  [
    ["RENAME", "k", "m"],
    ["RENAME", "m", "k"],
  ],
  [
    ["RENAME", "k", "x"],
    ["RENAME", "m", "k"],
    ["RENAME", "x", "m"],
  ],
  [["RENAME", "m", "k"]],
  [["RENAME", "k", "n"]],
  [["SET", "n", OTHER]],
  [["SET", "n", "7"]],
  [["SET", "l", OTHER]],
  [["DEL", "l", "m"]],
  [["COPY", "k", "n"]],
  [["COPY", "m", "k", "REPLACE"]],
  [["MOVE", "k", "1"]],
  [["INCR", "n"]],
  [["MSET", "k", "1", "l", OTHER, "n", OTHER]],
  [["GETEX", "k", "PX", "5"]],
];

function newStore(beside?: TestStore): TestStore {
  const t = new TestStore({
    commands: COMMANDS,
    shards: 4,
    ...(beside === undefined ? {} : { beside }),
  });
  return t;
}

function fill(t: TestStore): void {
  t.call("SET", "k", BIG, "EX", "1000");
  t.call("SET", "l", "short");
  t.call("SET", "m", OTHER);
  t.takeEvents();
}

function stateOf(t: TestStore): string[] {
  return KEYS.flatMap((key) => [key, t.call("GET", key), t.call("PTTL", key)]);
}

function shown(command: readonly string[]): string {
  return command.map((word) => (word.length > 30 ? `${word.length} bytes` : word)).join(" ");
}

test("whatever another thread does meanwhile, the command has come after it", () => {
  for (const command of PUT_OFF) {
    for (const others of MEANWHILE) {
      const expected = newStore();
      fill(expected);
      for (const other of others) expected.call(...other);
      expected.takeEvents();
      const reply = expected.call(...command);
      for (const moment of [0, 1]) {
        const t = newStore();
        const beside = newStore(t);
        fill(t);
        let looks = 0;
        t.whileUnlocked = () => {
          if (looks++ === moment) for (const other of others) beside.call(...other);
        };
        const what = `${shown(command)} at ${moment}: ${others.map(shown).join("; ")}`;
        assert.ok(t.call(...command) === reply, what);
        assert.ok(looks > moment, `${what}: it was not put off`);
        assert.deepEqual(t.events, expected.events, what);
        t.takeEvents();
        assert.ok(stateOf(t).join() === stateOf(expected).join(), what);
        t.check();
      }
      expected.takeEvents();
    }
  }
});

test("a block that replies have pinned is copied too, and they stay as they are", () => {
  const t = newStore();
  const beside = newStore(t);
  fill(t);
  t.call("APPEND", "k", "room to grow in");
  let calls = 0;
  t.whileUnlocked = () => calls++;
  t.call("APPEND", "k", "in place");
  assert.equal(calls, 0);
  beside.holdReplies = true;
  beside.call("GET", "k");
  assert.equal(t.call("APPEND", "k", "!"), integer(SIZE + "room to grow inin place!".length));
  assert.equal(calls, 2);
  beside.releaseReplies();
  t.check();
});

test("under the locks it copies at most what a short string has", () => {
  for (const command of PUT_OFF) {
    const t = newStore();
    fill(t);
    const { work } = t.heap;
    work.settle(false);
    let most = 0;
    t.whileUnlocked = () => {
      most = Math.max(most, work.bytesCopied);
      work.settle(false);
    };
    t.call(...command);
    most = Math.max(most, work.bytesCopied);
    const given = command[0] === "COPY" ? 0 : (command.at(-1) as string).length;
    assert.ok(most - given <= BIG_STRING_BYTES, `${shown(command)}: ${most}`);
  }
});

test("somebody who changes the key every time does not keep it from ending", () => {
  for (const moment of [0, 1]) {
    const t = newStore();
    const beside = newStore(t);
    fill(t);
    let looks = 0;
    let sets = 0;
    t.whileUnlocked = () => {
      if (looks++ % 2 !== moment) return;
      assert.equal(beside.call("SET", "k", sets++ % 2 === 0 ? OTHER : BIG), OK);
    };
    assert.equal(t.call("APPEND", "k", "appended to the end"), integer(SIZE + 19));
    assert.ok(sets > 1 && sets < 10, `${sets} tries`);
    assert.equal(t.call("GET", "k"), bulk(`${sets % 2 === 0 ? BIG : OTHER}appended to the end`));
    t.check();
  }
});

test("without memory for the copy nothing has changed", () => {
  const oom = error("OOM command not allowed when used memory > 'maxmemory'.");
  for (const command of PUT_OFF) {
    const t = newStore();
    const untouched = newStore();
    fill(t);
    fill(untouched);
    t.heap.refuseEvery = 1;
    assert.equal(t.call(...command), oom, shown(command));
    t.heap.refuseEvery = 0;
    assert.deepEqual(t.takeEvents(), []);
    assert.ok(stateOf(t).join() === stateOf(untouched).join(), shown(command));
    t.check();
    const reply = t.call(...command);
    assert.equal(reply, untouched.call(...command), "and with memory it is run");
  }
});

test("COPY counts its look at the key once", () => {
  const t = newStore();
  fill(t);
  const { stats } = t.store;
  const before = stats.sum("keyspace_hits");
  t.call("COPY", "k", "n");
  t.call("COPY", "k", "n");
  t.call("COPY", "none", "n");
  assert.equal(stats.sum("keyspace_hits") - before, 2);
  assert.equal(stats.sum("keyspace_misses"), 1);
});
