/**
 * Every policy on the same zipfian trace as a redis-server that has room for as many keys: the hit
 * ratios agree within 2%, and the limit holds. `npm run bench -- eviction` shows a longer trace.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Control } from "../../bench/control.ts";
import {
  apart,
  type CacheFigures,
  EVICTION_POLICIES,
  limitTo,
  runTrace,
  type TraceLimit,
  type TraceOptions,
} from "../../bench/eviction-trace.ts";
import { isLong, needs } from "../support/environment.ts";
import { testSeed } from "../support/random.ts";
import { type Server, startRedis, startZeroHop } from "../support/servers.ts";

const APART_MAX = 0.02;
const SIZE = isLong ? 5 : 1;

describe("hit ratios", needs("redis-server"), () => {
  const servers: Server[] = [];
  const controls: Control[] = [];

  before(async () => {
    servers.push(await startZeroHop({ threads: 2 }), await startRedis());
    for (const server of servers) controls.push(await Control.connect(server.port));
  });

  after(async () => {
    for (const control of controls) control.close();
    for (const server of servers) await server.stop();
  });

  for (const policy of EVICTION_POLICIES) {
    test(policy, async (t) => {
      const options: TraceOptions = {
        keys: 20_000 * SIZE,
        capacity: 4000 * SIZE,
        requests: 100_000 * SIZE,
        valueBytes: 100,
        theta: 0.99,
        // The clock of LRU ticks in seconds.
        seconds: policy.endsWith("lru") ? 4 * SIZE : 0,
        seed: testSeed(77),
      };
      const limits: TraceLimit[] = [];
      for (const control of controls) limits.push(await limitTo(control, policy, options));
      const subjects = controls.map((control, i) => {
        return { control, limit: limits[i] as TraceLimit, isTuned: true };
      });
      const found = await runTrace(policy, subjects, options);
      const [ours, redis] = found as [CacheFigures, CacheFigures];
      const shown = `seed ${options.seed}: ours ${JSON.stringify(ours)}, redis ${JSON.stringify(redis)}`;
      t.diagnostic(shown);
      assert.ok(apart(ours.hitRatio, redis.hitRatio) <= APART_MAX, shown);
      assert.ok(ours.evicted > options.capacity, shown);
      assert.ok(ours.fullest <= 1.01, shown);
      assert.ok(Math.abs(ours.resident / options.capacity - 1) < 0.05, shown);
    });
  }
});
