/**
 * One row per client in shared memory, written by the client's own thread and read by all: CLIENT
 * LIST, CLIENT KILL and INFO ask no thread for anything. Byte layout of a row:
 *
 *   0   i32 thread + 1, 0 free      4   i32 ~id; id of a client that is to go, or has gone
 *   8   f64 id                      16  f64 created, unix ms       24  f64 last used, unix ms
 *   32  i32 database                36  i32 flags                  40  i32 RESP version
 *   44  i32 id of the last command  48  i32 query buffer bytes     52  i32 output bytes
 *   56  i32 owner port, -1 plain    60  i32 argument bytes
 *   64  texts, each u16 length and bytes: remote, local, name, library, its version
 *   832 i32 free query buffer bytes 836 i32 class                  840 i32 file descriptor, -1 none
 *   844 i32 1 if it is killed because clients take too much memory
 *   848 i32 block word: low 30 bits of the client id, then 2 bits; 0 if it is not blocked
 *
 * A reader may see a row in the middle of a change; it checks the id before and after.
 */
import { latin1, writeLatin1 } from "../base/bytes.ts";
import { cString } from "../protocol/errors.ts";

export const ROW_BYTES = 1024;
const HEADER_BYTES = 64;

export const FLAG_UNIX: number = 1 << 0;
export const FLAG_NO_EVICT: number = 1 << 1;
export const FLAG_NO_TOUCH: number = 1 << 2;
export const FLAG_READONLY: number = 1 << 3;
export const FLAG_CLOSING: number = 1 << 4;
/** It runs MONITOR. */
export const FLAG_MONITOR: number = 1 << 5;
/** Its request waits, for CLIENT PAUSE to end. */
export const FLAG_BLOCKED: number = 1 << 6;
/** It is not read from: it has sent much that could not be run yet. */
export const FLAG_DEAF: number = 1 << 7;
/** Its request waited, and somebody has asked that it be answered; shown instead of blocked. */
export const FLAG_UNBLOCKED: number = 1 << 8;

/** The low bits of a block word: it is blocked, and what CLIENT UNBLOCK has asked for. */
const BLOCKED = 1;
export const UNBLOCK_BY_TIMEOUT = 2;
export const UNBLOCK_BY_ERROR = 3;
const BLOCK_BITS = 3;

/** Classes of clients, as CLIENT LIST TYPE and client-output-buffer-limit tell them apart. */
export const CLASS_NORMAL = 0;
export const CLASS_REPLICA = 1;
export const CLASS_PUBSUB = 2;
export const CLASS_MASTER = 3;

const REMOTE_AT = 64;
const LOCAL_AT = 176;
const NAME_AT = 288;
const LIBRARY_AT = 544;
const VERSION_AT = 704;
const TEXT_END = 832;
const QUERY_FREE_AT = 832;
const CLASS_AT = 836;
const DESCRIPTOR_AT = 840;
const EVICTED_AT = 844;
const BLOCK_AT = 848;
/** What counts more than this is shown as this. */
const COUNT_MAX = 0x7fffffff;
/** Longest text that fits each place. */
export const NAME_BYTES_MAX: number = LIBRARY_AT - NAME_AT - 2;
export const LIBRARY_BYTES_MAX: number = VERSION_AT - LIBRARY_AT - 2;
export const VERSION_BYTES_MAX: number = TEXT_END - VERSION_AT - 2;

export type ClientRow = {
  row: number;
  thread: number;
  id: number;
  createdMs: number;
  lastMs: number;
  db: number;
  flags: number;
  proto: number;
  command: number;
  queryBytes: number;
  queryFreeBytes: number;
  outputBytes: number;
  argumentBytes: number;
  owner: number;
  /** One of the CLASS constants. */
  kind: number;
  descriptor: number;
  remote: string;
  local: string;
  name: string;
  libName: string;
  libVersion: string;
};

/** How much a client holds beside what every one does, and whether it may be evicted for that. */
export type ClientSize = {
  row: number;
  id: number;
  thread: number;
  bytes: number;
  isEvictable: boolean;
};

