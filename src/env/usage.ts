/** What the process takes, as the system tells. */
import { readdirSync } from "node:fs";
import { totalmem } from "node:os";

export type Usage = {
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly residentBytes: number;
  /** Memory of the machine. */
  readonly systemMemoryBytes: number;
};

let residentBytes = 0;

/** Reading it takes a descriptor; without one, what was read last is the answer. */
function resident(): number {
  try {
    residentBytes = process.memoryUsage.rss();
  } catch {
    // EMFILE
  }
  return residentBytes;
}

export function systemUsage(): Usage {
  const { user, system } = process.cpuUsage();
  return {
    userSeconds: user / 1e6,
    systemSeconds: system / 1e6,
    residentBytes: resident(),
    systemMemoryBytes: totalmem(),
  };
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
