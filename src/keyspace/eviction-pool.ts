/**
 * The best candidates for eviction that a thread has met: up to POOL_SIZE, the best one last.
 *
 * A candidate stays here while commands run, so it is no more than a hint: where a record was, and
 * what it remembered of its use. Nothing may be read through it before it was found again. Of equal
 * scores the one that came last is the better one: it is still in the cache.
 */

export const POOL_SIZE = 16;

export class EvictionPool {
  length = 0;
  /**
   * Entries, the best one last: the first `length` of these are in use. So a change moves bytes, and
   * what an entry says stays where it is.
   */
  readonly order: Uint8Array = Uint8Array.from({ length: POOL_SIZE }, (_, i) => i);
  // By entry.
  /** The higher, the sooner it is to be evicted. */
  readonly scores: Float64Array = new Float64Array(POOL_SIZE);
  /** What the score was made from. If the record has another now, it was used since. */
  readonly states: Float64Array = new Float64Array(POOL_SIZE);
  readonly records: Int32Array = new Int32Array(POOL_SIZE);
  /** Where the record was: database, slot, segment and place. */
  readonly databases: Int32Array = new Int32Array(POOL_SIZE);
  readonly slots: Int32Array = new Int32Array(POOL_SIZE);
  readonly segments: Int32Array = new Int32Array(POOL_SIZE);
  readonly places: Int32Array = new Int32Array(POOL_SIZE);
  /** Hash of the key, if the table needed it. */
  readonly hashes: Int32Array = new Int32Array(POOL_SIZE);

  /** True if a candidate with this score would come in. */
  takes(score: number): boolean {
    return this.length < POOL_SIZE || score > this.scoreAt(0);
  }

  private scoreAt(index: number): number {
    return this.scores[this.order[index] as number] as number;
  }

  /**
   * Takes a candidate in, in place of what is known of the same record, or of the worst. Returns
   * its entry, where the caller writes what else is known of it; -1 if it is not taken.
   */
  offer(score: number, state: number, record: number): number {
    const known = this.indexOf(record);
    if (known >= 0) this.drop(known);
    if (!this.takes(score)) return -1;
    if (this.length === POOL_SIZE) this.drop(0);
    const { order, scores } = this;
    const entry = order[this.length] as number;
    let at = this.length++;
    for (; at > 0; at--) {
      const before = order[at - 1] as number;
      if ((scores[before] as number) <= score) break;
      order[at] = before;
    }
    order[at] = entry;
    scores[entry] = score;
    this.states[entry] = state;
    this.records[entry] = record;
    return entry;
  }

  drop(index: number): void {
    const { order } = this;
    const entry = order[index] as number;
    const last = --this.length;
    for (let i = index; i < last; i++) order[i] = order[i + 1] as number;
    order[last] = entry;
  }

  clear(): void {
    this.length = 0;
  }

  private indexOf(record: number): number {
    const { order, records } = this;
    let i = this.length - 1;
    while (i >= 0 && records[order[i] as number] !== record) i--;
    return i;
  }
}
