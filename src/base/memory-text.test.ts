import assert from "node:assert/strict";
import { test } from "node:test";
import { humanBytes, parseMemory } from "./memory-text.ts";

test("amounts in every unit and either case", () => {
  const rows: [text: string, bytes: bigint | undefined][] = [
    ["100", 100n],
    ["100b", 100n],
    ["64k", 64_000n],
    ["64kb", 65_536n],
    ["10m", 10_000_000n],
    ["10MB", 10_485_760n],
    ["1g", 1_000_000_000n],
    ["1Gb", 1_073_741_824n],
    ["007kB", 7168n],
    ["0", 0n],
    ["", 0n],
    ["mb", 0n],
    ["18446744073709551615", 2n ** 64n - 1n],
    ["99999999999999999999", 2n ** 64n - 1n],
    ["18446744073709551615kb", 2n ** 64n - 1024n],
    ["0".repeat(126) + "5", 5n],
    ["0".repeat(127) + "5", undefined],
    ["-1", undefined],
    ["+1", undefined],
    [" 1", undefined],
    ["1 kb", undefined],
    ["1t", undefined],
    ["1tb", undefined],
    ["1.5gb", undefined],
    ["1kb\n", undefined],
    ["x", undefined],
  ];
  for (const [text, bytes] of rows) assert.equal(parseMemory(text), bytes, JSON.stringify(text));
});

test("amounts for people, halves to the even neighbour", () => {
  const rows: [bytes: number, text: string][] = [
    [0, "0B"],
    [1, "1B"],
    [1023, "1023B"],
    [1024, "1.00K"],
    [1152, "1.12K"],
    [1408, "1.38K"],
    [1536, "1.50K"],
    [524_288, "512.00K"],
    [1_048_575, "1024.00K"],
    [1_048_576, "1.00M"],
    [873_392, "852.92K"],
    [3_328_599_654, "3.10G"],
    [1024 ** 4, "1.00T"],
    [1024 ** 5 - 1, "1024.00T"],
    [1024 ** 5, "1.00P"],
    [1024 ** 6, "1152921504606846976B"],
  ];
  for (const [bytes, text] of rows) assert.equal(humanBytes(bytes), text);
});
