/**
 * What a process listens on, bound by the supervisor before anything serves.
 */

import { chmodSync } from "node:fs";
import { createServer, type ListenOptions, type Server } from "node:net";
import { errorText, toPath } from "../env/config-host.ts";
import { entropy } from "../env/entropy.ts";
import { makeWayForSocket } from "../env/unix-path.ts";
import {
  OWNER_PORT_TRIES,
  OWNER_PORTS_FROM,
  OWNER_PORTS_TO,
  UNIX_PATH_BYTES_MAX,
} from "../limits.ts";
import { AUTO_PORT, type Config } from "./config/config.ts";

/** A bound listener: owner's port, or -1 for the plain one. */
export type Bound = { server: Server; owner: number; isUnix: boolean; port: number };

/** A start error: one line for the user. */
export class BindError extends Error {}

function listen(options: ListenOptions, make: () => Server = createServer): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = make();
    server.once("error", reject);
    server.listen(options, () => {
      server.removeListener("error", reject);
      resolve(server);
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Where the admin port listens: it is for this machine only. */
const ADMIN_BIND: readonly string[] = ["127.0.0.1", "-::1"];

/** Redis's bind words: "*" is any IPv4 address, "-" in front makes an address optional. */
type Address = { host: string; optional: boolean };

function addresses(bind: readonly string[]): Address[] {
  return bind.map((word) => {
    const optional = word.startsWith("-");
    const name = optional ? word.slice(1) : word;
    const host = name === "*" ? "0.0.0.0" : name === "::*" ? "::" : name;
    return { host, optional };
  });
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT" || code === "EPROTONOSUPPORT";
}

type BindPlan = {
  config: Config;
  reusePort: boolean;
  bind: readonly string[];
  make?: () => Server;
};

/** Binds one port on every address of `bind`. Port 0 is chosen by the first address. */
async function bindPort(
  plan: BindPlan,
  directive: string,
  port: number,
  owner: number,
): Promise<Bound[]> {
  const bound: Bound[] = [];
  let chosen = port;
  for (const { host, optional } of addresses(plan.bind)) {
    try {
      const options: ListenOptions & { reusePort?: boolean } = {
        host,
        port: chosen,
        backlog: plan.config.tcpBacklog,
        ipv6Only: host.includes(":"),
      };
      if (plan.reusePort) options.reusePort = true;
      const server = await listen(options, plan.make);
      chosen = portOf(server);
      bound.push({ server, owner, isUnix: false, port: chosen });
    } catch (error) {
      if (optional && isMissing(error)) continue;
      closeAll(bound);
      const { code } = error as { code?: string };
      const isPort = code === "EADDRINUSE" || code === "EACCES";
      const what = isPort ? `${directive} ${chosen}` : `bind ${host}`;
      const hint = code === "EADDRINUSE" ? "; set another, or auto for any free one" : "";
      throw new BindError(`${what}: ${lowerFirst(errorText(error))}${hint}`);
    }
  }
  if (bound.length === 0)
    throw new BindError(`${directive} ${port}: no address of bind is available`);
  return bound;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function closeAll(bound: readonly Bound[]): void {
  for (const { server } of bound) server.close();
}

async function bindOwners(plan: BindPlan, first: number, count: number): Promise<Bound[]> {
  const bound: Bound[] = [];
  for (let i = 0; i < count; i++) {
    try {
      bound.push(...(await bindPort(plan, "shard-owners-port", first + i, i)));
    } catch (error) {
      closeAll(bound);
      throw error;
    }
  }
  return bound;
}

/** Finds `count` free ports in a row by holding them until all are had. */
async function bindOwnersAnywhere(plan: BindPlan, count: number): Promise<Bound[]> {
  for (let tries = 0; tries < OWNER_PORT_TRIES; tries++) {
    // Below the ports that the system gives to outgoing connections, where long runs are rare.
    const first = OWNER_PORTS_FROM + entropy.below(OWNER_PORTS_TO - count - OWNER_PORTS_FROM);
    try {
      return await bindOwners(plan, first, count);
    } catch (error) {
      if (!(error instanceof BindError)) throw error;
    }
  }
  throw new BindError(`shard-owners-port auto: found no ${count} free ports in a row`);
}

async function bindUnix(config: Config): Promise<Bound> {
  const text = config.unixsocket;
  const path = toPath(text);
  if (text.length > UNIX_PATH_BYTES_MAX) {
    throw new BindError(`unixsocket ${text}: longer than ${UNIX_PATH_BYTES_MAX} bytes`);
  }
  try {
    await makeWayForSocket(path);
    const server = await listen({ path, backlog: config.tcpBacklog });
    if (config.unixsocketPerm !== 0) chmodSync(path, config.unixsocketPerm);
    return { server, owner: -1, isUnix: true, port: 0 };
  } catch (error) {
    throw new BindError(`unixsocket ${text}: ${lowerFirst(errorText(error))}`);
  }
}

/** The plain port, 0 to have one chosen; several servers of it where threads can share it. */
export async function bindPlain(wanted: {
  config: Config;
  bind: readonly string[];
  port: number;
  threads: number;
  reusePort: boolean;
}): Promise<Bound[]> {
  const { config, bind, port, threads } = wanted;
  const plan = { config, reusePort: wanted.reusePort && threads > 1, bind };
  const bound = await bindPort(plan, "port", port, -1);
  const chosen = bound[0]?.port ?? port;
  try {
    for (let extra = 1; plan.reusePort && extra < threads; extra++) {
      bound.push(...(await bindPort(plan, "port", chosen, -1)));
    }
  } catch (error) {
    closeAll(bound);
    throw error;
  }
  return bound;
}

/** Binds all that the configuration names for clients. */
async function bindClients(
  config: Config,
  threads: number,
  reusePort: boolean,
  bound: Bound[],
): Promise<void> {
  const alone = { config, reusePort: false, bind: config.bind };
  const ownersTakePort = config.owners > 0 && config.port === config.ownersPort && config.port > 0;
  if (config.port !== 0 && !ownersTakePort) {
    const port = config.port === AUTO_PORT ? 0 : config.port;
    const { bind } = config;
    bound.push(...(await bindPlain({ config, bind, port, threads, reusePort })));
  }
  if (config.owners > 0) {
    const auto = config.ownersPort === AUTO_PORT;
    bound.push(
      ...(auto
        ? await bindOwnersAnywhere(alone, config.owners)
        : await bindOwners(alone, config.ownersPort, config.owners)),
    );
  }
  if (config.unixsocket !== "") bound.push(await bindUnix(config));
}

export type BoundAll = { readonly clients: Bound[]; readonly admin: readonly Bound[] };

/**
 * Binds all that the configuration names, or throws BindError with nothing left bound. `makeAdmin`
 * makes what listens on the admin port, null if there is none.
 */
export async function bindAll(
  config: Config,
  threads: number,
  reusePort: boolean,
  makeAdmin: (() => Server) | null,
): Promise<BoundAll> {
  const clients: Bound[] = [];
  try {
    await bindClients(config, threads, reusePort, clients);
    if (makeAdmin === null) return { clients, admin: [] };
    const plan = { config, reusePort: false, bind: ADMIN_BIND, make: makeAdmin };
    const port = config.adminPort === AUTO_PORT ? 0 : config.adminPort;
    return { clients, admin: await bindPort(plan, "admin-port", port, -1) };
  } catch (error) {
    closeAll(clients);
    throw error;
  }
}
