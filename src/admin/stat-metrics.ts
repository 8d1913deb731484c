/**
 * Metrics of the counters in shared memory: one sample for each thread and, with shard owners, for
 * each owner's port. A thread's sample without an owner is what came by the plain port or the unix
 * socket, so that the sum over all samples is what INFO shows there.
 */
import { ERROR_CODES, errorStat, type StatName } from "../keyspace/stats.ts";
import type { Figures } from "./figures.ts";
import { type Emit, type Labels, type Metric, many } from "./metric.ts";

type Counted = Exclude<StatName, `errorstat_${string}`>;

type StatMetric = readonly [type: Metric["type"], name: string, help: string];

/** Every counter, and what it is called outside; null where it is shown in another way or not. */
const STAT_METRICS: Readonly<Record<Counted, StatMetric | null>> = {
  connections_received: [
    "counter",
    "accepted_connections_total",
    "Connections accepted, by thread: what shows that threads share them.",
  ],
  connections_rejected: ["counter", "rejected_connections_total", "Refused because of maxclients."],
  connections_current: ["gauge", "connected_clients", "Clients connected now."],
  blocked_clients: [
    "gauge",
    "blocked_clients",
    "Clients whose command waits: for the end of CLIENT PAUSE, or WAIT.",
  ],
  clients_in_timeout_table: [
    "gauge",
    "clients_in_timeout_table",
    "Blocked clients whose command waits for a certain time only.",
  ],
  evicted_clients: ["counter", "evicted_clients_total", "Clients closed by maxmemory-clients."],
  commands_processed: ["counter", "commands_processed_total", "Commands run."],
  keyspace_hits: ["counter", "keyspace_hits_total", "Reads that found their key."],
  keyspace_misses: ["counter", "keyspace_misses_total", "Reads that did not."],
  expired_keys: ["counter", "expired_keys_total", "Keys removed because their time had passed."],
  evicted_keys: ["counter", "evicted_keys_total", "Keys evicted because of maxmemory."],
  eviction_exceeded_ms: [
    "counter",
    "eviction_exceeded_milliseconds_total",
    "Milliseconds for which more than maxmemory was in use, once they are over.",
  ],
  eviction_slice_max_usec: [
    "gauge",
    "eviction_slice_max_usec",
    "Longest microseconds of eviction at a stretch; CONFIG RESETSTAT clears it.",
  ],
  eviction_slice_max_keys: [
    "gauge",
    "eviction_slice_max_keys",
    "Most keys evicted at a stretch; CONFIG RESETSTAT clears it.",
  ],
  eviction_slice_max_visits: [
    "gauge",
    "eviction_slice_max_visits",
    "Most slots, segments and records looked at in a stretch of eviction; CONFIG RESETSTAT clears it.",
  ],
  eviction_slice_max_bytes: [
    "gauge",
    "eviction_slice_max_bytes",
    "Most bytes of keys evicted at a stretch; CONFIG RESETSTAT clears it.",
  ],
  memory_waits: [
    "counter",
    "memory_waits_total",
    "Times that a session was set aside until keys were evicted.",
  ],
  error_replies: ["counter", "error_replies_total", "Error replies."],
  protocol_errors: [
    "counter",
    "protocol_errors_total",
    "Connections closed because they did not speak the protocol.",
  ],
  net_input_bytes: ["counter", "net_input_bytes_total", "Bytes read from clients."],
  net_output_bytes: ["counter", "net_output_bytes_total", "Bytes written to clients."],
  reads_processed: ["counter", "reads_processed_total", "Reads from connections."],
  writes_processed: ["counter", "writes_processed_total", "Writes to connections."],
  output_limit_disconnections: [
    "counter",
    "client_output_buffer_limit_disconnections_total",
    "Clients closed by client-output-buffer-limit.",
  ],
  query_limit_disconnections: [
    "counter",
    "client_query_buffer_limit_disconnections_total",
    "Clients closed by client-query-buffer-limit.",
  ],
  keyed_commands_local: [
    "counter",
    "keyed_commands_local_total",
    "Commands with keys run by the thread that received them.",
  ],
  keyed_commands_forwarded: [
    "counter",
    "keyed_commands_forwarded_total",
    "Commands handed to another thread: 0 for ever.",
  ],
  lock_acquisitions: ["counter", "lock_acquisitions_total", "Locks of shards taken."],
  lock_contended: ["counter", "lock_contended_total", "Of those, not had at once."],
  lock_wait_usec: ["counter", "lock_wait_usec_total", "Microseconds of waiting for locks."],
  lock_hold_max_usec: [
    "gauge",
    "lock_hold_max_usec",
    "Longest microseconds that locks were held, not by eviction; CONFIG RESETSTAT clears it.",
  ],
  parked_sessions: [
    "counter",
    "parked_sessions_total",
    "Times that a session was set aside because of a lock or of memory.",
  ],
  mailbox_messages: ["counter", "mailbox_messages_total", "Messages between threads."],
  lazyfreed_objects: [
    "counter",
    "lazyfreed_objects_total",
    "Keys of flushed databases that were freed.",
  ],
  expired_time_cap_reached: [
    "counter",
    "expired_time_cap_reached_total",
    "Times that expiry was put off.",
  ],
  work_entries_moved_max: [
    "gauge",
    "work_entries_moved_max",
    "Most table entries moved by one change; CONFIG RESETSTAT clears it.",
  ],
  dirty: [
    "gauge",
    "rdb_changes_since_last_save",
    "Changes of keys since the start, as there is no snapshot.",
  ],
  js_heap_used: [
    "gauge",
    "js_heap_used",
    "Bytes of the thread's JavaScript heap, a second old at most.",
  ],
  eventloop_cycles: ["counter", "eventloop_cycles_total", "Turns of the thread's event loop."],
  eventloop_usec: [
    "counter",
    "eventloop_usec_total",
    "Microseconds in which the thread's event loop did not wait.",
  ],
  expire_cycle_usec: [
    "counter",
    "expire_cycle_usec_total",
    "Microseconds of finding keys whose time had passed.",
  ],
  // The acceptor's own copy of connections_received.
  connections_arrived: null,
  // Prometheus has rates of the totals.
  ops_per_sec: null,
  input_bytes_per_sec: null,
  output_bytes_per_sec: null,
  eventloop_cycles_per_sec: null,
  eventloop_usec_per_sec: null,
  // For INFO debug.
  eventloop_cron_usec: null,
  eventloop_usec_max: null,
  eventloop_commands_max: null,
  recent_input_buffer_max: null,
  recent_output_buffer_max: null,
  // Not counted.
  expire_cycles: null,
  work_bytes_copied_max: null,
  work_elements_visited_max: null,
};

