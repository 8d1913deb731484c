/**
 * redis-cli as it comes: its output against us is its output against a redis-server, word for word,
 * and its cluster commands are content with our owner ports.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { needs, requireTool } from "../support/environment.ts";
import { keySlot, type Owners, ownerOf, startOwners } from "../support/owners.ts";
import { deferred, encodeCommand } from "../support/resp.ts";
import { show, textOf } from "../support/resp-parser.ts";
import {
  type RunResult,
  runProgram,
  type Server,
  startRedis,
  startZeroHop,
} from "../support/servers.ts";

function cli(port: number, args: readonly string[], stdin?: string): Promise<RunResult> {
  const settings = stdin === undefined ? {} : { stdin };
  return runProgram(requireTool("redis-cli"), ["-p", String(port), ...args], settings);
}

type Watcher = { output(): string; until(end: RegExp): Promise<void>; ended: Promise<unknown> };

/** A redis-cli that runs MONITOR, once it has been answered. */
async function startMonitor(server: Server): Promise<Watcher> {
  const child = spawn(requireTool("redis-cli"), ["-p", String(server.port), "MONITOR"]);
  let output = "";
  let wake: () => void = () => {};
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("latin1");
    wake();
  });
  const ended = once(child, "close");
  void ended.then(() => wake());
  const until = async (end: RegExp): Promise<void> => {
    while (!end.test(output) && child.exitCode === null) {
      const { promise, resolve } = deferred<void>();
      wake = resolve;
      await promise;
    }
    assert.match(output, end);
  };
  await until(/^OK\n/);
  return { output: () => output, until, ended };
}

/** What redis-cli shows of a script that another connection runs, but for times and ports. */
async function monitored(server: Server): Promise<string[]> {
  const watcher = await startMonitor(server);
  const client = await server.connect();
  await client.call("SET", "k", "a b\0");
  await client.call("get", "k");
  await client.call("INCR", "k");
  await client.call("CLIENT", "SETNAME", "me");
  await client.call("CLIENT", "KILL", "TYPE", "pubsub");
  await client.call("AUTH", "secret");
  await client.call("SELECT", 2);
  await client.call("DEL", "the last");
  await watcher.until(/"the last"/);
  await client.call("CLIENT", "KILL", "TYPE", "normal");
  await watcher.ended;
  client.close();
  return watcher
    .output()
    .replace(/^\d{10}\.\d{6} /gm, "+T ")
    .replace(/127\.0\.0\.1:\d+/g, "client")
    .split("\n");
}

const SCRIPTS: readonly (readonly [string, readonly string[], string])[] = [
  [
    "plain",
    [],
    'SET k "a b"\nGET k\nINCR n\nMGET k n none\nEXISTS k\nTTL k\nGET\nNOSUCH x\nDEL k n\n',
  ],
  ["RESP3", ["-3"], "SET k v EX 100\nGET k\nMGET k none\nEXISTS k\nCLIENT GETNAME\nDEL k\n"],
  ["CSV", ["--csv"], "MSET a 1 b 2\nMGET a b c\nDEL a b\n"],
  ["JSON", ["--json"], "MSET a 1 b 2\nMGET a b c\nDEL a b\n"],
  ["raw", ["--raw"], 'SET k "\\x00\\xff"\nGET k\nDEL k\n'],
  ["database", ["-n", "3"], "SET k three\nGET k\nDBSIZE\nSELECT 0\nGET k\nFLUSHALL\n"],
  ["password", ["-a", "secret", "--no-auth-warning"], "PING\nGET none\n"],
  ["name", ["--user", "default", "--pass", "x", "--no-auth-warning"], "PING\n"],
  ["repeat", ["-r", "5", "INCR", "counter"], ""],
  ["last argument from stdin", ["-x", "SET", "big"], "from standard input"],
  ["error code", ["-e", "GET"], ""],
  ["cluster mode on a plain port", ["-c"], "SET k v\nGET k\nDEL k\n"],
  ["replies switched off", [], "CLIENT REPLY ON\nPING\n"],
  ["a pause that is over at once", [], "CLIENT PAUSE 1 WRITE\nCLIENT UNPAUSE\nSET k v\nDEL k\n"],
  ["killing nobody", [], "CLIENT KILL 127.0.0.1:1\nCLIENT KILL TYPE pubsub\nCLIENT KILL ID 0\n"],
  ["tracking of nothing", [], "CLIENT TRACKINGINFO\nCLIENT TRACKING OFF\nCLIENT CACHING YES\n"],
  ["eval of nothing known", [], "HELP\nCLUSTER INFO\nREADONLY\n"],
];

