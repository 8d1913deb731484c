/**
 * The configuration against redis-server: names and defaults, CONFIG SET of every directive with
 * values of every kind, several at a time, and the quoting of words. Ours is asked directly, not
 * through a server: what is compared is decided in one place.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Config } from "../../src/server/config/config.ts";
import { load } from "../../src/server/config/load.ts";
import { splitWords } from "../../src/server/config/quoting.ts";
import { findDirective } from "../../src/server/config/table.ts";
import { FakeSource } from "../support/config-source.ts";
import { needs } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { RespClient } from "../support/resp.ts";
import { type Server, startRedis } from "../support/servers.ts";
import {
  DEFAULTS,
  LATER_ERRORS,
  NEWER_NAMES,
  OURS,
  PROBES,
  SHOWN_BY_OLDER,
  UNPROBED,
} from "./config-allowlist.ts";

const NOT_SUPPORTED = /not supported yet$/;

describe("configuration against redis-server", needs("redis-server"), () => {
  let redis: Server;
  let client: RespClient;

  before(async () => {
    redis = await startRedis();
    client = await redis.connect();
  });

  after(async () => {
    await redis.stop();
  });

  async function theirs(...words: string[]): Promise<string> {
    const { reply } = await client.call(...words);
    return "value" in reply ? `${reply.value}` : `${reply.mark}${reply.items?.length}`;
  }

  async function theirPairs(...patterns: string[]): Promise<Map<string, string>> {
    const { reply } = await client.call("CONFIG", "GET", ...patterns);
    const texts = "items" in reply ? (reply.items ?? []) : [];
    const values = texts.map((text) => ("value" in text ? `${text.value}` : ""));
    return new Map(pairs(values));
  }

  test("the same names with the same defaults", async () => {
    const redisValues = await theirPairs("*");
    const ourValues = new Map(pairs(new Config(new FakeSource()).get(["*"])));
    const unknown = [...redisValues.keys()].filter((name) => !ourValues.has(name));
    assert.deepEqual(unknown.sort(), [...SHOWN_BY_OLDER].sort());
    for (const name of unknown) assert.notEqual(findDirective(name), undefined, name);

    const extra = [...ourValues.keys()].filter((name) => !redisValues.has(name));
    assert.deepEqual(extra.sort(), [...NEWER_NAMES, ...OURS].sort());

    const different: { [name: string]: string } = {};
    for (const [name, value] of redisValues) {
      const ours = ourValues.get(name) ?? value;
      if (ours !== value) different[name] = `${value} here ${ours}`;
    }
    for (const name of Object.keys(different)) {
      assert.ok(name in DEFAULTS, `${name}: ${different[name]}`);
    }
    assert.deepEqual(Object.keys(different).sort(), Object.keys(DEFAULTS).sort());
  });

  test("CONFIG SET of every directive with every kind of value", async () => {
    const used = new Set<string>();
    for (const name of (await theirPairs("*")).keys()) {
      if (name in UNPROBED) continue;
      const [, standard = ""] = pairs(new Config(new FakeSource()).get([name]))[0] ?? [];
      for (const probe of PROBES) {
        const config = new Config(new FakeSource());
        const result = config.set([name, probe], false);
        const reply = await theirs("CONFIG", "SET", name, probe);
        const where = `CONFIG SET ${name} ${JSON.stringify(probe)}: ${reply}`;
        if (reply !== "OK") {
          const later = LATER_ERRORS[name];
          if (later !== undefined && !result.ok && result.error.endsWith(later)) used.add(name);
          else assert.deepEqual(result, { ok: false, error: reply }, where);
        } else if (result.ok) {
          config.apply(result.changes);
          const [[, value] = []] = await theirPairs(name);
          assert.equal(config.get([name])[1], value, where);
          await theirs("CONFIG", "SET", name, standard);
        } else {
          const later = LATER_ERRORS[name];
          if (later !== undefined && result.error.endsWith(later)) used.add(name);
          else assert.match(result.error, NOT_SUPPORTED, where);
          await theirs("CONFIG", "SET", name, standard);
        }
      }
    }
    assert.deepEqual([...used].sort(), Object.keys(LATER_ERRORS).sort());
  });

  test("CONFIG SET of several, in any order and case", async () => {
    for (const words of [
      ["timeout", "x", "nosuch", "1", "other", "2"],
      ["nosuch", "1", "databases", "1"],
      ["Databases", "1", "nosuch", "1"],
      ["timeout", "1", "hz", "2", "TimeOut", "1"],
      ["timeout", "1", "tcp-keepalive"],
      ["slave-priority", "3", "replica-priority", "4"],
      ["replica-priority", "3", "SLAVE-PRIORITY", "x"],
      ["timeout", "77", "TCP-keepalive", "-1"],
      ["dir", "/", "timeout", "x"],
      ["maxmemory", "", "hz", "0", "lua-time-limit", "1"],
    ]) {
      const config = new Config(new FakeSource());
      const result = config.set(words, false);
      const reply = await theirs("CONFIG", "SET", ...words);
      assert.equal(result.ok ? "OK" : result.error, reply, words.join(" "));
      if (result.ok) config.apply(result.changes);
      const numbers = ["timeout", "tcp-keepalive", "hz", "maxmemory"];
      const names = [...numbers, "replica-priority", "busy-reply-threshold"];
      const ours = new Map(pairs(config.get(names)));
      assert.deepEqual(ours, sorted(await theirPairs(...names), ours), words.join(" "));
      for (const [name, value] of pairs(new Config(new FakeSource()).get(names))) {
        await theirs("CONFIG", "SET", name, value);
      }
    }
  });

  test("CONFIG GET of patterns", async () => {
    const config = new Config(new FakeSource());
    for (const patterns of [
      ["max*samples"],
      ["TIMEOUT", "time*", "hz"],
      ["tim\\eout", "time?ut"],
      ["h[a-z]"],
      ["h[Y-Z]", "lua-TIME-limit", "busy-*-threshold"],
      ["port["],
      ["nosuch", ""],
      ["*ping-*"],
      ["replica-priority", "REPLICA-PRIORITY", "slave-PRIORITY"],
    ]) {
      const ours = new Map(pairs(config.get(patterns)));
      assert.deepEqual(ours, sorted(await theirPairs(...patterns), ours), patterns.join(" "));
    }
  });

  test("words of a line, seeded", async () => {
    const seed = testSeed(20261);
    const random = new Random(seed);
    const pieces = [
      '"',
      "'",
      "\\",
      " ",
      "\t",
      "\v",
      "x41",
      "\\x4",
      "\\xfF",
      "a",
      "n",
      "\\n",
      "\\'",
    ];
    for (let round = 0; round < 1500; round++) {
      let line = "ECHO ";
      for (let i = random.below(8); i >= 0; i--) line += random.pick(pieces);
      const words = splitWords(line);
      client.sendRaw(`${line}\n`);
      const { reply } = await client.next(line);
      const got = "value" in reply ? reply.value : null;
      const label = `${JSON.stringify(line)}, ${seedText(seed)}`;
      if (words === null) {
        assert.equal(got, "ERR Protocol error: unbalanced quotes in request", label);
        await client.expectClosed();
        client = await redis.connect();
      } else if (words.length === 2) {
        assert.equal(got, words[1], label);
      } else {
        assert.equal(got, "ERR wrong number of arguments for 'echo' command", label);
      }
    }
  });
});

describe("configuration files against redis-server", needs("redis-server"), () => {
  test("the same command line gives the same values", async () => {
    const options = {
      timeout: 5,
      "slave-priority": 50,
      maxmemory: "10MB",
      "client-output-buffer-limit": ["normal", "1mb", "0", "7", "replica", "2k", "1", "1"],
      "proc-title-template": '{title} "\\x',
      "hash-max-ziplist-entries": 7,
      "latency-tracking-info-percentiles": ["1.50", "99"],
      hz: 5000,
      unixsocketperm: "0755",
    };
    const redis = await startRedis(options);
    const client = await redis.connect();
    const argv = ["--bind", "127.0.0.1", "--port", `${redis.port}`, "--save", ""];
    for (const [name, value] of Object.entries(options)) {
      argv.push(`--${name}`, ...[value].flat().map(String));
    }
    const loaded = load(new FakeSource({ argv }));
    assert.equal(loaded.kind, "start", JSON.stringify(loaded));
    const names = ["port", "bind", "save", ...Object.keys(options)];
    const { reply } = await client.call("CONFIG", "GET", ...names);
    const items = "items" in reply ? (reply.items ?? []) : [];
    const theirs = new Map(pairs(items.map((item) => ("value" in item ? `${item.value}` : ""))));
    await redis.stop();
    if (loaded.kind !== "start") return;
    const ours = new Map(pairs(loaded.config.get(names)));
    assert.deepEqual(ours, sorted(theirs, ours));
  });
});

function pairs(flat: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) list.push([`${flat[i]}`, `${flat[i + 1]}`]);
  return list;
}

/** In the order of `like`: Redis shows them in the order of a hash table. */
function sorted(values: Map<string, string>, like: Map<string, string>): Map<string, string> {
  const names = [...like.keys()].filter((name) => values.has(name));
  const rest = [...values.keys()].filter((name) => !like.has(name));
  return new Map([...names, ...rest].map((name) => [name, values.get(name) as string]));
}
