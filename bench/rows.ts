/** The rows of the bench, in the order in which a full run prints them. */
import type { Row } from "./row.ts";
import { cpu } from "./rows/cpu.ts";
import { embedded } from "./rows/embedded.ts";
import { eviction } from "./rows/eviction.ts";
import { heap } from "./rows/heap.ts";
import { latency } from "./rows/latency.ts";
import { lock } from "./rows/lock.ts";
import { memory } from "./rows/memory.ts";
import { owners } from "./rows/owners.ts";
import { rest } from "./rows/rest.ts";
import { startup } from "./rows/startup.ts";
import { work } from "./rows/work.ts";

export const ROWS: readonly Row[] = [
  cpu,
  latency,
  memory,
  startup,
  rest,
  owners,
  lock,
  work,
  heap,
  eviction,
  embedded,
];
