/**
 * A listener of the application's own process, for the embedded store. It holds the process, as any
 * server of Node's does.
 */
import { chmodSync } from "node:fs";
import { createServer, type ListenOptions } from "node:net";
import { onConnection } from "./handle-pipe.ts";
import type { AcceptedHandle } from "./socket-link.ts";
import { connectionsRefusal } from "./stream-binding.ts";
import { makeWayForSocket } from "./unix-path.ts";

export type Place = {
  /** TCP, unless `path` is given. */
  readonly port: number;
  readonly host: string;
  readonly backlog: number;
  readonly path: string;
  /** Permissions of the unix socket; 0 leaves the system's. */
  readonly permissions: number;
};

export type Listening = {
  /** As bound; 0 for a unix socket. */
  readonly port: number;
  readonly host: string;
  /** Takes no more connections; those there are go on. */
  close(): void;
};

/** Rejects with the system's error. */
export async function listenAt(
  place: Place,
  accepted: (handle: AcceptedHandle) => void,
): Promise<Listening> {
  const { path, port, host, backlog } = place;
  if (connectionsRefusal !== null) throw new Error(connectionsRefusal);
  // Exclusive: within a cluster of Node's processes, this one shares nothing with the others.
  const options: ListenOptions =
    path === "" ? { port, host, backlog, exclusive: true } : { path, backlog, exclusive: true };
  if (path !== "") await makeWayForSocket(path);
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(options, () => {
      server.removeListener("error", reject);
      onConnection(server, accepted);
      if (path !== "" && place.permissions !== 0) chmodSync(path, place.permissions);
      const address = server.address();
      const isTcp = typeof address === "object" && address !== null;
      resolve({
        port: isTcp ? address.port : 0,
        host: isTcp ? address.address : "",
        close: () => server.close(),
      });
    });
  });
}