export function clientTableBytes(rows: number): number {
  return HEADER_BYTES + rows * ROW_BYTES;
}

export class ClientTable {
  readonly rows: number;
  private readonly i32: Int32Array;
  private readonly f64: Float64Array;
  private readonly u8: Uint8Array;
  /** Where this thread looks for a free row first. */
  private hint: number;

  constructor(buffer: SharedArrayBuffer, thread: number, threads: number) {
    this.rows = (buffer.byteLength - HEADER_BYTES) / ROW_BYTES;
    this.i32 = new Int32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.u8 = new Uint8Array(buffer);
    this.hint = Math.floor((this.rows / threads) * thread);
  }

  /** Clients connected now. */
  count(): number {
    return Atomics.load(this.i32, 1);
  }

  /** Counts a client in unless there are `max` already. */
  enter(max: number): boolean {
    if (Atomics.add(this.i32, 1, 1) < max) return true;
    Atomics.sub(this.i32, 1, 1);
    return false;
  }

  /** Counts a client out that got no row. */
  leave(): void {
    Atomics.sub(this.i32, 1, 1);
  }

  /** Clients that came by an owner's port. */
  countOf(owner: number): number {
    let count = 0;
    for (let row = 0; row < this.rows; row++) {
      const at = this.word(row);
      if (this.i32[at] === 0 || this.i32[at + 14] !== owner) continue;
      const id = this.f64[(at >> 1) + 1] as number;
      if (id !== 0 && !this.isKilled(row, id)) count++;
    }
    return count;
  }

  nextId(): number {
    return (Atomics.add(this.i32, 0, 1) + 1) >>> 0;
  }

  /** A row for a new client of `thread`, -1 when all are taken. */
  claim(thread: number): number {
    for (let n = 0; n < this.rows; n++) {
      const row = (this.hint + n) % this.rows;
      const at = this.word(row);
      if (this.i32[at] !== 0) continue;
      if (Atomics.compareExchange(this.i32, at, 0, thread + 1) !== 0) continue;
      this.hint = row + 1;
      this.i32[at + 1] = ~0;
      this.i32[at + (EVICTED_AT >> 2)] = 0;
      this.i32[at + (BLOCK_AT >> 2)] = 0;
      return row;
    }
    return -1;
  }

  /** The client of a row is gone; it is counted out unless it was when it was killed. */
  free(row: number): void {
    const at = this.word(row);
    const id = this.f64[(at >> 1) + 1] as number;
    if (Atomics.exchange(this.i32, at + 1, id | 0) !== (id | 0)) this.leave();
    this.f64[(at >> 1) + 1] = 0;
    this.hint = row;
    Atomics.store(this.i32, at, 0);
  }

  /** Frees the rows of a thread that is gone. */
  freeAllOf(thread: number): void {
    for (let row = 0; row < this.rows; row++) {
      if (Atomics.load(this.i32, this.word(row)) !== thread + 1) continue;
      this.free(row);
    }
  }

  private word(row: number): number {
    return (HEADER_BYTES + row * ROW_BYTES) >> 2;
  }

  /** Everything about a new client. */
  fill(client: ClientRow): void {
    const base = HEADER_BYTES + client.row * ROW_BYTES;
    this.putText(base + REMOTE_AT, client.remote, LOCAL_AT - REMOTE_AT - 2);
    this.putText(base + LOCAL_AT, client.local, NAME_AT - LOCAL_AT - 2);
    this.f64[(base + 16) >> 3] = client.createdMs;
    this.i32[(base + 56) >> 2] = client.owner;
    this.i32[(base + DESCRIPTOR_AT) >> 2] = client.descriptor;
    this.setState(client);
    this.setUse(client.row, client.createdMs, client.command, 0, 0, 0, 0);
    Atomics.store(this.i32, (base >> 2) + 1, ~client.id);
    this.f64[(base + 8) >> 3] = client.id;
  }

