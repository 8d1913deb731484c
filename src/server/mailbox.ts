/**
 * Messages from thread to thread: a ring of bytes for each receiver, which any thread may write
 * under the ring's lock and only its owner reads, without one. What does not fit waits in the
 * sender, which never blocks; the receiver rings it once there is room. Layout of a mailbox, in
 * Int32 words of one shared buffer:
 *
 *   0   lock line    32  written: bytes ever written    64  read: bytes ever read
 *   96  bit per thread (modulo 32) that waits for room  128 the ring, a power of two of bytes
 *
 * In the ring a message is one or more pieces: i32 length; i32 sender, from bit 8 on the kind, from
 * bit 16 on 1 if the message ends here; then the bytes, padded to 8. Pieces of several senders may
 * come in turns.
 *
 * Whoever writes raises `written` and then reads `read`; whoever reads does it the other way about.
 * So either the writer finds that its piece is the first unread one, and rings, or the reader finds
 * the piece.
 */
import { MAILBOX_WAITING_MAX } from "../limits.ts";
import { LOCK_LINE_WORDS } from "../memory/layout.ts";
import { acquire, type LockCounters, release, type Waiting } from "../memory/lock.ts";

const WRITTEN = LOCK_LINE_WORDS;
const READ = 2 * LOCK_LINE_WORDS;
const WANTED = 3 * LOCK_LINE_WORDS;
const RING_AT = 4 * LOCK_LINE_WORDS;
const RING_BYTES = 1 << 17;
const HEADER_BYTES = 8;

export type Receiver = {
  /** The bytes are the receiver's to keep. */
  message(sender: number, kind: number, bytes: Uint8Array): void;
  /** Some of what this sender has sent before did not come. */
  lost(sender: number): void;
};

/** Kind of the piece that says that messages were lost. */
const LOST = 255;
const NO_BYTES = new Uint8Array(0);

type Outgoing = { kind: number; bytes: Uint8Array; sent: number };

/** What waits in this thread for one receiver. */
type Queue = { list: Outgoing[]; bytes: number };

/** One thread has nobody to write to. */
export function mailboxBytes(threads: number, ringBytes: number = RING_BYTES): number {
  return threads > 1 ? threads * (RING_AT * 4 + ringBytes) : 0;
}

export type MailboxParts = {
  buffer: SharedArrayBuffer;
  thread: number;
  threads: number;
  waiting: Waiting;
  counters: LockCounters;
  ring(thread: number): void;
};

export class Mailboxes {
  private readonly i32: Int32Array;
  private readonly u8: Uint8Array;
  /** Int32 words of one mailbox, and bytes of its ring. */
  private readonly boxWords: number;
  private readonly ringBytes: number;
  private readonly parts: MailboxParts;
  private readonly queues: Map<number, Queue> = new Map();
  /** Messages that have come in part, by sender. */
  private readonly partial: Map<number, Uint8Array[]> = new Map();

  constructor(parts: MailboxParts) {
    this.parts = parts;
    this.i32 = new Int32Array(parts.buffer);
    this.u8 = new Uint8Array(parts.buffer);
    this.boxWords = this.i32.length / parts.threads;
    this.ringBytes = (this.boxWords - RING_AT) * 4;
  }

  /** Sends a copy of the first `length` bytes. `kind` is below 255. */
  post(to: number, kind: number, bytes: Uint8Array, length: number): void {
    const queue = this.queues.get(to);
    if (queue !== undefined) {
      this.enqueue(queue, { kind, bytes: bytes.slice(0, length), sent: 0 });
      this.flushTo(to, queue);
      return;
    }
    const sent = this.write(to, kind, bytes, 0, length);
    if (sent < 0) return;
    const fresh: Queue = { list: [], bytes: 0 };
    this.queues.set(to, fresh);
    this.enqueue(fresh, { kind, bytes: bytes.slice(sent, length), sent: 0 });
    this.flushTo(to, fresh);
  }

  /** Tells the receiver that something for it could not be sent. */
  postLoss(to: number): void {
    const queue = this.queues.get(to) ?? { list: [], bytes: 0 };
    this.queues.set(to, queue);
    queue.list.push({ kind: LOST, bytes: NO_BYTES, sent: 0 });
    this.flushTo(to, queue);
  }

  private enqueue(queue: Queue, message: Outgoing): void {
    queue.list.push(message);
    queue.bytes += message.bytes.length;
    if (queue.bytes <= MAILBOX_WAITING_MAX) return;
    queue.list = [{ kind: LOST, bytes: NO_BYTES, sent: 0 }];
    queue.bytes = 0;
  }

  /** Some of what was posted is still here. */
  get isWaiting(): boolean {
    return this.queues.size > 0;
  }

  /** Sends what waits, as far as there is room. */
  flush(): void {
    for (const [to, queue] of this.queues) this.flushTo(to, queue);
  }

