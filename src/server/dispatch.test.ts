/**
 * What the dispatcher does around a command: its gate for memory, its locks, the flight recorder.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { latin1Bytes } from "../base/bytes.ts";
import { keySlot } from "../base/crc16.ts";
import { H_SPANS_LIMIT, H_SPANS_USED, LOCK_WORD, shardRow } from "../memory/layout.ts";
import { FREE } from "../memory/lock.ts";
import { OOM } from "../protocol/errors.ts";
import { flightRecord } from "./flight-record.ts";
import { TestServer } from "./test-server.ts";
import type { ThreadServer } from "./thread-server.ts";
import { SLOT_STABLE, slotRow } from "./topology.ts";

const SPAN_BYTES = 65536;

function firstThread(server: TestServer): ThreadServer {
  return server.host.servers[0] as ThreadServer;
}

describe("the gate for memory", () => {
  /** Leaves room for so many bytes more. */
  function leave(server: TestServer, bytes: number): void {
    const { control } = firstThread(server).store;
    control[H_SPANS_LIMIT] = (control[H_SPANS_USED] as number) + Math.ceil(bytes / SPAN_BYTES);
  }

  const pairs = (count: number, size: number): string[] =>
    Array.from({ length: count }, (_, i) => [`key:${i}`, "x".repeat(size)]).flat();

  test("counts short arguments, beside long ones too", () => {
    const long = "y".repeat(70_000);
    for (const words of [
      ["MSET", ...pairs(60, 60_000)],
      ["MSET", "long", long, ...pairs(60, 60_000)],
      ["MSET", ...pairs(60, 60_000), "long", long],
    ]) {
      const server = new TestServer();
      const client = server.connect();
      client.call("SET", "there", "v");
      leave(server, 2_000_000);
      assert.equal(client.call(...words), `-${OOM}\r\n`);
      assert.equal(client.say("DBSIZE"), ":1\r\n", "a part of them was set");
      leave(server, 10_000_000);
      assert.equal(client.call(...words), "+OK\r\n");
      assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
    }
  });

  test("counts a long argument once: it has its memory already", () => {
    const server = new TestServer();
    const client = server.connect();
    client.call("SET", "there", "v");
    leave(server, 6_000_000);
    assert.equal(client.call("SET", "long", "y".repeat(4_000_000)), "+OK\r\n");
    assert.equal(client.call("SET", "longer", "y".repeat(4_000_000)), `-${OOM}\r\n`);
    assert.equal(client.say("DBSIZE"), ":2\r\n");
  });
});

describe("what is published while a command waits for its locks", () => {
  for (const words of [["INCR", "a"], ["MSET", "a", "1", "b", "1"], ["FLUSHALL"]]) {
    test(`${words[0]} does not run once clients are paused`, () => {
      const server = new TestServer();
      const [control, writer] = [server.connect(), server.connect({ thread: 1 })];
      control.call("SET", "a", "0");
      const release = server.holdShard(server.shardOf("a"));
      server.onWait = () => {
        server.onWait = () => {};
        release();
        control.say("CLIENT PAUSE 60000 WRITE");
      };
      assert.equal(writer.call(...words), "");
      server.host.settle();
      assert.equal(control.link.sent, "+OK\r\n");
      assert.equal(control.info("clients").get("blocked_clients"), "1");
      assert.equal(control.say("GET a"), "$1\r\n0\r\n");
      control.say("CLIENT UNPAUSE");
      server.host.settle();
      assert.match(writer.link.sent, /^(:1|\+OK)\r\n$/);
      assert.equal(
        control.info("commandstats").get(`cmdstat_${words[0]?.toLowerCase()}`)?.split(",")[0],
        "calls=1",
      );
    });
  }
});

describe("a slot that changes hands while a command waits for its locks", () => {
  for (const words of [
    ["SET", "{t}a", "1"],
    ["MSET", "{t}a", "1", "{t}b", "1"],
  ]) {
    test(`${words[0]} is redirected, and leaves no lock behind`, () => {
      const server = new TestServer({ owners: 2 });
      const slot = keySlot(latin1Bytes("t"), 0, 1);
      const owner = server.host.servers[0]?.topology?.nodes.findIndex(
        ({ firstSlot, lastSlot }) => slot >= firstSlot && slot <= lastSlot,
      ) as number;
      const slots = new Int32Array(server.host.shared.slots);
      const client = server.connect({ owner });
      const release = server.holdShard(server.shardOf("{t}a"));
      server.onWait = () => {
        server.onWait = () => {};
        slots[slot] = slotRow(SLOT_STABLE, 1 - owner, 0);
        release();
      };
      assert.equal(client.call(...words), `-MOVED ${slot} 127.0.0.1:${6380 + 1 - owner}\r\n`);
      assert.equal(client.info("commandstats").has(`cmdstat_${words[0]?.toLowerCase()}`), true);
      const plain = server.connect({ thread: 1 - owner });
      assert.equal(plain.call("SET", "{t}a", "2"), "+OK\r\n");
      assert.equal(plain.call("EXISTS", "{t}b"), ":0\r\n");
    });
  }
});

