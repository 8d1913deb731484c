/**
 * Row `heap`: the JavaScript heap of our server with no keys and with many. Keys live in shared
 * buffers, so it must not grow with them.
 *
 * `js_heap_used` swings between collections. The figure is therefore the least of many looks while
 * a light load keeps the collector going; before the first look the same kind of load, and keys
 * that came and went, have made whatever is made once.
 */
import { type Info, info } from "../control.ts";
import { fill, fillAndCheck } from "../fill.ts";
import { assertFits, type Target, withTargets } from "../measure.ts";
import { type Options, UsageError } from "../options.ts";
import { progress, type Row } from "../row.ts";
import { planServer } from "../server.ts";
import { figure, MissingFigure } from "../stats.ts";
import { formatCount, type Table } from "../table.ts";
import { modelDelete, modelFill } from "../workload.ts";

/** The server refreshes its figure a few times a second at most. */
const LOOKS = 160;
const LOOK_MS = 50;
const LOAD_KEYS = 5000;
/** Beyond the keys of the row, so that the load never touches them. */
const LOAD_FROM = 1_000_000_000;

/** Bytes of JavaScript heap: of each thread where INFO has them apart, else one total. */
export function jsHeapUsed(fields: Info): number[] {
  const threads: number[] = [];
  for (const [name, value] of fields) {
    const match = /(?:^|,)js_heap_used=([^,]*)/.exec(value);
    if (!/^thread_?\d+$/.test(name) || match === null) continue;
    threads.push(figure(`${name} js_heap_used`, match[1]));
  }
  if (threads.length > 0) return threads;
  const total = fields.get("js_heap_used");
  if (total === undefined) throw new MissingFigure("INFO threads has no js_heap_used");
  return [figure("js_heap_used", total)];
}

/** Sets and deletes over connections of their own, enough of them to keep every thread busy. */
async function lightLoad(port: number, lanes: number): Promise<void> {
  const lane = async (number: number): Promise<void> => {
    const from = LOAD_FROM + number * LOAD_KEYS;
    await fill(port, modelFill("embstr"), from, from + LOAD_KEYS);
    await fill(port, modelDelete(), from, from + LOAD_KEYS);
  };
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
}

/** The least heap seen while a light load runs, thread by thread where they are told apart. */
async function leastHeap(target: Target, lanes: number, looks: number): Promise<number> {
  let least: number[] = [];
  let loading = true;
  const load = (async (): Promise<void> => {
    while (loading) await lightLoad(target.server.port, lanes);
  })();
  // Awaited below; a look that fails first must not leave it unhandled.
  load.catch(() => undefined);
  try {
    for (let i = 0; i < looks; i++) {
      const now = jsHeapUsed(await info(target.control, "threads"));
      least = i === 0 ? now : now.map((bytes, at) => Math.min(bytes, least[at] as number));
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    loading = false;
    await load;
  }
  return least.reduce((sum, bytes) => sum + bytes, 0);
}

export interface HeapResult {
  readonly emptyBytes: number;
  readonly fullBytes: number;
  readonly threads: number;
}

export function measureHeap(options: Options, keys: number): Promise<HeapResult> {
  if (options.subject !== "zerohop") throw new UsageError("heap: redis-server has no such heap");
  assertFits(keys, 16, 1);
  const threads = options.threads[0] as number;
  const looks = options.smoke ? 3 : LOOKS;
  const lanes = 4 * threads;
  return withTargets([planServer(options, "zerohop", threads, undefined)], async ([only]) => {
    const target = only as Target;
    const { port } = target.server;
    progress(`heap: ${threads} threads, no keys`);
    const warm = Math.min(keys, 200_000);
    await fillAndCheck(target.control, port, modelFill("embstr"), warm);
    await fill(port, modelDelete(), 0, warm);
    await leastHeap(target, lanes, looks);
    const emptyBytes = await leastHeap(target, lanes, looks);
    progress(`heap: ${threads} threads, ${keys} keys`);
    await fillAndCheck(target.control, port, modelFill("embstr"), keys);
    await leastHeap(target, lanes, looks);
    return { emptyBytes, fullBytes: await leastHeap(target, lanes, looks), threads };
  });
}

export const heap: Row = {
  name: "heap",
  summary: "JavaScript heap with no keys and with many",
  defaults: { keys: [10_000_000], threads: [2] },
  async run(options): Promise<Table> {
    const columns = ["keys", "threads", "empty MiB", "full MiB", "growth MiB per thread"];
    const title = "heap: js_heap_used of all threads";
    if (options.subject !== "zerohop") {
      return { title, columns, rows: [], notes: ["redis-server has no JavaScript heap."] };
    }
    const rows: string[][] = [];
    const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);
    for (const keys of options.keys) {
      const found = await measureHeap(options, keys);
      const growth = (found.fullBytes - found.emptyBytes) / found.threads;
      const cells = [mib(found.emptyBytes), mib(found.fullBytes), mib(growth)];
      rows.push([formatCount(keys), String(found.threads), ...cells]);
    }
    return { title, columns, rows, notes: [] };
  },
};
