/** How replies become strings: the text of any length. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { StoreError } from "./errors.ts";
import { textOf } from "./reader.ts";

describe("text of a reply", () => {
  test("is that of its bytes at every length, ASCII or not", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (const tail of ["", "é", "€", "😀"]) {
      for (let n = 0; n <= letters.length; n++) {
        const text = letters.slice(0, n) + tail;
        const bytes = Buffer.from(`##${text}##`);
        assert.equal(textOf(bytes, 2, bytes.length - 2), text);
      }
    }
    assert.equal(textOf(Uint8Array.of(97, 0xff, 98), 0, 3), "a\ufffdb");
  });

  test("that no string can hold is an error of the store", () => {
    // Never written, so it takes no memory.
    const bytes = new Uint8Array(2 ** 29);
    assert.throws(
      () => textOf(bytes, 0, bytes.length),
      (error) => {
        assert.ok(error instanceof StoreError);
        assert.equal(error.code, "TOOLONG");
        assert.match(error.message, /^TOOLONG A text of 536870912 bytes .* return bytes$/);
        return true;
      },
    );
  });
});
