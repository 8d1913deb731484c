/**
 * Ports and folders for tests. Ports are held by listening sockets until the moment of use, so that
 * two tests that run at the same time never get the same number.
 */
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { Random } from "./random.ts";

export type PortBlock = { first: number; count: number; release(): Promise<void> };

/** Below the ranges from which systems choose ephemeral ports. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Different in every process: two test files must not try the same ports in the same order. */
const choice = new Random(process.pid ^ Date.now());

/** Holds `count` consecutive ports below `highest` on every interface. */
export async function reservePortBlock(
  count: number,
  highest: number = HIGHEST,
): Promise<PortBlock> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const first = LOWEST + choice.below(highest - LOWEST - count);
    const held = await holdAll(first, count);
    if (held !== undefined) {
      return { first, count, release: async () => void (await Promise.all(held.map(closeServer))) };
    }
  }
  throw new Error(`no ${count} consecutive free ports found`);
}

/** A port that was free a moment ago: held, released and returned. */
export async function freePort(highest: number = HIGHEST): Promise<number> {
  const block = await reservePortBlock(1, highest);
  await block.release();
  return block.first;
}

async function holdAll(first: number, count: number): Promise<net.Server[] | undefined> {
  const held: net.Server[] = [];
  for (let i = 0; i < count; i++) {
    const server = await listenOn(first + i);
    if (server === undefined) {
      await Promise.all(held.map(closeServer));
      return undefined;
    }
    held.push(server);
  }
  return held;
}

/** Listens on all interfaces, or gives nothing when the port is taken. */
function listenOn(port: number): Promise<net.Server | undefined> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.on("error", () => resolve(undefined));
    server.listen({ port, exclusive: true }, () => resolve(server));
  });
}

export function holdPort(port: number, host: string): Promise<net.Server> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on("error", reject);
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
}

export function closeServer(server: net.Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

export function hasIpv6(): boolean {
  return Object.values(os.networkInterfaces()).some((addresses) =>
    addresses?.some((entry) => entry.address === "::1"),
  );
}

export function temporaryFolder(): string {
  // A unix socket's path may have 107 bytes only, so the name is short.
  return mkdtempSync(path.join(os.tmpdir(), "zh-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
