/**
 * What one thread does while it holds locks: bytes copied, entries of tables moved, elements
 * visited. The most that was done under one lock proves the bounds: 64 KiB, 512 and 4,096, but for
 * commands that are documented as taking time in proportion to what they are given.
 *
 * Whoever does such work counts it here. Whoever gives the locks up calls `settle`; short copies, of
 * which no command makes many, are not counted.
 */

/** Entries that may be moved under one lock, and of those the most that removing one key moves. */
const MOVED_MAX = 512;
const REMOVAL_MOVED_MAX = 409;

export class Work {
  /** Something was counted since the last `settle`. */
  isUsed = false;
  bytesCopied = 0;
  entriesMoved = 0;
  elementsVisited = 0;
  /** Elements ever visited, as an int32 that wraps: only differences count. */
  visitedTotal = 0;
  /** The most under one lock. */
  bytesCopiedMax = 0;
  entriesMovedMax = 0;
  elementsVisitedMax = 0;

  /** False once removing a key that was met on a walk could move too much under this lock. */
  get mayRemove(): boolean {
    return this.entriesMoved <= MOVED_MAX - REMOVAL_MOVED_MAX;
  }

  copied(bytes: number): void {
    this.bytesCopied += bytes;
    this.isUsed = true;
  }

  moved(entries: number): void {
    this.entriesMoved += entries;
    this.isUsed = true;
  }

  visited(elements: number): void {
    this.elementsVisited += elements;
    this.visitedTotal = (this.visitedTotal + elements) | 0;
    this.isUsed = true;
  }

  /** The locks are given up. What was done counts if there is a bound for it. */
  settle(isBounded: boolean): void {
    if (isBounded) {
      this.bytesCopiedMax = Math.max(this.bytesCopiedMax, this.bytesCopied);
      this.entriesMovedMax = Math.max(this.entriesMovedMax, this.entriesMoved);
      this.elementsVisitedMax = Math.max(this.elementsVisitedMax, this.elementsVisited);
    }
    this.isUsed = false;
    this.bytesCopied = 0;
    this.entriesMoved = 0;
    this.elementsVisited = 0;
  }

  /** Begins anew, once the maxima were taken. */
  clear(): void {
    this.bytesCopiedMax = 0;
    this.entriesMovedMax = 0;
    this.elementsVisitedMax = 0;
  }
}
