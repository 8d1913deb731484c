/**
 * The figures this project promises, as named targets: `npm run bench -- targets`.
 *
 * Each measurement is taken once and serves all the targets that need it. A measurement that fails
 * makes its targets "not measured" and the run goes on; the exit code then is 3.
 */

import { type CellResult, compare } from "./measure.ts";
import { DEFAULTS, type Options, parseOptions, UsageError } from "./options.ts";
import { progress } from "./row.ts";
import { measureCpuGrid } from "./rows/cpu.ts";
import { measureHeap } from "./rows/heap.ts";
import { measureBytesPerKey } from "./rows/memory.ts";
import type { OwnersClient } from "./rows/owner-clients.ts";
import { measureOwners } from "./rows/owners.ts";
import { measureStartup } from "./rows/startup.ts";
import { planServer } from "./server.ts";
import { figure, MissingFigure, quantile, type Summary } from "./stats.ts";
import { formatNumber, formatTable } from "./table.ts";
import { type Bound, exitCodeOf, judge, type Outcome, type Verdict } from "./verdict.ts";
import { MODELS, type Model } from "./workload.ts";

interface Figure {
  readonly value: number;
  readonly detail: string;
}

interface TargetSpec extends Bound {
  readonly name: string;
  /** What is measured and how, in one line. */
  readonly text: string;
  measure(session: Session): Promise<Figure>;
}

/** Results shared by several targets, measured on first use. */
class Session {
  readonly options: Options;
  readonly #results: Map<string, Promise<unknown>>;

  constructor(options: Options) {
    this.options = options;
    this.#results = new Map();
  }

  once<T>(name: string, measure: () => Promise<T>): Promise<T> {
    const known = this.#results.get(name);
    if (known !== undefined) return known as Promise<T>;
    const fresh = measure();
    this.#results.set(name, fresh);
    return fresh;
  }
}

/**
 * A core of a virtual machine can be a third faster from one second to the next, and one process a
 * tenth slower than the next all its life. So: many short pairs, and fresh servers several times.
 */
const SHORT_PAIRS = { pairs: 15, seconds: 0.3 };
const FRESH_SERVERS = 3;
/** Whatever disturbs a run adds to it: the fastest runs say most about the code. */
const FAST = 0.1;

function range(summary: Summary): string {
  return `${formatNumber(summary.min)}..${formatNumber(summary.max)}`;
}

function middleHalf({ middle: [low, high] }: Summary): string {
  return `${formatNumber(low)}..${formatNumber(high)}`;
}

function pinnedGrid(session: Session): Promise<CellResult[]> {
  return session.once("pinned", async () => {
    const all: CellResult[] = [];
    for (let n = 0; n < FRESH_SERVERS; n++) {
      const some = await measureCpuGrid({
        ...session.options,
        ...SHORT_PAIRS,
        commands: ["GET", "SET"],
        pipelines: [1, 16, 64],
        threads: [1],
        pin: true,
        generator: "redis-benchmark",
      });
      all.push(...some);
    }
    return all;
  });
}

/** The ratio of the fastest runs of both. */
function fastRatio({ subject, peer }: CellResult): number {
  const fast = (samples: CellResult["subject"]): number =>
    quantile(
      samples.map((sample) => sample.cpuNs),
      FAST,
    );
  return fast(subject) / fast(peer);
}

function cpuTarget(
  command: "GET" | "SET",
  pipeline: number,
  bound: number,
  goal: number,
): TargetSpec {
  return {
    name: `cpu-${command.toLowerCase()}-p${pipeline}`,
    text: `CPU per ${command} at pipeline ${pipeline}, pinned, of redis-server's`,
    direction: "at most",
    bound,
    goal,
    unit: "x",
    async measure(session): Promise<Figure> {
      const grid = await pinnedGrid(session);
      const runs = grid.filter(
        ({ cell }) => cell.command === command && cell.pipeline === pipeline,
      );
      const first = runs[0];
      if (first === undefined) throw new MissingFigure(`${command} P${pipeline} in the grid`);
      const result: CellResult = {
        cell: first.cell,
        subject: runs.flatMap(({ subject }) => subject),
        peer: runs.flatMap(({ peer }) => peer),
      };
      const { ratio } = compare(result, (sample) => sample.cpuNs);
      const detail = `${middleHalf(ratio)}, fast ${formatNumber(fastRatio(result))}`;
      return { value: ratio.median, detail };
    },
  };
}

