/** What the process takes, as the system tells. */
import { readdirSync, readFileSync } from "node:fs";
import { totalmem } from "node:os";

export type Usage = {
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly residentBytes: number;
  /** Memory of the machine. */
  readonly systemMemoryBytes: number;
  /** Of the main thread alone; null where the system does not tell. */
  readonly mainThread: CpuTime | null;
};

export type CpuTime = { readonly userSeconds: number; readonly systemSeconds: number };

/** The kernel counts processor time for user space in hundredths of a second. */
const TICKS_PER_SECOND = 100;
/** Positions of user and system time behind the name, which stands in parentheses. */
const USER_AT = 11;
const SYSTEM_AT = 12;

/** The main thread has the number of the process. */
function mainThread(): CpuTime | null {
  try {
    const stat = readFileSync(`/proc/self/task/${process.pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      userSeconds: Number(fields[USER_AT]) / TICKS_PER_SECOND,
      systemSeconds: Number(fields[SYSTEM_AT]) / TICKS_PER_SECOND,
    };
  } catch {
    // Not Linux, or there is no descriptor left.
    return null;
  }
}

let residentBytes = 0;

/** Reading it takes a descriptor; without one, what was read last or its peak is the answer. */
function resident(): number {
  try {
    residentBytes = process.memoryUsage.rss();
  } catch {
    // EMFILE
    residentBytes ||= process.resourceUsage().maxRSS * 1024;
  }
  return residentBytes;
}

/** Reads a file; the machine keeps its memory. */
let machineBytes = 0;

/** What is asked for is read when it is asked for, and once: each part is a call of the system. */
class SystemUsage implements Usage {
  #processor: CpuTime | null = null;
  #residentBytes = -1;
  #mainThread: CpuTime | null | undefined;

  get userSeconds(): number {
    return this.#cpuTime().userSeconds;
  }

  get systemSeconds(): number {
    return this.#cpuTime().systemSeconds;
  }

  get residentBytes(): number {
    if (this.#residentBytes < 0) this.#residentBytes = resident();
    return this.#residentBytes;
  }

  get systemMemoryBytes(): number {
    machineBytes ||= totalmem();
    return machineBytes;
  }

  get mainThread(): CpuTime | null {
    if (this.#mainThread === undefined) this.#mainThread = mainThread();
    return this.#mainThread;
  }

  #cpuTime(): CpuTime {
    if (this.#processor === null) {
      const { user, system } = process.cpuUsage();
      this.#processor = { userSeconds: user / 1e6, systemSeconds: system / 1e6 };
    }
    return this.#processor;
  }
}

/** Usage from now on: of a moment, ask for all parts at once. */
export function systemUsage(): Usage {
  return new SystemUsage();
}

/** Files and sockets that the process has open; 0 where that is not known. */
export function openFiles(): number {
  try {
    // One of them is the folder itself.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    // Not Linux, or there is none left to look with.
    return 0;
  }
}
