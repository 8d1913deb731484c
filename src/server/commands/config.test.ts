/** CONFIG as a command: what it asks of the server, and the form of its replies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSource } from "../../../test/support/config-source.ts";
import { argsOf } from "../../base/args-test-support.ts";
import { CommandTable } from "../../command/lookup.ts";
import type { Session } from "../../command/session.ts";
import { Reply } from "../../protocol/reply.ts";
import { type Change, Config } from "../config/config.ts";
import { CONFIG_COMMANDS } from "./config.ts";

const commands = new CommandTable(CONFIG_COMMANDS);

class Desk {
  readonly source = new FakeSource({ files: { "r.conf": "timeout 5\n" }, directories: ["/data"] });
  readonly config = new Config(this.source);
  readonly published: Change[][] = [];
  resets = 0;
  readonly session: Session;

  constructor(isLocal = true) {
    const server = {
      config: this.config,
      publishConfig: (changes: Change[]): void => {
        this.published.push(changes);
        this.config.apply(changes);
      },
      resetStats: (): void => {
        this.resets += 1;
      },
    };
    this.session = { server, isLocal } as unknown as Session;
  }

  /** The reply to CONFIG with these words after it, line ends shown as blanks. */
  ask(proto: number, ...words: readonly string[]): string {
    const args = argsOf("CONFIG", ...words);
    const reply = new Reply();
    reply.proto = proto;
    const command = commands.resolve(args, 0);
    assert.ok(command, words.join(" "));
    command.runSession(this.session, args, reply);
    return Buffer.from(reply.buffer.subarray(0, reply.length))
      .toString("latin1")
      .replace(/\r\n/g, " ");
  }
}

test("GET is a map, of bulk strings", () => {
  const desk = new Desk();
  assert.equal(desk.ask(2, "GET", "timeout", "hz"), "*4 $7 timeout $1 0 $2 hz $2 10 ");
  assert.equal(desk.ask(3, "get", "timeout"), "%1 $7 timeout $1 0 ");
  assert.equal(desk.ask(3, "GET", "nosuch"), "%0 ");
});

test("SET publishes what changes, once, and nothing when nothing does", () => {
  const desk = new Desk();
  assert.equal(desk.ask(2, "SET", "timeout", "7", "hz", "20"), "+OK ");
  const changes = [
    { name: "timeout", text: "7" },
    { name: "hz", text: "20" },
  ];
  assert.deepEqual(desk.published, [changes]);
  assert.equal(desk.ask(2, "SET", "timeout", "7"), "+OK ");
  assert.equal(desk.published.length, 1);
  assert.equal(
    desk.ask(2, "SET", "hz", "30", "timeout", "x"),
    "-ERR CONFIG SET failed (possibly related to argument 'timeout') - " +
      "argument couldn't be parsed into an integer ",
  );
  assert.equal(desk.published.length, 1);
});

test("protected directives open to nobody, to local clients or to all", () => {
  const refused =
    "-ERR CONFIG SET failed (possibly related to argument 'dir') - can't set protected config ";
  for (const [allowed, isLocal, expected] of [
    ["no", true, refused],
    ["local", true, "+OK "],
    ["local", false, refused],
    ["yes", false, "+OK "],
  ] as const) {
    const desk = new Desk(isLocal);
    desk.config.apply([{ name: "enable-protected-configs", text: allowed }]);
    assert.equal(desk.ask(2, "SET", "dir", "/data"), expected, `${allowed} ${isLocal}`);
  }
});

test("RESETSTAT asks the server", () => {
  const desk = new Desk();
  assert.equal(desk.ask(2, "RESETSTAT"), "+OK ");
  assert.equal(desk.resets, 1);
});

test("REWRITE writes the file, if there is one", () => {
  const desk = new Desk();
  assert.equal(desk.ask(2, "REWRITE"), "-ERR The server is running without a config file ");
  desk.config.file = "/srv/r.conf";
  desk.ask(2, "SET", "timeout", "9");
  assert.equal(desk.ask(2, "REWRITE"), "+OK ");
  assert.match(desk.source.files.get("/srv/r.conf") ?? "", /^timeout 9\n/);
});

test("HELP", () => {
  assert.match(
    new Desk().ask(2, "HELP"),
    /^\*11 \+CONFIG <subcommand> .* are: \+GET <pattern> .*\+REWRITE .* \+ {4}Print this help\. $/,
  );
});
