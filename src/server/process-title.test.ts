import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSource } from "../../test/support/config-source.ts";
import { Config } from "./config/config.ts";
import { processTitle } from "./process-title.ts";

test("variables are put in, and what is empty leaves no blanks at the ends", () => {
  const config = new Config(new FakeSource());
  const set = (...words: string[]): void => {
    config.apply(words.flatMap((name, i) => (i % 2 ? [] : [{ name, text: words[i + 1] ?? "" }])));
  };
  assert.equal(processTitle(config, 6379), "zerohop *:6379");
  set("bind", "127.0.0.1 -::1");
  assert.equal(processTitle(config, 7000), "zerohop 127.0.0.1:7000");
  set("unixsocket", "/tmp/s", "proc-title-template", "{listen-addr}|{{x}} {port} {unixsocket}");
  assert.equal(processTitle(config, 0), "/tmp/s|{x}} 0 /tmp/s");
  set("proc-title-template", " {title} {tls-port} {config-file} {server-mode} ");
  assert.equal(processTitle(config, 1), "zerohop 0");
  set("shard-owners", "2");
  assert.equal(processTitle(config, 1), "zerohop 0  [cluster]");
});
