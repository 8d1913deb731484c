/**
 * Clients that WAIT and WAITAOF block, to us and to a redis-server: every scene is played to both
 * and leaves a transcript, and the two must be the same. Where one client has to wait before
 * another goes on, that is asked of the server, never left to time.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { needs } from "../support/environment.ts";
import { until } from "../support/owners.ts";
import { encodeCommand, type RespClient } from "../support/resp.ts";
import { type Frame, show, textOf } from "../support/resp-parser.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";
import { splitArguments } from "./script.ts";

type Scene = (stage: Stage) => Promise<void>;

/** A server with somebody who looks on, and two more clients. */
class Stage {
  readonly transcript: string[] = [];
  readonly watcher: RespClient;
  readonly one: RespClient;
  readonly two: RespClient;
  readonly ids: Map<RespClient, number> = new Map();

  constructor(watcher: RespClient, one: RespClient, two: RespClient) {
    this.watcher = watcher;
    this.one = one;
    this.two = two;
  }

  static async on(server: Server): Promise<Stage> {
    const [watcher, one, two] = await Promise.all([1, 2, 3].map(() => server.connect()));
    const stage = new Stage(watcher as RespClient, one as RespClient, two as RespClient);
    for (const client of [stage.one, stage.two]) {
      stage.ids.set(client, Number(textOf((await client.call("CLIENT", "ID")).reply)));
    }
    await stage.watcher.call("FLUSHALL");
    await stage.watcher.call("CONFIG", "RESETSTAT");
    return stage;
  }

  note(text: string): void {
    this.transcript.push(text);
  }

  /** Says something and notes the answer. */
  async say(client: RespClient, line: string): Promise<void> {
    const words = splitArguments(line.replaceAll("<one>", String(this.ids.get(this.one))));
    const { reply } = await client.call(...words);
    this.note(`${line}: ${show(reply)}`);
  }

  /** Sends lines at once; their answers are taken with `answers`. */
  send(client: RespClient, ...lines: string[]): void {
    client.sendRaw(Buffer.concat(lines.map((line) => encodeCommand(splitArguments(line)))));
  }

  async answers(client: RespClient, count: number): Promise<void> {
    for (let n = 0; n < count; n++) this.note(show((await client.next()).reply));
  }

  async infoOf(section: string, field: string): Promise<string | undefined> {
    const frame: Frame = await this.watcher.call("INFO", section);
    return new RegExp(`^${field}:(.*)\r$`, "m").exec(textOf(frame.reply))?.[1];
  }

  untilBlocked(count: number): Promise<void> {
    const wanted = String(count);
    return until(
      `${count} are blocked`,
      async () => (await this.infoOf("clients", "blocked_clients")) === wanted,
    );
  }

  async flags(client: RespClient): Promise<void> {
    const line = await this.watcher.call("CLIENT", "LIST", "ID", this.ids.get(client) as number);
    const found = / flags=(\w+) .* cmd=(\S+) /.exec(textOf(line.reply));
    this.note(`flags=${found?.[1]} cmd=${found?.[2]}`);
  }

  close(): void {
    for (const client of [this.watcher, this.one, this.two]) client.close();
  }
}

const WRONG: readonly string[] = [
  "WAIT",
  "WAIT 1",
  "WAIT 1 0 0",
  "WAIT 0 0",
  "WAIT -1 0",
  "WAIT -9223372036854775808 1",
  "WAIT x 0",
  'WAIT "" 0',
  "WAIT 01 0",
  "WAIT 9223372036854775808 0",
  "WAIT 1 x",
  "WAIT 1 1.5",
  "WAIT 1 -1",
  "WAIT x x",
  "CLIENT UNBLOCK 12345678",
  "CLIENT UNBLOCK -1",
  "CLIENT UNBLOCK 12345678 FOO",
  "CLIENT UNBLOCK x",
  "CLIENT UNBLOCK 1 TIMEOUT x",
];

/** New in 7.2, as is a timeout that would end beyond 64 bits. */
const WAITAOF_LINES: readonly string[] = [
  "WAITAOF",
  "WAITAOF 0 0",
  "WAITAOF 0 0 0",
  "WAITAOF x 0 0",
  "WAITAOF 9223372036854775808 0 0",
  "WAITAOF 2 0 0",
  "WAITAOF -1 0 0",
  "WAITAOF 1 0 0",
  "WAITAOF 1 1 x",
  "WAITAOF 1 1 -1",
  "WAITAOF 0 -1 x",
  "WAITAOF 0 x 0",
  "WAITAOF 0 9223372036854775808 0",
  "WAITAOF 0 1 9223372036854775807",
  "WAIT 1 9223372036854775807",
  "WAITAOF 0 1 20",
];

function unblocking(command: string): Scene {
  return async (stage) => {
    for (const how of ["", " TIMEOUT", " timeout", " ERROR", " error"]) {
      stage.send(stage.one, command, "PING");
      await stage.untilBlocked(1);
      await stage.flags(stage.one);
      await stage.say(stage.watcher, `CLIENT UNBLOCK <one>${how}`);
      await stage.answers(stage.one, 2);
      await stage.say(stage.watcher, `CLIENT UNBLOCK <one>${how}`);
      await stage.untilBlocked(0);
      await stage.flags(stage.one);
    }
    stage.note(`errors ${await stage.infoOf("errorstats", "errorstat_UNBLOCKED")}`);
  };
}

