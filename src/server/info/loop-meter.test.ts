import assert from "node:assert/strict";
import { test } from "node:test";
import { type StatName, Stats, statIndex, statsBytes } from "../../keyspace/stats.ts";
import { LoopMeter } from "./loop-meter.ts";

test("a sample counts what was done since the one before", () => {
  const stats = new Stats(new SharedArrayBuffer(statsBytes(2)), 2, 1);
  const meter = new LoopMeter(stats, { cycles: 100, activeMs: 50 });
  const of = (name: StatName): number => stats.of(1, name);
  stats.add(statIndex("commands_processed"), 500);
  meter.sample({ cycles: 104, activeMs: 58 }, 0.5);
  stats.add(statIndex("commands_processed"), 3);
  meter.sample({ cycles: 106, activeMs: 59 }, 0.25);
  assert.equal(of("eventloop_cycles"), 6);
  assert.equal(of("eventloop_usec"), 9000);
  assert.equal(of("eventloop_cron_usec"), 750);
  assert.equal(of("eventloop_usec_max"), 2000);
  assert.equal(of("eventloop_commands_max"), 125);
  stats.reset("commands_processed");
  stats.reset("eventloop_commands_max");
  meter.sample({ cycles: 106, activeMs: 60 }, 0);
  meter.sample({ cycles: 107, activeMs: 60 }, 0);
  assert.equal(of("eventloop_commands_max"), 0);
  assert.equal(stats.of(0, "eventloop_cycles"), 0);
});
