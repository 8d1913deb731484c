import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { requestText } from "../../protocol/test-request.ts";
import { NAME_BYTES_MAX } from "../client-table.ts";
import { type TestClient, TestServer } from "../test-server.ts";

/** A server with a client on each thread. */
function pair(): { server: TestServer; a: TestClient; b: TestClient } {
  const server = new TestServer();
  return { server, a: server.connect(), b: server.connect({ thread: 1 }) };
}

function lines(client: TestClient, call: string): string[] {
  return client.text(call).split("\n").slice(0, -1);
}

/** Kills are carried out when the other thread's bell has rung. */
function callAndSettle(server: TestServer, client: TestClient, call: string): string {
  const reply = client.say(call);
  server.host.settle();
  return reply;
}

describe("what a client says about itself", () => {
  test("names are printable and fit their place", () => {
    const { a } = pair();
    const longest = "n".repeat(NAME_BYTES_MAX);
    assert.equal(a.call("CLIENT", "SETNAME", longest), "+OK\r\n");
    assert.equal(a.say("CLIENT GETNAME"), `$${longest.length}\r\n${longest}\r\n`);
    assert.ok(a.text("CLIENT INFO").includes(` name=${longest} age=`));
    assert.equal(
      a.call("CLIENT", "SETNAME", `${longest}x`),
      "-ERR Client names cannot be longer than 254 bytes\r\n",
    );
    for (const name of ["a b", "a\nb", "a\x7f", "\xe4", "a b\0", "\x01\0"]) {
      assert.equal(
        a.call("CLIENT", "SETNAME", name),
        "-ERR Client names cannot contain spaces, newlines or special characters.\r\n",
      );
    }
    assert.equal(a.call("CLIENT", "SETNAME", ""), "+OK\r\n");
    assert.equal(a.say("CLIENT GETNAME"), "$-1\r\n");
  });

  test("what is behind a zero byte is neither looked at nor shown", () => {
    const { a } = pair();
    a.say("CONFIG SET slowlog-log-slower-than 0");
    for (const [name, shown] of [
      ["a\0b c\n", "a"],
      ["\0", ""],
    ] as const) {
      assert.equal(a.call("CLIENT", "SETNAME", name), "+OK\r\n");
      assert.equal(a.say("CLIENT GETNAME"), `$${name.length}\r\n${name}\r\n`);
      assert.equal(a.call("HELLO", "2", "SETNAME", name).slice(0, 1), "*");
      assert.equal(a.say("CLIENT GETNAME"), `$${name.length}\r\n${name}\r\n`);
      assert.equal(a.call("CLIENT", "SETINFO", "LIB-NAME\0x", name), "+OK\r\n");
      assert.equal(a.call("CLIENT", "SETINFO", "LIB-VER", name), "+OK\r\n");
      const line = a.text("CLIENT INFO");
      assert.ok(line.includes(` name=${shown} age=`), line);
      assert.ok(line.endsWith(` lib-name=${shown} lib-ver=${shown}\n`), line);
      const entry = a.say("SLOWLOG GET 1");
      assert.ok(entry.endsWith(`$${shown.length}\r\n${shown}\r\n`), entry);
    }
  });

  test("libraries", () => {
    const { a } = pair();
    assert.equal(a.say("CLIENT SETINFO lib-name redis-py"), "+OK\r\n");
    assert.equal(a.say("CLIENT SETINFO LIB-VER 5.0"), "+OK\r\n");
    assert.match(a.text("CLIENT INFO"), / lib-name=redis-py lib-ver=5\.0\n$/);
    assert.equal(
      a.call("CLIENT", "SETINFO", "lib-name", "a b"),
      "-ERR lib-name cannot contain spaces, newlines or special characters.\r\n",
    );
    assert.equal(a.say("CLIENT SETINFO FOO bar"), "-ERR Unrecognized option 'FOO'\r\n");
    assert.equal(
      a.call("CLIENT", "SETINFO", "LIB-NAME", "x".repeat(159)),
      "-ERR LIB-NAME cannot be longer than 158 bytes\r\n",
    );
    assert.equal(
      a.call("CLIENT", "SETINFO", "LIB-VER", "x".repeat(127)),
      "-ERR LIB-VER cannot be longer than 126 bytes\r\n",
    );
    assert.match(a.text("CLIENT INFO"), / lib-name=redis-py lib-ver=5\.0\n$/);
  });

  test("switches take ON and OFF", () => {
    const { a } = pair();
    for (const name of ["NO-EVICT", "NO-TOUCH"]) {
      assert.equal(a.say(`CLIENT ${name} on`), "+OK\r\n");
      assert.equal(a.say(`CLIENT ${name} maybe`), "-ERR syntax error\r\n");
    }
    assert.match(a.text("CLIENT INFO"), / flags=eT /);
    a.say("CLIENT NO-EVICT OFF");
    a.say("CLIENT NO-TOUCH OFF");
    assert.match(a.text("CLIENT INFO"), / flags=N /);
  });

  test("NO-TOUCH leaves the times of keys alone, but for TOUCH", () => {
    const { server, a, b } = pair();
    a.say("SET k v");
    server.advance(100_000);
    b.say("CLIENT NO-TOUCH ON");
    b.say("GET k");
    assert.equal(b.say("OBJECT IDLETIME k"), ":100\r\n");
    b.say("TOUCH k");
    assert.equal(b.say("OBJECT IDLETIME k"), ":0\r\n");
    server.advance(100_000);
    a.say("GET k");
    assert.equal(b.say("OBJECT IDLETIME k"), ":0\r\n");
  });
});

