/**
 * Ports and folders for tests. A server is told its port, so that somebody else could take it
 * before: therefore each process has ports of its own.
 *
 *   20,000 .. 29,999 in ranges of 128:  | lease | port | port | ... |
 *
 * Who listens on the first port of a range has leased it, and the system ends the lease with the
 * process. Bus ports of a real cluster are 10,000 above, where nothing else is.
 */
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { Random } from "./random.ts";

export type PortBlock = { first: number; count: number; release(): Promise<void> };

/** Below the ranges from which systems choose ephemeral ports, and apart from those of bench/. */
const LOWEST = 20_000;
const HIGHEST = 30_000;
const RANGE = 128;

type Lease = { readonly first: number; next: number };

const leases: Lease[] = [];

/** Different in every process, so that they seldom ask for the same range. */
const choice = new Random(process.pid ^ Date.now());

/** Holds `count` consecutive ports below `highest` on every interface, of this process's own. */
export async function reservePortBlock(
  count: number,
  highest: number = HIGHEST,
): Promise<PortBlock> {
  const unfit = new Set<Lease>();
  for (let attempt = 0; attempt < 2 * RANGE; attempt++) {
    const lease = await leaseFor(count, highest, unfit);
    const first = take(lease, count);
    const held = await holdAll(first, count);
    if (held !== undefined) {
      return { first, count, release: async () => void (await Promise.all(held.map(closeServer))) };
    }
    // One that knows nothing of leases is among them: a long block may not fit elsewhere.
    if (count > 1) unfit.add(lease);
  }
  throw new Error(`no ${count} consecutive free ports found`);
}

/** A port that nobody listens on and no other test is given. */
export async function freePort(highest: number = HIGHEST): Promise<number> {
  const block = await reservePortBlock(1, highest);
  await block.release();
  return block.first;
}

/** The next ports of a range; after the last one it begins again. */
function take(lease: Lease, count: number): number {
  if (lease.next + count > lease.first + RANGE) lease.next = lease.first + 1;
  const first = lease.next;
  lease.next += count;
  return first;
}

/** A range of this process's own, but none of `unfit`. */
async function leaseFor(count: number, highest: number, unfit: ReadonlySet<Lease>): Promise<Lease> {
  if (count >= RANGE) throw new Error(`a block has at most ${RANGE - 1} ports`);
  const own = leases.find((lease) => lease.first + RANGE <= highest && !unfit.has(lease));
  if (own !== undefined) return own;
  const ranges = Math.floor((highest - LOWEST) / RANGE);
  const offset = choice.below(ranges);
  for (let n = 0; n < ranges; n++) {
    const first = LOWEST + ((offset + n) % ranges) * RANGE;
    const holder = await listenOn(first);
    if (holder === undefined) continue;
    holder.unref();
    const lease = { first, next: first + 1 };
    leases.push(lease);
    return lease;
  }
  throw new Error(`all ranges of ports from ${LOWEST} to ${highest} are leased`);
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
