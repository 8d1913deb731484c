/**
 * The pool of spans of all chunks, shared by all shards: a bitmap of free spans per chunk.
 *
 * Single spans are taken from the lowest free place and runs from the highest, so that chunks at
 * the end empty first. An empty chunk is dropped (all threads let go of its buffer, which returns
 * the memory to the system) when the others have enough left.
 *
 * Its lock is the last in the order: whoever holds it takes no other. Making or dropping a chunk
 * happens under it; the other threads learn of it by `host.publish` before the version is raised,
 * and take it in `sync` before they follow any pointer into it.
 */
import { assert } from "../base/assert.ts";
import { CHUNK_BYTES_MAX, CHUNK_BYTES_MIN, CHUNKS_MAX, SPAN_BYTES } from "../limits.ts";
import {
  BITMAP_WORDS,
  BITMAPS_AT,
  CHUNK_FIRST_SPAN,
  CHUNK_FREE,
  CHUNK_ROW_WORDS,
  CHUNK_ROWS_AT,
  CHUNK_SERIAL,
  CHUNK_SHIFT,
  CHUNK_SPANS,
  CHUNK_STATE,
  H_CHUNK_BYTES,
  H_CHUNK_VERSION,
  H_FREE_SPANS,
  H_LARGE_UNITS,
  H_POOL_LOCK,
  H_SPANS_LIMIT,
  H_SPANS_PEAK,
  H_SPANS_USED,
  KIND_FREE,
  KIND_LARGE,
  P_KIND,
  P_USED,
  PAGE_BYTES,
  PAGE_ROW_WORDS,
  PAGE_UNIT_SHIFT,
  pageRow,
  SPAN_UNIT_SHIFT,
  UNIT_MASK,
} from "./layout.ts";
import { acquire, type LockCounters, release, type Waiting } from "./lock.ts";

/** Free spans that must remain elsewhere before an empty chunk is dropped. */
const KEEP_FREE_SPANS = 1024;
/** A chunk the system refuses is tried at half the size, down to this part of the usual. */
const SMALLER_BY = 8;

export type ChunkMessage = {
  chunk: number;
  /** H_CHUNK_VERSION once this was announced. */
  serial: number;
  buffer: SharedArrayBuffer | null;
  /** Checked mode: one bit per unit. */
  bits: SharedArrayBuffer | null;
};

export type PoolHost = {
  thread: number;
  waiting: Waiting;
  counters: LockCounters;
  /** Hands a new or dropped chunk to all other threads; done when it returns. */
  publish(message: ChunkMessage): void;
  /** A chunk was let go: its memory returns once every thread has collected its views. */
  dropped?(): void;
  /** Next chunk message from another thread, or null. */
  receive(): ChunkMessage | null;
  /** Makes a buffer, or returns null when the system refuses. */
  makeBuffer(bytes: number): SharedArrayBuffer | null;
};

const NO_BUFFER = new SharedArrayBuffer(0);

export class ChunkPool {
  readonly i32: Int32Array[] = [];
  readonly u8: Uint8Array[] = [];
  readonly view: DataView[] = [];
  readonly bits: Int32Array[] = [];
  /** This thread takes no spans: what is left is for others, or for commands that free some. */
  isSealed = false;
  private readonly control: Int32Array;
  private readonly host: PoolHost;
  private readonly checked: boolean;
  private version = 0;
  /** By chunk: serial of the last message that was taken. */
  private readonly serials: Int32Array = new Int32Array(CHUNKS_MAX);

  constructor(control: Int32Array, host: PoolHost, checked: boolean) {
    this.control = control;
    this.host = host;
    this.checked = checked;
    for (let i = 0; i < CHUNKS_MAX; i++) this.install(i, NO_BUFFER, NO_BUFFER);
  }

  /** Brings this thread's views up to date; cheap when nothing changed. */
  sync(): void {
    // A plain read: the lock that guards a pointer into a new chunk was taken before.
    if (this.control[H_CHUNK_VERSION] !== this.version) this.takeMessages();
  }

  /** The chunks as they are, for a thread that starts. Call under no lock. */
  snapshot(): { version: number; chunks: ChunkMessage[] } {
    this.lock();
    this.sync();
    const chunks: ChunkMessage[] = [];
    for (let i = 0; i < CHUNKS_MAX; i++) {
      const buffer = (this.u8[i] as Uint8Array).buffer as SharedArrayBuffer;
      const bits = (this.bits[i] as Int32Array).buffer as SharedArrayBuffer;
      const serial = this.serials[i] as number;
      if (buffer.byteLength > 0) chunks.push({ chunk: i, serial, buffer, bits });
    }
    const version = this.version;
    this.unlock();
    return { version, chunks };
  }

