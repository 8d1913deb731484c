/**
 * One cell of the comparison: a command at a pipeline depth over a keyspace, measured on two
 * running servers in alternating pairs.
 *
 * CPU per command is the server process's own CPU time over the calls in its own commandstats; the
 * INFO that asks for the calls is outside the CPU reading. A run whose calls do not fit the
 * requests that were sent is refused, since whatever it measured was something else.
 */
import { totalmem } from "node:os";
import { Control, commandCalls } from "./control.ts";
import { fillAndCheck } from "./fill.ts";
import { GENERATOR_REQUESTS_MAX, generate } from "./generator.ts";
import {
  type BenchCommand,
  type Generator,
  type PinPlan,
  requestCount,
  UsageError,
} from "./options.ts";
import { cpuBetweenNs, readCpu } from "./process-stats.ts";
import { runRedisBenchmark } from "./redis-benchmark.ts";
import { type RunningServer, type ServerPlan, withServers } from "./server.ts";
import { alternate, figure, MissingFigure, pairedRatio, type Summary, summarize } from "./stats.ts";
import { keyPrefix, paddedFill, valueText } from "./workload.ts";

export interface Cell {
  readonly command: BenchCommand;
  readonly pipeline: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly threads: number;
  readonly connections: number;
}

export interface CellOptions {
  readonly generator: Generator;
  readonly pairs: number;
  readonly seconds: number;
  readonly pin: PinPlan;
}

/** A server under test with the connection that asks for its counters. */
export interface Target {
  readonly server: RunningServer;
  readonly control: Control;
}

export interface Sample {
  readonly cpuNs: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Only the own generator keeps enough to tell. */
  readonly p999Ms: number | undefined;
}

export interface CellResult {
  readonly cell: Cell;
  readonly subject: readonly Sample[];
  readonly peer: readonly Sample[];
}

const NS_PER_MS = 1e6;

/** A low guess of requests a second, for the run that warms up and tells the real rate. */
function guessedRate(cell: Cell): number {
  const rate = cell.pipeline === 1 ? 60_000 : 400_000;
  return cell.command === "MSET" ? rate / 5 : rate;
}

/** How many calls may pass the wanted number: what was in flight when the generator stopped. */
function assertCalls(calls: number, wanted: number, slack: number): void {
  if (calls < wanted || calls > wanted + slack) {
    throw new MissingFigure(`the server counted ${calls} calls for ${wanted} requests`);
  }
}

async function callsOf(control: Control, command: BenchCommand): Promise<number> {
  if (command !== "MIX") return commandCalls(control, command);
  return (await commandCalls(control, "GET")) + (await commandCalls(control, "SET"));
}

interface Load {
  readonly wanted: number;
  readonly sample: Omit<Sample, "cpuNs">;
}

async function ownLoad(
  target: Target,
  cell: Cell,
  options: CellOptions,
  seed: number,
): Promise<Load> {
  const plan = {
    ports: [target.server.port],
    owners: 0,
    command: cell.command,
    pipeline: cell.pipeline,
    valueBytes: cell.valueBytes,
    keys: cell.keys,
    connections: cell.connections,
    firstConnection: 0,
    warmupSeconds: Math.min(0.2, options.seconds / 4),
    seconds: options.seconds,
    requestsMax: GENERATOR_REQUESTS_MAX,
    seed,
  };
  const load = await generate(plan, options.pin.generator);
  const ms = (fraction: number): number => load.histogram.percentileNs(fraction) / NS_PER_MS;
  const sample = {
    perSecond: load.perSecond,
    p50Ms: ms(0.5),
    p99Ms: ms(0.99),
    p999Ms: ms(0.999),
  };
  return { wanted: load.answered, sample };
}

async function peerLoad(
  target: Target,
  cell: Cell,
  options: CellOptions,
  requests: number,
): Promise<Load> {
  if (cell.command === "MIX") throw new UsageError("redis-benchmark has no mix");
  const result = await runRedisBenchmark({
    port: target.server.port,
    command: cell.command,
    requests,
    pipeline: cell.pipeline,
    connections: cell.connections,
    keys: cell.keys,
    valueBytes: cell.valueBytes,
    cluster: false,
    threads: 0,
    cores: options.pin.generator,
  });
  return { wanted: requests, sample: { ...result, p999Ms: undefined } };
}