/** Belong to the thread as a whole: the rows of its owners' ports have none. */
const OF_THREADS: ReadonlySet<Counted> = new Set<Counted>([
  "js_heap_used",
  "eventloop_cycles",
  "eventloop_usec",
  "expire_cycle_usec",
]);

function rowMetric(stat: Counted, [type, name, help]: StatMetric): Metric {
  const ofThreads = OF_THREADS.has(stat);
  const labels = ofThreads ? ["thread"] : ["thread", "owner"];
  return many(type, `zerohop_${name}`, help, labels, (figures, emit) => {
    for (const { row, thread, owner } of figures.rows) {
      if (owner >= 0 && ofThreads) continue;
      const own: Labels = owner < 0 ? { thread } : { thread, owner };
      emit(own, figures.stat(row, stat));
    }
  });
}

function readErrors(figures: Figures, emit: Emit): void {
  for (const code of ERROR_CODES) emit({ err: code }, figures.sum(errorStat(code)));
}

function rowMetrics(): Metric[] {
  const metrics: Metric[] = [];
  for (const [stat, metric] of Object.entries(STAT_METRICS)) {
    if (metric !== null) metrics.push(rowMetric(stat as Counted, metric));
  }
  return metrics;
}

export const STAT_ROWS: readonly Metric[] = [
  ...rowMetrics(),
  many(
    "counter",
    "zerohop_errors_total",
    "Error replies by their first word; OTHER are all that are rare.",
    ["err"],
    readErrors,
  ),
];
