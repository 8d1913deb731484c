/**
 * The best candidates for eviction that a thread has met: up to POOL_SIZE, the best one last.
 *
 * A candidate stays here while commands run, so it is no more than a hint: where a record was, and
 * what it remembered of its use. Nothing may be read through it before it was found again. Redis's
 * rule for who comes in: of equal scores the one that has been here longer is the better one.
 */

export const POOL_SIZE = 16;

export class EvictionPool {
  length = 0;
  /** Ascending; a higher one is to be evicted first. */
  readonly scores: Float64Array = new Float64Array(POOL_SIZE);
  /** What the score was made from. If the record has another now, it was used since. */
  readonly states: Float64Array = new Float64Array(POOL_SIZE);
  readonly records: Int32Array = new Int32Array(POOL_SIZE);
  readonly hashes: Int32Array = new Int32Array(POOL_SIZE);
  readonly slots: Int32Array = new Int32Array(POOL_SIZE);
  readonly databases: Int32Array = new Int32Array(POOL_SIZE);

  /** True if a candidate with this score would come in. */
  takes(score: number): boolean {
    return this.length < POOL_SIZE || score > (this.scores[0] as number);
  }

  /** Takes a candidate in, in place of what is known of the same record, or of the worst. */
  offer(
    score: number,
    state: number,
    record: number,
    hash: number,
    slot: number,
    database: number,
  ): void {
    const known = this.indexOf(record);
    if (known >= 0) this.drop(known);
    if (!this.takes(score)) return;
    if (this.length === POOL_SIZE) this.drop(0);
    let at = 0;
    while (at < this.length && (this.scores[at] as number) < score) at++;
    for (let i = this.length; i > at; i--) this.move(i - 1, i);
    this.length++;
    this.scores[at] = score;
    this.states[at] = state;
    this.records[at] = record;
    this.hashes[at] = hash;
    this.slots[at] = slot;
    this.databases[at] = database;
  }

  drop(index: number): void {
    this.length--;
    for (let i = index; i < this.length; i++) this.move(i + 1, i);
  }

  clear(): void {
    this.length = 0;
  }

  private indexOf(record: number): number {
    let i = this.length - 1;
    while (i >= 0 && this.records[i] !== record) i--;
    return i;
  }

  private move(from: number, to: number): void {
    this.scores[to] = this.scores[from] as number;
    this.states[to] = this.states[from] as number;
    this.records[to] = this.records[from] as number;
    this.hashes[to] = this.hashes[from] as number;
    this.slots[to] = this.slots[from] as number;
    this.databases[to] = this.databases[from] as number;
  }
}
