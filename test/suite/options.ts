/** The command line of `npm run suite`. */

export type ServerName = "zerohop" | "redis-server";
export type Mode = "external" | "normal";

export type SuiteOptions = {
  /** Folder of a checkout of Valkey. */
  valkey: string;
  units: readonly string[];
  /** In the order in which they run. */
  servers: readonly ServerName[];
  mode: Mode;
  /** Threads of our server; null for its default. */
  threads: number | null;
  /** Seconds without a result after which a case counts as hung. */
  timeoutSeconds: number;
  /** Names and patterns of the only cases to run, as in the runner; empty for all. */
  only: readonly string[];
  /** Folder that the output of every run goes to; null to keep none. */
  logs: string | null;
};

/** Units that only need what strings, keys, connections and the server itself have. */
export const UNITS: readonly string[] = [
  "unit/type/string",
  "unit/type/incr",
  "unit/expire",
  "unit/scan",
  "unit/keyspace",
  "unit/protocol",
  "unit/info-command",
  "unit/info",
  "unit/introspection",
  "unit/introspection-2",
  "unit/querybuf",
  "unit/dump",
  "unit/latency-monitor",
  "unit/slowlog",
  "unit/maxmemory",
  "unit/lazyfree",
  "unit/other",
];

export const HELP: string = `npm run suite -- --valkey DIR [options]
  --valkey DIR      checkout of Valkey whose tests are run; it is copied, not changed
  --unit NAME       a unit such as unit/type/string; may be repeated; default: a list of ${UNITS.length}
  --only CASE       a case by its name, or by "/" and a regular expression; may be repeated
  --server NAME     zerohop or redis-server; default: both, and a comparison
  --mode MODE       external: a fresh server for each unit (default);
                    normal: the runner starts what it needs, with us in its place
  --threads N       threads of zerohop
  --timeout SECONDS without a result after which a case is hung; default 120
  --logs DIR        keeps the output of each run there
`;

export class UsageError extends Error {}

const TIMEOUT_SECONDS = 120;

export function parseOptions(args: readonly string[]): SuiteOptions {
  const units: string[] = [];
  const only: string[] = [];
  const options = {
    valkey: "",
    servers: ["redis-server", "zerohop"] as readonly ServerName[],
    mode: "external" as Mode,
    threads: null as number | null,
    timeoutSeconds: TIMEOUT_SECONDS,
    logs: null as string | null,
  };
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i] as string;
    const value = args[i + 1];
    if (value === undefined) throw new UsageError(`${name} needs a value`);
    switch (name) {
      case "--valkey":
        options.valkey = value;
        break;
      case "--unit":
        units.push(value.replace(/^tests\//, "").replace(/\.tcl$/, ""));
        break;
      case "--only":
        only.push(value);
        break;
      case "--server":
        options.servers = [oneOf(name, value, ["zerohop", "redis-server"])];
        break;
      case "--mode":
        options.mode = oneOf(name, value, ["external", "normal"]);
        break;
      case "--threads":
        options.threads = wholeNumber(name, value);
        break;
      case "--timeout":
        options.timeoutSeconds = wholeNumber(name, value);
        break;
      case "--logs":
        options.logs = value;
        break;
      default:
        throw new UsageError(`unknown option ${name}`);
    }
  }
  if (options.valkey === "") throw new UsageError("--valkey names no checkout");
  return { ...options, only, units: units.length === 0 ? UNITS : units };
}

function oneOf<T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((one) => one === value);
  if (found === undefined) throw new UsageError(`${name} is ${known.join(" or ")}, not ${value}`);
  return found;
}

function wholeNumber(name: string, value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new UsageError(`${name} is a number, not ${value}`);
  return Number(value);
}
