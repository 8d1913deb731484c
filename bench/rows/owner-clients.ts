/**
 * The clients of the row `owners`, each run once over one way in: the own generator,
 * redis-benchmark, ioredis. Every run is held against the server's own count of calls.
 */
import { Cluster, Redis } from "ioredis";
import { GENERATOR_REQUESTS_MAX, generate } from "../generator.ts";
import { SLOTS, withNodeMap } from "../node-map.ts";
import type { BenchCommand, Options } from "../options.ts";
import { type CpuReading, cpuBetweenNs, readCpu } from "../process-stats.ts";
import { runRedisBenchmark } from "../redis-benchmark.ts";
import { MissingFigure } from "../stats.ts";
import { paddedKey } from "../workload.ts";
import { callsOf, type Way } from "./owner-ways.ts";

const POLL_MS = 50;
const POLLS_PER_RUN = 40;
const IOREDIS_IN_FLIGHT = 64;

export interface WaySample {
  readonly perSecond: number;
  readonly cpuNs: number;
}

export interface Job {
  readonly command: Extract<BenchCommand, "GET" | "SET">;
  readonly pipeline: number;
  readonly options: Options;
  /** Threads of the server, which is also the number of owners. */
  readonly owners: number;
  readonly cores: string | undefined;
  /** Requests of one redis-benchmark run. */
  readonly requests: number;
}

export const CLIENTS = ["own", "redis-benchmark", "ioredis"] as const;
export type OwnersClient = (typeof CLIENTS)[number];

/** What a client says it did. */
interface Run {
  readonly requests: number;
  readonly perSecond: number;
}

/** Calls a second by the server's counters, between the first and the last growth seen. */
async function countedRate(way: Way, job: Job, run: Promise<unknown>): Promise<number> {
  const pollMs = Math.min(POLL_MS, (job.options.seconds * 1000) / POLLS_PER_RUN);
  const looks: { at: number; calls: number }[] = [];
  let running = true;
  const ended = run.then(
    () => undefined,
    (error: unknown) => error,
  );
  void ended.then(() => {
    running = false;
  });
  while (running) {
    looks.push({ calls: await callsOf(way, job.command), at: performance.now() });
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const error = await ended;
  if (error !== undefined) throw error;
  const growing = looks.filter((one, i) => i > 0 && one.calls > (looks[i - 1]?.calls ?? 0));
  const first = growing[0];
  // The last growth ends somewhere within its interval, so the look before it counts.
  const last = growing.at(-2);
  if (first === undefined || last === undefined || last.at <= first.at) {
    throw new MissingFigure("redis-benchmark ended too soon for a rate: longer --seconds");
  }
  return ((last.calls - first.calls) / (last.at - first.at)) * 1000;
}

async function ownRun(way: Way, job: Job, round: number): Promise<Run> {
  const { options } = job;
  const plan = {
    ports: way.ports,
    owners: way.name === "owners" ? job.owners : 0,
    command: job.command,
    pipeline: job.pipeline,
    valueBytes: options.values[0] as number,
    keys: options.keys[0] as number,
    connections: options.connections,
    firstConnection: 0,
    warmupSeconds: options.seconds / 4,
    seconds: options.seconds,
    requestsMax: GENERATOR_REQUESTS_MAX,
    seed: 1 + round,
  };
  const load = await generate(plan, job.cores);
  return { requests: load.answered, perSecond: load.perSecond };
}

/** The same keys both ways: the plain port is shown to it as a cluster behind one port. */
async function redisBenchmarkRun(way: Way, job: Job): Promise<Run> {
  const { options } = job;
  const first = way.ports[0] as number;
  const run = (port: number): Promise<number> =>
    countedRate(
      way,
      job,
      runRedisBenchmark({
        port,
        command: job.command,
        requests: job.requests,
        pipeline: job.pipeline,
        connections: options.connections,
        keys: Math.max(1, Math.round((options.keys[0] as number) / SLOTS)),
        valueBytes: options.values[0] as number,
        cluster: true,
        threads: job.owners,
        cores: job.cores,
      }),
    );
  const perSecond = await (way.name === "owners"
    ? run(first)
    : withNodeMap(first, job.owners, run));
  return { requests: job.requests, perSecond };
}

/** Many calls in flight on one ioredis client, for the wanted time. */
async function ioredisRun(way: Way, job: Job): Promise<Run> {
  const { options } = job;
  const port = way.ports[0] as number;
  const host = "127.0.0.1";
  const client =
    way.name === "owners"
      ? new Cluster([{ host, port }])
      : new Redis({ host, port, lazyConnect: false });
  try {
    await client.ping();
    const value = "x".repeat(options.values[0] as number);
    const keys = options.keys[0] as number;
    const endAt = performance.now() + options.seconds * 1000;
    const began = performance.now();
    let done = 0;
    const lane = async (from: number): Promise<void> => {
      for (let i = from; performance.now() < endAt; i += IOREDIS_IN_FLIGHT) {
        const key = paddedKey("key:", i % keys);
        if (job.command === "SET") await client.set(key, value);
        else await client.get(key);
        done++;
      }
    };
    await Promise.all(Array.from({ length: IOREDIS_IN_FLIGHT }, (_, i) => lane(i)));
    return { requests: done, perSecond: (done / (performance.now() - began)) * 1000 };
  } finally {
    client.disconnect();
  }
}

function runClient(client: OwnersClient, way: Way, job: Job, round: number): Promise<Run> {
  switch (client) {
    case "own":
      return ownRun(way, job, round);
    case "redis-benchmark":
      return redisBenchmarkRun(way, job);
    case "ioredis":
      return ioredisRun(way, job);
  }
}

/** One run with its CPU; refused when the server did not count what the client says it sent. */
export async function sample(
  client: OwnersClient,
  way: Way,
  job: Job,
  round: number,
): Promise<WaySample> {
  const callsBefore = await callsOf(way, job.command);
  const cpuBefore = way.pids.map(readCpu);
  const { requests, perSecond } = await runClient(client, way, job, round);
  const cpuAfter = way.pids.map(readCpu);
  const calls = (await callsOf(way, job.command)) - callsBefore;
  const inFlight = job.options.connections * job.pipeline;
  if (calls < requests || calls > requests + inFlight) {
    throw new MissingFigure(`${way.name} port: ${calls} calls counted for ${requests} requests`);
  }
  let cpuNs = 0;
  cpuBefore.forEach((before, i) => {
    cpuNs += cpuBetweenNs(before, cpuAfter[i] as CpuReading);
  });
  return { perSecond, cpuNs: cpuNs / calls };
}
