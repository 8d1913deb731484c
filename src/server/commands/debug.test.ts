import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { H_SPANS_USED } from "../../memory/layout.ts";
import { type TestClient, TestServer } from "../test-server.ts";

function unknown(name: string): string {
  return `-ERR unknown subcommand or wrong number of arguments for '${name}'. Try DEBUG HELP.\r\n`;
}

describe("DEBUG", () => {
  test("knows its subcommands and their words", () => {
    const client = new TestServer().connect();
    assert.equal(client.say("DEBUG"), "-ERR wrong number of arguments for 'debug' command\r\n");
    const refused = ["FOO", "object", "OBJECT a b", "SLEEP", "HELP x", "ARENA", "ARENA FOO"];
    for (const call of refused) {
      const name = call.split(" ", 1)[0] ?? "";
      assert.equal(client.say(`DEBUG ${call}`), unknown(name), call);
    }
    const help = client.say("DEBUG HELP");
    for (const name of ["OBJECT <key>", "PANIC", "SLEEP <seconds>", "HEAP-CHECK", "ARENA CHECK"]) {
      assert.ok(help.includes(`+${name}\r\n`), name);
    }
  });

  test("is refused where the directive says so", () => {
    const server = new TestServer({ settings: { "enable-debug-command": "no" } });
    assert.match(server.connect().say("DEBUG SLEEP 0"), /^-ERR DEBUG command not allowed\./);
  });

  test("OBJECT shows how a value is kept", () => {
    const server = new TestServer();
    const client = server.connect();
    for (const line of ["SET i 12", "SET j 70000", "SET s abc", "SET r 1", "APPEND r 2"]) {
      client.say(line);
    }
    client.call("SET", "l", "x".repeat(70_000));
    server.advance(5000);
    const shown = (key: string): string =>
      client.say(`DEBUG OBJECT ${key}`).replace(/at:0x[0-9a-f]+/, "at:p");
    const lru = Math.floor(server.clock.unixMs / 1000 - 5) & 0xffffff;
    const rest = (encoding: string, length: number): string =>
      `encoding:${encoding} serializedlength:${length} lru:${lru} lru_seconds_idle:5\r\n`;
    assert.equal(shown("i"), `+Value at:p refcount:2147483647 ${rest("int", 2)}`);
    assert.equal(shown("j"), `+Value at:p refcount:1 ${rest("int", 5)}`);
    assert.equal(shown("s"), `+Value at:p refcount:1 ${rest("embstr", 4)}`);
    assert.equal(shown("r"), `+Value at:p refcount:1 ${rest("raw", 2)}`);
    assert.equal(shown("l"), `+Value at:p refcount:1 ${rest("raw", 70_005)}`);
    assert.equal(client.say("DEBUG OBJECT nokey"), "-ERR no such key\r\n");
  });

  test("OBJECT follows the owner of the key, though Redis declares no key", () => {
    const server = new TestServer({ owners: 2 });
    server.connect().say("SET foo 1");
    const moved = "-MOVED 12182 127.0.0.1:6381\r\n";
    assert.equal(server.connect({ owner: 0 }).say("DEBUG OBJECT foo"), moved);
    assert.match(server.connect({ owner: 1 }).say("DEBUG OBJECT foo"), /^\+Value at:/);
    assert.equal(
      server.connect().say("COMMAND GETKEYS DEBUG OBJECT foo"),
      "-ERR The command has no key arguments\r\n",
    );
  });

  test("SET-ACTIVE-EXPIRE stops and starts the walk on all threads", () => {
    const server = new TestServer();
    const client = server.connect();
    assert.equal(client.say("DEBUG SET-ACTIVE-EXPIRE 0"), "+OK\r\n");
    for (let i = 0; i < 100; i++) client.say(`SET key:${i} v PX 10`);
    server.advance(2000);
    const walk = (): void => {
      for (const thread of server.host.servers) for (let n = 0; n < 20; n++) thread.tick();
    };
    walk();
    assert.equal(client.say("DBSIZE"), ":100\r\n");
    assert.equal(client.say("DEBUG SET-ACTIVE-EXPIRE 1"), "+OK\r\n");
    walk();
    assert.equal(client.say("DBSIZE"), ":0\r\n");
  });

  test("SLEEP takes seconds as strtod reads them", () => {
    const server = new TestServer();
    const slept: number[] = [];
    const thread = server.host.servers[0];
    assert.ok(thread !== undefined);
    thread.sleep = (ms: number): void => {
      slept.push(ms);
    };
    const client = server.connect();
    for (const seconds of ["0.5", "1e-2x", "abc", "-1", "0", "inf"]) {
      assert.equal(client.say(`DEBUG SLEEP ${seconds}`), "+OK\r\n");
    }
    assert.deepEqual(slept, [500, 10]);
    // More microseconds than 64 bits hold are none to Redis either.
    const huge = ["9223372036855", "1e19", "1e300", "9".repeat(400), "-1e300", "nan"];
    for (const seconds of huge) assert.equal(client.say(`DEBUG SLEEP ${seconds}`), "+OK\r\n");
    assert.deepEqual(slept, [500, 10]);
    client.say("DEBUG SLEEP 9223372036854");
    assert.deepEqual(slept, [500, 10, 9223372036854000]);
  });

  test("PROTOCOL pushes behind the reply of the command, and in RESP3 only", () => {
    const client = new TestServer().connect();
    assert.equal(
      client.say("DEBUG PROTOCOL push"),
      "-ERR RESP2 is not supported by this command\r\n",
    );
    client.say("HELLO 3");
    assert.equal(
      client.say("DEBUG PROTOCOL push"),
      "$40\r\nSome real reply following the push reply\r\n" +
        ">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n",
    );
    assert.equal(client.say("PING"), "+PONG\r\n");
  });

  test("STRINGMATCH-LEN matches a pattern", () => {
    const client = new TestServer().connect();
    assert.equal(client.say("DEBUG STRINGMATCH-LEN a*c abc"), ":1\r\n");
    assert.equal(client.say("DEBUG STRINGMATCH-LEN a*c abd"), ":0\r\n");
    assert.equal(client.say("DEBUG STRINGMATCH-LEN A abc"), ":0\r\n");
  });

  test("HEAP-CHECK and its other name look at the heap", () => {
    const server = new TestServer();
    const client = server.connect();
    for (let i = 0; i < 200; i++) client.say(`SET key:${i} v`);
    assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
    assert.equal(client.say("DEBUG ARENA CHECK"), "+OK\r\n");
    const control = server.host.servers[0]?.store.control as Int32Array;
    control[H_SPANS_USED] = (control[H_SPANS_USED] as number) + 1;
    const error = /^-ERR spans handed out: (\d+) counted, (\d+) found\r\n$/;
    assert.match(client.say("DEBUG HEAP-CHECK"), error);
    assert.match(client.say("debug arena check"), error);
  });

  test("PANIC and the like are exceptions, which end a real thread's process", () => {
    for (const name of ["PANIC", "ASSERT", "OOM", "SEGFAULT"]) {
      const client = new TestServer().connect();
      assert.throws(() => client.say(`DEBUG ${name}`), new RegExp(`DEBUG ${name} was called`));
    }
  });

  test("POPULATE adds what is missing", () => {
    const client = new TestServer().connect();
    client.say("SET key:1 old");
    assert.equal(client.say("DEBUG POPULATE 3"), "+OK\r\n");
    const value = (key: string): string => client.text(`GET ${key}`);
    assert.deepEqual(["key:0", "key:1", "key:2"].map(value), ["value:0", "old", "value:2"]);
    assert.equal(client.say("DEBUG POPULATE 12 p 7"), "+OK\r\n");
    assert.deepEqual(["p:3", "p:11"].map(value), ["value:3", "value:1"]);
    assert.equal(client.say("DEBUG POPULATE 1 long 100000"), "+OK\r\n");
    assert.equal(value("long:0"), `value:0${"\0".repeat(99_993)}`);
    assert.equal(client.say("DBSIZE"), ":16\r\n");
    const error = "-ERR value is out of range, must be positive\r\n";
    for (const call of ["x", "-1", "1 p x", "1 p -1"]) {
      assert.equal(client.say(`DEBUG POPULATE ${call}`), error);
    }
    const oom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
    for (const size of ["9223372036854775807", "9999999999", "1073741824"]) {
      assert.equal(client.say(`DEBUG POPULATE 1 huge ${size}`), oom, size);
    }
    assert.equal(client.say("DBSIZE"), ":16\r\n");
    assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
  });

  test("DIGEST is the one that redis-server has of the same data", () => {
    const client = new TestServer().connect();
    assert.equal(client.say("DEBUG DIGEST"), `+${"0".repeat(40)}\r\n`);
    for (const line of ["SET a b", "SELECT 3", "SET a b EX 100"]) client.say(line);
    const digest = "+bbaf993872342b7fb41a55d3c9f5bdd0d8943a35\r\n";
    assert.equal(client.say("DEBUG DIGEST"), digest);
    const expiring = "5100a732fe850cb21e67c541d98d3c2b9421ce9c";
    assert.equal(client.say("DEBUG DIGEST-VALUE a"), `*1\r\n+${expiring}\r\n`);
    client.say("SELECT 0");
    const value = "b78559cd22bce6e6df712eb99ce7f3b08e8f8f1f";
    assert.equal(
      client.say("DEBUG DIGEST-VALUE a nosuch"),
      `*2\r\n+${value}\r\n+${"0".repeat(40)}\r\n`,
    );
    for (let i = 0; i < 100; i++) client.say(`SET key:${i} ${i}`);
    const before = client.say("DEBUG DIGEST");
    for (let i = 99; i >= 0; i--) client.say(`DEL key:${i}`);
    assert.equal(client.say("DEBUG DIGEST"), digest);
    for (let i = 99; i >= 0; i--) client.say(`SET key:${i} ${i}`);
    assert.equal(client.say("DEBUG DIGEST"), before);
  });

  test("HTSTATS and SDSLEN show sizes", () => {
    const client = new TestServer().connect();
    assert.equal(client.text("DEBUG HTSTATS 0"), "[Dictionary HT]\n[Expires HT]\n");
    for (const line of ["SET a b", "SET longer value", "SET c 1 EX 100"]) client.say(line);
    assert.match(
      client.text("DEBUG HTSTATS 0 full"),
      /^\[Dictionary HT\]\nHash table 0 stats \(main hash table\):\n table size: 12\n number of elements: 3\n segments: 3\n slots: 3\n\[Expires HT\]\nHash table 0 stats \(main hash table\):\n table size: 12\n number of elements: 1\n$/,
    );
    assert.equal(client.say("DEBUG HTSTATS 99"), "-ERR Out of range database\r\n");
    assert.match(
      client.say("DEBUG SDSLEN longer"),
      /^\+key_sds_len:6, key_sds_avail:0, key_zmalloc: 6, val_sds_len:5, val_sds_avail:0, val_zmalloc: \d+\r\n$/,
    );
    assert.equal(client.say("DEBUG SDSLEN c"), "-ERR Not an sds encoded string.\r\n");
  });

  test("PAUSE-CRON stops the housekeeping of all threads", () => {
    const server = new TestServer();
    const client = server.connect();
    client.say("DEBUG PAUSE-CRON 1");
    for (let i = 0; i < 50; i++) client.say(`SET key:${i} v PX 10`);
    server.advance(2000);
    const walk = (): void => {
      for (const thread of server.host.servers) for (let n = 0; n < 20; n++) thread.tick();
    };
    walk();
    assert.equal(client.say("DBSIZE"), ":50\r\n");
    client.say("DEBUG PAUSE-CRON 0");
    walk();
    assert.equal(client.say("DBSIZE"), ":0\r\n");
  });

  test("CHANGE-REPL-ID does so on all threads", () => {
    const server = new TestServer();
    const [one, other] = [server.connect({ thread: 0 }), server.connect({ thread: 1 })];
    const id = (client: TestClient): string =>
      client.info("replication").get("master_replid") ?? "";
    const before = id(one);
    assert.equal(one.say("DEBUG CHANGE-REPL-ID"), "+OK\r\n");
    assert.match(id(one), /^[0-9a-f]{40}$/);
    assert.notEqual(id(one), before);
    assert.equal(id(other), id(one));
  });

  test("ERROR and LOG say what they are told", () => {
    const server = new TestServer();
    const client = server.connect();
    assert.equal(client.call("DEBUG", "ERROR", "FOO a\r\nb"), "-FOO a  b\r\n");
    assert.equal(client.call("DEBUG", "LOG", "hello there"), "+OK\r\n");
    assert.equal(server.logged.at(-1), "warning: DEBUG LOG: hello there");
  });

  test("what needs a snapshot or a log is refused", () => {
    const client = new TestServer().connect();
    const why = { RELOAD: "there is no snapshot", LOADAOF: "there is no log of commands" };
    for (const [name, reason] of Object.entries(why)) {
      const error = `-ERR DEBUG ${name} is not supported yet: ${reason}\r\n`;
      assert.equal(client.say(`DEBUG ${name}`), error);
    }
    assert.match(client.say("DEBUG RELOAD NOSAVE merge noflush"), /not supported yet/);
    assert.match(client.say("DEBUG RELOAD FOO"), /only supports the MERGE, NOFLUSH and NOSAVE/);
  });
});
