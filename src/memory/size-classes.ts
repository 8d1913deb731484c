/**
 * Size classes of small blocks, in units of 8 bytes: every step of one unit to 1 KiB, then the
 * sizes that divide a page of 1,024 units with the least waste.
 */
import { PAGE_UNITS } from "./layout.ts";

const SMALL_STEPS = 128;
const LARGER_UNITS = [146, 170, 204, 256, 341, 512, 1024];

export const CLASS_COUNT: number = SMALL_STEPS + LARGER_UNITS.length;
/** Units of a block of each class. */
export const CLASS_UNITS: Int32Array = new Int32Array(CLASS_COUNT);
/** Class of the smallest block that holds this many units, for 1..1024. */
export const CLASS_OF_UNITS: Uint8Array = new Uint8Array(PAGE_UNITS + 1);

for (let i = 0; i < SMALL_STEPS; i++) CLASS_UNITS[i] = i + 1;
for (let i = 0; i < LARGER_UNITS.length; i++) {
  CLASS_UNITS[SMALL_STEPS + i] = LARGER_UNITS[i] as number;
}
for (let units = 1, cls = 0; units <= PAGE_UNITS; units++) {
  while ((CLASS_UNITS[cls] as number) < units) cls++;
  CLASS_OF_UNITS[units] = cls;
}
