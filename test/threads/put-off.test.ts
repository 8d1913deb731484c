/**
 * Commands that are put off while a big string is copied under no lock, on a whole server: what
 * others do meanwhile, what the session waits for then, and that it is one command all the same.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { H_SPANS_LIMIT, H_SPANS_USED } from "../../src/memory/layout.ts";
import { requestText } from "../../src/protocol/test-request.ts";
import {
  type TestClient,
  TestServer,
  type TestServerOptions,
} from "../../src/server/test-server.ts";
import { SLOT_STABLE, slotRow } from "../../src/server/topology.ts";

const MB = 2 ** 20;
/** Fills its block. */
const SIZE = MB - 8;
const BIG = "0123456789abcdef".repeat(MB / 16).slice(8);
const LONGER = `:${SIZE + 1}\r\n`;
const CLIENTS_GONE_TICKS = 3;

class World {
  readonly server: TestServer;
  readonly client: TestClient;
  /** On another thread. */
  readonly other: TestClient;
  /** Called before each copy and behind it, by the number of the copy. */
  before: (n: number) => void = () => {};
  after: (n: number) => void = () => {};
  copies = 0;

  constructor(options: TestServerOptions = {}) {
    this.server = new TestServer(options);
    const owner = options.owners === undefined ? {} : { owner: 0 };
    this.client = this.server.connect(owner);
    this.other = this.server.connect({ thread: 1 });
    const blockCopy = this.server.host.servers[0]?.store.blockCopy;
    assert.ok(blockCopy !== undefined);
    const make = blockCopy.make.bind(blockCopy);
    blockCopy.make = () => {
      this.before(this.copies);
      make();
      this.after(this.copies++);
    };
    assert.equal(this.client.call("SET", "k", BIG), "+OK\r\n");
  }

  stat(section: string, name: string): number {
    return Number(this.other.info(section).get(name));
  }

  get used(): number {
    return this.stat("memory", "used_memory");
  }

  tick(): void {
    for (const thread of this.server.host.servers) thread.tick();
    this.server.host.settle();
  }

