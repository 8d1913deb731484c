/**
 * Directives whose effect is outside of the server: what the system shows of the process, and that
 * a CONFIG SET of several changes nothing there if one of them fails.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { freePort } from "../support/ports.ts";
import { RespClient } from "../support/resp.ts";
import { errorOf, itemsOf, show, textOf } from "../support/resp-parser.ts";
import { startZeroHop } from "../support/servers.ts";

const onLinux = process.platform === "linux" ? {} : { skip: "only Linux has /proc" };

function ofProcess(pid: number, file: string): string {
  return readFileSync(`/proc/${pid}/${file}`, "latin1").replaceAll("\0", " ").trim();
}

async function value(client: RespClient, name: string): Promise<string> {
  const [, text] = itemsOf((await client.call("CONFIG", "GET", name)).reply);
  return text === undefined ? "" : textOf(text);
}

describe("what the system shows of the process", { ...needsOurs(), ...onLinux }, () => {
  test("its title, which CONFIG SET changes", async () => {
    const server = await startZeroHop({ threads: 2, bind: "127.0.0.1" });
    const client = await server.connect();
    const { pid } = server;
    assert.ok(ofProcess(pid, "cmdline").startsWith(`zerohop 127.0.0.1:${server.port}`));
    await client.call("CONFIG", "SET", "proc-title-template", "my {title}");
    // The main thread hears of it by a message.
    while (!ofProcess(pid, "cmdline").startsWith("my zerohop")) await client.call("PING");
    const refused = await client.call("CONFIG", "SET", "proc-title-template", "{nosuch}");
    assert.match(
      errorOf(refused.reply),
      /template format is invalid or contains unknown variables/,
    );
    await server.stop();
  });

  test("its score for the out-of-memory killer, from any thread", async () => {
    const server = await startZeroHop({ threads: 2 });
    const clients = await Promise.all(Array.from({ length: 6 }, () => server.connect()));
    const [one, two, three] = clients as [RespClient, RespClient, RespClient];
    const { pid } = server;
    const score = (): number => Number(ofProcess(pid, "oom_score_adj"));
    const base = score();
    await one.call("CONFIG", "SET", "oom-score-adj-values", "7 8 9");
    assert.equal(score(), base);
    await two.call("CONFIG", "SET", "oom-score-adj", "relative");
    assert.equal(score(), Math.min(base + 7, 1000));
    assert.equal(await value(three, "oom-score-adj"), "yes");
    await three.call(
      "CONFIG",
      "SET",
      "oom-score-adj",
      "absolute",
      "oom-score-adj-values",
      "900 0 0",
    );
    assert.equal(score(), 900);
    await one.call("CONFIG", "SET", "oom-score-adj", "no");
    // Lowering it again needs no privilege down to where it was first.
    assert.equal(score(), base);
    await server.stop();
  });

  test("a port that cannot be had leaves everything as it was", async () => {
    const server = await startZeroHop({ threads: 2, bind: "127.0.0.1" });
    const client = await server.connect();
    const { pid } = server;
    const base = ofProcess(pid, "oom_score_adj");
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const taken = (other.address() as { port: number }).port;
    const settings: [name: string, value: string][] = [
      ["oom-score-adj", "yes"],
      ["oom-score-adj-values", "1 1 1"],
      ["maxmemory", "10000001"],
      ["port", String(taken)],
      ["client-query-buffer-limit", "10m"],
    ];
    const before = await Promise.all(settings.map(([name]) => value(client, name)));
    const { reply } = await client.call("CONFIG", "SET", ...settings.flat());
    assert.equal(
      errorOf(reply),
      "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. " +
        "Check server logs.",
    );
    assert.deepEqual(await Promise.all(settings.map(([name]) => value(client, name))), before);
    assert.equal(ofProcess(pid, "oom_score_adj"), base);
    assert.equal(textOf((await (await server.connect()).call("PING")).reply), "PONG");
    other.close();
    await server.stop();
  });
});

/** True if something answers there. */
async function answers(host: string, port: number): Promise<boolean> {
  try {
    const client = await RespClient.connect({ host, port });
    const { reply } = await client.call("PING");
    client.close();
    return textOf(reply) === "PONG";
  } catch {
    // ECONNREFUSED: nothing listens.
    return false;
  }
}

describe("CONFIG SET bind", { ...needsOurs(), ...onLinux }, () => {
  for (const threads of [1, 3]) {
    test(`listens there and nowhere else, with ${threads} threads`, async () => {
      const server = await startZeroHop({ threads, bind: "127.0.0.1" });
      const { port } = server;
      const client = await server.connect();
      const set = async (...words: string[]): Promise<string> =>
        show((await client.call("CONFIG", "SET", ...words)).reply);
      const where = async (): Promise<boolean[]> => [
        await answers("127.0.0.1", port),
        await answers("127.0.0.2", port),
      ];
      assert.deepEqual(await where(), [true, false]);
      assert.equal(await set("bind", "127.0.0.1 127.0.0.2"), "+OK");
      assert.deepEqual(await where(), [true, true]);
      assert.equal(await set("bind", "127.0.0.2"), "+OK");
      assert.deepEqual(await where(), [false, true]);
      assert.equal(await set("bind", "*"), "+OK");
      assert.deepEqual(await where(), [true, true]);
      const error =
        "-ERR CONFIG SET failed (possibly related to argument 'bind') - Failed to bind to specified " +
        "addresses.";
      assert.equal(await set("bind", "127.0.0.1 192.0.2.1"), error);
      assert.deepEqual(await where(), [true, true]);
      assert.equal(await value(client, "bind"), "*");
      const other = await freePort();
      assert.equal(await set("bind", "127.0.0.2", "port", String(other)), "+OK");
      assert.deepEqual(await where(), [false, false]);
      assert.ok(await answers("127.0.0.2", other));
      assert.equal(await set("bind", ""), "+OK");
      assert.ok(!(await answers("127.0.0.2", other)));
      await server.stop();
    });
  }

  test("is refused where owners' ports would stay behind", async () => {
    const server = await startZeroHop({ threads: 2, bind: "127.0.0.1", "shard-owners": 2 });
    const client = await server.connect();
    const { reply } = await client.call("CONFIG", "SET", "bind", "*");
    assert.match(
      errorOf(reply),
      /argument 'bind'\) - the owners' ports keep their addresses until/,
    );
    await server.stop();
  });
});

describe("crash-log-enabled no", needsOurs(), () => {
  test("ends without a report", async () => {
    const server = await startZeroHop({ "enable-debug-command": "yes" });
    const client = await server.connect();
    await client.call("CONFIG", "SET", "crash-log-enabled", "no");
    client.sendRaw("DEBUG PANIC\r\n");
    assert.equal((await server.end(undefined)).signal, "SIGABRT");
    assert.ok(!server.output().includes("BUG REPORT"));
  });
});
