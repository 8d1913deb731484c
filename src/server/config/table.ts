/**
 * Every directive there is, by family: those of Redis 7.4 and our own. CONFIG GET and SET, the
 * command line, files, the environment and `docs/reference/config.md` all read this one list.
 */
import { lowerText } from "../../base/bytes.ts";
import type { Directive } from "./directive.ts";
import { CLUSTER, CORES, OWNERS, QUORUM, SCOPES } from "./rows-cluster.ts";
import { ENCODING, LATENCY, MEMORY } from "./rows-memory.ts";
import { NETWORK, TLS } from "./rows-network.ts";
import { PERSISTENCE } from "./rows-persistence.ts";
import { PROCESS } from "./rows-process.ts";
import { REPLICATION, SECURITY } from "./rows-replication.ts";

export type Family = { title: string; rows: readonly Directive[] };

export const FAMILIES: readonly Family[] = [
  { title: "Network", rows: NETWORK },
  { title: "Threads and memory chunks", rows: CORES },
  { title: "Shard owners", rows: OWNERS },
  { title: "Memory, expiry and eviction", rows: MEMORY },
  { title: "Encodings", rows: ENCODING },
  { title: "Process and logs", rows: PROCESS },
  { title: "Latency", rows: LATENCY },
  { title: "Users", rows: SECURITY },
  { title: "Persistence", rows: PERSISTENCE },
  { title: "Replication", rows: REPLICATION },
  { title: "Redis Cluster", rows: CLUSTER },
  { title: "Quorum", rows: QUORUM },
  { title: "Scopes", rows: SCOPES },
  { title: "TLS", rows: TLS },
];

export const DIRECTIVES: readonly Directive[] = FAMILIES.flatMap((family) => family.rows);

/** A name a directive can be given by. An alias is shown and named in errors as itself. */
export type Named = { name: string; row: Directive };

const BY_NAME: ReadonlyMap<string, Named> = index();

function index(): Map<string, Named> {
  const byName = new Map<string, Named>();
  for (const row of DIRECTIVES) {
    for (const name of row.alias === undefined ? [row.name] : [row.name, row.alias]) {
      if (byName.has(name)) throw new Error(`two directives are named ${name}`);
      byName.set(name, { name, row });
    }
  }
  return byName;
}

/** By name or alias, in any letter case. */
export function findDirective(name: string): Named | undefined {
  return BY_NAME.get(lowerText(name));
}

/** Every name and alias, in the order of the table. */
export function directiveNames(): IterableIterator<Named> {
  return BY_NAME.values() as IterableIterator<Named>;
}

/** Lines of older files that Redis still takes and that have no effect. */
export const IGNORED_DIRECTIVES: ReadonlySet<string> = new Set([
  "list-max-ziplist-entries",
  "list-max-ziplist-value",
  "lua-replicate-commands",
]);
