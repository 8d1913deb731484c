/**
 * Row `owners`: the plain port against the shard-owner ports of the same process, under the own
 * generator (the very same keys both ways), redis-benchmark and ioredis.
 *
 * redis-benchmark --cluster starts a thread per node and then ends on a tick of a quarter of a
 * second, so its rates are read from the server's call counters while it runs, and the plain run
 * gets as many threads. Its cluster keys carry a slot tag: the range of the number in them is
 * divided by the slots, which makes about as many different keys as on the plain port.
 *
 * With --subject redis-server a cluster of real nodes stands for the owner ports and one more
 * redis-server for the plain port; that run checks the bench and says nothing else.
 */
import { Cluster, Redis } from "ioredis";
import { Control, commandCalls } from "../control.ts";
import { fillAndCheck } from "../fill.ts";
import { GENERATOR_REQUESTS_MAX, generate } from "../generator.ts";
import { type BenchCommand, type Options, pinPlan, requestCount, UsageError } from "../options.ts";
import { allowedCores, type CpuReading, cpuBetweenNs, readCpu } from "../process-stats.ts";
import { runRedisBenchmark } from "../redis-benchmark.ts";
import { progress, type Row } from "../row.ts";
import { planServer, type RunningServer, withServers } from "../server.ts";
import { alternate, MissingFigure, pairedRatio, type Summary, summarize } from "../stats.ts";
import { formatNumber, formatRatio, formatSummary, type Table } from "../table.ts";
import { ownedKeys, paddedFill, paddedKey, valueText } from "../workload.ts";

const SLOTS = 16384;
const POLL_MS = 50;
const POLLS_PER_RUN = 40;
const IOREDIS_IN_FLIGHT = 64;

/** One way in: the ports of a layout and a control connection to each. */
interface Way {
  readonly name: "plain" | "owners";
  readonly pids: readonly number[];
  readonly ports: readonly number[];
  readonly controls: readonly Control[];
}

export interface WaySample {
  readonly perSecond: number;
  readonly cpuNs: number;
}

