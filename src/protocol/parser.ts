/**
 * The careful request parser: one per session, kept over reads. It takes what the fast path did
 * not: inline requests, requests cut anywhere, arguments of any length, everything malformed.
 *
 * It keeps its place, so that a byte is looked at once when it comes and once when it is copied.
 * Bytes of arguments are collected one behind the other in `buffer`, and ranges in `args` point
 * there, except arguments over BIG_ARGUMENT_BYTES, which go straight into a block of the heap.
 *
 *   idle -> line of "*n" or inline -> (line of "$n" -> n bytes and two more) * n -> complete
 */

import type { Args, BigArgument } from "../base/args.ts";
import { int64, int64ToNumber, parseInt64 } from "../base/int64.ts";
import { bigStart, makeBigBlock } from "../keyspace/big-block.ts";
import { BIG_ARGUMENT_BYTES, INLINE_MAX, MULTIBULK_MAX, UNIT_BYTES } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT } from "../memory/layout.ts";
import { splitInline } from "./inline.ts";

export const COMPLETE = 1;
export const NEED_MORE = 2;
export const FAILED = 3;
/** There is no room for a long argument: feed the rest again later. */
export const NO_ROOM = 4;
/** More has come of one argument, or is its end, than the limit allows. */
export const OVER_LIMIT = 5;

const LF = 10;
const CR = 13;
const STAR = 42;
const DOLLAR = 36;

const IDLE = 0;
const HEADER = 1;
const INLINE = 2;
const BULK_LINE = 3;
const BULK = 4;
/** The length of a long argument is known, and it has no block yet. */
const BULK_ROOM = 5;

const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);
/** The buffer is given up between requests when it has grown beyond this. */
const KEEP_BYTES = 65536;

export type ParserLimits = {
  /** proto-max-bulk-len. */
  bulkMax: number;
  /** client-query-buffer-limit: most bytes of one argument and its "\r\n" that are received. */
  queryMax: number;
  /** A session that has to authenticate may only send short requests. */
  unauthenticated: boolean;
  /** Whether a long argument may have a block: ADMITTED, REFUSED or LATER. */
  admitLong(bytes: number): number;
};

/** What `admitLong` and the server's gate for memory say. */
export const ADMITTED = 0;
export const REFUSED = 1;
/** The session is to be parked, and resumed when it should try again. */
export const LATER = 2;

export class Parser {
  readonly args: Args;
  /** Index behind the bytes that `feed` took. */
  consumed = 0;
  /** Text behind "ERR Protocol error: " after FAILED. */
  error = "";
  /** A zero byte was met in a line, which so has no end. */
  private isBlind = false;
  /** Bytes looked at, for the bound of twice the bytes received. */
  scanned = 0;
  private readonly heap: Heap;
  private state = IDLE;
  private buffer: Uint8Array = NO_BYTES;
  private view: DataView = NO_VIEW;
  private used = 0;
  /** Bytes of the line under way that are in `buffer` behind `used`. */
  private lineBytes = 0;
  private wanted = 0;
  private bulkLength = 0;
  private bulkLeft = 0;
  private big: BigArgument | null = null;
  private bigAt = 0;
  private bigBytes = 0;
  /** Bytes of the arguments that are complete. */
  argumentBytes = 0;

  constructor(heap: Heap, args: Args) {
    this.heap = heap;
    this.args = args;
  }

  /** True between requests: nothing of an unfinished one is held. */
  get idle(): boolean {
    return this.state === IDLE;
  }

  /** Bytes of an unfinished request behind its last complete argument. */
  get unparsed(): number {
    if (this.state === IDLE) return 0;
    return this.used + this.lineBytes + this.bigBytes - this.argumentBytes;
  }

  /** Bytes of a request that are not in heap blocks of their own. */
  get buffered(): number {
    return this.state === IDLE ? 0 : this.used + this.lineBytes;
  }

  /** Bytes of memory that are taken for requests, heap blocks included. */
  get capacity(): number {
    const { args, big, heap, buffer } = this;
    if (big === null && args.bigs === null) return buffer.length;
    let units = big === null || big.block === 0 ? 0 : heap.blockUnits(big.block);
    if (args.bigs !== null) {
      for (const one of args.bigs) if (one && one.block !== 0) units += heap.blockUnits(one.block);
    }
    return buffer.length + units * UNIT_BYTES;
  }

