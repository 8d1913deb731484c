import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { memoryReport } from "../memory-report.ts";
import { type TestClient, TestServer } from "../test-server.ts";

/** The pairs of MEMORY STATS in RESP3 on one level, those of a database named "db.0/...". */
function stats(client: TestClient): Map<string, number> {
  client.say("HELLO 3");
  const reply = client.say("MEMORY STATS");
  client.say("HELLO 2");
  const found = new Map<string, number>();
  let database = "";
  for (const [, name = "", value = ""] of reply.matchAll(
    /\$\d+\r\n([^\r\n]+)\r\n([%:,][-\d.einf]+)/g,
  )) {
    if (value.startsWith("%")) database = `${name}/`;
    else if (!name.startsWith("overhead.hashtable.")) found.set(name, Number(value.slice(1)));
    else found.set(database + name, Number(value.slice(1)));
  }
  return found;
}

describe("MEMORY", () => {
  test("STATS adds up to what INFO shows", () => {
    const client = new TestServer().connect();
    assert.equal(stats(client).get("keys.count"), 0);
    for (let i = 0; i < 1000; i++) client.say(`SET key:${i} ${"x".repeat(100)}`);
    for (const line of ["SELECT 3", "SET a 1", "SET b 1 EX 100"]) client.say(line);
    const found = stats(client);
    const info = client.info("memory");
    const of = (name: string): number => found.get(name) ?? Number.NaN;
    const pairs: [stat: string, field: string][] = [
      ["total.allocated", "used_memory"],
      ["peak.allocated", "used_memory_peak"],
      ["dataset.bytes", "used_memory_dataset"],
      ["overhead.total", "used_memory_overhead"],
      ["allocator.active", "allocator_active"],
      ["clients.normal", "mem_clients_normal"],
    ];
    for (const [stat, field] of pairs) assert.equal(of(stat), Number(info.get(field)), stat);
    assert.equal(of("keys.count"), 1002);
    assert.equal(of("keys.bytes-per-key"), Math.floor(of("total.allocated") / 1002));
    const tables = of("db.0/overhead.hashtable.main") + of("db.3/overhead.hashtable.main");
    assert.equal(tables, of("overhead.total"));
    assert.equal(`${of("dataset.percentage").toFixed(2)}%`, info.get("used_memory_dataset_perc"));
    assert.equal(of("fragmentation.bytes"), Number(info.get("mem_fragmentation_bytes")));
    assert.equal(found.size, 35);
  });

  test("DOCTOR judges no small instance", () => {
    const client = new TestServer().connect();
    assert.match(client.text("MEMORY DOCTOR"), /^Hi Sam, this instance is empty or is using very/);
    client.say("HELLO 3");
    assert.match(client.say("MEMORY DOCTOR"), /^=\d+\r\ntxt:Hi Sam/);
  });

  test("DOCTOR names what is unusual", () => {
    const mb = 1024 * 1024;
    const sound = {
      used: 100 * mb,
      dataset: 90 * mb,
      peak: 110 * mb,
      allocated: 100 * mb,
      active: 105 * mb,
      touched: 110 * mb,
      resident: 118 * mb,
      clients: 10 * 1024,
      clientCount: 10,
    };
    const issues = (changes: Partial<typeof sound>): string[] =>
      [...memoryReport({ ...sound, ...changes }).matchAll(/^ \* ([^:]+):/gm)].map(
        ([, name = ""]) => name,
      );
    assert.match(memoryReport(sound), /^Hi Sam, I can't find any memory issue in your instance/);
    assert.deepEqual(issues({ peak: 151 * mb }), ["Peak memory"]);
    assert.deepEqual(issues({ resident: 141 * mb }), [
      "High total RSS",
      "High process RSS overhead",
    ]);
    assert.deepEqual(issues({ active: 111 * mb, touched: 111 * mb }), [
      "High allocator fragmentation",
    ]);
    assert.deepEqual(issues({ touched: 117 * mb }), ["High allocator RSS overhead"]);
    assert.deepEqual(issues({ clients: 10 * 300 * 1024 }), ["Big client buffers"]);
    const report = memoryReport({ ...sound, peak: 200 * mb });
    assert.match(
      report,
      /^Sam, I detected a few issues in this Redis instance memory implants:\n\n/,
    );
    assert.ok(report.endsWith("I'm here to keep you safe, Sam. I want to help you.\n"));
  });

  test("MALLOC-STATS and PURGE", () => {
    const server = new TestServer();
    const client = server.connect();
    for (let i = 0; i < 2000; i++) client.say(`SET key:${i} ${"x".repeat(500)}`);
    const spans = (): number =>
      Number(/^Spans in use: (\d+)/m.exec(client.text("MEMORY MALLOC-STATS"))?.[1]);
    const before = spans();
    assert.ok(before > 10);
    for (let i = 0; i < 2000; i++) client.say(`DEL key:${i}`);
    assert.equal(client.say("MEMORY PURGE"), "+OK\r\n");
    assert.ok(spans() < before / 2, `${spans()} of ${before}`);
  });
});

describe("LOLWUT", () => {
  const client = new TestServer().connect();

  test("shows the version, and pictures of the size that is asked for", () => {
    for (const call of ["LOLWUT", "LOLWUT foo", "LOLWUT VERSION", "LOLWUT VERSION 7 x"]) {
      assert.equal(client.say(call), "$17\r\nRedis ver. 7.4.2\n\r\n", call);
    }
    const lines = client.text("LOLWUT VERSION 5 20 4 3").split("\n");
    assert.equal(lines.at(-2), "Georg Nees - schotter, plotter on paper, 1968. Redis ver. 7.4.2");
    // 20 columns are 40 dots; a square has 9, three of them and the margins 31 dots in 8 rows.
    const rows = lines.slice(0, -3);
    assert.equal(rows.length, 8);
    for (const row of rows) assert.match(row, /^(?:\xe2[\xa0-\xa3][\x80-\xbf]){20}$/);
    assert.equal(client.text("LOLWUT version 5 5000").split("\n")[0]?.length, 3000);
    for (const [call, columns, height] of [
      ["LOLWUT VERSION 6", 80, 20],
      ["LOLWUT VERSION 6 30", 30, 20],
      ["LOLWUT version 6 7 3", 7, 3],
      ["LOLWUT VERSION 6 1 1", 1, 1],
      ["LOLWUT VERSION 6 -5 0", 1, 1],
      ["LOLWUT VERSION 6 2000 2", 1000, 2],
      ["LOLWUT VERSION 6 1 2000", 1, 1000],
    ] as const) {
      const city = client.text(call).split("\n");
      assert.equal(city.length, height + 3, call);
      for (const row of city.slice(0, height)) assert.equal(row.split("m ").length, columns + 1);
    }
  });

  test("takes numbers only", () => {
    const error = "-ERR value is not an integer or out of range\r\n";
    for (const rest of ["x", "5 x", "5 1 x", "5 1 1 x", "6 x", "6 1 x"]) {
      assert.equal(client.say(`LOLWUT VERSION ${rest}`), error);
    }
    assert.match(client.say("LOLWUT VERSION 5 -1 0 0"), /^\$/);
  });
});

test("ROLE and LASTSAVE are those of a master that was just started", () => {
  const server = new TestServer();
  const client = server.connect();
  assert.equal(client.say("ROLE"), "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
  server.advance(5000);
  assert.equal(client.say("LASTSAVE"), ":1700000000\r\n");
});