const SCALING_RUNS = 3;

function scalingTarget(command: "GET" | "SET"): TargetSpec {
  return {
    name: `threads-2-${command.toLowerCase()}`,
    text: `throughput of ${command} with 2 threads at pipeline 64, worst of 3, own generator`,
    direction: "at least",
    bound: 1.4,
    unit: "x",
    async measure(session): Promise<Figure> {
      const grid = await session.once("threads-2", () =>
        measureCpuGrid({
          ...session.options,
          commands: ["GET", "SET"],
          pipelines: [64],
          threads: [2],
          pairs: SCALING_RUNS,
          pin: false,
          generator: "own",
        }),
      );
      const result = grid.find(({ cell }) => cell.command === command);
      if (result === undefined) throw new MissingFigure(`${command} with 2 threads`);
      const { ratio } = compare(result, (sample) => sample.perSecond);
      return { value: ratio.min, detail: range(ratio) };
    },
  };
}

function ownersTarget(client: OwnersClient): TargetSpec {
  return {
    name: `plain-port-${client}`,
    text: `throughput of the plain port of the owner ports', ${client}, worse of GET and SET`,
    direction: "at least",
    bound: 0.95,
    unit: "x",
    async measure(session): Promise<Figure> {
      if (session.options.subject !== "zerohop") {
        throw new MissingFigure("redis-server has no owner ports");
      }
      const options = { ...session.options, threads: [2], pipelines: [16], pin: false };
      const results = await measureOwners(options, [client]);
      const worst = [...results].sort((a, b) => a.ratio.median - b.ratio.median)[0];
      if (worst === undefined) throw new MissingFigure(`owner ports under ${client}`);
      return { value: worst.ratio.median, detail: `${worst.command} ${range(worst.ratio)}` };
    },
  };
}

const BYTES_BOUNDS: Readonly<Record<Model, number>> = { int: 36, embstr: 46, raw: 290 };

function bytesTarget(model: Model, keys: number, label: string): TargetSpec {
  return {
    name: `bytes-${model}-${label}`,
    text: `bytes per key, ${model} values, ${label} keys`,
    direction: "at most",
    bound: BYTES_BOUNDS[model],
    unit: " bytes",
    async measure({ options }): Promise<Figure> {
      const plan = planServer(options, options.subject, 1, undefined);
      const found = await measureBytesPerKey(plan, model, keys);
      return { value: found.used, detail: `active ${found.active.toFixed(1)}` };
    },
  };
}

const STARTS = 10;

const startupTarget: TargetSpec = {
  name: "first-pong",
  text: "first PONG of the packed tarball, median of 10 starts",
  direction: "at most",
  bound: 250,
  unit: " ms",
  async measure({ options }): Promise<Figure> {
    const found = await measureStartup({ ...options, pairs: STARTS });
    return { value: found.subject.median, detail: range(found.subject) };
  },
};

const HEAP_KEYS = 10_000_000;

const heapTarget: TargetSpec = {
  name: "js-heap",
  text: "growth of the JavaScript heap per thread from 0 to 10 M keys",
  direction: "at most",
  bound: 2,
  unit: " MiB",
  async measure({ options }): Promise<Figure> {
    const found = await measureHeap({ ...options, threads: [2] }, HEAP_KEYS);
    const growth = (found.fullBytes - found.emptyBytes) / found.threads / 2 ** 20;
    return { value: growth, detail: `${found.threads} threads` };
  },
};

