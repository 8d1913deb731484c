/**
 * Row `work`: what our own counters say was done under one lock while a large keyspace comes and
 * goes. The bound that counts is in units of work (bytes copied, entries moved, elements visited),
 * since wall-clock maxima measure the scheduler. redis-server has no such counters and stands
 * beside for the rates only.
 */
import { type Info, info } from "../control.ts";
import { fill, fillAndCheck } from "../fill.ts";
import { assertFits, type Target, withTargets } from "../measure.ts";
import type { Options, Subject } from "../options.ts";
import { progress, type Row } from "../row.ts";
import { planServer } from "../server.ts";
import { MissingFigure } from "../stats.ts";
import { formatCount, formatNumber, type Table } from "../table.ts";
import { modelDelete, modelFill } from "../workload.ts";

const COUNTERS = /^(lock_hold_max_usec|work_\w+)$/;

/** The work counters of INFO's Threads section, by name, as printed. */
export function workCounters(fields: Info): string {
  const found = [...fields].filter(([name]) => COUNTERS.test(name));
  if (found.length === 0) return "not reported";
  return found.map(([name, value]) => `${name} ${value}`).join(", ");
}

async function timed(action: () => Promise<void>, count: number): Promise<string> {
  const began = performance.now();
  await action();
  return formatNumber(count / (performance.now() - began));
}

/** One line for the way in and one for the way out; the counters are cleared before each. */
function measureWork(options: Options, kind: Subject, keys: number): Promise<string[][]> {
  const plan = planServer(options, kind, options.threads[0] as number, undefined);
  return withTargets([plan], async ([only]) => {
    const { server, control } = only as Target;
    const rows: string[][] = [];
    const phase = async (name: string, action: () => Promise<void>): Promise<void> => {
      progress(`work ${kind}: ${keys} keys ${name}`);
      await control.call("CONFIG", "RESETSTAT");
      const rate = await timed(action, keys);
      rows.push([
        kind,
        formatCount(keys),
        name,
        rate,
        workCounters(await info(control, "threads")),
      ]);
    };
    await phase("in", () => fillAndCheck(control, server.port, modelFill("embstr"), keys));
    await phase("out", async () => {
      await fill(server.port, modelDelete(), 0, keys);
      const left = await control.call("DBSIZE");
      if (left !== 0) throw new MissingFigure(`${left} keys are left after deleting all`);
    });
    return rows;
  });
}

export const work: Row = {
  name: "work",
  summary: "work counters while keys go in and out",
  defaults: { keys: [10_000_000] },
  async run(options): Promise<Table> {
    const rows: string[][] = [];
    for (const keys of options.keys) {
      assertFits(keys, 16, 1);
      for (const kind of [options.subject, "redis-server"] as const) {
        rows.push(...(await measureWork(options, kind, keys)));
      }
    }
    return {
      title: `work: ${options.subject} beside redis-server, keys in and out over one connection`,
      columns: ["server", "keys", "way", "k/s", "counters"],
      rows,
      notes: ["Bounds: 64 KiB copied, 512 entries moved, 4,096 elements visited under one lock."],
    };
  },
};
