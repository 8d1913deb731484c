/**
 * The limits of the control group this process runs in, versions 1 and 2: what a container may
 * use, which the machine's own numbers do not say.
 */
import { readFileSync } from "node:fs";
import { totalmem } from "node:os";

function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not Linux, or no control group of this kind.
    return "";
  }
}

/** Path of the own group by version: "" for version 2, a controller's name for version 1. */
function ownGroup(controller: string): string {
  for (const line of read("/proc/self/cgroup").split("\n")) {
    const [, controllers, path] = line.split(":");
    if (path !== undefined && (controllers ?? "").split(",").includes(controller)) return path;
  }
  return "/";
}

/** The first file that exists, looking in the own group and then at the mount's root. */
function groupFile(root: string, controller: string, name: string): string {
  return read(`${root}${ownGroup(controller)}/${name}`) || read(`${root}/${name}`);
}

/** Processors' worth of time the group may use; infinite without a quota. */
export function cpuQuota(): number {
  const [max, period] = groupFile("/sys/fs/cgroup", "", "cpu.max").split(" ");
  if (max !== undefined && max !== "" && max !== "max") return Number(max) / Number(period);
  const quota = Number(groupFile("/sys/fs/cgroup/cpu", "cpu", "cpu.cfs_quota_us") || "-1");
  const per = Number(groupFile("/sys/fs/cgroup/cpu", "cpu", "cpu.cfs_period_us") || "100000");
  return quota > 0 ? quota / per : Number.POSITIVE_INFINITY;
}

/** Bytes the group may use; 0 when only the machine limits it. */
export function memoryLimit(): number {
  const text =
    groupFile("/sys/fs/cgroup", "", "memory.max") ||
    groupFile("/sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes");
  const bytes = Number(text);
  return text !== "" && Number.isFinite(bytes) && bytes < totalmem() ? bytes : 0;
}
