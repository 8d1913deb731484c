/**
 * The slow log: one for the process, in shared memory, so that every thread sees in order what any
 * of them logged. Entries lie in a ring, each whole; where the newest has no room the oldest go.
 *
 *   words 0..31   a lock of its own: held while an entry is written or read, by nobody who waits
 *   word 32       number of entries          33  offset of the oldest    34  of the newest
 *   word 35       where the next one goes    byte 144  f64 id of the next entry
 *   byte 192      the ring
 *
 * An entry, at a multiple of 8 bytes:
 *
 *   0  i32 offset of the next newer one      4   i32 offset of the next older one
 *   8  f64 id    16  f64 unix seconds        24  f64 microseconds
 *   32 u16 number of arguments, then texts, each u16 length and bytes: address, name, arguments
 */
import type { Args } from "../base/args.ts";
import { latin1, writeLatin1 } from "../base/bytes.ts";
import { SLOW_LOG_ARGUMENT_BYTES_MAX, SLOW_LOG_ARGUMENTS_MAX, SLOW_LOG_BYTES } from "../limits.ts";
import { acquire, type LockCounters, release, type Waiting } from "../memory/lock.ts";

const LOCK_LINE = 0;
const COUNT = 32;
const OLDEST = 33;
const NEWEST = 34;
const NEXT_AT = 35;
const NEXT_ID = 144 >> 3;
const RING_AT = 192;

const NEWER = 0;
const OLDER = 1;
const ID = 1;
const SECONDS = 2;
const USEC = 3;
const TEXTS_AT = 32;
/** Entries that are read under one lock. */
const PORTION = 128;
/** The lock is held for microseconds; who waits longer lacks a core, and tries again. */
const PATIENCE_MS = 1000;

export type SlowEntry = {
  id: number;
  unixSeconds: number;
  usec: number;
  words: readonly string[];
  address: string;
  clientName: string;
};

/** How a thread takes the lock. */
export type SlowLogThread = { thread: number; waiting: Waiting; counters: LockCounters };

export function slowLogBytes(ringBytes: number = SLOW_LOG_BYTES): number {
  return RING_AT + ringBytes;
}

export class SlowLog {
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;
  readonly #bytes: Uint8Array;
  readonly #by: SlowLogThread;
  /** Where the reading of the next portion goes on. */
  #resumeAt = 0;

  constructor(buffer: SharedArrayBuffer, by: SlowLogThread) {
    this.#words = new Int32Array(buffer);
    this.#doubles = new Float64Array(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#by = by;
  }

