/**
 * The section Memory. `used_memory` is what blocks of the heap take, at the size they were cut,
 * with tables, and is what `maxmemory` bounds; the roots of databases, of fixed size, are beside it.
 * The allocator's figures are spans of 64 KiB. JavaScript's own heaps are in the section Threads.
 */
import { humanBytes } from "../../base/memory-text.ts";
import { SPAN_BYTES, UNIT_BYTES } from "../../limits.ts";
import {
  H_FREE_SPANS,
  H_GARBAGE_COUNT,
  H_ROOT_UNITS,
  H_SPANS_PEAK,
  H_SPANS_USED,
} from "../../memory/layout.ts";
import { rowMemory } from "../client-memory.ts";
import { type Field, field, idle, ratio, type Section } from "./section.ts";
import type { InfoView } from "./view.ts";

type Bytes = (view: InfoView) => number;

function spans(view: InfoView, word: number): number {
  return (view.server.store.control[word] as number) * SPAN_BYTES;
}

const used: Bytes = (view) => view.memory().used;
const dataset: Bytes = (view) => view.memory().dataset;
const allocated: Bytes = (view) => view.memory().allocated;
const resident: Bytes = (view) => view.usage().residentBytes;
const active: Bytes = (view) => spans(view, H_SPANS_USED);
/** Spans that were ever handed out stay with the process until their chunk is dropped. */
const touched: Bytes = (view) =>
  Math.min(spans(view, H_SPANS_PEAK), active(view) + spans(view, H_FREE_SPANS));
const peak: Bytes = (view) => Math.max(used(view), spans(view, H_SPANS_PEAK));
const limit: Bytes = ({ server }) => server.config.maxmemory;
const system: Bytes = (view) => view.usage().systemMemoryBytes;

/** On an owner's port, of the clients that came by it. */
const clients: Bytes = ({ server, owner, isOwner }) => {
  if (!isOwner) return server.clientBytes();
  let bytes = 0;
  for (const client of server.clients.list()) {
    if (client.owner === owner) bytes += rowMemory(client);
  }
  return bytes;
};

export type MemoryBytes = {
  used: number;
  dataset: number;
  peak: number;
  allocated: number;
  active: number;
  touched: number;
  resident: number;
  clients: number;
  clientCount: number;
};

/** The figures of the section, for MEMORY STATS and MEMORY DOCTOR. */
export function memoryFigures(view: InfoView): MemoryBytes {
  return {
    used: used(view),
    dataset: dataset(view),
    peak: peak(view),
    allocated: allocated(view),
    active: active(view),
    touched: touched(view),
    resident: resident(view),
    clients: clients(view),
    clientCount: view.stat("connections_current"),
  };
}

/** The bytes, and the same for people. */
function both(name: string, about: string, bytes: Bytes): Field[] {
  return [
    field(name, about, bytes),
    field(`${name}_human`, `\`${name}\`, rounded.`, (view) => humanBytes(bytes(view))),
  ];
}

function percent(part: number, whole: number): string {
  return `${ratio(part * 100, whole)}%`;
}

function scriptFields(): Field[] {
  return idle("There are no scripts and functions.", {
    used_memory_lua: 0,
    used_memory_vm_eval: 0,
    used_memory_lua_human: "0B",
    used_memory_scripts_eval: 0,
    number_of_cached_scripts: 0,
    number_of_functions: 0,
    number_of_libraries: 0,
    used_memory_vm_functions: 0,
    used_memory_vm_total: 0,
    used_memory_vm_total_human: "0B",
    used_memory_functions: 0,
    used_memory_scripts: 0,
    used_memory_scripts_human: "0B",
  });
}

function compared(name: string, what: string, part: Bytes, whole: Bytes): Field[] {
  return [
    field(`${name}_ratio`, `${what}: the quotient.`, (view) => ratio(part(view), whole(view))),
    field(`${name}_bytes`, `${what}: the difference.`, (view) => part(view) - whole(view)),
  ];
}

export const MEMORY: Section = {
  title: "Memory",
  names: ["memory"],
  inDefault: true,
  about:
    "Memory; on an owner's port `used_memory` is that of its keys and an equal share of the rest.",
  entries: [
    ...both("used_memory", "Bytes in blocks of the heap, tables included, roots not.", used),
    ...both("used_memory_rss", "Resident memory of the process.", resident),
    ...both("used_memory_peak", "Most bytes that spans in use have had.", peak),
    field("used_memory_peak_perc", "`used_memory` of the peak.", (view) =>
      percent(used(view), peak(view)),
    ),
    field("used_memory_overhead", "`used_memory` without the dataset.", (view) =>
      Math.max(0, used(view) - dataset(view)),
    ),
    ...idle("Nothing is in the heap at the start.", { used_memory_startup: 0 }),
    field("used_memory_dataset", "Bytes in blocks of keys and values.", dataset),
    field("used_memory_dataset_perc", "The dataset's part of `used_memory`.", (view) =>
      percent(dataset(view), used(view)),
    ),
    field("allocator_allocated", "Bytes in blocks of the process.", allocated),
    field("allocator_active", "Bytes of the spans that blocks are in.", active),
    field("allocator_resident", "Bytes of the spans that were ever in use.", touched),
    ...idle("Spans are not given back singly.", { allocator_muzzy: 0 }),
    ...both("total_system_memory", "Memory of the machine.", system),
    ...scriptFields(),
    ...both("maxmemory", "The directive `maxmemory`.", limit),
    field(
      "maxmemory_policy",
      "The directive `maxmemory-policy`.",
      ({ server }) => server.config.maxmemoryPolicy,
    ),
    ...compared("allocator_frag", "Spans in use against blocks", active, allocated),
    ...compared("allocator_rss", "Spans ever in use against those in use", touched, active),
    ...compared("rss_overhead", "Resident memory against spans ever in use", resident, touched),
    ...compared("mem_fragmentation", "Resident memory against `used_memory`", resident, used),
    field(
      "mem_database_roots",
      "Bytes of the roots of databases with keys, which neither `used_memory` nor `maxmemory` counts.",
      ({ server }) => (Atomics.load(server.store.control, H_ROOT_UNITS) >>> 0) * UNIT_BYTES,
    ),
    ...idle("Nothing is logged or replicated, and all of `used_memory` counts.", {
      mem_not_counted_for_evict: 0,
      mem_replication_backlog: 0,
      mem_total_replication_buffers: 0,
      mem_clients_slaves: 0,
    }),
    field("mem_clients_normal", "Bytes that clients take, their buffers included.", clients),
    ...idle("Nothing of it exists.", {
      mem_cluster_links: 0,
      mem_aof_buffer: 0,
      mem_allocator: "zerohop",
      mem_overhead_db_hashtable_rehashing: 0,
      active_defrag_running: 0,
    }),
    field("lazyfree_pending_objects", "Keys of flushed databases that wait.", ({ server }) =>
      Atomics.load(server.store.control, H_GARBAGE_COUNT),
    ),
    field("lazyfreed_objects", "Keys of flushed databases that were freed.", ({ server }) =>
      server.stats.sum("lazyfreed_objects"),
    ),
  ],
};
