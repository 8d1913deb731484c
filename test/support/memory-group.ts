/**
 * A memory control group below the one that a test runs in, as a container is put into one: what
 * runs there is killed by the system when it takes more. Versions 1 and 2; wants the right to make
 * groups, which root has unless it is in a container itself.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { after } from "node:test";
import { until } from "./owners.ts";

export type MemoryGroup = {
  /** A program and arguments that start another one in the group. */
  readonly through: readonly string[];
  /** Bytes that the group has had at most. */
  peakBytes(): number;
  /** How often the system has killed something in it. */
  kills(): number;
};

const PREFIX = "zerohop-test-";

let made = 0;

/** The group, or why there can be none. */
export function makeMemoryGroup(limitBytes: number): MemoryGroup | string {
  const name = `${PREFIX}${process.pid}-${made++}`;
  const groups = readFileSync("/proc/self/cgroup", "utf8").split("\n");
  const version1 = groups.map((line) => /^\d+:(?:.*,)?memory(?:,.*)?:(.*)$/.exec(line)?.[1]);
  const version2 = groups.map((line) => /^0::(.*)$/.exec(line)?.[1]);
  const [one, two] = [version1, version2].map((paths) => paths.find((path) => path !== undefined));
  try {
    if (one !== undefined) return groupOf1(`/sys/fs/cgroup/memory${one}/${name}`, limitBytes);
    if (two !== undefined) return groupOf2(`/sys/fs/cgroup${two}/${name}`, limitBytes);
    return "this system has no memory control groups";
  } catch (error) {
    return `no memory control group can be made here: ${(error as Error).message}`;
  }
}

function groupOf1(folder: string, limitBytes: number): MemoryGroup {
  makeFolder(folder);
  writeFileSync(`${folder}/memory.limit_in_bytes`, `${limitBytes}`);
  return {
    through: into(folder),
    peakBytes: () => Number(readFileSync(`${folder}/memory.max_usage_in_bytes`, "utf8")),
    kills: () => killsOf(`${folder}/memory.oom_control`),
  };
}

function groupOf2(folder: string, limitBytes: number): MemoryGroup {
  makeFolder(folder);
  writeFileSync(`${folder}/memory.max`, `${limitBytes}`);
  writeFileSync(`${folder}/memory.swap.max`, "0");
  return {
    through: into(folder),
    peakBytes: () => Number(readFileSync(`${folder}/memory.peak`, "utf8")),
    kills: () => killsOf(`${folder}/memory.events`),
  };
}

function makeFolder(folder: string): void {
  removeLeftOver(path.dirname(folder));
  mkdirSync(folder);
  // The system refuses for as long as something in it still ends.
  after(() => until(`${folder} is gone`, () => isRemoved(folder)));
}

/** Groups of runs that were killed. */
function removeLeftOver(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : 0;
    if (owner > 0 && !existsSync(`/proc/${owner}`)) isRemoved(path.join(folder, name));
  }
}

function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function into(folder: string): readonly string[] {
  return ["/bin/sh", "-c", `echo $$ > '${folder}/cgroup.procs' && exec "$0" "$@"`];
}

function killsOf(file: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1]);
}
