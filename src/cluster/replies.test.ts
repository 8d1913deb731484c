/**
 * The shapes of SLOTS, SHARDS, NODES and INFO, against what redis-server 7.0.15 and 7.4.1 (which
 * agree on every byte) answered as a cluster of one node with config epoch 1 and announced ip
 * 10.1.2.3.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeCluster, TEST_NODE_ID, TEST_PORT } from "./test-support.ts";

type Row = readonly [hostname: string, type: string, proto: number, sub: string, reply: string];

/** "|" is CR LF and "ID" the node's id. */
const RECORDED: readonly Row[] = [
  ["", "ip", 2, "SLOTS", "*1|*3|:0|:16383|*4|$8|10.1.2.3|:27070|$40|ID|*0|"],
  [
    "",
    "ip",
    2,
    "SHARDS",
    "*1|*4|$5|slots|*2|:0|:16383|$5|nodes|*1|*14|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$8|10.1.2.3|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  ["", "ip", 2, "NODES", "$102|ID 10.1.2.3:27070@37070 myself,master - 0 0 1 connected 0-16383\n|"],
  ["", "ip", 3, "SLOTS", "*1|*3|:0|:16383|*4|$8|10.1.2.3|:27070|$40|ID|%0|"],
  [
    "",
    "ip",
    3,
    "SHARDS",
    "*1|%2|$5|slots|*2|:0|:16383|$5|nodes|*1|%7|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$8|10.1.2.3|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "",
    "ip",
    3,
    "NODES",
    "=106|txt:ID 10.1.2.3:27070@37070 myself,master - 0 0 1 connected 0-16383\n|",
  ],
  ["", "hostname", 2, "SLOTS", "*1|*3|:0|:16383|*4|$1|?|:27070|$40|ID|*2|$2|ip|$8|10.1.2.3|"],
  [
    "",
    "hostname",
    2,
    "SHARDS",
    "*1|*4|$5|slots|*2|:0|:16383|$5|nodes|*1|*14|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$1|?|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "",
    "hostname",
    2,
    "NODES",
    "$102|ID 10.1.2.3:27070@37070 myself,master - 0 0 1 connected 0-16383\n|",
  ],
  ["", "hostname", 3, "SLOTS", "*1|*3|:0|:16383|*4|$1|?|:27070|$40|ID|%1|$2|ip|$8|10.1.2.3|"],
  [
    "",
    "hostname",
    3,
    "SHARDS",
    "*1|%2|$5|slots|*2|:0|:16383|$5|nodes|*1|%7|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$1|?|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "",
    "hostname",
    3,
    "NODES",
    "=106|txt:ID 10.1.2.3:27070@37070 myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "",
    "unknown-endpoint",
    2,
    "SLOTS",
    "*1|*3|:0|:16383|*4|$-1|:27070|$40|ID|*2|$2|ip|$8|10.1.2.3|",
  ],
  [
    "",
    "unknown-endpoint",
    2,
    "SHARDS",
    "*1|*4|$5|slots|*2|:0|:16383|$5|nodes|*1|*14|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$0||$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "",
    "unknown-endpoint",
    2,
    "NODES",
    "$102|ID 10.1.2.3:27070@37070 myself,master - 0 0 1 connected 0-16383\n|",
  ],
  ["", "unknown-endpoint", 3, "SLOTS", "*1|*3|:0|:16383|*4|_|:27070|$40|ID|%1|$2|ip|$8|10.1.2.3|"],
  [
    "",
    "unknown-endpoint",
    3,
    "SHARDS",
    "*1|%2|$5|slots|*2|:0|:16383|$5|nodes|*1|%7|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$0||$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "",
    "unknown-endpoint",
    3,
    "NODES",
    "=106|txt:ID 10.1.2.3:27070@37070 myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "host.example.com",
    "ip",
    2,
    "SLOTS",
    "*1|*3|:0|:16383|*4|$8|10.1.2.3|:27070|$40|ID|*2|$8|hostname|$16|host.example.com|",
  ],
  [
    "host.example.com",
    "ip",
    2,
    "SHARDS",
    "*1|*4|$5|slots|*2|:0|:16383|$5|nodes|*1|*16|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$8|10.1.2.3|$8|hostname|$16|host.example.com|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "host.example.com",
    "ip",
    2,
    "NODES",
    "$119|ID 10.1.2.3:27070@37070,host.example.com myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "host.example.com",
    "ip",
    3,
    "SLOTS",
    "*1|*3|:0|:16383|*4|$8|10.1.2.3|:27070|$40|ID|%1|$8|hostname|$16|host.example.com|",
  ],
  [
    "host.example.com",
    "ip",
    3,
    "SHARDS",
    "*1|%2|$5|slots|*2|:0|:16383|$5|nodes|*1|%8|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$8|10.1.2.3|$8|hostname|$16|host.example.com|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "host.example.com",
    "ip",
    3,
    "NODES",
    "=123|txt:ID 10.1.2.3:27070@37070,host.example.com myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "host.example.com",
    "hostname",
    2,
    "SLOTS",
    "*1|*3|:0|:16383|*4|$16|host.example.com|:27070|$40|ID|*2|$2|ip|$8|10.1.2.3|",
  ],
  [
    "host.example.com",
    "hostname",
    2,
    "SHARDS",
    "*1|*4|$5|slots|*2|:0|:16383|$5|nodes|*1|*16|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$16|host.example.com|$8|hostname|$16|host.example.com|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "host.example.com",
    "hostname",
    2,
    "NODES",
    "$119|ID 10.1.2.3:27070@37070,host.example.com myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "host.example.com",
    "hostname",
    3,
    "SLOTS",
    "*1|*3|:0|:16383|*4|$16|host.example.com|:27070|$40|ID|%1|$2|ip|$8|10.1.2.3|",
  ],
  [
    "host.example.com",
    "hostname",
    3,
    "SHARDS",
    "*1|%2|$5|slots|*2|:0|:16383|$5|nodes|*1|%8|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$16|host.example.com|$8|hostname|$16|host.example.com|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "host.example.com",
    "hostname",
    3,
    "NODES",
    "=123|txt:ID 10.1.2.3:27070@37070,host.example.com myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "host.example.com",
    "unknown-endpoint",
    2,
    "SLOTS",
    "*1|*3|:0|:16383|*4|$-1|:27070|$40|ID|*4|$2|ip|$8|10.1.2.3|$8|hostname|$16|host.example.com|",
  ],
  [
    "host.example.com",
    "unknown-endpoint",
    2,
    "SHARDS",
    "*1|*4|$5|slots|*2|:0|:16383|$5|nodes|*1|*16|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$0||$8|hostname|$16|host.example.com|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "host.example.com",
    "unknown-endpoint",
    2,
    "NODES",
    "$119|ID 10.1.2.3:27070@37070,host.example.com myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "host.example.com",
    "unknown-endpoint",
    3,
    "SLOTS",
    "*1|*3|:0|:16383|*4|_|:27070|$40|ID|%2|$2|ip|$8|10.1.2.3|$8|hostname|$16|host.example.com|",
  ],
  [
    "host.example.com",
    "unknown-endpoint",
    3,
    "SHARDS",
    "*1|%2|$5|slots|*2|:0|:16383|$5|nodes|*1|%8|$2|id|$40|ID|$4|port|:27070|$2|ip|$8|10.1.2.3|$8|endpoint|$0||$8|hostname|$16|host.example.com|$4|role|$6|master|$18|replication-offset|:0|$6|health|$6|online|",
  ],
  [
    "host.example.com",
    "unknown-endpoint",
    3,
    "NODES",
    "=123|txt:ID 10.1.2.3:27070@37070,host.example.com myself,master - 0 0 1 connected 0-16383\n|",
  ],
  [
    "",
    "ip",
    2,
    "INFO",
    "$312|cluster_state:ok|cluster_slots_assigned:16384|cluster_slots_ok:16384|cluster_slots_pfail:0|cluster_slots_fail:0|cluster_known_nodes:1|cluster_size:1|cluster_current_epoch:1|cluster_my_epoch:1|cluster_stats_messages_sent:0|cluster_stats_messages_received:0|total_cluster_links_buffer_limit_exceeded:0||",
  ],
  ["", "ip", 2, "MYID", "$40|ID|"],
  ["", "ip", 2, "LINKS", "*0|"],
  [
    "",
    "ip",
    3,
    "INFO",
    "=316|txt:cluster_state:ok|cluster_slots_assigned:16384|cluster_slots_ok:16384|cluster_slots_pfail:0|cluster_slots_fail:0|cluster_known_nodes:1|cluster_size:1|cluster_current_epoch:1|cluster_my_epoch:1|cluster_stats_messages_sent:0|cluster_stats_messages_received:0|total_cluster_links_buffer_limit_exceeded:0||",
  ],
  ["", "ip", 3, "MYID", "$40|ID|"],
  ["", "ip", 3, "LINKS", "*0|"],
];

/** Ours has no bus: its port is 0. */
function expected([, , , sub, recorded]: Row): string {
  const reply = recorded.replaceAll("|", "\r\n").replaceAll("ID", TEST_NODE_ID);
  if (sub !== "NODES") return reply;
  return reply
    .replace("@37070", "@0")
    .replace(/^([$=])(\d+)/, (_, type: string, bytes: string) => type + (Number(bytes) - 4));
}

test("a cluster of one owner answers as Redis's of one node", () => {
  const cluster = new FakeCluster({ owners: 1 });
  cluster.set("cluster-announce-ip", "10.1.2.3");
  for (const row of RECORDED) {
    const [hostname, type, proto, sub] = row;
    cluster.set("cluster-announce-hostname", hostname);
    cluster.set("cluster-preferred-endpoint-type", type);
    const reply = cluster.call(`CLUSTER ${sub}`, { owner: 0, proto });
    assert.equal(reply, expected(row), `${type}, hostname "${hostname}", RESP${proto}, ${sub}`);
  }
});

/** The lines of CLUSTER NODES or INFO. */
function linesOf(cluster: FakeCluster, sub: string, owner: number): string[] {
  const text = cluster.call(`CLUSTER ${sub}`, { owner });
  return text
    .slice(text.indexOf("\n") + 1)
    .trimEnd()
    .split(/\r?\n/);
}

test("NODES has a line for each owner, and myself is the owner of the port", () => {
  const cluster = new FakeCluster({ owners: 4 });
  for (let owner = -1; owner < 4; owner++) {
    const lines = linesOf(cluster, "NODES", owner);
    assert.equal(lines.length, 4);
    for (const [i, line] of lines.entries()) {
      const flags = i === Math.max(owner, 0) ? "myself,master" : "master";
      const range = `${i * 4096}-${i * 4096 + 4095}`;
      const id = cluster.topology?.nodes[i]?.id;
      const address = `127.0.0.1:${TEST_PORT + i}@0`;
      assert.equal(line, `${id} ${address} ${flags} - 0 0 ${i + 1} connected ${range}`);
    }
  }
});

test("INFO counts the owners and tells the epoch of the port's own", () => {
  const cluster = new FakeCluster({ owners: 4 });
  for (let owner = -1; owner < 4; owner++) {
    const lines = linesOf(cluster, "INFO", owner);
    assert.deepEqual(lines.slice(0, 9), [
      "cluster_state:ok",
      "cluster_slots_assigned:16384",
      "cluster_slots_ok:16384",
      "cluster_slots_pfail:0",
      "cluster_slots_fail:0",
      "cluster_known_nodes:4",
      "cluster_size:4",
      "cluster_current_epoch:4",
      `cluster_my_epoch:${Math.max(owner, 0) + 1}`,
    ]);
  }
});

test("SLOTS and SHARDS are the same on every port", () => {
  const cluster = new FakeCluster({ owners: 3 });
  const slots = cluster.call("CLUSTER SLOTS");
  assert.match(slots, /^\*3\r\n\*3\r\n:0\r\n:5461\r\n\*4\r\n\$9\r\n127\.0\.0\.1\r\n:27070\r\n/);
  assert.match(slots, /:5462\r\n:10922\r\n\*4\r\n\$9\r\n127\.0\.0\.1\r\n:27071\r\n/);
  assert.match(slots, /:10923\r\n:16383\r\n\*4\r\n\$9\r\n127\.0\.0\.1\r\n:27072\r\n/);
  for (let owner = 0; owner < 3; owner++) {
    assert.equal(cluster.call("CLUSTER SLOTS", { owner }), slots);
    assert.equal(cluster.call("CLUSTER SHARDS", { owner }), cluster.call("CLUSTER SHARDS"));
  }
});

test("the address is the announced one, else the bound one, else where the session came in", () => {
  const hostOf = (cluster: FakeCluster, from: { local?: string; isUnix?: boolean }): string =>
    /\$\d+\r\n(.*?)\r\n:27070/.exec(cluster.call("CLUSTER SLOTS", from))?.[1] ?? "";
  const wildcard = new FakeCluster({ owners: 2, boundAddress: "" });
  assert.equal(hostOf(wildcard, { local: "10.0.0.7:6380" }), "10.0.0.7");
  assert.equal(hostOf(wildcard, { local: "192.168.1.2:6380" }), "192.168.1.2");
  assert.equal(hostOf(wildcard, { local: "[fe80::1]:6380" }), "fe80::1");
  assert.equal(hostOf(wildcard, { local: "/tmp/s:0", isUnix: true }), "127.0.0.1");
  const bound = new FakeCluster({ owners: 2, boundAddress: "::1" });
  assert.equal(hostOf(bound, { local: "/tmp/s:0", isUnix: true }), "::1");
  bound.set("cluster-announce-ip", "203.0.113.5");
  assert.equal(hostOf(bound, { local: "[::1]:6380" }), "203.0.113.5");
});

test("announced ports count from the announced first one, and take effect at once", () => {
  const cluster = new FakeCluster({ owners: 2 });
  const portsOf = (): string[] =>
    [...cluster.call("CLUSTER SLOTS").matchAll(/127\.0\.0\.1\r\n:(\d+)/g)].map((m) => m[1] ?? "");
  assert.deepEqual(portsOf(), ["27070", "27071"]);
  cluster.set("shard-owners-announce-port", "9000");
  assert.deepEqual(portsOf(), ["9000", "9001"]);
  assert.match(cluster.call("CLUSTER NODES"), /127\.0\.0\.1:9001@0/);
  assert.match(cluster.call("CLUSTER SHARDS"), /:9001\r\n/);
  cluster.set("shard-owners-announce-port", "0");
  assert.deepEqual(portsOf(), ["27070", "27071"]);
});

test("a reply that was kept is the same as a fresh one, for each protocol, address and port", () => {
  const cluster = new FakeCluster({ owners: 5, boundAddress: "" });
  const all = (): string[] => {
    const replies: string[] = [];
    for (const sub of ["SLOTS", "SHARDS", "NODES"]) {
      for (const proto of [2, 3]) {
        for (const local of ["10.0.0.7:1", "10.0.0.8:1"]) {
          for (let owner = -1; owner < 5; owner++) {
            replies.push(cluster.call(`CLUSTER ${sub}`, { owner, proto, local }));
          }
        }
      }
    }
    return replies;
  };
  const fresh = all();
  assert.deepEqual(all(), fresh);
  assert.equal(new Set(fresh).size, 4 + 4 + 4 * 5);
});
