/**
 * Statistics: rows of doubles in shared memory, each written by one thread alone and summed by
 * whoever reads. Nothing is gathered and nothing is locked, so a sum may be a moment old.
 *
 * There is a row per thread and then a row per owner port: what is done for connections of an
 * owner's port is counted in its row, so that INFO there can tell it apart. An owner's port
 * belongs to one thread, so a row still has one writer.
 */

const NAMES = [
  "keyspace_hits",
  "keyspace_misses",
  "expired_keys",
  "evicted_keys",
  "eviction_exceeded_ms",
  "eviction_slice_max_usec",
  "eviction_slice_max_keys",
  "eviction_slice_max_visits",
  "eviction_slice_max_bytes",
  "memory_waits",
  "dirty",
  "commands_processed",
  "connections_received",
  /** As connections_received, but CONFIG RESETSTAT leaves it: the acceptor counts with it. */
  "connections_arrived",
  "connections_rejected",
  "connections_current",
  "net_input_bytes",
  "net_output_bytes",
  "reads_processed",
  "writes_processed",
  "error_replies",
  "lazyfreed_objects",
  "keyed_commands_local",
  "keyed_commands_forwarded",
  "lock_acquisitions",
  "lock_contended",
  "lock_wait_usec",
  "lock_hold_max_usec",
  "mailbox_messages",
  "parked_sessions",
  "blocked_clients",
  "clients_in_timeout_table",
  "evicted_clients",
  "output_limit_disconnections",
  "query_limit_disconnections",
  "recent_input_buffer_max",
  "recent_output_buffer_max",
  "js_heap_used",
  "expire_cycles",
  "expire_cycle_usec",
  "expired_time_cap_reached",
  "protocol_errors",
  "work_bytes_copied_max",
  "work_entries_moved_max",
  "work_elements_visited_max",
  "ops_per_sec",
  "input_bytes_per_sec",
  "output_bytes_per_sec",
  "eventloop_cycles",
  "eventloop_usec",
  "eventloop_cron_usec",
  "eventloop_usec_max",
  "eventloop_commands_max",
  "eventloop_cycles_per_sec",
  "eventloop_usec_per_sec",
] as const;

/** First words of error replies that are counted apart, in the order of INFO; OTHER is the rest. */
export const ERROR_CODES = [
  "ASK",
  "BUSY",
  "BUSYKEY",
  "CLUSTERDOWN",
  "CROSSSLOT",
  "ERR",
  "EXECABORT",
  "LOADING",
  "MASTERDOWN",
  "MOVED",
  "NOAUTH",
  "NOPROTO",
  "NOREPLICAS",
  "NOSCRIPT",
  "OOM",
  "OTHER",
  "READONLY",
  "TRYAGAIN",
  "UNBLOCKED",
  "WRONGPASS",
  "WRONGTYPE",
] as const;

type ErrorCode = (typeof ERROR_CODES)[number];

export type StatName = (typeof NAMES)[number] | `errorstat_${ErrorCode}`;

export function errorStat(code: ErrorCode): StatName {
  return `errorstat_${code}`;
}

export const STAT_NAMES: readonly StatName[] = [...NAMES, ...ERROR_CODES.map(errorStat)];

/** What is a state and not a count: CONFIG RESETSTAT leaves it alone. */
export const GAUGES: ReadonlySet<StatName> = new Set<StatName>([
  "connections_arrived",
  "connections_current",
  "blocked_clients",
  "clients_in_timeout_table",
  "recent_input_buffer_max",
  "recent_output_buffer_max",
  "js_heap_used",
  "ops_per_sec",
  "input_bytes_per_sec",
  "output_bytes_per_sec",
  "eventloop_cycles_per_sec",
  "eventloop_usec_per_sec",
]);

const INDEX = new Map<string, number>(STAT_NAMES.map((name, i) => [name, i]));
/** Doubles per row, a multiple of a cache line so that threads do not share one. */
const ROW = Math.ceil(STAT_NAMES.length / 16) * 16;

export function statsBytes(rows: number): number {
  return rows * ROW * 8;
}

export function statIndex(name: StatName): number {
  return INDEX.get(name) as number;
}

const ERROR_INDEX = new Map<string, number>(
  ERROR_CODES.map((code) => [code, statIndex(errorStat(code))]),
);

/** Index of the counter of errors that begin with this word. */
export function errorStatIndex(code: string): number {
  return ERROR_INDEX.get(code) ?? statIndex("errorstat_OTHER");
}

export class Stats {
  /** Rows of the whole table, and the one that this object writes. */
  readonly rows: number;
  readonly row: number;
  private readonly all: Float64Array;
  private readonly base: number;

  constructor(buffer: SharedArrayBuffer, rows: number, row: number) {
    this.all = new Float64Array(buffer);
    this.rows = rows;
    this.row = row;
    this.base = row * ROW;
  }

  add(index: number, amount: number): void {
    const at = this.base + index;
    this.all[at] = (this.all[at] as number) + amount;
  }

  set(index: number, value: number): void {
    this.all[this.base + index] = value;
  }

  max(index: number, value: number): void {
    if (value > (this.all[this.base + index] as number)) this.all[this.base + index] = value;
  }

  /** Sets a counter of any row to zero; its writer must be gone. */
  clear(row: number, index: number): void {
    this.all[row * ROW + index] = 0;
  }

  of(row: number, name: StatName): number {
    return this.all[row * ROW + statIndex(name)] as number;
  }

  sum(name: StatName): number {
    const { all, rows } = this;
    let sum = 0;
    for (let row = 0, at = statIndex(name); row < rows; row++, at += ROW) sum += all[at] as number;
    return sum;
  }

  most(name: StatName): number {
    const { all, rows } = this;
    let most = 0;
    for (let row = 0, at = statIndex(name); row < rows; row++, at += ROW) {
      most = Math.max(most, all[at] as number);
    }
    return most;
  }

  /** Sets a counter of every row to zero; an increment under way may survive. */
  reset(name: StatName): void {
    for (let row = 0; row < this.rows; row++) this.all[row * ROW + statIndex(name)] = 0;
  }
}