  /** What commands change: names, database, flags, protocol. */
  setState(client: {
    row: number;
    db: number;
    flags: number;
    kind: number;
    proto: number;
    name: string;
    libName: string;
    libVersion: string;
  }): void {
    const base = HEADER_BYTES + client.row * ROW_BYTES;
    this.i32[(base + 32) >> 2] = client.db;
    this.i32[(base + 36) >> 2] = client.flags;
    this.i32[(base + 40) >> 2] = client.proto;
    this.i32[(base + CLASS_AT) >> 2] = client.kind;
    this.putText(base + NAME_AT, cString(client.name), NAME_BYTES_MAX);
    this.putText(base + LIBRARY_AT, cString(client.libName), LIBRARY_BYTES_MAX);
    this.putText(base + VERSION_AT, cString(client.libVersion), VERSION_BYTES_MAX);
  }

  /** The part of `setUse` that every turn changes. */
  setLast(row: number, lastMs: number, command: number): void {
    const base = HEADER_BYTES + row * ROW_BYTES;
    this.f64[(base + 24) >> 3] = lastMs;
    this.i32[(base + 44) >> 2] = command;
  }

  /** After a turn of the client. */
  setUse(
    row: number,
    lastMs: number,
    command: number,
    queryBytes: number,
    queryFreeBytes: number,
    outputBytes: number,
    argumentBytes: number,
  ): void {
    const base = HEADER_BYTES + row * ROW_BYTES;
    this.f64[(base + 24) >> 3] = lastMs;
    const at = (base + 44) >> 2;
    this.i32[at] = command;
    this.i32[at + 1] = Math.min(queryBytes, COUNT_MAX);
    this.i32[at + 2] = Math.min(outputBytes, COUNT_MAX);
    this.i32[at + 4] = Math.min(argumentBytes, COUNT_MAX);
    this.i32[(base + QUERY_FREE_AT) >> 2] = Math.min(queryFreeBytes, COUNT_MAX);
  }

  /** Flags alone: what changes in the middle of a turn. */
  setFlags(row: number, flags: number): void {
    this.i32[(HEADER_BYTES + row * ROW_BYTES + 36) >> 2] = flags;
  }

  private putText(at: number, text: string, max: number): void {
    const cut = text.length > max ? text.slice(0, max) : text;
    this.u8[at] = cut.length & 0xff;
    this.u8[at + 1] = cut.length >> 8;
    writeLatin1(this.u8, at + 2, cut);
  }

  private textAt(at: number): string {
    const length = Math.min((this.u8[at] as number) | ((this.u8[at + 1] as number) << 8), 512);
    return latin1(this.u8, at + 2, at + 2 + length);
  }

  /** Reads a row, null if no client is there. */
  read(row: number): ClientRow | null {
    const base = HEADER_BYTES + row * ROW_BYTES;
    const at = base >> 2;
    const id = this.f64[(base + 8) >> 3] as number;
    if (this.i32[at] === 0 || id === 0) return null;
    const client: ClientRow = {
      row,
      thread: (this.i32[at] as number) - 1,
      id,
      createdMs: this.f64[(base + 16) >> 3] as number,
      lastMs: this.f64[(base + 24) >> 3] as number,
      db: this.i32[at + 8] as number,
      flags: this.flagsAt(at),
      proto: this.i32[at + 10] as number,
      command: this.i32[at + 11] as number,
      queryBytes: this.i32[at + 12] as number,
      queryFreeBytes: this.i32[at + (QUERY_FREE_AT >> 2)] as number,
      outputBytes: this.i32[at + 13] as number,
      owner: this.i32[at + 14] as number,
      argumentBytes: this.i32[at + 15] as number,
      kind: this.i32[at + (CLASS_AT >> 2)] as number,
      descriptor: this.i32[at + (DESCRIPTOR_AT >> 2)] as number,
      remote: this.textAt(base + REMOTE_AT),
      local: this.textAt(base + LOCAL_AT),
      name: this.textAt(base + NAME_AT),
      libName: this.textAt(base + LIBRARY_AT),
      libVersion: this.textAt(base + VERSION_AT),
    };
    return this.f64[(base + 8) >> 3] === id ? client : null;
  }

