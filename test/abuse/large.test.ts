/**
 * Requests and values of many megabytes, in small packets and large, and clients that do not
 * read.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { isLong, needsLong, subjectRedis } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { Random } from "../support/random.ts";
import { deferred, encodeCommand, type RespClient, within } from "../support/resp.ts";
import { errorOf, integerOf, show } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";
import { memoryField, residentBytes, startWitness } from "./witness.ts";

const MB = 2 ** 20;

/** Bytes that differ everywhere, so that a piece in the wrong place changes the digest. */
function pattern(size: number): Buffer {
  const block = new Random(7).bytes(64 * 1024 + 7);
  return Buffer.alloc(size, block);
}

function digest(bytes: Buffer): string {
  return createHash("sha1").update(bytes).digest("hex");
}

/** The payload of a bulk, without making a string of it. */
function payload(raw: Buffer): Buffer {
  return raw.subarray(raw.indexOf("\r\n") + 2, raw.length - 2);
}

async function sendInPackets(client: RespClient, bytes: Buffer, size: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += size) {
    const accepted = client.socket.write(bytes.subarray(at, at + size));
    if (!accepted) await new Promise<void>((resolve) => client.socket.once("drain", resolve));
  }
}

describe("large requests and values", () => {
  let server: Server;
  let client: RespClient;

  before(async () => {
    server = await startZeroHop({ threads: 4, "enable-debug-command": "yes" });
    client = await server.connect();
    client.timeoutMs = 60_000;
  });

  after(async () => server?.stop());

  async function assertEmptied(name: string): Promise<void> {
    await client.call("FLUSHALL");
    await until(
      `memory after ${name}`,
      async () => (await memoryField(server, "used_memory")) < 2 * MB,
    );
    if (subjectRedis === undefined) {
      assert.equal(show((await client.call("DEBUG", "HEAP-CHECK")).reply), "+OK");
    }
  }

  /** The digest of a string by GET. A RespClient keeps replies as text: Node has none of 512 MB. */
  async function digestOf(key: string): Promise<string> {
    const socket = net.connect(server.address as net.TcpNetConnectOpts);
    socket.end(encodeCommand(["GET", key]));
    const hash = createHash("sha1");
    const { promise, resolve, reject } = deferred<void>();
    let head = "";
    let left = -1;
    socket.on("data", (chunk: Buffer) => {
      let rest = chunk;
      if (left < 0) {
        head += chunk.toString("latin1");
        const found = /^\$(\d+)\r\n/.exec(head);
        if (found === null) return;
        left = Number(found[1]);
        rest = Buffer.from(head.slice(found[0].length), "latin1");
      }
      const part = rest.subarray(0, left);
      hash.update(part);
      left -= part.length;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve());
    assert.ok(await within(promise, client.timeoutMs), `GET ${key} takes too long`);
    assert.equal(left, 0, `GET ${key} was cut off`);
    return hash.digest("hex");
  }

  async function changeBigValue(size: number): Promise<void> {
    const value = pattern(size);
    await sendInPackets(client, encodeCommand(["SET", "big", value]), 1_000_003);
    assert.equal(show((await client.next("SET")).reply), "+OK");
    assert.equal(show((await client.call("STRLEN", "big")).reply), `:${size}`);
    assert.equal(await digestOf("big"), digest(value));
    const part = payload((await client.call("GETRANGE", "big", 12_345_678, 12_445_677)).raw);
    assert.ok(part.equals(value.subarray(12_345_678, 12_445_678)));
    const tail = pattern(MB);
    assert.equal(integerOf((await client.call("APPEND", "big", tail)).reply), size + MB);
    assert.equal(show((await client.call("COPY", "big", "copy")).reply), ":1");
    assert.equal(
      integerOf((await client.call("SETRANGE", "big", 40 * MB, "changed")).reply),
      size + MB,
    );
    const copied = Buffer.concat([value, tail]);
    assert.equal(await digestOf("copy"), digest(copied));
    copied.write("changed", 40 * MB, "latin1");
    assert.equal(await digestOf("big"), digest(copied));
    assert.equal(show((await client.call("DEL", "big", "copy")).reply), ":2");
    await assertEmptied(`${size} bytes`);
  }

  test("a request of a million arguments in small packets", async (t) => {
    const witness = await startWitness(server);
    const names = Array.from({ length: 999_999 }, (_, i) => `k${i}`);
    const request = encodeCommand(["EXISTS", ...names]);
    await sendInPackets(client, request, 1400);
    assert.equal(show((await client.next("EXISTS")).reply), ":0");
    await client.pipeline(names.filter((_, i) => i % 1000 === 0).map((name) => ["SET", name, "v"]));
    await sendInPackets(client, request, 9000);
    assert.equal(show((await client.next("EXISTS")).reply), ":1000");
    await sendInPackets(client, encodeCommand(["DEL", ...names]), 65_536);
    assert.equal(show((await client.next("DEL")).reply), ":1000");
    const seen = await witness.stop();
    t.diagnostic(JSON.stringify(seen));
    assert.ok(seen.rounds > 50, `the witness only got ${seen.rounds} turns`);
    await assertEmptied("a million arguments");
  });

  test("a reply of a million elements", async () => {
    const request = encodeCommand(["MGET", ...new Array<string>(1_000_000).fill("none")]);
    client.sendRaw(request);
    const { raw } = await client.next("MGET");
    assert.equal(raw.length, "*1000000\r\n".length + 5_000_000);
    assert.ok(raw.subarray(-5).equals(Buffer.from("$-1\r\n")));
  });

  test("one argument too many is a protocol error", async () => {
    const other = await server.connect();
    other.sendRaw("*2147483648\r\n");
    const { reply } = await other.next("the refusal");
    assert.equal(errorOf(reply), "ERR Protocol error: invalid multibulk length");
    await other.expectClosed();
  });

  for (const size of [70 * MB + 13, 100 * MB, ...(isLong ? [300 * MB + 7] : [])]) {
    test(`SET, GET, APPEND, SETRANGE and COPY of ${size} bytes, twice in the same memory`, async (t) => {
      const witness = await startWitness(server);
      await changeBigValue(size);
      const once = residentBytes(server);
      await changeBigValue(size);
      const grown = residentBytes(server) - once;
      t.diagnostic(JSON.stringify(await witness.stop()));
      assert.ok(grown < 48 * MB, `resident memory grew by ${grown} bytes the second time`);
    });
  }

  test("values of every size around the limits of buffers and classes", async () => {
    const sizes = new Set<number>();
    for (const around of [44, 192, 255, 256, 1024, 16_384, 65_535, 65_536, 131_072, MB, 3 * MB]) {
      for (const size of [around - 1, around, around + 1]) sizes.add(size);
    }
    for (const size of sizes) {
      const value = pattern(size);
      assert.equal(show((await client.call("SET", `size:${size}`, value)).reply), "+OK");
    }
    for (const size of sizes) {
      const { raw } = await client.call("GET", `size:${size}`);
      assert.ok(payload(raw).equals(pattern(size)), `${size} bytes`);
      const longer = await client.call("APPEND", `size:${size}`, "x");
      assert.equal(integerOf(longer.reply), size + 1);
    }
    await assertEmptied("many sizes");
  });

  test("a value that is overwritten and deleted while it is being read", async () => {
    const value = pattern(20 * MB);
    await client.call("SET", "big", value);
    const slow = await server.connect();
    slow.timeoutMs = 60_000;
    slow.socket.pause();
    slow.sendRaw(Buffer.concat(Array.from({ length: 5 }, () => encodeCommand(["GET", "big"]))));
    // Once the server waits for this reader, the first replies are under way.
    await client.call("PING");
    const marker = await server.connect();
    for (let i = 0; i < 100; i++) await marker.call("PING");
    await client.call("SETRANGE", "big", 0, "overwritten");
    await client.call("SET", "big", "small");
    await client.call("DEL", "big");
    await client.call("SET", "other", pattern(20 * MB + 1));
    slow.socket.resume();
    const old = digest(value);
    const changed = Buffer.from(value);
    changed.write("overwritten", 0, "latin1");
    const possible = [old, digest(changed), digest(Buffer.from("small"))];
    let reached = 0;
    for (let i = 0; i < 5; i++) {
      const { raw } = await slow.next(`reply ${i}`);
      const seen = raw.equals(Buffer.from("$-1\r\n")) ? 3 : possible.indexOf(digest(payload(raw)));
      assert.ok(seen >= reached, `reply ${i} is state ${seen} after state ${reached}`);
      reached = seen;
    }
    slow.close();
    await assertEmptied("overwriting");
  });

  test("a client that asks and does not read costs little and gets all in the end", async () => {
    await client.call("SET", "mega", pattern(MB));
    const before = residentBytes(server);
    const lazy = await server.connect();
    lazy.timeoutMs = 60_000;
    lazy.socket.pause();
    const requests = Array.from({ length: 300 }, () => encodeCommand(["GET", "mega"]));
    lazy.sendRaw(Buffer.concat(requests));
    const witness = await startWitness(server);
    for (let i = 0; i < 500; i++) await client.call("PING");
    const grown = residentBytes(server) - before;
    assert.ok(
      grown < 150 * MB,
      `resident memory grew by ${grown} bytes for one that does not read`,
    );
    lazy.socket.resume();
    const expected = digest(pattern(MB));
    for (let i = 0; i < 300; i++) {
      assert.equal(digest(payload((await lazy.next(`reply ${i}`)).raw)), expected);
    }
    await witness.stop();
    lazy.close();
    await assertEmptied("a lazy reader");
  });

  test("announced megabytes that never come cost nothing", async () => {
    const before = residentBytes(server);
    const liars = await Promise.all(Array.from({ length: 100 }, () => server.connect()));
    for (const liar of liars) liar.sendRaw("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\nabc");
    for (let i = 0; i < 200; i++) await client.call("PING");
    const grown = residentBytes(server) - before;
    assert.ok(grown < 150 * MB, `resident memory grew by ${grown} bytes for 10 GB of promises`);
    for (const liar of liars) liar.close();
    await assertEmptied("promises");
  });

  test("half a big value and then gone, again and again: nothing stays", async () => {
    const part = Buffer.concat([
      Buffer.from("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$30000000\r\n"),
      pattern(15 * MB),
    ]);
    for (let i = 0; i < (isLong ? 100 : 10); i++) {
      const leaver = await server.connect();
      await sendInPackets(leaver, part, 1_000_000);
      if (i % 2 === 0) leaver.close();
      else await leaver.finish();
    }
    assert.equal(show((await client.call("EXISTS", "k")).reply), ":0");
    await assertEmptied("half values");
  });

  test("SET, GET, APPEND and SETRANGE of 512 MB, and a byte more", needsLong(), async (t) => {
    const limit = 512 * MB;
    const most = pattern(limit - 1);
    client.timeoutMs = 240_000;
    const witness = await startWitness(server);
    await sendInPackets(client, encodeCommand(["SET", "big", most]), 4_000_037);
    assert.equal(show((await client.next("SET")).reply), "+OK");
    assert.equal(integerOf((await client.call("APPEND", "big", "x")).reply), limit);
    const tooLong = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
    assert.equal(errorOf((await client.call("APPEND", "big", "x")).reply), tooLong);
    assert.equal(errorOf((await client.call("SETRANGE", "big", limit, "x")).reply), tooLong);
    assert.equal(integerOf((await client.call("SETRANGE", "big", limit - 1, "y")).reply), limit);
    const hash = createHash("sha1").update(most);
    assert.equal(await digestOf("big"), hash.update("y").digest("hex"));
    assert.equal(integerOf((await client.call("SETRANGE", "zeros", limit - 1, "z")).reply), limit);
    assert.equal(
      show((await client.call("GETRANGE", "zeros", -3, -1)).reply),
      '$"\\u0000\\u0000z"',
    );
    const zeros = Buffer.alloc(limit);
    zeros.write("z", limit - 1);
    await sendInPackets(client, encodeCommand(["SET", "big", zeros]), 4_000_037);
    assert.equal(show((await client.next("SET")).reply), "+OK");
    assert.equal(await digestOf("big"), digest(zeros));
    assert.equal(await digestOf("zeros"), digest(zeros));
    assert.equal(show((await client.call("DEL", "big", "zeros")).reply), ":2");
    t.diagnostic(JSON.stringify(await witness.stop()));
    await assertEmptied("512 MB");
  });
});
