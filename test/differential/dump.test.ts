/**
 * DUMP of one server, RESTORE of the other, both ways, with strings of every form; and payloads
 * that were mutated and sealed again, which both must take or refuse alike.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isLong, needs, needsOurs } from "../support/environment.ts";
import { FOOTER_BYTES, resealPayload } from "../support/payload.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { RespClient } from "../support/resp.ts";
import { show, textOf } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";

const MUTATIONS = isLong ? 200_000 : 10_000;

const FAR_MS = 4_000_000_000_000;

/** Strings at every boundary of the format. */
function strings(random: Random): Buffer[] {
  const texts = ["", "0", "-1", "127", "-128", "128", "-129", "32767", "-32768", "32768", "-32769"];
  texts.push("2147483647", "-2147483648", "2147483648", "-2147483649", "9223372036854775807");
  texts.push("-9223372036854775808", "9223372036854775808", "00", "+1", "-0", " 1", "1.5");
  texts.push("99999999999", "-9999999999", "\x00\xff\r\n");
  const all: Buffer[] = texts.map((text) => Buffer.from(text, "latin1"));
  for (const n of [
    1,
    19,
    20,
    21,
    44,
    45,
    63,
    64,
    16_383,
    16_384,
    65_535,
    65_536,
    65_537,
    1 << 20,
  ]) {
    all.push(Buffer.alloc(n, "a"), random.bytes(n), prose(random, n));
  }
  return all;
}

/** Text that compresses as text does. */
function prose(random: Random, length: number): Buffer {
  const words = Array.from({ length: 30 }, () =>
    random.bytes(random.between(2, 9)).toString("hex"),
  );
  let text = "";
  while (text.length < length) text += `${random.pick(words)} `;
  return Buffer.from(text.slice(0, length), "latin1");
}

async function dump(client: RespClient): Promise<Buffer> {
  return Buffer.from(textOf((await client.call("DUMP", "k")).reply), "latin1");
}

async function describeKey(client: RespClient): Promise<string[]> {
  const frames = await client.pipeline([
    ["GET", "k"],
    ["OBJECT", "ENCODING", "k"],
    ["STRLEN", "k"],
    ["PEXPIRETIME", "k"],
  ]);
  return frames.map((frame) => show(frame.reply));
}

/** Changes a few bytes of a value and, mostly, makes the check sum fit again. */
function mutate(payload: Buffer, random: Random): void {
  const last = payload.length - FOOTER_BYTES - 1;
  for (let n = random.between(1, 3); n > 0; n--) {
    // The first byte is the type: of others than strings we know less.
    const at = random.between(1, random.chance(0.7) ? Math.min(last, 8) : last);
    payload[at] = random.pick([0, 1, 0x3f, 0x40, 0x80, 0x81, 0xc1, 0xc3, 0xff, random.below(256)]);
  }
  if (random.chance(0.95)) resealPayload(payload);
}

/** Every string, made in one server, must be the same in the other. */
async function exchange(from: RespClient, to: RespClient): Promise<void> {
  const seed = testSeed(341);
  for (const value of strings(new Random(seed))) {
    await from.call("SET", "k", value, "PXAT", FAR_MS);
    const payload = await dump(from);
    const { reply } = await to.call("RESTORE", "k", FAR_MS, payload, "ABSTTL", "REPLACE");
    const what = `${value.length} bytes, ${seedText(seed)}`;
    assert.equal(show(reply), "+OK", what);
    assert.deepEqual(await describeKey(to), await describeKey(from), what);
  }
}

describe("DUMP and RESTORE with a redis-server", {
  ...needs("redis-server"),
  ...needsOurs(),
}, () => {
  let oracle: Server;
  let subject: Server;
  let redis: RespClient;
  let ours: RespClient;

  before(async () => {
    oracle = await startRedis();
    subject = await startZeroHop({ threads: 2 }, { environment: { ZEROHOP_CHECK: "1" } });
    redis = await oracle.connect();
    ours = await subject.connect();
  });

  after(async () => {
    await oracle?.stop();
    await subject?.stop();
  });

  async function compress(how: string): Promise<void> {
    for (const client of [redis, ours]) await client.call("CONFIG", "SET", "rdbcompression", how);
  }

  for (const how of ["yes", "no"]) {
    test(`strings go both ways with rdbcompression ${how}`, async () => {
      await compress(how);
      await exchange(redis, ours);
      await exchange(ours, redis);
    });
  }

  test("what is not compressed has the same bytes", async () => {
    const random = new Random(testSeed(342));
    await compress("no");
    for (const value of strings(random)) {
      for (const client of [redis, ours]) await client.call("SET", "k", value);
      assert.deepEqual(await dump(ours), await dump(redis), `${value.length} bytes`);
    }
  });

  test("mutated payloads are taken or refused alike", async () => {
    const seed = testSeed(343);
    const random = new Random(seed);
    const payloads: Buffer[] = [];
    await compress("yes");
    for (const value of strings(random).filter(({ length }) => length < 200)) {
      await redis.call("SET", "k", value);
      payloads.push(await dump(redis));
    }
    let taken = 0;
    for (let turn = 0; turn < MUTATIONS; turn++) {
      const payload = Buffer.from(random.pick(payloads));
      mutate(payload, random);
      const frames = await Promise.all(
        [redis, ours].map((client) => client.call("RESTORE", "k", 0, payload, "REPLACE")),
      );
      const [theirs, own] = frames.map((frame) => show(frame.reply)) as [string, string];
      const what = `${payload.toString("hex")}, ${seedText(seed)}`;
      assert.equal(own, theirs, what);
      if (own !== "+OK") continue;
      taken++;
      assert.deepEqual(await describeKey(ours), await describeKey(redis), what);
    }
    assert.ok(taken > MUTATIONS / 20, `${taken} were taken`);
  });
});
