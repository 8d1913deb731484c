import assert from "node:assert/strict";
import { test } from "node:test";
import {
  oneLine,
  unknownCommand,
  unknownSubcommand,
  unknownSubcommandOrArity,
  unsupportedOption,
  type Words,
  wrongArity,
} from "./errors.ts";

function words(...all: readonly string[]): Words {
  return { count: all.length, head: (i, most) => (all[i] ?? "").slice(0, most) };
}

test("an unknown command shows its arguments", () => {
  assert.equal(
    unknownCommand(words("foo")),
    "ERR unknown command 'foo', with args beginning with: ",
  );
  assert.equal(
    unknownCommand(words("Foo", "a b", "c")),
    "ERR unknown command 'Foo', with args beginning with: 'a b' 'c' ",
  );
});

test("an unknown command shows at most 128 bytes of the name and of the arguments", () => {
  const long = "x".repeat(500);
  assert.equal(
    unknownCommand(words(long, long, "y")),
    `ERR unknown command '${"x".repeat(128)}', with args beginning with: '${"x".repeat(128)}' `,
  );
  // 124 bytes, then two quotes and a blank: 127 are shown, so one byte more fits.
  assert.equal(
    unknownCommand(words("f", "x".repeat(124), "yz", "z")),
    `ERR unknown command 'f', with args beginning with: '${"x".repeat(124)}' 'y' `,
  );
});

test("line ends become blanks and a zero byte ends an argument", () => {
  assert.equal(
    unknownCommand(words("a\r\nb", "c\0d", "\n")),
    "ERR unknown command 'a  b', with args beginning with: 'c' ' ' ",
  );
  assert.equal(oneLine("a\nb\r\n\r\n"), "a b");
});

test("texts that name a command", () => {
  assert.equal(
    wrongArity("client|list"),
    "ERR wrong number of arguments for 'client|list' command",
  );
  assert.equal(
    unknownSubcommand("cLient", "foO"),
    "ERR unknown subcommand 'foO'. Try CLIENT HELP.",
  );
  assert.equal(
    unknownSubcommandOrArity(words("debug", "foo")),
    "ERR unknown subcommand or wrong number of arguments for 'foo'. Try DEBUG HELP.",
  );
  assert.equal(unsupportedOption("x\r\ny"), "ERR Unsupported option x  y");
});
