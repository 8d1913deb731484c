/** The address under which owners are told to clients: MOVED, SLOTS, SHARDS and NODES agree. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { needsOurs, subjectRedis } from "../support/environment.ts";
import { keySlot, type Owners, ownerOf, startOwners, until } from "../support/owners.ts";
import { hasIpv6 } from "../support/ports.ts";
import type { RespClient } from "../support/resp.ts";
import { itemsOf, type Reply, show, textOf } from "../support/resp-parser.ts";

const COUNT = 2;

/** A key that owner 0 does not have. */
const FOREIGN = ["a", "b", "foo", "bar"].find((key) => ownerOf(keySlot(key), COUNT) === 1) ?? "";
const SLOT = keySlot(FOREIGN);

async function moved(client: RespClient): Promise<string> {
  return show((await client.call("GET", FOREIGN)).reply);
}

/** The node part of the second owner's entry in CLUSTER SLOTS. */
async function slotsEntry(client: RespClient): Promise<string> {
  const ranges = itemsOf((await client.call("CLUSTER", "SLOTS")).reply);
  const entry = ranges.find((range) => show(itemsOf(range)[0] as Reply) !== ":0");
  return show(itemsOf(entry as Reply)[2] as Reply).replace(/\$"[0-9a-f]{40}"/, "id");
}

async function nodesAddress(client: RespClient): Promise<string> {
  const text = textOf((await client.call("CLUSTER", "NODES")).reply);
  const line = text.split("\n").find((one) => !one.includes("myself")) ?? "";
  return (line.split(" ")[1] ?? "").replace(/@\d+/, "@bus");
}

/** Ours holds at once; in a real cluster each node must be told and tells the others. */
async function setEverywhere(owners: Owners, name: string, value: string): Promise<void> {
  for (const server of owners.servers) {
    const client = await server.connect();
    assert.equal(show((await client.call("CONFIG", "SET", name, value)).reply), "+OK");
    client.close();
  }
}

async function becomes(read: () => Promise<string>, expected: string): Promise<void> {
  if (subjectRedis !== undefined) await until(expected, async () => (await read()) === expected);
  assert.equal(await read(), expected);
}

describe("announced addresses", () => {
  test("cluster-announce-ip, live", async () => {
    const owners = await startOwners(COUNT);
    const client = await owners.connect(0);
    const port = owners.ports[1];
    assert.equal(await moved(client), `-MOVED ${SLOT} 127.0.0.1:${port}`);
    // In a real cluster only the node that is named: with both unreachable none would tell another.
    const named: Owners = { ...owners, servers: owners.servers.slice(-1) };
    await setEverywhere(named, "cluster-announce-ip", "10.1.2.3");
    await becomes(() => moved(client), `-MOVED ${SLOT} 10.1.2.3:${port}`);
    assert.equal(await slotsEntry(client), `*[$"10.1.2.3" :${port} id *[]]`);
    assert.equal(await nodesAddress(client), `10.1.2.3:${port}@bus`);
    await setEverywhere(named, "cluster-announce-ip", "");
    if (subjectRedis === undefined) {
      await becomes(() => moved(client), `-MOVED ${SLOT} 127.0.0.1:${port}`);
    }
    await owners.stop();
  });

  test("hostname and the preferred endpoint", async () => {
    const owners = await startOwners(COUNT);
    const client = await owners.connect(0);
    const port = owners.ports[1];
    const type = "cluster-preferred-endpoint-type";
    await setEverywhere(owners, type, "hostname");
    await becomes(() => moved(client), `-MOVED ${SLOT} ?:${port}`);
    assert.equal(await slotsEntry(client), `*[$"?" :${port} id *[$"ip" $"127.0.0.1"]]`);
    await setEverywhere(owners, "cluster-announce-hostname", "a.example.com");
    await becomes(() => moved(client), `-MOVED ${SLOT} a.example.com:${port}`);
    const named = `*[$"a.example.com" :${port} id *[$"ip" $"127.0.0.1"]]`;
    assert.equal(await slotsEntry(client), named);
    assert.equal(await nodesAddress(client), `127.0.0.1:${port}@bus,a.example.com`);
    await setEverywhere(owners, type, "unknown-endpoint");
    await becomes(() => moved(client), `-MOVED ${SLOT} :${port}`);
    assert.match(await slotsEntry(client), new RegExp(`^\\*\\[\\$nil :${port} id \\*\\[`));
    await setEverywhere(owners, type, "ip");
    await becomes(() => moved(client), `-MOVED ${SLOT} 127.0.0.1:${port}`);
    const withName = `*[$"127.0.0.1" :${port} id *[$"hostname" $"a.example.com"]]`;
    assert.equal(await slotsEntry(client), withName);
    await owners.stop();
  });
});

