import assert from "node:assert/strict";
import { test } from "node:test";
import { argsOf } from "../base/args-test-support.ts";
import { latin1 } from "../base/bytes.ts";
import { Random } from "../base/random.ts";
import { quote } from "./config/quoting.ts";
import { MonitorLine } from "./monitor-line.ts";

function lineOf(line: MonitorLine, words: readonly string[], secret = -1): string {
  assert.ok(line.words(argsOf(...words), [secret]));
  line.prefix(1_700_000_000_000_001, 7, "[::1]:6379");
  return latin1(line.bytes, line.start, line.end);
}

test("words are quoted as in a configuration file, for every byte", () => {
  const line = new MonitorLine();
  let all = "";
  for (let byte = 0; byte < 256; byte++) all += String.fromCharCode(byte);
  for (const words of [[all], ["GET", "k"], ["", ""], ["x".repeat(100_000), all.repeat(1000)]]) {
    const shown = words.map(quote).join(" ");
    assert.equal(lineOf(line, words), `+1700000000.000001 [7 [::1]:6379] ${shown}\r\n`);
    line.shrink();
    assert.ok(line.bytes.length <= 65536);
  }
});

test("random words", () => {
  const random = new Random(5);
  const line = new MonitorLine();
  for (let round = 0; round < 500; round++) {
    const words = Array.from({ length: 1 + random.below(5) }, () =>
      String.fromCharCode(...Array.from({ length: random.below(40) }, () => random.below(256))),
    );
    const secret = random.below(8);
    const shown = words.map((word, i) => (i === secret ? '"(redacted)"' : quote(word))).join(" ");
    assert.equal(lineOf(line, words, secret), `+1700000000.000001 [7 [::1]:6379] ${shown}\r\n`);
  }
});
