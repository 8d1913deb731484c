/**
 * The pauses of V8's garbage collector in a process that ran with `TRACE_FLAGS`, from the file of
 * trace events that Node leaves behind (Chrome's Trace Event Format: `ts`, `dur` and the CPU time
 * `tdur` of the thread, all in microseconds of the monotonic clock).
 *
 * The CPU time is what the collector itself took. A pause by the clock also contains what the
 * machine took away, which in a virtual one is more than the longest pause of a small heap.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface CollectorPauses {
  readonly longestCpuMs: number;
  readonly longestMs: number;
  readonly sumCpuMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
}

export interface TraceFile {
  readonly flags: readonly string[];
  /** Pauses that began in this span of the monotonic clock, in microseconds. */
  pauses(from: number, to: number): CollectorPauses;
  remove(): void;
}

/** The clock of trace events, as the traced process reads it. */
export function traceClock(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function traceFile(): TraceFile {
  const folder = mkdtempSync(join(tmpdir(), "zerohop-trace-"));
  const path = join(folder, "trace.json");
  return {
    flags: ["--trace-event-categories", "v8", "--trace-event-file-pattern", path],
    pauses: (from, to) => pausesIn(readFileSync(path, "utf8"), from, to),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function pausesIn(text: string, from: number, to: number): CollectorPauses {
  const { traceEvents } = JSON.parse(text) as { traceEvents: TraceEvent[] };
  const found = traceEvents.filter(
    ({ name, ph, ts }) => ph === "X" && name.startsWith("V8.GC") && ts >= from && ts <= to,
  );
  const cpu = found.map(({ tdur = 0 }) => tdur / 1000);
  return {
    longestCpuMs: Math.max(0, ...cpu),
    longestMs: Math.max(0, ...found.map(({ dur = 0 }) => dur / 1000)),
    sumCpuMs: cpu.reduce((sum, ms) => sum + ms, 0),
  };
}