  expectSound(): void {
    assert.equal(this.other.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  }
}

describe("a command that is put off", () => {
  test("is one command, in the time that it takes with the copy", () => {
    const w = new World({ settings: { "slowlog-log-slower-than": "0" } });
    const watcher = w.server.connect();
    assert.equal(watcher.say("MONITOR"), "+OK\r\n");
    w.client.say("SLOWLOG RESET");
    w.client.say("CONFIG RESETSTAT");
    watcher.link.sent = "";
    w.before = () => w.server.advance(7);
    assert.equal(w.client.call("APPEND", "k", "x"), LONGER);
    assert.equal(w.copies, 1);
    assert.equal(watcher.link.sent.match(/"APPEND"/g)?.length, 1);
    const [, micros] =
      /\*6\r\n:\d+\r\n:\d+\r\n:(\d+)\r\n.*?APPEND/s.exec(w.other.say("SLOWLOG GET 1")) ?? [];
    assert.ok(Number(micros) >= 7000, `${micros} microseconds`);
    const use = w.other.info("commandstats").get("cmdstat_append") ?? "";
    assert.match(use, /^calls=1,usec=7\d\d\d,.*rejected_calls=0,failed_calls=0/);
    assert.equal(w.stat("threads", "keyed_commands_local"), 1);
    assert.ok(w.stat("threads", "work_bytes_copied_max") <= 65_536);
    w.expectSound();
  });

  test("stays in its place among others of its connection", () => {
    const w = new World();
    w.before = () => assert.equal(w.other.call("SETRANGE", "k", "0", "other"), `:${SIZE}\r\n`);
    const sent = ["APPEND k x", "STRLEN k", "GETRANGE k 0 4", "APPEND k y", "INCR n"]
      .map((line) => requestText(line.split(" ")))
      .join("");
    const replies = `${LONGER}${LONGER}$5\r\nother\r\n:${SIZE + 2}\r\n:1\r\n`;
    assert.equal(w.client.send(sent), replies);
    w.expectSound();
  });

  test("is run when the lock is free again, with the copy that it has", () => {
    const w = new World();
    let release = (): void => {};
    w.after = () => {
      release = w.server.holdShard(w.server.shardOf("k"));
    };
    assert.equal(
      w.client.send(requestText(["APPEND", "k", "x"]) + requestText(["STRLEN", "k"])),
      "",
    );
    assert.equal(w.copies, 1);
    release();
    assert.equal(w.client.link.sent, LONGER + LONGER);
    assert.equal(w.copies, 1);
    assert.ok(w.used < 3 * MB);
    w.expectSound();
  });

  test("lets go of the copy if its client is killed meanwhile", () => {
    const w = new World();
    const before = w.used;
    let release = (): void => {};
    w.after = () => {
      release = w.server.holdShard(w.server.shardOf("k"));
    };
    assert.equal(w.client.call("APPEND", "k", "x"), "");
    assert.ok(w.used > before + MB);
    w.other.say(`CLIENT KILL ID ${w.client.session.id}`);
    w.server.host.settle();
    assert.ok(w.client.isClosed);
    release();
    for (let n = 0; n < CLIENTS_GONE_TICKS; n++) w.tick();
    assert.equal(w.used, before);
    assert.equal(w.other.call("STRLEN", "k"), `:${SIZE}\r\n`);
    w.expectSound();
    w.copies = 0;
    w.after = () => {};
    const next = w.server.connect();
    assert.equal(next.call("APPEND", "k", "x"), LONGER);
    assert.equal(next.call("APPEND", "k", "y"), `:${SIZE + 2}\r\n`);
    assert.equal(w.copies, 1, "the second one finds a block that nobody has pinned");
  });

  for (const ticks of [0, CLIENTS_GONE_TICKS]) {
    test(`waits for the end of a pause that began meanwhile, after ${ticks} ticks`, () => {
      const w = new World();
      w.before = (n) => {
        if (n === 0) assert.equal(w.other.say("CLIENT PAUSE 60000 WRITE"), "+OK\r\n");
      };
      assert.equal(w.client.call("APPEND", "k", "x"), "");
      assert.equal(w.stat("clients", "blocked_clients"), 1);
      for (let n = 0; n < ticks; n++) w.tick();
      assert.equal(w.other.call("STRLEN", "k"), `:${SIZE}\r\n`);
      w.expectSound();
      w.other.say("CLIENT UNPAUSE");
      w.server.host.settle();
      assert.equal(w.client.link.sent, LONGER);
      assert.equal(w.copies, ticks === 0 ? 1 : 2);
      assert.equal(w.other.call("STRLEN", "k"), LONGER);
      w.expectSound();
    });
  }

  test("is led to another owner that got its slot meanwhile", () => {
    const w = new World({ owners: 2 });
    // "k" is in slot 7629, of the first owner.
    w.before = () => {
      new Int32Array(w.server.host.shared.slots).fill(slotRow(SLOT_STABLE, 1, 0), 7629, 7630);
    };
    assert.match(w.client.call("APPEND", "k", "x"), /^-MOVED 7629 .*:6381\r\n$/);
    assert.equal(w.copies, 1);
    assert.equal(w.other.call("STRLEN", "k"), `:${SIZE}\r\n`);
    w.expectSound();
  });
});

describe("meanwhile another thread", () => {
  const CASES: readonly (readonly [string, string, (w: World) => void])[] = [
    ["flushes everything", ":1\r\n", (w) => void w.other.say("FLUSHALL")],
    [
      "swaps the database away",
      ":4\r\n",
      (w) => {
        w.other.say("SELECT 1");
        w.other.say("SET k abc");
        w.other.say("SWAPDB 0 1");
      },
    ],
    [
      "swaps it there and back",
      LONGER,
      (w) => {
        w.other.say("SWAPDB 0 1");
        w.other.say("SWAPDB 1 0");
      },
    ],
    ["lets the key expire", ":1\r\n", (w) => void w.other.say("PEXPIRE k 0")],
    [
      "sets a time that passes",
      ":1\r\n",
      (w) => {
        w.other.say("PEXPIRE k 3");
        w.server.advance(5);
      },
    ],
    ["appends as well", `:${SIZE + 4}\r\n`, (w) => void w.other.say("APPEND k abc")],
  ];
  for (const [what, reply, run] of CASES) {
    for (const moment of ["before", "after"] as const) {
      test(`${what}, ${moment} the copy`, () => {
        const w = new World();
        w[moment] = (n) => {
          if (n === 0) run(w);
        };
        assert.equal(w.client.call("APPEND", "k", "x"), reply);
        for (let n = 0; n < CLIENTS_GONE_TICKS; n++) w.tick();
        w.expectSound();
        w.other.say("FLUSHALL");
        assert.ok(w.used < 20_000, `${w.used} bytes of nothing`);
      });
    }
  }

  test("evicts the very key", () => {
    const settings = { maxmemory: `${8 * MB}`, "maxmemory-policy": "allkeys-lru" };
    const w = new World({ settings });
    w.before = (n) => {
      if (n > 0) return;
      w.server.advance(100_000);
      for (let i = 0; w.other.call("EXISTS", "k") === ":1\r\n"; i++) {
        assert.ok(i < 10_000, "it is never evicted");
        assert.equal(w.other.call("SET", `key:${i}`, "v".repeat(5000)), "+OK\r\n");
        // EXISTS is a use.
        if (i % 20 === 0) w.server.advance(1000);
      }
    };
    assert.equal(w.client.call("APPEND", "k", "x"), ":1\r\n");
    w.expectSound();
  });

  test("changes the key every time, and the command is run all the same", () => {
    const w = new World();
    w.after = (n) => void w.other.call("SET", "k", n % 2 === 0 ? BIG.toUpperCase() : BIG);
    assert.equal(w.client.call("APPEND", "k", "x"), LONGER);
    assert.ok(w.copies > 1 && w.copies < 10, `${w.copies} copies`);
    w.expectSound();
  });
});

describe("memory", () => {
  test("a command that was admitted is not refused for its own copy", () => {
    const w = new World();
    const limit = w.used + MB / 2;
    w.other.say(`CONFIG SET maxmemory ${limit} maxmemory-policy noeviction`);
    assert.equal(w.client.call("APPEND", "k", "x"), LONGER);
    assert.equal(w.copies, 1);
    assert.match(w.client.call("APPEND", "k", "y"), /^-OOM /);
    assert.equal(w.copies, 1, "what is refused is not copied");
    w.expectSound();
  });

  test("where only holes are left a copy is refused, and small strings still grow", () => {
    const w = new World();
    const many = Array.from({ length: 6000 }, (_, i) => `{k}${i}`);
    for (const key of many) w.client.call("SET", key, "v".repeat(1000));
    w.client.call("DEL", ...many.filter((_, i) => i % 3 !== 0));
    const control = new Int32Array(w.server.host.shared.control);
    control[H_SPANS_LIMIT] = control[H_SPANS_USED] as number;
    const before = w.used;
    assert.match(w.client.call("APPEND", "k", "x"), /^-OOM /);
    assert.match(w.client.call("SETRANGE", "{k}0", "100000", "x"), /^-OOM /);
    assert.equal(w.copies, 2);
    assert.equal(w.used, before);
    assert.equal(w.client.call("APPEND", "{k}0", "x"), ":1001\r\n");
    assert.equal(w.client.call("STRLEN", "k"), `:${SIZE}\r\n`);
    w.expectSound();
    control[H_SPANS_LIMIT] = 0;
    assert.equal(w.client.call("APPEND", "k", "x"), LONGER);
  });

  test("COPY of a string over two shards", () => {
    const w = new World();
    assert.notEqual(w.server.shardOf("k"), w.server.shardOf("l"));
    w.before = () => void w.other.call("SET", "l", BIG.toUpperCase());
    assert.equal(w.client.call("COPY", "k", "l"), ":0\r\n");
    assert.equal(w.client.call("COPY", "k", "l", "REPLACE"), ":1\r\n");
    assert.equal(w.copies, 2);
    assert.equal(w.client.call("GET", "l"), `$${SIZE}\r\n${BIG}\r\n`);
    assert.equal(w.stat("stats", "keyspace_hits"), 3);
    w.expectSound();
  });
});
