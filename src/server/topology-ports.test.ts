/**
 * What comes by an owner's port, through sessions and the dispatcher of a server of two threads
 * that are stepped here: redirects, scopes, and whose slots CLUSTER counts.
 */
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { latin1Bytes } from "../base/bytes.ts";
import { keySlot } from "../base/crc16.ts";
import { type TestClient, TestServer } from "./test-server.ts";

const OWNERS = 4;
/** Of owner 0; the others' are behind it. */
const FIRST_PORT = 6380;
const KEYS: readonly string[] = Array.from({ length: 200 }, (_, i) => `key:${i}`);

/** A server with owners; `call` goes by the port of an owner, or by the plain one (-1). */
class OwnerPorts {
  readonly #server = new TestServer({ owners: OWNERS });
  readonly #clients = new Map<number, TestClient>();

  call(owner: number, ...words: string[]): string {
    let client = this.#clients.get(owner);
    if (client === undefined) {
      client = this.#server.connect({ owner });
      this.#clients.set(owner, client);
    }
    client.call(...words);
    this.#server.host.settle();
    return client.link.sent;
  }

  set(name: string, text: string): void {
    for (const server of this.#server.host.servers) server.config.apply([{ name, text }]);
  }
}

function slotOf(key: string): number {
  return keySlot(latin1Bytes(key), 0, key.length);
}

function ownerOf(key: string): number {
  return (slotOf(key) * OWNERS) >> 14;
}

let ports: OwnerPorts;

beforeEach(() => {
  ports = new OwnerPorts();
  for (const key of KEYS) ports.call(-1, "SET", key, "1");
});

/** All keys that SCAN gives on a port. */
function scan(owner: number): string[] {
  const found: string[] = [];
  let cursor = "0";
  do {
    const lines = ports.call(owner, "SCAN", cursor, "COUNT", "16").split("\r\n");
    cursor = lines[2] ?? "";
    for (let i = 5; i < lines.length; i += 2) found.push(lines[i] as string);
  } while (cursor !== "0");
  return found;
}

describe("an owner's port", () => {
  test("serves its own keys and redirects others to their owner", () => {
    for (const key of KEYS) {
      for (let owner = 0; owner < OWNERS; owner++) {
        const right = ownerOf(key);
        const expected =
          owner === right
            ? "$1\r\n1\r\n"
            : `-MOVED ${slotOf(key)} 127.0.0.1:${FIRST_PORT + right}\r\n`;
        assert.equal(ports.call(owner, "GET", key), expected);
      }
      assert.equal(ports.call(-1, "GET", key), "$1\r\n1\r\n");
    }
  });

  test("sees the keys of its slots, or with keyspace all everything", () => {
    for (let owner = 0; owner < OWNERS; owner++) {
      const own = KEYS.filter((key) => ownerOf(key) === owner);
      assert.equal(ports.call(owner, "DBSIZE"), `:${own.length}\r\n`);
      assert.deepEqual(scan(owner).sort(), [...own].sort());
    }
    ports.set("shard-owners-keyspace", "all");
    for (let owner = 0; owner < OWNERS; owner++) {
      assert.equal(ports.call(owner, "DBSIZE"), `:${KEYS.length}\r\n`);
      assert.deepEqual(scan(owner).sort(), [...KEYS].sort());
    }
  });

  test("flushes its own slots only", () => {
    const left = KEYS.filter((key) => ownerOf(key) !== 2);
    assert.equal(ports.call(2, "FLUSHALL"), "+OK\r\n");
    assert.equal(ports.call(-1, "DBSIZE"), `:${left.length}\r\n`);
    assert.equal(ports.call(2, "DBSIZE"), ":0\r\n");
    assert.equal(ports.call(-1, "DEBUG", "HEAP-CHECK"), "+OK\r\n");
  });

  test("has no other database than 0, whatever the plain port has", () => {
    const key = KEYS.find((each) => ownerOf(each) === 1) as string;
    const moved = `-MOVED ${slotOf(key)} 127.0.0.1:${FIRST_PORT + 1}\r\n`;
    assert.equal(ports.call(1, "MOVE", key, "1"), "-ERR MOVE is not allowed in cluster mode\r\n");
    assert.equal(ports.call(0, "MOVE", key, "1"), moved);
    assert.equal(
      ports.call(1, "SWAPDB", "0", "1"),
      "-ERR SWAPDB is not allowed in cluster mode\r\n",
    );
    assert.equal(
      ports.call(1, "COPY", key, `{${key}}`, "DB", "1"),
      "-ERR Copying to another database is not allowed in cluster mode\r\n",
    );
    assert.equal(ports.call(1, "COPY", key, `{${key}}`, "DB", "0"), ":1\r\n");
    assert.equal(ports.call(-1, "MOVE", key, "1"), ":1\r\n");
    assert.equal(ports.call(-1, "SWAPDB", "0", "1"), "+OK\r\n");
  });

  test("counts and lists the keys of its own slots, and none of others", () => {
    for (const keyspace of ["own", "all"]) {
      ports.set("shard-owners-keyspace", keyspace);
      for (const key of KEYS.slice(0, 50)) {
        const slot = String(slotOf(key));
        for (let owner = -1; owner < OWNERS; owner++) {
          const isHere = owner < 0 || owner === ownerOf(key);
          const count = ports.call(owner, "CLUSTER", "COUNTKEYSINSLOT", slot);
          const keys = ports.call(owner, "CLUSTER", "GETKEYSINSLOT", slot, "1000");
          assert.equal(count !== ":0\r\n", isHere, `${key} on port ${owner}, keyspace ${keyspace}`);
          assert.equal(keys.includes(`\r\n${key}\r\n`), isHere);
          assert.equal(keys.slice(1, keys.indexOf("\r")), count.slice(1, -2));
        }
      }
    }
  });

  test("has its first and its last slot, and not those beside them", () => {
    for (const [slot, owner] of [
      [4095, 0],
      [4096, 1],
      [16383, 3],
    ] as const) {
      let n = 0;
      while (slotOf(`edge:${n}`) !== slot) n++;
      ports.call(-1, "SET", `edge:${n}`, "1");
      for (let port = 0; port < OWNERS; port++) {
        const count = ports.call(port, "CLUSTER", "COUNTKEYSINSLOT", String(slot));
        assert.equal(count, port === owner ? ":1\r\n" : ":0\r\n", `slot ${slot}, port ${port}`);
      }
    }
  });

  test("SLOT-STATS has the port's slots, and the plain port all", () => {
    for (let owner = -1; owner < OWNERS; owner++) {
      const reply = ports.call(owner, "CLUSTER", "SLOT-STATS", "SLOTSRANGE", "0", "16383");
      const counts = [...reply.matchAll(/key-count\r\n:(\d+)/g)].map((match) => Number(match[1]));
      assert.equal(counts.length, owner < 0 ? 16384 : 4096);
      const keys = KEYS.filter((key) => owner < 0 || ownerOf(key) === owner).length;
      assert.equal(
        counts.reduce((sum, count) => sum + count, 0),
        keys,
      );
    }
  });

  test("with cross-slot yes serves what begins with a key of its own", () => {
    const own = KEYS.find((key) => ownerOf(key) === 0) as string;
    const foreign = KEYS.find((key) => ownerOf(key) === 3) as string;
    const crossSlot = "-CROSSSLOT Keys in request don't hash to the same slot\r\n";
    assert.equal(ports.call(0, "MGET", own, foreign), crossSlot);
    ports.set("shard-owners-cross-slot", "yes");
    assert.equal(ports.call(0, "MGET", own, foreign), "*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
    const moved = `-MOVED ${slotOf(own)} 127.0.0.1:${FIRST_PORT}\r\n`;
    assert.equal(ports.call(3, "MGET", own, foreign), moved);
  });
});