describe("CLIENT LIST and INFO", () => {
  test("have every field of Redis 7.4", () => {
    const { server, a } = pair();
    server.advance(61_500);
    assert.equal(
      a.text("CLIENT INFO"),
      `id=${a.session.id} addr=127.0.0.1:50000 laddr=127.0.0.1:6379 fd=7 name= age=61 idle=0 ` +
        "flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=0 argv-mem=10 " +
        "multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=13322 events=r cmd=client|info " +
        "user=default redir=-1 resp=2 lib-name= lib-ver=\n",
    );
  });

  test("show the clients of all threads as their last turn left them", () => {
    const { server, a, b } = pair();
    b.say("CLIENT SETNAME other");
    b.say("SET a 1");
    server.advance(5_000);
    const listed = lines(a, "CLIENT LIST");
    assert.equal(listed.length, 2);
    assert.match(listed[0] ?? "", / idle=0 .* cmd=client\|list /);
    assert.match(listed[1] ?? "", / name=other age=5 idle=5 .* cmd=set /);
    b.send("*1\r\n$4\r\nPI");
    assert.match(lines(a, "CLIENT LIST")[1] ?? "", / idle=0 .* qbuf=\d+ .* cmd=set /);
    b.send("NG\r\nnosuch\r\n");
    assert.match(lines(a, "CLIENT LIST")[1] ?? "", / qbuf=0 .* cmd=NULL /);
  });

  test("output that waits is shown", () => {
    const { a, b } = pair();
    b.link.unfinished = 1000;
    b.say("PING");
    assert.match(lines(a, "CLIENT LIST")[1] ?? "", / oll=1 omem=1000 .* events=rw /);
    b.link.unfinished = 0;
    b.session.onDrain();
    assert.match(lines(a, "CLIENT LIST")[1] ?? "", / oll=0 omem=0 .* events=r /);
  });

  test("are verbatim text in RESP3", () => {
    const { a } = pair();
    a.say("HELLO 3");
    assert.match(a.say("CLIENT LIST"), /^=\d+\r\ntxt:id=/);
    assert.match(a.say("CLIENT INFO"), /^=\d+\r\ntxt:id=/);
  });

  test("take a type or ids", () => {
    const { a, b } = pair();
    const ids = (call: string): string[] =>
      lines(a, call).map((line) => line.split(" ", 1)[0] ?? "");
    const [one, two] = [`id=${a.session.id}`, `id=${b.session.id}`];
    assert.deepEqual(ids("CLIENT LIST TYPE normal"), [one, two]);
    for (const type of ["master", "replica", "slave", "PUBSUB"]) {
      assert.deepEqual(ids(`CLIENT LIST TYPE ${type}`), []);
    }
    const all = `${b.session.id} ${a.session.id} 999 ${b.session.id}`;
    assert.deepEqual(ids(`CLIENT LIST ID ${all}`), [two, one, two]);
    assert.equal(a.say("CLIENT LIST TYPE foo"), "-ERR Unknown client type 'foo'\r\n");
    assert.equal(a.say("CLIENT LIST ID 1 x"), "-ERR Invalid client ID\r\n");
    for (const call of ["ID", "TYPE", "FOO", "TYPE normal x"]) {
      assert.equal(a.say(`CLIENT LIST ${call}`), "-ERR syntax error\r\n", call);
    }
  });
});

