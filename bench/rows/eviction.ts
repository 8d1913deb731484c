/**
 * Row `eviction`: hit ratios of every policy on one zipfian trace, ours beside redis-server: with
 * room for the same number of keys, which compares the policies, and with the same maxmemory, which
 * is what a user gets.
 */
import {
  apart,
  type CacheFigures,
  EVICTION_POLICIES,
  limitTo,
  runTrace,
  type TracedPolicy,
  type TraceLimit,
  type TraceOptions,
  type TraceSubject,
} from "../eviction-trace.ts";
import { type Target, withTargets } from "../measure.ts";
import type { Options } from "../options.ts";
import { progress, type Row } from "../row.ts";
import { planServer } from "../server.ts";
import { formatCount, type Table } from "../table.ts";

/** Keys that fit, of all; reads for each key that fits. */
const CAPACITY_PART = 5;
const READS_PER_PLACE = 30;
const THETA = 0.99;
const SMOKE_VALUE_BYTES = 2000;
const SEED = 20_260_101;

function traceOptions(options: Options, keys: number): TraceOptions {
  const capacity = Math.ceil(keys / CAPACITY_PART);
  return {
    keys,
    capacity,
    requests: capacity * (options.smoke ? 5 : READS_PER_PLACE),
    // Few small keys would be less than the buffers of the connection.
    valueBytes: options.smoke ? SMOKE_VALUE_BYTES : (options.values[0] as number),
    theta: THETA,
    seconds: options.seconds,
    seed: SEED,
  };
}

function percent(part: number): string {
  return (part * 100).toFixed(2);
}

async function measure(
  targets: readonly Target[],
  policy: TracedPolicy,
  trace: TraceOptions,
): Promise<string[]> {
  progress(`eviction ${policy}, ${trace.requests} reads of ${trace.keys} keys`);
  const [ours, tight, peer] = targets as [Target, Target, Target];
  const limits = await Promise.all(targets.map(({ control }) => limitTo(control, policy, trace)));
  const [limit, , peerLimit] = limits as [TraceLimit, TraceLimit, TraceLimit];
  await tight.control.call("CONFIG", "SET", "maxmemory", String(peerLimit.maxmemory));
  const subjects: TraceSubject[] = [
    { control: ours.control, limit, isTuned: true },
    { control: tight.control, limit: peerLimit, isTuned: false },
    { control: peer.control, limit: peerLimit, isTuned: true },
  ];
  const [sameKeys, sameBytes, redis] = (await runTrace(policy, subjects, trace)) as [
    CacheFigures,
    CacheFigures,
    CacheFigures,
  ];
  return [
    policy,
    percent(sameKeys.hitRatio),
    percent(redis.hitRatio),
    percent(apart(sameKeys.hitRatio, redis.hitRatio)),
    percent(sameBytes.hitRatio),
    `${formatCount(sameKeys.resident)} / ${formatCount(redis.resident)}`,
    formatCount(sameBytes.resident),
    `${percent(sameKeys.fullest)} / ${percent(redis.fullest)}`,
  ];
}

export const eviction: Row = {
  name: "eviction",
  summary: "hit ratio of each policy on a zipfian trace",
  defaults: { keys: [100_000], values: [100], seconds: 30, threads: [2] },
  async run(options): Promise<Table> {
    const threads = options.threads[0] as number;
    const trace = traceOptions(options, options.keys[0] as number);
    const kinds = [options.subject, options.subject, "redis-server"] as const;
    const plans = kinds.map((kind) => planServer(options, kind, threads, undefined));
    const rows = await withTargets(plans, async (targets) => {
      const found: string[][] = [];
      for (const policy of EVICTION_POLICIES) found.push(await measure(targets, policy, trace));
      return found;
    });
    return {
      title:
        `eviction: ${formatCount(trace.keys)} keys, room for ${formatCount(trace.capacity)}, ` +
        `${formatCount(trace.requests)} reads, theta ${THETA}, values of ${trace.valueBytes}, ` +
        `${threads} threads`,
      columns: [
        "policy",
        "hit %",
        "redis hit %",
        "apart %",
        "hit % at its bytes",
        "keys / redis",
        "keys at its bytes",
        "fullest % / redis",
      ],
      rows,
      notes: [
        "hit: room for as many keys as redis-server has. at its bytes: with redis-server's maxmemory.",
        "apart: of redis-server's hit ratio. fullest: most used_memory of maxmemory that was seen.",
      ],
    };
  },
};
