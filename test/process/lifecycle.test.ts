/** From the first line of the log to the last: configuration, process, signals. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { removeFolder, reservePortBlock, temporaryFolder } from "../support/ports.ts";
import { RespClient } from "../support/resp.ts";
import { itemsOf, type Reply, show, textOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";
import { startFromFile } from "./from-file.ts";

async function setting(client: RespClient, name: string): Promise<string> {
  const { reply } = await client.call("CONFIG", "GET", name);
  return textOf(itemsOf(reply)[1] as Reply);
}

async function info(server: Server, section: string, name: string): Promise<string> {
  const client = await server.connect();
  const text = textOf((await client.call("INFO", section)).reply);
  client.close();
  return new RegExp(`^${name}:(.*)\r$`, "m").exec(text)?.[1] ?? `no ${name} in ${text}`;
}

describe("configuration", needsOurs(), () => {
  test("command line over environment over file over default", async () => {
    const folder = temporaryFolder();
    const conf = path.join(folder, "test.conf");
    writeFileSync(
      conf,
      "port auto\nbind 127.0.0.1\ntimeout 1\ntcp-keepalive 1\nmaxclients 101\n" +
        'maxmemory 100mb\nlogfile ""\n',
    );
    const server = await startFromFile([conf, "--timeout", "3", "--maxclients", "103"], {
      ZEROHOP_TIMEOUT: "2",
      ZEROHOP_TCP_KEEPALIVE: "2",
    });
    const client = await server.connect();
    assert.equal(await setting(client, "timeout"), "3");
    assert.equal(await setting(client, "tcp-keepalive"), "2");
    assert.equal(await setting(client, "maxclients"), "103");
    assert.equal(await setting(client, "maxmemory"), "104857600");
    assert.equal(await setting(client, "databases"), "16");
    await server.stop();
    removeFolder(folder);
  });

  test("the syntax of redis.conf: comments, quotes, several values, include, last one wins", async () => {
    const folder = temporaryFolder();
    const inner = path.join(folder, "inner.conf");
    writeFileSync(inner, "timeout 7\r\n");
    const conf = path.join(folder, "outer.conf");
    const lines = [
      "# a comment",
      "   ",
      "PORT auto",
      'bind "127.0.0.1" 127.0.0.2',
      "timeout 5",
      `include ${inner}`,
      "maxclients 200",
      "maxclients 201",
      "client-output-buffer-limit normal 1mb 512kb 30",
      "save ''",
    ];
    writeFileSync(conf, `${lines.join("\n")}\n`);
    const server = await startFromFile([conf]);
    const client = await server.connect();
    assert.equal(await setting(client, "timeout"), "7");
    assert.equal(await setting(client, "maxclients"), "201");
    assert.equal(await setting(client, "bind"), "127.0.0.1 127.0.0.2");
    assert.match(await setting(client, "client-output-buffer-limit"), /^normal 1048576 524288 30 /);
    assert.equal(await setting(client, "save"), "");
    await server.stop();
    removeFolder(folder);
  });

  test("rename-command, which CONFIG REWRITE leaves alone", async () => {
    const folder = temporaryFolder();
    const conf = path.join(folder, "test.conf");
    const lines = 'rename-command FLUSHALL ""\nrename-command get fetch\n';
    writeFileSync(conf, `port auto\nbind 127.0.0.1\n${lines}timeout 0\n`);
    const replies = async (server: Server): Promise<string[]> => {
      // On every thread.
      const clients = await Promise.all(Array.from({ length: 4 }, () => server.connect()));
      const shown: string[] = [];
      for (const client of clients) {
        for (const words of [["FLUSHALL"], ["GET", "k"], ["fetch", "k"], ["FETCH"]]) {
          shown.push(show((await client.call(...words)).reply));
        }
        client.close();
      }
      return [...new Set(shown)];
    };
    const server = await startFromFile([
      conf,
      ...["--threads", "2", "--dir", folder, "--rename-command", "MGET", "x"],
    ]);
    const expected = await replies(server);
    assert.equal(expected.length, 4, expected.join("\n"));
    assert.match(expected[0] ?? "", /ERR unknown command 'FLUSHALL'/);
    assert.match(expected[1] ?? "", /ERR unknown command 'GET'/);
    assert.match(expected[3] ?? "", /ERR wrong number of arguments for 'get' command/);
    const client = await server.connect();
    await client.call("CONFIG", "SET", "timeout", "7");
    assert.equal(show((await client.call("CONFIG", "REWRITE")).reply), "+OK");
    await server.stop();
    assert.ok(readFileSync(conf, "utf8").includes(lines));
    const again = await startFromFile([conf]);
    assert.deepEqual(await replies(again), expected);
    assert.equal(await setting(await again.connect(), "timeout"), "7");
    await again.stop();
    removeFolder(folder);
  });

  test("a file on standard input", async () => {
    const server = await startFromFile(["-"], {}, "port auto\nbind 127.0.0.1\ntimeout 9\n");
    const client = await server.connect();
    assert.equal(await setting(client, "timeout"), "9");
    await server.stop();
  });
});

describe("listeners", needsOurs(), () => {
  test("several addresses, a unix socket and its permissions", async () => {
    const server = await startZeroHop({
      bind: ["127.0.0.1", "127.0.0.2"],
      unixsocket: "zh.sock",
      unixsocketperm: 700,
    });
    const socket = path.join(server.folder, "zh.sock");
    assert.equal(statSync(socket).mode & 0o777, 0o700);
    const addresses = [
      { host: "127.0.0.1", port: server.port },
      { host: "127.0.0.2", port: server.port },
      { path: socket },
    ];
    for (const address of addresses) {
      const client = await server.connect(address);
      assert.equal(show((await client.call("INCR", "hits")).reply).slice(0, 1), ":");
    }
    const listed = textOf((await (await server.connect()).call("CLIENT", "LIST")).reply);
    assert.match(listed, /addr=zh\.sock:0 /);
    await server.stop();
    assert.equal(existsSync(socket), false, "the socket must go with the server");
  });

  for (const threads of [1, 2, 4]) {
    test(`a unix socket stays as long as the server, with ${threads} threads`, async () => {
      for (let n = 0; n < 3; n++) {
        const server = await startZeroHop({ threads, unixsocket: "zh.sock" });
        const address = { path: path.join(server.folder, "zh.sock") };
        // Whoever serves this has all listeners that it is given.
        assert.equal(show((await (await server.connect()).call("PING")).reply), "+PONG");
        for (let i = 0; i < 5; i++) {
          const client = await server.connect(address);
          assert.equal(show((await client.call("INCR", "hits")).reply), `:${i + 1}`);
        }
        await server.stop();
        assert.equal(existsSync(address.path), false);
      }
    });
  }

  test("a name with any letters", async () => {
    const server = await startZeroHop({ port: 0, unixsocket: "语é.sock" });
    assert.ok(existsSync(path.join(server.folder, "语é.sock")));
    const client = await server.connect({ path: path.join(server.folder, "语é.sock") });
    assert.equal(show((await client.call("PING")).reply), "+PONG");
    await server.stop();
  });

  test("port 0 with a unix socket has no TCP", async () => {
    const server = await startZeroHop({ port: 0, unixsocket: "zh.sock" });
    assert.equal(server.listeners.has("tcp"), false);
    const client = await server.connect();
    assert.equal(show((await client.call("PING")).reply), "+PONG");
    await server.stop();
  });

  test("a given port, again right after the end of the one before", async () => {
    const block = await reservePortBlock(1);
    await block.release();
    for (let i = 0; i < 3; i++) {
      const server = await startZeroHop({ port: block.first, bind: "127.0.0.1" });
      assert.equal(server.port, block.first);
      const client = await server.connect();
      assert.equal(show((await client.call("PING")).reply), "+PONG");
      await server.stop();
    }
  });
});

describe("the process", needsOurs(), () => {
  test("one process id throughout, and a log in Redis's form", async () => {
    const server = await startZeroHop({ threads: 4 });
    assert.equal(await info(server, "server", "process_id"), String(server.pid));
    const line = /^\d+:[A-Z] \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} [.\-*#] .+$/;
    const lines = server
      .output()
      .split("\n")
      .filter((text) => text !== "");
    for (const text of lines) {
      assert.match(text, line);
      assert.ok(text.startsWith(`${server.pid}:`), text);
    }
    const ready = lines.filter((text) => text.includes("Ready to accept connections"));
    assert.equal(ready.length, 1);
    assert.match(ready[0] as string, / \* Ready to accept connections tcp=127\.0\.0\.1:\d+$/);
    await server.stop();
  });

  test("a log file instead of standard output", async () => {
    const folder = temporaryFolder();
    const logfile = path.join(folder, "日é.log");
    const server = await startFromFile(
      ["--port", "auto", "--bind", "127.0.0.1", "--logfile", logfile],
      {},
      undefined,
      logfile,
    );
    assert.equal(server.output(), "");
    assert.match(readFileSync(logfile, "utf8"), /Ready to accept connections/);
    await server.stop();
    removeFolder(folder);
  });

  test("a pid file while it runs, and a warning where none can be written", async () => {
    const folder = temporaryFolder();
    const pidfile = path.join(folder, "zh.pid");
    const server = await startZeroHop({ pidfile });
    assert.equal(readFileSync(pidfile, "utf8"), `${server.pid}\n`);
    await server.stop();
    assert.equal(existsSync(pidfile), false);
    const none = path.join(folder, "none", "zh.pid");
    const without = await startZeroHop({ pidfile: none });
    await without.stop();
    const warning = `# Failed to write PID file ${none}: No such file or directory\n`;
    assert.ok(without.output().includes(warning), without.output());
    removeFolder(folder);
  });

  test("a line that says what a wildcard listens on", async () => {
    const plain = await startFromFile(["--port", "auto", "--bind", "127.0.0.1"]);
    await plain.stop();
    assert.doesNotMatch(plain.output(), /Listening on/);
    const owners = ["--shard-owners", "2", "--shard-owners-port", "auto"];
    const server = await startFromFile(["--port", "auto", ...owners]);
    await server.stop();
    const words = "\\* Listening on every IPv4 and IPv6 address of this machine";
    const ports = "port (\\d+), owners' ports (\\d+)-(\\d+); protected-mode refuses";
    const line = new RegExp(`${words}, ${ports} clients of other hosts\n`);
    const [, port, first, last] = line.exec(server.output()) ?? [];
    assert.equal(Number(port), server.port, server.output());
    assert.equal(Number(last), Number(first) + 1);
    assert.match(server.output(), new RegExp(`owners=127\\.0\\.0\\.1:${first}-${last}\n`));
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`${signal}: what was accepted is answered, then exit code 0`, async () => {
      const server = await startZeroHop({ threads: 4, unixsocket: "zh.sock" });
      const clients = await Promise.all(Array.from({ length: 20 }, () => server.connect()));
      const pending = clients.map((client) => {
        client.sendRaw("*1\r\n$4\r\nPING\r\n".repeat(1000));
        return countReplies(client);
      });
      await (await server.connect()).call("PING");
      const exit = await server.end(signal);
      assert.deepEqual(exit, { code: 0, signal: null });
      for (const { replies, leftover } of await Promise.all(pending)) {
        assert.equal(leftover, 0, "a reply was cut in the middle");
        assert.ok(replies === 0 || replies === 1000, `${replies} of 1000 replies`);
      }
      for (const client of clients) await client.expectClosed();
    });
  }

  for (const signal of ["SIGHUP", "SIGUSR1"] as const) {
    test(`${signal} changes nothing, and opens no debugger`, async () => {
      const server = await startZeroHop({ threads: 2 });
      const client = await server.connect();
      server.child.kill(signal);
      assert.equal(show((await client.call("PING")).reply), "+PONG");
      assert.deepEqual(await server.end("SIGTERM"), { code: 0, signal: null });
      assert.doesNotMatch(server.output(), /debugger/i);
    });
  }

  test("SIGTERM while a client keeps sending", async () => {
    const server = await startZeroHop({ threads: 2 });
    const client = await server.connect();
    let sent = true;
    client.socket.on("drain", () => client.socket.write("PING\r\n".repeat(1000)));
    while (sent) sent = client.socket.write("PING\r\n".repeat(1000));
    client.socket.pause();
    assert.deepEqual(await server.end("SIGTERM"), { code: 0, signal: null });
  });

  for (const args of [[], ["NOSAVE"], ["SAVE", "FORCE"], ["NOW"], ["nosave", "now", "force"]]) {
    test(`SHUTDOWN ${args.join(" ")} ends without a reply`, async () => {
      const server = await startZeroHop({ threads: 2 });
      const client = await server.connect();
      const other = await server.connect();
      client.sendRaw(`SHUTDOWN ${args.join(" ")}\r\n`);
      await client.expectClosed();
      await other.expectClosed();
      assert.deepEqual(await server.end(undefined), { code: 0, signal: null });
      assert.equal(client.bytesReceived, 0);
      assert.equal(other.bytesReceived, 0);
    });
  }

  test("it starts and stops twenty times without leaving anything", async () => {
    for (let i = 0; i < 20; i++) {
      const server = await startZeroHop({ threads: 1 + (i % 4) });
      const client = await RespClient.connect(server.address);
      assert.equal(show((await client.call("SET", "k", i)).reply), "+OK");
      client.close();
      await server.stop();
    }
  });
});

async function countReplies(client: RespClient): Promise<{ replies: number; leftover: number }> {
  let replies = 0;
  try {
    for (; replies < 1000; replies++) await client.next();
  } catch {
    // The connection ended: the count and the leftover bytes tell how.
  }
  return { replies, leftover: client.leftover().length };
}