  /** Adopts a snapshot; messages that were already in it may arrive again and do no harm. */
  adopt(snapshot: { version: number; chunks: ChunkMessage[] }): void {
    for (const message of snapshot.chunks) this.receive(message);
    this.version = snapshot.version;
  }

  /**
   * True if this thread has every chunk there is, after the messages that wait for it. For a thread
   * that came later than its snapshot, and may have missed some.
   */
  isComplete(): boolean {
    this.lock();
    this.takeMessages();
    let isComplete = true;
    for (let i = 0; i < CHUNKS_MAX; i++) {
      const row = CHUNK_ROWS_AT + i * CHUNK_ROW_WORDS;
      if (this.control[row + CHUNK_STATE] === 0) this.install(i, NO_BUFFER, NO_BUFFER);
      else if (this.control[row + CHUNK_SERIAL] !== this.serials[i]) isComplete = false;
    }
    this.unlock();
    return isComplete;
  }

  /** Pointer to `spans` neighbouring spans, 0 when memory is out. */
  take(spans: number): number {
    this.lock();
    const p = this.takeLocked(spans);
    this.unlock();
    return p;
  }

  /**
   * Takes spans as a block of their own, of which nobody sees a part: the thread may end at any
   * moment. For the mark see `Heap.allocLarge`.
   */
  takeLarge(spans: number, mark: number): number {
    this.lock();
    const p = this.takeLocked(spans);
    if (p !== 0) {
      const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
      const row = pageRow(p >>> PAGE_UNIT_SHIFT);
      m[row + P_KIND] = KIND_LARGE;
      m[row + P_USED] = spans;
      if (mark !== 0) {
        const at = (p & UNIT_MASK) << 1;
        m[at] = 0;
        m[at + 1] = mark;
      }
      this.countLarge(spans);
    }
    this.unlock();
    return p;
  }

  /** Units of large blocks; an int32 that wraps. */
  private countLarge(spans: number): void {
    const { control } = this;
    const units = spans << SPAN_UNIT_SHIFT;
    control[H_LARGE_UNITS] = ((control[H_LARGE_UNITS] as number) + units) | 0;
  }

  private takeLocked(spans: number): number {
    // What `find` chooses may be in a chunk that another thread made.
    this.sync();
    const isAllowed = !this.isSealed && this.isAllowed(spans);
    let p = isAllowed ? this.find(spans) : 0;
    if (p === 0 && isAllowed && this.addChunk(spans)) p = this.find(spans);
    if (p !== 0) {
      const used = (this.control[H_SPANS_USED] as number) + spans;
      this.control[H_SPANS_USED] = used;
      if (used > (this.control[H_SPANS_PEAK] as number)) this.control[H_SPANS_PEAK] = used;
    }
    return p;
  }

  give(p: number, spans: number): void {
    this.lock();
    this.giveLocked(p, spans);
    this.unlock();
  }

  /** Undoes `takeLarge`. */
  giveLarge(p: number): void {
    this.lock();
    const m = this.i32[p >>> CHUNK_SHIFT] as Int32Array;
    const row = pageRow(p >>> PAGE_UNIT_SHIFT);
    const spans = m[row + P_USED] as number;
    m[row + P_KIND] = KIND_FREE;
    this.countLarge(-spans);
    this.giveLocked(p, spans);
    this.unlock();
  }

  private giveLocked(p: number, spans: number): void {
    const chunk = p >>> CHUNK_SHIFT;
    const first = (p & UNIT_MASK) >>> SPAN_UNIT_SHIFT;
    const bits = BITMAPS_AT + chunk * BITMAP_WORDS;
    for (let i = first; i < first + spans; i++) {
      const word = bits + (i >>> 5);
      assert(
        ((this.control[word] as number) & (1 << (i & 31))) === 0,
        "give: span is free already",
      );
      this.control[word] = (this.control[word] as number) | (1 << (i & 31));
    }
    const row = CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS;
    const free = (this.control[row + CHUNK_FREE] as number) + spans;
    this.control[row + CHUNK_FREE] = free;
    this.control[H_FREE_SPANS] = (this.control[H_FREE_SPANS] as number) + spans;
    this.control[H_SPANS_USED] = (this.control[H_SPANS_USED] as number) - spans;
    if (free === (this.control[row + CHUNK_SPANS] as number)) this.dropIfSpare(chunk, row);
  }

