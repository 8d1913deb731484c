/**
 * Row `owners`: the plain port against the shard-owner ports of the same process, under the own
 * generator, redis-benchmark and ioredis, each with the same keys both ways.
 *
 * redis-benchmark --cluster starts a thread per node and then ends on a tick of a quarter of a
 * second, so its rates are read from the server's call counters while it runs. Its keys carry a
 * slot tag: the range of the number in them is divided by the slots, which makes about as many
 * different keys as asked for.
 *
 * With --subject redis-server a cluster of real nodes stands for the owner ports and one more
 * redis-server for the plain port; that run checks the bench and says nothing else.
 */
import { type Options, pinPlan, requestCount, UsageError } from "../options.ts";
import { allowedCores } from "../process-stats.ts";
import { progress, type Row } from "../row.ts";
import { alternate, pairedRatio, type Summary, summarize } from "../stats.ts";
import { formatNumber, formatRatio, formatSummary, type Table } from "../table.ts";
import { CLIENTS, type Job, type OwnersClient, sample, type WaySample } from "./owner-clients.ts";
import { type Way, withWays } from "./owner-ways.ts";

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
 * keys are its own, so the first SET also makes what GET then finds.
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
