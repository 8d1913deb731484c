import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeSource, type FakeWorld } from "../../../test/support/config-source.ts";
import { AUTO_PORT, type Config } from "./config.ts";
import { load } from "./load.ts";

function started(world: FakeWorld): Config {
  const loaded = load(new FakeSource(world));
  assert.equal(loaded.kind, "start", JSON.stringify(loaded));
  if (loaded.kind !== "start") throw new Error("not started");
  return loaded.config;
}

function refused(world: FakeWorld, message: string): void {
  const loaded = load(new FakeSource(world));
  assert.deepEqual(loaded, { kind: "error", message: `zerohop: ${message}` });
}

/** A start with one file, r.conf. */
function withFile(text: string, world: FakeWorld = {}): FakeWorld {
  return {
    ...world,
    argv: ["r.conf", ...(world.argv ?? [])],
    files: { "r.conf": text, ...world.files },
  };
}

const PORT_ERROR = "argument must be between 0 and 65535 inclusive";

describe("what counts", () => {
  test("without anything the defaults", () => {
    const config = started({});
    assert.equal(config.port, 6379);
    assert.deepEqual(config.bind, ["*", "-::*"]);
    assert.equal(config.dir, "/srv");
    assert.equal(config.file, "");
    assert.equal(config.generation, 1);
  });

  test("the command line over the environment over standard input over the file", () => {
    const file = "port 1\ntimeout 1\ntcp-keepalive 1\nhz 1\n";
    const stdin = "timeout 2\ntcp-keepalive 2\nhz 2\n";
    const env = { ZEROHOP_TCP_KEEPALIVE: "3", ZEROHOP_HZ: "3" };
    const config = started(withFile(file, { argv: ["--hz", "4", "-"], stdin, env }));
    assert.equal(config.port, 1);
    assert.equal(config.timeout, 2);
    assert.equal(config.tcpKeepalive, 3);
    assert.equal(config.hz, 4);
    assert.equal(config.file, "/srv/r.conf");
  });

  test("the last of several lines, but the classes of client-output-buffer-limit add up", () => {
    const config = started(
      withFile(
        "port 1\nPORT 2\nclient-output-buffer-limit normal 1kb 2 3\n" +
          "client-output-buffer-limit replica 4 5 6 pubsub 1k 8 9\n",
        { argv: ["--client-output-buffer-limit", "pubsub 1 1 1"] },
      ),
    );
    assert.equal(config.port, 2);
    assert.deepEqual(config.normalLimit, { hardBytes: 1024, softBytes: 2, softSeconds: 3 });
    assert.deepEqual(config.replicaLimit, { hardBytes: 4, softBytes: 5, softSeconds: 6 });
    assert.deepEqual(config.pubsubLimit, { hardBytes: 1, softBytes: 1, softSeconds: 1 });
  });

  test("several words of one value in any of their forms", () => {
    for (const line of ["bind 127.0.0.1 -::1", 'bind "127.0.0.1 -::1"', "BIND '127.0.0.1' -::1"]) {
      assert.deepEqual(started(withFile(line)).bind, ["127.0.0.1", "-::1"], line);
    }
    assert.deepEqual(started({ argv: ["--bind", "a", "b"] }).bind, ["a", "b"]);
    assert.deepEqual(started({ argv: ["--bind", "a b"] }).bind, ["a", "b"]);
    assert.deepEqual(started({ env: { ZEROHOP_BIND: "a b" } }).bind, ["a", "b"]);
    assert.deepEqual(started({ argv: ["--bind", "", "--unixsocket", "s"] }).bind, []);
  });

  test("values of the environment are not quoted", () => {
    assert.equal(started({ env: { ZEROHOP_LOGFILE: "a \"b' \\x" } }).logfile, "a \"b' \\x");
    assert.equal(started({ env: { ZEROHOP_SLAVE_PRIORITY: "3" } }).number("replica-priority"), 3);
  });

  test("comments, blank lines and Windows ends of lines", () => {
    const config = started(withFile("# port 1\r\n\r\n  \t\n\tport 2 \r\n #x\ntimeout 3"));
    assert.equal(config.port, 2);
    assert.equal(config.timeout, 3);
  });

  test("quoted values and escapes", () => {
    assert.equal(started(withFile('logfile "a \\"b\\"\\x21"')).logfile, 'a "b"!');
    assert.equal(started(withFile("logfile 'a\\'b'")).logfile, "a'b");
  });

  test("lines that Redis takes without effect", () => {
    started(withFile("list-max-ziplist-entries 5\nlua-replicate-commands yes\n"));
    refused(
      withFile("lua-replicate-commands yes no"),
      'r.conf line 1: unknown directive "lua-replicate-commands"',
    );
  });
});

