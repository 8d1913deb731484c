import assert from "node:assert/strict";
import { test } from "node:test";
import { Random, seedText, testSeed } from "../../test/support/random.ts";
import { latin1Bytes } from "./bytes.ts";
import { LZF_RATIO_MAX, lzfCompress, lzfDecompress, lzfLength } from "./lzf.ts";

const GUARD = 0xa5;
const MARGIN = 7;

/** Compresses between guard bytes, none of which may change. */
function compress(text: Uint8Array, most: number): Uint8Array {
  const to = new Uint8Array(most + 2 * MARGIN).fill(GUARD);
  const bytes = lzfCompress(text, 0, text.length, to, MARGIN, most);
  assert.ok(bytes <= most);
  assert.ok(to.subarray(0, MARGIN).every((byte) => byte === GUARD));
  assert.ok(to.subarray(MARGIN + most).every((byte) => byte === GUARD));
  return to.slice(MARGIN, MARGIN + bytes);
}

function decompress(stream: Uint8Array): Uint8Array {
  const length = lzfLength(stream, 0, stream.length);
  assert.ok(length >= 0);
  const to = new Uint8Array(length + 2 * MARGIN).fill(GUARD);
  assert.equal(lzfDecompress(stream, 0, stream.length, to, MARGIN), MARGIN + length);
  assert.ok(to.subarray(0, MARGIN).every((byte) => byte === GUARD));
  assert.ok(to.subarray(MARGIN + length).every((byte) => byte === GUARD));
  return to.slice(MARGIN, MARGIN + length);
}

/** Text made of a few words, so that there is something to find, and some noise. */
function someText(random: Random, length: number): Uint8Array {
  const words = Array.from({ length: random.between(1, 6) }, () =>
    random.bytes(random.between(1, 40)),
  );
  const noise = random.pick([0, 0.05, 0.5, 1]);
  const text = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const word = random.chance(noise) ? random.bytes(4) : random.pick(words);
    for (const byte of word) if (at < length) text[at++] = byte;
  }
  return text;
}

test("streams of another LZF are read", () => {
  const streams: [string, string][] = [
    ["016161e01b00016161", "a".repeat(40)],
    ["00614001", ""],
    ["0461626364652004", "abcdeabc"],
  ];
  for (const [hex, text] of streams) {
    const stream = Buffer.from(hex, "hex");
    if (text === "") assert.equal(lzfLength(stream, 0, stream.length), -1);
    else assert.deepEqual(decompress(stream), latin1Bytes(text));
  }
});

test("every text comes back, whatever its length and kind", () => {
  const seed = testSeed(311);
  const random = new Random(seed);
  const lengths = [...Array(70).keys(), 263, 264, 265, 8191, 8192, 8193, 20_000, 70_000];
  for (const length of lengths) {
    for (let turn = 0; turn < 6; turn++) {
      const text = someText(random, length);
      const most = length + Math.ceil(length / 32);
      const stream = compress(text, most);
      assert.deepEqual(decompress(stream), text, `${length} bytes, ${seedText(seed)}`);
    }
  }
});

test("a text gives the same stream whatever was compressed before", () => {
  const random = new Random(5);
  const text = someText(random, 5000);
  const first = compress(text, 6000);
  compress(someText(random, 60_000), 70_000);
  assert.deepEqual(compress(text, 6000), first);
});

test("what does not fit is given up", () => {
  const random = new Random(6);
  for (const length of [1, 21, 40, 300, 5000]) {
    const text = someText(random, length);
    const whole = compress(text, 2 * length).length;
    assert.equal(compress(text, whole).length, whole);
    for (const most of [0, 1, whole >> 1, whole - 1]) assert.equal(compress(text, most).length, 0);
  }
  assert.equal(compress(random.bytes(3000), 2996).length, 0);
});

test("repetition and distance are used up to their bounds", () => {
  const zeros = compress(new Uint8Array(1 << 20), 1 << 20);
  assert.ok(zeros.length <= (1 << 20) / LZF_RATIO_MAX + 16, `${zeros.length} bytes`);
  const noise = new Random(7).bytes(64);
  const [near, far] = [8192, 8193].map((gap) => {
    const text = new Random(8).bytes(gap + 64);
    text.set(noise, 0);
    text.set(noise, gap);
    const stream = compress(text, 2 * text.length);
    assert.deepEqual(decompress(stream), new Uint8Array(text));
    return stream.length;
  }) as [number, number];
  assert.ok(near < far - 50, `${near} and ${far} bytes`);
});

test("any bytes are a valid stream or none, and nothing outside is read or written", () => {
  const seed = testSeed(312);
  const random = new Random(seed);
  let valid = 0;
  for (let turn = 0; turn < 20_000; turn++) {
    const stream = random.bytes(random.between(0, 40));
    if (random.chance(0.5)) for (let i = 0; i < stream.length; i++) stream[i] = stream[i]! & 0x27;
    const length = lzfLength(stream, 0, stream.length);
    if (length < 0) continue;
    valid++;
    assert.ok(length <= stream.length * LZF_RATIO_MAX, seedText(seed));
    assert.equal(decompress(stream).length, length);
  }
  assert.ok(valid > 500, `${valid} of the streams were valid`);
});

test("a copy of any length from any distance is made byte by byte", () => {
  const bytes = new Random(9).bytes(320);
  const literals: number[] = [];
  for (let at = 0; at < bytes.length; at += 32) literals.push(31, ...bytes.subarray(at, at + 32));
  for (let distance = 1; distance <= bytes.length; distance++) {
    for (const copied of [9, 23, 24, 25, 47, 48, 49, 100, 263, 264]) {
      const far = distance - 1;
      const stream = Uint8Array.from([...literals, 0xe0 | (far >> 8), copied - 9, far & 255]);
      const text = [...bytes];
      for (let n = 0; n < copied; n++) text.push(text[text.length - distance]!);
      assert.deepEqual(decompress(stream), Uint8Array.from(text), `${copied} from ${distance}`);
    }
  }
});
