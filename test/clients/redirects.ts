/** What a cluster client does once it knows the owners: it asks each for its own keys only. */
import assert from "node:assert/strict";
import type { Owners } from "../support/owners.ts";
import { textOf } from "../support/resp-parser.ts";

const KEYS: readonly string[] = Array.from({ length: 200 }, (_, i) => `key:${i}`);

/** A cluster client, as far as it sets and gets. */
type KeyClient = {
  set(key: string, value: string): Promise<unknown>;
  get(key: string): Promise<string | null>;
};

/** Sets and gets many keys twice, at once; the second time no owner redirects. */
export async function assertSettles(
  cluster: KeyClient,
  owners: Owners,
  value: string,
): Promise<void> {
  const round = async (): Promise<void> => {
    await Promise.all(KEYS.map((key) => cluster.set(key, value)));
    const values = await Promise.all(KEYS.map((key) => cluster.get(key)));
    assert.deepEqual(
      values,
      KEYS.map(() => value),
    );
  };
  await round();
  const before = await redirectsSeen(owners);
  await round();
  assert.equal((await redirectsSeen(owners)) - before, 0);
}

/** How often a data command was answered by MOVED, as the servers themselves count. */
async function redirectsSeen(owners: Owners): Promise<number> {
  let rejected = 0;
  for (const index of owners.ports.keys()) {
    const client = await owners.connect(index);
    const stats = textOf((await client.call("INFO", "commandstats")).reply);
    for (const [, count] of stats.matchAll(/^cmdstat_[gs]et:.*rejected_calls=(\d+)/gm)) {
      rejected += Number(count);
    }
    client.close();
  }
  return rejected;
}