describe("dir and include", () => {
  test("dir is made absolute, and what follows is relative to it", () => {
    const files = { "conf/a.conf": "timeout 7", "a.conf": "timeout 9" };
    const world = withFile("dir conf\ninclude a.conf\n", { files });
    const config = started(world);
    assert.equal(config.dir, "/srv/conf");
    assert.equal(config.timeout, 7);
  });

  test("an include acts at its place", () => {
    const files = { "a.conf": "timeout 7\nhz 7" };
    const config = started(withFile("timeout 1\ninclude a.conf\nhz 2", { files }));
    assert.equal(config.timeout, 7);
    assert.equal(config.hz, 2);
    assert.equal(started({ argv: ["--include", "a.conf"], files }).timeout, 7);
  });

  test("wildcards match in order, leave hidden files out and may match nothing", () => {
    const files = {
      "d/b.conf": "timeout 2\ntcp-keepalive 2",
      "d/a.conf": "timeout 1\nhz 1",
      "d/.c.conf": "timeout 3",
      "d/d.txt": "timeout 4",
      "e1/x.conf": "maxclients 5",
      "e2/y.conf": "maxclients 6",
    };
    const config = started(
      withFile("include d/*.conf\ninclude /srv/e?/x.conf\ninclude nothing/*\n", { files }),
    );
    assert.equal(config.timeout, 2);
    assert.equal(config.tcpKeepalive, 2);
    assert.equal(config.hz, 1);
    assert.equal(config.maxclients, 5);
  });

  test("errors of included files name those files", () => {
    refused(
      withFile("\ninclude a.conf", { files: { "a.conf": "\n\nprot 1" } }),
      'a.conf line 3: unknown directive "prot"; did you mean port?',
    );
    refused(
      withFile("include b.conf"),
      "r.conf line 1: can't open config file 'b.conf': No such file or directory",
    );
    refused(withFile("include"), "r.conf line 1: include: wrong number of arguments");
    refused(withFile("include r.conf"), "r.conf line 1: include: more than 16 files deep");
  });
});

