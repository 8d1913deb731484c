/**
 * Memory that clients take, and `maxmemory-clients`: when all of them take more, the largest are
 * disconnected, those of a class of sizes before those of the next smaller one, as in Redis 7.
 *
 * Each thread keeps a row of doubles in shared memory that only it writes: bytes of its clients,
 * and of those that may be evicted how many are in each class. So any thread sees which class is
 * the largest and on whose threads. One at a time evicts, and only clients of its own; when the
 * largest are another's, that thread is rung and goes on.
 */
import { CLIENT_MEMORY_MIN } from "../limits.ts";
import { type ClientRow, ROW_BYTES } from "./client-table.ts";

/** Bytes that a client takes at rest: its row, and what `npm run bench -- rest` finds beside it. */
export const CLIENT_BYTES: number = ROW_BYTES + 12 * 1024;

/** Classes go by powers of two: below 2^15 bytes, below 2^16, ..., from 2^32 on. */
const CLASS_BITS_MIN = 15;
const CLASS_BITS_MAX = 33;
const CLASSES: number = CLASS_BITS_MAX - CLASS_BITS_MIN + 1;

/** Doubles of a row, a multiple of a cache line. */
const ROW_DOUBLES = 32;
const BYTES_AT = 0;
const CLASS_AT = 1;
/** Int32 word behind the rows: thread that evicts, plus 1. */
const HEADER_DOUBLES = 16;

/** What this knows of a session. */
export type MemoryClient = {
  readonly isClosed: boolean;
  readonly noEvict: boolean;
  /** Bytes that are counted for it, and the class it is in, -1 none: kept for this file. */
  memoryBytes: number;
  memoryClass: number;
  /** It may be evicted: a normal client or a subscriber. */
  readonly isEvictable: boolean;
  evict(): void;
};

export type MemoryHost = {
  readonly thread: number;
  readonly threads: number;
  ring(thread: number): void;
  log(level: "warning", text: string): void;
};

/** Bytes that the client of a row takes. */
export function rowMemory(client: ClientRow): number {
  const { queryBytes, queryFreeBytes, outputBytes, argumentBytes } = client;
  return CLIENT_BYTES + queryBytes + queryFreeBytes + outputBytes + argumentBytes;
}

export function clientMemoryBytes(threads: number): number {
  return (HEADER_DOUBLES + threads * ROW_DOUBLES) * 8;
}

export class ClientMemory {
  /** `maxmemory-clients` is set. */
  isLimited = false;
  private limit = 0;
  private readonly host: MemoryHost;
  private readonly f64: Float64Array;
  private readonly i32: Int32Array;
  private readonly own: number;
  /**
   * Sessions of this thread that may be evicted, by class. Kept without a limit too: another thread
   * may hear of one first, and must know what is here.
   */
  private readonly classes: Set<MemoryClient>[] = Array.from({ length: CLASSES }, () => new Set());
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
    for (let t = 0; t < this.host.threads; t++) bytes += this.f64[rowAt(t) + BYTES_AT] as number;
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

  /** A session takes `bytes` beside what every one takes. */
  update(session: MemoryClient, bytes: number): void {
    const now = CLIENT_BYTES + bytes;
    if (now === session.memoryBytes) return;
    this.add(now - session.memoryBytes);
    session.memoryBytes = now;
    this.classify(session);
  }

  /** The session is over. */
  forget(session: MemoryClient): void {
    this.add(-session.memoryBytes);
    session.memoryBytes = 0;
    this.move(session, -1);
  }

  /** Puts a session into its class, or into none. */
  classify(session: MemoryClient): void {
    const may = session.isEvictable && !session.noEvict && !session.isClosed;
    this.move(session, may ? classOf(session.memoryBytes) : -1);
  }

  private add(bytes: number): void {
    const at = this.own + BYTES_AT;
    this.f64[at] = (this.f64[at] as number) + bytes;
  }

  private move(session: MemoryClient, to: number): void {
    const from = session.memoryClass;
    if (from === to) return;
    session.memoryClass = to;
    if (from >= 0) {
      this.classes[from]?.delete(session);
      this.countClass(from, -1);
    }
    if (to >= 0) {
      this.classes[to]?.add(session);
      this.countClass(to, 1);
    }
  }

  private countClass(size: number, by: number): void {
    const at = this.own + CLASS_AT + size;
    this.f64[at] = (this.f64[at] as number) + by;
  }

  /** Disconnects clients of this thread if all take too much and the largest are here. */
  evict(): void {
    if (!this.isLimited || this.total() < this.limit) {
      this.isHelpless = false;
      return;
    }
    const { thread } = this.host;
    // Whoever is at it rings this thread if it is wanted.
    if (Atomics.compareExchange(this.i32, 0, 0, thread + 1) !== 0) return;
    const next = this.evictOwn();
    Atomics.store(this.i32, 0, 0);
    if (next >= 0) this.host.ring(next);
  }

  /** Returns a thread that has the largest clients, -1 if nobody needs to go on. */
  private evictOwn(): number {
    while (this.total() >= this.limit) {
      const size = this.largestClass();
      if (size < 0) {
        if (!this.isHelpless) {
          this.host.log("warning", "Over client maxmemory after evicting all evictable clients");
        }
        this.isHelpless = true;
        return -1;
      }
      const [session] = this.classes[size] as Set<MemoryClient>;
      if (session === undefined) return this.threadOfClass(size);
      session.evict();
    }
    return -1;
  }

  private largestClass(): number {
    for (let size = CLASSES - 1; size >= 0; size--) if (this.threadOfClass(size) >= 0) return size;
    return -1;
  }

  /** A thread that has clients of a class, this one first; -1 if there is none. */
  private threadOfClass(size: number): number {
    const { thread, threads } = this.host;
    for (let n = 0; n < threads; n++) {
      const t = (thread + n) % threads;
      if ((this.f64[rowAt(t) + CLASS_AT + size] as number) > 0) return t;
    }
    return -1;
  }
}

function rowAt(thread: number): number {
  return HEADER_DOUBLES + thread * ROW_DOUBLES;
}

/** Class of so many bytes: by the bits of the number, as Redis has it. */
export function classOf(bytes: number): number {
  const bits = bytes >= 2 ** 32 ? CLASS_BITS_MAX : 32 - Math.clz32(bytes);
  return Math.min(Math.max(bits, CLASS_BITS_MIN), CLASS_BITS_MAX) - CLASS_BITS_MIN;
}
