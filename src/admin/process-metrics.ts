/** Metrics of the process, its settings and its memory. */
import { openFilesMax } from "../env/process-limits.ts";
import { SPAN_BYTES } from "../limits.ts";
import {
  H_FREE_SPANS,
  H_GARBAGE_COUNT,
  H_SPANS_LIMIT,
  H_SPANS_PEAK,
  H_SPANS_USED,
} from "../memory/layout.ts";
import { type Metric, many, single } from "./metric.ts";

export const PROCESS_ROWS: readonly Metric[] = [
  single(
    "counter",
    "process_cpu_user_seconds_total",
    "Processor seconds in the program, all threads.",
    ({ usage }) => usage.userSeconds,
  ),
  single(
    "counter",
    "process_cpu_system_seconds_total",
    "Processor seconds in the system.",
    ({ usage }) => usage.systemSeconds,
  ),
  single(
    "counter",
    "process_cpu_seconds_total",
    "Processor seconds, both kinds.",
    ({ usage }) => usage.userSeconds + usage.systemSeconds,
  ),
  single(
    "gauge",
    "process_resident_memory_bytes",
    "Resident memory of the process.",
    ({ usage }) => usage.residentBytes,
  ),
  single(
    "gauge",
    "process_start_time_seconds",
    "Unix time of the start.",
    ({ source }) => source.startedMs / 1000,
  ),
  single(
    "gauge",
    "process_open_fds",
    "Open files and sockets; 0 where that is not known.",
    ({ openFiles }) => openFiles,
  ),
  single("gauge", "process_max_fds", "Most files and sockets that may be open.", () =>
    openFilesMax(),
  ),
  many(
    "gauge",
    "zerohop_build_info",
    "1, with the versions as labels.",
    ["version", "redis_version", "node_version"],
    ({ source }, emit) => emit({ ...source.versions }, 1),
  ),
  single("gauge", "zerohop_uptime_in_seconds", "Seconds since the start.", ({ source }) =>
    Math.floor((source.clock.unixMs - source.startedMs) / 1000),
  ),
  single("gauge", "zerohop_threads", "Threads that run commands.", ({ source }) => {
    return source.shared.threads;
  }),
  single("gauge", "zerohop_shards", "Locks over ranges of slots.", ({ shards }) => shards.length),
  single("gauge", "zerohop_shard_owners", "Owners' ports.", ({ owners }) => owners.length),
  single("gauge", "zerohop_max_clients", "The directive maxclients.", ({ source }) => {
    return source.config.maxclients;
  }),
];

export const MEMORY_ROWS: readonly Metric[] = [
  single(
    "gauge",
    "zerohop_memory_used_bytes",
    "Bytes in blocks of the heap, tables and roots included: what maxmemory is compared with.",
    (figures) => figures.usedBytes(),
  ),
  single(
    "gauge",
    "zerohop_memory_used_dataset_bytes",
    "Bytes in blocks of keys and values.",
    ({ datasetBytes }) => datasetBytes,
  ),
  single(
    "gauge",
    "zerohop_memory_used_overhead_bytes",
    "Used bytes without the dataset.",
    (figures) => Math.max(0, figures.usedBytes() - figures.datasetBytes),
  ),
  single("gauge", "zerohop_memory_used_peak_bytes", "Most bytes of spans in use at once.", (f) =>
    Math.max(f.usedBytes(), f.spanBytes(H_SPANS_PEAK)),
  ),
  single("gauge", "zerohop_memory_max_bytes", "The directive maxmemory; 0 is no limit.", (f) => {
    return f.source.config.maxmemory;
  }),
  single(
    "gauge",
    "zerohop_memory_limit_bytes",
    "Most bytes of spans, from the control group's limit; 0 is no limit.",
    ({ control }) => (control[H_SPANS_LIMIT] as number) * SPAN_BYTES,
  ),
  single("gauge", "zerohop_total_system_memory_bytes", "Memory of the machine.", ({ usage }) => {
    return usage.systemMemoryBytes;
  }),
  single("gauge", "zerohop_arena_bytes_used", "Bytes in blocks of the heap.", (figures) =>
    figures.usedBytes(),
  ),
  single(
    "gauge",
    "zerohop_arena_bytes_active",
    "Bytes of the spans that blocks are in.",
    (figures) => figures.spanBytes(H_SPANS_USED),
  ),
  single("gauge", "zerohop_arena_bytes_reserved", "Bytes of the heap's chunks.", (figures) =>
    figures.spanBytes(H_SPANS_USED, H_FREE_SPANS),
  ),
  single("gauge", "zerohop_memory_chunks", "Chunks of the heap.", (figures) => figures.chunks()),
  single(
    "gauge",
    "zerohop_lazyfree_pending_objects",
    "Keys of flushed databases that wait to be freed.",
    ({ control }) => Atomics.load(control, H_GARBAGE_COUNT),
  ),
];
