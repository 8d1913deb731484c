/**
 * A stand-in for the cluster node that redis-benchmark --cluster asks for its map: so many nodes
 * with equal slot ranges, all of them behind one port. So the plain port gets the very keys that
 * owner ports get. Without --cluster its keys have no slot tags, while with it all requests of a
 * pipeline have the same one and so share a table and a lock: one thread alone, where nothing is
 * shared with another core, then takes two thirds of the time per command.
 *
 * The map is the text of CLUSTER NODES (one line a node, none of them "myself", whose address
 * redis-benchmark would take from its own arguments).
 */
import { createServer, type Server, type Socket } from "node:net";

export const SLOTS = 16384;
const ID_LENGTH = 40;

/** The first and the last slot of node `i` of so many with equal ranges. */
export function slotRange(i: number, nodes: number): { from: number; to: number } {
  const startOf = (n: number): number => Math.ceil((n * SLOTS) / nodes);
  return { from: startOf(i), to: startOf(i + 1) - 1 };
}

export function nodeMap(port: number, nodes: number): string {
  return Array.from({ length: nodes }, (_, i) => {
    const { from, to } = slotRange(i, nodes);
    const id = (i + 1).toString(16).padStart(ID_LENGTH, "0");
    return `${id} 127.0.0.1:${port}@${port} master - 0 0 ${i + 1} connected ${from}-${to}\n`;
  }).join("");
}

/** Runs `use` with the port of a stand-in whose nodes are all behind `port`. */
export async function withNodeMap<T>(
  port: number,
  nodes: number,
  use: (mapPort: number) => Promise<T>,
): Promise<T> {
  const text = nodeMap(port, nodes);
  const reply = `$${text.length}\r\n${text}\r\n`;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", (request) => {
      const isAsked = /^\*2\r\n\$7\r\ncluster\r\n\$5\r\nnodes\r\n$/i.test(
        request.toString("latin1"),
      );
      socket.write(isAsked ? reply : "-ERR only CLUSTER NODES is known here\r\n");
    });
  });
  try {
    return await use(await listening(server));
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("no port"));
      else resolve(address.port);
    });
  });
}
