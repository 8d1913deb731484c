import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { argsOf } from "../base/args-test-support.ts";
import { keySlot } from "../base/crc16.ts";
import { FakeCluster, type From } from "../cluster/test-support.ts";
import { KeyList } from "../command/key-specs.ts";
import { CommandTable } from "../command/lookup.ts";
import { SLOTS } from "../limits.ts";
import { STRING_COMMANDS } from "../types/string/commands.ts";
import {
  rowNode,
  rowState,
  SLOT_IMPORTING,
  SLOT_MIGRATING,
  SLOT_NOBODY,
  SLOT_STABLE,
  slotRow,
  type Topology,
} from "./topology.ts";

const COMMANDS = new CommandTable(STRING_COMMANDS);
const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";

/** What becomes of a request, its words separated by blanks. */
function decide(cluster: FakeCluster, line: string, from: From): string | null {
  const topology = cluster.topology as Topology;
  const args = argsOf(...line.split(" "));
  const command = COMMANDS.resolve(args, 0);
  assert.ok(command !== null);
  const keys = new KeyList();
  command.keyPositions(args, keys);
  for (let k = 0; k < keys.count; k++) {
    const i = keys.at[k] as number;
    args.slot[i] = keySlot(args.buffer, args.start[i] as number, args.end[i] as number);
  }
  const session = cluster.session(from);
  const decided = topology.decide(session, args, keys);
  if (keys.count === 1) {
    const slot = args.slot[keys.at[0] as number] as number;
    assert.equal(topology.decideSlot(session, slot), decided, "decideSlot differs");
  }
  return decided;
}

test("a row holds its state, node and target", () => {
  for (const state of [SLOT_NOBODY, SLOT_STABLE, SLOT_MIGRATING, SLOT_IMPORTING]) {
    for (const node of [0, 1, 255, 0x7fff]) {
      for (const target of [0, 1, 0x7fff]) {
        const row = slotRow(state, node, target);
        assert.equal(row, row | 0);
        assert.deepEqual([rowState(row), rowNode(row)], [state, node]);
      }
    }
  }
});

describe("one key", () => {
  const KEYS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"];

  test("seven keys on four owners: the owner serves, the others redirect to it", () => {
    const cluster = new FakeCluster({ owners: 4 });
    for (const key of KEYS) {
      const slot = keySlot(argsOf(key).buffer, 0, key.length);
      for (let owner = 0; owner < 4; owner++) {
        const right = slot >> 12;
        const expected = owner === right ? null : `MOVED ${slot} 127.0.0.1:${27070 + right}`;
        assert.equal(decide(cluster, `GET ${key}`, { owner }), expected);
      }
      assert.equal(decide(cluster, `GET ${key}`, { owner: -1 }), null);
    }
  });

  test("one owner never redirects", () => {
    const cluster = new FakeCluster({ owners: 1 });
    const session = cluster.session({ owner: 0 });
    for (let slot = 0; slot < SLOTS; slot++) {
      assert.equal(cluster.topology?.decideSlot(session, slot), null);
    }
  });

  test("exactly one of many owners serves a slot, and the others point to it", () => {
    const cluster = new FakeCluster({ owners: 256 });
    const sessions = Array.from({ length: 256 }, (_, owner) => cluster.session({ owner }));
    for (let slot = 0; slot < SLOTS; slot += 97) {
      const right = (slot * 256) >> 14;
      for (const [owner, session] of sessions.entries()) {
        const expected = owner === right ? null : `MOVED ${slot} 127.0.0.1:${27070 + right}`;
        if (cluster.topology?.decideSlot(session, slot) !== expected) assert.fail(`slot ${slot}`);
      }
    }
  });
});

