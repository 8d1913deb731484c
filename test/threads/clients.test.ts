/**
 * What one client does to the others, over eight threads: MONITOR shows all that every thread runs,
 * CLIENT PAUSE holds for the next command on any connection, CLIENT UNBLOCK keeps its word,
 * maxmemory-clients closes the largest wherever they are.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import { deferred, type RespClient } from "../support/resp.ts";
import { integerOf, show, textOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";
import { Stalls } from "../support/stalls.ts";

const THREADS = 8;
const CLIENTS = 16;
const MB = 1024 * 1024;

function connectAll(server: Server, count: number): Promise<RespClient[]> {
  return Promise.all(Array.from({ length: count }, () => server.connect()));
}

async function infoOf(client: RespClient, section: string, field: string): Promise<number> {
  const text = textOf((await client.call("INFO", section)).reply);
  return Number(new RegExp(`^${field}:(\\d+)`, "m").exec(text)?.[1]);
}

/** Lines that a monitor has been sent. */
class MonitorLines {
  readonly lines: string[] = [];
  readonly client: RespClient;
  #rest = "";
  #wake: () => void = () => {};

  constructor(client: RespClient) {
    this.client = client;
    client.socket.on("data", (chunk: Buffer) => {
      const parts = (this.#rest + chunk.toString("latin1")).split("\r\n");
      this.#rest = parts.pop() ?? "";
      this.lines.push(...parts);
      this.#wake();
    });
  }

  async until(what: string, isSo: () => boolean): Promise<void> {
    const deadline = Date.now() + 60_000;
    while (!isSo()) {
      if (Date.now() > deadline) throw new Error(`${what}: ${this.lines.length} lines`);
      const { promise, resolve } = deferred<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, 1000);
      await promise;
      clearTimeout(timer);
    }
  }
}

