/**
 * Row `embedded`: the store in an application's process beside what it would use there otherwise,
 * lru-cache and a plain Map. Each measurement has a process of its own; subjects take turns.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { type CollectorPauses, traceFile } from "../collector-pauses.ts";
import {
  EMBEDDED_SUBJECTS,
  type EmbeddedFigures,
  type EmbeddedSubject,
  PERCENTILES,
} from "../embedded-figures.ts";
import type { Options } from "../options.ts";
import { progress, type Row } from "../row.ts";
import { MissingFigure, median } from "../stats.ts";
import { formatCount, formatNumber, type Table } from "../table.ts";

const CALLS = 1_000_000;
const SMOKE_CALLS = 2000;
const PROCESS = join(import.meta.dirname, "../embedded-process.js");
/** Ten million entries of a Map do not fit Node's own bound on every machine. */
const NODE_FLAGS = ["--expose-gc", "--max-old-space-size=8192"];

type Found = EmbeddedFigures & CollectorPauses;
type Figure = { name: string; of(figures: Found): number; most: number };

/** How much of the peers' the store may take. */
const TIMES_MOST = 3;
const MEMORY_MOST = 0.5;
const PAUSE_MOST = 0.1;

const FIGURES: readonly Figure[] = [
  { name: "fill, ns", of: (f) => f.fillNs, most: TIMES_MOST },
  { name: "GET, ns", of: (f) => f.getNs, most: TIMES_MOST },
  { name: "SET, ns", of: (f) => f.setNs, most: TIMES_MOST },
  { name: "GET of a kept key, ns", of: (f) => f.keptGetNs, most: TIMES_MOST },
  { name: "SET of a kept key, ns", of: (f) => f.keptSetNs, most: TIMES_MOST },
  ...percentiles("GET", (f) => f.getWaits),
  ...percentiles("SET", (f) => f.setWaits),
  { name: "resident bytes per entry", of: (f) => f.bytesPerEntry, most: MEMORY_MOST },
  { name: "longest pause, ms of CPU", of: (f) => f.longestCpuMs, most: PAUSE_MOST },
  { name: "longest pause by the clock, ms", of: (f) => f.longestMs, most: Number.NaN },
  { name: "all pauses, ms of CPU", of: (f) => f.sumCpuMs, most: Number.NaN },
];

function percentiles(name: string, waits: (f: Found) => readonly number[]): Figure[] {
  return PERCENTILES.map((thousandths, i) => ({
    name: `${name} p${thousandths / 10}, µs`,
    of: (f) => waits(f)[i] as number,
    most: Number.NaN,
  }));
}

function measure(
  options: Options,
  subject: EmbeddedSubject,
  keys: number,
  bytes: number,
): Promise<Found> {
  const calls = options.smoke ? SMOKE_CALLS : CALLS;
  const words = [PROCESS, subject, keys, bytes, calls].map(String);
  const trace = traceFile();
  return new Promise<Found>((resolve, reject) => {
    const child = spawn(options.node, [...NODE_FLAGS, ...trace.flags, ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) {
        reject(new MissingFigure(`${subject} with ${keys} keys: it ended with ${code}`));
        return;
      }
      const figures = JSON.parse(printed) as EmbeddedFigures;
      resolve({ ...figures, ...trace.pauses(figures.pausesFrom, figures.pausesTo) });
    });
  }).finally(trace.remove);
}

function ratio(mine: number, other: number, most: number): string {
  // Too short for the clock of the system, in a tiny run.
  if (other === 0) return "-";
  const times = mine / other;
  return `${times.toFixed(2)}x${times > most ? " !" : ""}`;
}

async function rowsOf(options: Options, keys: number, bytes: number): Promise<string[][]> {
  const found = new Map<EmbeddedSubject, Found[]>();
  for (let round = 0; round < options.pairs; round++) {
    for (let turn = 0; turn < EMBEDDED_SUBJECTS.length; turn++) {
      const subject = EMBEDDED_SUBJECTS[
        (turn + round) % EMBEDDED_SUBJECTS.length
      ] as EmbeddedSubject;
      progress(`embedded ${subject}, ${keys} keys of ${bytes} bytes, round ${round + 1}`);
      const list = found.get(subject) ?? [];
      list.push(await measure(options, subject, keys, bytes));
      found.set(subject, list);
    }
  }
  return FIGURES.map(({ name, of, most }) => {
    const [store = 0, lru = 0, map = 0, nothing = 0] = EMBEDDED_SUBJECTS.map((subject) =>
      median((found.get(subject) ?? []).map(of)),
    );
    return [
      formatCount(keys),
      String(bytes),
      name,
      ...[store, lru, map, nothing].map(formatNumber),
      ratio(store, lru, most),
      ratio(store, map, most),
      Number.isNaN(most) ? "" : `${most}x`,
    ];
  });
}

export const embedded: Row = {
  name: "embedded",
  summary: "the store in process beside lru-cache and a plain Map",
  defaults: { keys: [1_000_000], values: [16], pairs: 3 },
  async run(options): Promise<Table> {
    const rows: string[][] = [];
    for (const keys of options.keys) {
      for (const bytes of options.values) rows.push(...(await rowsOf(options, keys, bytes)));
    }
    return {
      title: `embedded: the store beside lru-cache and Map, medians of ${options.pairs} rounds`,
      columns: [
        "keys",
        "value",
        "figure",
        "store",
        "lru-cache",
        "Map",
        "nothing",
        "/ lru-cache",
        "/ Map",
        "at most",
      ],
      rows,
      notes: [
        "Keys key:<i in base 36> in random order, made for each call; kept: from an array of up to a",
        "million, whose strings a Map knows by their address. ns: of the main thread on a core. µs:",
        "single calls with the clock's own cost. Bytes: resident memory after the fill. Pauses of the",
        "collector in fill, GET and SET; by the clock the machine's own stalls are in them. nothing: the",
        "same loop without a cache. A ! is beyond what is wanted.",
      ],
    };
  },
};
