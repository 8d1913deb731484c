/**
 * Ranges of bytes that a module keeps for the next call instead of making new ones. The last one
 * that was put into it may be in shared memory that is given back to the system: whoever lets go of
 * memory lets all of them go.
 */

/** Bytes `start..end` of `source`. */
export type ByteRange = { source: Uint8Array; start: number; end: number };

const NO_BYTES = new Uint8Array(0);
const ranges: ByteRange[] = [];

/** A range for good; at module level only. */
export function scratchRange(): ByteRange {
  const range = { source: NO_BYTES, start: 0, end: 0 };
  ranges.push(range);
  return range;
}

export function forgetScratchRanges(): void {
  for (const range of ranges) range.source = NO_BYTES;
}
