/** Metrics of keys: by database, by shard, and with shard owners by owner. */
import type { Figures, PartFigures } from "./figures.ts";
import { type Emit, type Metric, many } from "./metric.ts";

function perDatabase(
  name: string,
  help: string,
  value: (db: Figures["databases"][number]) => number,
): Metric {
  return many("gauge", `zerohop_db_${name}`, help, ["db"], ({ databases }, emit) => {
    for (const db of databases) emit({ db: `db${db.index}` }, value(db));
  });
}

function perPart(
  label: "shard" | "owner",
  name: string,
  help: string,
  value: (part: PartFigures) => number,
): Metric {
  return many("gauge", `zerohop_${label}_${name}`, help, [label], (figures, emit) => {
    const parts = label === "shard" ? figures.shards : figures.owners;
    for (const [i, part] of parts.entries()) emit({ [label]: i }, value(part));
  });
}

function readOwners({ source }: Figures, emit: Emit): void {
  const { threads } = source.shared;
  for (const { index, port, firstSlot, lastSlot } of source.nodes() ?? []) {
    const slots = `${firstSlot}-${lastSlot}`;
    emit({ owner: index, thread: index % threads, port, slots }, 1);
  }
}

const OF_OWNER = "of the owner's slots; keys of a shard that it has in part are in proportion";

export const KEYSPACE_ROWS: readonly Metric[] = [
  perDatabase("keys", "Keys of databases that have any, and of db0.", ({ keys }) => keys),
  perDatabase("keys_expiring", "Keys with an expiry.", ({ expires }) => expires),
  perDatabase(
    "avg_ttl_seconds",
    "Estimated mean time to live of the keys that expire; 0 before it is known.",
    ({ averageMs }) => averageMs / 1000,
  ),
  perPart("shard", "keys", "Keys of a shard in all databases.", ({ keys }) => keys),
  perPart("shard", "dataset_bytes", "Bytes of a shard's keys and values.", ({ bytes }) => bytes),
  many(
    "gauge",
    "zerohop_owner_info",
    "1, with the owner's thread, port and slots as labels.",
    ["owner", "thread", "port", "slots"],
    readOwners,
  ),
  perPart("owner", "keys", `Keys ${OF_OWNER}.`, ({ keys }) => keys),
  perPart("owner", "keys_expiring", `Keys with an expiry ${OF_OWNER}.`, ({ expires }) => expires),
  perPart("owner", "dataset_bytes", "Bytes of an owner's keys and values.", ({ bytes }) => bytes),
  many(
    "gauge",
    "zerohop_owner_memory_used_bytes",
    "An owner's dataset and its equal share of the rest; the sum is zerohop_memory_used_bytes.",
    ["owner"],
    (figures, emit) => {
      for (const [owner] of figures.owners.entries())
        emit({ owner }, figures.ownerUsedBytes(owner));
    },
  ),
];
