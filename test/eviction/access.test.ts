/**
 * What servers say of the use of keys, ours and a redis-server, after the same commands: counters
 * exactly, with settings that leave nothing to chance; idle times to the seconds that have passed,
 * where those that are set are 1,000 or more.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { show } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";

const KEYS = ["a", "b", "c", "{tag}d", "{tag}e"];
const POLICIES = [
  "noeviction",
  "allkeys-lru",
  "volatile-lru",
  "allkeys-lfu",
  "volatile-lfu",
  "allkeys-random",
  "volatile-random",
  "volatile-ttl",
];

function value(random: Random): string {
  if (random.chance(0.3)) return String(random.below(100_000));
  return "v".repeat(random.pick([1, 44, 45, 300, 5000, 70_000]));
}

/**
 * A command that says the same on both servers whatever time it is. RENAME is none: a key under a
 * new name was never used since 7.4, and before it keeps what it had.
 */
function nextCommand(random: Random): Argument[] {
  const [key, other] = random.shuffled(KEYS) as [string, string];
  switch (random.below(16)) {
    case 0:
    case 1:
      return ["SET", key, value(random)];
    case 2:
      return ["SET", key, value(random), "EX", 10_000];
    case 3:
      return ["SET", key, value(random), "KEEPTTL", "GET"];
    case 4:
      return ["APPEND", key, "x"];
    case 5:
      return ["SETRANGE", key, random.below(50), "y"];
    case 6:
      return ["GETSET", key, value(random)];
    case 7:
      return ["COPY", key, other, ...(random.chance(0.5) ? ["REPLACE"] : [])];
    case 8:
      return ["DEL", key];
    case 9:
      return ["EXPIRE", key, 5000];
    case 10:
      return ["PERSIST", key];
    case 11:
      return ["TOUCH", key, other];
    case 12:
      return ["MGET", key, other];
    case 13:
      return ["GETEX", key, "EX", 9000];
    case 14:
      return random.pick([
        ["EXISTS", key],
        ["TYPE", key],
        ["TTL", key],
        ["OBJECT", "ENCODING", key],
        ["MSET", key, "1", other, "2"],
        ["SETNX", key, "n"],
        ["GETDEL", key],
      ]);
    default:
      return ["GET", key];
  }
}

describe("what is said of the use of keys", needs("redis-server"), () => {
  let servers: Server[];
  let clients: RespClient[];

  before(async () => {
    servers = [await startZeroHop({ threads: 2 }), await startRedis()];
    clients = await Promise.all(servers.map((server) => server.connect()));
    // Else redis-server has one counter for all keys with the same small integer.
    for (const client of clients) await client.call("CONFIG", "SET", "maxmemory", "1gb");
  });

  after(async () => {
    for (const server of servers ?? []) await server.stop();
  });

  /**
   * The longest that a call took with the one before it: what a busy machine may have made one of
   * the two use a key later than the other, or see its clock tick later.
   */
  let longestMs = 0;
  let beforeMs = 0;

  async function both(...words: Argument[]): Promise<[string, string]> {
    const began = performance.now();
    const replies = await Promise.all(clients.map((client) => client.call(...words)));
    const ms = performance.now() - began;
    longestMs = Math.max(longestMs, beforeMs + ms);
    beforeMs = ms;
    return replies.map(({ reply }) => show(reply)) as [string, string];
  }

  async function same(...words: Argument[]): Promise<string> {
    const [ours, redis] = await both(...words);
    assert.equal(ours, redis, words.join(" ").slice(0, 100));
    return ours;
  }

  test("counters of uses", async () => {
    const seed = testSeed(351);
    const random = new Random(seed);
    await same("CONFIG", "SET", "lfu-log-factor", 0, "lfu-decay-time", 0);
    for (const policy of ["allkeys-lfu", "volatile-lfu"]) {
      await same("CONFIG", "SET", "maxmemory-policy", policy);
      await same("FLUSHALL");
      for (let step = 0; step < 1500; step++) {
        const command = nextCommand(random);
        await same(...command);

        for (const key of KEYS) {
          const [ours, redis] = await both("OBJECT", "FREQ", key);
          const after = command.join(" ").slice(0, 100);
          assert.equal(ours, redis, `${key} after ${after}; ${seedText(seed)}`);
        }
      }
    }
  });

  test("idle times", async () => {
    const seed = testSeed(352);
    const random = new Random(seed);
    await same("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    await same("FLUSHALL");
    longestMs = 0;
    await same("SET", "seed", "10");
    const dump = (await clients[1]?.call("DUMP", "seed"))?.raw as Buffer;
    const payload = dump.subarray(dump.indexOf("\n") + 1, dump.length - 2);
    const idleOf = (reply: string): number => (reply.startsWith(":") ? Number(reply.slice(1)) : -1);
    for (let step = 0; step < 600; step++) {
      const key = random.pick(KEYS);
      if (random.chance(0.5)) {
        const idle = 1000 + random.below(100_000);
        await same("RESTORE", key, 0, payload, "REPLACE", "IDLETIME", idle);
      }
      // 7.0 takes an overwritten key for a new one, later versions keep the time of the write.
      await same(...nextCommand(random));
      for (const name of KEYS) {
        const [ours, redis] = (await both("OBJECT", "IDLETIME", name)).map(idleOf) as [
          number,
          number,
        ];
        const most = 1 + Math.floor((2 * longestMs) / 1000);
        assert.ok(
          Math.abs(ours - redis) <= most,
          `${name}: ${ours}, ${redis}, ${most} at most; ${seedText(seed)}`,
        );
      }
    }
  });

  test("what is refused under each policy", async () => {
    await same("FLUSHALL");
    await same("SET", "a", "v");
    for (const policy of POLICIES) {
      await same("CONFIG", "SET", "maxmemory-policy", policy);
      for (const about of ["FREQ", "IDLETIME"]) {
        await same("OBJECT", about, "nokey");
        const isRefused = (about === "FREQ") !== policy.endsWith("lfu");
        const reply = isRefused
          ? await same("OBJECT", about, "a")
          : (await both("OBJECT", about, "a"))[0];
        assert.equal(reply.startsWith("-"), isRefused, `${policy} ${about}: ${reply}`);
      }
      await same("OBJECT", "FREQ");
      await same("OBJECT", "IDLETIME", "a", "b");
    }
    for (const maxmemory of [0, "1gb"]) {
      for (const policy of POLICIES) {
        await same("CONFIG", "SET", "maxmemory", maxmemory, "maxmemory-policy", policy);
        await same("SET", "n", 77);
        await same("OBJECT", "REFCOUNT", "n");
      }
    }
    await same("CONFIG", "SET", "maxmemory", 0);
  });
});