const TARGETS: readonly TargetSpec[] = [
  ...(["GET", "SET"] as const).flatMap((command) => [
    cpuTarget(command, 1, 1.1, 1.0),
    cpuTarget(command, 16, 0.95, 0.8),
    cpuTarget(command, 64, 0.9, 0.75),
  ]),
  scalingTarget("GET"),
  scalingTarget("SET"),
  ownersTarget("own"),
  ownersTarget("redis-benchmark"),
  ownersTarget("ioredis"),
  ...MODELS.map((model) => bytesTarget(model, 100_000, "100k")),
  ...MODELS.map((model) => bytesTarget(model, 1_000_000, "1m")),
  startupTarget,
  heapTarget,
];

async function outcomeOf(target: TargetSpec, session: Session): Promise<Outcome> {
  progress(`target ${target.name}`);
  try {
    const { value, detail } = await target.measure(session);
    return { kind: "figure", value: figure(target.name, value), detail };
  } catch (error) {
    // Whatever stopped a measurement, the others still have their say.
    const reason = error instanceof Error ? (error.message.split("\n")[0] as string) : "unknown";
    return { kind: "missing", reason };
  }
}

function select(names: string | undefined): readonly TargetSpec[] {
  if (names === undefined) return TARGETS;
  const wanted = names.split(",");
  for (const name of wanted) {
    if (!TARGETS.some((target) => target.name.startsWith(name))) {
      const all = TARGETS.map((target) => target.name).join(", ");
      throw new UsageError(`--only: no target starts with '${name}'; there are ${all}`);
    }
  }
  return TARGETS.filter((target) => wanted.some((name) => target.name.startsWith(name)));
}

function takeOnly(args: readonly string[]): { only: string | undefined; rest: string[] } {
  const at = args.indexOf("--only");
  if (at < 0) return { only: undefined, rest: [...args] };
  const only = args[at + 1];
  if (only === undefined || only === "") throw new UsageError("--only needs names");
  return { only, rest: args.filter((_, index) => index !== at && index !== at + 1) };
}

function cells(target: TargetSpec, outcome: Outcome, verdict: Verdict): string[] {
  const measured = outcome.kind === "figure";
  return [
    target.name,
    measured ? formatNumber(outcome.value) : "-",
    measured ? outcome.detail : "-",
    `${target.direction === "at most" ? "<=" : ">="} ${target.bound}${target.unit}`,
    target.goal === undefined ? "" : String(target.goal),
    verdict.text,
    target.text,
  ];
}

/** Measures, prints and returns the exit code. */
export async function runTargets(
  args: readonly string[],
  print: (text: string) => void,
): Promise<number> {
  const { only, rest } = takeOnly(args);
  const session = new Session(parseOptions(rest, DEFAULTS));
  const chosen = select(only);
  const verdicts: Verdict[] = [];
  const rows: string[][] = [];
  for (const target of chosen) {
    const outcome = await outcomeOf(target, session);
    const verdict = judge(target, outcome);
    verdicts.push(verdict);
    rows.push(cells(target, outcome, verdict));
  }
  const count = (kind: Verdict["kind"]): number =>
    verdicts.filter((verdict) => verdict.kind === kind).length;
  const { subject, node } = session.options;
  const notes = [
    `${count("pass")} passed, ${count("short")} short, ${count("missing")} not measured, ` +
      `${TARGETS.length - chosen.length} left out.`,
  ];
  if (subject !== "zerohop") notes.push(`Subject is ${subject}: a check of the bench only.`);
  print(
    formatTable({
      title: `targets: ${subject} on ${node}`,
      columns: [
        "target",
        "figure",
        "range; cpu: middle half, fastest tenth",
        "bound",
        "goal",
        "verdict",
        "what",
      ],
      rows,
      notes,
    }),
  );
  return exitCodeOf(verdicts);
}