describe("what is refused, with its place", () => {
  test("a number where the file's name stands", () => {
    const missing = "can't open config file '7000': No such file or directory";
    refused(
      { argv: ["7000"] },
      `${missing}; npm needs -- before options: npm start -- --port 7000`,
    );
    assert.equal(started({ argv: ["7000"], files: { "7000": "hz 7" } }).hz, 7);
  });

  test("unknown directives", () => {
    refused(
      withFile("\n# x\nprot 6379"),
      'r.conf line 3: unknown directive "prot"; did you mean port?',
    );
    refused({ argv: ["-"], stdin: "a.b 1" }, 'standard input line 1: unknown directive "a.b"');
    refused(
      { env: { ZEROHOP_PORTT: "1" } },
      "environment ZEROHOP_PORTT: unknown directive; did you mean ZEROHOP_PORT?",
    );
    refused({ env: { ZEROHOP_XYZZY: "1" } }, "environment ZEROHOP_XYZZY: unknown directive");
    refused(
      { argv: ["--prot", "1"] },
      'command line: unknown directive "prot"; did you mean port?',
    );
    refused({ argv: ["--port=1"] }, 'command line: unknown directive "port=1"; write --port 1');
    refused(withFile("HZ=2"), 'r.conf line 1: unknown directive "HZ=2"; write HZ 2');
    refused({ argv: ["--prot=1"] }, 'command line: unknown directive "prot=1"; did you mean port?');
    refused({ argv: ["--nosuchthing", "1"] }, 'command line: unknown directive "nosuchthing"');
    refused(
      { argv: ["-x"] },
      'command line: unknown directive "-x"; options are --name value, see --help',
    );
    refused(withFile("", { argv: ["stray"] }), 'command line: unknown directive "stray"');
  });

  test("a file after the options", () => {
    const wrong = "wrong number of arguments";
    const hint = "a configuration file comes before the options";
    refused({ argv: ["--port", "1", "my.conf"] }, `command line: port: ${wrong}; ${hint}`);
    refused({ argv: ["--port", "1", "2"] }, `command line: port: ${wrong}`);
    refused(withFile("port 1 my.conf"), `r.conf line 1: port: ${wrong}`);
  });

  test("bad values", () => {
    refused(withFile("port 65536"), `r.conf line 1: port: ${PORT_ERROR}`);
    refused({ argv: ["--port", "65536"] }, `command line: port: ${PORT_ERROR}`);
    refused({ env: { ZEROHOP_PORT: "65536" } }, `environment ZEROHOP_PORT: port: ${PORT_ERROR}`);
    refused(
      { argv: ["--slave-priority", "x"] },
      "command line: slave-priority: argument couldn't be parsed into an integer",
    );
    refused({ argv: ["--port"] }, "command line: port: wrong number of arguments");
    refused({ argv: ["--port", "1", "2"] }, "command line: port: wrong number of arguments");
    refused(withFile("port 1 # one"), "r.conf line 1: port: wrong number of arguments");
    refused(withFile('logfile "x'), "r.conf line 1: unbalanced quotes");
    refused({ argv: ["--dir", "nope"] }, "command line: dir: /srv/nope: No such file or directory");
    refused(
      withFile("dir a.conf", { files: { "a.conf": "" } }),
      "r.conf line 1: dir: /srv/a.conf: Not a directory",
    );
    refused({ argv: ["--save", "60"] }, "command line: save: Invalid save parameters");
  });

  test("a file that is not there", () => {
    refused({ argv: ["x.conf"] }, "can't open config file 'x.conf': No such file or directory");
    refused({ argv: ["d"], directories: ["d"] }, "can't open config file 'd': Is a directory");
  });

  test("what is not supported yet, unless a later layer takes it back", () => {
    const aof = withFile("port 1\nappendonly yes\nsave 60 1");
    refused(
      aof,
      "r.conf line 2: appendonly: 'yes' is not supported yet; " +
        "r.conf line 3: save: '60 1' is not supported yet",
    );
    refused(
      { ...aof, env: { ZEROHOP_APPENDONLY: "no" } },
      "r.conf line 3: save: '60 1' is not supported yet",
    );
    started({ ...aof, env: { ZEROHOP_APPENDONLY: "no", ZEROHOP_SAVE: "" } });
    refused(
      { argv: ["--cluster-enabled", "Yes"] },
      "command line: cluster-enabled: 'yes' is not supported yet " +
        "(shard-owners shows one process as a cluster)",
    );
    refused(
      { argv: ["--slaveof", "a", "1"] },
      "command line: replicaof: 'a 1' is not supported yet",
    );
    started({ argv: ["--slaveof", "no", "one"] });
    refused(
      { env: { ZEROHOP_REQUIREPASS: "secret" } },
      "environment ZEROHOP_REQUIREPASS: requirepass: not supported yet " +
        "(bind and protected-mode say who may connect)",
    );
    refused(withFile("user default on"), "r.conf line 1: user: not supported yet");
    refused(withFile("loadmodule x.so"), "r.conf line 1: loadmodule: not supported yet");
    refused(
      withFile("user a on\nuser b on\nrequirepass x"),
      "r.conf line 2: user: not supported yet; r.conf line 3: requirepass: not supported yet " +
        "(bind and protected-mode say who may connect)",
    );
    refused(
      withFile("daemonize yes\nsupervised auto"),
      "r.conf line 1: daemonize: 'yes' is not supported yet " +
        "(--daemonize no runs in the foreground); " +
        "r.conf line 2: supervised: 'auto' is not supported yet " +
        "(--supervised no does for systemd with Type=simple)",
    );
  });

  test("save adds up over lines and layers, and an empty one begins anew", () => {
    refused(
      withFile("save 60 1\nsave ''\nsave 30 2", { argv: ["--save", "20 3 10 4"] }),
      "command line: save: '30 2 20 3 10 4' is not supported yet",
    );
    started(withFile("save 60 1\nsave ''"));
  });
});

