import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameReader, parseReply, ReplyError, show } from "./resp-parser.ts";

const SAMPLES: readonly (readonly [string, string])[] = [
  ["+OK\r\n", "+OK"],
  ["-ERR no\r\n", "-ERR no"],
  [":-12\r\n", ":-12"],
  ["$0\r\n\r\n", '$""'],
  ["$-1\r\n", "$nil"],
  ["$4\r\na\r\nb\r\n", '$"a\\r\\nb"'],
  ["*-1\r\n", "*nil"],
  ["*0\r\n", "*[]"],
  ["*2\r\n*1\r\n:1\r\n$1\r\nx\r\n", '*[*[:1] $"x"]'],
  ["%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n", "%[+a :1 +b *[]]"],
  ["~1\r\n_\r\n", "~[_]"],
  [">2\r\n+a\r\n#t\r\n", ">[+a #t]"],
  [",3.5\r\n", ",3.5"],
  [
    "(3492890328409238509324850943850943825024385\r\n",
    "(3492890328409238509324850943850943825024385",
  ],
  ["=8\r\ntxt:some\r\n", '="txt:some"'],
  ["!3\r\nERR\r\n", '!"ERR"'],
  ["|1\r\n+ttl\r\n:3600\r\n*1\r\n:1\r\n", "|[+ttl :3600]*[:1]"],
];

test("replies of every type are parsed whole, and cut at every byte", () => {
  const all = SAMPLES.map(([bytes]) => bytes).join("");
  const expected = SAMPLES.map(([, text]) => text);
  for (let cut = 0; cut <= all.length; cut++) {
    const reader = new FrameReader();
    const seen: string[] = [];
    const raws: string[] = [];
    for (const part of [all.slice(0, cut), all.slice(cut)]) {
      if (part.length > 0) reader.push(Buffer.from(part, "latin1"));
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
        seen.push(show(frame.reply));
        raws.push(frame.raw.toString("latin1"));
      }
    }
    assert.deepEqual(seen, expected, `cut at ${cut}`);
    assert.equal(raws.join(""), all);
    assert.equal(reader.pending().length, 0);
  }
});

test("what is not RESP is an error and not a wait", () => {
  for (const bytes of ["HTTP/1.1 400\r\n", "$x\r\n", "*1.5\r\n", "$-2\r\n"]) {
    const reader = new FrameReader();
    reader.push(Buffer.from(bytes));
    assert.throws(() => reader.next(), ReplyError, bytes);
  }
  assert.throws(() => parseReply(Buffer.from("$1\r\nabc")), ReplyError);
});
