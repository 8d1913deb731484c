/**
 * The arguments of a call, written straight into the place where the dispatcher reads them: no
 * request is formed and none is scanned.
 *
 *   [ names of the typed methods' commands | argument | argument | ... ]
 *
 * Text becomes UTF-8 here. Short text is written character by character as long as it is ASCII; an
 * argument over 64 KiB goes into a block of the heap, as one of a connection does, so that it is
 * not copied under a lock.
 */
import { Args } from "../base/args.ts";
import { bigStart, makeBigBlock } from "../keyspace/big-block.ts";
import { BIG_ARGUMENT_BYTES } from "../limits.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT } from "../memory/layout.ts";
import { ADMITTED, LATER, type ParserLimits } from "../protocol/parser.ts";
import { kindOf } from "./checks.ts";
import type { Word } from "./types.ts";

type Utf8Access = {
  utf8Write(this: Uint8Array, text: string, at: number, length: number): number;
};
// Node gives this to Buffer, but it works on any Uint8Array without making a view first.
const { utf8Write } = Buffer.prototype as unknown as Utf8Access;

const WORDS = "a string, a number, a Buffer or a Uint8Array";

const INITIAL_BYTES = 65536;
/** A scratch buffer that grew beyond this is given up after the call. */
const KEPT_BYTES = 1 << 20;
const NAMES_BYTES = 1024;
/** Text up to this long is cheaper to write here than in a call of Node's. */
const LOOP_CHARS_MAX = 40;
const LOOP_BYTES_MAX = 32;
const UTF8_BYTES_PER_CHAR = 3;

const names = new Uint8Array(NAMES_BYTES);
let namesEnd = 0;

/** Where a command's name stands in every scratch buffer: start in the upper 16 bits, then end. */
export type CommandName = number;

/** Makes room for a command's name; at module level only. */
export function commandName(name: string): CommandName {
  const start = namesEnd;
  if (start + name.length > NAMES_BYTES) throw new Error("no room for the name of a command");
  for (let i = 0; i < name.length; i++) names[namesEnd++] = name.charCodeAt(i);
  return (start << 16) | namesEnd;
}

/** A getter of every typed array, whatever its class says of itself. */
function trueGetter<T>(name: string | symbol): (of: object) => T | undefined {
  const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
  const { get } = Object.getOwnPropertyDescriptor(typedArray, name) as { get(): T | undefined };
  return (of) => get.call(of);
}

const trueName = trueGetter<string>(Symbol.toStringTag);
const trueLength = trueGetter<number>("length");

/**
 * True for one that was made in another context of `node:vm` too, which is no instance of ours.
 * Neither this nor what is read of it runs code of the caller's.
 */
function isUint8Array(word: unknown): word is Uint8Array {
  return typeof word === "object" && word !== null && trueName(word) === "Uint8Array";
}

/**
 * As many bytes as there is room for: another thread may let a growable buffer grow at any time,
 * and what follows the room in the heap belongs to others.
 */
function firstOf(bytes: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, length);
}

/** Runs what takes from the heap or gives back to it. */
export type HeapWork = <T>(run: () => T) => T;

export class RequestWriter {
  readonly args: Args = new Args();
  /** The heap had no room for an argument. */
  outOfMemory = false;
  /**
   * Something was made for this call that `finish` must give back. It is true when a call begins if
   * the one before was never run, since something was thrown while its arguments were added.
   */
  isSpecial = false;
  private readonly heap: Heap;
  private readonly work: HeapWork;
  private readonly admitLong: ParserLimits["admitLong"];
  private at = NAMES_BYTES;

  constructor(heap: Heap, work: HeapWork, admitLong: ParserLimits["admitLong"]) {
    this.admitLong = admitLong;
    this.heap = heap;
    this.work = work;
    this.renew(INITIAL_BYTES);
  }

  private renew(bytes: number): void {
    const buffer = new Uint8Array(new ArrayBuffer(bytes));
    buffer.set(names);
    this.args.buffer = buffer;
    this.args.view = new DataView(buffer.buffer);
  }

  begin(name: CommandName): void {
    const { args } = this;
    if (this.isSpecial) this.finish();
    this.at = NAMES_BYTES;
    args.count = 1;
    args.start[0] = name >>> 16;
    args.end[0] = name & 0xffff;
  }

  /** As `begin`, for a command whose name is the first word to be added. */
  beginUnnamed(): void {
    if (this.isSpecial) this.finish();
    this.at = NAMES_BYTES;
    this.args.count = 0;
  }