  /**
   * True if `bytes` can be allocated from here on, by any shard and in any sizes. Makes chunks
   * when that is what it takes, so that an allocation under a shard's lock rarely has to.
   */
  reserve(bytes: number): boolean {
    const spans = Math.ceil(bytes / SPAN_BYTES);
    const control = this.control;
    if (!this.isAllowed(spans)) return false;
    if ((control[H_FREE_SPANS] as number) >= spans) return true;
    this.lock();
    let enough = true;
    while (enough && (control[H_FREE_SPANS] as number) < spans) enough = this.addChunk(1);
    this.unlock();
    return enough;
  }

  /** False if so many bytes more are over the limit, whatever the system would give. */
  allows(bytes: number): boolean {
    return this.isAllowed(Math.ceil(bytes / SPAN_BYTES));
  }

  /** False if so many spans more are over the limit. */
  private isAllowed(spans: number): boolean {
    const limit = this.control[H_SPANS_LIMIT] as number;
    return limit === 0 || (this.control[H_SPANS_USED] as number) + spans <= limit;
  }

  /** Lets go of all chunks: this thread is done with the store. */
  forget(): void {
    for (let i = 0; i < CHUNKS_MAX; i++) this.install(i, NO_BUFFER, NO_BUFFER);
  }

  /** Runs something while no thread takes or gives spans, for checks; it must do neither itself. */
  frozen(run: () => void): void {
    this.lock();
    this.sync();
    try {
      run();
    } finally {
      this.unlock();
    }
  }

  private find(spans: number): number {
    const control = this.control;
    if ((control[H_FREE_SPANS] as number) < spans) return 0;
    for (let chunk = 0; chunk < CHUNKS_MAX; chunk++) {
      const row = CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS;
      if ((control[row + CHUNK_FREE] as number) < spans) continue;
      const bits = BITMAPS_AT + chunk * BITMAP_WORDS;
      const first = spans === 1 ? firstFree(control, bits) : lastRun(control, bits, spans);
      if (first < 0) continue;
      for (let i = first; i < first + spans; i++) {
        control[bits + (i >>> 5)] = (control[bits + (i >>> 5)] as number) & ~(1 << (i & 31));
      }
      control[row + CHUNK_FREE] = (control[row + CHUNK_FREE] as number) - spans;
      control[H_FREE_SPANS] = (control[H_FREE_SPANS] as number) - spans;
      return (chunk << CHUNK_SHIFT) | (first << SPAN_UNIT_SHIFT);
    }
    return 0;
  }

  /**
   * Adds a chunk with at least `spans` usable spans; false when the system or the table is full. It
   * is larger than others if that is what the spans need, and smaller where the system refuses, but
   * not by more than SMALLER_BY: the last of the address space is for the engine's own heaps.
   */
  private addChunk(spans: number): boolean {
    const control = this.control;
    let chunk = 0;
    while (chunk < CHUNKS_MAX && control[CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS + CHUNK_STATE]) {
      chunk++;
    }
    if (chunk === CHUNKS_MAX) return false;
    this.sync();
    let bytes = control[H_CHUNK_BYTES] as number;
    while (bytes < CHUNK_BYTES_MAX && usableSpans(bytes) < spans) bytes *= 2;
    bytes = Math.min(bytes, CHUNK_BYTES_MAX);
    const smallest = Math.max(CHUNK_BYTES_MIN, (control[H_CHUNK_BYTES] as number) / SMALLER_BY);
    let buffer: SharedArrayBuffer | null = null;
    while (buffer === null) {
      if (bytes < smallest || usableSpans(bytes) < spans) return false;
      buffer = this.host.makeBuffer(bytes);
      if (buffer === null) bytes = Math.floor(bytes / 2 / SPAN_BYTES) * SPAN_BYTES;
    }
    const bits = this.checked ? new SharedArrayBuffer(bytes / 64) : NO_BUFFER;
    this.install(chunk, buffer, bits);
    const total = bytes / SPAN_BYTES;
    const first = tableSpans(bytes);
    const map = BITMAPS_AT + chunk * BITMAP_WORDS;
    for (let i = 0; i < total; i++) {
      const bit = 1 << (i & 31);
      const word = map + (i >>> 5);
      control[word] =
        i < first ? (control[word] as number) & ~bit : (control[word] as number) | bit;
    }
    const row = CHUNK_ROWS_AT + chunk * CHUNK_ROW_WORDS;
    control[row + CHUNK_STATE] = 1;
    control[row + CHUNK_FIRST_SPAN] = first;
    control[row + CHUNK_SPANS] = total - first;
    control[row + CHUNK_FREE] = total - first;
    control[H_FREE_SPANS] = (control[H_FREE_SPANS] as number) + total - first;
    control[row + CHUNK_SERIAL] = this.announce(chunk, buffer, bits);
    return true;
  }

