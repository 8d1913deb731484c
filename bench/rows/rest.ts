/**
 * Row `rest`: resident memory of a server that has nothing to do, and what a connection adds. Each
 * connection has sent one PING, so that whatever is made lazily for it is there.
 */
import { Control } from "../control.ts";
import { type Target, withTargets } from "../measure.ts";
import type { Options, Subject } from "../options.ts";
import { residentBytes } from "../process-stats.ts";
import { progress, type Row } from "../row.ts";
import { planServer } from "../server.ts";
import { figure } from "../stats.ts";
import { formatNumber, type Table } from "../table.ts";

const SETTLE_MS = 500;
const CONNECT_AT_ONCE = 50;

interface Rest {
  readonly restBytes: number;
  readonly perConnection: number;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function openMany(port: number, count: number): Promise<Control[]> {
  const open: Control[] = [];
  while (open.length < count) {
    const wave = Math.min(CONNECT_AT_ONCE, count - open.length);
    const fresh = await Promise.all(Array.from({ length: wave }, () => Control.connect(port)));
    open.push(...fresh);
    await Promise.all(fresh.map((control) => control.call("PING")));
  }
  return open;
}

function measureRest(options: Options, kind: Subject): Promise<Rest> {
  progress(`rest ${kind}, ${options.connections} connections`);
  const plan = planServer(options, kind, options.threads[0] as number, undefined);
  return withTargets([plan], async ([only]) => {
    const { server } = only as Target;
    await pause(SETTLE_MS);
    const restBytes = residentBytes(server.pid);
    const open = await openMany(server.port, options.connections);
    await pause(SETTLE_MS);
    const grown = residentBytes(server.pid) - restBytes;
    for (const control of open) control.close();
    return { restBytes, perConnection: figure("RSS growth", grown / options.connections) };
  });
}

export const rest: Row = {
  name: "rest",
  summary: "resident memory at rest and per connection",
  defaults: { connections: 1000 },
  async run(options): Promise<Table> {
    const rows: string[][] = [];
    for (const kind of [options.subject, "redis-server"] as const) {
      const found = await measureRest(options, kind);
      rows.push([
        kind,
        (found.restBytes / 2 ** 20).toFixed(1),
        formatNumber(found.perConnection / 1024),
      ]);
    }
    return {
      title: `rest: ${options.threads[0]} threads, ${options.connections} connections`,
      columns: ["server", "RSS at rest MiB", "KiB per connection"],
      rows,
      notes: [],
    };
  },
};
