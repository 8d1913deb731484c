/**
 * A client that goes on with ordinary work while a server is being abused, and tells when an answer
 * is wrong or when answers come late; and what the server's memory looks like from outside.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Address } from "../support/resp.ts";
import { textOf } from "../support/resp-parser.ts";
import type { Server } from "../support/servers.ts";

/**
 * What 99 of 100 rounds must take at most, without the time for which there was no core: see
 * support/stalls.ts. Wide, since all of it shares the machine.
 */
const P99_MAX_MS = 250;
/** With fewer rounds than these it is the slowest that counts, and that may be one of bad luck. */
const P99_ROUNDS_MIN = 300;
const SLOWEST_MAX_MS = 2000;

export type WitnessTask = {
  readonly address: Address;
  /** Of the server. */
  readonly pid: number;
  readonly name: string;
  /** Its writes may be refused with -OOM, which then must have changed nothing. */
  readonly mayBeFull: boolean;
};

export type Witnessed = {
  readonly rounds: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
};

export type Witness = { stop(): Promise<Witnessed> };

/** Starts a witness that is at work. Its `stop` rejects if it was disturbed. */
export async function startWitness(server: Server, mayBeFull = false): Promise<Witness> {
  const task: WitnessTask = {
    address: server.address,
    pid: server.pid,
    name: "witness",
    mayBeFull,
  };
  const worker = new Worker(new URL("./witness-worker.js", import.meta.url), { workerData: task });
  await once(worker, "message");
  // Listened for from the start, since a thread that ends posts its last word and ends in one go.
  const end = Promise.all([once(worker, "message"), once(worker, "exit")]);
  // A failure is reported by `stop`; without this it would count as unhandled until then.
  end.catch(() => {});
  return {
    async stop() {
      worker.postMessage("stop");
      const [[message]] = await end;
      const seen = message as Witnessed;
      const shown = `${seen.rounds} rounds, p99 ${seen.p99Ms} ms, slowest ${seen.slowestMs} ms`;
      const isQuick =
        seen.rounds < P99_ROUNDS_MIN ? seen.slowestMs <= SLOWEST_MAX_MS : seen.p99Ms <= P99_MAX_MS;
      assert.ok(isQuick, `somebody else was disturbed: ${shown}`);
      return seen;
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