  /**
   * Takes bytes `start..end` until a request is complete. With COMPLETE the request is in `args`;
   * one of no arguments, which Redis ignores, has count 0.
   */
  feed(chunk: Uint8Array, start: number, end: number, limits: ParserLimits): number {
    let at = start;
    if (this.state === IDLE) {
      if (at === end) return this.stop(at, NEED_MORE);
      this.begin(chunk[at] as number);
    }
    for (;;) {
      if (this.state === BULK_ROOM && !this.getsBlock(limits)) return this.stop(at, NO_ROOM);
      if (this.state === BULK) {
        at = this.takeBulk(chunk, at, end);
        const received = this.bulkLength + 2 - this.bulkLeft;
        if (received > limits.queryMax) return this.stop(at, OVER_LIMIT);
        if (this.bulkLeft > 0) return this.stop(at, NEED_MORE);
        this.finishArgument();
        if (this.args.count === this.wanted) return this.complete(at);
        this.state = BULK_LINE;
      }
      const after = this.takeLine(chunk, at, end);
      if (after < 0) {
        this.consumed = end;
        return this.lineBytes > INLINE_MAX ? this.fail(this.tooLong()) : NEED_MORE;
      }
      at = after;
      this.consumed = at;
      const result = this.lineDone(limits);
      if (result !== 0) return result;
    }
  }

  private begin(first: number): void {
    this.state = first === STAR ? HEADER : INLINE;
    this.used = 0;
    this.lineBytes = 0;
    this.bigBytes = 0;
    this.argumentBytes = 0;
    this.isBlind = false;
    this.args.count = 0;
    this.args.bigs = null;
  }

  /**
   * Adds bytes to the line under way up to its end. Returns the index behind the line, or -1 when
   * the chunk ends before it. A multibulk line ends with "\r" and whatever byte follows; an inline
   * one with "\n".
   */
  private takeLine(chunk: Uint8Array, start: number, end: number): number {
    const multibulk = this.state !== INLINE;
    const wasCut =
      multibulk &&
      !this.isBlind &&
      this.lineBytes > 0 &&
      this.buffer[this.used + this.lineBytes - 1] === CR;
    if (wasCut) {
      if (start === end) return -1;
      this.lineBytes--;
      return start + 1;
    }
    const stop = multibulk ? CR : LF;
    let at = start;
    // Redis looks for the end of a line as C does: it never sees one behind a zero byte.
    while (at < end && chunk[at] !== stop && chunk[at] !== 0) at++;
    if (at < end && chunk[at] === 0) this.isBlind = true;
    if (this.isBlind) at = end;
    this.scanned += at - start;
    const found = at < end;
    const keep = found && (!multibulk || at + 1 < end) ? at : found ? at + 1 : at;
    this.append(chunk, start, keep);
    this.lineBytes += keep - start;
    if (!found || (multibulk && at + 1 >= end)) return -1;
    return multibulk ? at + 2 : at + 1;
  }

  private lineDone(limits: ParserLimits): number {
    const from = this.used;
    const length = this.lineBytes;
    this.lineBytes = 0;
    if (length > INLINE_MAX) return this.fail(this.tooLong());
    if (this.state === INLINE) return this.inlineDone(from, length);
    const b = this.buffer;
    if (this.state === HEADER) {
      const known = parseInt64(b, from + 1, from + length);
      const count = known ? int64ToNumber(int64.hi, int64.lo) : 0;
      if (!known || count > MULTIBULK_MAX) return this.fail("invalid multibulk length");
      if (count > 10 && limits.unauthenticated)
        return this.fail("unauthenticated multibulk length");
      if (count <= 0) return this.complete(this.consumed);
      this.wanted = count;
      this.state = BULK_LINE;
      return 0;
    }
    const first = length > 0 ? (b[from] as number) : CR;
    if (first !== DOLLAR) return this.fail(`expected '$', got '${String.fromCharCode(first)}'`);
    const known = parseInt64(b, from + 1, from + length);
    const bytes = known ? int64ToNumber(int64.hi, int64.lo) : 0;
    if (!known || bytes < 0 || bytes > limits.bulkMax) return this.fail("invalid bulk length");
    if (bytes > 16384 && limits.unauthenticated) return this.fail("unauthenticated bulk length");
    this.beginArgument(bytes);
    return 0;
  }

  private beginArgument(bytes: number): void {
    const i = this.args.count;
    this.args.reserve(Math.min(this.wanted, i + 1));
    this.state = bytes <= BIG_ARGUMENT_BYTES ? BULK : BULK_ROOM;
    this.bulkLength = bytes;
    this.bulkLeft = bytes + 2;
    this.args.start[i] = this.used;
  }

  /** Gives a long argument its block, or none if there is no memory. False if it is to wait. */
  private getsBlock(limits: ParserLimits): boolean {
    const bytes = this.bulkLength;
    // What will not come to its end needs no place to stay.
    const verdict = bytes + 2 > limits.queryMax ? REFUSED : limits.admitLong(bytes);
    if (verdict === LATER) return false;
    this.state = BULK;
    const block = verdict === ADMITTED ? makeBigBlock(this.heap, bytes) : 0;
    const source = block === 0 ? NO_BYTES : (this.heap.u8[block >>> CHUNK_SHIFT] as Uint8Array);
    const view = block === 0 ? NO_VIEW : (this.heap.view[block >>> CHUNK_SHIFT] as DataView);
    this.big = { block, source, view };
    this.bigAt = block === 0 ? 0 : bigStart(block);
    return true;
  }

