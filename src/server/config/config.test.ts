import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeSource, type FakeWorld } from "../../../test/support/config-source.ts";
import { Config } from "./config.ts";
import { DIRECTIVES } from "./table.ts";

function fresh(world: FakeWorld = {}): Config {
  return new Config(new FakeSource(world));
}

/** The error of a CONFIG SET that must fail. */
function error(words: readonly string[], config: Config = fresh()): string {
  const result = config.set(words, false);
  assert.equal(result.ok, false, words.join(" "));
  return result.ok ? "" : result.error;
}

function set(config: Config, ...words: string[]): void {
  const result = config.set(words, true);
  assert.equal(result.ok, true, JSON.stringify(result));
  if (result.ok) config.apply(result.changes);
}

function failure(name: string, reason: string): string {
  return `ERR CONFIG SET failed (possibly related to argument '${name}') - ${reason}`;
}

test("a NUL ends a value, as in C, but where Redis reads by length", () => {
  const config = fresh();
  const ends: [name: string, value: string, shown: string][] = [
    ["maxmemory", "1mb\0x", "1048576"],
    ["maxmemory", "\0", "0"],
    ["maxmemory-clients", "5mb\0%", "5242880"],
    ["lazyfree-lazy-eviction", "yes\0no", "yes"],
    ["maxmemory-policy", "allkeys-lru\0x", "allkeys-lru"],
    ["loglevel", "notice\0", "notice"],
    ["save", "\0", ""],
    ["oom-score-adj-values", "\0 1\0 2", "0 1 2"],
    ["cluster-announce-hostname", "ho\0!", "ho"],
    ["bind", "127.0.0.1\0x 10.0.0.1", "127.0.0.1 10.0.0.1"],
  ];
  for (const [name, value, shown] of ends) {
    set(config, name, value);
    assert.deepEqual(config.get([name]), [name, shown], name);
  }
  const limits = "normal 1048576 2 3 slave 268435456 67108864 60 pubsub 33554432 8388608 60";
  set(config, "client-output-buffer-limit", "normal\0x 1mb\0 2 3\0");
  assert.equal(config.get(["client-output-buffer-limit"])[1], limits);
  const notInteger = "argument couldn't be parsed into an integer";
  const refused: [name: string, value: string, reason: string][] = [
    ["timeout", "5\0", notInteger],
    ["hz", "10\0x", notInteger],
    ["maxclients", "100\0", notInteger],
    ["maxmemory-clients", "5%\0x", "argument must be a memory or percent value"],
    ["lazyfree-lazy-eviction", "\0yes", "argument must be 'yes' or 'no'"],
    [
      "latency-tracking-info-percentiles",
      "50\0x",
      "Invalid latency-tracking-info-percentiles parameters",
    ],
    ["bind", "\0", "Failed to bind to specified addresses."],
    ["bind", "127.0.0.1 \0x", "Failed to bind to specified addresses."],
    [
      "client-output-buffer-limit",
      "\0",
      "Wrong number of arguments in buffer limit configuration.",
    ],
  ];
  for (const [name, value, reason] of refused) {
    assert.equal(error([name, value]), failure(name, reason), JSON.stringify(value));
  }
});

describe("CONFIG GET", () => {
  test("a name is shown as it was given, a pattern's match as it is in the table", () => {
    const config = fresh();
    assert.deepEqual(config.get(["timeout"]), ["timeout", "0"]);
    assert.deepEqual(config.get(["TimeOut"]), ["TimeOut", "0"]);
    assert.deepEqual(config.get(["TIME*"]), ["timeout", "0"]);
    assert.deepEqual(config.get(["nosuch"]), []);
    assert.deepEqual(config.get(["port["]), []);
    assert.deepEqual(config.get([""]), []);
  });

  test("several patterns, each name once", () => {
    const config = fresh();
    assert.deepEqual(config.get(["timeout", "tcp-b*", "t?meout", "TIMEOUT"]), [
      "timeout",
      "0",
      "tcp-backlog",
      "511",
    ]);
  });

  test("an alias is a name of its own", () => {
    const config = fresh();
    assert.deepEqual(config.get(["slave-priority"]), ["slave-priority", "100"]);
    const names = config.get(["*-priority"]).filter((_, i) => i % 2 === 0);
    assert.deepEqual(names.sort(), ["replica-priority", "slave-priority"]);
  });

  test("hidden directives have to be named", () => {
    const config = fresh();
    assert.deepEqual(config.get(["watchdog-period"]), ["watchdog-period", "0"]);
    assert.deepEqual(config.get(["watchdog*"]), []);
    const shown = DIRECTIVES.filter((row) => row.hidden !== true);
    const aliases = shown.filter((row) => row.alias !== undefined).length;
    assert.equal(config.get(["*"]).length / 2, shown.length + aliases);
  });

  test("a port that the system chose is shown, and kept as auto", () => {
    const config = fresh();
    config.apply([
      { name: "port", text: "auto" },
      { name: "port", text: "40001", shownOnly: true },
    ]);
    assert.deepEqual(config.get(["port"]), ["port", "40001"]);
    assert.equal(config.text("port"), "auto");
  });
});

