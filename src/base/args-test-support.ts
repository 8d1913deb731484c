/**
 * Arguments for tests, laid out as those of a request are: one behind another in one buffer, with
 * bytes between them that belong to none. Words are binary text, one character per byte.
 */
import { Args } from "./args.ts";
import { latin1Bytes } from "./bytes.ts";

export function argsOf(...words: readonly string[]): Args {
  const args = new Args();
  args.buffer = latin1Bytes(words.join(" "));
  args.view = new DataView(args.buffer.buffer, args.buffer.byteOffset, args.buffer.length);
  args.reserve(words.length);
  args.count = words.length;
  let at = 0;
  for (const [i, word] of words.entries()) {
    args.start[i] = at;
    args.end[i] = at + word.length;
    at += word.length + 1;
  }
  return args;
}
