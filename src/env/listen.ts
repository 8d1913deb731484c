/**
 * Listeners as the system's bare handles, without the objects that Node puts around them: the first
 * server of Node's that listens in a process loads the modules for clusters of processes and for
 * names, which takes longer than everything that is bound at a start. They share nothing with other
 * processes of a cluster of Node's, and hold the process as any server does.
 */
import { chmodSync } from "node:fs";
import { getSystemErrorName } from "node:util";
import type { AcceptedHandle } from "./socket-link.ts";
import { binding, connectionsRefusal } from "./stream-binding.ts";
import { makeWayForSocket } from "./unix-path.ts";

export type ListeningHandle = AcceptedHandle & {
  onconnection: ((status: number, handle: AcceptedHandle | undefined) => void) | null;
  listen(backlog: number): number;
};

/** Gets connections as the system's handles. */
export type Accepted = (handle: AcceptedHandle) => void;

export type Listener = {
  readonly handle: ListeningHandle;
  /** As bound: in numbers, or the path. */
  readonly address: string;
  /** As bound; 0 for a unix socket. */
  readonly port: number;
  /** Takes no more connections; those there are go on. */
  close(): void;
};

export type TcpPlace = {
  /** An address in numbers, or a name, which is looked up. */
  readonly host: string;
  /** 0 has the system choose. */
  readonly port: number;
  readonly backlog: number;
  /** Of an address of IPv6: whether it is not one of IPv4 as well. */
  readonly ipv6Only: boolean;
  /** Lets others listen on the same port: on Linux, since Node 22.12. */
  readonly reusePort: boolean;
};

export type UnixPlace = {
  readonly path: string;
  readonly backlog: number;
  /** Of the socket; 0 leaves the system's. */
  readonly permissions: number;
};

type SocketName = { address?: string; port?: number };

type TcpHandle = ListeningHandle & {
  /** Node 20 knows no flags here. */
  bind(address: string, port: number, flags: number): number;
  bind6(address: string, port: number, flags: number): number;
  getsockname(name: SocketName): number;
};

type TcpBinding = {
  TCP: new (type: number) => TcpHandle;
  constants: { SERVER: number; UV_TCP_IPV6ONLY: number; UV_TCP_REUSEPORT?: number };
};

type PipeBinding = {
  Pipe: new (type: number) => ListeningHandle & { bind(path: string): number };
  constants: { SERVER: number };
};

const PORT_MAX = 65_535;

/** Rejects with the system's error. */
export async function listenTcp(place: TcpPlace, accepted: Accepted): Promise<Listener> {
  if (connectionsRefusal !== null) throw new Error(connectionsRefusal);
  const { port } = place;
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX) {
    throw new RangeError(`a port is a whole number up to ${PORT_MAX}`);
  }
  const listener = listenOn(place.host, place, accepted);
  if (listener !== null) return listener;
  const { address } = await process.getBuiltinModule("node:dns").promises.lookup(place.host);
  const found = listenOn(address, place, accepted);
  if (found === null) throw new Error(`${place.host} stands for no address`);
  return found;
}

/** Null where `address` is not one in numbers, which the system finds out. */
function listenOn(address: string, place: TcpPlace, accepted: Accepted): Listener | null {
  const { TCP, constants } = binding("tcp_wrap") as TcpBinding;
  const handle = new TCP(constants.SERVER);
  const { port } = place;
  const flags =
    (place.ipv6Only ? constants.UV_TCP_IPV6ONLY : 0) |
    (place.reusePort ? (constants.UV_TCP_REUSEPORT ?? 0) : 0);
  const isSix = address.includes(":");
  const status = isSix ? handle.bind6(address, port, flags) : handle.bind(address, port, flags);
  if (status !== 0 && getSystemErrorName(status) === "EINVAL") {
    handle.close();
    return null;
  }
  demand(handle, status);
  takeConnections(handle, accepted);
  demand(handle, handle.listen(place.backlog));
  const name: SocketName = {};
  demand(handle, handle.getsockname(name));
  const close = (): void => handle.close();
  return { handle, address: name.address ?? "", port: name.port ?? 0, close };
}

/** Takes the place of a socket that an earlier server has left. Rejects with the error. */
export async function listenUnix(place: UnixPlace, accepted: Accepted): Promise<Listener> {
  if (connectionsRefusal !== null) throw new Error(connectionsRefusal);
  const { path, backlog, permissions } = place;
  await makeWayForSocket(path);
  const handle = listenPath(path, backlog, accepted);
  if (permissions !== 0) chmodSync(path, permissions);
  return { handle, address: path, port: 0, close: () => handle.close() };
}

/** Throws the system's error. A name that starts with a zero byte is none of a file. */
export function listenPath(path: string, backlog: number, accepted: Accepted): ListeningHandle {
  const { Pipe, constants } = binding("pipe_wrap") as PipeBinding;
  const handle = new Pipe(constants.SERVER);
  demand(handle, handle.bind(path));
  takeConnections(handle, accepted);
  demand(handle, handle.listen(backlog));
  return handle;
}

/** Throws the error that `status` stands for, in the shape of Node's own. */
function demand(handle: ListeningHandle, status: number): void {
  if (status === 0) return;
  handle.close();
  const code = getSystemErrorName(status);
  throw Object.assign(new Error(code), { code, errno: status });
}

export function takeConnections(listener: ListeningHandle, accepted: Accepted): void {
  listener.onconnection = (status, handle) => {
    if (status === 0 && handle !== undefined) accepted(handle);
  };
}
