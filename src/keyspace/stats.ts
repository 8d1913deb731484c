/**
 * Statistics: one row of doubles per thread in shared memory, written by that thread alone and
 * summed by whoever reads. Nothing is gathered and nothing is locked, so a sum may be a moment old.
 */

export const STAT_NAMES = [
  "keyspace_hits",
  "keyspace_misses",
  "expired_keys",
  "evicted_keys",
  "dirty",
  "commands_processed",
  "connections_received",
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
  "output_limit_disconnections",
  "query_limit_disconnections",
  "client_query_buffer_bytes",
  "client_output_buffer_bytes",
  "js_heap_used",
  "expire_cycles",
  "expired_time_cap_reached",
  "protocol_errors",
  "work_bytes_copied_max",
  "work_entries_moved_max",
  "work_elements_visited_max",
] as const;

export type StatName = (typeof STAT_NAMES)[number];

const INDEX = new Map<string, number>(STAT_NAMES.map((name, i) => [name, i]));
/** Doubles per row, a multiple of a cache line so that threads do not share one. */
const ROW = Math.ceil(STAT_NAMES.length / 16) * 16;

export function statsBytes(threads: number): number {
  return threads * ROW * 8;
}

export function statIndex(name: StatName): number {
  return INDEX.get(name) as number;
}

export class Stats {
  private readonly all: Float64Array;
  private readonly threads: number;
  private readonly base: number;

  constructor(buffer: SharedArrayBuffer, threads: number, thread: number) {
    this.all = new Float64Array(buffer);
    this.threads = threads;
    this.base = thread * ROW;
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

  own(name: StatName): number {
    return this.all[this.base + statIndex(name)] as number;
  }

  of(thread: number, name: StatName): number {
    return this.all[thread * ROW + statIndex(name)] as number;
  }

  sum(name: StatName): number {
    let sum = 0;
    for (let t = 0; t < this.threads; t++) sum += this.of(t, name);
    return sum;
  }

  most(name: StatName): number {
    let most = 0;
    for (let t = 0; t < this.threads; t++) most = Math.max(most, this.of(t, name));
    return most;
  }

  /** Sets a counter of every thread to zero; an increment under way may survive. */
  reset(name: StatName): void {
    for (let t = 0; t < this.threads; t++) this.all[t * ROW + statIndex(name)] = 0;
  }
}
