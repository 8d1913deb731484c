/** How the layout is told: NODES, SLOTS, SHARDS, MYID, INFO; and that it cannot be changed. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs, needsOurs, subjectRedis } from "../support/environment.ts";
import { type Owners, slotRange, startOwners, startRealCluster } from "../support/owners.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { errorOf, itemsOf, type Reply, show, textOf } from "../support/resp-parser.ts";

const COUNT = 4;

async function ids(owners: Owners): Promise<string[]> {
  const found: string[] = [];
  for (const index of owners.ports.keys()) {
    const client = await owners.connect(index);
    found.push(textOf((await client.call("CLUSTER", "MYID")).reply));
    client.close();
  }
  return found;
}

describe("the layout", () => {
  let owners: Owners;
  let nodeIds: string[];
  const clients: RespClient[] = [];

  before(async () => {
    owners = await startOwners(COUNT);
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
    nodeIds = await ids(owners);
  });

  after(async () => owners?.stop());

  test("ids are 40 hex digits, each owner's own", () => {
    for (const id of nodeIds) assert.match(id, /^[0-9a-f]{40}$/);
    assert.equal(new Set(nodeIds).size, COUNT);
  });

  test("CLUSTER NODES", async () => {
    for (const [me, client] of clients.entries()) {
      const text = textOf((await client.call("CLUSTER", "NODES")).reply);
      assert.ok(text.endsWith("\n"));
      const lines = new Map(
        text
          .trim()
          .split("\n")
          .map((line) => [line.split(" ")[0], line]),
      );
      assert.equal(lines.size, COUNT);
      for (const [index, id] of nodeIds.entries()) {
        const [first, last] = slotRange(index, COUNT);
        const flags = index === me ? "myself,master" : "master";
        const address = `127\\.0\\.0\\.1:${owners.ports[index]}@\\d+`;
        const state = `- \\d+ \\d+ ${index + 1} connected ${first}-${last}`;
        assert.match(lines.get(id) ?? "", new RegExp(`^${id} ${address} ${flags} ${state}$`));
      }
    }
  });

  test("CLUSTER SLOTS", async () => {
    for (const client of clients) {
      const ranges = itemsOf((await client.call("CLUSTER", "SLOTS")).reply)
        .map(show)
        .sort();
      const expected = nodeIds.map((id, index) => {
        const [first, last] = slotRange(index, COUNT);
        const node = `*[$"127.0.0.1" :${owners.ports[index]} $"${id}" *[]]`;
        return `*[:${first} :${last} ${node}]`;
      });
      assert.deepEqual(ranges, expected.sort());
    }
  });

  test("CLUSTER SHARDS", async () => {
    for (const client of clients) {
      const shards = itemsOf((await client.call("CLUSTER", "SHARDS")).reply);
      const shown = shards.map((shard) => {
        return show(shard).replace(/("replication-offset") :\d+/, "$1 :n");
      });
      const expected = nodeIds.map((id, index) => {
        const [first, last] = slotRange(index, COUNT);
        const port = owners.ports[index];
        const address = `$"port" :${port} $"ip" $"127.0.0.1" $"endpoint" $"127.0.0.1"`;
        const state = `$"role" $"master" $"replication-offset" :n $"health" $"online"`;
        const node = `*[$"id" $"${id}" ${address} ${state}]`;
        return `*[$"slots" *[:${first} :${last}] $"nodes" *[${node}]]`;
      });
      assert.deepEqual(shown.sort(), expected.sort());
    }
  });

  test("SLOTS and SHARDS in RESP3", async () => {
    const client = await owners.connect(1);
    await client.call("HELLO", 3);
    const range = itemsOf((await client.call("CLUSTER", "SLOTS")).reply)[0] as Reply;
    assert.match(
      show(range),
      /^\*\[:\d+ :\d+ \*\[\$"127\.0\.0\.1" :\d+ \$"[0-9a-f]{40}" %\[\]\]\]$/,
    );
    const shard = itemsOf((await client.call("CLUSTER", "SHARDS")).reply)[0] as Reply;
    assert.match(show(shard), /^%\[\$"slots" \*\[:\d+ :\d+\] \$"nodes" \*\[%\[\$"id" /);
    assert.equal((await client.call("CLUSTER", "INFO")).reply.mark, "=");
    assert.equal((await client.call("CLUSTER", "NODES")).reply.mark, "=");
    client.close();
  });

  test("REPLICAS, LINKS and COUNT-FAILURE-REPORTS", async () => {
    for (const id of nodeIds) {
      assert.equal(show((await call(0, "CLUSTER", "REPLICAS", id)).reply), "*[]");
      assert.equal(show((await call(0, "CLUSTER", "COUNT-FAILURE-REPORTS", id)).reply), ":0");
    }
    assert.match(
      errorOf((await call(0, "CLUSTER", "REPLICAS", "x")).reply),
      /^ERR Unknown node x$/,
    );
    assert.match(
      errorOf((await call(0, "CLUSTER", "COUNT-FAILURE-REPORTS", "x")).reply),
      /^ERR Unknown node x$/,
    );
  });

  test("INFO of an owner port says cluster", async () => {
    for (const [index, client] of clients.entries()) {
      assert.equal(
        textOf((await client.call("INFO", "cluster")).reply),
        "# Cluster\r\ncluster_enabled:1\r\n",
      );
      const server = textOf((await client.call("INFO", "server")).reply);
      assert.match(server, /\r\nredis_mode:cluster\r\n/);
      assert.match(server, new RegExp(`\r\ntcp_port:${owners.ports[index]}\r\n`));
      const hello = show((await client.call("HELLO")).reply);
      assert.match(hello, /\$"mode" \$"cluster"/);
    }
  });

  function call(owner: number, ...command: Argument[]): ReturnType<RespClient["call"]> {
    return (clients[owner] as RespClient).call(...command);
  }
});

describe("what only owners of one process do", needsOurs(), () => {
  let owners: Owners;
  const clients: RespClient[] = [];
  let plain: RespClient;

  before(async () => {
    owners = await startOwners(COUNT);
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
    plain = await owners.server.connect();
  });

  after(async () => owners?.stop());

  test("mutators are refused by name and change nothing", async () => {
    const [id] = await ids(owners);
    const before = textOf((await plain.call("CLUSTER", "SLOTS").then(asText)).reply);
    const mutators: Argument[][] = [
      ["ADDSLOTS", 1],
      ["ADDSLOTSRANGE", 1, 2],
      ["DELSLOTS", 1],
      ["DELSLOTSRANGE", 1, 2],
      ["SETSLOT", 1, "NODE", String(id)],
      ["SETSLOT", 1, "STABLE"],
      ["FLUSHSLOTS"],
      ["MEET", "127.0.0.1", 6379],
      ["FORGET", String(id)],
      ["REPLICATE", String(id)],
      ["FAILOVER"],
      ["RESET"],
      ["RESET", "HARD"],
      ["BUMPEPOCH"],
      ["SET-CONFIG-EPOCH", 7],
      ["SAVECONFIG"],
    ];
    for (const client of [...clients, plain]) {
      for (const [sub, ...args] of mutators) {
        const { reply } = await client.call("CLUSTER", sub as string, ...args);
        const text =
          "ERR This layout follows from shard-owners and cannot be changed by CLUSTER " + sub;
        assert.equal(errorOf(reply), text);
      }
    }
    assert.equal(textOf((await plain.call("CLUSTER", "SLOTS").then(asText)).reply), before);
  });

  test("the plain port serves every key and tells the layout", async () => {
    const keys = Array.from({ length: 500 }, (_, i) => `key:${i}`);
    for (const { reply } of await plain.pipeline(keys.map((key) => ["SET", key, "v"]))) {
      assert.equal(show(reply), "+OK");
    }
    assert.equal(
      show((await plain.call("MGET", "key:1", "key:2", "key:3")).reply),
      '*[$"v" $"v" $"v"]',
    );
    const viaOwner = await (clients[0] as RespClient).call("CLUSTER", "SLOTS");
    const viaPlain = await plain.call("CLUSTER", "SLOTS");
    assert.equal(show(viaPlain.reply), show(viaOwner.reply));
    const [first] = await ids(owners);
    assert.equal(textOf((await plain.call("CLUSTER", "MYID")).reply), first);
    const nodes = textOf((await plain.call("CLUSTER", "NODES")).reply);
    assert.match(nodes, new RegExp(`^${first} \\S+ myself,master `, "m"));
    assert.equal(nodes.match(/myself/g)?.length, 1);
    assert.match(textOf((await plain.call("INFO", "server")).reply), /redis_mode:standalone/);
    assert.match(textOf((await plain.call("INFO", "cluster")).reply), /cluster_enabled:0/);
    assert.match(show((await plain.call("HELLO")).reply), /\$"mode" \$"standalone"/);
    assert.equal(show((await plain.call("SELECT", 3)).reply), "+OK");
    assert.equal(show((await plain.call("SELECT", 0)).reply), "+OK");
    const slot = textOf((await plain.call("CLUSTER", "KEYSLOT", "key:1")).reply);
    assert.equal(show((await plain.call("CLUSTER", "COUNTKEYSINSLOT", slot)).reply), ":1");
    assert.equal(
      show((await plain.call("CLUSTER", "GETKEYSINSLOT", slot, 9)).reply),
      '*[$"key:1"]',
    );
  });

  test("used memory sums up over the owners", async () => {
    const memory = async (client: RespClient, name: string): Promise<number> => {
      const info = textOf((await client.call("INFO", "memory")).reply);
      return Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1]);
    };
    await plain.pipeline(
      Array.from({ length: 2000 }, (_, i) => ["SET", `memory:${i}`, "x".repeat(200)]),
    );
    for (const name of ["used_memory", "used_memory_dataset"]) {
      const whole = await memory(plain, name);
      let sum = 0;
      for (const client of clients) sum += await memory(client, name);
      assert.ok(Math.abs(sum - whole) <= whole * 0.02, `${name}: ${sum} is not ${whole}`);
    }
  });

  test("clients and commands are counted by the port they came in by", async () => {
    const connected = async (client: RespClient): Promise<number> => {
      const info = textOf((await client.call("INFO", "clients")).reply);
      return Number(/^connected_clients:(\d+)/m.exec(info)?.[1]);
    };
    for (const client of clients) assert.equal(await connected(client), 1);
    const more = await owners.connect(2);
    assert.equal(await connected(more), 2);
    assert.equal(await connected(clients[1] as RespClient), 1);
    await plain.call("CONFIG", "RESETSTAT");
    await (clients[3] as RespClient).call("ECHO", "x");
    const stats = async (client: RespClient): Promise<string> =>
      textOf((await client.call("INFO", "commandstats")).reply);
    assert.match(await stats(clients[3] as RespClient), /^cmdstat_echo:calls=1,/m);
    assert.doesNotMatch(await stats(clients[1] as RespClient), /cmdstat_echo/);
    await more.finish();
  });
});

function asText(frame: { reply: Reply }): { reply: Reply } {
  return { reply: { mark: "$", value: show(frame.reply) } };
}

describe("error texts of CLUSTER on an owner port are a real master's", () => {
  const CALLS: readonly (readonly Argument[])[] = [
    ["CLUSTER"],
    ["CLUSTER", "FOO"],
    ["CLUSTER", "KEYSLOT"],
    ["CLUSTER", "KEYSLOT", "a", "b"],
    ["CLUSTER", "COUNTKEYSINSLOT"],
    ["CLUSTER", "COUNTKEYSINSLOT", "abc"],
    ["CLUSTER", "COUNTKEYSINSLOT", -1],
    ["CLUSTER", "COUNTKEYSINSLOT", 16384],
    ["CLUSTER", "GETKEYSINSLOT", 1],
    ["CLUSTER", "GETKEYSINSLOT", 1, "abc"],
    ["CLUSTER", "GETKEYSINSLOT", 1, -1],
    ["CLUSTER", "GETKEYSINSLOT", 16384, 1],
    ["CLUSTER", "GETKEYSINSLOT", 0, 0],
    ["CLUSTER", "REPLICAS"],
    ["CLUSTER", "REPLICAS", "nosuch"],
    ["CLUSTER", "SLAVES", "nosuch"],
    ["CLUSTER", "COUNT-FAILURE-REPORTS"],
    ["CLUSTER", "COUNT-FAILURE-REPORTS", "nosuch"],
    ["CLUSTER", "INFO", "x"],
    ["CLUSTER", "NODES", "x"],
    ["CLUSTER", "SLOTS", "x"],
    ["CLUSTER", "SHARDS", "x"],
    ["CLUSTER", "MYID", "x"],
    ["CLUSTER", "LINKS", "x"],
    ["CLUSTER", "keyslot", "{a}b"],
    ["cluster", "Myid", "x"],
    ["SELECT", 1],
    ["SELECT", 0],
    ["SELECT", "abc"],
    ["SELECT", -1],
    ["COPY", "{a}1", "{a}2", "DB", 1],
    ["COPY", "{a}1", "{a}2", "DB", "x"],
    ["READONLY"],
    ["READONLY", "x"],
    ["READWRITE"],
    ["ASKING"],
    ["MGET", "a", "b"],
    ["SET", "a"],
    ["SET", "a", "v", "FOO"],
    ["RENAME", "a", "b"],
    ["OBJECT", "ENCODING"],
    ["KEYS", "{b}*"],
    ["SCAN", "0", "MATCH", "{b}*", "COUNT", 1000],
    ["INFO", "cluster"],
    ["CONFIG", "GET", "cluster-preferred-endpoint-type"],
    ["CONFIG", "GET", "cluster-announce-ip"],
    ["CONFIG", "SET", "cluster-announce-hostname", "a_b"],
    ["CONFIG", "SET", "cluster-preferred-endpoint-type", "foo"],
    ["CONFIG", "SET", "cluster-announce-port", "abc"],
  ];

  test("in RESP2 and RESP3", needs("redis-server"), async () => {
    const ours = await startOwners(COUNT);
    const real = await startRealCluster(COUNT);
    for (const protocol of [2, 3]) {
      for (let owner = 0; owner < COUNT; owner++) {
        const [mine, theirs] = [await ours.connect(owner), await real.connect(owner)];
        await Promise.all([mine.call("HELLO", protocol), theirs.call("HELLO", protocol)]);
        for (const call of CALLS) {
          const actual = portsAsNames(show((await mine.call(...call)).reply), ours);
          const expected = portsAsNames(show((await theirs.call(...call)).reply), real);
          assert.equal(actual, expected, `${call.join(" ")} on owner ${owner}, RESP${protocol}`);
        }
      }
    }
    await ours.stop();
    await real.stop();
    assert.ok(subjectRedis === undefined || ours.servers.length === COUNT);
  });
});

function portsAsNames(text: string, owners: Owners): string {
  let named = text;
  for (const [index, port] of owners.ports.entries()) {
    named = named.replaceAll(String(port), `<port ${index}>`);
  }
  return named;
}
