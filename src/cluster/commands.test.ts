/** Texts are those of redis-server 7.4.1, in cluster mode and without it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "../command/command.ts";
import { LOCKS_NONE } from "../command/command.ts";
import { OWNERS_MAX } from "../limits.ts";
import { ownerId } from "./shard-owners/layout.ts";
import { FakeCluster, TEST_NODE_ID } from "./test-support.ts";

const OK = "+OK\r\n";
const ERR_DISABLED = "-ERR This instance has cluster support disabled\r\n";

/** A call with as few words as the command takes. */
function shortestCall({ name, arity }: Command): string {
  const words = name.toUpperCase().split("|");
  while (words.length < Math.abs(arity)) words.push("1");
  return words.join(" ");
}

test("without shard owners every subcommand and mode says so", () => {
  const cluster = new FakeCluster({ owners: 0 });
  const session = cluster.session();
  let called = 0;
  for (const command of cluster.commands.list) {
    if (command.locks !== LOCKS_NONE) continue;
    assert.equal(cluster.call(shortestCall(command), session), ERR_DISABLED, command.name);
    called++;
  }
  assert.equal(called, 29);
  assert.equal(session.readonlyMode, false);
});

test("ids: the plain port has the node's, an owner its own", () => {
  const cluster = new FakeCluster({ owners: 4 });
  for (const sub of ["MYID", "MYSHARDID"]) {
    assert.equal(cluster.call(`CLUSTER ${sub}`), `$40\r\n${TEST_NODE_ID}\r\n`);
    for (let owner = 0; owner < 4; owner++) {
      const id = ownerId(TEST_NODE_ID, owner);
      assert.equal(cluster.call(`CLUSTER ${sub}`, { owner }), `$40\r\n${id}\r\n`);
    }
  }
});

test("the modes of cluster clients", () => {
  const cluster = new FakeCluster({ owners: 2 });
  for (const owner of [-1, 0, 1]) {
    const session = cluster.session({ owner });
    assert.equal(cluster.call("READONLY", session), OK);
    assert.equal(session.readonlyMode, true);
    assert.equal(cluster.call("ASKING", session), OK);
    assert.equal(cluster.call("READWRITE", session), OK);
    assert.equal(session.readonlyMode, false);
  }
});

test("whatever would change the layout is refused on every port, and nothing changes", () => {
  const cluster = new FakeCluster({ owners: 4 });
  const calls = [
    "ADDSLOTS 1",
    "ADDSLOTS xx",
    "ADDSLOTSRANGE 1 2",
    "ADDSLOTSRANGE 1 2 3 4",
    "BUMPEPOCH",
    "DELSLOTS 1 2 3",
    "DELSLOTSRANGE 1 2",
    "FAILOVER",
    "FAILOVER FORCE",
    "FAILOVER foo",
    "FLUSHSLOTS",
    `FORGET ${ownerId(TEST_NODE_ID, 1)}`,
    "MEET 127.0.0.1 6379",
    "MEET 127.0.0.1 6379 16379",
    `REPLICATE ${TEST_NODE_ID}`,
    "RESET",
    "RESET HARD",
    "SAVECONFIG",
    "SET-CONFIG-EPOCH 9",
    `SETSLOT 1 NODE ${ownerId(TEST_NODE_ID, 1)}`,
    "SETSLOT 1 STABLE",
  ];
  const before = { slots: Array.from(cluster.slots), nodes: cluster.call("CLUSTER NODES") };
  for (const call of calls) {
    const sub = call.split(" ")[0];
    const text = `-ERR This layout follows from shard-owners and cannot be changed by CLUSTER ${sub}\r\n`;
    for (const owner of [-1, 0, 3]) {
      assert.equal(cluster.call(`CLUSTER ${call}`, { owner }), text, call);
    }
  }
  assert.equal(cluster.call("cluster flushslots"), cluster.call("CLUSTER FLUSHSLOTS"));
  assert.deepEqual(Array.from(cluster.slots), before.slots);
  assert.equal(cluster.call("CLUSTER NODES"), before.nodes);
  const refused = new Set(calls.map((call) => `CLUSTER ${call.split(" ")[0]}`));
  for (const { spec } of cluster.commands.list) {
    const isMutator = spec.differs?.startsWith("Refused") === true;
    assert.equal(refused.has(spec.name), isMutator, spec.name);
  }
});