interface Job {
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

async function callsOf(way: Way, command: string): Promise<number> {
  let calls = 0;
  for (const control of way.controls) calls += await commandCalls(control, command);
  return calls;
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

async function ownRun(way: Way, job: Job, round: number): Promise<number> {
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
  return (await generate(plan, job.cores)).perSecond;
}

async function redisBenchmarkRun(way: Way, job: Job): Promise<number> {
  const { options } = job;
  const keys = options.keys[0] as number;
  const cluster = way.name === "owners";
  const run = runRedisBenchmark({
    port: way.ports[0] as number,
    command: job.command,
    requests: job.requests,
    pipeline: job.pipeline,
    connections: options.connections,
    keys: cluster ? Math.max(1, Math.round(keys / SLOTS)) : keys,
    valueBytes: options.values[0] as number,
    cluster,
    threads: job.owners,
    cores: job.cores,
  });
  return countedRate(way, job, run);
}

/** Many calls in flight on one ioredis client, for the wanted time. */
async function ioredisRun(way: Way, job: Job): Promise<number> {
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
    return (done / (performance.now() - began)) * 1000;
  } finally {
    client.disconnect();
  }
}

async function sample(client: OwnersClient, way: Way, job: Job, round: number): Promise<WaySample> {
  const callsBefore = await callsOf(way, job.command);
  const cpuBefore = way.pids.map(readCpu);
  let perSecond: number;
  if (client === "own") perSecond = await ownRun(way, job, round);
  else if (client === "redis-benchmark") perSecond = await redisBenchmarkRun(way, job);
  else perSecond = await ioredisRun(way, job);
  const cpuAfter = way.pids.map(readCpu);
  const calls = (await callsOf(way, job.command)) - callsBefore;
  if (calls <= 0) throw new MissingFigure(`${way.name}: no ${job.command} was counted`);
  let cpuNs = 0;
  cpuBefore.forEach((before, i) => {
    cpuNs += cpuBetweenNs(before, cpuAfter[i] as CpuReading);
  });
  return { perSecond, cpuNs: cpuNs / calls };
}

async function openWay(
  name: Way["name"],
  pids: readonly number[],
  ports: readonly number[],
): Promise<Way> {
  const controls: Control[] = [];
  for (const port of ports) controls.push(await Control.connect(port));
  return { name, pids, ports, controls };
}

const CLUSTER_LOOKS_MAX = 400;

/** Makes one cluster of fresh nodes; they serve only a while after they know each other. */
async function makeCluster(way: Way): Promise<void> {
  const count = way.controls.length;
  for (const [i, control] of way.controls.entries()) {
    const from = Math.ceil((i * SLOTS) / count);
    const to = Math.ceil(((i + 1) * SLOTS) / count) - 1;
    await control.call("CLUSTER", "SET-CONFIG-EPOCH", String(i + 1));
    await control.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
  }
  for (const port of way.ports.slice(1)) {
    await way.controls[0]?.call("CLUSTER", "MEET", "127.0.0.1", String(port));
  }
  for (const control of way.controls) {
    let text: unknown = "";
    for (let look = 0; look < CLUSTER_LOOKS_MAX; look++) {
      text = await control.call("CLUSTER", "INFO");
      if (typeof text === "string" && /cluster_state:ok/.test(text)) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    if (!String(text).includes(`cluster_size:${count}`)) throw new Error("no cluster came up");
  }
}

/** Starts what the subject needs and hands over the two ways, with all keys loaded. */
async function withWays<T>(
  options: Options,
  owners: number,
  cores: string | undefined,
  use: (plain: Way, owners: Way) => Promise<T>,
): Promise<T> {
  const base = planServer(options, options.subject, owners, cores);
  const ours = options.subject === "zerohop";
  const node = { ...base, extra: ["--cluster-enabled", "yes"] };
  const plans = ours
    ? [{ ...base, extra: ["--shard-owners", String(owners)], morePorts: owners }]
    : [base, ...Array.from({ length: owners }, () => node)];
  return withServers(plans, async ([first, ...nodes]) => {
    const server = first as RunningServer;
    const ports = ours
      ? Array.from({ length: owners }, (_, i) => server.port + 1 + i)
      : nodes.map((one) => one.port);
    const plain = await openWay("plain", [server.pid], [server.port]);
    const owned = await openWay(
      "owners",
      (ours ? [server] : nodes).map(({ pid }) => pid),
      ports,
    );
    try {
      if (!ours) await makeCluster(owned);
      await loadWays(options, plain, ours ? undefined : owned, owners);
      return await use(plain, owned);
    } finally {
      for (const control of [...plain.controls, ...owned.controls]) control.close();
    }
  });
}

/** All keys through the plain port; nodes of a real cluster get theirs one by one. */
async function loadWays(
  options: Options,
  plain: Way,
  cluster: Way | undefined,
  owners: number,
): Promise<void> {
  const keys = options.keys[0] as number;
  const value = valueText(options.values[0] as number);
  const kind = paddedFill("key:", value);
  await fillAndCheck(plain.controls[0] as Control, plain.ports[0] as number, kind, keys);
  if (cluster === undefined) return;
  for (let owner = 0; owner < owners; owner++) {
    const owned = ownedKeys("key:", keys, owner, owners);
    const part = { reply: kind.reply, text: (i: number) => kind.text(owned[i] as number) };
    const control = cluster.controls[owner] as Control;
    await fillAndCheck(control, cluster.ports[owner] as number, part, owned.length);
  }
}

export interface OwnersResult {
  readonly client: OwnersClient;
  readonly command: string;
  readonly pipeline: number;
  readonly plain: Summary;
  readonly owners: Summary;
  /** Throughput of the plain port over that of the owner ports. */
  readonly ratio: Summary;
  readonly plainCpuNs: Summary;
  readonly ownersCpuNs: Summary;
}

/**
 * Both ways once, to warm them up and, for redis-benchmark, to fix the number of requests. Its
 * keys on the owner ports are its own, so the first SET also makes what GET then finds.
 */
async function warmUp(client: OwnersClient, ways: readonly Way[], job: Job): Promise<Job> {
  const { seconds } = job.options;
  const guess = job.pipeline === 1 ? 40_000 : 400_000;
  const first: Job = { ...job, requests: requestCount(guess, seconds, job.pipeline) };
  let slowest = Number.POSITIVE_INFINITY;
  for (const way of ways) {
    slowest = Math.min(slowest, (await sample(client, way, first, 0)).perSecond);
  }
  return { ...job, requests: requestCount(slowest, seconds, job.pipeline) };
}

/** One client and command, alternating between the two ways. */
async function compareWays(
  client: OwnersClient,
  plain: Way,
  owned: Way,
  asked: Job,
): Promise<OwnersResult> {
  const job = await warmUp(client, [plain, owned], asked);
  const found = await alternate(
    job.options.pairs,
    (round) => sample(client, plain, job, 1 + round),
    (round) => sample(client, owned, job, 1 + round),
  );
  const rates = (of: readonly WaySample[]): number[] => of.map((one) => one.perSecond);
  return {
    client,
    command: job.command,
    pipeline: job.pipeline,
    plain: summarize(rates(found.first)),
    owners: summarize(rates(found.second)),
    ratio: pairedRatio(rates(found.first), rates(found.second)),
    plainCpuNs: summarize(found.first.map((one) => one.cpuNs)),
    ownersCpuNs: summarize(found.second.map((one) => one.cpuNs)),
  };
}

export function measureOwners(
  options: Options,
  clients: readonly OwnersClient[],
): Promise<OwnersResult[]> {
  const threads = options.threads[0] as number;
  const pin = pinPlan(allowedCores(), threads, options.pin);
  if (threads < 2) throw new UsageError("owners: redis-benchmark wants a cluster of 2 or more");
  return withWays(options, threads, pin.server, async (plain, owned) => {
    const results: OwnersResult[] = [];
    for (const client of clients) {
      // ioredis writes each call by itself; a pipeline depth means nothing there.
      for (const pipeline of client === "ioredis" ? [1] : options.pipelines) {
        for (const command of ["SET", "GET"] as const) {
          progress(`owners: ${client} ${command} P${pipeline}`);
          const job: Job = {
            command,
            pipeline,
            options,
            owners: threads,
            cores: pin.generator,
            requests: 0,
          };
          results.push(await compareWays(client, plain, owned, job));
        }
      }
    }
    return results;
  });
}

export const owners: Row = {
  name: "owners",
  summary: "the plain port against the shard-owner ports",
  defaults: { threads: [2], pipelines: [1, 16], pairs: 3 },
  async run(options): Promise<Table> {
    const results = await measureOwners(options, CLIENTS);
    return {
      title: `owners: ${options.subject}, ${options.threads[0]} threads, ${options.pairs} pairs`,
      columns: [
        "client",
        "command",
        "P",
        "plain k/s",
        "owners k/s",
        "plain/owners",
        "plain us/cmd",
        "owners us/cmd",
      ],
      rows: results.map((one) => [
        one.client,
        one.command,
        String(one.pipeline),
        formatNumber(one.plain.median / 1000),
        formatNumber(one.owners.median / 1000),
        formatRatio(one.ratio),
        formatSummary(scaled(one.plainCpuNs)),
        formatSummary(scaled(one.ownersCpuNs)),
      ]),
      notes:
        options.subject === "zerohop"
          ? []
          : ["A real cluster stands for the owner ports: a check of the bench only."],
    };
  },
};

/** Nanoseconds as microseconds. */
function scaled(ns: Summary): Summary {
  return { ...ns, median: ns.median / 1000, min: ns.min / 1000, max: ns.max / 1000 };
}
