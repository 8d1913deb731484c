/**
 * Little memory, as a limit of the process or of its control group says: it starts, serves, fills
 * up, refuses and lives on. The system would kill whoever takes more than its group has.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { requestText } from "../../src/protocol/test-request.ts";
import { executable } from "../support/build.ts";
import { isLong, needsOurs } from "../support/environment.ts";
import { LineClient } from "../support/lines.ts";
import { makeMemoryGroup } from "../support/memory-group.ts";
import { until } from "../support/owners.ts";
import { errorOf, integerOf, show } from "../support/resp-parser.ts";
import { runProgram, type Server, startZeroHop } from "../support/servers.ts";
import { startWitness, type Witnessed } from "./witness.ts";

const MB = 2 ** 20;
const STORES_MIN = 20;

describe("an address space of 4 GiB", needsOurs(), () => {
  const shell = existsSync("/bin/bash") ? {} : { skip: "no bash to set limits with" };

  test("it starts and serves under ulimit -v of 4 GiB", shell, async () => {
    const limited = 'ulimit -v 4194304; exec "$0" "$@"';
    const server = await startZeroHop(
      { threads: 4 },
      { through: ["/bin/bash", "--norc", "-c", limited] },
    );
    const client = await server.connect();
    for (let i = 0; i < 100; i++) {
      const batch = Array.from({ length: 100 }, (_, j) => [
        "SET",
        `key:${i}:${j}`,
        "x".repeat(1000),
      ]);
      for (const { reply } of await client.pipeline(batch)) assert.equal(show(reply), "+OK");
    }
    assert.equal(integerOf((await client.call("DBSIZE")).reply), 10_000);
    await server.stop();
  });

  test("under that limit it fills up, refuses and lives on", shell, async () => {
    const limited = 'ulimit -v 4194304; exec "$0" "$@"';
    const options = { threads: 2, "memory-chunk": "64mb" };
    const server = await startZeroHop(options, { through: ["/bin/bash", "--norc", "-c", limited] });
    const client = await server.connect();
    client.timeoutMs = 60_000;
    const value = Buffer.alloc(30 * MB, "x");
    let refusal = "";
    for (let i = 0; i < 200 && refusal === ""; i++) {
      const { reply } = await client.call("SET", `big:${i}`, value);
      if (show(reply) !== "+OK") refusal = errorOf(reply);
    }
    assert.match(refusal, /^OOM /);
    assert.equal(show((await client.call("PING")).reply), "+PONG");
    assert.equal(integerOf((await client.call("STRLEN", "big:0")).reply), 30 * MB);
    assert.equal(show((await client.call("DEL", "big:0", "big:1")).reply), ":2");
    await until("there is room again", async () => {
      return show((await client.call("SET", "again", value)).reply) === "+OK";
    });
    await server.stop();
  });

  test("a program is told that there is no room for another embedded store", shell, async () => {
    const index = path.join(path.dirname(await executable()), "index.js");
    const program = `import { open } from ${JSON.stringify(index)};
      const stores = [];
      try {
        while (stores.length < 1000) stores.push(open({ memoryChunk: "64mb" }));
      } catch (error) {
        console.log(stores.length, error.message);
      }
      stores[0].set("k", "v");
      console.log(stores[0].get("k"));`;
    const limited = 'ulimit -v 4194304; exec "$0" "$@"';
    const words = [
      "--norc",
      "-c",
      limited,
      process.execPath,
      "--input-type=module",
      "--eval",
      program,
    ];
    const { code, stdout, stderr } = await runProgram("/bin/bash", words);
    assert.equal(code, 0, stderr);
    const told = /^(\d+) OOM The system has no memory for [\w ]+\nv\n$/.exec(stdout);
    // A store takes 64 MB for its first chunk and some 7 beside. Node takes one or two GiB.
    assert.ok(Number(told?.[1]) >= STORES_MIN, stdout);
  });
});

const GROUP_BYTES = 256 * MB;
/** Each thread has a JavaScript heap: with four of them there is too little left of 256 MB. */
const FOUR_THREADS_BYTES = 384 * MB;