describe("CONFIG SET", () => {
  test("changes nothing by itself, and all by apply", () => {
    const config = fresh();
    const result = config.set(["timeout", "5", "MAXMEMORY", "1mb"], false);
    assert.deepEqual(result, {
      ok: true,
      changes: [
        { name: "timeout", text: "5" },
        { name: "maxmemory", text: "1048576" },
      ],
    });
    assert.equal(config.timeout, 0);
    if (result.ok) config.apply(result.changes);
    assert.equal(config.timeout, 5);
    assert.equal(config.maxmemory, 1048576);
    assert.equal(config.generation, 1);
    assert.deepEqual(config.set(["timeout", "5"], false), { ok: true, changes: [] });
  });

  test("all or nothing", () => {
    assert.equal(
      error(["timeout", "5", "tcp-keepalive", "x"]),
      failure("tcp-keepalive", "argument couldn't be parsed into an integer"),
    );
  });

  test("names are checked first, from left to right", () => {
    const unknown = (name: string): string =>
      `ERR Unknown option or number of arguments for CONFIG SET - '${name}'`;
    assert.equal(error(["timeout", "x", "nosuch", "1", "other", "2"]), unknown("nosuch"));
    assert.equal(
      error(["Databases", "1", "nosuch", "1"]),
      failure("Databases", "can't set immutable config"),
    );
    assert.equal(
      error(["timeout", "1", "TimeOut", "1"]),
      failure("TimeOut", "duplicate parameter"),
    );
    assert.equal(error(["timeout", "1", "port"]), "ERR syntax error");
  });

  test("an alias beside its own name is no duplicate, and the later one counts", () => {
    const config = fresh();
    set(config, "slave-priority", "3", "replica-priority", "4");
    assert.equal(config.number("replica-priority"), 4);
    assert.equal(
      error(["SLAVE-priority", "x"]),
      failure("slave-priority", "argument couldn't be parsed into an integer"),
    );
  });

  test("protected directives", () => {
    const config = fresh({ directories: ["/data"] });
    assert.equal(error(["dir", "/data"], config), failure("dir", "can't set protected config"));
    set(config, "dir", "/data");
    assert.equal(config.dir, "/data");
    assert.deepEqual(config.set(["dir", "x"], true), {
      ok: false,
      error: failure("dir", "No such file or directory"),
    });
  });

  test("what is not supported is refused by name", () => {
    assert.equal(error(["appendonly", "YES"]), failure("appendonly", "'yes' is not supported yet"));
    assert.equal(error(["save", "60 1"]), failure("save", "'60 1' is not supported yet"));
    assert.equal(error(["requirepass", "x"]), failure("requirepass", "not supported yet"));
    set(fresh(), "save", "", "appendonly", "NO", "oom-score-adj", "no");
  });

  test("maxclients stays within the connections there is room for", () => {
    const config = fresh();
    config.clientsMax = 20_000;
    set(config, "maxclients", "20000");
    assert.equal(
      error(["maxclients", "20001"], config),
      failure(
        "maxclients",
        "The operating system is not able to handle the specified number of clients, " +
          "try with 20000",
      ),
    );
  });

  test("several words are parted by single blanks", () => {
    const config = fresh();
    set(config, "client-output-buffer-limit", "Normal 1mb 2k 3 replica 4 5 6");
    assert.deepEqual(config.normalLimit, { hardBytes: 2 ** 20, softBytes: 2000, softSeconds: 3 });
    assert.equal(config.replicaLimit.softSeconds, 6);
    assert.equal(config.pubsubLimit.softSeconds, 60);
    set(config, "client-output-buffer-limit", "");
    assert.equal(config.normalLimit.softSeconds, 3);
    assert.equal(error(["save", "60 1  30 2"]), failure("save", "Invalid save parameters"));
  });
});

test("another thread's values are made equal by the list of changes", () => {
  const config = fresh({ parallelism: 8 });
  set(config, "timeout", "9", "shard-owners-cross-slot", "yes", "hz", "0");
  config.apply([{ name: "port", text: "7000", shownOnly: true }]);
  const other = fresh({ parallelism: 8 });
  other.apply(structuredClone(config.changes()));
  assert.deepEqual(other.get(["*"]), config.get(["*"]));
  assert.equal(other.timeout, 9);
  assert.equal(other.ownersCrossSlot, true);
  assert.equal(other.hz, 1);
});

test("numbers beyond 2^53 are shown with every digit and read as the largest safe one", () => {
  const config = fresh();
  set(config, "maxmemory", "18446744073709551615", "slowlog-max-len", "9223372036854775807");
  assert.deepEqual(config.get(["maxmemory", "slowlog-max-len"]), [
    "maxmemory",
    "18446744073709551615",
    "slowlog-max-len",
    "9223372036854775807",
  ]);
  assert.equal(config.maxmemory, Number.MAX_SAFE_INTEGER);
});

test("every default is what its own type makes of it, and is supported", () => {
  const config = fresh();
  for (const row of DIRECTIVES) {
    // Those two are written in another form than they are shown.
    if (row.name === "dir" || row.name === "replicaof") continue;
    const words = row.type.several ? row.default.split(" ") : [row.default];
    const parsed = row.type.parse(words, config.parseContext(row.default, false));
    assert.deepEqual(parsed, { ok: true, text: row.default }, row.name);
    assert.match(row.name, /^[a-z0-9-]+$/);
    assert.match(row.summary, /^[A-Z0-9].*\.$/, row.name);
  }
});