describe(`MONITOR over ${THREADS} threads`, needsOurs(), () => {
  let server: Server;

  before(async () => {
    server = await startZeroHop({ threads: THREADS });
  });

  after(async () => server?.stop());

  test("shows each command of each connection once, in its order, to every monitor", async () => {
    const seed = testSeed(61);
    const random = new Random(seed);
    const monitors = (await connectAll(server, 4)).map((client) => new MonitorLines(client));
    for (const { client } of monitors)
      assert.equal(show((await client.call("MONITOR")).reply), "+OK");
    const workers = await connectAll(server, CLIENTS);
    const rounds = 40;
    const count = rounds * 25;
    await Promise.all(
      workers.map(async (worker, w) => {
        for (let round = 0; round < rounds; round++) {
          const calls = Array.from({ length: 25 }, (_, i) => {
            // Some of them longer than a turn, and than a ring.
            const pad = "x".repeat(random.chance(0.02) ? random.below(150_000) : random.below(50));
            return ["ECHO", `${w}:${round * 25 + i}:${pad}`];
          });
          await worker.pipeline(calls);
        }
      }),
    );
    try {
      for (const monitor of monitors) {
        const seen = (): number => monitor.lines.length - 1;
        await monitor.until("all lines", () => seen() >= CLIENTS * count);
        const next = new Array<number>(CLIENTS).fill(0);
        for (const line of monitor.lines.slice(1)) {
          const found = /^\+\d{10}\.\d{6} \[0 [\d.:]+\] "ECHO" "(\d+):(\d+):x*"$/.exec(line);
          assert.ok(found, line.slice(0, 100));
          const w = Number(found[1]);
          assert.equal(Number(found[2]), next[w], `of worker ${w}`);
          next[w] = Number(found[2]) + 1;
        }
        assert.deepEqual(next, new Array<number>(CLIENTS).fill(count));
      }
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${seedText(seed)}`, { cause: error });
    }
    for (const { client } of monitors) client.close();
  });

  test("begins before its answer, on every other connection", async () => {
    const others = await connectAll(server, CLIENTS);
    for (let round = 0; round < 60; round++) {
      const monitor = new MonitorLines(await server.connect());
      assert.equal(show((await monitor.client.call("MONITOR")).reply), "+OK");
      const other = others[round % CLIENTS] as RespClient;
      await other.call("ECHO", `round ${round}`);
      await monitor.until("the next command", () =>
        monitor.lines.some((line) => line.endsWith(`"ECHO" "round ${round}"`)),
      );
      monitor.client.close();
    }
  });

  test("one that does not read is closed, and nobody else is held up", async () => {
    const control = await server.connect();
    await control.call("CONFIG", "SET", "client-output-buffer-limit", "normal 2000000 0 0");
    const monitor = await server.connect();
    await monitor.call("CLIENT", "SETNAME", "stuck");
    await monitor.call("MONITOR");
    monitor.socket.pause();
    const workers = await connectAll(server, CLIENTS);
    const isThere = async (): Promise<boolean> =>
      textOf((await control.call("CLIENT", "LIST")).reply).includes(" name=stuck ");
    const text = "x".repeat(10_000);
    for (let round = 0; (await isThere()) && round < 500; round++) {
      await Promise.all(
        workers.map((worker) =>
          worker.pipeline([
            ["ECHO", text],
            ["ECHO", text],
          ]),
        ),
      );
    }
    assert.equal(await isThere(), false);
    assert.equal(await infoOf(control, "stats", "client_output_buffer_limit_disconnections"), 1);
    await control.call("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0");
    assert.equal(show((await (workers[0] as RespClient).call("PING")).reply), "+PONG");
  });
});

test(`CLIENT UNBLOCK over ${THREADS} threads does what it answers`, needsOurs(), async () => {
  const seed = testSeed(67);
  const random = new Random(seed);
  const server = await startZeroHop({ threads: THREADS });
  const [control, ...clients] = await connectAll(server, CLIENTS + 1);
  const ids = await Promise.all(
    clients.map(async (client) => integerOf((await client.call("CLIENT", "ID")).reply)),
  );
  const outcomes = { unblocked: 0, timedOut: 0 };
  const isOneSided = (): boolean => outcomes.unblocked === 0 || outcomes.timedOut === 0;
  for (let round = 0; round < 40 || (isOneSided() && round < 400); round++) {
    // Time is up in the same milliseconds in which they are unblocked. Where the machine is so slow
    // or so fast that it always ends in one way, the other one is given more and more time.
    const most = outcomes.unblocked === 0 ? 8 * (round + 1) : 8;
    const answers = clients.map((client) => client.call("WAIT", 1, 1 + random.below(most)));
    const pings = outcomes.timedOut === 0 ? 10 * round : 0;
    await (control as RespClient).pipeline(Array.from({ length: pings }, () => ["PING"]));
    const told = await Promise.all(
      ids.map(async (id) => {
        const call = (control as RespClient).call("CLIENT", "UNBLOCK", id, "ERROR");
        return integerOf((await call).reply);
      }),
    );
    for (const [i, answer] of (await Promise.all(answers)).entries()) {
      const isUnblocked = show(answer.reply).startsWith("-UNBLOCKED ");
      assert.equal(isUnblocked, told[i] === 1, seedText(seed));
      outcomes[isUnblocked ? "unblocked" : "timedOut"]++;
    }
  }
  assert.ok(outcomes.unblocked > 0 && outcomes.timedOut > 0, JSON.stringify(outcomes));
  assert.equal(await infoOf(control as RespClient, "clients", "blocked_clients"), 0);
  assert.equal(await infoOf(control as RespClient, "clients", "clients_in_timeout_table"), 0);
  await server.stop();
});

describe(`CLIENT PAUSE over ${THREADS} threads`, needsOurs(), () => {
  let server: Server;
  let control: RespClient;

  before(async () => {
    server = await startZeroHop({ threads: THREADS });
    control = await server.connect();
  });

  after(async () => server?.stop());
  afterEach(async () => control.call("CLIENT", "UNPAUSE"));

  const connected = (): Promise<number> => infoOf(control, "clients", "connected_clients");
  const blocked = (): Promise<number> => infoOf(control, "clients", "blocked_clients");

  test("holds for the next command on every connection, as does its end", async () => {
    const clients = await connectAll(server, CLIENTS);
    await control.call("SET", "n", 0);
    for (let round = 0; round < 30; round++) {
      assert.equal(show((await control.call("CLIENT", "PAUSE", 60_000, "WRITE")).reply), "+OK");
      const replies = clients.map((client) => client.call("INCR", "n"));
      await until("all wait", async () => (await blocked()) === CLIENTS);
      const value = Number(textOf((await control.call("GET", "n")).reply));
      assert.equal(value, round * CLIENTS, "something was written during the pause");
      assert.equal(show((await control.call("CLIENT", "UNPAUSE")).reply), "+OK");
      const next = await control.call("SET", "free", round);
      assert.equal(show(next.reply), "+OK");
      const values = (await Promise.all(replies)).map(({ reply }) => integerOf(reply));
      assert.deepEqual(
        values.sort((a, b) => a - b),
        Array.from({ length: CLIENTS }, (_, i) => value + i + 1),
      );
    }
    for (const client of clients) client.close();
  });

  test("cuts into pipelines, of which nothing is lost or done twice", async () => {
    const clients = await connectAll(server, CLIENTS);
    await control.call("SET", "n", 0);
    const calls = Array.from({ length: 200 }, () => ["INCR", "n"]);
    let isDone = false;
    const work = Promise.all(
      clients.map(async (client) => {
        for (let round = 0; round < 10; round++) await client.pipeline(calls);
      }),
    ).then(() => {
      isDone = true;
    });
    for (let pauses = 0; !isDone; pauses++) {
      await control.call("CLIENT", "PAUSE", 60_000, "WRITE");
      const first = textOf((await control.call("GET", "n")).reply);
      await control.pipeline(Array.from({ length: 50 }, () => ["PING"]));
      assert.equal(textOf((await control.call("GET", "n")).reply), first, `pause ${pauses}`);
      await control.call("CLIENT", "UNPAUSE");
    }
    await work;
    assert.equal(textOf((await control.call("GET", "n")).reply), String(CLIENTS * 2000));
    for (const client of clients) client.close();
  });

  test("ends in time, without anybody's doing", async () => {
    const clients = await connectAll(server, CLIENTS);
    const stalls = new Stalls(server.pid);
    stalls.begin();
    const began = performance.now();
    await control.call("CLIENT", "PAUSE", 300, "ALL");
    await Promise.all(clients.map((client) => client.call("PING")));
    const ms = performance.now() - began;
    const withheldMs = stalls.withheldMs();
    stalls.stop();
    // When it ends to the millisecond is shown with a clock that is moved by hand.
    assert.ok(ms >= 300 && ms - withheldMs < 1000, `${ms} ms, ${withheldMs} of them withheld`);
    for (const client of clients) client.close();
  });

  test("sees clients vanish that wait, and does not do what they wanted", async () => {
    await control.call("DEL", "n");
    await until("those of before are gone", async () => (await connected()) === 1);
    await control.call("CLIENT", "PAUSE", 60_000, "WRITE");
    const clients = await connectAll(server, CLIENTS);
    for (const client of clients) client.sendRaw("INCR n\r\nINCR n\r\n");
    await until("all wait", async () => (await blocked()) === CLIENTS);
    for (const [i, client] of clients.entries()) {
      if (i % 3 === 0) client.socket.end();
      else if (i % 3 === 1) client.socket.resetAndDestroy();
      else client.close();
    }
    await until("all are gone", async () => (await connected()) === 1);
    assert.equal(await blocked(), 0);
    await control.call("CLIENT", "UNPAUSE");
    assert.equal(show((await control.call("EXISTS", "n")).reply), ":0");
  });

  test("lets no key expire", async () => {
    const clients = await connectAll(server, CLIENTS);
    const keys = Array.from({ length: 500 }, (_, i) => `brief:${i}`);
    await control.pipeline(keys.map((key) => ["SET", key, "v", "PX", 50]));
    await control.call("CLIENT", "PAUSE", 60_000, "WRITE");
    const size = integerOf((await control.call("DBSIZE")).reply);
    const expired = await infoOf(control, "stats", "expired_keys");
    await until("all are past their time", async () => {
      const { reply } = await control.call("EXISTS", ...keys);
      return integerOf(reply) === 0;
    });
    for (const client of clients) {
      assert.equal(integerOf((await client.call("EXISTS", ...keys)).reply), 0);
      assert.equal(show((await client.call("KEYS", "brief:*")).reply), "*[]");
    }
    assert.equal(integerOf((await control.call("DBSIZE")).reply), size);
    assert.equal(await infoOf(control, "stats", "expired_keys"), expired);
    await control.call("CLIENT", "UNPAUSE");
    await until("they are removed", async () => {
      const others = integerOf((await control.call("EXISTS", "n", "free")).reply);
      return integerOf((await control.call("DBSIZE")).reply) === others;
    });
    for (const client of clients) client.close();
  });
});

describe(`maxmemory-clients over ${THREADS} threads`, needsOurs(), () => {
  test("closes the largest wherever they are, and no more than it must", async () => {
    const server = await startZeroHop({ threads: THREADS });
    const control = await server.connect();
    await control.call("CLIENT", "NO-EVICT", "ON");
    const listed = async (): Promise<Map<string, number>> => {
      const text = textOf((await control.call("CLIENT", "LIST")).reply);
      const sizes = [...text.matchAll(/ name=(\w+) .* tot-mem=(\d+)/g)];
      return new Map(sizes.map(([, name, size]) => [name as string, Number(size)]));
    };
    for (let round = 0; round < 5; round++) {
      const clients = await connectAll(server, 32);
      for (const [i, client] of clients.entries()) {
        await client.call("CLIENT", "SETNAME", `${i < 16 ? "small" : "large"}${i}`);
        const size = i < 16 ? 100_000 : 2 * MB;
        client.sendRaw(`*2\r\n$${size}\r\n${"x".repeat(size)}`);
      }
      await until("all have come", async () => {
        const sizes = [...(await listed())];
        return (
          sizes.filter(([name, size]) => size > (name.startsWith("large") ? 2 * MB : 1e5))
            .length === 32
        );
      });
      const each = Math.max(...(await listed()).values());
      const total = await infoOf(control, "memory", "mem_clients_normal");
      const before = await infoOf(control, "stats", "evicted_clients");
      await control.call("CONFIG", "SET", "maxmemory-clients", total - 7 * each);
      await until("there are few enough", async () => {
        return (await infoOf(control, "memory", "mem_clients_normal")) < total - 7 * each;
      });
      const left = [...(await listed()).keys()];
      assert.equal(left.filter((name) => name.startsWith("small")).length, 16);
      const gone = 16 - left.filter((name) => name.startsWith("large")).length;
      assert.ok(gone === 7 || gone === 8, `${gone} were closed`);
      assert.equal((await infoOf(control, "stats", "evicted_clients")) - before, gone);
      await control.call("CONFIG", "SET", "maxmemory-clients", 0);
      for (const client of clients) client.close();
      await until("all are gone", async () => {
        return (await infoOf(control, "clients", "connected_clients")) === 1;
      });
    }
    await server.stop();
  });
});
