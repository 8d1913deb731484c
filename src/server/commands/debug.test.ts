import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { H_SPANS_USED } from "../../memory/layout.ts";
import { TestServer } from "../test-server.ts";

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

  test("PANIC is an exception, which ends a real thread's process", () => {
    const client = new TestServer().connect();
    assert.throws(() => client.say("DEBUG PANIC"), /DEBUG PANIC was called/);
  });
});

describe("SHUTDOWN", () => {
  test("has no reply, closes, and ends the process", () => {
    for (const options of ["", " NOSAVE", " now", " FORCE NOSAVE NOW", " SAVE FORCE"]) {
      const server = new TestServer();
      const client = server.connect();
      assert.equal(client.say(`SHUTDOWN${options}`), "");
      assert.ok(client.isClosed);
      assert.ok(server.host.isShutDown, options);
    }
  });

  test("does not end it when the options are wrong", () => {
    const server = new TestServer();
    const client = server.connect();
    for (const options of ["FOO", "SAVE NOSAVE", "ABORT NOW", "ABORT SAVE", "NOW FOO"]) {
      assert.equal(client.say(`SHUTDOWN ${options}`), "-ERR syntax error\r\n", options);
    }
    assert.equal(client.say("SHUTDOWN ABORT"), "-ERR No shutdown in progress.\r\n");
    const save = "-ERR Errors trying to SHUTDOWN. Check logs.\r\n";
    assert.equal(client.say("SHUTDOWN SAVE"), save);
    assert.match(server.logged.at(-1) ?? "", /^warning: SHUTDOWN SAVE was refused/);
    assert.ok(!server.host.isShutDown);
  });
});
