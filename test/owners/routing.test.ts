/** Which owner serves a key, and what the others answer. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { keySlot, type Owners, ownerOf, slotRange, startOwners } from "../support/owners.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { itemsOf, type Reply, show, textOf } from "../support/resp-parser.ts";

const WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"];
const COUNT = 4;

async function say(client: RespClient | undefined, ...command: Argument[]): Promise<string> {
  assert.ok(client);
  return show((await client.call(...command)).reply);
}

describe("four owners", () => {
  let owners: Owners;
  const clients: RespClient[] = [];

  before(async () => {
    owners = await startOwners(COUNT);
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
  });

  after(async () => owners?.stop());

  function movedFor(key: string): string {
    const slot = keySlot(key);
    return `-MOVED ${slot} 127.0.0.1:${owners.ports[ownerOf(slot, COUNT)]}`;
  }

  test("serve their own of seven keys and name the exact owner of the others", async () => {
    for (const key of WORDS) {
      const owner = ownerOf(keySlot(key), COUNT);
      for (const [index, client] of clients.entries()) {
        const set = await say(client, "SET", key, `by ${index}`);
        const get = await say(client, "GET", key);
        if (index === owner) {
          assert.equal(set, "+OK");
          assert.equal(get, `$"by ${index}"`);
        } else {
          assert.equal(set, movedFor(key));
          assert.equal(get, movedFor(key));
        }
      }
    }
  });

  test("answer the same for every command that has keys", async () => {
    const key = "alpha";
    const other = (ownerOf(keySlot(key), COUNT) + 1) % COUNT;
    const calls: Argument[][] = [
      ["GET", key],
      ["SET", key, "v", "EX", 10],
      ["GETEX", key],
      ["GETDEL", key],
      ["APPEND", key, "x"],
      ["INCR", key],
      ["EXPIRE", key, 10],
      ["TTL", key],
      ["TYPE", key],
      ["EXISTS", key],
      ["DEL", key],
      ["MGET", key, `{${key}}2`],
      ["MSET", key, 1, `{${key}}2`, 2],
      ["RENAME", key, `{${key}}2`],
      ["COPY", key, `{${key}}2`],
      ["OBJECT", "ENCODING", key],
      ["MEMORY", "USAGE", key],
    ];
    for (const call of calls) {
      assert.equal(await say(clients[other], ...call), movedFor(key), call.join(" "));
    }
    for (const call of calls) {
      const reply = await say(clients[ownerOf(keySlot(key), COUNT)], ...call);
      assert.doesNotMatch(reply, /MOVED|CROSSSLOT/, call.join(" "));
    }
  });

  test("check the arity before the slot", async () => {
    for (const client of clients) {
      assert.equal(await say(client, "GET"), "-ERR wrong number of arguments for 'get' command");
      assert.equal(
        await say(client, "SET", "alpha"),
        "-ERR wrong number of arguments for 'set' command",
      );
    }
  });

  test("look at the hash tag only", async () => {
    const tags = ["{alpha}.a", "x{alpha}", "{alpha}{bravo}", "{{alpha}", "{}alpha", "alpha{}", ""];
    for (const key of tags) {
      const owner = ownerOf(keySlot(key), COUNT);
      for (const [index, client] of clients.entries()) {
        const expected = index === owner ? "$nil" : movedFor(key);
        assert.equal(await say(client, "GETDEL", key).then(removeValue), expected, key);
      }
    }
  });

  test("are found by CLUSTER KEYSLOT and CLUSTER INFO", async () => {
    for (const client of clients) {
      for (const key of [...WORDS, "{a}b", "", "{}x"]) {
        assert.equal(await say(client, "CLUSTER", "KEYSLOT", key), `:${keySlot(key)}`);
      }
      const info = textOf((await client.call("CLUSTER", "INFO")).reply);
      assert.match(info, /^cluster_state:ok\r\ncluster_slots_assigned:16384\r\n/);
      assert.match(info, /cluster_slots_ok:16384\r\ncluster_slots_pfail:0\r\ncluster_slots_fail:0/);
      assert.match(info, new RegExp(`cluster_known_nodes:${COUNT}\r\ncluster_size:${COUNT}\r\n`));
      assert.match(info, new RegExp(`cluster_current_epoch:${COUNT}\r\n`));
    }
    for (const [index, client] of clients.entries()) {
      const info = textOf((await client.call("CLUSTER", "INFO")).reply);
      assert.match(info, new RegExp(`cluster_my_epoch:${index + 1}\r\n`));
    }
  });

  test("keep a pipeline in order over redirections", async () => {
    const calls = WORDS.flatMap((key) => [["SET", key, "p"], ["GET", key], ["PING"]]);
    for (const [index, client] of clients.entries()) {
      const replies = (await client.pipeline(calls)).map(({ reply }) => show(reply));
      const expected = WORDS.flatMap((key) =>
        ownerOf(keySlot(key), COUNT) === index
          ? ["+OK", '$"p"', "+PONG"]
          : [movedFor(key), movedFor(key), "+PONG"],
      );
      assert.deepEqual(replies, expected);
    }
  });

  test("refuse other databases and let READONLY, READWRITE and ASKING pass", async () => {
    for (const client of clients) {
      assert.equal(await say(client, "SELECT", 0), "+OK");
      assert.equal(await say(client, "SELECT", 1), "-ERR SELECT is not allowed in cluster mode");
      assert.equal(await say(client, "READONLY"), "+OK");
      assert.equal(await say(client, "READWRITE"), "+OK");
      assert.equal(await say(client, "ASKING"), "+OK");
    }
    const key = "alpha";
    const owner = clients[ownerOf(keySlot(key), COUNT)];
    assert.match(await say(owner, "COPY", key, `{${key}}c`, "DB", 1), /^-ERR /);
    const stranger = clients[(ownerOf(keySlot(key), COUNT) + 1) % COUNT];
    assert.equal(await say(stranger, "ASKING"), "+OK");
    assert.equal(await say(stranger, "GET", key), movedFor(key));
  });
});

function removeValue(reply: string): string {
  return reply.startsWith("-") ? reply : "$nil";
}

describe("one owner", () => {
  test("never redirects", async () => {
    const owners = await startOwners(1);
    const client = await owners.connect(0);
    const keys = Array.from({ length: 2000 }, (_, i) => `key:${i}`);
    const replies = await client.pipeline(
      keys.flatMap((key) => [
        ["SET", key, "v"],
        ["GET", key],
      ]),
    );
    for (const { reply } of replies) assert.match(show(reply), /^(\+OK|\$"v")$/);
    assert.match(textOf((await client.call("CLUSTER", "INFO")).reply), /cluster_size:1\r\n/);
    await owners.stop();
  });
});

describe("the ranges of N owners", needsOurs(), () => {
  for (const count of [1, 2, 3, 5, 7, 16, 100, 255, 256]) {
    test(`are exact for N = ${count}`, async () => {
      const owners = await startOwners(count, { threads: 2 });
      const client = await owners.connect(count - 1);
      const ranges = itemsOf((await client.call("CLUSTER", "SLOTS")).reply).map((range) => {
        const [first, last, node] = itemsOf(range);
        const port = itemsOf(node as Reply)[1] as Reply;
        return [first as Reply, last as Reply, port].map((reply) => Number(textOf(reply)));
      });
      const expected = owners.ports.map((port, i) => [...slotRange(i, count), port]);
      assert.deepEqual(
        ranges.sort((a, b) => Number(a[0]) - Number(b[0])),
        expected,
      );
      await owners.stop();
    });
  }
});
