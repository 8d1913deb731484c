/**
 * Time of the functions every command runs through, on 16-byte keys and short numbers in shared
 * memory: crc16, keySlot, halfSipHash13, parseInt64, formatInt64, and for comparison what they cost
 * on longer input. Fixed iterations, best of nine rounds; the last column is a hash of all results,
 * which must not change.
 *
 * Non-goals: absolute figures. Compare two revisions by alternating runs on an idle machine.
 *
 *   node build/bench/micro/base-leaves.js
 */

import { loadavg } from "node:os";
import { writeLatin1 } from "../../src/base/bytes.ts";
import { crc16, keySlot } from "../../src/base/crc16.ts";
import { type Crc64, crc64 } from "../../src/base/crc64.ts";
import { formatDouble, parseDouble } from "../../src/base/double.ts";
import { Glob } from "../../src/base/glob.ts";
import { formatInt64, int64, parseInt64 } from "../../src/base/int64.ts";
import { Random } from "../../src/base/random.ts";
import { halfSipHash13 } from "../../src/base/siphash.ts";

const ITEMS = 4096;
const ITEM_BYTES = 64;
const PASSES = 25;
const ROUNDS = 9;

/** One item: (buffer, start) to a number that depends on the work. */
type Work = (buf: Uint8Array, start: number, item: number) => number;

function run(name: string, buf: Uint8Array, work: Work): void {
  let best = Number.POSITIVE_INFINITY;
  let hash = 0;
  for (let round = 0; round < ROUNDS; round++) {
    hash = 0;
    const start = process.hrtime.bigint();
    for (let pass = 0; pass < PASSES; pass++) {
      for (let item = 0; item < ITEMS; item++) {
        hash = Math.imul(hash ^ work(buf, item * ITEM_BYTES, item), 0x01000193) + pass;
      }
    }
    const ns = Number(process.hrtime.bigint() - start) / (PASSES * ITEMS);
    if (ns < best) best = ns;
  }
  const result = (hash >>> 0).toString(16).padStart(8, "0");
  console.log(`${name.padEnd(28)} ${best.toFixed(1).padStart(8)} ns/op   ${result}`);
}

/** Items at offsets that are no multiples of a word, as keys lie in a request. */
function items(text: (item: number) => string): Uint8Array {
  const buf = new Uint8Array(new SharedArrayBuffer(ITEMS * ITEM_BYTES + 64));
  for (let item = 0; item < ITEMS; item++) writeLatin1(buf, item * ITEM_BYTES + 3, text(item));
  return buf;
}

const random = new Random("base-leaves");
const keys = items((item) => `key:${String(item * 7919).padStart(12, "0")}`.repeat(2));
const tagged = items((item) => `{user:${1000 + item}}:field`);
const small = items(() => String(100 + random.below(900)));
const medium = items(() => String(1e12 + random.below(1e12)));
const large = items(() => `-${String(1e15 + random.below(8e15))}000`);
const decimals = items(() => (1000 + random.below(9000) / 100).toFixed(2));
const numbers = Array.from({ length: ITEMS }, () => random.below(1e6) / 100);
const out = new Uint8Array(new SharedArrayBuffer(64));
const sum: Crc64 = { hi: 0, lo: 0 };
const glob = new Glob(Uint8Array.from(Buffer.from("key:*99*")));

// The loop itself; the first of the two lines includes its compilation.
console.log(`node ${process.version}, load ${loadavg()[0]?.toFixed(2)}`);
run("nothing, while compiling", keys, (_buf, start) => start);
run("nothing", keys, (_buf, start) => start);
run("crc16, 16 bytes", keys, (buf, start) => crc16(buf, start + 3, start + 19));
run("keySlot, 16 bytes", keys, (buf, start) => keySlot(buf, start + 3, start + 19));
run("keySlot, 32 bytes", keys, (buf, start) => keySlot(buf, start + 3, start + 35));
run("keySlot, hash tag", tagged, (buf, start) => keySlot(buf, start + 3, start + 20));
const keysView = new DataView(keys.buffer);
run("halfSipHash13, 16 bytes", keys, (_buf, start) =>
  halfSipHash13(0x01234567, 0x89abcdef, keysView, start + 3, start + 19),
);
run("parseInt64, 3 digits", small, (buf, start) =>
  parseInt64(buf, start + 3, start + 6) ? int64.lo | 0 : 0,
);
run("parseInt64, 13 digits", medium, (buf, start) =>
  parseInt64(buf, start + 3, start + 16) ? int64.lo | 0 : 0,
);
run("parseInt64, 19 digits", large, (buf, start) =>
  parseInt64(buf, start + 3, start + 23) ? int64.lo | 0 : 0,
);
run("formatInt64, 4 digits", small, (_buf, _start, item) => formatInt64(0, 1000 + item, out, 0));
run("formatInt64, 19 digits", small, (_buf, _start, item) =>
  formatInt64(0x7f000000 + item, item, out, 0),
);
run("parseDouble, 7 characters", decimals, (buf, start) => {
  return (parseDouble(buf, start + 3, start + 10) ?? 0) | 0;
});
run("formatDouble, hundredths", small, (_buf, _start, item) => {
  return formatDouble(numbers[item]!).length;
});
run("Glob key:*99*, 16 bytes", keys, (buf, start) =>
  glob.matches(buf, start + 3, start + 19) ? 1 : 0,
);
run("crc64, 48 bytes", keys, (buf, start) => {
  sum.hi = 0;
  sum.lo = 0;
  crc64(buf, start, start + 48, sum);
  return sum.lo;
});
