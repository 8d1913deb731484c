/**
 * A process that shows its parts as cluster nodes, one port each. When ZEROHOP_TEST_SUBJECT puts a
 * redis-server in our place, it is a real cluster of as many masters with the same slot ranges, so
 * that what the suites expect of owners is first proven of Redis Cluster.
 */
import { setTimeout as delay } from "node:timers/promises";
import { subjectRedis } from "./environment.ts";
import { freePort } from "./ports.ts";
import type { RespClient } from "./resp.ts";
import { textOf } from "./resp-parser.ts";
import { type Options, type Server, startRedis, startZeroHop } from "./servers.ts";

const SLOTS = 16384;

export type Owners = {
  /** The owners' ports, owner 0 first. */
  ports: readonly number[];
  /** The process, or the first node of the real cluster. */
  server: Server;
  /** Every process there is: one of ours, `ports.length` of Redis's. */
  servers: readonly Server[];
  connect(owner: number): Promise<RespClient>;
  stop(): Promise<void>;
};

/** CRC16 (XMODEM) of the hash tag, else of the whole key, bit by bit as the definition has it. */
export function keySlot(key: string): number {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key;
  let crc = 0;
  for (const byte of Buffer.from(tag, "latin1")) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}

/** The owner of a slot among `count`. */
export function ownerOf(slot: number, count: number): number {
  return Math.floor((slot * count) / SLOTS);
}

/** The slots of owner `index` of `count`, both ends included. */
export function slotRange(index: number, count: number): [number, number] {
  return [Math.ceil((index * SLOTS) / count), Math.ceil(((index + 1) * SLOTS) / count) - 1];
}

export async function startOwners(count: number, options: Options = {}): Promise<Owners> {
  if (subjectRedis !== undefined) return startRealCluster(count, subjectRedis);
  const server = await startZeroHop({
    "shard-owners": count,
    "shard-owners-port": "auto",
    ...options,
  });
  const ports = server.ownerPorts;
  return {
    ports,
    server,
    servers: [server],
    connect: (owner) => server.connectTo(ports[owner] as number),
    stop: () => server.stop(),
  };
}

/** Also for tests that compare our owners with a real cluster. */
export async function startRealCluster(count: number, binary?: string): Promise<Owners> {
  const servers: Server[] = [];
  try {
    return await joinNodes(servers, count, binary);
  } catch (error) {
    for (const server of servers) await server.end("SIGKILL");
    throw error;
  }
}

async function joinNodes(servers: Server[], count: number, binary?: string): Promise<Owners> {
  for (let i = 0; i < count; i++) {
    // The bus port is the client port + 10000: below the ephemeral ports too.
    const port = await freePort(22_000);
    servers.push(await startRedis({ port, "cluster-enabled": "yes" }, binary));
  }
  const clients = await Promise.all(servers.map((server) => server.connect()));
  for (const [index, client] of clients.entries()) {
    await client.call("CLUSTER", "ADDSLOTSRANGE", ...slotRange(index, count));
    await client.call("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
  }
  for (const server of servers.slice(1)) {
    await clients[0]?.call("CLUSTER", "MEET", "127.0.0.1", server.port);
  }
  for (const client of clients) {
    await until("the cluster agrees", async () => {
      const info = textOf((await client.call("CLUSTER", "INFO")).reply);
      const known = new RegExp(`cluster_known_nodes:${count}\r\ncluster_size:${count}\r\n`);
      return info.includes("cluster_state:ok") && known.test(info);
    });
  }
  return {
    ports: servers.map((server) => server.port),
    server: servers[0] as Server,
    servers,
    connect: (owner) => (servers[owner] as Server).connect(),
    stop: async () => {
      for (const server of servers) await server.stop();
    },
  };
}

/** Asks again until it is so. For states that others reach on their own; never for time to pass. */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  limitMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not in ${limitMs} ms: ${what}`);
    await delay(10);
  }
}