  private takeBulk(chunk: Uint8Array, start: number, end: number): number {
    const stop = Math.min(end, start + this.bulkLeft);
    const body = Math.min(stop, start + Math.max(0, this.bulkLeft - 2));
    if (body > start) {
      if (this.big === null) {
        this.append(chunk, start, body);
        this.used += body - start;
      } else if (this.big.block !== 0) {
        this.big.source.set(chunk.subarray(start, body), this.bigAt);
        this.bigAt += body - start;
        this.bigBytes += body - start;
      }
      this.scanned += body - start;
    }
    this.bulkLeft -= stop - start;
    return stop;
  }

  private finishArgument(): void {
    const { args, big } = this;
    const i = args.count;
    if (big === null) {
      args.end[i] = this.used;
    } else {
      const start = big.block === 0 ? 0 : bigStart(big.block);
      args.start[i] = start;
      args.end[i] = big.block === 0 ? 0 : start + this.bulkLength;
      args.bigs ??= [];
      while (args.bigs.length < i) args.bigs.push(null);
      args.bigs[i] = big;
      this.big = null;
    }
    this.argumentBytes += this.bulkLength;
    args.count = i + 1;
  }

  private inlineDone(from: number, length: number): number {
    const b = this.buffer;
    const end = length > 0 && b[from + length - 1] === CR ? from + length - 1 : from + length;
    // Splitting never makes text longer, so the words may take the place of the line.
    if (!splitInline(b, from, end, this.args)) return this.fail("unbalanced quotes in request");
    this.argumentBytes = this.args.count === 0 ? 0 : length;
    return this.complete(this.consumed);
  }

  private append(chunk: Uint8Array, start: number, end: number): void {
    const at = this.used + this.lineBytes;
    const needed = at + end - start;
    if (needed > this.buffer.length) {
      let size = Math.max(1024, this.buffer.length * 2);
      while (size < needed) size *= 2;
      const bigger = new Uint8Array(size);
      bigger.set(this.buffer.subarray(0, at));
      this.buffer = bigger;
      this.view = new DataView(bigger.buffer);
    }
    if (end - start <= 32) {
      for (let i = start, to = at; i < end; i++) this.buffer[to++] = chunk[i] as number;
    } else {
      this.buffer.set(chunk.subarray(start, end), at);
    }
  }

  private tooLong(): string {
    if (this.state === INLINE) return "too big inline request";
    return this.state === HEADER ? "too big mbulk count string" : "too big bulk count string";
  }

  private complete(at: number): number {
    this.args.buffer = this.buffer;
    this.args.view = this.view;
    this.state = IDLE;
    this.used = 0;
    this.lineBytes = 0;
    return this.stop(at, COMPLETE);
  }

  private fail(text: string): number {
    this.error = text;
    this.release();
    return FAILED;
  }

  private stop(at: number, result: number): number {
    this.consumed = at;
    return result;
  }

  /** True if an argument had no room in the heap: the request must be answered with -OOM. */
  get outOfMemory(): boolean {
    return this.args.bigs?.some((big) => big !== null && big.source.length === 0) ?? false;
  }

  /** After a request ran: frees the blocks that no handler took over, and a buffer that grew. */
  finish(): void {
    const { bigs } = this.args;
    this.argumentBytes = 0;
    if (bigs !== null) {
      for (const big of bigs) if (big && big.block !== 0) this.heap.freeLarge(big.block);
      this.args.bigs = null;
    }
    if (this.buffer.length > KEEP_BYTES) this.giveUp();
    this.args.shrink();
  }

  /** For a client that has been silent: gives up the room that holds nothing. */
  trim(): void {
    const held = this.buffered;
    if (held === 0) {
      this.giveUp();
    } else if (held < this.buffer.length) {
      this.buffer = this.buffer.slice(0, held);
      this.view = new DataView(this.buffer.buffer);
    }
  }

  /** The buffer holds nothing that will be read. */
  private giveUp(): void {
    const { args } = this;
    this.buffer = NO_BYTES;
    this.view = NO_VIEW;
    // They point to the buffer of the last request.
    args.buffer = NO_BYTES;
    args.view = NO_VIEW;
  }

  /** Gives up whatever is held: the session ends. */
  release(): void {
    if (this.big !== null && this.big.block !== 0) this.heap.freeLarge(this.big.block);
    this.big = null;
    this.finish();
    this.state = IDLE;
    this.used = 0;
    this.lineBytes = 0;
  }
}