  add(word: Word): void {
    if (typeof word === "string") this.addText(word);
    else if (isUint8Array(word)) this.addBytes(word);
    else if (typeof word === "number" || typeof word === "bigint") this.addText(String(word));
    else this.refuse(word);
  }

  private refuse(word: unknown): never {
    const { count } = this.args;
    this.finish();
    const kind = kindOf(word);
    if (count === 0) throw new TypeError(`the command is ${kind}: write call("GET", key)`);
    const list = Array.isArray(word) ? "; spread a list with ..." : "";
    throw new TypeError(`argument ${count} is ${kind}: ${WORDS}${list}`);
  }

  private addText(text: string): void {
    const length = text.length;
    if (length > LOOP_CHARS_MAX) {
      this.addLongText(text);
      return;
    }
    const start = this.at;
    if (start + length * UTF8_BYTES_PER_CHAR > this.args.buffer.length) this.grow(length * 3);
    const { buffer } = this.args;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) {
        this.added(start, start + utf8Write.call(buffer, text, start, buffer.length - start));
        return;
      }
      buffer[start + i] = code;
    }
    this.added(start, start + length);
  }

  private addLongText(text: string): void {
    const most = text.length * UTF8_BYTES_PER_CHAR;
    if (text.length > BIG_ARGUMENT_BYTES / UTF8_BYTES_PER_CHAR) {
      const bytes = Buffer.byteLength(text, "utf8");
      if (bytes > BIG_ARGUMENT_BYTES) {
        this.addBig(bytes, (to, at) => utf8Write.call(to, text, at, bytes));
        return;
      }
    }
    const start = this.at;
    if (start + most > this.args.buffer.length) this.grow(most);
    const { buffer } = this.args;
    this.added(start, start + utf8Write.call(buffer, text, start, buffer.length - start));
  }

  private addBytes(bytes: Uint8Array): void {
    const length = trueLength(bytes) as number;
    if (length > BIG_ARGUMENT_BYTES) {
      this.addBig(length, (to, at) => to.set(firstOf(bytes, length), at));
      return;
    }
    const start = this.at;
    if (start + length > this.args.buffer.length) this.grow(length);
    const { buffer } = this.args;
    if (length > LOOP_BYTES_MAX) buffer.set(bytes, start);
    else for (let i = 0; i < length; i++) buffer[start + i] = bytes[i] as number;
    this.added(start, start + length);
  }

  private added(start: number, end: number): void {
    const { args } = this;
    const i = args.count;
    if (i >= args.start.length) {
      this.isSpecial = true;
      args.reserve(i + 1);
    }
    args.start[i] = start;
    args.end[i] = end;
    args.count = i + 1;
    this.at = end;
  }

  private addBig(bytes: number, write: (to: Uint8Array, at: number) => void): void {
    const { args, heap } = this;
    const i = args.count;
    const at = this.at;
    this.isSpecial = true;
    const block = this.work(() => this.makeBlock(bytes));
    if (block === 0) {
      this.outOfMemory = true;
      this.added(at, at);
      return;
    }
    const start = bigStart(block);
    const source = heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
    args.bigs ??= [];
    while (args.bigs.length < i) args.bigs.push(null);
    args.bigs[i] = { block, source, view: heap.view[block >>> CHUNK_SHIFT] as DataView };
    write(source, start);
    this.added(start, start + bytes);
    this.at = at;
  }

  /** A block for a long argument, once there is room for it; 0 when memory is out. */
  private makeBlock(bytes: number): number {
    let verdict = LATER;
    while (verdict === LATER) verdict = this.admitLong(bytes);
    return verdict === ADMITTED ? makeBigBlock(this.heap, bytes) : 0;
  }

  private grow(bytes: number): void {
    const { buffer } = this.args;
    this.isSpecial = true;
    let size = buffer.length * 2;
    while (size < this.at + bytes) size *= 2;
    this.renew(size);
    this.args.buffer.set(buffer.subarray(0, this.at));
  }

  /** After a call: frees the blocks that no handler took over, and what a long call made large. */
  finish(): void {
    const { args } = this;
    this.outOfMemory = false;
    this.isSpecial = false;
    const { bigs } = args;
    if (bigs !== null) {
      args.bigs = null;
      this.work(() => {
        for (const big of bigs) if (big && big.block !== 0) this.heap.freeLarge(big.block);
      });
    }
    if (args.buffer.length > KEPT_BYTES) this.renew(INITIAL_BYTES);
    args.shrink();
  }
}