describe("redis-cli on a plain port", needs("redis-cli", "redis-server"), () => {
  let oracle: Server;
  let subject: Server;

  before(async () => {
    oracle = await startRedis();
    subject = await startZeroHop({ threads: 2 });
  });

  after(async () => {
    await oracle?.stop();
    await subject?.stop();
  });

  for (const [title, args, stdin] of SCRIPTS) {
    test(title, async () => {
      const [redis, ours] = await Promise.all([
        cli(oracle.port, args, stdin),
        cli(subject.port, args, stdin),
      ]);
      assert.deepEqual(ours, redis);
    });
  }

  test("MONITOR shows what others run, line by line", async () => {
    const shown = await Promise.all([oracle, subject].map(monitored));
    assert.deepEqual(shown[1], shown[0]);
    assert.ok(shown[0]?.includes('+T [0 client] "SET" "k" "a b\\x00"'), shown[0]?.join("\n"));
  });

  test("CLIENT KILL ends a redis-cli that monitors", async () => {
    const control = await subject.connect();
    const watcher = await startMonitor(subject);
    const list = textOf((await control.call("CLIENT", "LIST")).reply);
    const id = /^id=(\d+) .* flags=O /m.exec(list)?.[1] ?? "";
    assert.equal(show((await control.call("CLIENT", "KILL", "ID", id)).reply), ":1");
    await watcher.ended;
    control.close();
  });

  test("HELLO 3 and INFO are shown", async () => {
    const info = await cli(subject.port, ["-3", "INFO", "server"]);
    assert.match(info.stdout, /^# Server\r?\nredis_version:7\.4\.\d+/);
    assert.match(info.stdout, /redis_mode:standalone/);
    const hello = await cli(subject.port, ["-3", "HELLO"]);
    assert.match(hello.stdout, /^server redis\nversion 7\.4\./);
  });

  test("--pipe loads a million bytes and counts the replies", async () => {
    const requests = Array.from({ length: 20_000 }, (_, i) =>
      encodeCommand(["SET", `pipe:${i}`, `value ${i}`]).toString("latin1"),
    );
    const result = await cli(subject.port, ["--pipe"], requests.join(""));
    assert.match(result.stdout, /errors: 0, replies: 20000/);
    assert.equal(result.code, 0);
    assert.match((await cli(subject.port, ["DBSIZE"])).stdout, /^20\d{3}\n$/);
  });

  test("--scan, --bigkeys and --memkeys go over all keys", async () => {
    await cli(subject.port, ["FLUSHALL"]);
    const keys = Array.from({ length: 500 }, (_, i) => `key:${i}`);
    await cli(subject.port, [], keys.map((key) => `SET ${key} ${key}`).join("\n"));
    const scan = await cli(subject.port, ["--scan", "--pattern", "key:*"]);
    assert.deepEqual(scan.stdout.trim().split("\n").sort(), [...keys].sort());
    for (const option of ["--bigkeys", "--memkeys"]) {
      const { stdout, code } = await cli(subject.port, [option]);
      assert.equal(code, 0, stdout);
      assert.match(stdout, /Sampled 500 keys in the keyspace/, option);
      assert.doesNotMatch(stdout, /error/i, option);
    }
  });
});

describe("redis-cli on owner ports", needs("redis-cli"), () => {
  const COUNT = 4;
  let owners: Owners;

  before(async () => {
    owners = await startOwners(COUNT);
  });

  after(async () => owners?.stop());

  test("-c follows redirections from any port", async () => {
    for (const port of owners.ports) {
      const words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"];
      const input = words.map((word) => `SET ${word} ${port}\nGET ${word}\n`).join("");
      const { stdout, code } = await cli(port, ["-c"], input);
      assert.equal(code, 0);
      const replies = stdout.replace(/^-> Redirected to slot .*\n/gm, "");
      assert.equal(replies, words.map(() => `OK\n${port}\n`).join(""));
    }
  });

  test("without -c it shows the MOVED", async () => {
    const shown = await Promise.all(owners.ports.map((port) => cli(port, ["GET", "alpha"])));
    const slot = keySlot("alpha");
    const owner = owners.ports[ownerOf(slot, COUNT)];
    const moved = shown.filter(({ stdout }) =>
      stdout.includes(`MOVED ${slot} 127.0.0.1:${owner}\n`),
    );
    assert.equal(moved.length, COUNT - 1);
  });

  test("--cluster check and info agree from every port", async () => {
    for (const port of owners.ports) {
      const check = await cli(port, ["--cluster", "check", `127.0.0.1:${port}`]);
      assert.match(check.stdout, /\[OK\] All nodes agree about slots configuration\./);
      assert.match(check.stdout, /\[OK\] All 16384 slots covered\./);
      assert.match(check.stdout, new RegExp(`in ${COUNT} masters`));
      assert.doesNotMatch(check.stdout, /\[(ERR|WARNING)\]/);
      assert.equal(check.code, 0, check.stdout);
      const info = await cli(port, ["--cluster", "info", `127.0.0.1:${port}`]);
      assert.match(info.stdout, new RegExp(`\\[OK\\] 7 keys in ${COUNT} masters\\.`));
      assert.equal(info.code, 0, info.stdout);
    }
  });

  test("--cluster call reaches every owner", async () => {
    const [port] = owners.ports;
    const { stdout, code } = await cli(Number(port), [
      "--cluster",
      "call",
      `127.0.0.1:${port}`,
      "DBSIZE",
    ]);
    assert.equal(code, 0, stdout);
    const counts = [...stdout.matchAll(/^127\.0\.0\.1:(\d+): (?:\(integer\) )?(\d+)$/gm)];
    assert.equal(counts.length, COUNT, stdout);
    assert.equal(
      counts.reduce((sum, [, , count]) => sum + Number(count), 0),
      7,
    );
  });
});
