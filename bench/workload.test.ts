import assert from "node:assert/strict";
import { test } from "node:test";
import { encode } from "./control.ts";
import {
  buildBatch,
  digitsOf,
  KeyPicker,
  MODELS,
  modelFill,
  modelValue,
  ownedKeys,
  paddedFill,
  paddedKey,
  writeDigits,
} from "./workload.ts";

test("a GET batch is two well-formed requests whose digits can be overwritten", () => {
  const batch = buildBatch("GET", 2, 3);
  batch.digitOffsets.forEach((offset, i) => {
    writeDigits(batch.buffer, offset, digitsOf(1e9), i === 0 ? 7 : 123_456_789);
  });
  const wanted = [paddedKey("key:", 7), paddedKey("key:", 123_456_789)];
  assert.deepEqual(batch.buffer, Buffer.concat(wanted.map((key) => encode(["GET", key]))));
  assert.deepEqual(batch.expected, { bytes: 18, lines: 2, text: "$3\r\nxxx\r\n$3\r\nxxx\r\n" });
});

test("a key that was written over has no digit of the one before", () => {
  const buffer = Buffer.from("0".repeat(12), "latin1");
  for (const index of [99_999, 7, 0, 12_345]) {
    writeDigits(buffer, 0, digitsOf(100_000), index);
    assert.equal(buffer.toString("latin1"), paddedKey("", index));
  }
  assert.deepEqual([1, 10, 11, 100_000].map(digitsOf), [1, 1, 2, 5]);
});

test("MSET has ten keys a request and one OK", () => {
  const batch = buildBatch("MSET", 3, 64);
  assert.equal(batch.digitOffsets.length, 30);
  assert.equal(batch.expected.text, "+OK\r\n+OK\r\n+OK\r\n");
  assert.match(
    batch.buffer.toString("latin1"),
    /^\*21\r\n\$4\r\nMSET\r\n\$16\r\nkey:0{12}\r\n\$64/,
  );
});

test("INCR's replies are counted in lines, MIX is nine GET to one SET", () => {
  const incr = buildBatch("INCR", 5, 3);
  assert.deepEqual(incr.expected, { bytes: undefined, lines: 5, text: undefined });
  const mix = buildBatch("MIX", 20, 8).buffer.toString("latin1");
  assert.equal(mix.split("GET").length - 1, 18);
  assert.equal(mix.split("SET").length - 1, 2);
});

test("keys are drawn from the whole range, the same for the same seed", () => {
  const draw = (seed: number): number[] => {
    const picker = new KeyPicker(seed, 10, undefined);
    return Array.from({ length: 1000 }, () => picker.next());
  };
  assert.deepEqual(draw(5), draw(5));
  assert.notDeepEqual(draw(5), draw(6));
  assert.deepEqual([...new Set(draw(5))].sort(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a picker of owned keys draws only those", () => {
  const picker = new KeyPicker(1, 100, Uint32Array.of(3, 33));
  const drawn = new Set(Array.from({ length: 100 }, () => picker.next()));
  assert.deepEqual(
    [...drawn].sort((a, b) => a - b),
    [3, 33],
  );
});

test("the owners' keys are disjoint and complete", () => {
  const all = [0, 1, 2].flatMap((owner) => [...ownedKeys("key:", 300, owner, 3)]);
  assert.deepEqual(
    all.sort((a, b) => a - b),
    Array.from({ length: 300 }, (_, i) => i),
  );
  assert.throws(() => ownedKeys("key:", 1, 0, 256), /missing figure/);
});

test("fills are SET requests as a client would send them", () => {
  const request = (text: string): Buffer => Buffer.from(text, "latin1");
  const padded = paddedFill("counter:", "0").text(42);
  assert.deepEqual(request(padded), encode(["SET", paddedKey("counter:", 42), "0"]));
  for (const model of MODELS) {
    const wanted = encode(["SET", "key:99999", modelValue(model, 99_999)]);
    assert.deepEqual(request(modelFill(model).text(99_999)), wanted);
  }
  assert.deepEqual(
    MODELS.map((model) => modelValue(model, 12_345).length),
    [5, 16, 256],
  );
});