describe("CLIENT KILL", () => {
  test("by id, on another thread", () => {
    const { server, a, b } = pair();
    assert.equal(a.say(`CLIENT KILL ID ${b.session.id}`), ":1\r\n");
    // Gone for everybody at once, though its thread has not heard of it.
    assert.equal(lines(a, "CLIENT LIST").length, 1);
    assert.equal(a.info("clients").get("connected_clients"), "1");
    assert.equal(a.say(`CLIENT KILL ID ${b.session.id}`), ":0\r\n");
    assert.equal(b.say("SET a 1"), "");
    assert.ok(b.isClosed);
    assert.equal(a.say("GET a"), "$-1\r\n");
    server.host.settle();
    assert.equal(a.info("clients").get("connected_clients"), "1");
  });

  test("counts a client out once, whoever is first", () => {
    const { server, a, b } = pair();
    const connected = (): string | undefined => a.info("clients").get("connected_clients");
    b.link.destroy();
    assert.equal(a.say(`CLIENT KILL ID ${b.session.id}`), ":0\r\n");
    assert.equal(connected(), "1");
    a.say("CONFIG SET maxclients 2");
    const c = server.connect({ thread: 1 });
    a.say(`CLIENT KILL ID ${c.session.id}`);
    // It takes the place of one that its thread has not closed yet.
    const d = server.connect({ thread: 1 });
    assert.equal(connected(), "2");
    server.host.settle();
    assert.ok(c.isClosed && !d.isClosed);
    assert.equal(connected(), "2");
    d.link.destroy();
    assert.equal(connected(), "1");
  });

  test("by the doorbell, for a client that is silent", () => {
    const { server, a, b } = pair();
    callAndSettle(server, a, `CLIENT KILL ID ${b.session.id}`);
    assert.ok(b.isClosed);
  });

  test("by address, in the old form and the new", () => {
    const { server, a, b } = pair();
    const c = server.connect();
    const [addressA, addressB] = [a.session.remote, b.session.remote];
    assert.equal(a.say("CLIENT KILL 127.0.0.1:1"), "-ERR No such client\r\n");
    assert.equal(callAndSettle(server, a, `CLIENT KILL ${addressB}`), "+OK\r\n");
    assert.ok(b.isClosed);
    const local = `LADDR ${c.session.local} ADDR ${c.session.remote}`;
    assert.equal(callAndSettle(server, a, `CLIENT KILL ${local}`), ":1\r\n");
    assert.ok(c.isClosed);
    assert.equal(a.say(`CLIENT KILL ADDR ${addressA}`), ":0\r\n");
    assert.ok(!a.isClosed);
  });

  test("of oneself answers first", () => {
    const { server, a, b } = pair();
    assert.equal(a.send(requestText(["CLIENT", "KILL", a.session.remote]) + "PING\r\n"), "+OK\r\n");
    assert.ok(a.isClosed);
    assert.equal(b.say(`CLIENT KILL ID ${b.session.id}`), ":0\r\n");
    assert.equal(callAndSettle(server, b, "CLIENT KILL SKIPME no TYPE normal"), ":1\r\n");
    assert.ok(b.isClosed);
  });

  test("spares the caller by default, and takes all filters together", () => {
    const { server, a, b } = pair();
    server.advance(10_000);
    const young = server.connect();
    assert.equal(a.say("CLIENT KILL MAXAGE 11"), ":0\r\n");
    assert.equal(a.say("CLIENT KILL USER default TYPE pubsub"), ":0\r\n");
    assert.equal(callAndSettle(server, a, "CLIENT KILL USER default MAXAGE 10"), ":1\r\n");
    assert.deepEqual([a.isClosed, b.isClosed, young.isClosed], [false, true, false]);
    assert.equal(callAndSettle(server, a, "CLIENT KILL SKIPME yes"), ":1\r\n");
    assert.ok(young.isClosed);
  });

  test("in Redis's words when it is asked wrongly", () => {
    const { a } = pair();
    const calls: [call: string, error: string][] = [
      ["ID 0", "client-id should be greater than 0"],
      ["ID x", "client-id should be greater than 0"],
      ["TYPE foo", "Unknown client type 'foo'"],
      ["USER nobody", "No such user 'nobody'"],
      ["MAXAGE x", "maxage is not an integer or out of range"],
      ["MAXAGE 0", "maxage should be greater than 0"],
      ["SKIPME maybe", "syntax error"],
      ["ID 1 SKIPME", "syntax error"],
      ["FOO bar", "syntax error"],
    ];
    for (const [call, error] of calls) {
      assert.equal(a.say(`CLIENT KILL ${call}`), `-ERR ${error}\r\n`, call);
    }
    assert.equal(
      a.say("CLIENT KILL"),
      "-ERR wrong number of arguments for 'client|kill' command\r\n",
    );
  });
});

test("what nobody does has the answers of a server where nobody does it", () => {
  const { a } = pair();
  assert.equal(a.say("CLIENT GETREDIR"), ":-1\r\n");
  assert.equal(a.say("CLIENT UNBLOCK 1"), ":0\r\n");
  assert.equal(a.say("CLIENT UNBLOCK 1 timeout"), ":0\r\n");
  assert.equal(a.say("CLIENT UNBLOCK x"), "-ERR value is not an integer or out of range\r\n");
  assert.equal(
    a.say("CLIENT UNBLOCK 1 FOO"),
    "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR\r\n",
  );
  assert.equal(
    a.say("CLIENT UNBLOCK 1 ERROR x"),
    "-ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP.\r\n",
  );
  assert.match(a.say("CLIENT HELP"), /^\*\d+\r\n\+CLIENT <subcommand> .*\r\n\+CACHING \(YES\|NO\)/);
});
