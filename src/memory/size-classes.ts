/**
 * Size classes of blocks up to 64 KiB, in units of 8 bytes, and the slabs they are cut from.
 *
 * To 1 KiB there is a class for every unit. Above, a class is what divides a slab of 1..8 pages
 * with little waste, in steps of about a seventh; short slabs are preferred, since each shard may
 * have one that is partly filled for each class. The largest classes have slabs of one block.
 */
import { PAGE_UNITS, PAGES_PER_SPAN } from "./layout.ts";

const SMALL_STEPS = 128;
/** Units of a block, pages of its slab. */
const LARGER: readonly (readonly [number, number])[] = [
  [146, 1],
  [170, 1],
  [204, 1],
  [227, 2],
  [256, 1],
  [292, 2],
  [341, 1],
  [409, 2],
  [512, 1],
  [585, 4],
  [682, 2],
  [768, 3],
  [896, 7],
  [1024, 1],
  [1170, 8],
  [1365, 4],
  [1536, 3],
  [1792, 7],
  [2048, 2],
  [2389, 7],
  [2730, 8],
  [3072, 3],
  [3584, 7],
  [4096, 4],
  [5120, 5],
  [6144, 6],
  [7168, 7],
  [8192, 8],
];

const SPAN_UNITS = PAGES_PER_SPAN * PAGE_UNITS;
/** Units of the largest block that comes from a slab: a span. */
export const SLAB_BLOCK_MAX: number = SPAN_UNITS;
export const CLASS_COUNT: number = SMALL_STEPS + LARGER.length;
/** Units of a block of each class. */
export const CLASS_UNITS: Int32Array = new Int32Array(CLASS_COUNT);
/** Pages, and units, of a slab of each class. */
export const SLAB_PAGES: Uint8Array = new Uint8Array(CLASS_COUNT).fill(1);
export const SLAB_UNITS: Int32Array = new Int32Array(CLASS_COUNT);
/** Class of the smallest block that holds this many units, for 1..SLAB_BLOCK_MAX. */
export const CLASS_OF_UNITS: Uint8Array = new Uint8Array(SLAB_BLOCK_MAX + 1);

for (let i = 0; i < SMALL_STEPS; i++) CLASS_UNITS[i] = i + 1;
for (const [i, [units, pages]] of LARGER.entries()) {
  CLASS_UNITS[SMALL_STEPS + i] = units;
  SLAB_PAGES[SMALL_STEPS + i] = pages;
}
for (let cls = 0; cls < CLASS_COUNT; cls++) {
  SLAB_UNITS[cls] = (SLAB_PAGES[cls] as number) * PAGE_UNITS;
}
for (let units = 1, cls = 0; units <= SLAB_BLOCK_MAX; units++) {
  while ((CLASS_UNITS[cls] as number) < units) cls++;
  CLASS_OF_UNITS[units] = cls;
}

/** Units that a block for so many really takes: its class, or whole spans. */
export function blockSize(units: number): number {
  if (units <= SLAB_BLOCK_MAX) return CLASS_UNITS[CLASS_OF_UNITS[units] as number] as number;
  return (units + SPAN_UNITS - 1) & -SPAN_UNITS;
}
