import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { START_MS, type TestClient, TestServer } from "../test-server.ts";

function titles(client: TestClient, call: string): string[] {
  return [...client.text(call).matchAll(/^# (\w+)$/gm)].map((found) => found[1] ?? "");
}

const DEFAULT = [
  "Server",
  "Clients",
  "Memory",
  "Persistence",
  "Stats",
  "Replication",
  "CPU",
  "Modules",
  "Errorstats",
  "Threads",
  "Cluster",
  "Keyspace",
];
const ALL = [
  ...DEFAULT.slice(0, 8),
  "Commandstats",
  "Errorstats",
  "Latencystats",
  ...DEFAULT.slice(9),
];

describe("which sections are shown", () => {
  const client = new TestServer().connect();

  test("in the order of the table, however they are asked for", () => {
    const calls: [call: string, shown: string[]][] = [
      ["INFO", DEFAULT],
      ["INFO default", DEFAULT],
      ["INFO all", ALL],
      ["INFO EVERYTHING", ALL],
      ["INFO keyspace server", ["Server", "Keyspace"]],
      ["INFO CLUSTER cluster Cluster", ["Cluster"]],
      ["INFO nosuch", []],
      ["INFO nosuch cpu", ["CPU"]],
      ["INFO modules", ["Modules"]],
      ["INFO module_list", ["Modules"]],
      ["INFO debug", ["Debug"]],
      ["INFO everything debug", [...ALL, "Debug"]],
      ["INFO default commandstats", ALL.filter((title) => title !== "Latencystats")],
    ];
    for (const [call, shown] of calls) assert.deepEqual(titles(client, call), shown, call);
  });

  test("with an empty line between them, and nothing for an unknown one", () => {
    assert.equal(client.say("INFO nosuch"), "$0\r\n\r\n");
    assert.equal(client.call("INFO", ""), "$0\r\n\r\n");
    assert.equal(client.text("INFO cluster"), "# Cluster\r\ncluster_enabled:0\r\n");
    assert.equal(
      client.text("INFO cluster modules keyspace"),
      "# Modules\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n",
    );
  });

  test("as verbatim text in RESP3", () => {
    client.say("HELLO 3");
    assert.equal(client.say("INFO cluster"), "=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n");
    client.say("HELLO 2");
  });

  test("every line is a title, empty, or a name and a value", () => {
    const lines = client.text("INFO everything").split("\r\n");
    for (const line of lines) assert.match(line, /^(|# \w+|[a-z][\w|.-]*:[^\r\n]*)$/i);
    assert.ok(!client.text("INFO everything").includes("undefined"));
    assert.ok(!client.text("INFO everything").includes("NaN"));
  });
});

test("the server", () => {
  const server = new TestServer();
  const client = server.connect();
  server.advance(90_061_000);
  const info = client.info("server");
  const expected = {
    redis_version: "7.4.2",
    zerohop_version: "1.2.3",
    redis_mode: "standalone",
    process_id: "4711",
    tcp_port: "6379",
    uptime_in_seconds: "90061",
    uptime_in_days: "1",
    server_time_usec: String((START_MS + 90_061_000) * 1000),
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(info.get(name), value, name);
  assert.equal(info.get("shard_owners"), undefined);
});

describe("commandstats", () => {
  function use(client: TestClient, command: string): string {
    const value = client.info("commandstats").get(`cmdstat_${command}`) ?? "";
    return value.replace(/usec=\d+,usec_per_call=\d+\.\d\d/, "usec");
  }

  test("tell calls from refused and failed ones", () => {
    const client = new TestServer().connect();
    for (const line of ["GET a", "SET a x", "GET a", "INCR a", "GET", "NOSUCH", "CLIENT ID"]) {
      client.say(line);
    }
    assert.equal(client.say("cLient x"), "-ERR unknown subcommand 'x'. Try CLIENT HELP.\r\n");
    assert.equal(use(client, "client"), "", "it names no command");
    assert.equal(use(client, "get"), "calls=2,usec,rejected_calls=1,failed_calls=0");
    assert.equal(use(client, "set"), "calls=1,usec,rejected_calls=0,failed_calls=0");
    assert.equal(use(client, "incr"), "calls=1,usec,rejected_calls=0,failed_calls=1");
    assert.equal(use(client, "client|id"), "calls=1,usec,rejected_calls=0,failed_calls=0");
    assert.equal(use(client, "info"), "calls=5,usec,rejected_calls=0,failed_calls=0");
    assert.equal(use(client, "mget"), "");
    const stats = client.info("stats");
    assert.equal(stats.get("total_error_replies"), "4");
    assert.equal(client.info("errorstats").get("errorstat_ERR"), "count=4");
  });

  test("a redirect is no call", () => {
    const server = new TestServer({ owners: 2 });
    const client = server.connect({ owner: 0 });
    // Slot 12182, which is the second owner's.
    assert.equal(client.say("GET foo"), "-MOVED 12182 127.0.0.1:6381\r\n");
    assert.equal(client.say("MGET foo"), "-MOVED 12182 127.0.0.1:6381\r\n");
    assert.equal(use(client, "get"), "calls=0,usec,rejected_calls=1,failed_calls=0");
    assert.equal(use(client, "mget"), "calls=0,usec,rejected_calls=1,failed_calls=0");
    assert.equal(client.info("errorstats").get("errorstat_MOVED"), "count=2");
  });

  test("errors are told apart by their first word", () => {
    const client = new TestServer().connect();
    for (const line of ["SET a x", "INCR a", "HELLO 9", "AUTH x y", "SELECT 99"]) client.say(line);
    assert.deepEqual(
      [...client.info("errorstats")],
      [
        ["errorstat_ERR", "count=2"],
        ["errorstat_NOPROTO", "count=1"],
        ["errorstat_WRONGPASS", "count=1"],
      ],
    );
  });

  test("refused logins are counted, and forgotten by RESETSTAT", () => {
    const client = new TestServer().connect();
    const denied = (): string | undefined => client.info("stats").get("acl_access_denied_auth");
    assert.equal(denied(), "0");
    for (const line of ["AUTH nobody x", "HELLO 3 AUTH nobody x", "AUTH x", "AUTH default x"]) {
      client.say(line);
    }
    assert.equal(denied(), "2");
    client.say("CONFIG RESETSTAT");
    assert.equal(denied(), "0");
  });

  test("RESETSTAT forgets everything but what is a state", () => {
    const client = new TestServer().connect();
    client.say("INCR a");
    client.say("NOSUCH");
    client.say("CONFIG RESETSTAT");
    assert.deepEqual([...client.info("commandstats").keys()], ["cmdstat_config|resetstat"]);
    assert.equal(client.info("stats").get("total_error_replies"), "0");
    assert.equal(client.info("clients").get("connected_clients"), "1");
    assert.match(client.info("threads").get("thread0") ?? "", /connections=1,/);
  });
});

describe("the keyspace", () => {
  test("has a line for each database with keys", () => {
    const server = new TestServer();
    const client = server.connect();
    for (const line of ["SET a 1", "SET b 2 EX 1000", "SELECT 5", "SET c 1"]) client.say(line);
    assert.deepEqual(
      [...client.info("keyspace")],
      [
        ["db0", "keys=2,expires=1,avg_ttl=0,subexpiry=0"],
        ["db5", "keys=1,expires=0,avg_ttl=0,subexpiry=0"],
      ],
    );
    client.say("FLUSHALL");
    assert.equal(client.text("INFO keyspace"), "# Keyspace\r\n");
  });

  test("knows the average time to live once the walk has met keys", () => {
    const server = new TestServer();
    const client = server.connect();
    for (let i = 0; i < 50; i++) client.say(`SET key:${i} v PX 500000`);
    for (const thread of server.host.servers) for (let n = 0; n < 20; n++) thread.tick();
    assert.equal(
      client.info("keyspace").get("db0"),
      "keys=50,expires=50,avg_ttl=500000,subexpiry=0",
    );
  });
});

describe("memory", () => {
  test("counts blocks, and the dataset apart from the rest", () => {
    const client = new TestServer().connect();
    const before = client.info("memory");
    assert.equal(before.get("used_memory"), "0");
    for (let i = 0; i < 1000; i++) client.say(`SET key:${i} ${"x".repeat(100)}`);
    const memory = client.info("memory");
    const of = (name: string): number => Number(memory.get(name));
    assert.ok(of("used_memory_dataset") >= 1000 * 110 && of("used_memory_dataset") < 1000 * 128);
    assert.equal(of("used_memory"), of("used_memory_dataset") + of("used_memory_overhead"));
    assert.equal(of("allocator_allocated"), of("used_memory") + of("mem_database_roots"));
    assert.ok(of("allocator_active") >= of("used_memory"));
    assert.equal(of("allocator_active") % 65536, 0);
    assert.ok(of("used_memory_peak") >= of("used_memory"));
    assert.equal(memory.get("used_memory_human"), `${(of("used_memory") / 1024).toFixed(2)}K`);
    client.say("CONFIG SET maxmemory 1gb");
    const limited = client.info("memory");
    assert.equal(limited.get("maxmemory"), "1073741824");
    assert.equal(limited.get("maxmemory_human"), "1.00G");
  });

  test("names what waits to be freed", () => {
    const server = new TestServer();
    const client = server.connect();
    for (let i = 0; i < 1000; i++) client.say(`SET key:${i} v`);
    client.say("FLUSHALL");
    assert.equal(client.info("memory").get("lazyfree_pending_objects"), "1000");
    for (const thread of server.host.servers) thread.tick();
    assert.equal(client.info("memory").get("lazyfree_pending_objects"), "0");
    assert.equal(client.info("memory").get("lazyfreed_objects"), "1000");
  });
});

describe("on the ports of owners", () => {
  const OWNERS = 3;
  const server = new TestServer({ owners: OWNERS });
  const plain = server.connect();
  const owners = Array.from({ length: OWNERS }, (_, owner) => server.connect({ owner }));
  for (let i = 0; i < 3000; i++) {
    plain.say(i % 3 === 0 ? `SET key:${i} v EX 100` : `SET key:${i} v`);
  }

  function sum(section: string, name: string): number {
    return owners.reduce((all, owner) => all + Number(owner.info(section).get(name)), 0);
  }

  test("a node of a cluster is described", () => {
    for (const [i, owner] of owners.entries()) {
      const info = owner.info("server", "cluster");
      assert.equal(info.get("redis_mode"), "cluster");
      assert.equal(info.get("cluster_enabled"), "1");
      assert.equal(info.get("tcp_port"), String(6380 + i));
      assert.equal(info.get("owner"), String(i));
      assert.equal(info.get("shard_owners"), "3");
    }
    assert.equal(plain.info("server").get("redis_mode"), "standalone");
    assert.equal(plain.info("server").get("owner"), undefined);
    assert.equal(plain.info("cluster").get("cluster_enabled"), "0");
  });

  test("sums over owners are the process", () => {
    const all = /^keys=(\d+),expires=(\d+),/.exec(plain.info("keyspace").get("db0") ?? "");
    const parts = owners.map((owner) =>
      /^keys=(\d+),expires=(\d+),/.exec(owner.info("keyspace").get("db0") ?? ""),
    );
    for (const field of [1, 2]) {
      const found = parts.map((part) => Number(part?.[field]));
      assert.ok(found.every((n) => n > 0));
      assert.equal(
        found.reduce((a, b) => a + b),
        Number(all?.[field]),
      );
    }
    const memory = plain.info("memory");
    for (const name of ["used_memory", "used_memory_dataset", "used_memory_overhead"]) {
      assert.equal(sum("memory", name), Number(memory.get(name)), name);
    }
    assert.equal(
      owners[0]?.info("memory").get("allocator_allocated"),
      memory.get("allocator_allocated"),
    );
  });

  test("clients, counters and commands are those of the port", () => {
    const [first, second] = owners as [TestClient, TestClient];
    const before = Number(first.info("stats").get("total_commands_processed"));
    first.say("PING");
    second.say("PING");
    second.say("PING");
    assert.equal(first.info("clients").get("connected_clients"), "1");
    assert.equal(plain.info("clients").get("connected_clients"), String(OWNERS + 1));
    assert.match(first.info("commandstats").get("cmdstat_ping") ?? "", /^calls=1,/);
    assert.match(second.info("commandstats").get("cmdstat_ping") ?? "", /^calls=2,/);
    assert.match(plain.info("commandstats").get("cmdstat_ping") ?? "", /^calls=3,/);
    assert.equal(first.info("commandstats").get("cmdstat_set"), undefined);
    const after = Number(first.info("stats").get("total_commands_processed"));
    // INFO, PING, INFO clients, INFO commandstats twice.
    assert.equal(after - before, 5);
    const threads = plain.info("threads");
    assert.equal(threads.get("keyed_commands_forwarded"), "0");
    // Owners 0 and 2 and the plain connection on the first thread, owner 1 on the second.
    assert.match(threads.get("thread0") ?? "", /^accepted_connections=3,connections=3,/);
    assert.match(threads.get("thread1") ?? "", /^accepted_connections=1,connections=1,/);
  });
});

test("rates are those of the last second", () => {
  const server = new TestServer();
  const client = server.connect({ thread: 1 });
  server.advance(1000);
  server.slowTick();
  for (let i = 0; i < 200; i++) client.say("PING");
  server.advance(2000);
  server.slowTick();
  const stats = client.info("stats");
  assert.equal(stats.get("instantaneous_ops_per_sec"), "100");
  assert.equal(stats.get("instantaneous_input_kbps"), ((100 * 14) / 1024).toFixed(2));
  assert.equal(stats.get("instantaneous_output_kbps"), ((100 * 7) / 1024).toFixed(2));
  client.say("CONFIG RESETSTAT");
  server.advance(1000);
  server.slowTick();
  assert.ok(Number(client.info("stats").get("instantaneous_ops_per_sec")) <= 3);
});

test("TIME is the clock's", () => {
  const server = new TestServer();
  server.advance(123);
  assert.equal(server.connect().say("TIME"), "*2\r\n$10\r\n1700000000\r\n$6\r\n123000\r\n");
});
