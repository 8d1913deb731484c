import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { requestText } from "../../protocol/test-request.ts";
import { TestServer } from "../test-server.ts";

const NOT_IN_NAMES = "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";
const WRONGPASS = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

function helloOf(id: number, proto: number, mode: string): string {
  const head = proto === 3 ? "%7\r\n" : "*14\r\n";
  return (
    `${head}$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.2\r\n` +
    `$5\r\nproto\r\n:${proto}\r\n$2\r\nid\r\n:${id}\r\n$4\r\nmode\r\n$${mode.length}\r\n${mode}\r\n` +
    "$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"
  );
}

test("PING and ECHO", () => {
  const client = new TestServer().connect();
  assert.equal(client.say("PING"), "+PONG\r\n");
  assert.equal(client.call("PING", "a\r\nb"), "$4\r\na\r\nb\r\n");
  assert.equal(client.say("PING a b"), "-ERR wrong number of arguments for 'ping' command\r\n");
  assert.equal(client.call("ECHO", "\x00\xff"), "$2\r\n\x00\xff\r\n");
  assert.equal(client.call("ECHO", ""), "$0\r\n\r\n");
});

describe("HELLO", () => {
  test("answers in the protocol it sets, which holds for what follows in the same packet", () => {
    const server = new TestServer();
    const client = server.connect();
    assert.equal(client.say("HELLO"), helloOf(client.session.id, 2, "standalone"));
    const both = client.send(requestText(["HELLO", "3"]) + requestText(["CLIENT", "GETNAME"]));
    assert.equal(both, `${helloOf(client.session.id, 3, "standalone")}_\r\n`);
    assert.equal(client.say("HELLO"), helloOf(client.session.id, 3, "standalone"));
    assert.equal(client.say("HELLO 2"), helloOf(client.session.id, 2, "standalone"));
  });

  test("says cluster on an owner's port only", () => {
    const server = new TestServer({ owners: 2 });
    const owner = server.connect({ owner: 1 });
    assert.equal(owner.say("HELLO 2"), helloOf(owner.session.id, 2, "cluster"));
    const plain = server.connect();
    assert.equal(plain.say("HELLO 2"), helloOf(plain.session.id, 2, "standalone"));
  });

  test("takes a name and a user, or changes nothing", () => {
    const client = new TestServer().connect();
    const refused: [line: string, error: string][] = [
      ["HELLO 4", "-NOPROTO unsupported protocol version\r\n"],
      ["HELLO 3.0", "-ERR Protocol version is not an integer or out of range\r\n"],
      ["HELLO 3 SETNAME", "-ERR Syntax error in HELLO option 'SETNAME'\r\n"],
      ["HELLO 3 AUTH default", "-ERR Syntax error in HELLO option 'AUTH'\r\n"],
      ["HELLO 3 AUTH nobody x SETNAME me", WRONGPASS],
      ["HELLO 3 AUTH Default x SETNAME me", WRONGPASS],
    ];
    for (const [line, error] of refused) assert.equal(client.say(line), error, line);
    assert.equal(client.call("HELLO", "3", "SETNAME", "a b"), NOT_IN_NAMES);
    assert.equal(
      client.call("HELLO", "3", "F\r\nOO"),
      "-ERR Syntax error in HELLO option 'F  OO'\r\n",
    );
    assert.equal(client.say("CLIENT GETNAME"), "$-1\r\n");
    assert.match(client.say("HELLO 3 AUTH default secret SETNAME me"), /^%7/);
    assert.equal(client.say("CLIENT GETNAME"), "$2\r\nme\r\n");
    assert.match(client.call("HELLO", "2", "SETNAME", ""), /^\*14/);
    assert.equal(client.say("CLIENT GETNAME"), "$-1\r\n");
  });
});

test("AUTH knows the user default, who has no password", () => {
  const client = new TestServer().connect();
  assert.equal(client.say("AUTH default secret"), "+OK\r\n");
  assert.equal(client.call("AUTH", "default", ""), "+OK\r\n");
  assert.equal(client.say("AUTH nobody secret"), WRONGPASS);
  assert.equal(client.say("AUTH a b c"), "-ERR syntax error\r\n");
  assert.equal(
    client.say("AUTH secret"),
    "-ERR AUTH <password> called without any password configured for the default user. " +
      "Are you sure your configuration is correct?\r\n",
  );
});

describe("SELECT", () => {
  test("changes the database of this connection", () => {
    const server = new TestServer();
    const [client, other] = [server.connect(), server.connect({ thread: 1 })];
    assert.equal(client.say("SELECT 15"), "+OK\r\n");
    client.say("SET a 1");
    assert.equal(client.say("SELECT 16"), "-ERR DB index is out of range\r\n");
    assert.equal(client.say("SELECT -1"), "-ERR DB index is out of range\r\n");
    assert.equal(client.say("GET a"), "$1\r\n1\r\n");
    assert.equal(other.say("GET a"), "$-1\r\n");
  });

  test("refuses what is no number in Redis's words", () => {
    const client = new TestServer().connect();
    const none = "-ERR value is not an integer or out of range\r\n";
    const far = "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n";
    assert.equal(client.say("SELECT x"), none);
    assert.equal(client.call("SELECT", ""), none);
    assert.equal(client.say("SELECT 99999999999999999999"), none);
    assert.equal(client.say("SELECT 2147483648"), far);
    assert.equal(client.say("SELECT -2147483649"), far);
  });

  test("has one database on an owner's port", () => {
    const server = new TestServer({ owners: 2 });
    const client = server.connect({ owner: 0 });
    assert.equal(client.say("SELECT 0"), "+OK\r\n");
    for (const n of ["1", "16", "-1"]) {
      assert.equal(client.say(`SELECT ${n}`), "-ERR SELECT is not allowed in cluster mode\r\n");
    }
    assert.equal(server.connect().say("SELECT 1"), "+OK\r\n");
  });
});

test("QUIT answers, then closes, and what came behind it is not run", () => {
  const server = new TestServer();
  const client = server.connect();
  assert.equal(
    client.send(requestText(["QUIT", "now"]) + requestText(["SET", "a", "1"])),
    "+OK\r\n",
  );
  assert.ok(client.isClosed);
  assert.equal(server.connect().say("GET a"), "$-1\r\n");
});

test("RESET goes back to the start, but for the library", () => {
  const client = new TestServer().connect();
  client.say("HELLO 3 SETNAME me");
  client.say("SELECT 3");
  client.say("CLIENT SETINFO LIB-NAME lib");
  client.say("CLIENT NO-TOUCH ON");
  client.say("CLIENT NO-EVICT ON");
  assert.match(client.text("CLIENT INFO"), / name=me .* flags=eT db=3 .* resp=3 lib-name=lib /);
  assert.equal(client.say("RESET"), "+RESET\r\n");
  assert.match(client.text("CLIENT INFO"), / name= .* flags=N db=0 .* resp=2 lib-name=lib /);
  assert.equal(client.say("GET nokey"), "$-1\r\n");
});
