/**
 * What the tests of commands run on: a store in this process and `call`, which does what the
 * dispatcher does for one request (key slots and hashes, long arguments in blocks of their own) and
 * returns the bytes of the reply. No sockets, no threads, a clock that only moves when told to.
 *
 * The heap is in checked mode and can be told to refuse allocations. `check` walks everything and
 * throws unless every unit in use belongs to exactly one record, segment, directory or root.
 */

import { Args } from "../base/args.ts";
import { assert } from "../base/assert.ts";
import { equalBytes, latin1, latin1Bytes } from "../base/bytes.ts";
import { keySlot } from "../base/crc16.ts";
import { Random } from "../base/random.ts";
import type { Command } from "../command/command.ts";
import { LOCKS_EACH } from "../command/command.ts";
import { KeyList } from "../command/key-specs.ts";
import { CommandTable } from "../command/lookup.ts";
import type { AfterPart, CommandSpec } from "../command/spec.ts";
import type { Clock } from "../env/env.ts";
import { bigStart, makeBigBlock } from "../keyspace/big-block.ts";
import type { Database } from "../keyspace/database.ts";
import { Stats, statsBytes } from "../keyspace/stats.ts";
import { Store } from "../keyspace/store.ts";
import { BIG_STRING_BYTES } from "../limits.ts";
import { MIB, newControl, poolHosts, RefusingHeap } from "../memory/heap-test-support.ts";
import { CHUNK_SHIFT, H_BASE_SECONDS, H_SPANS_LIMIT } from "../memory/layout.ts";
import type { PoolHost } from "../memory/pool.ts";
import { wrongArity } from "../protocol/errors.ts";
import { Reply, type SharedPiece } from "../protocol/reply.ts";
import { checkStore } from "./test-check.ts";

/** Commands of values look at no session. */
const NO_SESSION = null as never;

export type TestClock = Clock & { unixMs: number };

export type TestStoreOptions = {
  commands: readonly CommandSpec[];
  shards?: number;
  databases?: number;
  chunkBytes?: number;
  checked?: boolean;
  /** Another thread's view of the same store, which then is one of two threads. */
  beside?: TestStore;
};

type HeldPiece = { piece: SharedPiece; copy: Uint8Array };

const TEST_START_MS = 1_700_000_000_000;

export class TestStore {
  readonly heap: RefusingHeap;
  readonly store: Store;
  readonly clock: TestClock;
  readonly commands: CommandTable;
  readonly reply: Reply = new Reply();
  readonly args: Args = new Args();
  /** "event key", of every change since it was last emptied. */
  readonly events: string[] = [];
  db: Database;
  /** Leaves replies of shared memory pinned until `releaseReplies`. */
  holdReplies = false;
  /** Long arguments come in the request's buffer, as those of scripts do, not in blocks. */
  plainArguments = false;
  readonly #keys = new KeyList();
  readonly #held: HeldPiece[] = [];
  /** Called while a command that was put off holds no lock: before its copy is made, and after. */
  whileUnlocked: () => void = () => {};
  /** Of this thread and the one beside it. */
  readonly #hosts: readonly PoolHost[];

  constructor(options: TestStoreOptions) {
    const { beside } = options;
    const control = beside?.heap.control ?? controlOf(options);
    this.#hosts = beside === undefined ? poolHosts(2) : beside.#hosts;
    const thread = beside === undefined ? 0 : 1;
    this.heap = new RefusingHeap(control, this.#hosts[thread] as PoolHost, options.checked ?? true);
    this.clock = {
      unixMs: TEST_START_MS,
      refresh: () => {},
      monotonicMs: () => this.clock.unixMs,
      unixUsec: () => this.clock.unixMs * 1000,
    };
    this.store = new Store({
      heap: this.heap,
      thread,
      databases: options.databases ?? 2,
      clock: this.clock,
      random: new Random(1),
      stats: new Stats(new SharedArrayBuffer(statsBytes(1)), 1, 0),
    });
    this.store.listener = {
      changed: (_db, event, source, start, end, also) => {
        const key = latin1(source, start, end);
        this.events.push(`${event} ${key}`);
        if (also !== "") this.events.push(`${also} ${key}`);
      },
    };
    this.commands = new CommandTable(options.commands);
    this.db = this.store.databases[0] as Database;
  }

  select(index: number): void {
    this.db = this.store.databases[index] as Database;
  }

  /** Moves the clock. */
  advance(ms: number): void {
    this.clock.unixMs += ms;
  }

  /** Runs one command. Words that are text have one character per byte, and so has the reply. */
  call(...words: (string | Uint8Array)[]): string {
    const bytes = this.callBytes(...words);
    return latin1(bytes, 0, bytes.length);
  }

  callBytes(...words: (string | Uint8Array)[]): Uint8Array {
    const { args, reply } = this;
    this.#fillArgs(words.map((word) => (typeof word === "string" ? latin1Bytes(word) : word)));
    const command = this.commands.resolve(args, 0);
    assert(command !== null, `no command ${String(words[0])}`);
    if (command.takes(args.count)) this.#runToEnd(command);
    else reply.error(wrongArity(command.name));
    this.#dropArgs();
    return this.#takeReply();
  }

  /** Commands as one text each, words separated by blanks: their replies. */
  calls(...lines: string[]): string[] {
    return lines.map((line) => this.call(...line.split(" ")));
  }

  /** The events since the last call of this. */
  takeEvents(): string[] {
    return this.events.splice(0);
  }

  /** Lets go of the replies that `holdReplies` kept. Throws if one has changed since. */
  releaseReplies(): void {
    for (const { piece, copy } of this.#held.splice(0)) {
      const { source, start, end } = piece;
      assert(equalBytes(source, start, end, copy, 0, copy.length), "a pinned reply has changed");
      piece.done();
    }
  }

  check(): void {
    checkStore(this.store);
  }

  #runToEnd(command: Command): void {
    const { blockCopy } = this.store;
    this.#run(command);
    while (blockCopy.isWanted) {
      this.whileUnlocked();
      blockCopy.make();
      this.whileUnlocked();
      this.#run(command);
    }
    blockCopy.finish();
  }