test("variables that are no directives", () => {
  const config = started({
    env: {
      ZEROHOP_CHECK: "1",
      ZEROHOP_TEST_SEED: "5",
      ZEROHOP_SERVICE_HOST: "10.0.0.1",
      ZEROHOP_SERVICE_PORT: "6379",
      ZEROHOP_SERVICE_PORT_REDIS: "6379",
      ZEROHOP_PORT: "tcp://10.0.0.1:6379",
      ZEROHOP_PORT_6379_TCP: "tcp://10.0.0.1:6379",
      ZEROHOP_PORT_6379_TCP_ADDR: "10.0.0.1",
      REDIS_PORT: "1",
    },
  });
  assert.equal(config.port, 6379);
});

test("rename-command goes to the host, which may refuse it", () => {
  const renamed: string[][] = [];
  const rename = (from: string, to: string): string | null => {
    renamed.push([from, to]);
    return from === "NOPE" ? "No such command in rename-command" : null;
  };
  const text = 'rename-command CONFIG ""\nRENAME-COMMAND flushall "f x"\n';
  assert.equal(load(new FakeSource(withFile(text)), rename).kind, "start");
  assert.deepEqual(renamed, [
    ["CONFIG", ""],
    ["flushall", "f x"],
  ]);
  assert.deepEqual(load(new FakeSource(withFile("\nrename-command NOPE x")), rename), {
    kind: "error",
    message: "zerohop: r.conf line 2: rename-command: No such command in rename-command",
  });
  refused(withFile("rename-command A"), "r.conf line 1: rename-command: wrong number of arguments");
});

test("help and version are printed", () => {
  const version = load(new FakeSource({ argv: ["-v"] }));
  assert.deepEqual(version, { kind: "print", text: "ZeroHop server v=7.4.1\n" });
  const help = load(new FakeSource({ argv: ["--help"] }));
  assert.match(help.kind === "print" ? help.text : "", /^Usage: zerohop .*--port 7777/s);
});

test("values of our own", () => {
  const config = started({ parallelism: 6, argv: ["--port", "auto", "--shard-owners", "yes"] });
  assert.equal(config.port, AUTO_PORT);
  assert.equal(config.ownersPort, AUTO_PORT);
  assert.equal(config.threads, 6);
  assert.equal(config.owners, 6);
  assert.equal(config.shards, 128);
  assert.equal(started({ parallelism: 2 }).shards, 64);
  assert.equal(started({ argv: ["--shard-owners", "7"] }).ownersPort, 6380);
  assert.equal(started({ argv: ["--memory-chunk", "64mb"] }).memoryChunk, 2 ** 26);
  const power = "argument must be a power of two";
  refused({ argv: ["--shards", "48"] }, `command line: shards: ${power}`);
  for (const [name, value, error] of [
    ["threads", "0", "argument must be between 1 and 128 inclusive"],
    ["threads", "129", "argument must be between 1 and 128 inclusive"],
    ["shards", "2048", "argument must be between 4 and 1024 inclusive"],
    ["databases", "0", "argument must be between 1 and 1024 inclusive"],
    ["databases", "1025", "argument must be between 1 and 1024 inclusive"],
    ["memory-chunk", "1kb", "argument must be between 4194304 and 1073741824 inclusive"],
    ["memory-chunk", "2gb", "argument must be between 4194304 and 1073741824 inclusive"],
    ["memory-chunk", "4194305", "argument must be a multiple of 65536"],
    ["shard-owners", "0", "argument must be 'yes', 'no' or between 1 and 256 inclusive"],
    ["shard-owners", "257", "argument must be 'yes', 'no' or between 1 and 256 inclusive"],
    ["unixsocketperm", "9", "argument couldn't be parsed as an octal number"],
    ["unixsocketperm", "1000", "argument must be between 0 and 777 inclusive"],
  ] as const) {
    refused({ argv: [`--${name}`, value] }, `command line: ${name}: ${error}`);
  }
});
