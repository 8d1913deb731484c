import assert from "node:assert/strict";
import { test } from "node:test";
import { readResult, redisBenchmarkArgs } from "./redis-benchmark.ts";
import { MissingFigure } from "./stats.ts";

const HEADER =
  '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",' +
  '"p99_latency_ms","max_latency_ms"';
const MSET_LINE = '"MSET (10 keys)","154083.20","4.924","0.920","4.663","6.743","12.191","13.047"';

test("the CSV is read by column name", () => {
  const text = `Cluster has 2 master nodes:\r\n\r\n${HEADER}\r\n${MSET_LINE}\r\n`;
  assert.deepEqual(readResult("MSET", text), {
    perSecond: 154083.2,
    p50Ms: 4.663,
    p99Ms: 12.191,
  });
});

test("a missing line or a figure that is none is an error", () => {
  assert.throws(() => readResult("GET", `${HEADER}\n${MSET_LINE}`), MissingFigure);
  assert.throws(() => readResult("GET", ""), MissingFigure);
  const broken = MSET_LINE.replace("154083.20", "-nan");
  assert.throws(() => readResult("MSET", `${HEADER}\n${broken}`), MissingFigure);
});

test("the arguments are bounded and have random keys", () => {
  const plan = {
    port: 7000,
    command: "GET" as const,
    requests: 1000,
    pipeline: 16,
    connections: 8,
    keys: 100,
    valueBytes: 3,
    cluster: true,
    threads: 2,
    cores: undefined,
  };
  assert.equal(
    redisBenchmarkArgs(plan).join(" "),
    "-h 127.0.0.1 -p 7000 -t get -n 1000 -P 16 -c 8 -r 100 -d 3 --csv --cluster --threads 2",
  );
});
