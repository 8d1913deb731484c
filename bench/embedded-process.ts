/**
 * One measurement of row `embedded`: a cache in a process of its own, filled and used, the figures
 * on standard output as JSON. Time is that of the main thread on a core; beside it are waits of
 * single calls, resident memory, and the span of the clock in which the collector's pauses count.
 *
 *   node --expose-gc embedded-process.js SUBJECT KEYS VALUE_BYTES CALLS
 */
import { readFileSync } from "node:fs";
import { open } from "../src/index.ts";
import { traceClock } from "./collector-pauses.ts";
import { type EmbeddedFigures, type EmbeddedSubject, PERCENTILES } from "./embedded-figures.ts";
import { figure } from "./stats.ts";
import { KeyPicker } from "./workload.ts";

type Cache = { get(key: string): unknown; set(key: string, value: string): unknown };

/** As far as it is used here; looked up by name, since nothing else of the repository needs it. */
type LruModule = { LRUCache: new (options: { max: number }) => Cache };

const LRU_PACKAGE: string = "lru-cache";
const KEPT_KEYS_MAX = 1_000_000;
const TIMED_CALLS = 100_000;
const ROUNDS = 3;

async function makeCache(subject: EmbeddedSubject, keys: number): Promise<Cache> {
  if (subject === "Map") return new Map<string, string>();
  if (subject === "store") return open();
  if (subject === "nothing") return { get: () => "", set: () => undefined };
  const { LRUCache } = (await import(LRU_PACKAGE)) as LruModule;
  return new LRUCache({ max: keys });
}

/** Nanoseconds that this thread has been on a core. */
function cpuNs(): number {
  return figure("schedstat", readFileSync("/proc/thread-self/schedstat", "latin1").split(" ")[0]);
}

/**
 * In base 36, since V8 keeps the decimal texts of thousands of numbers for ever: each scavenge
 * would copy them, which takes longer than all that the store leaves alive.
 */
function keyOf(index: number): string {
  return `key:${index.toString(36)}`;
}

/** Values differ, so that no two entries share one. */
function valueOf(index: number, bytes: number): string {
  return `v${index.toString(36)}`.padEnd(bytes, "x");
}

let sink = 0;

/** GET of keys that the application makes for the call. */
function getMade(cache: Cache, order: Uint32Array): void {
  for (let i = 0; i < order.length; i++) {
    sink += (cache.get(keyOf(order[i] as number)) as string).length;
  }
}

function setMade(cache: Cache, order: Uint32Array, bytes: number): void {
  for (let i = 0; i < order.length; i++) cache.set(keyOf(order[i] as number), valueOf(i, bytes));
}

/** GET of keys that the application has kept since they were set. */
function getKept(cache: Cache, order: Uint32Array, kept: readonly string[]): void {
  const n = kept.length;
  for (let i = 0; i < order.length; i++) {
    sink += (cache.get(kept[(order[i] as number) % n] as string) as string).length;
  }
}

function setKept(cache: Cache, order: Uint32Array, kept: readonly string[], bytes: number): void {
  const n = kept.length;
  for (let i = 0; i < order.length; i++) {
    cache.set(kept[(order[i] as number) % n] as string, valueOf(i, bytes));
  }
}

/** The least of a few rounds: what disturbs only adds. */
function timed(calls: number, run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const began = cpuNs();
    run();
    least = Math.min(least, (cpuNs() - began) / calls);
  }
  return least;
}

/** Percentiles of single calls, the clock's own cost included. */
function waits(order: Uint32Array, run: (index: number) => unknown): number[] {
  const count = Math.min(order.length, TIMED_CALLS);
  const found = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    if (run(order[i] as number) !== undefined) sink++;
    found[i] = (performance.now() - began) * 1000;
  }
  found.sort();
  return PERCENTILES.map(
    (thousandths) => found[Math.floor((count * thousandths) / 1000)] as number,
  );
}

async function measure(
  subject: EmbeddedSubject,
  keys: number,
  bytes: number,
  calls: number,
): Promise<EmbeddedFigures> {
  const collect = (globalThis as { gc?: () => void }).gc;
  if (collect === undefined) throw new Error("run with --expose-gc");
  const picker = new KeyPicker(1, keys, undefined);
  const order = Uint32Array.from({ length: calls }, () => picker.next());
  const cache = await makeCache(subject, keys);
  collect();
  const before = process.memoryUsage.rss();
  const pausesFrom = traceClock();
  const began = cpuNs();
  for (let i = 0; i < keys; i++) cache.set(keyOf(i), valueOf(i, bytes));
  const fillNs = (cpuNs() - began) / keys;
  const bytesPerEntry = (process.memoryUsage.rss() - before) / keys;
  const getNs = timed(calls, () => getMade(cache, order));
  const setNs = timed(calls, () => setMade(cache, order, bytes));
  const getWaits = waits(order, (n) => cache.get(keyOf(n)));
  const setWaits = waits(order, (n) => cache.set(keyOf(n), valueOf(n, bytes)));
  const pausesTo = traceClock();
  const kept = Array.from({ length: Math.min(keys, KEPT_KEYS_MAX) }, (_, i) => keyOf(i));
  for (const [i, key] of kept.entries()) cache.set(key, valueOf(i, bytes));
  return {
    fillNs,
    getNs,
    setNs,
    keptGetNs: timed(calls, () => getKept(cache, order, kept)),
    keptSetNs: timed(calls, () => setKept(cache, order, kept, bytes)),
    getWaits,
    setWaits,
    bytesPerEntry,
    pausesFrom,
    pausesTo,
  };
}

const [subject, keys, bytes, calls] = process.argv.slice(2);
if (subject !== undefined) {
  const figures = await measure(
    subject as EmbeddedSubject,
    figure("keys", keys),
    figure("bytes", bytes),
    figure("calls", calls),
  );
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  process.exit(sink < 0 ? 1 : 0);
}