  private flushTo(to: number, queue: Queue): void {
    if (this.sendAll(to, queue)) {
      this.queues.delete(to);
      return;
    }
    // Room may have been made before the receiver could know that somebody waits for it.
    const box = to * this.boxWords;
    Atomics.or(this.i32, box + WANTED, 1 << (this.parts.thread & 31));
    if (this.sendAll(to, queue)) this.queues.delete(to);
  }

  private sendAll(to: number, queue: Queue): boolean {
    for (;;) {
      const message = queue.list[0];
      if (message === undefined) return true;
      const { bytes } = message;
      const sent = this.write(to, message.kind, bytes, message.sent, bytes.length);
      if (sent >= 0) {
        message.sent = sent;
        return false;
      }
      queue.list.shift();
      queue.bytes -= bytes.length;
    }
  }

  /** Writes bytes `start..end` in pieces. Returns -1, or from where on there was no room. */
  private write(to: number, kind: number, bytes: Uint8Array, start: number, end: number): number {
    const { thread, waiting, counters } = this.parts;
    const box = to * this.boxWords;
    const pieceMax = this.ringBytes >> 2;
    while (!acquire(this.i32, box, thread, waiting, 1000, counters)) {
      // Held for microseconds only; its owner waits for a core.
    }
    const first = this.i32[box + WRITTEN] as number;
    let written = first;
    let at = start;
    let isDone = false;
    while (!isDone) {
      const length = Math.min(end - at, pieceMax);
      const padded = (HEADER_BYTES + length + 7) & ~7;
      const used = (written - Atomics.load(this.i32, box + READ)) >>> 0;
      if (used + padded > this.ringBytes) break;
      isDone = at + length === end;
      this.putPiece(box, written, kind, isDone, bytes, at, length);
      written = (written + padded) | 0;
      at += length;
    }
    Atomics.store(this.i32, box + WRITTEN, written);
    const wasEmpty = Atomics.load(this.i32, box + READ) === first;
    release(this.i32, box);
    if (wasEmpty && written !== first) this.parts.ring(to);
    return isDone ? -1 : at;
  }

  private putPiece(
    box: number,
    written: number,
    kind: number,
    isLast: boolean,
    bytes: Uint8Array,
    start: number,
    length: number,
  ): void {
    const ring = (box + RING_AT) * 4;
    const at = written & (this.ringBytes - 1);
    // Pieces begin at multiples of 8, so that a header is never cut.
    const word = (ring + at) >> 2;
    this.i32[word] = length;
    this.i32[word + 1] = this.parts.thread | (kind << 8) | (isLast ? 1 << 16 : 0);
    const from = (at + HEADER_BYTES) & (this.ringBytes - 1);
    const before = Math.min(length, this.ringBytes - from);
    this.u8.set(bytes.subarray(start, start + before), ring + from);
    if (before < length) this.u8.set(bytes.subarray(start + before, start + length), ring);
  }

  /** Hands over what has come to this thread. */
  take(receiver: Receiver): void {
    const { i32 } = this;
    const box = this.parts.thread * this.boxWords;
    if (i32.length === 0) return;
    let read = i32[box + READ] as number;
    while (read !== Atomics.load(i32, box + WRITTEN)) {
      read = this.takePiece(box, read, receiver);
      Atomics.store(i32, box + READ, read);
    }
    if (Atomics.load(i32, box + WANTED) === 0) return;
    const wanted = Atomics.exchange(i32, box + WANTED, 0);
    for (let t = 0; t < this.parts.threads; t++) {
      if (t !== this.parts.thread && (wanted & (1 << (t & 31))) !== 0) this.parts.ring(t);
    }
  }

  private takePiece(box: number, read: number, receiver: Receiver): number {
    const ring = (box + RING_AT) * 4;
    const word = (ring + (read & (this.ringBytes - 1))) >> 2;
    const length = this.i32[word] as number;
    const about = this.i32[word + 1] as number;
    const from = (read + HEADER_BYTES) & (this.ringBytes - 1);
    const bytes = new Uint8Array(length);
    const before = Math.min(length, this.ringBytes - from);
    bytes.set(this.u8.subarray(ring + from, ring + from + before));
    if (before < length) bytes.set(this.u8.subarray(ring, ring + length - before), before);
    this.accept(about & 0xff, (about >> 8) & 0xff, bytes, about >> 16 === 1, receiver);
    return (read + ((HEADER_BYTES + length + 7) & ~7)) | 0;
  }

  private accept(
    sender: number,
    kind: number,
    bytes: Uint8Array,
    isLast: boolean,
    receiver: Receiver,
  ): void {
    const earlier = this.partial.get(sender);
    if (kind === LOST) {
      this.partial.delete(sender);
      receiver.lost(sender);
    } else if (!isLast) {
      if (earlier === undefined) this.partial.set(sender, [bytes]);
      else earlier.push(bytes);
    } else if (earlier === undefined) {
      receiver.message(sender, kind, bytes);
    } else {
      this.partial.delete(sender);
      receiver.message(sender, kind, joined([...earlier, bytes]));
    }
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
