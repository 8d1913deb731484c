/**
 * The sections and fields of INFO against those of Redis 7.4, in its order, and against what the
 * redis-server at hand shows.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { processFacts } from "../../src/env/process-facts.ts";
import { SECTIONS } from "../../src/server/info/sections.ts";
import { needs } from "../support/environment.ts";
import { textOf } from "../support/resp-parser.ts";
import { type Server, startRedis } from "../support/servers.ts";
import { FIELDS_OF_7_4 } from "./info-fields.ts";

/** Ours has the main thread's two in one entry, which is missing where the system is silent. */
function ourFields(title: string): string[] {
  const entries = SECTIONS.find((section) => section.title === title)?.entries ?? [];
  return entries.flatMap(({ name }) => name.split(", "));
}

test("all fields of Redis 7.4 are there, in its order", () => {
  for (const [title, fields] of Object.entries(FIELDS_OF_7_4)) {
    const theirs = fields.split(/\s+/).filter((name) => name !== "");
    const ours = ourFields(title).filter((name) => theirs.includes(name));
    assert.deepEqual(ours, theirs, title);
  }
  const titles = SECTIONS.map(({ title }) => title).filter((title) => title in FIELDS_OF_7_4);
  assert.deepEqual(titles, Object.keys(FIELDS_OF_7_4));
});

describe("INFO against redis-server", needs("redis-server"), () => {
  let redis: Server;

  before(async () => {
    redis = await startRedis();
  });

  after(async () => {
    await redis.stop();
  });

  test("every field that it shows is there", async () => {
    const client = await redis.connect();
    const { reply } = await client.call("INFO", "everything");
    const missing: string[] = [];
    let title = "";
    for (const line of textOf(reply).split("\r\n")) {
      if (line.startsWith("# ")) title = line.slice(2);
      const [name = ""] = line.split(":");
      if (!line.includes(":") || /^(cmdstat|errorstat|latency_percentiles|listener)/.test(name)) {
        continue;
      }
      if (!ourFields(title).includes(name)) missing.push(`${title} ${name}`);
    }
    assert.deepEqual(missing, []);
  });

  test("the system is named as it names it", async () => {
    const client = await redis.connect();
    const { reply } = await client.call("INFO", "server");
    assert.ok(textOf(reply).split("\r\n").includes(`os:${processFacts().os}`));
  });
});
