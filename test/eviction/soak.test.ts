/**
 * A full cache under values whose sizes change, on four threads: never over maxmemory by more than
 * a hundredth, no write refused, and no long stretch of eviction. Sizes go from 10 bytes to 200 KB,
 * in phases that make all of what was there give way. Takes ten minutes with ZEROHOP_LONG=1.
 *
 * That nothing stalls is shown by counters: the most that was done in one stretch of eviction and
 * under one lock. Lengths of time are shown and not judged, since on a busy machine they measure
 * the neighbours.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ZipfPicker } from "../../bench/eviction-trace.ts";
import { SLICE_KEYS_MAX, SLICE_VISITS_MAX } from "../../src/server/memory-gate.ts";
import { isLong, needsOurs } from "../support/environment.ts";
import { Random, seedText, testSeed } from "../support/random.ts";
import type { Argument, RespClient } from "../support/resp.ts";
import { show, textOf } from "../support/resp-parser.ts";
import { type Server, startZeroHop } from "../support/servers.ts";

const MB = 2 ** 20;
const MAXMEMORY = 100 * MB;
const SECONDS = isLong ? 600 : 10;
/** Rounds of a connection with sizes of one kind. */
const PHASE_ROUNDS = isLong ? 500 : 12;
/** Sizes of every kind come, however slow the machine is. */
const ROUNDS_MIN = 3 * PHASE_ROUNDS;
const CONNECTIONS = 8;
const PIPELINE = 16;
const KEYS = 200_000;
const LOOK_MS = 10;
/** The last step of a stretch, and of what is done under one lock, may go on from just below. */
const LAST_STEP = 16;
/** What may be done under one lock, whatever the command; see memory/work.ts. */
const LOCK_VISITS_MAX = 4096;
const LOCK_MOVES_MAX = 512;

const VALUE_MAX = 200_000;
const APPENDED = 64;
const VALUES = Buffer.alloc(VALUE_MAX, "0123456789abcdef");
/** The longest string that is no block of its own, and what is appended to it. */
const LOCK_COPIES_MAX = 65_536 + APPENDED;

/** Bytes of a value, by the phase: small ones, large ones, or all sizes with equal weight. */
function sizeOf(phase: number, random: Random): number {
  if (phase % 3 === 0) return 10 + random.below(500);
  if (phase % 3 === 1) return 20_000 + random.below(180_000);
  return Math.floor(10 ** (1 + random.below(4301) / 1000));
}

function writeWords(key: string, size: number, random: Random): Argument[] {
  const value = VALUES.subarray(0, size);
  const draw = random.below(20);
  if (draw === 0) return ["MSET", key, value, `${key}:twin`, value.subarray(0, size >> 2)];
  if (draw === 1) return ["APPEND", key, value.subarray(0, APPENDED)];
  if (draw === 2) return ["DEL", key];
  return ["SET", key, value, "EX", 1000 + random.below(100_000)];
}

type Figures = { calls: number; reads: number; hits: number };

async function work(client: RespClient, n: number, seed: number, until: number): Promise<Figures> {
  const random = new Random(seed + n);
  const picker = new ZipfPicker(KEYS, 0.99, seed * 31 + n);
  const figures: Figures = { calls: 0, reads: 0, hits: 0 };
  for (let round = 0; round < ROUNDS_MIN || performance.now() < until; round++) {
    const phase = Math.floor(round / PHASE_ROUNDS);
    const keys = Array.from({ length: PIPELINE }, () => `key:${picker.next()}`);
    const found = await client.pipeline(keys.map((key) => ["GET", key]));
    const missing = keys.filter((_, i) => found[i]?.reply.mark === "_" || isNil(found[i]));
    figures.reads += keys.length;
    figures.hits += keys.length - missing.length;
    const writes = missing.map((key) => writeWords(key, sizeOf(phase, random), random));
    for (const { reply } of await client.pipeline(writes)) {
      assert.doesNotMatch(show(reply), /^-/, seedText(seed));
    }
    figures.calls += keys.length + writes.length;
  }
  return figures;
}

function isNil(frame: { raw: Buffer } | undefined): boolean {
  return frame?.raw.toString("latin1", 0, 3) === "$-1";
}

async function fields(client: RespClient, section: string): Promise<Map<string, number>> {
  const text = textOf((await client.call("INFO", section)).reply);
  return new Map(
    [...text.matchAll(/^(\w+):([\d.]+)\r?$/gm)].map((m) => [m[1] ?? "", Number(m[2])]),
  );
}

/** Fills the cache, so that the soak begins at its limit. */
async function fill(client: RespClient): Promise<void> {
  for (let n = 0; ((await fields(client, "stats")).get("evicted_keys") ?? 0) === 0; n++) {
    assert.ok(n < 200, "it is never full");
    const words = Array.from({ length: 100 }, (_, i): Argument[] => {
      return ["SET", `fill:${n}:${i}`, VALUES.subarray(0, 9000), "EX", 100_000];
    });
    await client.pipeline(words);
  }
}