/** One run on one server. `requests` counts for redis-benchmark, the time for the own generator. */
export async function measureOnce(
  target: Target,
  cell: Cell,
  options: CellOptions,
  requests: number,
  seed: number,
): Promise<Sample> {
  const callsBefore = await callsOf(target.control, cell.command);
  const cpuBefore = readCpu(target.server.pid);
  const load =
    options.generator === "own"
      ? await ownLoad(target, cell, options, seed)
      : await peerLoad(target, cell, options, requests);
  const cpuNs = cpuBetweenNs(cpuBefore, readCpu(target.server.pid));
  const calls = (await callsOf(target.control, cell.command)) - callsBefore;
  assertCalls(calls, load.wanted, cell.connections * cell.pipeline);
  return { ...load.sample, cpuNs: figure("CPU per command", cpuNs / calls) };
}

/** Warms both up, fixes the number of requests by the slower one, then measures in pairs. */
export async function measureCell(
  subject: Target,
  peer: Target,
  cell: Cell,
  options: CellOptions,
): Promise<CellResult> {
  const batch = cell.pipeline;
  const warmup = requestCount(guessedRate(cell), options.seconds / 2, batch);
  const warmupOptions = { ...options, seconds: options.seconds / 2 };
  let slowest = Number.POSITIVE_INFINITY;
  for (const target of [subject, peer]) {
    const sample = await measureOnce(target, cell, warmupOptions, warmup, 1);
    slowest = Math.min(slowest, sample.perSecond);
  }
  const requests = requestCount(slowest, options.seconds, batch);
  const run = (target: Target) => (round: number) =>
    measureOnce(target, cell, options, requests, 1000 + round);
  const { first, second } = await alternate(options.pairs, run(subject), run(peer));
  return { cell, subject: first, peer: second };
}

/** Starts the servers, connects to each, and closes everything whatever happens. */
export function withTargets<T>(
  plans: readonly ServerPlan[],
  use: (targets: readonly Target[]) => Promise<T>,
): Promise<T> {
  return withServers(plans, async (servers) => {
    const targets: Target[] = [];
    try {
      for (const server of servers) {
        targets.push({ server, control: await Control.connect(server.port) });
      }
      return await use(targets);
    } finally {
      for (const target of targets) target.control.close();
    }
  });
}

export interface Comparison {
  readonly subject: Summary;
  readonly peer: Summary;
  readonly ratio: Summary;
}

/** One figure of both servers and the ratio of the pairs. */
export function compare(result: CellResult, pick: (sample: Sample) => number): Comparison {
  const subject = result.subject.map(pick);
  const peer = result.peer.map(pick);
  return {
    subject: summarize(subject),
    peer: summarize(peer),
    ratio: pairedRatio(subject, peer),
  };
}

/** Generous bytes per key beside the value: redis-server's 12-digit keys take about 110. */
const KEY_OVERHEAD_BYTES = 160;
const MEMORY_SHARE = 0.7;

/** Refuses a keyspace that two servers at once could not hold. */
export function assertFits(keys: number, valueBytes: number, servers: number): void {
  const needed = keys * (valueBytes + KEY_OVERHEAD_BYTES) * servers;
  const room = totalmem() * MEMORY_SHARE;
  if (needed > room) {
    const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
    throw new UsageError(
      `${keys} keys of ${valueBytes} bytes in ${servers} servers need about ${gib(needed)} GiB; ` +
        `${gib(room)} GiB are allowed here`,
    );
  }
}

/** Loads every key that the command may touch; INCR's counters start at 0. */
export async function loadKeys(target: Target, cell: Cell): Promise<void> {
  const value = cell.command === "INCR" ? "0" : valueText(cell.valueBytes);
  const kind = paddedFill(keyPrefix(cell.command), value);
  await fillAndCheck(target.control, target.server.port, kind, cell.keys);
}
