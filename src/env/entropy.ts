/**
 * Random numbers that nobody can guess: hash keys, ids, names of sockets and temporary files.
 *
 * Where the system has /dev/urandom it is read directly: Node's crypto module gives the same bytes
 * but takes longer to load than the rest of a start, in every thread.
 */
import { closeSync, openSync, readSync } from "node:fs";
import type { RandomSource } from "./env.ts";

const DEVICE = "/dev/urandom";

/** `count` random bytes. */
export function randomBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  if (!readDevice(bytes)) process.getBuiltinModule("node:crypto").randomFillSync(bytes);
  return bytes;
}

/** False where there is no device. */
function readDevice(bytes: Uint8Array): boolean {
  let file: number;
  try {
    file = openSync(DEVICE, "r");
  } catch {
    return false;
  }
  try {
    return readSync(file, bytes, 0, bytes.length, null) === bytes.length;
  } catch {
    return false;
  } finally {
    closeSync(file);
  }
}

/** `bytes` random bytes in lower-case hexadecimal. */
export function randomHex(bytes: number): string {
  return Buffer.from(randomBytes(bytes)).toString("hex");
}

/** Each number straight from the system: for keys, not for loops. */
export const entropy: RandomSource = {
  u32(): number {
    return new DataView(randomBytes(4).buffer).getUint32(0);
  },
  below(n: number): number {
    return Math.floor((entropy.u32() / 2 ** 32) * n);
  },
};
