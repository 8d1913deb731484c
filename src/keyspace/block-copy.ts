/**
 * The copy of a big string that a thread makes while it holds no lock, for a command that moves or
 * copies one: nobody waits for a shard while megabytes are copied or cleared.
 *
 *   1  under the locks, the handler finds that it needs a copy: `want` pins the block, and the
 *      handler returns with nothing changed and nothing answered (PUT_OFF)
 *   2  the dispatcher gives the locks up and calls `make`
 *   3  it takes the locks and runs the command once more; the handler finds the same block under
 *      its key, whose bytes are the same since it is pinned, and uses the copy (`take`)
 *
 * If the key holds anything else by then, the command does what is to be done now, as if it had
 * come later; that may be to want another copy. A block that is pinned is never freed, so none is
 * taken for one that was there before. After VAIN_MAX copies in vain a command copies under its
 * locks: so somebody gets on, whatever others do to their keys.
 *
 * A thread has one copy at most. That of a session which has to wait for a lock again is kept for a
 * while, for whoever needs a copy of that block next.
 */
import { assert } from "../base/assert.ts";
import { copyLong } from "../base/bytes.ts";
import type { Heap } from "../memory/heap.ts";
import { CHUNK_SHIFT } from "../memory/layout.ts";
import { bigCapacity, bigStart, isOrphan, makeBigBlock, pin, unpin } from "./big-block.ts";

/** What a handler says that may need a copy. */
export const WRITTEN = 0;
/** Nothing was changed: it is to be run again once the copy is made. */
export const PUT_OFF = 1;
export const NO_MEMORY = 2;

/** Copies made in vain, one after another, before a command copies under its locks. */
const VAIN_MAX = 4;
/** Bytes copied before a look at whether the string is still wanted by anybody. */
const SLICE_BYTES = 1 << 20;

export class BlockCopy {
  /** The dispatcher is to look: a command was put off, or has used the copy. */
  isDue = false;
  /** A command was put off. */
  isWanted = false;
  private readonly heap: Heap;
  private isMade = false;
  /** The block that is copied, pinned; 0 if there is none and the copy only begins with zeros. */
  private from = 0;
  /** The copy; 0 if there is no memory for it. */
  private to = 0;
  /** Bytes that are copied, and those that the string is to have; zeros lie between. */
  private length = 0;
  private total = 0;
  /** Bytes that it has room for, if there is memory. */
  private most = 0;
  private vain = 0;
  private isOld = false;

  constructor(heap: Heap) {
    this.heap = heap;
  }

  /**
   * True if there is a copy of the block `from` (0: of nothing) with zeros behind the string up to
   * `filledTo`, and with room for `total` bytes; or if there was no memory for it, then `block` is 0.
   */
  fits(from: number, filledTo: number, total: number): boolean {
    if (!this.isMade || this.from !== from) return false;
    if (this.to === 0) return true;
    return this.total >= filledTo && bigCapacity(this.heap, this.to) >= total;
  }

  /** The copy that `fits`. It stays this object's until `take`. */
  get block(): number {
    return this.to;
  }

  /** The copy is the caller's now, who gives it to a record. */
  take(): void {
    this.to = 0;
    this.vain = 0;
    this.isDue = true;
  }

  /**
   * Asks for a copy of the first `length` bytes of the string in block `from`, whose shard is locked,
   * with zeros behind them up to `total`, and with room for `most` bytes unless memory is short. True
   * if the command is put off until it is made; false if it is to copy itself.
   */
  want(from: number, length: number, total: number, most: number): boolean {
    assert(!this.isWanted, "a command wants two copies");
    if (this.isMade) {
      this.drop();
      this.vain++;
    }
    if (this.vain >= VAIN_MAX) {
      this.vain = 0;
      return false;
    }
    this.from = from;
    if (from !== 0) pin(this.heap, from);
    this.length = length;
    this.total = total;
    this.most = most;
    this.isWanted = true;
    this.isDue = true;
    return true;
  }

  /** Makes the copy that was wanted. No lock is held. */
  make(): void {
    const { heap, from, length, total } = this;
    this.isWanted = false;
    this.isDue = false;
    this.isMade = true;
    this.isOld = false;
    let to = makeBigBlock(heap, this.most);
    if (to === 0 && total < this.most) to = makeBigBlock(heap, total);
    this.to = to;
    if (to === 0) return;
    const target = heap.u8[to >>> CHUNK_SHIFT] as Uint8Array;
    const start = bigStart(to);
    if (from !== 0) {
      const source = heap.u8[from >>> CHUNK_SHIFT] as Uint8Array;
      const first = bigStart(from);
      for (let at = 0; at < length; at += SLICE_BYTES) {
        if (isOrphan(heap, from)) {
          // Its key was changed meanwhile: the copy would be of no use.
          this.drop();
          this.vain++;
          return;
        }
        const bytes = Math.min(SLICE_BYTES, length - at);
        copyLong(target, start + at, source, first + at, bytes);
      }
    }
    // Also where something will be written: the system has to find those pages first.
    if (total > length) target.fill(0, start + length, start + total);
  }

  /** The command that wanted a copy has been run. */
  finish(): void {
    this.drop();
    this.vain = 0;
  }

  /** Lets go of the copy and of what it was made of. Needs no lock. */
  drop(): void {
    const { heap, from, to } = this;
    this.isDue = false;
    this.isWanted = false;
    this.isMade = false;
    this.from = 0;
    this.to = 0;
    if (to !== 0) heap.freeLarge(to);
    if (from !== 0) unpin(heap, from);
  }

  /** Many times a second: drops what nobody has used since the last time but one. */
  tick(): void {
    if (!this.isMade) return;
    if (this.isOld) this.drop();
    else this.isOld = true;
  }
}
