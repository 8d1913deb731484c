import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Random } from "../base/random.ts";
import { MAILBOX_WAITING_MAX } from "../limits.ts";
import { LOCK_LINE_WORDS } from "../memory/layout.ts";
import { Mailboxes, mailboxBytes, type Receiver } from "./mailbox.ts";
import { newLockCounters } from "./shared-state.ts";

type Post = { threads: Mailboxes[]; rung: number[] };

/** `passed` are the bytes that have gone through the first thread's ring before, as int32. */
function post(threads: number, ringBytes?: number, passed = 0): Post {
  const buffer = new SharedArrayBuffer(mailboxBytes(threads, ringBytes));
  const words = new Int32Array(buffer);
  if (passed !== 0) words.fill(passed, LOCK_LINE_WORDS, LOCK_LINE_WORDS + 1);
  if (passed !== 0) words.fill(passed, 2 * LOCK_LINE_WORDS, 2 * LOCK_LINE_WORDS + 1);
  const rung: number[] = [];
  const boxes = Array.from({ length: threads }, (_, thread) => {
    return new Mailboxes({
      buffer,
      thread,
      threads,
      waiting: { wait: () => assert.fail("a lock was waited for"), now: () => 0 },
      counters: newLockCounters(),
      ring: (to) => rung.push(to),
    });
  });
  return { threads: boxes, rung };
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function taken(box: Mailboxes): string[] {
  const list: string[] = [];
  box.take({
    message: (sender, kind, bytes) => list.push(`${sender}:${kind}:${text(bytes)}`),
    lost: (sender) => list.push(`${sender} lost`),
  });
  return list;
}

function send(from: Mailboxes, to: number, words: string, kind = 1): void {
  const bytes = Buffer.from(`${words}behind`, "latin1");
  from.post(to, kind, bytes, words.length);
}

test("messages come in order, and only the first of those unread rings", () => {
  const { threads, rung } = post(3);
  const [a, b, c] = threads as [Mailboxes, Mailboxes, Mailboxes];
  send(b, 0, "one");
  send(c, 0, "", 7);
  send(b, 0, "two");
  assert.deepEqual(rung, [0]);
  assert.deepEqual(taken(a), ["1:1:one", "2:7:", "1:1:two"]);
  assert.deepEqual(taken(a), []);
  send(b, 0, "three");
  assert.deepEqual(rung, [0, 0]);
  assert.deepEqual(taken(c), []);
  assert.deepEqual(taken(a), ["1:1:three"]);
});

test("one thread has no mailbox", () => {
  const { threads } = post(1);
  assert.equal(mailboxBytes(1), 0);
  assert.deepEqual(taken(threads[0] as Mailboxes), []);
});

test("a ring goes on where its counts of bytes turn over", () => {
  for (const passed of [2 ** 31 - 128, -128, -64]) {
    const { threads } = post(2, 256, passed);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    const words = Array.from({ length: 40 }, (_, i) => `message ${i}`);
    for (const word of words) send(b, 0, word);
    const got: string[] = [];
    for (let n = 0; n < 40; n++) {
      got.push(...taken(a));
      b.flush();
    }
    assert.deepEqual(
      got,
      words.map((word) => `1:1:${word}`),
    );
  }
});

describe("what does not fit the ring", () => {
  test("waits, and the receiver rings when there is room", () => {
    const { threads, rung } = post(2, 256);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    const words = Array.from({ length: 20 }, (_, i) => `message ${i}`);
    for (const word of words) send(b, 0, word);
    assert.deepEqual(rung, [0]);
    const got: string[] = [];
    for (let n = 0; n < 20 && got.length < 20; n++) {
      got.push(...taken(a));
      assert.equal(rung.at(-1), got.length < 20 ? 1 : 0);
      b.flush();
    }
    got.push(...taken(a));
    assert.deepEqual(
      got,
      words.map((word) => `1:1:${word}`),
    );
    send(b, 0, "later");
    assert.deepEqual(taken(a), ["1:1:later"]);
  });

  test("comes in pieces, which those of others may come between", () => {
    const { threads } = post(3, 256);
    const [a, b, c] = threads as [Mailboxes, Mailboxes, Mailboxes];
    const long = Array.from({ length: 3000 }, (_, i) => String(i)).join(" ");
    send(b, 0, long);
    const got: string[] = [];
    for (let n = 0; got.length < 4 && n < 500; n++) {
      got.push(...taken(a));
      if (n < 3) send(c, 0, `short ${n}`);
      c.flush();
      b.flush();
    }
    assert.deepEqual(got, ["2:1:short 0", "2:1:short 1", "2:1:short 2", `1:1:${long}`]);
  });

  test("is lost beyond a bound, which the receiver is told in its place", () => {
    const { threads } = post(2, 256);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    send(b, 0, "x".repeat(1000));
    const big = new Uint8Array(MAILBOX_WAITING_MAX / 4);
    for (let i = 0; i < 4; i++) b.post(0, 1, big, big.length);
    const got: string[] = [];
    for (let n = 0; n < 20; n++) {
      got.push(...taken(a));
      b.flush();
    }
    assert.deepEqual(got, ["1 lost"]);
    send(b, 0, "after");
    assert.deepEqual(taken(a), ["1:1:after"]);
  });

  test("is lost once, and what comes after that is not", () => {
    const { threads } = post(2, 256);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    send(b, 0, "x".repeat(300));
    const big = new Uint8Array(MAILBOX_WAITING_MAX + 1);
    b.post(0, 1, big, big.length);
    send(b, 0, "next");
    const got: string[] = [];
    for (let n = 0; n < 20; n++) {
      got.push(...taken(a));
      b.flush();
    }
    assert.deepEqual(got, ["1 lost", "1:1:next"]);
  });

  test("waits up to the bound, however much has waited before", () => {
    const { threads } = post(2, 1 << 16);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    const big = new Uint8Array(Math.floor(MAILBOX_WAITING_MAX * 0.4));
    const lengths: number[] = [];
    const goOnUntil = (count: number): void => {
      while (lengths.length < count) {
        a.take({
          message: (_sender, _kind, bytes) => lengths.push(bytes.length),
          lost: () => assert.fail("lost"),
        });
        b.flush();
      }
    };
    b.post(0, 1, big, big.length);
    b.post(0, 1, big, big.length);
    goOnUntil(1);
    assert.ok(b.isWaiting);
    b.post(0, 1, big, big.length);
    goOnUntil(3);
    assert.deepEqual(lengths, new Array<number>(3).fill(big.length));
  });

  test("is there before what the sender tells to be lost", () => {
    const { threads } = post(2, 64);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    for (const word of ["one", "two", "three", "four", "five", "six"]) send(b, 0, word);
    b.postLoss(0);
    const got: string[] = [];
    for (let n = 0; n < 20; n++) {
      got.push(...taken(a));
      b.flush();
    }
    const words = ["one", "two", "three", "four", "five", "six"].map((word) => `1:1:${word}`);
    assert.deepEqual(got, [...words, "1 lost"]);
  });

  test("may be told to be lost by the sender", () => {
    const { threads } = post(2);
    const [a, b] = threads as [Mailboxes, Mailboxes];
    send(b, 0, "before");
    b.postLoss(0);
    send(b, 0, "after");
    assert.deepEqual(taken(a), ["1:1:before", "1 lost", "1:1:after"]);
  });
});

test("random messages of random lengths between five threads, with rings of all sizes", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new Random(seed);
    const { threads } = post(5, 64 << random.below(8));
    const sent = threads.map(() => threads.map((): string[] => []));
    const got = threads.map(() => threads.map((): string[] => []));
    const receiver = (to: number): Receiver => ({
      message: (sender, _kind, bytes) => got[to]?.[sender]?.push(text(bytes)),
      lost: () => assert.fail("a message was lost"),
    });
    const read = (to: number): void => threads[to]?.take(receiver(to));
    for (let n = 0; n < 400; n++) {
      const [from, to] = [random.below(5), random.below(5)];
      if (random.below(3) === 0) read(to);
      else if (from !== to) {
        const words = String.fromCharCode(97 + random.below(26)).repeat(random.below(300));
        sent[to]?.[from]?.push(words);
        send(threads[from] as Mailboxes, to, words);
      }
    }
    for (let n = 0; n < 3000; n++) {
      for (let t = 0; t < 5; t++) {
        read(t);
        threads[t]?.flush();
      }
    }
    assert.deepEqual(got, sent, `seed ${seed}`);
  }
});