  get length(): number {
    return Atomics.load(this.#words, COUNT);
  }

  /** Entries that there ever were: the id of the next. Needs no lock. */
  get nextId(): number {
    return this.#doubles[NEXT_ID] as number;
  }

  /** Adds an entry with the next id, and lets go of the oldest beyond `most`. */
  add(entry: Omit<SlowEntry, "id">, most: number): void {
    const texts = [entry.address, entry.clientName, ...entry.words];
    const size = texts.reduce((sum, text) => sum + 2 + text.length, TEXTS_AT + 2);
    this.#locked(() => {
      const at = this.#place((size + 7) & ~7);
      const id = this.#doubles[NEXT_ID] as number;
      this.#doubles[NEXT_ID] = id + 1;
      const cell = at >> 3;
      this.#doubles[cell + ID] = id;
      this.#doubles[cell + SECONDS] = entry.unixSeconds;
      this.#doubles[cell + USEC] = entry.usec;
      this.#putTexts(at + TEXTS_AT, entry.words.length, texts);
      this.#append(at);
      this.#cut(most);
    });
  }

  /** Up to `count` entries, newest first; read in portions, so that nobody waits long to log. */
  newest(count: number): SlowEntry[] {
    const found: SlowEntry[] = [];
    let isDone = false;
    while (!isDone) this.#locked(() => (isDone = this.#readPortion(count, found)));
    return found;
  }

  /** Goes on behind what was found so far. True at the end. */
  #readPortion(count: number, found: SlowEntry[]): boolean {
    const words = this.#words;
    if (this.length === 0) return true;
    const oldestId = this.#idAt(words[OLDEST] as number);
    // Entries stay where they are until they are let go, the oldest first.
    let at = found.length === 0 ? (words[NEWEST] as number) : this.#resumeAt;
    let id = (found.at(-1)?.id ?? this.#idAt(at) + 1) - 1;
    for (let n = 0; n < PORTION; n++, id--) {
      if (found.length >= count || id < oldestId) return true;
      found.push(this.#read(at));
      at = words[(at >> 2) + OLDER] as number;
    }
    this.#resumeAt = at;
    return false;
  }

  #idAt(at: number): number {
    return this.#doubles[(at >> 3) + ID] as number;
  }

  /** Lets go of the oldest entries beyond `most`. */
  trim(most: number): void {
    if (this.length > most) this.#locked(() => this.#cut(most));
  }

  /** Lets go of all entries; ids go on. */
  reset(): void {
    this.trim(0);
  }

  #locked(run: () => void): void {
    const { thread, waiting, counters } = this.#by;
    while (!acquire(this.#words, LOCK_LINE, thread, waiting, PATIENCE_MS, counters));
    run();
    release(this.#words, LOCK_LINE);
  }

  /** Makes room for so many bytes behind the newest entry, or at the start of the ring. */
  #place(bytes: number): number {
    const end = this.#bytes.length;
    let at = Math.max(this.#words[NEXT_AT] as number, RING_AT);
    if (at + bytes > end) {
      this.#dropWithin(at, end);
      at = RING_AT;
    }
    this.#dropWithin(at, at + bytes);
    this.#words[NEXT_AT] = at + bytes;
    return at;
  }

  /** Lets go of the oldest entries as long as they begin within these bytes. */
  #dropWithin(start: number, end: number): void {
    while (this.length > 0) {
      const oldest = this.#words[OLDEST] as number;
      if (oldest < start || oldest >= end) return;
      this.#dropOldest();
    }
  }

  #dropOldest(): void {
    const words = this.#words;
    words[OLDEST] = words[((words[OLDEST] as number) >> 2) + NEWER] as number;
    Atomics.sub(words, COUNT, 1);
  }

  #cut(most: number): void {
    while (this.length > most) this.#dropOldest();
  }

  #append(at: number): void {
    const words = this.#words;
    const newest = words[NEWEST] as number;
    if (this.length === 0) words[OLDEST] = at;
    else words[(newest >> 2) + NEWER] = at;
    words[(at >> 2) + OLDER] = newest;
    words[NEWEST] = at;
    Atomics.add(words, COUNT, 1);
  }

  #putTexts(start: number, args: number, texts: readonly string[]): void {
    const bytes = this.#bytes;
    bytes[start] = args;
    bytes[start + 1] = 0;
    let at = start + 2;
    for (const text of texts) {
      bytes[at] = text.length & 0xff;
      bytes[at + 1] = text.length >> 8;
      writeLatin1(bytes, at + 2, text);
      at += 2 + text.length;
    }
  }

  #read(at: number): SlowEntry {
    const bytes = this.#bytes;
    const cell = at >> 3;
    const args = bytes[at + TEXTS_AT] as number;
    const texts: string[] = [];
    let from = at + TEXTS_AT + 2;
    for (let n = 0; n < args + 2; n++) {
      const length = (bytes[from] as number) | ((bytes[from + 1] as number) << 8);
      texts.push(latin1(bytes, from + 2, from + 2 + length));
      from += 2 + length;
    }
    const [address = "", clientName = "", ...words] = texts;
    return {
      id: this.#idAt(at),
      unixSeconds: this.#doubles[cell + SECONDS] as number,
      usec: this.#doubles[cell + USEC] as number,
      words,
      address,
      clientName,
    };
  }
}

const REDACTED = "(redacted)";

/** A word as the slow log keeps it, of which only the first bytes are at hand. */
function shortened(head: string, length: number): string {
  const more = length - SLOW_LOG_ARGUMENT_BYTES_MAX;
  if (more <= 0) return head;
  return `${head.slice(0, SLOW_LOG_ARGUMENT_BYTES_MAX)}... (${more} more bytes)`;
}

/**
 * The words of a request as the slow log keeps them: as many as it may, each cut. `bigHeads` are
 * the first bytes of arguments in heap blocks, which the store may have by now; `hidden` tells
 * arguments that are not to be seen.
 */
export function slowLogWords(
  args: Args,
  bigHeads: readonly string[] | null,
  hidden: readonly number[],
): string[] {
  const isLong = args.count > SLOW_LOG_ARGUMENTS_MAX;
  const shown = isLong ? SLOW_LOG_ARGUMENTS_MAX - 1 : args.count;
  const words: string[] = [];
  for (let i = 0; i < shown; i++) {
    const head = bigHeads?.[i] ?? args.head(i, SLOW_LOG_ARGUMENT_BYTES_MAX);
    words.push(hidden.includes(i) ? REDACTED : shortened(head, args.length(i)));
  }
  if (isLong) words.push(`... (${args.count - shown} more arguments)`);
  return words;
}

/** The first bytes of arguments that are in heap blocks, before the command can take those. */
export function headsOfBigs(args: Args): string[] | null {
  if (args.bigs === null) return null;
  const heads: string[] = [];
  for (let i = 0; i < Math.min(args.count, SLOW_LOG_ARGUMENTS_MAX); i++) {
    heads.push(args.head(i, SLOW_LOG_ARGUMENT_BYTES_MAX));
  }
  return heads;
}
