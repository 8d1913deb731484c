/** How often a data command was answered by MOVED, as the servers themselves count. */
import type { Owners } from "../support/owners.ts";
import { textOf } from "../support/resp-parser.ts";

export async function redirectsSeen(owners: Owners): Promise<number> {
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
