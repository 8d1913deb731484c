/** Requests whose keys are in several slots, with both settings of shard-owners-cross-slot. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { keySlot, type Owners, ownerOf, startOwners } from "../support/owners.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { show } from "../support/resp-parser.ts";

const COUNT = 4;
const CROSSSLOT = "-CROSSSLOT Keys in request don't hash to the same slot";

/** Two keys of owner 0 in different slots, and one of owner 2. */
const OWN = findKeys(0, 2);
const [FOREIGN] = findKeys(2, 1) as [string];

function findKeys(owner: number, count: number): string[] {
  const found = new Map<number, string>();
  for (let i = 0; found.size < count; i++) {
    const slot = keySlot(`k${i}`);
    if (ownerOf(slot, COUNT) === owner) found.set(slot, `k${i}`);
  }
  return [...found.values()];
}

/** Every command of several keys, made for two keys. */
function calls(first: string, second: string): Argument[][] {
  return [
    ["MSET", first, 1, second, 2],
    ["MGET", first, second],
    ["EXISTS", first, second],
    ["TOUCH", first, second],
    ["COPY", first, second, "REPLACE"],
    ["RENAME", first, second],
    ["MSETNX", first, 1, second, 2],
    ["RENAMENX", first, second],
    ["DEL", first, second],
    ["UNLINK", first, second],
  ];
}

async function say(client: RespClient | undefined, call: Argument[]): Promise<string> {
  assert.ok(client);
  return show((await client.call(...call)).reply);
}

describe("shard-owners-cross-slot no", () => {
  let owners: Owners;
  const clients: RespClient[] = [];

  before(async () => {
    owners = await startOwners(COUNT);
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
  });

  after(async () => owners?.stop());

  test("CROSSSLOT, whoever owns the slots", async () => {
    const [a, b] = OWN as [string, string];
    for (const client of clients) {
      for (const pair of [calls(a, b), calls(a, FOREIGN), calls(FOREIGN, a)]) {
        for (const call of pair) assert.equal(await say(client, call), CROSSSLOT, call.join(" "));
      }
    }
  });

  test("one slot named twice is one slot", async () => {
    const [a] = OWN as [string];
    assert.equal(await say(clients[0], ["MSET", a, 1, `{${a}}x`, 2]), "+OK");
    assert.equal(await say(clients[0], ["MGET", a, a, `{${a}}x`]), '*[$"1" $"1" $"2"]');
    assert.equal(await say(clients[0], ["DEL", a, a, `{${a}}x`]), ":2");
  });
});

describe("shard-owners-cross-slot yes", needsOurs(), () => {
  let owners: Owners;
  const clients: RespClient[] = [];

  before(async () => {
    owners = await startOwners(COUNT, { "shard-owners-cross-slot": "yes" });
    for (let i = 0; i < COUNT; i++) clients.push(await owners.connect(i));
  });

  after(async () => owners?.stop());

  test("served where the first key is own", async () => {
    const [a, b] = OWN as [string, string];
    for (const second of [b, FOREIGN]) {
      for (const call of calls(a, second)) {
        const reply = await say(clients[0], call);
        assert.doesNotMatch(reply, /^-(MOVED|CROSSSLOT)/, `${call.join(" ")}: ${reply}`);
      }
      assert.equal(await say(clients[0], ["MSET", a, "x", second, "y"]), "+OK");
      assert.equal(await say(clients[0], ["MGET", a, second]), '*[$"x" $"y"]');
      const home = clients[ownerOf(keySlot(second), COUNT)];
      assert.equal(await say(home, ["GET", second]), '$"y"');
    }
  });

  test("else MOVED to the owner of the first key", async () => {
    const [a] = OWN as [string];
    const toFirst = (key: string): string => {
      const slot = keySlot(key);
      return `-MOVED ${slot} 127.0.0.1:${owners.ports[ownerOf(slot, COUNT)]}`;
    };
    for (const call of calls(a, FOREIGN)) {
      assert.equal(await say(clients[2], call), toFirst(a), call.join(" "));
      assert.equal(await say(clients[3], call), toFirst(a), call.join(" "));
    }
    for (const call of calls(FOREIGN, a)) {
      assert.equal(await say(clients[0], call), toFirst(FOREIGN), call.join(" "));
    }
  });

  test("single foreign keys are still MOVED", async () => {
    assert.match(await say(clients[0], ["GET", FOREIGN]), /^-MOVED /);
    assert.match(await say(clients[0], ["MGET", FOREIGN, `{${FOREIGN}}2`]), /^-MOVED /);
  });

  test("changed at run time, it holds for the next command on every port", async () => {
    const [a, b] = OWN as [string, string];
    for (let i = 0; i < 50; i++) {
      const setter = clients[i % COUNT];
      const setting = ["CONFIG", "SET", "shard-owners-cross-slot"];
      assert.equal(await say(setter, [...setting, "no"]), "+OK");
      assert.equal(await say(clients[0], ["MGET", a, b]), CROSSSLOT);
      assert.equal(await say(setter, [...setting, "yes"]), "+OK");
      assert.doesNotMatch(await say(clients[0], ["MGET", a, b]), /CROSSSLOT/);
    }
  });
});