describe("several keys", () => {
  // foo is slot 12182, bar 5061, hello 866: with two owners foo is owner 1's, the others owner 0's.
  test("in one slot they go where one key goes", () => {
    const cluster = new FakeCluster({ owners: 2 });
    for (const crossSlot of ["no", "yes"]) {
      cluster.set("shard-owners-cross-slot", crossSlot);
      assert.equal(decide(cluster, "MGET foo {foo}1 {foo}2", { owner: 1 }), null);
      const moved = "MOVED 12182 127.0.0.1:27071";
      assert.equal(decide(cluster, "MGET foo {foo}1 {foo}2", { owner: 0 }), moved);
    }
  });

  test("in several slots they are refused whoever owns them", () => {
    const cluster = new FakeCluster({ owners: 2 });
    for (const owner of [0, 1]) {
      assert.equal(decide(cluster, "MGET bar hello", { owner }), CROSSSLOT);
      assert.equal(decide(cluster, "MGET bar foo", { owner }), CROSSSLOT);
      assert.equal(decide(cluster, "MSET foo 1 {foo}1 2 bar 3", { owner }), CROSSSLOT);
    }
    assert.equal(decide(cluster, "MGET bar foo", { owner: -1 }), null);
  });

  test("with cross-slot yes the first key's slot decides", () => {
    const cluster = new FakeCluster({ owners: 2 });
    cluster.set("shard-owners-cross-slot", "yes");
    assert.equal(decide(cluster, "MGET bar hello foo", { owner: 0 }), null);
    assert.equal(decide(cluster, "MGET bar hello foo", { owner: 1 }), "MOVED 5061 127.0.0.1:27070");
    assert.equal(decide(cluster, "MSET foo 1 bar 2", { owner: 1 }), null);
    assert.equal(decide(cluster, "MSET foo 1 bar 2", { owner: 0 }), "MOVED 12182 127.0.0.1:27071");
    cluster.set("shard-owners-cross-slot", "no");
    assert.equal(decide(cluster, "MSET foo 1 bar 2", { owner: 1 }), CROSSSLOT);
  });
});

describe("where a redirect points", () => {
  const moved = (cluster: FakeCluster, from: From = {}): string | null =>
    decide(cluster, "GET foo", { owner: 0, ...from });

  test("address and first port as announced", () => {
    const cluster = new FakeCluster({ owners: 2 });
    cluster.set("cluster-announce-ip", "203.0.113.5");
    cluster.set("shard-owners-announce-port", "9000");
    assert.equal(moved(cluster), "MOVED 12182 203.0.113.5:9001");
  });

  test("a host name, the unknown one, an unknown endpoint", () => {
    const cluster = new FakeCluster({ owners: 2 });
    cluster.set("cluster-preferred-endpoint-type", "hostname");
    assert.equal(moved(cluster), "MOVED 12182 ?:27071");
    cluster.set("cluster-announce-hostname", "a.example.com");
    assert.equal(moved(cluster), "MOVED 12182 a.example.com:27071");
    cluster.set("cluster-preferred-endpoint-type", "unknown-endpoint");
    assert.equal(moved(cluster), "MOVED 12182 :27071");
    cluster.set("cluster-preferred-endpoint-type", "ip");
    assert.equal(moved(cluster), "MOVED 12182 127.0.0.1:27071");
  });

  test("IPv6 without brackets, and without a bound address where the client came in", () => {
    const bound = new FakeCluster({ owners: 2, boundAddress: "::1" });
    assert.equal(moved(bound, { local: "127.0.0.1:5" }), "MOVED 12182 ::1:27071");
    const wildcard = new FakeCluster({ owners: 2, boundAddress: "" });
    assert.equal(moved(wildcard, { local: "[::1]:27070" }), "MOVED 12182 ::1:27071");
    assert.equal(moved(wildcard, { local: "10.0.0.7:27070" }), "MOVED 12182 10.0.0.7:27071");
  });
});

test("a slot that nobody owns is down for every owner", () => {
  const cluster = new FakeCluster({ owners: 2 });
  cluster.slots[12182] = slotRow(SLOT_NOBODY, 0, 0);
  for (const owner of [0, 1]) {
    assert.equal(decide(cluster, "GET foo", { owner }), "CLUSTERDOWN Hash slot not served");
  }
});

test("a slot on its way out is served where it is, and redirected to there", () => {
  const cluster = new FakeCluster({ owners: 2 });
  cluster.slots[12182] = slotRow(SLOT_MIGRATING, 1, 0);
  assert.equal(decide(cluster, "GET foo", { owner: 1 }), null);
  assert.equal(decide(cluster, "GET foo", { owner: 0 }), "MOVED 12182 127.0.0.1:27071");
});
