/**
 * The thread of a witness (witness.ts): one connection with ordinary work, so that neither a busy
 * client beside it nor its garbage counts as the server's time. Any message ends it.
 */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { Histogram } from "../../bench/histogram.ts";
import { RespClient } from "../support/resp.ts";
import { show } from "../support/resp-parser.ts";
import { Stalls } from "../support/stalls.ts";
import type { Witnessed, WitnessTask } from "./witness.ts";

/** Between rounds, so that the witness is no load itself. */
const PAUSE_MS = 1;
const NIL = Buffer.from("$-1\r\n");

const { address, pid, name, mayBeFull } = workerData as WitnessTask;
const port = parentPort as NonNullable<typeof parentPort>;
let running = true;
port.once("message", () => {
  running = false;
});

const client = await RespClient.connect(address);
const times = new Histogram();
const stalls = new Stalls(pid);
let kept = show((await client.call("GET", name)).reply);
port.postMessage("at work");
for (let round = 0; running; round++) {
  stalls.begin();
  const startedAt = performance.now();
  const [set, get, ping] = await client.pipeline([
    ["SET", name, round],
    ["GET", name],
    ["PING", round],
  ]);
  const ms = performance.now() - startedAt;
  times.record(Math.max(0, ms - stalls.withheldMs()) * 1e6);
  const isRefused = mayBeFull && set !== undefined && /^-OOM /.test(show(set.reply));
  if (!isRefused) {
    assert.equal(set && show(set.reply), "+OK");
    kept = `$"${round}"`;
  }
  // Where all memory is fought for, all keys may be flushed between the two.
  const isFlushed = mayBeFull && get?.raw.equals(NIL) === true;
  if (!isFlushed) assert.equal(get && show(get.reply), kept);
  else kept = show(get.reply);
  assert.equal(ping && show(ping.reply), `$"${round}"`);
  await delay(PAUSE_MS);
}
await client.call("DEL", name);
client.close();
stalls.stop();
const seen: Witnessed = {
  rounds: times.count,
  p99Ms: times.percentileNs(0.99) / 1e6,
  slowestMs: times.maxNs / 1e6,
};
port.postMessage(seen);
