/**
 * Row `memory`: bytes per key of `key:<i>` with a decimal, a 16-byte and a 256-byte value.
 *
 * The figure is (used_memory with the keys - used_memory without) / keys: for us blocks at class
 * size plus tables and roots (mem_database_roots), for redis-server what its allocator counts.
 * Beside it what the allocator took from the system (allocator_active) and resident memory. A fresh
 * server per model.
 */
import { infoNumber, settledInfo } from "../control.ts";
import { fillAndCheck } from "../fill.ts";
import { assertFits, type Target, withTargets } from "../measure.ts";
import type { Options, Subject } from "../options.ts";
import { residentBytes } from "../process-stats.ts";
import { progress, type Row } from "../row.ts";
import { planServer, type ServerPlan } from "../server.ts";
import { figure, MissingFigure } from "../stats.ts";
import { formatCount, type Table } from "../table.ts";
import { MODELS, type Model, modelFill, modelValue } from "../workload.ts";

export interface BytesPerKey {
  readonly used: number;
  readonly active: number;
  readonly resident: number;
}

async function look(target: Target): Promise<BytesPerKey> {
  const fields = await settledInfo(target.control, "used_memory");
  return {
    used: infoNumber(fields, "used_memory") + Number(fields.get("mem_database_roots") ?? 0),
    active: infoNumber(fields, "allocator_active"),
    resident: residentBytes(target.server.pid),
  };
}

/** Bytes per key of one model on a fresh server. */
export function measureBytesPerKey(
  plan: ServerPlan,
  model: Model,
  keys: number,
): Promise<BytesPerKey> {
  assertFits(keys, modelValue(model, 0).length, 1);
  return withTargets([plan], async ([only]) => {
    const target = only as Target;
    const before = await look(target);
    await fillAndCheck(target.control, target.server.port, modelFill(model), keys);
    const after = await look(target);
    const perKey = (field: keyof BytesPerKey): number =>
      figure(`${model} ${field}`, (after[field] - before[field]) / keys);
    const result = { used: perKey("used"), active: perKey("active"), resident: perKey("resident") };
    if (result.used <= 0) throw new MissingFigure(`${model}: used_memory did not grow`);
    return result;
  });
}

function bytes(value: number): string {
  return value.toFixed(1);
}

async function measureRow(options: Options, model: Model, keys: number): Promise<string[]> {
  const measure = (kind: Subject): Promise<BytesPerKey> => {
    progress(`memory ${model}, ${keys} keys, ${kind}`);
    return measureBytesPerKey(planServer(options, kind, threads, undefined), model, keys);
  };
  const threads = options.threads[0] as number;
  const subject = await measure(options.subject);
  const peer = await measure("redis-server");
  return [
    model,
    formatCount(keys),
    bytes(subject.used),
    bytes(peer.used),
    `${(subject.used / peer.used).toFixed(2)}x`,
    bytes(subject.active),
    bytes(peer.active),
    bytes(subject.resident),
    bytes(peer.resident),
  ];
}

export const memory: Row = {
  name: "memory",
  summary: "bytes per key: decimal, 16-byte and 256-byte values",
  defaults: { keys: [100_000, 1_000_000] },
  async run(options): Promise<Table> {
    const rows: string[][] = [];
    for (const keys of options.keys) {
      for (const model of MODELS) rows.push(await measureRow(options, model, keys));
    }
    return {
      title: `memory: ${options.subject} beside redis-server, bytes per key`,
      columns: [
        "model",
        "keys",
        "used",
        "redis used",
        "ratio",
        "active",
        "redis active",
        "rss",
        "redis rss",
      ],
      rows,
      notes: [
        "Keys key:<i>; int: decimal i, embstr: 16 bytes, raw: 256 bytes. (with - without) / keys.",
        "used: used_memory. active: allocator_active. rss: the process's resident memory.",
      ],
    };
  },
};
