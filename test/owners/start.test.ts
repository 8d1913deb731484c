/** Which layouts are refused at start, and in which words. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { needsOurs } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { closeServer, holdPort, reservePortBlock } from "../support/ports.ts";
import { show } from "../support/resp-parser.ts";
import {
  commandLine,
  type Options,
  runZeroHop,
  type Server,
  startZeroHop,
} from "../support/servers.ts";

async function refusal(options: Options): Promise<string> {
  const { code, stdout, stderr } = await runZeroHop(commandLine(options));
  const lines = stderr.split("\n").filter((line) => line !== "");
  assert.equal(code, 1, `${JSON.stringify(options)} was not refused:\n${stdout}${stderr}`);
  assert.equal(lines.length, 1, `not one line:\n${lines.join("\n")}`);
  return lines[0] as string;
}

/** For ports that cannot be others: another run of this test may have them just now. */
async function startOnceFree(options: Options): Promise<Server> {
  let server: Server | undefined;
  await until("the ports are free", async () => {
    try {
      server = await startZeroHop(options);
      return true;
    } catch (error) {
      if ((error as Error).message.includes("address already in use")) return false;
      throw error;
    }
  });
  return server as Server;
}

describe("refused layouts", needsOurs(), () => {
  const bind = "127.0.0.1";

  test("a block that passes 65535", async () => {
    assert.match(
      await refusal({ bind, port: "auto", "shard-owners": 4, "shard-owners-port": 65533 }),
      /shard-owners: ports 65533-65536 pass 65535 \(shard-owners-port 65533, 4 owners\)/,
    );
    assert.match(
      await refusal({ bind, port: 65532, "shard-owners": 4 }),
      /shard-owners: ports 65533-65536 pass 65535/,
    );
    assert.match(
      await refusal({ bind, port: "auto", "shard-owners": 100, "shard-owners-port": 65500 }),
      /shard-owners: ports 65500-65599 pass 65535 \(shard-owners-port 65500, 100 owners\)/,
    );
  });

  test("the last possible block is accepted", async () => {
    const server = await startOnceFree({ bind, "shard-owners": 4, "shard-owners-port": 65532 });
    assert.deepEqual(server.ownerPorts, [65532, 65533, 65534, 65535]);
    const client = await server.connectTo(65535);
    assert.equal(show((await client.call("PING")).reply), "+PONG");
    await server.stop();
  });

  test("numbers of owners that make no sense", async () => {
    for (const count of ["257", "-1", "abc", "1.5", ""]) {
      const line = await refusal({ bind, port: "auto", "shard-owners": count });
      assert.match(line, /shard-owners/, count);
    }
  });

  test("together with cluster-enabled", async () => {
    const both: Options = { bind, port: "auto", "shard-owners": 2, "cluster-enabled": "yes" };
    assert.match(
      await refusal({ ...both, "shard-owners-port": "auto" }),
      /shard-owners and cluster-enabled exclude each other|cluster-enabled/,
    );
  });

  test("without a plain port the owners' port must be given", async () => {
    assert.match(await refusal({ bind, port: 0, "shard-owners": 2 }), /shard-owners-port/);
  });

  test("a plain port within the owners' block", async () => {
    const block = await reservePortBlock(4);
    await block.release();
    const inside = { bind, port: block.first + 2, "shard-owners": 4 };
    const line = await refusal({ ...inside, "shard-owners-port": block.first });
    assert.match(line, new RegExp(`port ${block.first + 2} is needed by both`));
    assert.match(line, /shard-owners-port/);
  });

  test("a port of the block that is taken", async () => {
    for (const taken of [0, 3]) {
      const block = await reservePortBlock(4);
      await block.release();
      const holder = await holdPort(block.first + taken, "127.0.0.1");
      const line = await refusal({
        bind,
        port: "auto",
        "shard-owners": 4,
        "shard-owners-port": block.first,
      });
      assert.match(line, new RegExp(`shard-owners-port ${block.first + taken}:`));
      assert.match(line, /address already in use/);
      await closeServer(holder);
    }
  });
});

describe("accepted layouts", needsOurs(), () => {
  const bind = "127.0.0.1";

  test("the block follows the plain port by default", async () => {
    const block = await reservePortBlock(4);
    await block.release();
    const server = await startZeroHop({ bind, port: block.first, "shard-owners": 3 });
    assert.deepEqual(
      server.ownerPorts,
      [1, 2, 3].map((i) => block.first + i),
    );
    assert.equal(server.port, block.first);
    await server.stop();
  });

  test("equal to the plain port: there is no plain port", async () => {
    const block = await reservePortBlock(2);
    await block.release();
    const options = { bind, port: block.first, "shard-owners": 2 };
    const server = await startZeroHop({ ...options, "shard-owners-port": block.first });
    assert.equal(server.listeners.has("tcp"), false);
    const client = await server.connectTo(block.first);
    assert.match(show((await client.call("MGET", "a", "b")).reply), /^-CROSSSLOT/);
    await server.stop();
  });

  test("port 0 with owners only", async () => {
    const server = await startZeroHop({
      bind,
      port: 0,
      "shard-owners": 2,
      "shard-owners-port": "auto",
    });
    const client = await server.connectTo(server.ownerPorts[1] as number);
    assert.equal(show((await client.call("PING")).reply), "+PONG");
    await server.stop();
  });

  test("yes is one owner per thread", async () => {
    const server = await startZeroHop({
      bind,
      threads: 3,
      "shard-owners": "yes",
      "shard-owners-port": "auto",
    });
    assert.equal(server.ownerPorts.length, 3);
    await server.stop();
  });

  test("no is the default and has no owners", async () => {
    const server = await startZeroHop({ bind });
    assert.equal(server.listeners.has("owners"), false);
    const client = await server.connect();
    assert.equal(
      show((await client.call("CLUSTER", "SLOTS")).reply),
      "-ERR This instance has cluster support disabled",
    );
    await server.stop();
  });
});
