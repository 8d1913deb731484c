/**
 * A client that goes on with ordinary work while a server is being abused, and notes when an answer
 * is wrong or late; and what the server's memory looks like from outside.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { show, textOf } from "../support/resp-parser.ts";
import type { Server } from "../support/servers.ts";

export type Witness = { stop(): Promise<{ rounds: number; slowestMs: number }> };

export async function startWitness(server: Server, name = "witness"): Promise<Witness> {
  const client = await server.connect();
  let rounds = 0;
  let slowestMs = 0;
  let running = true;
  const work = (async () => {
    while (running) {
      const startedAt = performance.now();
      const [set, get, ping] = await client.pipeline([
        ["SET", name, rounds],
        ["GET", name],
        ["PING", `${rounds}`],
      ]);
      assert.equal(set && show(set.reply), "+OK");
      assert.equal(get && show(get.reply), `$"${rounds}"`);
      assert.equal(ping && show(ping.reply), `$"${rounds}"`);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      rounds++;
    }
  })();
  // A failure is reported by `stop`; without this it would count as unhandled until then.
  work.catch(() => {});
  return {
    async stop() {
      running = false;
      await work;
      await client.call("DEL", name);
      client.close();
      return { rounds, slowestMs };
    },
  };
}

export function residentBytes(server: Server): number {
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1]) * 1024;
}

export function memoryField(server: Server, name: string): Promise<number> {
  return infoField(server, "memory", name);
}

export function threadsField(server: Server, name: string): Promise<number> {
  return infoField(server, "threads", name);
}

async function infoField(server: Server, section: string, name: string): Promise<number> {
  const client = await server.connect();
  const text = textOf((await client.call("INFO", section)).reply);
  client.close();
  const found = new RegExp(`^${name}:(\\d+)`, "m").exec(text);
  assert.ok(found, `no ${name} in ${text}`);
  return Number(found[1]);
}

export async function connectedClients(server: Server): Promise<number> {
  const client = await server.connect();
  const text = textOf((await client.call("INFO", "clients")).reply);
  client.close();
  return Number(/^connected_clients:(\d+)/m.exec(text)?.[1]) - 1;
}