  private flagsAt(at: number): number {
    const flags = this.i32[at + 9] as number;
    const block = this.i32[at + (BLOCK_AT >> 2)] as number;
    return (block & BLOCK_BITS) > BLOCKED ? (flags & ~FLAG_BLOCKED) | FLAG_UNBLOCKED : flags;
  }

  /** All clients, by ascending id. */
  list(): ClientRow[] {
    const clients: ClientRow[] = [];
    for (let row = 0; row < this.rows; row++) {
      const client = this.read(row);
      if (client !== null) clients.push(client);
    }
    return clients.sort((a, b) => a.id - b.id);
  }

  /** The sizes of all clients that nobody has told to go. */
  sizes(): ClientSize[] {
    const sizes: ClientSize[] = [];
    for (let row = 0; row < this.rows; row++) {
      const at = this.word(row);
      if (this.i32[at] === 0) continue;
      const id = this.f64[(at >> 1) + 1] as number;
      if (id === 0 || this.isKilled(row, id)) continue;
      const flags = this.i32[at + 9] as number;
      const kind = this.i32[at + (CLASS_AT >> 2)] as number;
      sizes.push({
        row,
        id,
        thread: (this.i32[at] as number) - 1,
        bytes:
          (this.i32[at + 12] as number) +
          (this.i32[at + 13] as number) +
          (this.i32[at + 15] as number) +
          (this.i32[at + (QUERY_FREE_AT >> 2)] as number),
        isEvictable:
          (flags & FLAG_NO_EVICT) === 0 && (kind === CLASS_NORMAL || kind === CLASS_PUBSUB),
      });
    }
    return sizes;
  }

  /** As `kill`, because clients take too much memory. */
  evict(client: { row: number; id: number }): boolean {
    if (this.f64[(this.word(client.row) >> 1) + 1] !== client.id) return false;
    this.i32[this.word(client.row) + (EVICTED_AT >> 2)] = 1;
    return this.kill(client);
  }

  /**
   * Asks the thread of a client to close it, and counts it out. False if it is gone, or was asked
   * before.
   */
  kill(client: { row: number; id: number }): boolean {
    const { id } = client;
    const at = this.word(client.row) + 1;
    if (Atomics.compareExchange(this.i32, at, ~id, id | 0) !== ~id) return false;
    this.leave();
    return true;
  }

  /** True if the client, which is killed, is so for the memory that clients take. */
  isEvicted(row: number): boolean {
    return this.i32[this.word(row) + (EVICTED_AT >> 2)] === 1;
  }

  /** True if somebody asked for the client in this row to be closed. */
  isKilled(row: number, id: number): boolean {
    return this.i32[this.word(row) + 1] === (id | 0);
  }

  /** The client's command waits, and CLIENT UNBLOCK may end that. */
  setBlocked(row: number, id: number): void {
    Atomics.store(this.i32, this.word(row) + (BLOCK_AT >> 2), (id << 2) | BLOCKED);
  }

  /** It waits no more. Returns what was asked for last: one of the UNBLOCK constants, else less. */
  takeUnblock(row: number): number {
    return Atomics.exchange(this.i32, this.word(row) + (BLOCK_AT >> 2), 0) & BLOCK_BITS;
  }

  isAskedToUnblock(row: number): boolean {
    return ((this.i32[this.word(row) + (BLOCK_AT >> 2)] as number) & BLOCK_BITS) > BLOCKED;
  }

  /**
   * Asks that a client be answered: `how` is one of the UNBLOCK constants. Returns the client's
   * thread, or -1 if it is not blocked, or asked already.
   */
  unblock(id: number, how: number): number {
    for (let row = 0; row < this.rows; row++) {
      const at = this.word(row);
      if (this.f64[(at >> 1) + 1] !== id) continue;
      const thread = (this.i32[at] as number) - 1;
      const word = at + (BLOCK_AT >> 2);
      const blocked = (id << 2) | BLOCKED;
      // By the id in it: another client may have come to this row meanwhile.
      const was = Atomics.compareExchange(this.i32, word, blocked, (id << 2) | how);
      return was === blocked ? thread : -1;
    }
    return -1;
  }
}
