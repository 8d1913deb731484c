/**
 * A stand-in for a server under test, for the bench's own tests: a few commands over a Map, and
 * INFO figures that the test decides, so that a rise, a slow-down or a missing field can be made.
 */
import { createServer, type Socket } from "node:net";

export interface FakeFigures {
  /** What used_memory grows by for each key; undefined leaves the field out. */
  readonly bytesPerKey: number | undefined;
  /** Microseconds that each read of a socket wastes. */
  readonly wasteUs: number;
  /** js_heap_used; undefined leaves the field out. */
  readonly jsHeap: number | undefined;
}

interface State {
  readonly figures: FakeFigures;
  readonly data: Map<string, string>;
  readonly calls: Map<string, number>;
}

function infoText({ figures, data, calls }: State): string {
  const used = 1_000_000 + Math.round(data.size * (figures.bytesPerKey ?? 0));
  const lines = [`allocator_active:${used + data.size}`];
  if (figures.bytesPerKey !== undefined) lines.push(`used_memory:${used}`);
  if (figures.jsHeap !== undefined) lines.push(`js_heap_used:${figures.jsHeap}`);
  for (const [name, count] of calls) lines.push(`cmdstat_${name}:calls=${count},usec=1`);
  return lines.join("\r\n");
}

function bulk(text: string | undefined): string {
  return text === undefined ? "$-1\r\n" : `$${text.length}\r\n${text}\r\n`;
}

function answer(state: State, args: readonly string[]): string {
  const { data, calls } = state;
  const name = (args[0] ?? "").toLowerCase();
  calls.set(name, (calls.get(name) ?? 0) + 1);
  switch (name) {
    case "ping":
      return "+PONG\r\n";
    case "get":
      return bulk(data.get(args[1] ?? ""));
    case "set":
    case "mset":
      for (let i = 1; i + 1 < args.length; i += 2)
        data.set(args[i] as string, args[i + 1] as string);
      return "+OK\r\n";
    case "del":
      return data.delete(args[1] ?? "") ? ":1\r\n" : ":0\r\n";
    case "dbsize":
      return `:${data.size}\r\n`;
    case "config":
      return "+OK\r\n";
    case "info":
      return bulk(infoText(state));
    default:
      return `-ERR unknown command '${name}'\r\n`;
  }
}

/** One whole request at `start`, or undefined: enough for well-formed pipelines of short values. */
function parseRequest(text: string, start: number): { args: string[]; end: number } | undefined {
  let at = text.indexOf("\r\n", start);
  if (at < 0) return undefined;
  const args: string[] = [];
  const count = Number(text.slice(start + 1, at));
  at += 2;
  for (let i = 0; i < count; i++) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const from = lineEnd + 2;
    const length = Number(text.slice(at + 1, lineEnd));
    if (text.length < from + length + 2) return undefined;
    args.push(text.slice(from, from + length));
    at = from + length + 2;
  }
  return { args, end: at };
}

function serveSocket(state: State, socket: Socket): void {
  let pending = "";
  socket.setNoDelay(true).setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    const end = performance.now() + state.figures.wasteUs / 1000;
    while (performance.now() < end);
    pending += chunk;
    let position = 0;
    let replies = "";
    for (;;) {
      const request = parseRequest(pending, position);
      if (request === undefined) break;
      replies += answer(state, request.args);
      position = request.end;
    }
    pending = pending.slice(position);
    if (replies !== "") socket.write(replies, "latin1");
  });
}

/** Serves on the `--port` of the command line until SIGTERM. */
export function serveFake(figures: FakeFigures, args: readonly string[]): void {
  const port = Number(args[args.indexOf("--port") + 1]);
  const state: State = { figures, data: new Map(), calls: new Map() };
  const server = createServer((socket) => serveSocket(state, socket));
  server.listen(port, "127.0.0.1", () => {
    process.stdout.write(`* Ready to accept connections tcp=127.0.0.1:${port}\n`);
  });
  process.once("SIGTERM", () => process.exit(0));
}