describe("a control group of 256 MB", needsOurs(), () => {
  for (const threads of isLong ? [1, 2, 4] : [1, 2]) {
    for (const size of isLong ? [10, 1000, 100_000, 5 * MB] : [1000, 5 * MB]) {
      test(`fills up with values of ${size} bytes and lives on, ${threads} threads`, async (t) => {
        const groupBytes = threads < 4 ? GROUP_BYTES : FOUR_THREADS_BYTES;
        const group = makeMemoryGroup(groupBytes);
        if (typeof group === "string") {
          t.skip(group);
          return;
        }
        const options = { threads, "enable-debug-command": "yes" };
        const server = await startZeroHop(options, group);
        const seen = await fillAndGoOn(server, size);
        assert.equal(group.kills(), 0);
        const peak = group.peakBytes();
        t.diagnostic(`peak ${peak} bytes, ${JSON.stringify(seen)}`);
        assert.ok(peak < groupBytes, `${peak} bytes at the peak`);
        await server.stop();
      });
    }
  }
});

/**
 * Fills a server until it refuses, three times, while others hold what they can of its memory.
 * Returns what a witness saw.
 */
async function fillAndGoOn(server: Server, size: number): Promise<Witnessed[]> {
  const client = await server.connect();
  client.timeoutMs = 60_000;
  const others = await Promise.all(Array.from({ length: 50 }, () => server.connect()));
  for (const other of others) {
    other.socket.pause();
    other.sendRaw("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$60000\r\nabc");
  }
  const fillAll = async (name: string): Promise<number> => {
    const fills = Array.from({ length: 8 }, (_, c) => fill(server, `${name}${c}`, value));
    return (await Promise.all(fills)).reduce((sum, more) => sum + more);
  };
  const value = "v".repeat(size);
  assert.equal(show((await client.call("SET", "kept", value)).reply), "+OK");
  let witness = await startWitness(server, true);
  const count = await fillAll("first");
  // A key of its own takes more than a value of 10 bytes.
  const least = 10 * MB;
  assert.ok(count * Math.max(size, 40) > least, `only ${count} values of ${size} bytes`);
  assert.equal(show((await client.call("PING")).reply), "+PONG");
  assert.equal(integerOf((await client.call("STRLEN", "kept")).reply), size);
  // Reading what is there needs memory too.
  const readers = await Promise.all(Array.from({ length: 8 }, () => server.connect()));
  for (const reader of readers) {
    const replies = await reader.pipeline(Array.from({ length: 5 }, () => ["GET", "kept"]));
    for (const { raw } of replies) assert.equal(raw.length, size + `$${size}\r\n\r\n`.length);
  }
  const seen = [await witness.stop()];
  // It stops all keys.
  assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
  witness = await startWitness(server, true);
  const deleted = await deleteHalf(server, count);
  const instead = await fillAll("instead");
  assert.ok(instead > deleted * 0.3, `${instead} values instead of ${deleted} that were deleted`);
  await client.call("FLUSHALL");
  const again = await fillAll("again");
  assert.ok(again > count * 0.8, `${again} values after ${count} the first time`);
  await client.call("FLUSHALL");
  seen.push(await witness.stop());
  assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
  for (const other of others) other.close();
  return seen;
}

/** Deletes every second key of each of those that filled. Returns how many. */
async function deleteHalf(server: Server, count: number): Promise<number> {
  const client = await LineClient.connect(server.address);
  let deleted = 0;
  for (let c = 0; c < 8; c++) {
    for (let at = 0; at < count; at += 2000) {
      let requests = "";
      for (let i = at; i < at + 2000; i += 2) requests += requestText(["DEL", `first${c}:${i}`]);
      const gone = (await client.exchange(requests, 1000)).replaceAll(/[^1]/g, "").length;
      deleted += gone;
      if (gone === 0) break;
    }
  }
  client.close();
  return deleted;
}

/** Writes until the server refuses, and returns how many values were taken. */
async function fill(server: Server, name: string, value: string): Promise<number> {
  const client = await LineClient.connect(server.address);
  const batch = Math.max(1, Math.min(1000, Math.floor(MB / value.length)));
  for (let taken = 0; ; taken += batch) {
    let requests = "";
    for (let i = 0; i < batch; i++) requests += requestText(["SET", `${name}:${taken + i}`, value]);
    const replies = await client.exchange(requests, batch);
    if (replies === "+OK\r\n".repeat(batch)) continue;
    client.close();
    const refused = replies.split("\r\n").filter((line) => line !== "+OK" && line !== "");
    for (const line of refused) assert.match(line, /^-OOM command not allowed/);
    return taken + batch - refused.length;
  }
}
