/**
 * What MONITOR sends, to us and to a redis-server, byte by byte but for the times and the ports: a
 * monitor that looks on while another connection runs a script, and one that runs it itself.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs } from "../support/environment.ts";
import { deferred, encodeCommand, type RespClient } from "../support/resp.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { MONITORED, OWN_COMMANDS } from "./corpus/monitor.ts";
import { splitArguments } from "./script.ts";

const END = "the end of the script";

/** Reads what a connection is sent as it comes, until the line that shows the end. */
class Stream {
  readonly client: RespClient;
  #text = "";
  #wake: () => void = () => {};

  constructor(client: RespClient) {
    this.client = client;
    client.socket.on("data", (chunk: Buffer) => {
      this.#text += chunk.toString("latin1");
      this.#wake();
    });
  }

  async until(end: RegExp): Promise<string> {
    while (!end.test(this.#text)) {
      const { promise, resolve } = deferred<void>();
      this.#wake = resolve;
      await promise;
    }
    return this.#text;
  }
}

function portOf(client: RespClient): string {
  return `127.0.0.1:${client.socket.localPort}`;
}

/** Times become T, and addresses the names of who has them. */
function normal(text: string, names: ReadonlyMap<string, string>): string[] {
  return text
    .replace(/^\+\d{10}\.\d{6} /gm, "+T ")
    .replace(/127\.0\.0\.1:\d+/g, (address) => names.get(address) ?? address)
    .split("\r\n");
}

async function observed(
  server: Server,
  protocol: string,
  lines: readonly string[],
): Promise<string[]> {
  const [monitor, worker] = [await server.connect(), await server.connect()];
  await worker.call("FLUSHALL");
  await monitor.call("HELLO", protocol);
  const stream = new Stream(monitor);
  await monitor.call("MONITOR");
  await worker.pipeline([...lines.map(splitArguments), ["ECHO", END]]);
  const text = await stream.until(new RegExp(`"ECHO" "${END}"\r\n$`));
  const names = new Map([
    [portOf(monitor), "monitor"],
    [portOf(worker), "worker"],
  ]);
  monitor.close();
  worker.close();
  return normal(text, names);
}

async function alone(
  server: Server,
  protocol: string,
  lines: readonly string[],
): Promise<string[]> {
  const monitor = await server.connect();
  await monitor.call("HELLO", protocol);
  const stream = new Stream(monitor);
  monitor.sendRaw(Buffer.concat(lines.map((line) => encodeCommand(splitArguments(line)))));
  const text = await stream.until(/last line\r\n(\+.*\r\n)?$/);
  const names = new Map([[portOf(monitor), "monitor"]]);
  monitor.close();
  return normal(text, names);
}

for (const threads of [1, 4]) {
  describe(`MONITOR with ${threads} threads is Redis's`, needs("redis-server"), () => {
    let oracle: Server;
    let subject: Server;

    before(async () => {
      oracle = await startRedis({ "enable-debug-command": "yes" });
      subject = await startZeroHop({ threads, bind: "127.0.0.1", "enable-debug-command": "yes" });
    });

    after(async () => {
      await oracle?.stop();
      await subject?.stop();
    });

    for (const protocol of ["2", "3"]) {
      test(`of another connection, in RESP${protocol}`, async () => {
        for (const script of MONITORED) {
          const [redis, ours] = await Promise.all(
            [oracle, subject].map((server) => observed(server, protocol, script)),
          );
          assert.deepEqual(ours, redis);
        }
      });

      test(`of the monitor itself, in RESP${protocol}`, async () => {
        for (const script of OWN_COMMANDS) {
          const [redis, ours] = await Promise.all(
            [oracle, subject].map((server) => alone(server, protocol, script)),
          );
          assert.deepEqual(ours, redis);
        }
      });
    }
  });
}