type Watched = { most: number; looks: number; slowestMs: number; mostSpans: number };

/** Looks at what is in use until told to stop, and how long a look took. */
async function watch(client: RespClient, isOver: () => boolean): Promise<Watched> {
  const watched: Watched = { most: 0, looks: 0, slowestMs: 0, mostSpans: 0 };
  while (!isOver()) {
    const began = performance.now();
    const memory = await fields(client, "memory");
    watched.slowestMs = Math.max(watched.slowestMs, performance.now() - began);
    watched.most = Math.max(watched.most, memory.get("used_memory") ?? Number.NaN);
    watched.mostSpans = Math.max(watched.mostSpans, memory.get("allocator_active") ?? 0);
    watched.looks++;
    await delay(LOOK_MS);
  }
  return watched;
}

async function soak(
  server: Server,
  seed: number,
  seconds: number,
): Promise<Record<string, number>> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => server.connect()));
  const watcher = await server.connect();
  for (const client of [...clients, watcher]) client.timeoutMs = 60_000;
  await fill(watcher);
  const until = performance.now() + seconds * 1000;
  let isOver = false;
  const watching = watch(watcher, () => isOver);
  const all = await Promise.all(clients.map((client, n) => work(client, n, seed, until)));
  isOver = true;
  const watched = await watching;
  const sum = (of: (figures: Figures) => number): number => all.reduce((n, f) => n + of(f), 0);
  const stats = await fields(watcher, "stats");
  const threads = await fields(watcher, "threads");
  const sound = show((await watcher.call("DEBUG", "HEAP-CHECK")).reply);
  assert.equal(sound, "+OK", seedText(seed));
  return {
    calls: sum(({ calls }) => calls),
    hitRatio: sum(({ hits }) => hits) / sum(({ reads }) => reads),
    fullest: watched.most / MAXMEMORY,
    spans: watched.mostSpans / MAXMEMORY,
    looks: watched.looks,
    slowestLookMs: watched.slowestMs,
    evicted: stats.get("evicted_keys") ?? 0,
    exceededMs: stats.get("total_eviction_exceeded_time") ?? 0,
    waits: threads.get("memory_waits") ?? 0,
    sliceMaxUsec: threads.get("eviction_slice_max_usec") ?? 0,
    sliceMaxKeys: threads.get("eviction_slice_max_keys") ?? Number.NaN,
    sliceMaxVisits: threads.get("eviction_slice_max_visits") ?? Number.NaN,
    sliceMaxBytes: threads.get("eviction_slice_max_bytes") ?? Number.NaN,
    lockMaxVisits: threads.get("work_elements_visited_max") ?? Number.NaN,
    lockMaxMoves: threads.get("work_entries_moved_max") ?? Number.NaN,
    lockMaxCopies: threads.get("work_bytes_copied_max") ?? Number.NaN,
    lockHoldMaxUsec: threads.get("lock_hold_max_usec") ?? 0,
  };
}

describe("a full cache under changing sizes", needsOurs(), () => {
  const policies = isLong ? ["allkeys-lru"] : ["allkeys-lru", "volatile-ttl"];
  for (const policy of policies) {
    test(policy, async (t) => {
      const seed = testSeed(61);
      const server = await startZeroHop({
        threads: 4,
        maxmemory: MAXMEMORY,
        "maxmemory-policy": policy,
        "enable-debug-command": "yes",
      });
      const figures = await soak(server, seed, SECONDS / (isLong ? 1 : policies.length));
      const shown = `${policy}, ${seedText(seed)}: ${JSON.stringify(figures)}`;
      t.diagnostic(shown);
      assert.ok((figures["fullest"] as number) <= 1.01, shown);
      assert.ok((figures["evicted"] as number) > 500, shown);
      assert.ok((figures["sliceMaxKeys"] as number) <= SLICE_KEYS_MAX + LAST_STEP, shown);
      const visitsMax = SLICE_VISITS_MAX + LOCK_VISITS_MAX;
      assert.ok((figures["sliceMaxVisits"] as number) <= visitsMax, shown);
      assert.ok((figures["sliceMaxVisits"] as number) > 0, `visits are not counted: ${shown}`);
      assert.ok((figures["lockMaxVisits"] as number) <= LOCK_VISITS_MAX, shown);
      assert.ok((figures["lockMaxMoves"] as number) <= LOCK_MOVES_MAX, shown);
      assert.ok((figures["lockMaxCopies"] as number) <= LOCK_COPIES_MAX, shown);
      assert.ok((figures["lockHoldMaxUsec"] as number) > 0, `locks are not timed: ${shown}`);
      await server.stop();
    });
  }
});
