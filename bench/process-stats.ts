/**
 * What Linux says about a process: CPU time by thread, resident memory, allowed cores.
 *
 * CPU time comes from /proc/<pid>/task/<tid>/schedstat (nanoseconds on a core, all threads). A
 * thread that ended in between takes its figure with it; then utime + stime of /proc/<pid>/stat
 * are used, which count ended threads too but only in ticks of 10 ms.
 */
import { readdirSync, readFileSync } from "node:fs";
import { figure, MissingFigure } from "./stats.ts";

const TICK_NS = 10_000_000;

export interface CpuReading {
  readonly threads: ReadonlyMap<string, number>;
  readonly tickNs: number;
}

/** utime + stime out of /proc/<pid>/stat; the command name in it may hold blanks and ")". */
export function parseStatTicks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return figure("utime", fields[11]) + figure("stime", fields[12]);
}

export function readCpu(pid: number): CpuReading {
  const threads = new Map<string, number>();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${tid}/schedstat`, "latin1");
      threads.set(tid, figure("schedstat", text.split(" ")[0]));
    } catch (error) {
      if (error instanceof MissingFigure) throw error;
      // The thread ended between the listing and the read.
    }
  }
  const ticks = parseStatTicks(readFileSync(`/proc/${pid}/stat`, "latin1"));
  return { threads, tickNs: ticks * TICK_NS };
}

/** Nanoseconds of CPU between two readings of one process. */
export function cpuBetweenNs(before: CpuReading, after: CpuReading): number {
  let ns = 0;
  for (const [tid, start] of before.threads) {
    const end = after.threads.get(tid);
    if (end === undefined || end < start) return after.tickNs - before.tickNs;
    ns += end - start;
  }
  for (const [tid, end] of after.threads) {
    if (!before.threads.has(tid)) ns += end;
  }
  return ns;
}

export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return figure("VmRSS", /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** `0-1,4` as [0, 1, 4]. */
export function parseCoreList(text: string): number[] {
  const cores: number[] = [];
  for (const part of text.trim().split(",")) {
    const [first, last] = part.split("-");
    const low = figure("core", first);
    const high = last === undefined ? low : figure("core", last);
    for (let core = low; core <= high; core++) cores.push(core);
  }
  return cores;
}

/** The cores this process may run on. */
export function allowedCores(): number[] {
  const status = readFileSync("/proc/self/status", "latin1");
  const list = /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1];
  if (list === undefined) throw new MissingFigure("Cpus_allowed_list");
  return parseCoreList(list);
}