const SCENES: Readonly<Record<string, Scene>> = {
  "what is wrong is answered at once": async (stage) => {
    for (const line of WRONG) await stage.say(stage.one, line);
  },
  "time is up, and what comes behind goes on": async (stage) => {
    stage.send(stage.one, "SET k 1", "WAIT 1 20", "INCR k", "WAIT 2 20", "INCR k");
    await stage.answers(stage.one, 5);
  },
  "CLIENT UNBLOCK": unblocking("WAIT 1 0"),
  "CLIENT UNBLOCK of one that has a time": unblocking("WAIT 3 1000000"),
  "who is in the table of timeouts": async (stage) => {
    stage.send(stage.one, "WAIT 1 0");
    await stage.untilBlocked(1);
    stage.note(`timed ${await stage.infoOf("clients", "clients_in_timeout_table")}`);
    stage.send(stage.two, "WAIT 1 1000000");
    await stage.untilBlocked(2);
    stage.note(`timed ${await stage.infoOf("clients", "clients_in_timeout_table")}`);
  },
  "a client that is killed": async (stage) => {
    stage.send(stage.one, "SET k v", "WAIT 1 0", "SET k w");
    await stage.answers(stage.one, 1);
    await stage.untilBlocked(1);
    await stage.say(stage.watcher, "CLIENT KILL ID <one>");
    await stage.one.expectClosed();
    await stage.untilBlocked(0);
    await stage.say(stage.watcher, "GET k");
  },
  "a client that leaves": async (stage) => {
    stage.send(stage.one, "WAIT 1 0", "SET k w");
    stage.send(stage.two, "WAIT 1 1000000", "SET k w");
    await stage.untilBlocked(2);
    stage.one.close();
    await stage.untilBlocked(1);
    await stage.two.finish();
    await stage.untilBlocked(0);
    await stage.say(stage.watcher, "GET k");
  },
  "CLIENT REPLY": async (stage) => {
    stage.send(stage.one, "CLIENT REPLY SKIP", "WAIT 1 20", "PING");
    await stage.answers(stage.one, 1);
    stage.send(stage.one, "CLIENT REPLY OFF", "WAIT 1 0", "CLIENT REPLY ON", "PING");
    await stage.untilBlocked(1);
    await stage.say(stage.watcher, "CLIENT UNBLOCK <one> ERROR");
    await stage.answers(stage.one, 2);
  },
  "CLIENT PAUSE": async (stage) => {
    await stage.say(stage.watcher, "CLIENT PAUSE 1000000 WRITE");
    stage.send(stage.one, "WAIT 1 20", "WAIT 1 0", "SET k v");
    await stage.answers(stage.one, 1);
    await stage.untilBlocked(1);
    await stage.say(stage.watcher, "CLIENT UNBLOCK <one>");
    await stage.answers(stage.one, 1);
    await stage.untilBlocked(1);
    await stage.flags(stage.one);
    await stage.say(stage.watcher, "CLIENT UNPAUSE");
    await stage.answers(stage.one, 1);
    await stage.untilBlocked(0);
  },
};

async function transcriptOf(server: Server, scene: Scene): Promise<readonly string[]> {
  const stage = await Stage.on(server);
  try {
    await scene(stage);
    return stage.transcript;
  } finally {
    stage.close();
    await untilAlone(server);
  }
}

/** What the last scene left behind is not to be seen in the next. */
async function untilAlone(server: Server): Promise<void> {
  const client = await server.connect();
  await until("the others are gone", async () => {
    const text = textOf((await client.call("INFO", "clients")).reply);
    return /^connected_clients:1\r$/m.test(text);
  });
  client.close();
}

for (const threads of [1, 4]) {
  describe(`blocked clients with ${threads} threads are Redis's`, needs("redis-server"), () => {
    let oracle: Server;
    let subject: Server;

    before(async () => {
      oracle = await startRedis();
      subject = await startZeroHop({ threads, bind: "127.0.0.1" });
    });

    after(async () => {
      await oracle?.stop();
      await subject?.stop();
    });

    async function compare(scene: Scene): Promise<void> {
      const redis = await transcriptOf(oracle, scene);
      assert.deepEqual(await transcriptOf(subject, scene), redis);
      assert.notEqual(redis.length, 0);
    }

    for (const [name, scene] of Object.entries(SCENES)) test(name, () => compare(scene));

    test("WAITAOF, where the redis-server has it", async (t) => {
      const client = await oracle.connect();
      const known = show((await client.call("COMMAND", "INFO", "WAITAOF")).reply);
      client.close();
      if (!known.includes("waitaof")) {
        t.skip("the redis-server is older than 7.2");
        return;
      }
      await compare(async (stage) => {
        for (const line of WAITAOF_LINES) await stage.say(stage.one, line);
      });
      await compare(unblocking("WAITAOF 0 1 0"));
      await compare(unblocking("WAITAOF 0 2 1000000"));
    });
  });
}
