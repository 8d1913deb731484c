/** All sections of INFO in the order in which they are shown, and which of them a call asks for. */
import { CLIENTS } from "./clients.ts";
import { MEMORY } from "./memory.ts";
import { PERSISTENCE } from "./persistence.ts";
import { type Section, writeSection } from "./section.ts";
import { SERVER } from "./server.ts";
import { CLUSTER, CPU, DEBUG, KEYSPACE, MODULES, REPLICATION } from "./small-sections.ts";
import { STATS } from "./stats.ts";
import { COMMANDSTATS, ERRORSTATS, LATENCYSTATS, THREADS } from "./use-sections.ts";
import type { InfoView } from "./view.ts";

export const SECTIONS: readonly Section[] = [
  SERVER,
  CLIENTS,
  MEMORY,
  PERSISTENCE,
  STATS,
  REPLICATION,
  CPU,
  MODULES,
  COMMANDSTATS,
  ERRORSTATS,
  LATENCYSTATS,
  THREADS,
  CLUSTER,
  KEYSPACE,
  DEBUG,
];

/** Sections by the words of a call in lower case, in the order of the table, none twice. */
function sectionsFor(words: readonly string[]): Section[] {
  const wanted = new Set(words);
  const isAll = wanted.has("all") || wanted.has("everything");
  const isDefault = words.length === 0 || wanted.has("default");
  return SECTIONS.filter(
    ({ names, inDefault, inAll }) =>
      (isAll && inAll !== false) ||
      (isDefault && inDefault) ||
      names.some((name) => wanted.has(name)),
  );
}

export function writeInfo(view: InfoView, words: readonly string[]): string {
  return sectionsFor(words)
    .map((section) => writeSection(section, view))
    .join("\r\n");
}