  private dropIfSpare(chunk: number, row: number): void {
    const control = this.control;
    const free = control[row + CHUNK_FREE] as number;
    if ((control[H_FREE_SPANS] as number) - free < KEEP_FREE_SPANS) return;
    this.sync();
    control[row + CHUNK_STATE] = 0;
    control[row + CHUNK_FREE] = 0;
    control[row + CHUNK_SPANS] = 0;
    control[H_FREE_SPANS] = (control[H_FREE_SPANS] as number) - free;
    const bits = BITMAPS_AT + chunk * BITMAP_WORDS;
    control.fill(0, bits, bits + BITMAP_WORDS);
    this.install(chunk, NO_BUFFER, NO_BUFFER);
    this.announce(chunk, null, null);
    this.host.dropped?.();
  }

  /** Tells the other threads of a change, and then that there is one. Returns its serial. */
  private announce(
    chunk: number,
    buffer: SharedArrayBuffer | null,
    bits: SharedArrayBuffer | null,
  ): number {
    const serial = ((this.control[H_CHUNK_VERSION] as number) + 1) | 0;
    this.host.publish({ chunk, serial, buffer, bits });
    this.serials[chunk] = serial;
    Atomics.store(this.control, H_CHUNK_VERSION, serial);
    this.version = serial;
    return serial;
  }

  /** Installs what one message from another thread says, unless something newer is known. */
  receive(message: ChunkMessage): void {
    const isOld = ((message.serial - (this.serials[message.chunk] as number)) | 0) <= 0;
    if (isOld) return;
    this.serials[message.chunk] = message.serial;
    this.install(message.chunk, message.buffer ?? NO_BUFFER, message.bits ?? NO_BUFFER);
    if (message.buffer === null) this.host.dropped?.();
  }

  private takeMessages(): void {
    const version = Atomics.load(this.control, H_CHUNK_VERSION);
    for (;;) {
      const message = this.host.receive();
      if (message === null) break;
      this.receive(message);
    }
    this.version = version;
  }

  private install(chunk: number, buffer: SharedArrayBuffer, bits: SharedArrayBuffer): void {
    this.bits[chunk] = new Int32Array(bits);
    this.i32[chunk] = new Int32Array(buffer);
    this.u8[chunk] = new Uint8Array(buffer);
    this.view[chunk] = new DataView(buffer);
  }

  private lock(): void {
    const { thread, waiting, counters } = this.host;
    while (!acquire(this.control, H_POOL_LOCK, thread, waiting, 1000, counters)) {
      // The pool's lock is held for microseconds; its owner is only waiting for a core.
    }
  }

  private unlock(): void {
    release(this.control, H_POOL_LOCK);
  }
}

/** Spans at the start of a chunk that hold its page table. */
function tableSpans(chunkBytes: number): number {
  return Math.ceil(((chunkBytes / PAGE_BYTES) * PAGE_ROW_WORDS * 4) / SPAN_BYTES);
}

function usableSpans(chunkBytes: number): number {
  return chunkBytes / SPAN_BYTES - tableSpans(chunkBytes);
}

function firstFree(control: Int32Array, bits: number): number {
  for (let word = 0; word < BITMAP_WORDS; word++) {
    const value = control[bits + word] as number;
    if (value !== 0) return word * 32 + 31 - Math.clz32(value & -value);
  }
  return -1;
}

/** Start of the highest run of `spans` free spans, -1 if there is none. */
function lastRun(control: Int32Array, bits: number, spans: number): number {
  let run = 0;
  for (let i = BITMAP_WORDS * 32 - 1; i >= 0; i--) {
    const value = control[bits + (i >>> 5)] as number;
    if (value === 0) {
      run = 0;
      i &= ~31;
      continue;
    }
    run = value & (1 << (i & 31)) ? run + 1 : 0;
    if (run === spans) return i;
  }
  return -1;
}
