/**
 * Bytes that are no well-formed requests, and well-formed ones in odd packets. Each conversation
 * goes to us and to a redis-server and ends with a half-close by the client, so that "the server
 * sent nothing more" and "the server closed" are facts; what came back is compared byte by byte.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs } from "../support/environment.ts";
import { converse, converseInParts, encodeCommand, type RespClient } from "../support/resp.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { CUT_CONVERSATIONS, ODD_CONVERSATIONS } from "./corpus/protocol.ts";

for (const threads of [1, 4]) {
  describe(`the wire with ${threads} threads is Redis's`, needs("redis-server"), () => {
    let oracle: Server;
    let subject: Server;
    const clients: RespClient[] = [];

    before(async () => {
      oracle = await startRedis({ "enable-debug-command": "yes" });
      subject = await startZeroHop({ threads, "enable-debug-command": "yes" });
      clients.push(await oracle.connect(), await subject.connect());
    });

    after(async () => {
      await oracle?.stop();
      await subject?.stop();
    });

    async function flush(): Promise<void> {
      await Promise.all(clients.map((client) => client.call("FLUSHALL")));
    }

    async function compare(name: string, bytes: string): Promise<string | undefined> {
      await flush();
      const [redis, ours] = await Promise.all(
        [oracle, subject].map((server) => converse(server.address, bytes)),
      );
      const expected = redis?.toString("latin1");
      const actual = ours?.toString("latin1");
      if (expected === actual) return undefined;
      return [
        `  ${name}: ${quote(bytes)}`,
        `    ours:  ${quote(actual ?? "")}`,
        `    redis: ${quote(expected ?? "")}`,
      ].join("\n");
    }

    for (const [title, conversations] of ODD_CONVERSATIONS) {
      test(title, async () => {
        const found: string[] = [];
        for (const bytes of conversations) {
          const difference = await compare(title, bytes);
          if (difference !== undefined) found.push(difference);
        }
        assert.equal(found.length, 0, `${found.length} replies differ\n${found.join("\n")}`);
      });
    }

    test("requests cut at every byte give the replies of the whole", async () => {
      for (const bytes of CUT_CONVERSATIONS) {
        await flush();
        const expected = await converse(oracle.address, bytes);
        const round = async (): Promise<void> => void (await clients[1]?.call("PING"));
        for (let cut = 1; cut < bytes.length; cut++) {
          await clients[1]?.call("FLUSHALL");
          const parts = [bytes.slice(0, cut), bytes.slice(cut)];
          const actual = await converseInParts(subject.address, parts, round);
          const where = `${quote(bytes)} cut at ${cut}`;
          assert.equal(actual.toString("latin1"), expected.toString("latin1"), where);
        }
      }
    });

    test("requests byte by byte give the replies of the whole", async () => {
      for (const bytes of CUT_CONVERSATIONS.filter((one) => one.length < 400)) {
        await flush();
        const expected = await converse(oracle.address, bytes);
        await clients[1]?.call("FLUSHALL");
        const round = async (): Promise<void> => void (await clients[1]?.call("PING"));
        const actual = await converseInParts(subject.address, [...bytes], round);
        assert.equal(actual.toString("latin1"), expected.toString("latin1"), quote(bytes));
      }
    });

    test("pipelines of many sizes come back complete and in order", async () => {
      for (const count of [1, 2, 63, 64, 65, 1000, 10_000]) {
        const requests = Array.from({ length: count }, (_, i) =>
          encodeCommand(i % 3 === 0 ? ["SET", `k${i % 97}`, i] : ["GET", `k${(i - 1) % 97}`]),
        );
        await flush();
        const bytes = Buffer.concat(requests);
        const replies: string[] = [];
        for (const server of [oracle, subject]) {
          const client = await server.connect();
          client.sendRaw(bytes);
          const frames: Buffer[] = [];
          for (let i = 0; i < count; i++) frames.push((await client.next(`reply ${i}`)).raw);
          client.close();
          replies.push(Buffer.concat(frames).toString("latin1"));
        }
        assert.equal(replies[1], replies[0], `${count} requests in one write`);
      }
    });
  });
}

function quote(text: string): string {
  const printed = JSON.stringify(text);
  return printed.length > 300 ? `${printed.slice(0, 300)}… (${text.length} bytes)` : printed;
}
