/**
 * What a process listens on, bound by the supervisor before anything serves.
 */

import type { Server } from "node:net";
import { errorText, toPath } from "../env/config-host.ts";
import { entropy } from "../env/entropy.ts";
import { type Listener, listenTcp, listenUnix } from "../env/listen.ts";
import type { AcceptedHandle } from "../env/socket-link.ts";
import {
  OWNER_PORT_TRIES,
  OWNER_PORTS_FROM,
  OWNER_PORTS_TO,
  UNIX_PATH_BYTES_MAX,
} from "../limits.ts";
import { AUTO_PORT, type Config } from "./config/config.ts";

/** What a listener is for: an owner's port, or -1. */
export type Purpose = { readonly owner: number; readonly isUnix: boolean };

export type Bound = Purpose & { readonly listener: Listener };

/** Connections, from the moment that one can arrive. */
export type Connected = (purpose: Purpose, handle: AcceptedHandle) => void;

/** A start error: one line for the user. */
export class BindError extends Error {}

type Opened = { readonly port: number; close(): void };

/** The listener of a server of Node's. */
function listenFor(server: Server, host: string, port: number, backlog: number): Promise<Opened> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog, ipv6Only: host.includes(":") }, () => {
      server.removeListener("error", reject);
      const address = server.address();
      const bound = typeof address === "object" && address !== null ? address.port : 0;
      resolve({ port: bound, close: () => server.close() });
    });
  });
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

type Open<T> = (host: string, port: number) => Promise<T>;

/** Binds one port on every address of `bind`. Port 0 is chosen by the first address. */
async function bindPort<T extends Opened>(
  directive: string,
  port: number,
  bind: readonly string[],
  open: Open<T>,
): Promise<T[]> {
  const opened: T[] = [];
  let chosen = port;
  for (const { host, optional } of addresses(bind)) {
    try {
      const listener = await open(host, chosen);
      chosen = listener.port;
      opened.push(listener);
    } catch (error) {
      if (optional && isMissing(error)) continue;
      for (const listener of opened) listener.close();
      const { code } = error as { code?: string };
      const isPort = code === "EADDRINUSE" || code === "EACCES";
      const what = isPort ? `${directive} ${chosen}` : `bind ${host}`;
      const hint = code === "EADDRINUSE" ? "; set another, or auto for any free one" : "";
      throw new BindError(`${what}: ${lowerFirst(errorText(error))}${hint}`);
    }
  }
  if (opened.length === 0)
    throw new BindError(`${directive} ${port}: no address of bind is available`);
  return opened;
}

type BindPlan = {
  config: Config;
  reusePort: boolean;
  bind: readonly string[];
  connected: Connected;
};

/** A port for clients; `owner` is -1 for the plain one. */
async function bindClientPort(
  plan: BindPlan,
  directive: string,
  port: number,
  owner: number,
): Promise<Bound[]> {
  const purpose: Purpose = { owner, isUnix: false };
  const { reusePort, connected } = plan;
  const backlog = plan.config.tcpBacklog;
  const listeners = await bindPort(directive, port, plan.bind, (host, chosen) => {
    const place = { host, port: chosen, backlog, ipv6Only: host.includes(":"), reusePort };
    return listenTcp(place, (handle) => connected(purpose, handle));
  });
  return listeners.map((listener) => ({ ...purpose, listener }));
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function closeAll(bound: readonly Bound[]): void {
  for (const { listener } of bound) listener.close();
}

async function bindOwners(plan: BindPlan, first: number, count: number): Promise<Bound[]> {
  const bound: Bound[] = [];
  for (let i = 0; i < count; i++) {
    try {
      bound.push(...(await bindClientPort(plan, "shard-owners-port", first + i, i)));
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

async function bindUnix(config: Config, connected: Connected): Promise<Bound> {
  const text = config.unixsocket;
  if (text.length > UNIX_PATH_BYTES_MAX) {
    throw new BindError(`unixsocket ${text}: longer than ${UNIX_PATH_BYTES_MAX} bytes`);
  }
  const purpose: Purpose = { owner: -1, isUnix: true };
  const { tcpBacklog: backlog, unixsocketPerm: permissions } = config;
  try {
    const place = { path: toPath(text), backlog, permissions };
    const listener = await listenUnix(place, (handle) => connected(purpose, handle));
    return { ...purpose, listener };
  } catch (error) {
    throw new BindError(`unixsocket ${text}: ${lowerFirst(errorText(error))}`);
  }
}

/** The plain port, 0 to have one chosen; several listeners of it where threads can share it. */
export async function bindPlain(
  wanted: BindPlan & { port: number; threads: number },
): Promise<Bound[]> {
  const { port, threads } = wanted;
  const plan = { ...wanted, reusePort: wanted.reusePort && threads > 1 };
  const bound = await bindClientPort(plan, "port", port, -1);
  const chosen = bound[0]?.listener.port ?? port;
  try {
    for (let extra = 1; plan.reusePort && extra < threads; extra++) {
      bound.push(...(await bindClientPort(plan, "port", chosen, -1)));
    }
  } catch (error) {
    closeAll(bound);
    throw error;
  }
  return bound;
}

export type BindAll = {
  readonly config: Config;
  readonly threads: number;
  readonly reusePort: boolean;
  readonly connected: Connected;
  /** Makes what listens on the admin port, null if there is none. */
  readonly makeAdmin: (() => Server) | null;
};

/** Binds all that the configuration names for clients. */
async function bindClients(wanted: BindAll, bound: Bound[]): Promise<void> {
  const { config, threads, reusePort, connected } = wanted;
  const { bind } = config;
  const alone = { config, reusePort: false, bind, connected };
  const ownersTakePort = config.owners > 0 && config.port === config.ownersPort && config.port > 0;
  if (config.port !== 0 && !ownersTakePort) {
    const port = config.port === AUTO_PORT ? 0 : config.port;
    bound.push(...(await bindPlain({ ...alone, reusePort, port, threads })));
  }
  if (config.owners > 0) {
    const auto = config.ownersPort === AUTO_PORT;
    bound.push(
      ...(auto
        ? await bindOwnersAnywhere(alone, config.owners)
        : await bindOwners(alone, config.ownersPort, config.owners)),
    );
  }
  if (config.unixsocket !== "") bound.push(await bindUnix(config, connected));
}

export type BoundAll = {
  readonly clients: Bound[];
  /** The admin port as bound; 0 if there is none. */
  readonly adminPort: number;
};

/** Binds all that the configuration names, or throws BindError with nothing left bound. */
export async function bindAll(wanted: BindAll): Promise<BoundAll> {
  const { config, makeAdmin } = wanted;
  const clients: Bound[] = [];
  try {
    await bindClients(wanted, clients);
    if (makeAdmin === null) return { clients, adminPort: 0 };
    const port = config.adminPort === AUTO_PORT ? 0 : config.adminPort;
    const [first] = await bindPort("admin-port", port, ADMIN_BIND, (host, chosen) =>
      listenFor(makeAdmin(), host, chosen, config.tcpBacklog),
    );
    return { clients, adminPort: first?.port ?? 0 };
  } catch (error) {
    closeAll(clients);
    throw error;
  }
}