describe("a command over several shards", () => {
  /** Two keys of different shards, that of the lower shard first. */
  function twoKeys(server: TestServer): [string, string] {
    const low = server.shardOf("a") < server.shardOf("b") ? "a" : "b";
    return low === "a" ? ["a", "b"] : ["b", "a"];
  }

  test("takes the lower shard first, in whatever order its keys come", () => {
    for (const swap of [false, true]) {
      const server = new TestServer();
      const [low, high] = twoKeys(server);
      const client = server.connect();
      const { store } = firstThread(server);
      const release = server.holdShard(server.shardOf(high));
      let word = FREE;
      server.onWait = () => {
        server.onWait = () => {};
        word = store.control[shardRow(server.shardOf(low)) + LOCK_WORD] as number;
        release();
      };
      const [first, second] = swap ? [high, low] : [low, high];
      assert.equal(client.call("MSET", first, "1", second, "2"), "+OK\r\n");
      assert.notEqual(word, FREE, "the lower shard was not held");
    }
  });

  test("gives back what it has when it does not get the rest", () => {
    const server = new TestServer();
    const [low, high] = twoKeys(server);
    const [client, other] = [server.connect(), server.connect({ thread: 1 })];
    const release = server.holdShard(server.shardOf(high));
    assert.equal(client.call("MSET", low, "1", high, "2"), "");
    assert.equal(other.call("SET", low, "3"), "+OK\r\n");
    release();
    assert.equal(client.link.sent, "+OK\r\n");
    assert.equal(other.call("MGET", low, high), "*2\r\n$1\r\n1\r\n$1\r\n2\r\n");
  });
});

test("a lock that is released between the last try and the mark is not waited for", () => {
  const server = new TestServer();
  const client = server.connect();
  const { locks } = firstThread(server).dispatcher;
  const release = server.holdShard(server.shardOf("a"));
  const acquireSlowly = locks.acquireSlowly.bind(locks);
  locks.acquireSlowly = (shard) => {
    const got = acquireSlowly(shard);
    release();
    return got;
  };
  assert.equal(client.call("SET", "a", "1"), "");
  server.host.settle();
  assert.equal(client.link.sent, "+OK\r\n");
});

test("CLIENT PAUSE answers when the writes that were under way are over", () => {
  const server = new TestServer();
  const [control, other] = [server.connect(), server.connect()];
  const release = server.holdShard(7);
  assert.equal(control.say("CLIENT PAUSE 60000 ALL"), "");
  assert.equal(other.say("PING"), "");
  release();
  assert.equal(control.link.sent, "+OK\r\n");
});

describe("the flight recorder", () => {
  /** What a report would say if the thread died while it changes a key. */
  function recordDuring(server: TestServer, words: string[]): string[] {
    const { store, commands } = firstThread(server);
    const lines: string[] = [];
    store.listener = {
      changed: () => lines.push(...flightRecord(store.control, 0, commands)),
    };
    const reply = server.connect().call(...words);
    assert.doesNotMatch(reply, /^-/);
    store.listener = null;
    return lines;
  }

  test("has commands of one key with its slot, of several keys at each of their shards", () => {
    const server = new TestServer();
    assert.match(recordDuring(server, ["SET", "a", "1"]).join("\n"), / {2}set slot 15495 thread 0/);
    const shards = new Set(["a", "b", "c"].map((key) => server.shardOf(key)));
    assert.equal(shards.size, 3);
    const lines = recordDuring(server, ["MSET", "a", "1", "b", "2", "c", "3"]);
    for (const shard of shards) {
      const at = lines.findIndex((line) => line.startsWith(`shard ${shard} is locked`));
      assert.ok(at >= 0, `shard ${shard}`);
      assert.equal(lines[at + 1], "  mset slot -1 thread 0");
    }
  });

  test("has commands over all shards, and those that visit one after another", () => {
    const server = new TestServer();
    const client = server.connect();
    const { store, commands } = firstThread(server);
    const other = server.host.servers.length;
    for (const line of ["MSET a 1 b 2", "KEYS *", "DBSIZE", "FLUSHALL"]) {
      client.say(line);
      if (line.startsWith("MSET")) continue;
      for (let shard = 0; shard < store.shards; shard++) {
        const release = server.holdShard(shard);
        const newest = flightRecord(store.control, other, commands)[1];
        release();
        const name = line.split(" ", 1)[0]?.toLowerCase();
        assert.equal(newest, `  ${name} slot -1 thread 0`, `shard ${shard}`);
      }
    }
  });
});
