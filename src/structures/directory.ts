/**
 * Directories: what makes a table of more than one segment (extendible hashing by the highest bits
 * of the hash).
 *
 *   u32 word: sign bit set, depth (5 bits at 24)
 *   u32 count, u32 expiring entries, u32 segments at full depth
 *   u32 pointer[1 << depth]
 *
 * A segment that differs from others in fewer bits than the directory has a run of pointers.
 * Of a table that is being dismantled the count is -1, and the word that counts segments holds the
 * place reached: pointers before it are gone.
 */
import { CHUNK_SHIFT, UNIT_MASK } from "../memory/layout.ts";
import { DEPTH_MASK, DEPTH_SHIFT, type Segments } from "./segment.ts";

const DIRECTORY = 1 << 31;
export const DEPTH_MAX = 24;
export const DIRECTORY_HEADER_WORDS = 4;
export const D_COUNT = 1;
export const D_EXPIRES = 2;
export const D_FULL_DEPTH = 3;

/** Depth in the first word of a segment or directory. */
export function depthIn(head: number): number {
  return (head >>> DEPTH_SHIFT) & DEPTH_MASK;
}

/** The first segment for a hash. */
export function segmentOf(i32: Int32Array[], root: number, hash: number): number {
  const m = i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = (root & UNIT_MASK) << 1;
  const head = m[at] as number;
  if (head >= 0) return root;
  return m[at + DIRECTORY_HEADER_WORDS + (hash >>> (32 - depthIn(head)))] as number;
}

function newDirectory(
  segments: Segments,
  shard: number,
  depth: number,
  count: number,
  expires: number,
): number {
  const units = (DIRECTORY_HEADER_WORDS + (1 << depth) + 1) >> 1;
  const directory = segments.heap.alloc(shard, units);
  if (directory === 0) return 0;
  const m = segments.heap.i32[directory >>> CHUNK_SHIFT] as Int32Array;
  const at = (directory & UNIT_MASK) << 1;
  m[at] = DIRECTORY | (depth << DEPTH_SHIFT);
  m[at + D_COUNT] = count;
  m[at + D_EXPIRES] = expires;
  m[at + D_FULL_DEPTH] = 0;
  return directory;
}

/**
 * Makes sure that the table has a directory of at least this depth. `count` and `expires` are those
 * of the whole table. False when memory is out.
 */
export function deepen(
  segments: Segments,
  shard: number,
  cells: Int32Array,
  cell: number,
  depth: number,
  count: number,
  expires: number,
): boolean {
  const { heap } = segments;
  const root = cells[cell] as number;
  const m = heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = (root & UNIT_MASK) << 1;
  const isDirectory = (m[at] as number) < 0;
  const before = isDirectory ? depthIn(m[at] as number) : 0;
  if (before >= depth) return true;
  const directory = newDirectory(segments, shard, depth, count, expires);
  if (directory === 0) return false;
  const n = heap.i32[directory >>> CHUNK_SHIFT] as Int32Array;
  const children = ((directory & UNIT_MASK) << 1) + DIRECTORY_HEADER_WORDS;
  for (let i = 0; i < 1 << depth; i++) {
    n[children + i] = isDirectory
      ? (m[at + DIRECTORY_HEADER_WORDS + (i >>> (depth - before))] as number)
      : root;
  }
  segments.work.copied(4 << depth);
  cells[cell] = directory;
  if (isDirectory) heap.free(shard, root);
  return true;
}

/** Points all places of a directory for hashes like this, to `depth` bits, at a segment. */
export function pointAt(
  segments: Segments,
  root: number,
  hash: number,
  depth: number,
  segment: number,
): void {
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = (root & UNIT_MASK) << 1;
  const global = depthIn(m[at] as number);
  const size = 1 << (global - depth);
  const first = at + DIRECTORY_HEADER_WORDS + ((hash >>> (32 - global)) & ~(size - 1));
  m.fill(segment, first, first + size);
}

/** Says that so many segments came to `depth` bits. Returns how many have all the directory's. */
export function countFullDepth(
  segments: Segments,
  root: number,
  depth: number,
  change: number,
): number {
  const m = segments.heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
  const at = (root & UNIT_MASK) << 1;
  if (depth === depthIn(m[at] as number)) {
    m[at + D_FULL_DEPTH] = (m[at + D_FULL_DEPTH] as number) + change;
  }
  return m[at + D_FULL_DEPTH] as number;
}

/** Halves a directory in which no segment needs the last bit, as often as that holds. */
export function halve(segments: Segments, shard: number, cells: Int32Array, cell: number): void {
  const { heap } = segments;
  for (;;) {
    const root = cells[cell] as number;
    const m = heap.i32[root >>> CHUNK_SHIFT] as Int32Array;
    const at = (root & UNIT_MASK) << 1;
    const depth = depthIn(m[at] as number) - 1;
    if (depth === 0) {
      cells[cell] = m[at + DIRECTORY_HEADER_WORDS] as number;
      heap.free(shard, root);
      return;
    }
    const count = m[at + D_COUNT] as number;
    const directory = newDirectory(segments, shard, depth, count, m[at + D_EXPIRES] as number);
    if (directory === 0) return;
    const n = heap.i32[directory >>> CHUNK_SHIFT] as Int32Array;
    const nAt = (directory & UNIT_MASK) << 1;
    let full = 0;
    for (let i = 0; i < 1 << depth; i++) {
      const segment = m[at + DIRECTORY_HEADER_WORDS + 2 * i] as number;
      n[nAt + DIRECTORY_HEADER_WORDS + i] = segment;
      if (depthIn(segments.headOf(segment)) === depth) full++;
    }
    n[nAt + D_FULL_DEPTH] = full;
    segments.work.copied(4 << depth);
    cells[cell] = directory;
    heap.free(shard, root);
    if (full !== 0) return;
  }
}