  #run(command: Command): void {
    const { args, reply, store, db } = this;
    this.heap.pool.sync();
    this.#keys.clear();
    command.keyPositions(args, this.#keys);
    let lockAll = this.#keys.count === 0;
    for (let k = 0; k < this.#keys.count; k++) {
      const i = this.#keys.at[k] as number;
      const start = args.start[i] as number;
      const end = args.end[i] as number;
      args.slot[i] = keySlot(args.source(i), start, end);
      args.hash[i] = store.table.hash(args.viewOf(i), start, end);
      store.enterShard(store.shardOf(args.slot[i] as number));
      lockAll = false;
    }
    if (lockAll) for (let shard = 0; shard < store.shards; shard++) store.enterShard(shard);
    if (command.locks === LOCKS_EACH && command.each !== null) {
      const state = command.each.begin(db, args, NO_SESSION);
      const first = command.each.firstShard?.(db, state) ?? 0;
      for (let shard = first; shard < store.shards; shard++) {
        let after: AfterPart = "again";
        while (after === "again") {
          command.each.prepare?.(state);
          after = command.each.part(db, shard, state);
        }
        if (after === "stop") break;
      }
      command.each.finish(db, state, args, reply);
    } else {
      command.runData(db, args, reply);
    }
  }

  /** Words lie behind one another with some bytes between them, as they do in a request. */
  #fillArgs(words: readonly Uint8Array[]): void {
    const { args } = this;
    const isBig = (word: Uint8Array): boolean =>
      word.length > BIG_STRING_BYTES && !this.plainArguments;
    let size = 16;
    for (const word of words) size += isBig(word) ? 16 : word.length + 16;
    if (args.buffer.length < size) args.buffer = new Uint8Array(Math.max(size, 4096));
    args.view = new DataView(args.buffer.buffer);
    args.reserve(words.length);
    args.count = words.length;
    args.bigs = words.some(isBig) ? words.map(() => null) : null;
    let at = 13;
    for (const [i, word] of words.entries()) {
      if (isBig(word)) {
        this.#putBig(i, word);
        continue;
      }
      args.buffer.set(word, at);
      args.start[i] = at;
      args.end[i] = at + word.length;
      at += word.length + 7;
    }
  }

  #putBig(i: number, word: Uint8Array): void {
    const { args, heap } = this;
    // A server refuses a request it has no memory for; here it is always received.
    const every = heap.refuseEvery;
    const spansMax = heap.control[H_SPANS_LIMIT] as number;
    heap.refuseEvery = 0;
    heap.control[H_SPANS_LIMIT] = 0;
    const block = makeBigBlock(heap, word.length);
    heap.refuseEvery = every;
    heap.control[H_SPANS_LIMIT] = spansMax;
    assert(block !== 0, "no memory for an argument");
    const source = heap.u8[block >>> CHUNK_SHIFT] as Uint8Array;
    const start = bigStart(block);
    source.set(word, start);
    args.start[i] = start;
    args.end[i] = start + word.length;
    (args.bigs as (object | null)[])[i] = {
      block,
      source,
      view: this.store.heap.view[block >>> CHUNK_SHIFT],
    };
  }

  /** Arguments are only good for the call: what is left of them is made useless. */
  #dropArgs(): void {
    const { args, heap } = this;
    for (const big of args.bigs ?? [])
      if (big !== null && big.block !== 0) heap.freeLarge(big.block);
    args.bigs = null;
    args.buffer.fill(0xee);
    args.start.fill(-1);
    args.end.fill(-1);
    args.slot.fill(-1);
    args.hash.fill(-1);
  }

  #takeReply(): Uint8Array {
    const { reply } = this;
    const out = new Uint8Array(reply.length + reply.sharedBytes);
    let from = 0;
    let to = 0;
    for (const piece of reply.shared.splice(0)) {
      out.set(reply.buffer.subarray(from, piece.before), to);
      to += piece.before - from;
      from = piece.before;
      out.set(piece.source.subarray(piece.start, piece.end), to);
      to += piece.end - piece.start;
      if (this.holdReplies) {
        this.#held.push({ piece, copy: piece.source.slice(piece.start, piece.end) });
      } else {
        piece.done();
      }
    }
    out.set(reply.buffer.subarray(from, reply.length), to);
    reply.length = 0;
    reply.sharedBytes = 0;
    reply.errors = 0;
    return out;
  }
}

function controlOf({ shards = 1, chunkBytes = 16 * MIB }: TestStoreOptions): Int32Array {
  const control = newControl(shards, chunkBytes);
  control[H_BASE_SECONDS] = Math.floor(TEST_START_MS / 1000) - 1000;
  return control;
}

/** A bulk string as a reply has it. */
export function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}

export function integer(n: number | bigint): string {
  return `:${n}\r\n`;
}

export function error(text: string): string {
  return `-${text}\r\n`;
}

export const OK = "+OK\r\n";
export const NIL = "$-1\r\n";
export const NIL3 = "_\r\n";
