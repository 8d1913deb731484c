/** A thread that has more to expire or to free than it may do at once says so, and catches up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { TestServer } from "./test-server.ts";
import type { ThreadServer } from "./thread-server.ts";

test("a tick says that more keys are due, and catching up ends", () => {
  const server = new TestServer();
  const client = server.connect();
  for (let i = 0; i < 1500; i++) client.call("SET", `{tag}${i}`, "v", "PX", "10");
  assert.equal(server.host.servers.filter((thread) => thread.tick()).length, 0);
  server.advance(2000);
  const behind = server.host.servers.filter((thread) => thread.tick());
  assert.equal(behind.length, 1, "only the thread that looks after the shard is behind");
  let rounds = 1;
  while (behind[0]?.catchUp()) rounds++;
  assert.ok(rounds <= 4, `${rounds} rounds`);
  assert.equal(client.say("DBSIZE"), ":0\r\n");
  const stats = client.info("stats");
  assert.equal(stats.get("expired_keys"), "1500");
  assert.equal(stats.get("expired_time_cap_reached_count"), "2");
});

test("nothing is expired actively while DEBUG says so", () => {
  const server = new TestServer();
  const client = server.connect();
  for (let i = 0; i < 1500; i++) client.call("SET", `{tag}${i}`, "v", "PX", "10");
  client.say("DEBUG SET-ACTIVE-EXPIRE 0");
  server.advance(2000);
  for (const thread of server.host.servers) assert.equal(thread.tick(), false);
  assert.equal(client.say("DBSIZE"), ":1500\r\n");
});

test("flushed keys are freed by whichever thread ticks", () => {
  const server = new TestServer();
  const client = server.connect();
  for (let i = 0; i < 3000; i++) client.call("SET", `k${i}`, "v");
  client.say("FLUSHALL");
  assert.equal(client.info("memory").get("lazyfree_pending_objects"), "3000");
  for (const thread of server.host.servers) thread.tick();
  assert.equal(client.info("memory").get("lazyfree_pending_objects"), "0");
  assert.equal(client.say("DEBUG HEAP-CHECK"), "+OK\r\n");
});

test("a connection that was lost on its way counts as arrived, and as no more than that", () => {
  const server = new TestServer({ owners: 2 });
  const thread = server.host.servers[1] as ThreadServer;
  const { stats } = thread;
  thread.connectionLost(-1);
  thread.connectionLost(1);
  assert.equal(stats.of(1, "connections_arrived"), 1);
  assert.equal(stats.of(2 + 1, "connections_arrived"), 1);
  assert.equal(stats.sum("connections_received"), 0);
  assert.equal(stats.sum("connections_current"), 0);
});

test("a connection is never missing from those that are here and those on their way", () => {
  const server = new TestServer({ settings: { maxclients: "1" } });
  const { stats } = server.host.servers[0] as ThreadServer;
  const add = stats.add.bind(stats);
  let passed = 0;
  let least = Number.POSITIVE_INFINITY;
  stats.add = (index: number, by: number): void => {
    add(index, by);
    const here = stats.of(0, "connections_current");
    least = Math.min(least, here + passed - stats.of(0, "connections_arrived"));
  };
  passed++;
  server.connect();
  assert.equal(least, 1);
  // One that is refused is not there any more.
  passed++;
  assert.throws(() => server.connect(), /refused the connection/);
  assert.equal(stats.of(0, "connections_arrived"), 2);
  assert.equal(least, 1);
});

test("active-expire-effort is the milliseconds that a round may take", () => {
  const left = (effort: string): number => {
    const server = new TestServer({ threads: 1, settings: { "active-expire-effort": effort } });
    const client = server.connect();
    for (let i = 0; i < 200; i++) client.say(`SET key:${i} v PX 10`);
    server.advance(2000);
    let now = 0;
    // Every look at the clock takes its time, and a shard has three: four shards a millisecond.
    server.clock.monotonicMs = () => {
      now += 1 / 12;
      return now;
    };
    server.host.servers[0]?.tick();
    return Number(client.say("DBSIZE").slice(1));
  };
  const [little, much] = [left("1"), left("10")];
  assert.ok(little > 100 && little < 200, `${little} keys left`);
  assert.equal(much, 0);
});