test("calls with a wrong number of words are told that first", () => {
  const cluster = new FakeCluster({ owners: 2 });
  const wrong = (name: string): string =>
    `-ERR wrong number of arguments for 'cluster|${name}' command\r\n`;
  const unknown = (name: string): string =>
    `-ERR unknown subcommand or wrong number of arguments for '${name}'. Try CLUSTER HELP.\r\n`;
  assert.equal(cluster.call("CLUSTER ADDSLOTSRANGE 1 2 3"), wrong("addslotsrange"));
  assert.equal(cluster.call("CLUSTER DelSlotsRange 1 2 3"), wrong("delslotsrange"));
  assert.equal(cluster.call("CLUSTER MEET a b c d"), unknown("MEET"));
  assert.equal(cluster.call("CLUSTER failover a b"), unknown("failover"));
  assert.equal(cluster.call("CLUSTER RESET a b"), unknown("RESET"));
});

test("arities are Redis's", () => {
  const { commands } = new FakeCluster({ owners: 1 });
  const arities = commands.list.map(({ name, arity }) => [name.replace("cluster|", ""), arity]);
  assert.deepEqual(Object.fromEntries(arities), {
    cluster: -2,
    slots: 2,
    shards: 2,
    nodes: 2,
    info: 2,
    myid: 2,
    myshardid: 2,
    keyslot: 3,
    countkeysinslot: 3,
    getkeysinslot: 4,
    "slot-stats": -4,
    replicas: 3,
    slaves: 3,
    "count-failure-reports": 3,
    links: 2,
    help: 2,
    addslots: -3,
    addslotsrange: -4,
    bumpepoch: 2,
    delslots: -3,
    delslotsrange: -4,
    failover: -2,
    flushslots: 2,
    forget: 3,
    meet: -4,
    replicate: 3,
    reset: -2,
    saveconfig: 2,
    "set-config-epoch": 3,
    setslot: -4,
    readonly: 1,
    readwrite: 1,
    asking: 1,
  });
});

test("slots of keys, with and without a hash tag", () => {
  const cluster = new FakeCluster({ owners: 2 });
  const slots = [
    ["", 0],
    ["a", 15495],
    ["foo", 12182],
    ["bar", 5061],
    ["hello", 866],
    ["{user1000}.following", 3443],
    ["foo{}{bar}", 8363],
    ["foo{{bar}}zap", 4015],
    ["foo{bar}{zap}", 5061],
    ["{}abc", 5980],
    ["06S", 0],
    ["Qi", 1],
  ] as const;
  for (const [key, slot] of slots) {
    assert.equal(cluster.call(`CLUSTER KEYSLOT ${key}`, { owner: 1 }), `:${slot}\r\n`);
  }
});

test("what is said of one node", () => {
  const cluster = new FakeCluster({ owners: 2 });
  const known = ownerId(TEST_NODE_ID, 1);
  for (const sub of ["REPLICAS", "SLAVES"]) {
    assert.equal(cluster.call(`CLUSTER ${sub} ${known}`), "*0\r\n");
    assert.equal(cluster.call(`CLUSTER ${sub} abc`), "-ERR Unknown node abc\r\n");
  }
  assert.equal(cluster.call(`CLUSTER COUNT-FAILURE-REPORTS ${TEST_NODE_ID}`), ":0\r\n");
  const unknown = ownerId(TEST_NODE_ID, OWNERS_MAX);
  assert.equal(
    cluster.call(`CLUSTER COUNT-FAILURE-REPORTS ${unknown}`),
    `-ERR Unknown node ${unknown}\r\n`,
  );
  const inCapitals = known.toUpperCase();
  assert.equal(
    cluster.call(`CLUSTER REPLICAS ${inCapitals}`),
    `-ERR Unknown node ${inCapitals}\r\n`,
  );
  assert.equal(cluster.call("CLUSTER REPLICAS a\0b"), "-ERR Unknown node a\r\n");
});

test("HELP lists every subcommand that there is", () => {
  const cluster = new FakeCluster({ owners: 1 });
  const help = cluster.call("CLUSTER HELP").split("\r\n").slice(1, -1);
  const listed = help.flatMap((line) => /^\+([A-Z-]+)/.exec(line)?.[1] ?? []).slice(1);
  const subs = cluster.commands.named("cluster")?.subcommands.keys() ?? [];
  // Redis does not list SLAVES, the former name of REPLICAS.
  const expected = [...subs].map((name) => name.toUpperCase()).filter((name) => name !== "SLAVES");
  assert.deepEqual(listed.sort(), expected.sort());
});
