/** The report of MEMORY DOCTOR: what is unusual about the memory of the process, with advice. */
import type { MemoryBytes } from "./info/memory.ts";

const MB: number = 1024 * 1024;
/** Less is not judged. */
const JUDGED_BYTES: number = 5 * MB;
/** Waste below this is no problem, whatever its ratio. */
const WASTE_BYTES: number = 10 * MB;
const CLIENT_BYTES: number = 200 * 1024;

const EMPTY =
  "Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used " +
  "in these conditions. Please, leave for your mission on Earth and fill it with some data. The new " +
  "Sam and I will be back to our programming as soon as I finished rebooting.\n";
const FINE =
  "Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on " +
  "this base.\n";
const FOUND = "Sam, I detected a few issues in this Redis instance memory implants:\n\n";
const END = "I'm here to keep you safe, Sam. I want to help you.\n";

type Issue = { text: string; isFound(of: MemoryBytes): boolean };

function isWaste(part: number, whole: number, ratio: number): boolean {
  return part / whole > ratio && part - whole > WASTE_BYTES;
}

const ISSUES: readonly Issue[] = [
  {
    isFound: ({ peak, used }) => peak / used > 1.5,
    text:
      "Peak memory: In the past this instance used more than 150% the memory that is currently " +
      "using. What was in use stays with the process until a whole chunk is empty, and is used as " +
      "soon as you fill the instance with more data. If the memory peak was only occasional and you " +
      "want to try to reclaim memory, please try the MEMORY PURGE command; a smaller memory-chunk " +
      "gives back more, and needs a restart.",
  },
  {
    isFound: ({ resident, used }) => isWaste(resident, used, 1.4),
    text:
      "High total RSS: This instance has a memory fragmentation and RSS overhead greater than 1.4 " +
      "(this means that the Resident Set Size of the process is much larger than the sum of its " +
      "blocks). This problem is usually due either to a large peak memory (check if there is a peak " +
      "memory entry above in the report), to small data beside the JavaScript heaps of many threads " +
      "(see js_heap_used in INFO threads), or to a workload that leaves holes in the heap.",
  },
  {
    isFound: ({ active, allocated }) => isWaste(active, allocated, 1.1),
    text:
      "High allocator fragmentation: The spans in use are more than 1.1 times their blocks. This " +
      "problem is usually due either to a large peak memory (check if there is a peak memory entry " +
      "above in the report) or may result from a workload whose values change their size a lot.",
  },
  {
    isFound: ({ touched, active }) => isWaste(touched, active, 1.1),
    text:
      "High allocator RSS overhead: The spans that were ever in use are more than 1.1 times those " +
      "in use. This problem is usually due to a large peak memory (check if there is a peak memory " +
      "entry above in the report), you can try the MEMORY PURGE command to reclaim it.",
  },
  {
    isFound: ({ resident, touched }) => isWaste(resident, touched, 1.1),
    text:
      "High process RSS overhead: The Resident Set Size of the process is more than 1.1 times what " +
      "the heap holds. The rest is the JavaScript heaps of the threads and the buffers of " +
      "connections: see INFO threads, and CLIENT LIST for clients that do not read.",
  },
  {
    isFound: ({ clients, clientCount }) => clients / Math.max(clientCount, 1) > CLIENT_BYTES,
    text:
      "Big client buffers: The clients output buffers in this instance are greater than 200K per " +
      "client (on average). This may result from clients that do not read as fast as they ask, or " +
      "that send very large sequences of commands in the same pipeline. Please use the CLIENT LIST " +
      "command in order to investigate the issue.",
  },
];

export function memoryReport(figures: MemoryBytes): string {
  if (figures.used < JUDGED_BYTES) return EMPTY;
  const found = ISSUES.filter((issue) => issue.isFound(figures));
  if (found.length === 0) return FINE;
  return `${FOUND}${found.map(({ text }) => ` * ${text}\n\n`).join("")}${END}`;
}
