import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { toHex } from "./bytes.ts";
import {
  newRdbString,
  RDB_INTEGER_BYTES_MAX,
  RDB_LENGTH_BYTES_MAX,
  rdbLengthBytes,
  readRdbString,
  writeRdbInteger,
  writeRdbLength,
  writeRdbLzfHeader,
} from "./rdb-string.ts";

const found = newRdbString();

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

test("lengths of every form are written and read", () => {
  const cases: [number, string][] = [
    [0, "00"],
    [63, "3f"],
    [64, "4040"],
    [16_383, "7fff"],
    [16_384, "8000004000"],
    [2 ** 32 - 1, "80ffffffff"],
    [2 ** 32, "810000000100000000"],
    [2 ** 53 - 1, "81001fffffffffffff"],
  ];
  for (const [length, hex] of cases) {
    const to = new Uint8Array(RDB_LENGTH_BYTES_MAX);
    const end = writeRdbLength(to, 0, length);
    assert.equal(toHex(to, 0, end), hex);
    assert.equal(rdbLengthBytes(length), end);
    const whole = new Uint8Array(end + Math.min(length, 70_000));
    whole.set(to.subarray(0, end));
    const at = readRdbString(whole, 0, whole.length, found);
    if (length > 70_000) {
      assert.equal(at, -1);
      continue;
    }
    assert.equal(at, whole.length);
    assert.deepEqual([found.form, found.start, found.end], ["plain", end, whole.length]);
    assert.equal(readRdbString(whole, 0, whole.length - 1, found), -1);
  }
});

test("integers take the shortest form", () => {
  const cases: [number, string][] = [
    [0, "c000"],
    [-1, "c0ff"],
    [127, "c07f"],
    [-128, "c080"],
    [128, "c18000"],
    [-129, "c17fff"],
    [-300, "c1d4fe"],
    [32_767, "c1ff7f"],
    [-32_768, "c10080"],
    [32_768, "c200800000"],
    [100_000, "c2a0860100"],
    [2 ** 31 - 1, "c2ffffff7f"],
    [-(2 ** 31), "c200000080"],
  ];
  for (const [value, hex] of cases) {
    const to = new Uint8Array(RDB_INTEGER_BYTES_MAX);
    const end = writeRdbInteger(to, 0, value);
    assert.equal(toHex(to, 0, end), hex);
    assert.equal(readRdbString(to, 0, end, found), end);
    assert.deepEqual([found.form, found.value], ["integer", value]);
    assert.equal(readRdbString(to, 0, end - 1, found), -1);
  }
});

test("compressed strings are checked as a whole", () => {
  const good = bytes("c30928016161e01b00016161");
  assert.equal(readRdbString(good, 0, good.length, found), good.length);
  assert.deepEqual([found.form, found.length, found.start, found.end], ["lzf", 40, 3, good.length]);
  const header = new Uint8Array(3);
  assert.equal(writeRdbLzfHeader(header, 0, 9, 40), 3);
  assert.equal(toHex(header, 0, 3), "c30928");
  for (const hex of [
    "c3", // nothing more
    "c309", // no length of the text
    "c30928", // no stream
    "c30928016161e01b000161", // cut
    "c30929016161e01b00016161", // another length
    "c30a28016161e01b00016161", // longer than what is there
    "c3010161", // literals that are missing
    "c3043f00612005", // a copy from before the start
    "c30081ffffffffffffffff", // a length that no stream can have
  ]) {
    const stream = bytes(hex);
    assert.equal(readRdbString(stream, 0, stream.length, found), -1, hex);
  }
});

test("an empty text is read whatever its stream is", () => {
  for (const hex of ["c30000", "c3020001ff", "c30100ff"]) {
    const stream = bytes(hex);
    assert.equal(readRdbString(stream, 0, stream.length, found), stream.length, hex);
    assert.deepEqual([found.form, found.length, found.end - found.start], ["plain", 0, 0]);
  }
});

test("unknown forms are refused", () => {
  for (const hex of ["", "82", "bf00", "c4", "ff", "81ffffffffffffffff00", "80000000", "40"]) {
    const stream = bytes(hex);
    assert.equal(readRdbString(stream, 0, stream.length, found), -1, hex);
  }
});

test("any bytes are read within their bounds", () => {
  const seed = testSeed(321);
  const random = new Random(seed);
  const read = { c: 0, valid: 0 };
  for (let turn = 0; turn < 50_000; turn++) {
    const buffer = random.bytes(64);
    const start = random.below(32);
    const end = start + random.below(32);
    if (start < end && random.chance(0.5)) {
      buffer[start] = random.pick([0xc0, 0xc1, 0xc2, 0xc3, 0x80, 0x81, 5, 0x40]);
    }
    const behind = readRdbString(buffer, start, end, found);
    read.c++;
    if (behind < 0) continue;
    read.valid++;
    assert.ok(behind > start && behind <= end, seedText(seed));
    if (found.form === "integer") continue;
    assert.ok(found.start > start && found.end === behind, seedText(seed));
  }
  assert.ok(read.valid > 1000);
});
