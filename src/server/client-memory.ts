/**
 * Memory that clients take, and `maxmemory-clients`: when all of them take more, the largest are
 * disconnected, those of a class of sizes before those of the next smaller one, as in Redis 7.
 *
 * Each thread keeps a sum in shared memory that only it writes, so that any thread sees at once
 * whether there is too much. One that does looks at the rows of all clients, of whatever thread,
 * and condemns as many as need to go. They are gone for everybody at that moment; their own threads
 * are rung and close them.
 */
import { CLIENT_MEMORY_MIN } from "../limits.ts";
import { type ClientRow, type ClientSize, type ClientTable, ROW_BYTES } from "./client-table.ts";

/** Bytes that a client takes at rest: its row, and what `npm run bench -- rest` finds beside it. */
export const CLIENT_BYTES: number = ROW_BYTES + 12 * 1024;

/** Classes go by powers of two: below 2^15 bytes, below 2^16, ..., from 2^32 on. */
const CLASS_BITS_MIN = 15;
const CLASS_BITS_MAX = 33;

/** Doubles of a thread's row: a cache line, of which two are used. */
const ROW_DOUBLES = 16;
/** Of all that clients take, bytes of unfinished requests that have no block of the heap. */
const REQUESTS = 1;

/** What this knows of a session. */
export type MemoryClient = {
  /** Bytes that are counted for it, and those of its requests; kept for this file. */
  memoryBytes: number;
  requestBytes: number;
};

export type MemoryHost = {
  readonly thread: number;
  readonly threads: number;
  readonly clients: ClientTable;
  /** Makes a thread close what was condemned of its clients. */
  closeCondemned(thread: number): void;
  log(level: "warning", text: string): void;
};

/** Bytes that the client of a row takes. */
export function rowMemory(client: ClientRow): number {
  const { queryBytes, queryFreeBytes, outputBytes, argumentBytes } = client;
  return CLIENT_BYTES + queryBytes + queryFreeBytes + outputBytes + argumentBytes;
}

export function clientMemoryBytes(threads: number): number {
  return (1 + threads) * ROW_DOUBLES * 8;
}

export class ClientMemory {
  /** `maxmemory-clients` is set. */
  isLimited = false;
  private limit = 0;
  private readonly host: MemoryHost;
  private readonly f64: Float64Array;
  /** Word 0: thread that evicts, plus 1. */
  private readonly i32: Int32Array;
  private readonly own: number;
  /** The limit cannot be held, which has been logged. */
  private isHelpless = false;

  constructor(buffer: SharedArrayBuffer, host: MemoryHost) {
    this.host = host;
    this.f64 = new Float64Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.own = rowAt(host.thread);
  }

  /** Bytes of the clients of all threads. */
  total(): number {
    let bytes = 0;
    for (let t = 0; t < this.host.threads; t++) bytes += this.f64[rowAt(t)] as number;
    return bytes;
  }

  /** Of those, bytes of unfinished requests, beside what the heap holds of them. */
  requests(): number {
    let bytes = 0;
    for (let t = 0; t < this.host.threads; t++) bytes += this.f64[rowAt(t) + REQUESTS] as number;
    return bytes;
  }

  /** 0: no limit. What is too small to talk to the server is raised. */
  setLimit(bytes: number): void {
    const limit = bytes === 0 ? 0 : Math.max(bytes, CLIENT_MEMORY_MIN);
    if (limit === this.limit) return;
    this.limit = limit;
    this.isLimited = limit > 0;
    this.isHelpless = false;
  }

  /**
   * A session takes `bytes` beside what every one takes, of them `requests` for an unfinished one.
   */
  update(session: MemoryClient, bytes: number, requests: number): void {
    const now = CLIENT_BYTES + bytes;
    if (requests !== session.requestBytes) this.updateRequests(session, requests);
    if (now === session.memoryBytes) return;
    this.f64[this.own] = (this.f64[this.own] as number) + now - session.memoryBytes;
    session.memoryBytes = now;
  }

  private updateRequests(session: MemoryClient, bytes: number): void {
    const at = this.own + REQUESTS;
    this.f64[at] = (this.f64[at] as number) + bytes - session.requestBytes;
    session.requestBytes = bytes;
  }

  /** The session is over. */
  forget(session: MemoryClient): void {
    this.updateRequests(session, 0);
    this.f64[this.own] = (this.f64[this.own] as number) - session.memoryBytes;
    session.memoryBytes = 0;
  }

  /** Condemns the largest clients if all take too much. */
  evict(): void {
    if (!this.isLimited || this.total() < this.limit) {
      this.isHelpless = false;
      return;
    }
    // One at a time, or both would see to the same excess.
    if (Atomics.compareExchange(this.i32, 0, 0, this.host.thread + 1) !== 0) return;
    const threads = this.condemn();
    Atomics.store(this.i32, 0, 0);
    for (const thread of threads) this.host.closeCondemned(thread);
  }

  /** Returns the threads whose clients have to go. */
  private condemn(): Set<number> {
    const threads = new Set<number>();
    const sizes = this.host.clients.sizes();
    let total = 0;
    for (const { bytes } of sizes) total += CLIENT_BYTES + bytes;
    if (total < this.limit) return threads;
    for (const size of largestFirst(sizes)) {
      if (this.host.clients.evict(size)) threads.add(size.thread);
      total -= CLIENT_BYTES + size.bytes;
      if (total < this.limit) return threads;
    }
    if (!this.isHelpless) {
      this.host.log("warning", "Over client maxmemory after evicting all evictable clients");
    }
    this.isHelpless = true;
    return threads;
  }
}

function rowAt(thread: number): number {
  return (1 + thread) * ROW_DOUBLES;
}

/** The clients that may be evicted, by class. */
function largestFirst(sizes: readonly ClientSize[]): ClientSize[] {
  return sizes
    .filter(({ isEvictable }) => isEvictable)
    .sort((a, b) => classOf(CLIENT_BYTES + b.bytes) - classOf(CLIENT_BYTES + a.bytes));
}

/** Class of so many bytes: by the bits of the number, as Redis has it. */
export function classOf(bytes: number): number {
  const bits = bytes >= 2 ** 32 ? CLASS_BITS_MAX : 32 - Math.clz32(bytes);
  return Math.min(Math.max(bits, CLASS_BITS_MIN), CLASS_BITS_MAX) - CLASS_BITS_MIN;
}
