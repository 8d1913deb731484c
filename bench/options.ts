/**
 * Command-line options of the bench, the gate and the targets.
 *
 * Nothing is guessed: an unknown option, a missing or malformed value or one out of range is a
 * `UsageError`, which the entries print and turn into exit code 2.
 */

export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

const COMMANDS = ["GET", "SET", "INCR", "MSET", "MIX"] as const;
export type BenchCommand = (typeof COMMANDS)[number];

const SUBJECTS = ["zerohop", "redis-server"] as const;
/** What is measured beside redis-server: ours, or redis-server itself to check the bench. */
export type Subject = (typeof SUBJECTS)[number];

const GENERATORS = ["redis-benchmark", "own"] as const;
export type Generator = (typeof GENERATORS)[number];

export interface Options {
  readonly subject: Subject;
  /** Node executable that runs our server; the bench itself stays on its own. */
  readonly node: string;
  /** Entry of our server; undefined is `dist/main.js` of this checkout. */
  readonly entry: string | undefined;
  readonly commands: readonly BenchCommand[];
  readonly pipelines: readonly number[];
  readonly values: readonly number[];
  readonly keys: readonly number[];
  readonly threads: readonly number[];
  readonly connections: number;
  readonly pairs: number;
  /** Wanted length of one measurement; the number of requests follows from it. */
  readonly seconds: number;
  readonly pin: boolean;
  readonly generator: Generator;
  readonly smoke: boolean;
}

export const DEFAULTS: Options = {
  subject: "zerohop",
  node: process.execPath,
  entry: undefined,
  commands: ["GET", "SET", "INCR", "MSET"],
  pipelines: [1, 16, 64],
  values: [3],
  keys: [100_000],
  threads: [1],
  connections: 50,
  pairs: 5,
  seconds: 2,
  pin: false,
  generator: "redis-benchmark",
  smoke: false,
};

/** Tiny settings: every code path runs, no figure means anything. */
export const SMOKE: Options = {
  ...DEFAULTS,
  commands: ["GET", "MSET"],
  pipelines: [16],
  keys: [2000],
  connections: 8,
  pairs: 1,
  seconds: 0.1,
  smoke: true,
};

const REQUEST_LIMIT = 1_000_000_000;

/** `100k`, `1m`, `10000000`: a whole number within the limits. */
export function parseCount(name: string, text: string, min: number, max: number): number {
  const match = /^(\d{1,10})([km]?)$/i.exec(text);
  if (match === null) throw new UsageError(`${name}: '${text}' is not a whole number`);
  const unit = match[2]?.toLowerCase() === "k" ? 1e3 : match[2] === "" ? 1 : 1e6;
  const value = Number(match[1]) * unit;
  if (value < min || value > max) {
    throw new UsageError(`${name}: ${text} is not within ${min}..${max}`);
  }
  return value;
}

export function parseSeconds(name: string, text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 0.05 && value <= 120)) {
    throw new UsageError(`${name}: '${text}' is not within 0.05..120 seconds`);
  }
  return value;
}

function parseChoice<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
  if (found === undefined) {
    throw new UsageError(`${name}: '${text}' is none of ${choices.join(", ")}`);
  }
  return found;
}

function list<T>(name: string, text: string, one: (name: string, item: string) => T): T[] {
  const items = text.split(",").map((item) => one(name, item.trim()));
  if (new Set(items).size !== items.length) throw new UsageError(`${name}: '${text}' repeats`);
  return items;
}

const counts =
  (min: number, max: number) =>
  (name: string, text: string): number[] =>
    list(name, text, (label, item) => parseCount(label, item, min, max));

type Change = Partial<{ -readonly [K in keyof Options]: Options[K] }>;

const READERS: Readonly<Record<string, (name: string, text: string) => Change>> = {
  "--subject": (name, text) => ({ subject: parseChoice(name, text, SUBJECTS) }),
  "--node": (_name, text) => ({ node: text }),
  "--entry": (_name, text) => ({ entry: text }),
  "--commands": (name, text) => ({
    commands: list(name, text, (label, item) => parseChoice(label, item, COMMANDS)),
  }),
  "--pipelines": (name, text) => ({ pipelines: counts(1, 10_000)(name, text) }),
  "--values": (name, text) => ({ values: counts(1, 1 << 20)(name, text) }),
  "--keys": (name, text) => ({ keys: counts(1, 100_000_000)(name, text) }),
  "--threads": (name, text) => ({ threads: counts(1, 256)(name, text) }),
  "--connections": (name, text) => ({ connections: parseCount(name, text, 1, 10_000) }),
  "--pairs": (name, text) => ({ pairs: parseCount(name, text, 1, 100) }),
  "--seconds": (name, text) => ({ seconds: parseSeconds(name, text) }),
  "--generator": (name, text) => ({ generator: parseChoice(name, text, GENERATORS) }),
};

const FLAGS: Readonly<Record<string, Change>> = {
  "--pin": { pin: true },
  "--no-pin": { pin: false },
};

export const OPTION_HELP: readonly string[] = [
  "--commands get,set,incr,mset   mix is 9 GET to 1 SET, own generator only",
  "--pipelines 1,16,64  --values 3  --keys 100k  --threads 1  --connections 50",
  "--pairs 5  --seconds 2  --pin | --no-pin  --generator redis-benchmark | own",
  "--node PATH  --entry dist/main.js  --subject zerohop | redis-server",
];

/** Reads `--name value` and `--name=value`; later options win over earlier ones. */
export function parseOptions(args: readonly string[], base: Options): Options {
  const options: Change & Options = { ...base };
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string;
    const equals = argument.indexOf("=");
    const name = equals < 0 ? argument : argument.slice(0, equals);
    const flag = FLAGS[name];
    if (flag !== undefined) {
      if (equals >= 0) throw new UsageError(`${name} takes no value`);
      Object.assign(options, flag);
      continue;
    }
    const reader = READERS[name];
    if (reader === undefined) throw new UsageError(`unknown option '${argument}'`);
    const text = equals < 0 ? args[++i] : argument.slice(equals + 1);
    if (text === undefined || text === "") throw new UsageError(`${name} needs a value`);
    Object.assign(options, reader(name, text));
  }
  if (options.generator === "redis-benchmark" && options.commands.includes("MIX")) {
    throw new UsageError("--commands mix needs --generator own");
  }
  return options;
}

/** Most requests of one measurement, whatever the rate: generators are bounded in count too. */
export function requestCount(perSecond: number, seconds: number, batch: number): number {
  const wanted = Math.ceil((perSecond * seconds) / batch) * batch;
  return Math.min(Math.max(wanted, batch), REQUEST_LIMIT);
}

export interface PinPlan {
  readonly server: string | undefined;
  readonly generator: string | undefined;
  readonly note: string;
}

/**
 * Which cores server and generator get. The server has the first cores, one per thread, the
 * generator the others; where none is left the generator runs unpinned and the note says so.
 */
export function pinPlan(cores: readonly number[], threads: number, pin: boolean): PinPlan {
  if (!pin) return { server: undefined, generator: undefined, note: "unpinned" };
  const server = cores.slice(0, threads);
  const rest = cores.slice(threads);
  if (server.length < threads) {
    throw new UsageError(`--pin: ${threads} threads need as many cores, there are ${cores.length}`);
  }
  if (rest.length === 0) {
    return {
      server: server.join(","),
      generator: undefined,
      note: "pinned server, generator on the same cores",
    };
  }
  return { server: server.join(","), generator: rest.join(","), note: "pinned" };
}