describe("announced addresses of owners", needsOurs(), () => {
  test("shard-owners-announce-port counts up from the first, live", async () => {
    const owners = await startOwners(COUNT, { "shard-owners-announce-port": 7000 });
    const client = await owners.connect(0);
    assert.equal(await moved(client), `-MOVED ${SLOT} 127.0.0.1:7001`);
    assert.equal(await slotsEntry(client), '*[$"127.0.0.1" :7001 id *[]]');
    await client.call("CONFIG", "SET", "shard-owners-announce-port", 8000);
    assert.equal(await moved(client), `-MOVED ${SLOT} 127.0.0.1:8001`);
    await client.call("CONFIG", "SET", "shard-owners-announce-port", 0);
    assert.equal(await moved(client), `-MOVED ${SLOT} 127.0.0.1:${owners.ports[1]}`);
    await owners.stop();
  });

  test("bound to everything, the asker's own way in is announced", async () => {
    const owners = await startOwners(COUNT, { bind: "0.0.0.0", "protected-mode": "no" });
    const [first, second] = owners.ports as [number, number];
    for (const host of ["127.0.0.1", "127.0.0.2", "127.1.2.3"]) {
      const client = await owners.server.connect({ host, port: first });
      assert.equal(await moved(client), `-MOVED ${SLOT} ${host}:${second}`);
      assert.equal(await slotsEntry(client), `*[$"${host}" :${second} id *[]]`);
      assert.equal(await nodesAddress(client), `${host}:${second}@bus`);
    }
    await owners.stop();
  });

  test("a unix socket has no address: loopback is announced", async () => {
    const owners = await startOwners(COUNT, {
      bind: "0.0.0.0",
      "protected-mode": "no",
      unixsocket: "o.sock",
    });
    const client = await owners.server.connect({ path: `${owners.server.folder}/o.sock` });
    assert.equal(await slotsEntry(client), `*[$"127.0.0.1" :${owners.ports[1]} id *[]]`);
    assert.equal(show((await client.call("SET", FOREIGN, "v")).reply), "+OK");
    await owners.stop();
  });

  const withoutIpv6 = hasIpv6() ? {} : { skip: "this machine has no ::1" };

  test("IPv6 is announced without brackets, as Redis does", withoutIpv6, async () => {
    const owners = await startOwners(COUNT, { bind: "::1" });
    const [first, second] = owners.ports as [number, number];
    const client = await owners.server.connect({ host: "::1", port: first });
    assert.equal(await moved(client), `-MOVED ${SLOT} ::1:${second}`);
    assert.equal(await slotsEntry(client), `*[$"::1" :${second} id *[]]`);
    assert.equal(await nodesAddress(client), `::1:${second}@bus`);
    await owners.stop();
  });

  test("bound to both families, each asker gets its own", withoutIpv6, async () => {
    const owners = await startOwners(COUNT, { bind: ["127.0.0.1", "::1"] });
    const [first, second] = owners.ports as [number, number];
    for (const host of ["127.0.0.1", "::1"]) {
      const client = await owners.server.connect({ host, port: first });
      assert.equal(await moved(client), `-MOVED ${SLOT} ${host}:${second}`);
    }
    await owners.stop();
  });
});
