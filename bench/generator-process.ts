/**
 * One process of the own load generator: closed loop over some connections, one batch in flight on
 * each. Its plan is the first argument (JSON), its result one line of JSON on stdout.
 *
 * Bounded three ways: by time, by number of requests, and by a watchdog that ends a run in which
 * nothing was answered for ten seconds. The latency of a batch is from its write to its last reply
 * byte. Replies are checked: the first batch of a connection byte for byte where its reply is
 * known, every later one by its first byte and its length, so an error or a miss ends the run.
 */
import { connect, type Socket } from "node:net";
import type { GeneratorPlan, GeneratorResult } from "./generator.ts";
import { Histogram } from "./histogram.ts";
import {
  type Batch,
  buildBatch,
  digitsOf,
  KeyPicker,
  keyPrefix,
  ownedKeys,
  writeDigits,
} from "./workload.ts";

const READ_BUFFER_BYTES = 1 << 17;
const STALL_MS = 10_000;
const LF = 10;

/** What all connections share. Times are `performance.now()`. */
interface Run {
  readonly plan: GeneratorPlan;
  readonly histogram: Histogram;
  measureFrom: number;
  endAt: number;
  answered: number;
  measured: number;
  lastAnswerAt: number;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function latin1(chunk: Uint8Array, count: number): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset, count).toString("latin1");
}

function batchDone(run: Run, sentAt: number): boolean {
  const now = performance.now();
  run.lastAnswerAt = now;
  run.answered += run.plan.pipeline;
  if (now >= run.measureFrom) {
    run.histogram.record((now - sentAt) * 1e6);
    run.measured += run.plan.pipeline;
  }
  return now >= run.endAt || run.answered >= run.plan.requestsMax;
}

function send(socket: Socket, batch: Batch, picker: KeyPicker, digits: number): number {
  const { buffer, digitOffsets } = batch;
  for (let i = 0; i < digitOffsets.length; i++) {
    writeDigits(buffer, digitOffsets[i] as number, digits, picker.next());
  }
  const sentAt = performance.now();
  socket.write(buffer);
  return sentAt;
}

/** Runs one connection from its connect to its last reply. */
function runConnection(run: Run, number: number, own: Uint32Array | undefined): Promise<void> {
  const { plan } = run;
  const batch = buildBatch(plan.command, plan.pipeline, plan.valueBytes);
  const picker = new KeyPicker(plan.seed + 7919 * (number + 1), plan.keys, own);
  const digits = digitsOf(plan.keys);
  const { bytes, lines, text } = batch.expected;
  const firstByte = text === undefined ? ":".charCodeAt(0) : text.charCodeAt(0);
  return new Promise((resolve) => {
    let got = 0;
    let sentAt = 0;
    let first: string | undefined = "";
    const complete = (count: number, chunk: Uint8Array): boolean => {
      if (got === 0 && chunk[0] !== firstByte) {
        fail(`${plan.command}: unexpected reply ${latin1(chunk, Math.min(count, 80))}`);
      }
      if (first !== undefined) first += latin1(chunk, count);
      if (bytes === undefined) {
        for (let i = 0; i < count; i++) if (chunk[i] === LF) got++;
      } else got += count;
      const wanted = bytes ?? lines;
      if (got > wanted) fail(`${plan.command}: ${got} reply units for ${wanted}`);
      return got === wanted;
    };
    const onRead = (count: number, chunk: Uint8Array): boolean => {
      if (!complete(count, chunk)) return true;
      if (first !== undefined && text !== undefined && first !== text) {
        fail(`${plan.command}: first reply differs: ${JSON.stringify(first.slice(0, 200))}`);
      }
      first = undefined;
      got = 0;
      if (batchDone(run, sentAt)) {
        socket.destroy();
        resolve();
      } else sentAt = send(socket, batch, picker, digits);
      return true;
    };
    const port = plan.ports[number % plan.ports.length] as number;
    const socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer: Buffer.alloc(READ_BUFFER_BYTES), callback: onRead },
    });
    socket.on("error", (error) => fail(`connection to ${port}: ${error.message}`));
    socket.on("end", () => fail(`port ${port} closed a connection`));
    socket.once("connect", () => {
      sentAt = send(socket, batch, picker, digits);
    });
  });
}

async function main(): Promise<void> {
  const plan = JSON.parse(process.argv[2] ?? "") as GeneratorPlan;
  const start = performance.now();
  const run: Run = {
    plan,
    histogram: new Histogram(),
    measureFrom: start + plan.warmupSeconds * 1000,
    endAt: start + (plan.warmupSeconds + plan.seconds) * 1000,
    answered: 0,
    measured: 0,
    lastAnswerAt: start,
  };
  const watchdog = setInterval(() => {
    if (performance.now() - run.lastAnswerAt > STALL_MS) fail("no reply for 10 s");
  }, 1000);
  const owned =
    plan.owners === 0
      ? []
      : Array.from({ length: plan.owners }, (_, owner) =>
          ownedKeys(keyPrefix(plan.command), plan.keys, owner, plan.owners),
        );
  const connections: Promise<void>[] = [];
  for (let i = 0; i < plan.connections; i++) {
    const number = plan.firstConnection + i;
    const own = plan.owners === 0 ? undefined : owned[number % plan.owners];
    connections.push(runConnection(run, number, own));
  }
  await Promise.all(connections);
  clearInterval(watchdog);
  const usage = process.cpuUsage();
  const result: GeneratorResult = {
    answered: run.answered,
    measured: run.measured,
    seconds: (performance.now() - run.measureFrom) / 1000,
    cpuSeconds: (usage.user + usage.system) / 1e6,
    histogram: run.histogram.toJSON(),
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

await main();
