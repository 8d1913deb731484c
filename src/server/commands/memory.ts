/**
 * MEMORY's subcommands about the process; those about a key are with the commands of keys. Figures
 * are those of INFO, see `server/info/memory.ts`.
 */

import type { Args } from "../../base/args.ts";
import type { Session } from "../../command/session.ts";
import type { CommandMeta, CommandSpec } from "../../command/spec.ts";
import { CHUNKS_MAX, SPAN_BYTES } from "../../limits.ts";
import {
  CHUNK_ROW_WORDS,
  CHUNK_ROWS_AT,
  CHUNK_SPANS,
  CHUNK_STATE,
  H_FREE_SPANS,
  H_SPANS_PEAK,
  H_SPANS_USED,
} from "../../memory/layout.ts";
import type { Reply } from "../../protocol/reply.ts";
import { memoryFigures } from "../info/memory.ts";
import { InfoView } from "../info/view.ts";
import { memoryReport } from "../memory-report.ts";

const SLOW = "Depends on how much memory is allocated, could be slow";

const META = { group: "server", since: "4.0.0", complexity: "O(1)", flags: [] } as const;

const TIPS: CommandMeta["tips"] = [
  "nondeterministic_output",
  "request_policy:all_shards",
  "response_policy:special",
];

const MEMORY_DOCTOR: CommandSpec = {
  ...META,
  name: "MEMORY DOCTOR",
  summary: "Outputs a memory problems report.",
  tips: TIPS,
  differs: "Advice is about our heap.",
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    reply.verbatim(memoryReport(memoryFigures(new InfoView(session))), "txt");
  },
};

/** Chunks that there are, and spans in them. */
function chunks(control: Int32Array): { count: number; spans: number } {
  let count = 0;
  let spans = 0;
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk++) {
    const row = CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS;
    if (control[row + CHUNK_STATE] === 0) continue;
    count++;
    spans += control[row + CHUNK_SPANS] as number;
  }
  return { count, spans };
}

const MEMORY_MALLOC_STATS: CommandSpec = {
  ...META,
  name: "MEMORY MALLOC-STATS",
  complexity: SLOW,
  summary: "Returns the allocator statistics.",
  tips: TIPS,
  differs: "The text is about our heap: chunks, spans and blocks.",
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const { server } = session;
    const { control } = server.store;
    const { count, spans } = chunks(control);
    const lines = [
      "___ Begin zerohop heap statistics ___",
      `Chunks: ${count}, spans in them: ${spans}, bytes of a span: ${SPAN_BYTES}`,
      `Spans in use: ${control[H_SPANS_USED]}, free: ${control[H_FREE_SPANS]}, ` +
        `most in use: ${control[H_SPANS_PEAK]}`,
      `Bytes in blocks: ${server.usedMemory()}, in spans in use: ` +
        `${(control[H_SPANS_USED] as number) * SPAN_BYTES}`,
      `JavaScript heap of all threads: ${server.stats.sum("js_heap_used")}`,
      "--- End zerohop heap statistics ---",
    ];
    reply.verbatim(`${lines.join("\n")}\n`, "txt");
  },
};

const MEMORY_PURGE: CommandSpec = {
  ...META,
  name: "MEMORY PURGE",
  complexity: SLOW,
  summary: "Asks the allocator to release memory.",
  tips: ["request_policy:all_shards", "response_policy:all_succeeded"],
  differs: "Gives empty pages back to all shards, and empty chunks to the system.",
  locks: "each",
  begin: () => null,
  part(db, shard) {
    db.store.heap.trim(shard);
    return "next";
  },
  finish: (_db, _state, _args, reply) => reply.ok(),
};

const MEMORY_STATS: CommandSpec = {
  ...META,
  name: "MEMORY STATS",
  summary: "Returns details about memory usage.",
  tips: TIPS,
  differs:
    "Tables of keys grow in pieces, so nothing is rehashed; expiries are in the records; the bytes " +
    "of tables are shared out by keys where several databases have some.",
  locks: "none",
  run(session: Session, _args: Args, reply: Reply): void {
    const view = new InfoView(session);
    const figures = memoryFigures(view);
    const databases = view.keyspace();
    const keys = databases.reduce((sum, database) => sum + database.keys, 0);
    const overhead = figures.used - figures.dataset;
    const percent = (part: number, whole: number): number =>
      whole === 0 ? 0 : Math.fround((part * 100) / whole);
    const quotient = (part: number, whole: number): number =>
      whole === 0 ? 0 : Math.fround(part / whole);
    const ofDatabases = databases.map(({ index, keys: own }): [string, Value] => [
      `db.${index}`,
      [
        ["overhead.hashtable.main", Math.round((overhead * own) / keys)],
        ["overhead.hashtable.expires", 0],
      ],
    ]);
    const { peak, used, dataset, allocated, active, touched, resident } = figures;
    writeMap(reply, [
      ["peak.allocated", peak],
      ["total.allocated", used],
      ["startup.allocated", 0],
      ["replication.backlog", 0],
      ["clients.slaves", 0],
      ["clients.normal", figures.clients],
      ["cluster.links", 0],
      ["aof.buffer", 0],
      ["lua.caches", 0],
      ["functions.caches", 0],
      ...ofDatabases,
      ["overhead.db.hashtable.lut", overhead],
      ["overhead.db.hashtable.rehashing", 0],
      ["overhead.total", overhead],
      ["db.dict.rehashing.count", 0],
      ["keys.count", keys],
      ["keys.bytes-per-key", keys === 0 ? 0 : Math.floor(used / keys)],
      ["dataset.bytes", dataset],
      ["dataset.percentage", { double: percent(dataset, used) }],
      ["peak.percentage", { double: percent(used, peak) }],
      ["allocator.allocated", allocated],
      ["allocator.active", active],
      ["allocator.resident", touched],
      ["allocator.muzzy", 0],
      ["allocator-fragmentation.ratio", { double: quotient(active, allocated) }],
      ["allocator-fragmentation.bytes", active - allocated],
      ["allocator-rss.ratio", { double: quotient(touched, active) }],
      ["allocator-rss.bytes", touched - active],
      ["rss-overhead.ratio", { double: quotient(resident, touched) }],
      ["rss-overhead.bytes", resident - touched],
      ["fragmentation", { double: quotient(resident, used) }],
      ["fragmentation.bytes", resident - used],
    ]);
  },
};

type Value = number | { double: number } | readonly (readonly [string, Value])[];

function writeMap(reply: Reply, pairs: readonly (readonly [string, Value])[]): void {
  reply.map(pairs.length);
  for (const [name, value] of pairs) {
    reply.text(name);
    if (typeof value === "number") reply.integer(value);
    else if ("double" in value) reply.double(value.double);
    else writeMap(reply, value);
  }
}

export const MEMORY_COMMANDS: readonly CommandSpec[] = [
  MEMORY_DOCTOR,
  MEMORY_MALLOC_STATS,
  MEMORY_PURGE,
  MEMORY_STATS,
];
