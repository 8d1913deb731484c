import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsOf } from "../base/args-test-support.ts";
import { latin1Bytes } from "../base/bytes.ts";
import { Random } from "../base/random.ts";
import { newLockCounters } from "./shared-state.ts";
import { headsOfBigs, SlowLog, slowLogBytes, slowLogWords } from "./slow-log.ts";

const waiting = { wait: () => assert.fail("nobody holds the lock"), now: () => 0 };

function openLog(buffer: SharedArrayBuffer, thread = 0): SlowLog {
  return new SlowLog(buffer, { thread, waiting, counters: newLockCounters() });
}

function entry(word: string) {
  return {
    unixSeconds: 1_700_000_000,
    usec: 12_345,
    words: ["GET", word],
    address: "127.0.0.1:50000",
    clientName: "me",
  };
}

describe("the log", () => {
  test("is one for all threads, newest first, with ids that go on", () => {
    const buffer = new SharedArrayBuffer(slowLogBytes(4096));
    const [one, other] = [openLog(buffer, 0), openLog(buffer, 1)];
    assert.deepEqual(one.newest(10), []);
    one.add(entry("a"), 128);
    other.add(entry("b\xff\r\n"), 128);
    assert.equal(one.length, 2);
    assert.deepEqual(one.newest(1), [{ id: 1, ...entry("b\xff\r\n") }]);
    assert.deepEqual(
      other.newest(10).map(({ id }) => id),
      [1, 0],
    );
    other.reset();
    assert.equal(one.length, 0);
    one.add(entry("c"), 128);
    assert.deepEqual(other.newest(Number.POSITIVE_INFINITY), [{ id: 2, ...entry("c") }]);
  });

  test("keeps as many as it may", () => {
    const log = openLog(new SharedArrayBuffer(slowLogBytes(65536)));
    for (let i = 0; i < 20; i++) log.add(entry(String(i)), 5);
    assert.deepEqual(
      log.newest(10).map(({ words }) => words[1]),
      ["19", "18", "17", "16", "15"],
    );
    log.trim(2);
    assert.equal(log.length, 2);
    log.trim(4);
    assert.deepEqual(
      log.newest(10).map(({ id }) => id),
      [19, 18],
    );
  });

  test("lets go of the oldest where the ring is full, and never of more than it must", () => {
    const seed = 20_260_101;
    const random = new Random(seed);
    const ringBytes = 2048;
    const log = openLog(new SharedArrayBuffer(slowLogBytes(ringBytes)));
    const all: string[] = [];
    for (let i = 0; i < 5000; i++) {
      const word = `${i}:${"x".repeat(random.below(400))}`;
      log.add(entry(word), 1000);
      all.push(word);
      const found = log.newest(1000);
      assert.deepEqual(
        found.map(({ words }) => words[1]),
        all.slice(-found.length).reverse(),
        `seed ${seed}, entry ${i}`,
      );
      assert.deepEqual(found[0]?.id, i);
      const bytes = found.reduce((sum, { words }) => sum + 72 + (words[1]?.length ?? 0), 0);
      // What is at the end of the ring may be too short for the next one, and one is cut by it.
      assert.ok(i < 20 || bytes > ringBytes - 1100, `seed ${seed}, entry ${i}: ${bytes} bytes`);
    }
  });
});

test("an entry that goes while others are read ends the reading", () => {
  const buffer = new SharedArrayBuffer(slowLogBytes(1 << 20));
  const other = openLog(buffer, 1);
  const total = 1000;
  let looks = 0;
  // The reader takes the lock once for each portion of 128; before the fourth most entries go.
  const meddling = { wait: () => {}, now: () => 0 };
  const log = new SlowLog(buffer, {
    thread: 0,
    waiting: meddling,
    get counters() {
      if (++looks === 4) other.trim(300);
      return newLockCounters();
    },
  });
  for (let i = 0; i < total; i++) other.add(entry(String(i)), total);
  const found = log.newest(Number.POSITIVE_INFINITY);
  assert.deepEqual(
    found.map(({ id }) => id),
    Array.from({ length: 3 * 128 }, (_, i) => total - 1 - i),
  );
  assert.equal(looks, 4);
  other.reset();
  assert.deepEqual(log.newest(10), []);
});

describe("the words of an entry", () => {
  test("are cut behind 128 bytes and 32 arguments", () => {
    const long = argsOf("SET", "a".repeat(128), "b".repeat(129));
    assert.deepEqual(slowLogWords(long, null, []), [
      "SET",
      "a".repeat(128),
      `${"b".repeat(128)}... (1 more bytes)`,
    ]);
    const numbers = Array.from({ length: 33 }, (_, i) => String(i));
    const most = numbers.slice(0, 32);
    assert.deepEqual(slowLogWords(argsOf(...most), null, []), most);
    assert.deepEqual(slowLogWords(argsOf(...numbers), null, []), [
      ...numbers.slice(0, 31),
      "... (2 more arguments)",
    ]);
  });

  test("do not tell secrets", () => {
    const args = argsOf("AUTH", "user", "secret".repeat(50));
    assert.deepEqual(slowLogWords(args, null, [1, 2]), ["AUTH", "(redacted)", "(redacted)"]);
  });

  test("are those from before the command where it may have taken the blocks", () => {
    const args = argsOf("SET", "k");
    assert.equal(headsOfBigs(args), null);
    const source = latin1Bytes("v".repeat(100_000));
    args.bigs = [null, null, { block: 8, source, view: new DataView(source.buffer) }];
    args.start[2] = 0;
    args.end[2] = source.length;
    args.count = 3;
    const heads = headsOfBigs(args);
    source.fill(0);
    assert.deepEqual(slowLogWords(args, heads, []), [
      "SET",
      "k",
      `${"v".repeat(128)}... (99872 more bytes)`,
    ]);
  });
});
